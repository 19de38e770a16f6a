from __future__ import annotations

from typing import Any

import pytest

from acp_jupyter.model import events
from acp_jupyter.model.content import Block, Location
from acp_jupyter.model.state import TURN_LIMIT
from acp_jupyter.model.turn import Message, TurnError
from tests.model.play import CWD, Play, seen

FIRST: dict[str, Any] = {
    "toolCallId": "c",
    "title": "First",
    "name": "first",
    "kind": "edit",
    "status": "in_progress",
    "rawInput": {"n": 1},
    "rawOutput": {"n": 2},
    "locations": [{"path": "/a", "line": 1}, {"path": "/b"}],
    "content": [{"type": "content", "content": {"type": "text", "text": "A"}}],
}
FIELDS = {
    "title": "title",
    "name": "name",
    "kind": "kind",
    "status": "status",
    "rawInput": "raw_input",
    "rawOutput": "raw_output",
    "locations": "locations",
    "content": "content",
}
LEFT_OUT = object()
KEPT = object()
NEW_BLOCK = {"type": "text", "text": "B"}


def raw_rules(row: str, key: str) -> list[Any]:
    replacing = [False, True, 0, 0.0, "", "text", [], [1], {}, {"m": 3}, 10**30]
    return [
        *(pytest.param(key, value, value, id=f"{row}-{key}-{value!r}-replaces") for value in replacing),
        pytest.param(key, None, KEPT, id=f"{row}-{key}-null-keeps"),
        pytest.param(key, LEFT_OUT, KEPT, id=f"{row}-{key}-omitted-keeps"),
    ]


def word_rules(row: str, key: str) -> list[Any]:
    return [
        pytest.param(key, "failed", "failed", id=f"{row}-{key}-replaces"),
        pytest.param(key, None, KEPT, id=f"{row}-{key}-null-keeps"),
        pytest.param(key, LEFT_OUT, KEPT, id=f"{row}-{key}-omitted-keeps"),
        pytest.param(key, {"not": "a word"}, KEPT, id=f"{row}-{key}-malformed-keeps"),
    ]


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        *raw_rules("TC4", "rawInput"),
        *raw_rules("TC4", "rawOutput"),
        *word_rules("TC3", "name"),
        *word_rules("TC5", "title"),
        *word_rules("TC5", "kind"),
        *word_rules("TC5", "status"),
        pytest.param("content", [NEW_BLOCK], [Block(NEW_BLOCK)], id="TC6-content-replaces"),
        pytest.param("content", [], [], id="TC6-content-empty-empties"),
        pytest.param("content", None, KEPT, id="TC6-content-null-keeps"),
        pytest.param("content", LEFT_OUT, KEPT, id="TC6-content-omitted-keeps"),
        pytest.param("locations", [{"path": "/c"}], [Location("/c")], id="TC6-locations-replaces"),
        pytest.param("locations", [], [], id="TC6-locations-empty-empties"),
        pytest.param("locations", None, KEPT, id="TC6-locations-null-keeps"),
        pytest.param("locations", LEFT_OUT, KEPT, id="TC6-locations-omitted-keeps"),
    ],
)
@pytest.mark.parametrize("kind", ["tool_call_update", "tool_call"])
def test_tc3_to_tc6_merge_rules(kind: str, key: str, value: Any, expected: Any) -> None:
    play = Play()
    play.update("tool_call", **FIRST)
    call = play.turn.tool_calls["c"]
    before = {attribute: getattr(call, attribute) for attribute in FIELDS.values()}
    play.update(kind, toolCallId="c", **({} if value is LEFT_OUT else {key: value}))
    assert play.turn.tool_calls["c"] is call
    merged = getattr(call, FIELDS[key])
    if expected is KEPT:
        assert merged == before[FIELDS[key]]
    else:
        assert (type(merged), merged) == (type(expected), expected)
    others = [attribute for attribute in FIELDS.values() if attribute != FIELDS[key]]
    assert {one: getattr(call, one) for one in others} == {one: before[one] for one in others}


