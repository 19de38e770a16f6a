"""Updates from a process into a turn, against the Python SDK's connection with a handler that does little."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp import ClientSideConnection  # pyright: ignore[reportMissingTypeStubs]  # it ships none

from acp_jupyter.model import events
from acp_jupyter.model.reduce import reduce
from acp_jupyter.model.state import SessionState
from acp_jupyter.model.turn import AgentInfo, Turn
from acp_jupyter.wire.peer import Peer
from acp_jupyter.wire.process import AgentProcess
from benchmarks.support import Report, pairs, seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

UPDATES = 60_000  # so many that the start of a process weighs nothing


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


def lines(updates: Iterator[dict[str, Any]]) -> bytes:
    """Return the updates as an agent writes them."""
    frames = ({"sessionId": "s1", "update": update} for update in updates)
    messages = ({"jsonrpc": "2.0", "method": "session/update", "params": params} for params in frames)
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def ours(file: Path, count: int) -> None:
    """Read the lines from a process and apply each update to a turn."""
    state = SessionState(session_id="s1")
    turn = Turn("t", 1, AgentInfo("a", "A"), "/", [{"type": "text", "text": "Go"}])
    reduce(state, events.TurnStarted(turn), 0.0)
    reduce(state, events.PromptSent(), 0.0)
    applied = 0

    def notified(_method: str, params: Any) -> None:
        nonlocal applied
        reduce(state, events.SessionUpdate(params["update"]), 1.0)
        applied += 1

    async def refuse(method: str, _params: Any) -> Any:
        raise AssertionError(method)

    async def main() -> None:
        process = await AgentProcess.spawn("cat", [str(file)], cwd="/")
        peer = Peer(process, on_notification=notified, on_request=refuse)
        peer.start()
        await peer.wait_closed()
        await peer.close()
        await process.stop()

    asyncio.run(main())
    assert applied == count, (applied, count)


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


def theirs(file: Path, count: int) -> None:
    """Read the same lines from a process by the SDK's own connection."""

    async def main() -> None:
        process = await asyncio.create_subprocess_exec(
            "cat", str(file), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=1 << 20
        )
        client = _Nothing(count)
        connection: Any = ClientSideConnection(lambda _agent: client, process.stdin, process.stdout)  # type: ignore[arg-type, return-value]
        await client.done.wait()
        await connection.close()
        await process.wait()

    asyncio.run(main())


def main(report: Report) -> None:
    """Measure."""
    with tempfile.TemporaryDirectory() as name:
        for what, updates in (("mixed updates", mixed), ("chunks", chunks)):
            file = Path(name, what)
            file.write_bytes(lines(updates(UPDATES)))
            mine, sdk = pairs(
                lambda file=file: seconds(lambda: ours(file, UPDATES)),
                lambda file=file: seconds(lambda: theirs(file, UPDATES)),
            )
            print(f"       {what}: {UPDATES / mine:,.0f} a second, the SDK {UPDATES / sdk:,.0f}")
            report.at_least(f"{what} applied, times as fast as the SDK passes them on", sdk / mine, 3)
        once, twice = Path(name, "once"), Path(name, "twice")
        once.write_bytes(lines(chunks(20_000)))
        twice.write_bytes(lines(chunks(40_000)))
        many, few = pairs(
            lambda: seconds(lambda: ours(twice, 40_000)), lambda: seconds(lambda: ours(once, 20_000))
        )
        report.at_most("40,000 chunks cost, times 20,000", many / few, 2.2)


if __name__ == "__main__":
    main(Report())
