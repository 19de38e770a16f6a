"""A turn of an hour: 200,000 updates, and what they leave in memory against what their transcript weighs."""

from __future__ import annotations

import gc
import json
import tracemalloc

from acp_jupyter.model import events
from acp_jupyter.model.reduce import reduce
from acp_jupyter.model.state import SessionState
from acp_jupyter.model.transcript import to_json
from acp_jupyter.model.turn import AgentInfo, Turn
from acp_jupyter.views.deltas import Deltas
from benchmarks.support import Report
from benchmarks.wire import mixed

UPDATES = 200_000


def main(report: Report) -> None:
    """Measure."""
    gc.collect()
    tracemalloc.start()
    state = SessionState(session_id="s1")
    turn = Turn("t", 1, AgentInfo("a", "A"), "/", [{"type": "text", "text": "Go"}])
    deltas = Deltas(turn)
    reduce(state, events.TurnStarted(turn), 0.0)
    reduce(state, events.PromptSent(), 0.0)
    for number, update in enumerate(mixed(UPDATES)):
        for change in reduce(state, events.SessionUpdate(update), 1.0):
            deltas.mark(change.node)
        if number % 100 == 0:
            deltas.drain()
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    transcript = len(json.dumps(to_json(turn), separators=(",", ":")))
    print(
        f"       {UPDATES:,} updates leave {held / 1e6:.1f} MB; their transcript is {transcript / 1e6:.1f} MB"
    )
    report.at_most("memory after 200,000 updates, times the transcript's JSON", held / transcript, 6)


if __name__ == "__main__":
    main(Report())
