"""Every update kind: JSON in, a field in the model, words on the card."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from acp_jupyter.model import events
from acp_jupyter.model.content import Block, Location, TerminalRef, UnknownContent
from acp_jupyter.model.diff import Diff
from acp_jupyter.model.request_warnings import oversight_of
from acp_jupyter.model.state import SessionState
from acp_jupyter.model.text import Text
from acp_jupyter.model.turn import (
    Compaction,
    ContentPart,
    Message,
    ModeChange,
    Notice,
    PlanEntry,
    Thought,
    UnknownUpdate,
    Usage,
)
from tests.model.play import CWD, Play, seen


def block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def test_u1_user_message_chunk() -> None:
    play = Play()
    play.say("And the docs?", "user_message_chunk")
    assert play.turn.items == [Message("user", Text("And the docs?"))]
    seen(play, "user", "And the docs?")


def test_u2_agent_message_chunk() -> None:
    play = Play()
    play.say("I will look ")
    play.say("at it.")
    assert play.turn.items == [Message("agent", Text("I will look at it."))]
    assert play.turn.text == "I will look at it."
    seen(play, "I will look at it.")


def test_u2_a_message_with_an_id_goes_on_where_it_began() -> None:
    play = Play()
    play.say("one", messageId="m1")
    play.say("two", messageId="m2")
    play.update("plan", entries=[])
    play.say(", on", messageId="m1")
    assert [str(item.text) for item in play.turn.items if isinstance(item, Message)] == ["one, on", "two"]


def test_u2_without_ids_anything_in_between_ends_a_message() -> None:
    play = Play()
    play.say("one")
    play.update("tool_call", toolCallId="c1", title="Look")
    play.say("two")
    assert play.turn.text == "one\n\ntwo"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"type": "image", "mimeType": "image/png", "data": "AAAA"}, "[image, image/png, 3 bytes]"),
        ({"type": "audio", "mimeType": "audio/wav", "data": "AAAA"}, "[audio, audio/wav, 3 bytes]"),
        ({"type": "resource_link", "name": "spec", "uri": "file:///s"}, "[resource link, spec, file:///s]"),
        ({"type": "resource", "resource": {"uri": "file:///r", "text": "inside"}}, "inside"),
        ({"type": "hologram", "x": 1}, "hologram"),
    ],
)
def test_u2_content_other_than_text(content: dict[str, Any], expected: str) -> None:
    play = Play()
    play.update("agent_message_chunk", content=content)
    assert play.turn.items == [ContentPart("agent", content)]
    seen(play, expected)


def test_u3_agent_thought_chunk() -> None:
    play = Play()
    play.say("First the loader,", "agent_thought_chunk")
    play.say(" then the tests.\nIn detail.", "agent_thought_chunk")
    play.now += 2
    play.say("Right.")
    thought = play.turn.items[0]
    assert isinstance(thought, Thought)
    assert play.turn.thoughts == "First the loader, then the tests.\nIn detail."
    assert thought.started_at is not None
    assert thought.ended_at == thought.started_at + 4
    seen(play, "Thought for 4.0 s", "First the loader, then the tests.")


def test_u4_tool_call() -> None:
    play = Play()
    play.update(
        "tool_call",
        toolCallId="c1",
        title="Look into the loader",
        name="read_file",
        kind="read",
        status="in_progress",
        locations=[{"path": f"{CWD}/src/loader.py", "line": 12}],
        content=[{"type": "content", "content": block("def load")}],
        rawInput={"path": "src/loader.py"},
        rawOutput=["def load"],
    )
    call = play.turn.tool_calls["c1"]
    assert (call.title, call.name, call.kind, call.status) == (
        "Look into the loader",
        "read_file",
        "read",
        "in_progress",
    )
    assert call.locations == [Location(f"{CWD}/src/loader.py", 12)]
    assert call.content == [Block(block("def load"))]
    assert (call.raw_input, call.raw_output) == ({"path": "src/loader.py"}, ["def load"])
    seen(play, "Read src/loader.py:12", "running", "the agent calls it “Look into the loader”", "read_file")
    seen(play, "raw input", '"src/loader.py"', "raw output", "def load")


def test_u5_tool_call_update() -> None:
    play = Play()
    play.update(
        "tool_call", toolCallId="c1", title="Run the tests", kind="execute", rawInput={"command": "make"}
    )
    play.update("tool_call_update", toolCallId="c1", status="completed", rawOutput={"code": 0})
    call = play.turn.tool_calls["c1"]
    assert (call.status, call.raw_output, call.updates_count) == ("completed", {"code": 0}, 2)
    seen(play, "Run make", "✓ done · 1.0 s", '"code":')


def test_u5_what_is_long_and_told_anew_is_kept_once() -> None:
    play = Play()
    long = "a" * 2_000
    first = {"toolCallId": "c1", "title": "Build", "rawInput": {"command": "make"}, "content": [block(long)]}
    play.update("tool_call", **first)
    told = {"toolCallId": "c1", "rawInput": None, "content": [block(long + "b")], "rawOutput": 1, "x": 1}
    play.update("tool_call_update", **told)
    last = {"toolCallId": "c1", "content": "no list", "rawOutput": 2, "status": "completed"}
    play.update("tool_call_update", **last)
    call = play.turn.tool_calls["c1"]
    gone = "[long, and told anew by a later update: not kept]"
    kind = {"sessionUpdate": "tool_call_update"}
    assert call.updates == [
        {"sessionUpdate": "tool_call", **first, "content": gone},
        {**kind, **told, "content": gone},
        {**kind, **last},
    ], "what is short is there as it came"
    assert (call.raw_input, call.text, call.raw_output) == ({"command": "make"}, long + "b", 2)


def test_u5_r03_an_update_of_an_unknown_call_makes_it() -> None:
    play = Play()
    play.update("tool_call_update", toolCallId="t9", status="completed")
    assert play.turn.tool_calls["t9"].status == "completed"
    seen(play, "t9", "✓ done")


def test_u6_plan() -> None:
    play = Play()
    play.update("plan", entries=[{"content": "Old step", "priority": "low", "status": "pending"}])
    steps = [("Profile", "high", "completed"), ("Fix", "medium", "in_progress"), ("Test", "low", "pending")]
    play.update("plan", entries=[dict(zip(("content", "priority", "status"), s, strict=True)) for s in steps])
    assert play.turn.plan == list(itertools.starmap(PlanEntry, steps))
    assert len(play.turn.items) == 1
    seen(play, "✓ Profile (high priority)", "● Fix", "○ Test")
    assert all("Old step" not in shown for shown in play.shown())


def test_u7_available_commands_update() -> None:
    play = Play()
    play.update("available_commands_update", availableCommands=[{"name": "old", "description": "gone"}])
    commands = [{"name": "web", "description": "Search the web", "input": {"hint": "query"}}]
    play.update("available_commands_update", availableCommands=commands)
    assert play.turn.commands == [{"name": "web", "description": "Search the web", "hint": "query"}]
    seen(play, "/web [query] (Search the web)")
    assert all("/old" not in shown for shown in play.shown())


@pytest.mark.parametrize("field", ["currentModeId", "modeId"])
def test_u8_current_mode_update(field: str) -> None:
    play = Play()
    modes = {
        "currentModeId": "ask",
        "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "go", "name": "Go on"}],
    }
    play.apply(events.SessionOpened("s1", {"modes": modes}))
    assert play.turn.mode == {"id": "ask", "name": "Ask"}
    play.update("current_mode_update", **{field: "go"})
    assert play.turn.mode == {"id": "go", "name": "Go on"}
    assert play.turn.items == [ModeChange("go", "Go on", "agent", oversight_of("mode"))]
    seen(play, "mode: Go on", "mode changed to Go on by the agent itself")


def test_u9_config_option_update() -> None:
    play = Play()
    choices = [{"group": "g", "name": "G", "options": [{"value": "s", "name": "Sonnet"}]}]
    options = [
        {"id": "model", "name": "Model", "category": "model", "currentValue": "s", "options": choices},
        {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": True},
    ]
    play.update("config_option_update", configOptions=[{"id": "old", "name": "Old", "currentValue": "x"}])
    play.update("config_option_update", configOptions=options)
    assert [(option["name"], option["value"]) for option in play.turn.options] == [
        ("Model", "Sonnet"),
        ("Fast", "on"),
    ]
    seen(play, "Model: Sonnet", "Fast: on")


def test_u10_session_info_update() -> None:
    play = Play()
    play.update("session_info_update", title="The loader", updatedAt="2026-11-30T10:00:00Z")
    play.update("session_info_update")
    assert (play.turn.title, play.state.updated_at) == ("The loader", "2026-11-30T10:00:00Z")
    seen(play, "session: The loader")
    play.update("session_info_update", title=None)
    assert play.turn.title is None
    assert play.state.updated_at == "2026-11-30T10:00:00Z"


def test_u11_usage_update() -> None:
    play = Play()
    play.update("usage_update", used=76_000, size=200_000, cost={"amount": 0.12, "currency": "USD"})
    assert play.turn.usage == Usage(76_000, 200_000, {"amount": 0.12, "currency": "USD"})
    assert play.turn.cost == {"amount": 0.12, "currency": "USD"}
    seen(play, "76,000 of 200,000 tokens", "0.12 USD")


def test_u12_notice() -> None:
    play = Play()
    play.update("notice", severity="warning", title="Rate limit near", description="80 % used")
    play.update("notice", severity="cosmic", title="Full moon")
    assert play.turn.items == [
        Notice("warning", "Rate limit near", "80 % used"),
        Notice("cosmic", "Full moon"),
    ]
    assert play.turn.state == "running"
    seen(play, "notice (warning): Rate limit near", "80 % used", "notice (cosmic): Full moon")


def test_u13_compaction_update() -> None:
    play = Play()
    play.update("compaction_update", compactionId="k", status="in_progress", summary=[block("So far")])
    play.say("Meanwhile.")
    play.update("compaction_update", compactionId="k", status="failed", error="no room")
    assert play.turn.items[0] == Compaction("k", "failed", [block("So far")], "no room")
    seen(play, "context compaction: failed", "no room", "So far")
    play.update("compaction_update", compactionId="k", status="completed", summary=None, error=None)
    assert play.turn.items[0] == Compaction("k", "completed", [], None)
    play.update("compaction_update", compactionId="k", status="completed", summary=[])
    assert play.turn.items[0] == Compaction("k", "completed")


def test_u14_compaction_summary_chunk() -> None:
    play = Play()
    play.update("compaction_summary_chunk", compactionId="k", content=block("We fixed "))
    play.update("compaction_summary_chunk", compactionId="k", content=block("the loader."))
    assert play.turn.items == [Compaction("k", "in_progress", [block("We fixed "), block("the loader.")])]
    seen(play, "context compaction: in_progress", "We fixed", "the loader.")
    play.update("compaction_update", compactionId="k", status="completed", summary=[block("All of it.")])
    assert play.turn.items == [Compaction("k", "completed", [block("All of it.")])]


@pytest.mark.parametrize(
    "update",
    [
        pytest.param({"sessionUpdate": "plan_update", "plan": {"planId": "p"}}, id="U15-plan_update"),
        pytest.param({"sessionUpdate": "plan_removed", "planId": "p"}, id="U15-plan_removed"),
        pytest.param({"sessionUpdate": "subagent_update", "x": "sub"}, id="U16-subagent_update"),
        pytest.param({"sessionUpdate": "session_message_chunk", "x": 2}, id="U16-session_message_chunk"),
        pytest.param({"sessionUpdate": "quota_update", "left": 3}, id="U17-R01-unknown"),
        pytest.param({"left": 3}, id="U17-no-kind"),
        pytest.param({"sessionUpdate": 7}, id="U17-kind-is-no-text"),
        pytest.param({"sessionUpdate": "agent_message_chunk", "content": None}, id="U17-chunk"),
        pytest.param({"sessionUpdate": "agent_thought_chunk", "content": "text"}, id="U17-thought"),
        pytest.param({"sessionUpdate": "plan", "entries": {"0": "x"}}, id="U17-plan"),
        pytest.param({"sessionUpdate": "plan"}, id="U17-plan-missing"),
        pytest.param({"sessionUpdate": "tool_call", "title": "No id"}, id="U17-tool_call"),
        pytest.param({"sessionUpdate": "tool_call_update", "toolCallId": {}}, id="U17-tool_call-id"),
        pytest.param({"sessionUpdate": "notice", "severity": "info", "title": ""}, id="U17-notice"),
        pytest.param({"sessionUpdate": "compaction_update", "status": "failed"}, id="U17-compaction"),
        pytest.param({"sessionUpdate": "usage_update", "used": "1", "size": 2}, id="U17-usage"),
        pytest.param({"sessionUpdate": "usage_update", "used": True, "size": 2}, id="U17-usage-bool"),
        pytest.param({"sessionUpdate": "available_commands_update"}, id="U17-commands"),
        pytest.param({"sessionUpdate": "current_mode_update"}, id="U17-mode"),
        pytest.param({"sessionUpdate": "config_option_update", "configOptions": None}, id="U17-config"),
    ],
)
def test_u15_to_u17_what_is_not_understood_is_kept_raw_in_its_place(update: dict[str, Any]) -> None:
    play = Play()
    play.say("before")
    play.apply(events.SessionUpdate(update))
    play.say("after")
    kind = update.get("sessionUpdate")
    kind = kind if isinstance(kind, str) else None
    assert play.turn.items[1] == UnknownUpdate(kind, update)
    assert play.turn.text == "before\n\nafter"
    seen(play, f"unsupported update {kind or '(no kind)'}", "before", "after")


def test_u17_only_the_bad_item_of_a_list_is_lost() -> None:
    play = Play()
    play.update("plan", entries=[{"content": "Good"}, 3, {"status": "pending"}])
    play.update("available_commands_update", availableCommands=[None, {"name": "web"}])
    play.update("tool_call", toolCallId="c", title="T", locations=[{"line": 3}, {"path": "/a", "line": "x"}])
    assert play.turn.plan == [PlanEntry("Good", "medium", "pending")]
    assert [command["name"] for command in play.turn.commands] == ["web"]
    assert play.turn.tool_calls["c"].locations == [Location("/a")]


def test_before_any_turn_updates_wait_for_one_or_are_kept_aside() -> None:
    state = SessionState()
    play = Play.__new__(Play)
    play.state, play.now = state, 0.0
    play.say("stray")
    play.update("tool_call", toolCallId="c1", title="stray call")
    play.update("available_commands_update", availableCommands=[{"name": "web"}])
    assert [update["sessionUpdate"] for update in state.stray] == ["agent_message_chunk", "tool_call"]
    assert play.start().commands == [{"name": "web", "description": ""}]


# --- what a tool call holds


def test_r02_unknown_words_and_content_are_kept_and_shown() -> None:
    play = Play()
    chart = {"type": "chart", "points": [1, 2]}
    content = [chart, {"type": "content", "content": block("beside it")}, block("a bare block")]
    play.update("tool_call", toolCallId="c", title="Ship", kind="deploy", status="paused", content=content)
    call = play.turn.tool_calls["c"]
    assert (call.kind, call.status) == ("deploy", "paused")
    assert call.content == [UnknownContent(chart), Block(block("beside it")), Block(block("a bare block"))]
    seen(play, "deploy Ship", "paused", '"chart"', "beside it", "a bare block")


def test_tc7_tc8_diff_and_terminal() -> None:
    play = Play()
    path = f"{CWD}/a.py"
    content = [
        {"type": "diff", "path": path, "oldText": "x = 1\n", "newText": "x = 2\n"},
        {"type": "diff", "path": f"{CWD}/b.py", "oldText": None, "newText": "new\n"},
        {"type": "terminal", "terminalId": "t1"},
    ]
    play.update("tool_call", toolCallId="c", title="Edit", kind="edit", content=content)
    call = play.turn.tool_calls["c"]
    assert call.content == [
        Diff(path, "x = 1\n", "x = 2\n"),
        Diff(f"{CWD}/b.py", None, "new\n"),
        TerminalRef("t1"),
    ]
    seen(play, "Edit a.py, b.py", "@@ -1,1 +1,1 @@", "x = 1", "x = 2", "b.py · new file", "+2 −1")  # noqa: RUF001  # a minus sign
    seen(play, "terminal t1")


def test_tc9_x6_a_terminals_output_stays_after_its_release() -> None:
    play = Play()
    play.update(
        "tool_call", toolCallId="c", kind="execute", content=[{"type": "terminal", "terminalId": "t1"}]
    )
    play.apply(events.TerminalStarted("t1", "make test", CWD))
    play.apply(events.TerminalOutput("t1", "\x1b[31m1 failed\x1b[0m\n"))
    play.apply(events.TerminalExited("t1", 2))
    play.apply(events.TerminalReleased("t1"))
    terminal = play.turn.terminals["t1"]
    assert (str(terminal.output), terminal.exit_code, terminal.released) == (
        "\x1b[31m1 failed\x1b[0m\n",
        2,
        True,
    )
    seen(play, "$ make test", "1 failed", "exit 2 · 2.0 s")
    assert play.shown()[0].count("$ make test") == 1, "drawn within its call only"


def test_r31_odd_fields_still_make_a_card() -> None:
    play = Play()
    play.update("tool_call", toolCallId=7, title=None)
    assert play.turn.tool_calls["7"].title == ""
    seen(play, "Tool 7", "pending")


def test_r32_content_replaces() -> None:
    play = Play()
    play.update("tool_call", toolCallId="c", title="T", content=[{"type": "content", "content": block("A")}])
    play.update("tool_call_update", toolCallId="c", content=[{"type": "content", "content": block("B")}])
    assert play.turn.tool_calls["c"].text == "B"
    play.update("tool_call_update", toolCallId="c", content=[])
    assert play.turn.tool_calls["c"].content == []


class Counted(list[Any]):
    """Counts how often an item is looked at."""

    looks = 0

    def __getitem__(self, index: Any) -> Any:
        self.looks += 1
        return super().__getitem__(index)

    def __iter__(self) -> Any:
        self.looks += len(self)
        return super().__iter__()


def test_a_chunk_finds_its_message_however_many_there_are() -> None:
    play = Play()
    items = play.turn.items = Counted()
    for number in range(300):
        play.say("a", messageId=f"m{number}")
        play.say("b", "agent_thought_chunk", messageId=f"m{number}")
    for number in range(300):
        play.say("c", messageId=f"m{number}")
    assert items.looks < 10 * 900
    assert [str(item.text) for item in items] == ["ac", "b"] * 300
    play.end()
    play.say("late", messageId="m0")
    play.say("r", messageId="m0")
    assert (str(items[0].text), str(items[-1].text), items[-1].late) == ("ac", "later", True)
