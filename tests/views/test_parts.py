"""Parts of a turn as bundles of their own: the same words and the same drawing as within the whole."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from typing import Any

import pytest

from acp_jupyter.kernel.keep import part_to_keep
from acp_jupyter.model import events
from acp_jupyter.model.redact import Redactor
from acp_jupyter.model.tool_call import ToolCall
from acp_jupyter.model.transcript import from_json, to_json
from acp_jupyter.session.settings import Settings
from acp_jupyter.views.bundle import MIME
from acp_jupyter.views.html import turn_html
from acp_jupyter.views.text import fenced, turn_text
from tests.model.play import CWD, Play, words_of

from .test_html import checked, hostile

SECRET = "planted-secret-0123456789"  # noqa: S105  # planted, to be found


def played() -> Play:
    play = Play()
    play.update(
        "plan", entries=[{"content": f"Mend it {SECRET}", "priority": "high", "status": "in_progress"}]
    )
    diff = {"type": "diff", "path": f"{CWD}/a.py", "oldText": "x = 1\n", "newText": f"x = '{SECRET}'\n"}
    play.ask("p1", {"toolCallId": "c1", "kind": "edit", "content": [diff]}, "allow_once")
    play.apply(events.PermissionClosed("p1", "selected", "you", "allow_once"))
    play.apply(events.TerminalStarted("t1", "make test", CWD))
    play.apply(events.TerminalOutput("t1", f"\x1b[32mok\x1b[0m ```` {SECRET}\n"))
    play.apply(events.TerminalExited("t1", 0))
    runs = {"content": [{"type": "terminal", "terminalId": "t1"}], "rawInput": {"command": "make test"}}
    play.update("tool_call", toolCallId="c2", title="Test", kind="execute", status="completed", **runs)
    play.end()
    return play


def bundle(part: Any, **settings: Any) -> dict[str, Any]:
    made = part_to_keep(part, Redactor([SECRET]), Settings(**settings))
    assert SECRET not in str(made)
    checked(made.get("text/html", ""))
    return made


def told(part: Any, *expected: str) -> dict[str, Any]:
    made = bundle(part)
    for where in (made["text/plain"], words_of(made["text/html"])):
        assert [one for one in expected if one not in where] == [], where
    return made


def test_each_part_shows_itself_without_secrets() -> None:
    turn = played().turn
    told(turn.tool_calls["c1"], "Edit", "a.py", "x = '[redacted]'", "Allowed once by you")
    told(turn.tool_calls["c2"], "Run", "make test", "ok", "exit 0", "[redacted]")
    told(turn.tool_calls, "[0] ", "Edit", "a.py", "[1] ", "Run make test")
    told(turn.tool_calls[0].diffs[0], f"{CWD}/a.py", "x = 1", "x = '[redacted]'")
    told(turn.terminals["t1"], "$ make test", "ok", "exit 0", "[redacted]")
    told(turn.plan, "● Mend it [redacted] (high priority)")
    assert set(told(turn, "Mend it [redacted]", "make test")) == {MIME, "text/html", "text/plain"}


def test_a_part_is_drawn_as_within_the_whole() -> None:
    turn = played().turn
    page, text = turn_html(turn), turn_text(turn)
    for part in (*turn.tool_calls, turn.plan):
        made = part_to_keep(part, Redactor(), Settings())
        assert made["text/html"] in page
        assert made["text/plain"] in text


@pytest.mark.parametrize(
    "make", [lambda turn: turn, lambda turn: from_json(to_json(turn))], ids=["live", "saved"]
)
def test_a_call_knows_the_turn_that_it_is_part_of(make: Any) -> None:
    turn = make(played().turn)
    call = turn.tool_calls["c2"]
    assert call.home() is turn
    assert "exit 0" in bundle(call)["text/plain"]


def test_a_call_without_its_turn_shows_what_it_has() -> None:
    call = copy.deepcopy(played().turn.tool_calls["c1"])
    assert call.home() is None
    text = told(call, "Edit", f"{CWD}/a.py", "x = 1")["text/plain"]
    assert "outside" not in text, "where the session worked is not known"
    assert pickle.loads(pickle.dumps(call)) == call  # noqa: S301  # our own


def test_a_dropped_turn_is_freed_at_once() -> None:
    gc.disable()
    try:
        turn = from_json(to_json(played().turn))
        gone = weakref.ref(turn)
        del turn
        assert gone() is None
    finally:
        gc.enable()


def test_diff_and_terminal_are_markdown_in_a_fence_that_holds() -> None:
    turn = played().turn
    diff = bundle(turn.tool_calls[0].diffs[0])["text/markdown"]
    assert diff.startswith("```diff\n")
    assert "\n-x = 1\n+x = '[redacted]'\n```" in diff
    terminal = bundle(turn.terminals["t1"])["text/markdown"]
    assert terminal.startswith("`````text\n$ make test\n")
    assert terminal.endswith("\n`````")
    assert fenced("a\nb", "text") == "```text\na\nb\n```"


def test_agents_prose_is_never_markdown_for_a_front_end_that_fetches_pictures() -> None:
    play = played()
    play.say("![x](http://127.0.0.1:9/x.png)")
    for part in (play.turn, play.turn.tool_calls, play.turn.tool_calls[0], play.turn.plan):
        assert "text/markdown" not in bundle(part)


def test_u14_parts_of_a_hostile_turn_are_inert() -> None:
    turn = hostile().turn
    call = turn.tool_calls[0]
    for part in (turn, call, turn.tool_calls, call.diffs[0], turn.plan, *turn.terminals.values()):
        made = bundle(part)
        assert "\u202e" not in made["text/html"] + made["text/plain"]
        assert "PWN" in made["text/plain"]


def test_the_setting_save_counts_for_parts() -> None:
    call = played().turn.tool_calls["c2"]
    assert set(bundle(call, save="text")) == {"text/plain"}
    assert "make test" not in bundle(call, save="none")["text/plain"]
    call.raw_output = "y" * 5_000
    assert "y" * 1_001 not in bundle(call, save_limit=1_000)["text/html"]


def test_empty_ones_say_so() -> None:
    turn = Play().turn
    told(turn.tool_calls, "no tool calls")
    assert "plan" in bundle(turn.plan)["text/plain"]
    assert "lost" in bundle(ToolCall("lost"))["text/plain"]


def test_a_plan_is_a_sequence() -> None:
    plan = played().turn.plan
    assert (len(plan), plan[0].status, list(plan[:1])) == (1, "in_progress", list(plan))
    assert plan == plan[:] == list(plan)
    assert plan != [*plan, plan[0]]
    assert hash(plan) == hash(plan[:])