def test_tc2_status_is_pending_and_tc1_kind_other_until_told() -> None:
    play = Play()
    play.update("tool_call", toolCallId="c", title="T")
    call = play.turn.tool_calls["c"]
    assert (call.status, call.kind, call.name, call.raw_input) == ("pending", "other", None, None)


def test_r05_a_call_announced_twice_is_one_card() -> None:
    play = Play()
    play.update("tool_call", toolCallId="c", title="Terminal", rawInput={})
    play.update("tool_call", toolCallId="c", title="git diff", rawInput={"command": "git diff"})
    assert len(play.turn.tool_calls) == len(play.turn.items) == 1
    assert play.turn.tool_calls[0].raw_input == {"command": "git diff"}


def test_a_diff_that_comes_again_unchanged_is_not_computed_again() -> None:
    play = Play()
    content = [{"type": "diff", "path": "/a", "oldText": "a", "newText": "b"}]
    play.update("tool_call", toolCallId="c", content=content)
    before = play.turn.tool_calls["c"].diffs[0]
    play.update(
        "tool_call_update", toolCallId="c", content=[*content, {"type": "terminal", "terminalId": "t"}]
    )
    assert play.turn.tool_calls["c"].diffs[0] is before


# --- from turn to turn


def test_a_later_turns_update_changes_the_call_of_the_turn_it_belongs_to() -> None:
    play = Play()
    play.update("tool_call", toolCallId="c", title="Long", status="in_progress")
    play.end()
    first = play.turn
    call = first.tool_calls["c"]
    second = play.start()
    play.apply(events.PromptSent())
    changes = play.update("tool_call_update", toolCallId="c", status="completed", rawOutput="done")
    assert [(change.turn, change.node) for change in changes] == [(first, ("tool_calls", "c"))]
    assert (call.status, call.raw_output) == ("completed", "done")
    assert len(second.tool_calls) == 0


def test_a_new_session_may_use_an_id_again() -> None:
    play = Play()
    play.update("tool_call", toolCallId="c", title="Old")
    play.end()
    first = play.turn
    play.apply(events.SessionOpened("s2", {}))
    play.start()
    play.turn.session_id = "s2"
    first.session_id = "s1"
    play.update("tool_call", toolCallId="c", title="New")
    assert (first.tool_calls["c"].title, play.turn.tool_calls["c"].title) == ("Old", "New")


def test_r21_what_comes_after_the_end_is_kept_and_marked_late() -> None:
    play = Play()
    play.say("In time.")
    play.update("tool_call", toolCallId="c", title="T", status="in_progress")
    play.end()
    play.say("Late")
    play.say(" words.")
    play.update("tool_call_update", toolCallId="c", status="completed")
    assert play.turn.items[-1] == Message("agent", play.turn.items[-1].text, late=True)  # type: ignore[union-attr]  # a message
    assert play.turn.text == "In time.\n\nLate words."
    assert play.turn.tool_calls["c"].status == "completed"
    text, page = play.shown()
    assert "Late words." in text
    assert "Late words." in page
    assert "came after the turn" in text
    assert "came after the turn" in page


def test_r23_an_echo_of_the_prompt_is_hidden_however_it_is_cut() -> None:
    play = Play(prompt="Make the test pass.")
    for chunk in ("Make the ", "test pass."):
        assert play.say(chunk, "user_message_chunk") == []
    assert play.turn.items == []
    play.say("Make the ", "user_message_chunk")
    assert len(play.turn.items) == 1, "only one echo is an echo"


# --- how a turn ends


