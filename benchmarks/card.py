"""The card of a real kernel: a flood of chunks, a click in a busy kernel, what a second card costs."""

from __future__ import annotations

import bisect
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.support import PAIRS, Report, alone
from tests.notebook.front_end import FrontEnd
from tests.notebook.kernels import running_kernel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.notebook.kernels import Message

WORDS = [f"w{n}" for n in range(10_000)]
FLOOD = {"text": " ".join(WORDS), "chunks": "words"}
"""A step of the scripted agent: 10,000 chunks as fast as they come."""
_CLICKS = 30
_CPU = "__import__('time').process_time()"


def most_in_a_second(times: Iterable[float]) -> int:
    """Return how many of the times, in seconds, lie in the fullest second."""
    ordered = sorted(times)
    return max((n - bisect.bisect_right(ordered, at - 1) for n, at in enumerate(ordered, 1)), default=0)


class _Turn(NamedTuple):
    """The kernel's CPU seconds, seconds by the clock, when each message to the card left, the card's text."""

    cpu: float
    took: float
    messages: list[float]
    text: str


def _fullest(turn: _Turn) -> int:
    return most_in_a_second(turn.messages)


def _is_display(message: Message) -> bool:
    told = message["msg_type"] == "comm_msg" and message["content"]["data"].get("method") == "custom"
    return told or message["msg_type"] in {"display_data", "update_display_data"}


def _turn(notebook: FrontEnd, agent: str) -> _Turn:
    before, heard = notebook.value(_CPU), len(notebook.heard)
    begun = time.monotonic()
    cell = notebook.execute(f"%%acp {agent}\nGo.")
    card = notebook.card_of(cell)
    assert notebook.status(cell, timeout_s=120) == "ok"
    took = time.monotonic() - begun
    notebook.look()
    sent = [m["header"]["date"].timestamp() for m in notebook.heard[heard:] if _is_display(m)]
    return _Turn(notebook.value(_CPU) - before, took, sent, card.text)


def flood(notebook: FrontEnd, folder: Path, report: Report) -> None:
    """10,000 chunks as fast as they come, against a turn of the same length in which nothing happens."""
    notebook.add_agent("flood", [FLOOD], folder)
    _turn(notebook, "flood")  # the renderer, the imports and the process come with the first
    extra: list[float] = []
    rates: list[int] = []
    for number in range(PAIRS):
        busy = _turn(notebook, "flood")
        assert busy.text.split() == WORDS, "chunks are missing, or out of order"
        rates.append(_fullest(busy))
        begun = [{"text": "begun"}]
        notebook.add_agent(f"idle{number}", {"turns": [begun, [{"sleep_s": busy.took}]]}, folder)
        _turn(notebook, f"idle{number}")
        idle = _turn(notebook, f"idle{number}")
        extra.append(busy.cpu - idle.cpu)
        report.note(
            f"flood {busy.cpu:.2f} s of CPU in {busy.took:.2f} s; idle {idle.cpu:.2f} s in {idle.took:.2f} s"
        )
    report.at_most("10,000 chunks: messages to the card in the fullest second", max(rates), 30)
    report.at_most("10,000 chunks: kernel CPU beyond an idle turn", statistics.median(extra), 0.3, "s")
    notebook.add_agent("floods", [{"repeat": 10, "steps": [FLOOD]}], folder)
    long = _turn(notebook, "floods")
    report.note(f"100,000 chunks took {long.took:.1f} s, and {len(long.messages)} messages")
    report.at_most("100,000 chunks: messages to the card in the fullest second", _fullest(long), 30)


_COMM = """
from comm import create_comm
bench_comm = create_comm(target_name="bench", data={})
bench_comm.on_msg(lambda message: bench_comm.send({"n": message["content"]["data"]["n"]}))
from acp_jupyter.kernel.pump import follow_front_end_subshell
follow_front_end_subshell(bench_comm)
"""


def _click(notebook: FrontEnd, comm_id: str, number: int) -> float:
    """Send a click and wait for what its handler says."""
    begun = time.perf_counter()
    notebook.send("comm_msg", {"comm_id": comm_id, "data": {"n": number}})

    def served() -> bool:
        last = notebook.heard[-6:]
        return any(m["msg_type"] == "comm_msg" and m["content"]["data"] == {"n": number} for m in last)

    notebook.until(served)
    return time.perf_counter() - begun


def clicks(notebook: FrontEnd, folder: Path, report: Report) -> None:
    """A click to its handler, while a turn blocks the kernel and while the kernel is idle."""
    cell = notebook.execute(_COMM)
    assert notebook.status(cell) == "ok"
    comm_id = next(m["content"]["comm_id"] for m in reversed(notebook.heard) if m["msg_type"] == "comm_open")
    ratios: list[float] = []
    for number in range(PAIRS):
        idle = statistics.median(_click(notebook, comm_id, number * 1000 + n) for n in range(_CLICKS))
        go = folder / f"go{number}"
        notebook.add_agent(f"slow{number}", [{"text": "begun"}, {"until_file": str(go)}], folder)
        cell = notebook.execute(f"%%acp slow{number}\nGo.")
        card = notebook.card_of(cell)
        notebook.see(lambda card=card: card.text)
        busy = statistics.median(_click(notebook, comm_id, number * 1000 + 500 + n) for n in range(_CLICKS))
        assert not notebook.idle(cell), "the cell has ended: the kernel was not busy"
        go.touch()
        assert notebook.status(cell) == "ok"
        report.note(f"click {busy * 1000:.2f} ms in a busy kernel, {idle * 1000:.2f} ms in an idle one")
        ratios.append(busy / idle)
    report.at_most("click to handler in a busy kernel, times an idle one", statistics.median(ratios), 1.5)


def second_card(notebook: FrontEnd, folder: Path, report: Report) -> None:
    """What opening a second card sends."""
    notebook.add_agent("talker", [{"text": "Hello."}], folder)
    sizes: list[float] = []
    for _ in range(2):
        heard = len(notebook.heard)
        _turn(notebook, "talker")
        opened: list[Any] = [m["content"] for m in notebook.heard[heard:] if m["msg_type"] == "comm_open"]
        assert opened, "no card was opened"
        sizes.append(sum(len(json.dumps(content)) for content in opened) / 1000)
    report.note(f"the first card and the renderer: {sizes[0]:.0f} kB")
    report.at_most("comm_open of the second card", sizes[1], 10, "kB")


def main(report: Report) -> None:
    """Measure."""
    with tempfile.TemporaryDirectory() as name, running_kernel(sys.executable, Path(name)) as kernel:
        notebook = FrontEnd(kernel)
        notebook.run("%load_ext acp_jupyter")
        second_card(notebook, Path(name), report)
        clicks(notebook, Path(name), report)
        flood(notebook, Path(name), report)


if __name__ == "__main__":
    alone(main)
