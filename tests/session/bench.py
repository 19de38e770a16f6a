"""What the tests of a session share: scripted agents as real subprocesses, and waiting for what happens."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_jupyter.session.agents import AgentSpec
from acp_jupyter.session.loop import LoopThread
from acp_jupyter.session.run import Limits, TurnRun
from acp_jupyter.session.session import Session
from acp_jupyter.testing import script_command
from acp_jupyter.wire import reaper
from acp_jupyter.wire.watcher import Watcher

if TYPE_CHECKING:
    from acp_jupyter.model.tool_call import Permission

TIMEOUT_S = 20.0
OPTIONS = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]


class Bench:
    """Makes sessions, and ends them; a session's directory is `work`."""

    def __init__(self, folder: Path) -> None:
        self.work = folder / "work"
        self.work.mkdir()
        self.folder = folder
        self.loop = LoopThread()
        self.watcher = Watcher()
        self.sessions: list[Session] = []
        self.may_complain = False

    def session(
        self, script: Any, *, limits: Limits | None = None, name: str = "fake", **spec: Any
    ) -> Session:
        command = script_command(script, self.folder / f"{name}-{len(self.sessions)}.json")
        record = str(self.record_of(len(self.sessions)))
        return self.of(
            AgentSpec(name=name, command=command[0], args=(*command[1:], "--record", record), **spec), limits
        )

    def of(self, spec: AgentSpec, limits: Limits | None = None) -> Session:
        session = Session(spec, loop=self.loop, watcher=self.watcher, limits=limits or Limits())
        session.set_roots(str(self.work), ())
        self.sessions.append(session)
        return session

    def record_of(self, index: int) -> Path:
        return self.folder / f"record-{index}.jsonl"

    def recorded(self, index: int = 0, direction: str = "c2a") -> list[dict[str, Any]]:
        """What went over the wire, as the agent saw it."""
        file = self.record_of(index)
        lines = file.read_text().splitlines() if file.exists() else []
        entries = [json.loads(line) for line in lines]
        return [entry["msg"] for entry in entries if entry["dir"] == direction]

    def answers(self, method: str, index: int = 0) -> list[dict[str, Any]]:
        """Our answers to the agent's requests of a method, in the order in which they were sent."""
        asked = {
            frame["id"]
            for frame in self.recorded(index, "a2c")
            if frame.get("method") == method and "id" in frame
        }
        return [frame for frame in self.recorded(index) if "method" not in frame and frame.get("id") in asked]

    def close(self) -> None:
        for session in self.sessions:
            session.stop()
        self.watcher.close()
        self.loop.close()


def until(session: Session, condition: Callable[[], Any], timeout_s: float = TIMEOUT_S) -> None:
    """Wait until a condition on a session's state holds; looked at whenever the state has changed."""
    changed = threading.Event()
    stop = session.listen(lambda _changes: changed.set())
    deadline = time.monotonic() + timeout_s
    try:
        while not condition():
            assert changed.wait(max(deadline - time.monotonic(), 0)), "waited in vain"
            changed.clear()
    finally:
        stop()


def ask(tool_call: dict[str, Any], options: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    """The step of a permission request."""
    call = {"toolCallId": "c1", "title": "harmless", **tool_call}
    params = {"toolCall": call, "options": OPTIONS if options is None else options}
    return {"request": "session/request_permission", "params": params, "save": "answer", **more}


def asked(session: Session, count: int = 1) -> list[Permission]:
    """Wait until so many requests are open."""
    until(session, lambda: len(session.pending) >= count)
    return [pending.permission for pending in session.pending]


def begun(session: Session, run: TurnRun) -> None:
    """Wait until the agent has said something."""
    until(session, lambda: run.turn.text)


def finish(run: TurnRun) -> Any:
    return run.result(TIMEOUT_S)


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    return pid in reaper.snapshot()


def soon(condition: Callable[[], Any], timeout_s: float = TIMEOUT_S) -> bool:
    """Wait for what no event tells: something about a process or a file."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)
    return True


def gone(pid: int) -> bool:
    """Wait for the end of a process that is not ours to wait for."""
    return soon(lambda: not alive(pid), 5)


def descriptors() -> int:
    """How many files this process has open."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())