def test_a11_tc12_a_cancelled_turn_leaves_no_call_running() -> None:
    play = Play()
    for key, status in (
        ("run", "in_progress"),
        ("wait", "pending"),
        ("done", "completed"),
        ("bad", "failed"),
    ):
        play.update("tool_call", toolCallId=key, title=key, status=status)
    play.apply(events.CancelRequested())
    calls = play.turn.tool_calls
    assert [call.shown_status for call in calls] == ["cancelled", "cancelled", "completed", "failed"]
    assert [call.status for call in calls] == ["in_progress", "pending", "completed", "failed"]
    play.update("tool_call_update", toolCallId="run", status="in_progress")
    play.update("tool_call_update", toolCallId="wait", status="completed")
    assert [call.shown_status for call in calls][:2] == ["in_progress", "completed"], (
        "TC12: updates still count"
    )
    play.end("cancelled")
    assert [call.shown_status for call in calls] == ["cancelled", "completed", "completed", "failed"]
    assert play.turn.state == "cancelled"
    seen(play, "cancelled by you")


def test_r15_a_cancelled_turn_is_cancelled_whatever_the_agent_says() -> None:
    play = Play()
    play.apply(events.CancelRequested())
    play.end("end_turn")
    assert (play.turn.state, play.turn.stop_reason) == ("cancelled", "end_turn")


def test_r11_a_call_that_was_answered_does_not_wait_when_its_turn_is_over() -> None:
    play = Play()
    for key, chosen in (("no", "reject_once"), ("yes", "allow_once")):
        play.ask(key, {"toolCallId": key, "title": key, "status": "pending"}, "allow_once", "reject_once")
        option = next(one.option_id for one in play.turn.permissions[key].options if one.kind == chosen)
        play.apply(events.PermissionClosed(key, "selected", "you", option))
    play.update("tool_call", toolCallId="plain", title="never asked", status="pending")
    assert [call.shown_status for call in play.turn.tool_calls] == ["pending"] * 3
    play.end()
    calls = play.turn.tool_calls
    assert [call.shown_status for call in calls] == ["rejected", "not_told", "pending"]
    assert {call.status for call in calls} == {"pending"}, "the agent's own word stays"
    seen(play, "rejected", "the agent did not tell its end")
    play.update("tool_call_update", toolCallId="yes", status="completed")
    assert play.turn.tool_calls["yes"].shown_status == "completed", "a late update counts"


def test_t7_when_the_agent_dies_its_running_calls_are_cut_off() -> None:
    play = Play()
    play.say("half")
    play.update("tool_call", toolCallId="c", title="T", status="in_progress")
    play.update("tool_call", toolCallId="d", title="D", status="completed")
    error = TurnError(
        "AgentExited", "The agent ended with code 7.", "Set the key.", "boom: \x1b[31mno key\x1b[0m\n"
    )
    play.apply(events.TurnFailed(error, agent_gone=True))
    assert [call.shown_status for call in play.turn.tool_calls] == ["cut_off", "completed"]
    assert play.turn.tool_calls["c"].status == "in_progress"
    assert play.turn.text == "half"
    seen(
        play,
        "failed: AgentExited",
        "The agent ended with code 7.",
        "Set the key.",
        "boom: no key",
        "cut off",
        "half",
    )


@pytest.mark.parametrize(
    ("response", "words"),
    [
        ({"stopReason": "end_turn"}, "done"),
        ({"stopReason": "max_tokens"}, "stopped at the token limit"),
        ({"stopReason": "max_turn_requests"}, "limit of requests"),
        ({"stopReason": "refusal"}, "the agent refused"),
        ({"stopReason": "cancelled"}, "cancelled by the agent"),
        ({"stopReason": "error"}, "stopped (error)"),
        ({}, "ended without a stop reason"),
        (None, "ended without a stop reason"),
    ],
)
def test_s6_r28_stop_reasons(response: Any, words: str) -> None:
    play = Play()
    play.say("kept")
    play.apply(events.TurnEnded(response))
    assert play.turn.ended
    assert play.turn.ended_raw == response
    seen(play, words, "kept")


