"""Updates from a process into a turn, against the Python SDK's connection with a handler that does nothing.

https://agentclientprotocol.com/protocol/prompt-turn
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from acp import ClientSideConnection  # pyright: ignore[reportMissingTypeStubs]  # it ships none

from acp_jupyter.model import events
from acp_jupyter.model.reduce import reduce
from acp_jupyter.model.state import SessionState
from acp_jupyter.model.turn import AgentInfo, Turn
from acp_jupyter.wire.process import AgentProcess
from acp_jupyter.wire.v1 import Connection
from benchmarks.support import Report, alone, pairs

if TYPE_CHECKING:
    from collections.abc import Iterator

UPDATES = 60_000  # so many that the start of a process weighs nothing
_HELLO = {"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 1}}  # the answer to both, who count from 0


def mixed(count: int) -> Iterator[dict[str, Any]]:
    """Give updates as agents send them: mostly chunks, and now and then a tool call, a plan, usage."""
    for n in range(count):
        if n % 50 == 10:
            yield {"sessionUpdate": "tool_call", "toolCallId": f"c{n}", "title": f"Call {n}", "kind": "read"}
        elif n % 50 == 20:
            yield {"sessionUpdate": "tool_call_update", "toolCallId": f"c{n - 10}", "status": "completed"}
        elif n % 50 == 30:
            entry = {"content": f"Step {n}", "priority": "medium", "status": "pending"}
            yield {"sessionUpdate": "plan", "entries": [entry]}
        elif n % 50 == 40:
            yield {"sessionUpdate": "usage_update", "used": n, "size": 200_000}
        else:
            yield chunk(n)


def chunk(number: int) -> dict[str, Any]:
    """Give a chunk of text."""
    text = f"word {number} of the answer "
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}


def chunks(count: int) -> Iterator[dict[str, Any]]:
    """Give chunks of text alone."""
    return map(chunk, range(count))


def lines(updates: Iterator[dict[str, Any]]) -> str:
    """Return the updates as an agent writes them."""
    frames = ({"sessionId": "s1", "update": update} for update in updates)
    messages = ({"jsonrpc": "2.0", "method": "session/update", "params": params} for params in frames)
    return "".join(json.dumps(message) + "\n" for message in messages)


def _write(file: Path, updates: Iterator[dict[str, Any]]) -> None:
    file.write_text(json.dumps(_HELLO) + "\n" + lines(updates), "utf-8")


class _Applies:
    """Our client: applies each update to a turn."""

    def __init__(self, count: int) -> None:
        self.state = SessionState(session_id="s1")
        self.left = count
        self.done = asyncio.Event()
        turn = Turn("t", 1, AgentInfo("a", "A"), "/", [{"type": "text", "text": "Go"}])
        reduce(self.state, events.TurnStarted(turn), 0.0)
        reduce(self.state, events.PromptSent(), 0.0)

    def session_update(self, _session_id: str, update: dict[str, Any]) -> None:
        reduce(self.state, events.SessionUpdate(update), 1.0)
        self.left -= 1
        if self.left == 0:
            self.done.set()


class _Nothing:
    """A client of the SDK whose handler does nothing but count."""

    def __init__(self, count: int) -> None:
        self.left = count
        self.done = asyncio.Event()

    async def session_update(self, session_id: str, update: Any, **_more: Any) -> None:
        del session_id, update
        self.left -= 1
        if self.left == 0:
            self.done.set()


class _Took(NamedTuple):
    """Seconds by the clock, and of this process's CPU."""

    clock: float
    cpu: float

    @classmethod
    def now(cls) -> _Took:
        return cls(time.perf_counter(), time.process_time())

    def since(self, begun: _Took) -> _Took:
        return _Took(self.clock - begun.clock, self.cpu - begun.cpu)


def ours(file: Path, count: int) -> _Took:
    """Read the lines from a process by our connection and apply each update."""

    async def main() -> _Took:
        begun = _Took.now()
        process = await AgentProcess.spawn("cat", [str(file)], cwd="/")
        applies: Any = _Applies(count)  # no more is asked of a client that offers nothing
        connection = Connection(process, applies, capabilities={}, client_info={"name": "b", "version": "0"})
        await connection.initialize(10)
        await applies.done.wait()
        took = _Took.now().since(begun)
        await connection.close()
        await process.stop()
        assert connection.ignored == 0, connection.noise
        return took

    return asyncio.run(main())


def theirs(file: Path, count: int) -> _Took:
    """Read the same lines from a process by the SDK's own connection."""

    async def main() -> _Took:
        begun = _Took.now()
        process = await asyncio.create_subprocess_exec(
            "cat", str(file), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=1 << 20
        )
        client = _Nothing(count)
        connection: Any = ClientSideConnection(lambda _agent: client, process.stdin, process.stdout)  # type: ignore[arg-type, return-value]  # its types want every method
        await connection.initialize(protocol_version=1)
        await client.done.wait()
        took = _Took.now().since(begun)
        await connection.close()
        await process.wait()
        return took

    return asyncio.run(main())


def main(report: Report) -> None:
    """Measure."""
    with tempfile.TemporaryDirectory() as name:
        for what, updates in (("mixed updates", mixed), ("chunks", chunks)):
            file = Path(name, what)
            _write(file, updates(UPDATES))
            sdk, mine, ratio = pairs(
                lambda file=file: theirs(file, UPDATES).clock, lambda file=file: ours(file, UPDATES).clock
            )
            report.note(f"{what}: {UPDATES / mine:,.0f} a second, the SDK {UPDATES / sdk:,.0f}")
            report.at_least(f"{what} applied, times as fast as the SDK passes them on", ratio, 3)
        once, twice = Path(name, "once"), Path(name, "twice")
        _write(once, chunks(20_000))
        _write(twice, chunks(40_000))
        *_, ratio = pairs(lambda: ours(twice, 40_000).cpu, lambda: ours(once, 20_000).cpu)
        report.at_most("40,000 chunks cost CPU, times 20,000", ratio, 2.2)


if __name__ == "__main__":
    alone(main)
