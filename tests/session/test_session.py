"""A session's life: started late, the same from prompt to prompt, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .bench import Bench


def test_a_prompt_starts_the_agent_and_the_next_one_continues_the_session(bench: Bench) -> None:
    session = bench.session([{"echo_prompt": True}])
    assert session.pid is None
    first = session.run("one\n\ttwo  ")
    pid, session_id = session.pid, session.session_id
    second = session.run("again")
    assert (session.pid, session.session_id) == (pid, session_id)
    assert pid is not None
    assert '"one\\n\\ttwo  "' in first.text
    assert [first.stop_reason, second.stop_reason] == ["end_turn", "end_turn"]
    assert [turn.number for turn in session.turns] == [1, 2]