def test_r30_a_turn_of_nothing_says_so() -> None:
    play = Play()
    play.end()
    seen(play, "The agent returned nothing.")


# --- permissions


def test_two_requests_about_one_call_each_keep_what_they_asked() -> None:
    play = Play()
    play.ask("k1", {"toolCallId": "c", "kind": "execute", "rawInput": {"command": "ls"}}, "allow_once")
    changes = play.ask("k2", {"toolCallId": "c", "rawInput": {"command": "rm -rf /"}}, "allow_once")
    asked = [one.asked.raw_input if one.asked else None for one in play.turn.permissions.values()]
    assert asked == [{"command": "ls"}, {"command": "rm -rf /"}]
    assert ("permissions", "k1") in [change.node for change in changes]


def test_a_call_that_changes_tells_the_requests_about_it_and_leaves_what_they_asked() -> None:
    play = Play()
    diff = {"type": "diff", "path": "/a", "oldText": "x", "newText": "y"}
    play.ask("k", {"toolCallId": "c", "content": [diff]}, "allow_once")
    play.apply(events.PermissionClosed("k", "selected", "you", "allow_once"))
    nodes = [change.node for change in play.update("tool_call_update", toolCallId="c", content=[])]
    assert nodes == [("tool_calls", "c"), ("permissions", "k")]
    asked = play.turn.permissions["k"].asked
    assert asked is not None
    assert [change.new_text for change in asked.diffs] == ["y"]
    play.update("tool_call_update", toolCallId="c", locations=[{"path": "/b"}])
    assert asked.locations == []


def test_p7_r07_a_request_for_a_call_never_announced_makes_its_card() -> None:
    play = Play()
    described = {
        "toolCallId": "c",
        "title": "Wipe",
        "kind": "execute",
        "rawInput": {"command": "rm -rf build"},
    }
    play.ask("k", described, "allow_once", "reject_once")
    assert play.turn.tool_calls["c"].raw_input == {"command": "rm -rf build"}
    assert play.turn.state == "waiting"
    seen(play, "Run rm -rf build", "waiting for you", "Do allow_once", "allow · once", "reject · once")
    play.update("tool_call", toolCallId="c", title="Clean", status="pending")
    assert [one.tool_call_id for one in play.turn.pending] == ["c"]
    assert play.turn.tool_calls["c"].title == "Clean"


def test_p7_a_request_with_only_an_id_shows_what_was_known() -> None:
    play = Play()
    play.update(
        "tool_call", toolCallId="c", title="Edit it", kind="edit", locations=[{"path": f"{CWD}/a.py"}]
    )
    play.ask("k", {"toolCallId": "c"}, "allow_once")
    seen(play, "Edit a.py", "the agent calls it “Edit it”", "waiting for you")


def test_a_request_without_any_call_is_still_a_card() -> None:
    play = Play()
    play.apply(events.PermissionAsked("k", {"options": [{"optionId": "y"}]}))
    (permission,) = play.turn.pending
    assert play.turn.tool_calls[permission.tool_call_id].title == ""
    assert [(option.name, option.kind) for option in permission.options] == [("y", "")]
    seen(play, "waiting for you", "no kind given")


def test_r10_two_requests_about_one_call_are_answered_apart_and_once() -> None:
    play = Play()
    play.ask("k1", {"toolCallId": "c"}, "allow_once", "reject_once")
    play.ask("k2", {"toolCallId": "c"}, "allow_once", "reject_once")
    play.apply(events.PermissionClosed("k2", "selected", "you", "reject_once"))
    assert [one.key for one in play.turn.pending] == ["k1"]
    assert play.apply(events.PermissionClosed("k2", "selected", "you", "allow_once")) == []
    assert play.turn.permissions["k2"].option_id == "reject_once"
    assert [one.key for one in play.turn.rejected] == ["k2"]
    play.apply(events.PermissionClosed("k1", "cancelled", "turn"))
    assert play.turn.state == "running"


