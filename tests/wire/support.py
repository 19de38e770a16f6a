"""What the tests of the wire share: a transport in memory, small scripts as agents, a look at processes."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_jupyter.wire import reaper
from acp_jupyter.wire.peer import Peer
from acp_jupyter.wire.process import AgentProcess

if TYPE_CHECKING:
    from acp_jupyter.wire.watcher import Watcher

STEP_S = 0.02


class MemoryTransport:
    """A transport whose other side is the test."""

    def __init__(self) -> None:
        self._incoming: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.broken = False

    async def receive(self) -> bytes | None:
        return await self._incoming.get()

    async def send(self, line: bytes) -> None:
        if self.broken:
            raise BrokenPipeError
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        self._sent.put_nowait(json.loads(line))

    def give(self, *messages: Any) -> None:
        """Let messages (values, or raw lines) arrive, one right after the other."""
        for message in messages:
            self._incoming.put_nowait(message if isinstance(message, bytes) else json.dumps(message).encode())

    def end(self) -> None:
        self._incoming.put_nowait(None)

    async def sent(self) -> dict[str, Any]:
        """Wait for the next message that we sent."""
        return await asyncio.wait_for(self._sent.get(), 5)

    def nothing_more_sent(self) -> bool:
        return self._sent.empty()


class Log:
    """A peer's other end of things: notifications in order, requests answered by a function."""

    def __init__(
        self, transport: Any, on_request: Callable[[str, Any], Any] | None = None, **more: Any
    ) -> None:
        self.events: list[Any] = []
        self._changed = asyncio.Event()
        self.peer = Peer(
            transport,
            on_notification=self._notified,
            on_request=on_request or self._no_request,
            **more,
        )
        self.peer.start()

    def _notified(self, method: str, params: Any) -> None:
        self.events.append((method, params))
        self._changed.set()

    @staticmethod
    async def _no_request(method: str, _params: Any) -> Any:
        raise AssertionError(f"unexpected request {method}")

    async def seen(self, count: int) -> list[Any]:
        """Wait until so many events are there."""

        while len(self.events) < count:
            self._changed.clear()
            await asyncio.wait_for(self._changed.wait(), 5)
        return self.events


async def spawn(
    script: str,
    tmp_path: Path,
    *,
    env: dict[str, str] | None = None,
    watcher: Watcher | None = None,
) -> AgentProcess:
    """Start a Python script as an agent."""
    file = tmp_path / "agent.py"
    file.write_text(script)
    return await AgentProcess.spawn(
        sys.executable, ["-I", "-S", str(file)], cwd=str(tmp_path), env=env, watcher=watcher
    )


def alive(pid: int) -> bool:
    """Say whether a process runs; a zombie does not."""
    return pid in reaper.snapshot()


def wait_for(condition: Callable[[], bool], timeout_s: float = 5.0) -> float:
    """Wait in a thread without a loop; give how long it took."""
    begun = time.monotonic()
    while not condition():
        assert time.monotonic() - begun < timeout_s, "waited in vain"
        time.sleep(STEP_S)
    return time.monotonic() - begun


def read_pids(folder: Path, *names: str) -> list[int]:
    """Wait until every process has written its pid to the file of its name."""
    files = [folder / f"{name}.pid" for name in names]
    wait_for(lambda: all(file.exists() and file.read_text().endswith("\n") for file in files), 10)
    return [int(file.read_text()) for file in files]


def kill_all(pids: list[int]) -> None:
    """Leave nothing behind where a test has failed."""
    for pid in pids:
        if alive(pid):
            os.kill(pid, 9)
