"""A turn of an hour: 200,000 updates, and what they leave in memory against what their transcript weighs.

https://agentclientprotocol.com/protocol/tool-calls#updating
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from acp_jupyter.model.transcript import to_json
from acp_jupyter.session.agents import AgentSpec
from acp_jupyter.session.loop import LoopThread
from acp_jupyter.session.session import Session
from acp_jupyter.testing import script_command
from acp_jupyter.views.deltas import Deltas
from benchmarks.support import Report, alone
from benchmarks.wire import lines, mixed

if TYPE_CHECKING:
    from collections.abc import Iterator

UPDATES = 200_000
RESENT = 2_000
_TURN_S = 120


def _rss() -> int:
    gc.collect()
    return psutil.Process().memory_info().rss


def inside(command: list[str]) -> dict[str, int]:
    """Play one small turn and then the long one, in a session with a view that is told of everything.

    Returns:
        Bytes: what the long turn left in memory, and its transcript.
    """
    loop = LoopThread()
    session = Session(AgentSpec(name="long", command=command[0], args=tuple(command[1:])), loop=loop)
    session.run("Warm up.")
    before = _rss()
    run = session.start("Go.")
    deltas = Deltas(run.turn)
    told = 0

    def changed(changes: list[Any]) -> None:
        nonlocal told
        for change in changes:
            deltas.mark(change.node)
        told += 1
        if told % 1000 == 0:  # as often as a card is told, in a flood
            deltas.drain()

    session.listen(changed, run.turn)
    turn = run.result(_TURN_S)
    held = _rss() - before
    frames = len(session.frames)
    session.stop()
    loop.close()
    transcript = json.dumps(to_json(turn), separators=(",", ":"), ensure_ascii=False).encode()
    return {"held": held, "transcript": len(transcript), "told": told, "frames": frames}


def resent(count: int) -> Iterator[dict[str, Any]]:
    """Give the updates of a call whose agent tells its output from the beginning each time, as some do."""
    yield {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Build", "kind": "execute"}
    text = ""
    for n in range(1, count):
        text += f"line {n} of a build that takes its time, and tells of each of its many steps in a line\n"
        content = [{"type": "content", "content": {"type": "text", "text": text}}]
        yield {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "content": content}


def _measured(updates: Iterator[dict[str, Any]], count: int, folder: Path) -> dict[str, int]:
    script = {"turns": [[{"text": "Hello."}], [{"raw": lines(updates).rstrip("\n")}]]}
    command = script_command(script, folder / f"{count}.json")
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.memory", *command], capture_output=True, text=True, check=True
    )
    found = json.loads(ran.stdout)
    assert found["told"] >= count, found
    return found


def main(report: Report) -> None:
    """Measure, each turn in a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        half = _measured(mixed(UPDATES // 2), UPDATES // 2, Path(name))
        whole = _measured(mixed(UPDATES), UPDATES, Path(name))
        again = _measured(resent(RESENT), RESENT, Path(name))
    counts = (f"{UPDATES // 2:,} updates", f"{UPDATES:,} updates", f"{RESENT:,} updates with all so far")
    for what, found in zip(counts, (half, whole, again), strict=True):
        held, transcript = found["held"] / 1e6, found["transcript"] / 1e6
        report.note(
            f"{what}: {held:.1f} MB; the transcript {transcript:.1f} MB, {found['frames']:,} frames logged"
        )
    more = (whole["held"] - half["held"]) / (whole["transcript"] - half["transcript"])
    report.at_most(
        "memory after 200,000 updates, times the transcript", whole["held"] / whole["transcript"], 8
    )
    report.at_most("memory of 100,000 more, times what the transcript grows by", more, 8)
    report.at_most("memory of a call that is told anew 2,000 times", again["held"] / 1e6, 64, "MB")


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(inside(sys.argv[1:])))
    else:
        alone(main)
