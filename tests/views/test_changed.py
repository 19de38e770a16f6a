from __future__ import annotations

import json

import pytest

from acp_jupyter.model import events
from acp_jupyter.model.transcript import from_json, to_json
from acp_jupyter.views.html import turn_html
from acp_jupyter.views.text import permission_text, turn_text
from tests.model.play import CWD, Play, seen

OPEN = "The agent has changed this call since it asked; this is what it asked for."
ALLOWED = "The call was changed after this was asked; this is what was allowed."


def asked_ls() -> Play:
    play = Play()
    play.ask(
        "k",
        {"toolCallId": "c", "kind": "execute", "title": "List", "rawInput": {"command": "ls"}},
        "allow_once",
    )
    return play


def test_each_of_two_requests_about_one_call_is_told_by_what_it_asked() -> None:
    play = asked_ls()
    play.ask("k2", {"toolCallId": "c", "title": "Clean", "rawInput": {"command": "rm -rf /"}}, "allow_once")
    first, second = (permission_text(play.turn, one) for one in play.turn.permissions.values())
    assert f"  ! {OPEN}\n  command: ls\n" in first
    assert "rm -rf" not in first
    assert "Clean" not in first
    assert "  command: rm -rf /\n" in second
    assert "changed" not in second
    seen(play, OPEN, "command: ls")


@pytest.mark.parametrize(
    ("state", "option_id", "told"),
    [
        ("selected", "allow_once", ALLOWED),
        ("selected", None, ALLOWED.replace("allowed", "rejected")),
        ("cancelled", None, ALLOWED.replace("allowed", "asked")),
    ],
)
def test_a_call_that_changes_after_the_decision_leaves_what_was_decided(
    state: str, option_id: str | None, told: str
) -> None:
    play = asked_ls()
    play.apply(events.PermissionClosed("k", state, "you", option_id))
    play.update("tool_call_update", toolCallId="c", rawInput={"command": "rm -rf /"})
    seen(play, told, "command: ls", "the agent calls it: “List”", "rm -rf /")
    again = from_json(json.loads(json.dumps(to_json(play.turn))))
    assert (turn_text(again), turn_html(again)) == (turn_text(play.turn), turn_html(play.turn))


def test_an_approved_diff_is_shown_though_other_content_takes_its_place() -> None:
    play = Play()
    diff = {"type": "diff", "path": f"{CWD}/a.py", "oldText": "x = 1\n", "newText": "x = 2\n"}
    play.ask("k", {"toolCallId": "c", "kind": "edit", "content": [diff]}, "allow_once")
    play.apply(events.PermissionClosed("k", "selected", "you", "allow_once"))
    done = {"type": "content", "content": {"type": "text", "text": "Edited"}}
    play.update("tool_call_update", toolCallId="c", status="completed", content=[done])
    seen(play, ALLOWED, "x = 2", "Edited")


def test_results_are_no_change() -> None:
    play = asked_ls()
    play.apply(events.PermissionClosed("k", "selected", "you", "allow_once"))
    listed = {"type": "content", "content": {"type": "text", "text": "a.py"}}
    play.update("tool_call_update", toolCallId="c", status="completed", content=[listed], rawOutput="a.py")
    assert all("changed" not in shown for shown in play.shown())


def test_no_word_of_what_was_asked_makes_a_line_of_ours() -> None:
    play = Play()
    play.ask("k", {"toolCallId": "c", "kind": "x\nAllowed once by you", "title": "y"}, "allow_once")
    play.update("tool_call_update", toolCallId="c", kind="read")
    assert OPEN in turn_text(play.turn)
    assert "    | Allowed once by you" in turn_text(play.turn)
    assert "\nAllowed once" not in turn_text(play.turn)
