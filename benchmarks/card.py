"""The card of a real kernel: a flood of chunks, a click in a busy kernel, what a second card costs."""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.support import PAIRS, Report
from tests.notebook.front_end import FrontEnd
from tests.notebook.kernels import running_kernel

if TYPE_CHECKING:
    from tests.notebook.kernels import Message

CHUNKS = 10_000
CLICKS = 30
_CPU = "__import__('time').process_time()"


def _custom(messages: list[Message]) -> list[dict[str, Any]]:
    contents = [m["content"]["data"] for m in messages if m["msg_type"] == "comm_msg"]
    return [data["content"] for data in contents if data.get("method") == "custom"]


def _turn(notebook: FrontEnd, agent: str) -> tuple[float, float, list[dict[str, Any]], str]:
    """Run a turn; its CPU seconds in the kernel, its length, the messages to the card, the card's text."""
    before, heard = notebook.value(_CPU), len(notebook.heard)
    begun = time.monotonic()
    cell = notebook.execute(f"%%acp {agent} -o turn\nGo.")
    card = notebook.card_of(cell)
    assert notebook.status(cell, timeout_s=120) == "ok"
    notebook.look()
    took = time.monotonic() - begun
    return notebook.value(_CPU) - before, took, _custom(notebook.heard[heard:]), card.text


def flood(notebook: FrontEnd, folder: Path, report: Report) -> None:
    """10,000 chunks as fast as they come, against a turn of the same length in which nothing happens."""
    words = [f"w{n} " for n in range(CHUNKS)]
    notebook.add_agent("flood", [{"text": "".join(words), "chunks": "words"}], folder)
    _turn(notebook, "flood")  # the renderer, and the imports, come with the first
    extra: list[float] = []
    rates: list[float] = []
    for number in range(PAIRS):
        busy, took, messages, text = _turn(notebook, "flood")
        assert text == "".join(words), "chunks are missing, or out of order"
        rates.append(len(messages) / max(took, 1.0))
        notebook.add_agent(f"idle{number}", [{"sleep_s": took}], folder)
        idle, *_ = _turn(notebook, f"idle{number}")
        extra.append(busy - idle)
    report.at_most("10,000 chunks: messages to the card", statistics.median(rates), 30, "a s")
    report.at_most("10,000 chunks: kernel CPU beyond an idle turn", statistics.median(extra), 0.3, "s")


_COMM = """
from comm import create_comm
import time
served = []
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
        idle = statistics.median(_click(notebook, comm_id, number * 1000 + n) for n in range(CLICKS))
        notebook.add_agent(f"slow{number}", [{"text": "begun"}, {"sleep_s": 4}], folder)
        cell = notebook.execute(f"%%acp slow{number}\nGo.")
        card = notebook.card_of(cell)
        notebook.see(lambda card=card: card.text)
        busy = statistics.median(_click(notebook, comm_id, number * 1000 + 500 + n) for n in range(CLICKS))
        assert notebook.status(cell) == "ok"
        print(f"       click {busy * 1000:.2f} ms in a busy kernel, {idle * 1000:.2f} ms in an idle one")
        ratios.append(busy / idle)
    report.at_most("click to handler in a busy kernel, times an idle one", statistics.median(ratios), 1.5)


def second_card(notebook: FrontEnd, folder: Path, report: Report) -> None:
    """What opening a second card sends."""
    notebook.add_agent("talker", [{"text": "Hello."}], folder)
    _turn(notebook, "talker")
    heard = len(notebook.heard)
    _turn(notebook, "talker")
    opened = [m["content"] for m in notebook.heard[heard:] if m["msg_type"] == "comm_open"]
    size = sum(len(json.dumps(content)) for content in opened)
    report.at_most("comm_open of the second card", size / 1000, 10, "kB")


def main(report: Report) -> None:
    """Measure."""
    with tempfile.TemporaryDirectory() as name, running_kernel(sys.executable, Path(name)) as kernel:
        notebook = FrontEnd(kernel)
        notebook.run("%load_ext acp_jupyter")
        second_card(notebook, Path(name), report)
        clicks(notebook, Path(name), report)
        flood(notebook, Path(name), report)


if __name__ == "__main__":
    main(Report())