@pytest.mark.parametrize(
    ("kind", "rejected"),
    [
        ("allow_once", False),
        ("allow_always", False),
        ("reject_once", True),
        ("reject_always", True),
        ("odd", True),
    ],
)
def test_only_an_allowance_is_none_rejected(kind: str, *, rejected: bool) -> None:
    play = Play()
    play.ask("k", {"toolCallId": "c"}, kind)
    play.apply(events.PermissionClosed("k", "selected", "you", kind))
    assert play.turn.permissions["k"].rejected is rejected


# --- terminals


def test_a_terminals_output_goes_to_the_turn_that_made_it() -> None:
    play = Play()
    play.apply(events.TerminalStarted("t", "make", CWD))
    play.apply(events.TerminalOutput("t", "one\n"))
    play.end()
    first = play.turn
    play.start()
    changes = play.apply(events.TerminalOutput("t", "two\n"))
    assert [(change.turn, change.node) for change in changes] == [(first, ("terminals", "t"))]
    assert str(first.terminals["t"].output) == "one\ntwo\n"
    assert play.apply(events.TerminalOutput("nobody's", "x")) == []


def test_t09_endless_output_keeps_its_end() -> None:
    play = Play()
    play.apply(events.TerminalStarted("t", "yes", CWD))
    for _ in range(5):
        play.apply(events.TerminalOutput("t", "y" * 1_000_000))
    play.apply(events.TerminalOutput("t", "the end"))
    terminal = play.turn.terminals["t"]
    assert len(terminal.output) < 4_100_000
    assert str(terminal.output).endswith("the end")
    assert terminal.truncated
    seen(play, "earlier output was dropped", "the end")


def test_changes_name_exactly_the_nodes_that_changed() -> None:
    play = Play()
    assert [change.node for change in play.say("a")] == [("items", 0)]
    assert [change.node for change in play.say("b")] == [("items", 0)]
    assert [change.node for change in play.update("tool_call", toolCallId="c")] == [
        ("items", 1),
        ("tool_calls", "c"),
    ]
    assert [change.node for change in play.update("plan", entries=[])] == [("items", 2), ("plans", "default")]
    assert [change.node for change in play.update("plan", entries=[])] == [("plans", "default")]
    assert [change.node for change in play.ask("k", {"toolCallId": "c"})] == [
        ("tool_calls", "c"),
        ("permissions", "k"),
        (),
    ]


def test_a_session_keeps_the_latest_hundred_turns() -> None:
    play = Play()
    first = play.turn
    for _ in range(TURN_LIMIT):
        play.apply(events.TurnEnded({"stopReason": "end_turn"}))
        play.start()
    assert len(play.state.turns) == TURN_LIMIT
    assert first not in play.state.turns
    assert first.state == "done"


def test_of_hundreds_of_requests_about_one_call_those_that_wait_and_the_latest_are_told_of() -> None:
    play = Play()
    call = {"toolCallId": "c", "title": "t"}
    play.ask("first", call, "allow_once")
    for number in range(200):
        play.ask(f"p{number}", call, "allow_once")
        play.apply(events.PermissionClosed(f"p{number}", "selected", "you", "allow_once"))
    told = [change.node[1] for change in play.update("tool_call_update", toolCallId="c", status="completed")]
    assert told == ["c", "first", *(f"p{number}" for number in range(150, 200))]


def test_options_are_read_once_for_each_list() -> None:
    play = Play()
    option = {"id": "o", "name": "O", "currentValue": "v", "options": [{"value": "v", "name": "V"}]}
    play.update("config_option_update", configOptions=[option])
    before = play.state.options
    play.update("session_info_update", title="other")
    assert play.state.options is before
    play.update("config_option_update", configOptions=[{**option, "currentValue": "w"}])
    assert [one["value"] for one in play.state.options] == ["w"]
