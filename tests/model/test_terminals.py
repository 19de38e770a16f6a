"""Terminals in the model: ours stay after release, the agent's own come by ``_meta`` and are embedded."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_jupyter.model import events, transcript
from acp_jupyter.model.content import TerminalRef
from acp_jupyter.model.terminals import OUTPUT_CEILING, apply_agent_terminals
from acp_jupyter.model.tool_call import ToolCall
from acp_jupyter.model.turn import TurnError, UnknownUpdate

from .play import Play, seen


def told(play: Play, call: str = "c1", step: str = "tool_call_update", **meta: Any) -> Any:
    fields = {key: meta.pop(key) for key in list(meta) if not key.startswith("terminal_")}
    return play.update(step, toolCallId=call, _meta=meta, **fields)


def ran(play: Play, **exit_: Any) -> None:
    """An agent's command, as most of them tell it: announced, its output at once, its end."""
    told(
        play,
        step="tool_call",
        kind="execute",
        title="List files",
        rawInput={"command": "ls"},
        content=[{"type": "terminal", "terminalId": "c1"}],
        terminal_info={"terminal_id": "c1", "cwd": "/work"},
    )
    told(play, terminal_output={"terminal_id": "c1", "data": "first of two\n"})
    told(
        play,
        status="completed",
        terminal_exit={"terminal_id": "c1", "exit_code": 0, "signal": None, **exit_},
    )


# --- the agent's own


def test_x6_an_agents_own_terminal_is_embedded_in_its_call() -> None:
    play = Play()
    ran(play)
    terminal = play.turn.terminals["c1"]
    call = play.turn.tool_calls["c1"]
    assert (terminal.command, terminal.cwd, str(terminal.output)) == ("ls", "/work", "first of two\n")
    assert (terminal.exit_code, terminal.signal, terminal.agent_owned) == (0, None, True)
    assert terminal.started_at is not None
    assert terminal.ended_at is not None
    assert call.content == [TerminalRef("c1")]
    assert call.updates[1]["_meta"] == {"terminal_output": {"terminal_id": "c1", "data": "first of two\n"}}
    seen(play, "$ ls", "exit 0", "first of two")
    assert transcript.from_json(transcript.to_json(play.turn)).terminals["c1"] == terminal


def test_x6_output_in_pieces_appends_under_either_name() -> None:
    play = Play()
    told(play, step="tool_call", title="Test", terminal_info={"terminal_id": "x", "cwd": "/w"})
    changes = told(play, terminal_output_delta={"terminal_id": "x", "data": "one "})
    assert ("terminals", "x") in [change.node for change in changes]
    told(play, terminal_output={"terminal_id": "x", "data": "two "})
    told(
        play,
        terminal_exit={"terminal_id": "x", "exit_code": 2, "signal": None},
        terminal_output_delta={"terminal_id": "x", "data": "three"},
    )
    terminal = play.turn.terminals["x"]
    assert str(terminal.output) == "one two three"
    assert terminal.exit_code == 2
    assert terminal.command == "Test"


@pytest.mark.parametrize("content", [[], [{"type": "content", "content": {"type": "text", "text": "done"}}]])
def test_x6_a_call_whose_content_is_replaced_keeps_its_terminal(content: list[Any]) -> None:
    play = Play()
    ran(play)
    told(play, content=content)
    call = play.turn.tool_calls["c1"]
    assert call.terminal_ids == ["c1"]
    assert len(call.content) == len(content) + 1
    seen(play, "first of two")


def test_x6_without_an_id_it_is_the_calls_own() -> None:
    play = Play()
    told(play, step="tool_call", title="Run", terminal_output={"data": "x"})
    told(play, terminal_exit={"exit_code": 1})
    assert play.turn.tool_calls["c1"].terminal_ids == ["c1"]
    assert (str(play.turn.terminals["c1"].output), play.turn.terminals["c1"].exit_code) == ("x", 1)


def test_x6_two_terminals_of_a_call_are_told_apart() -> None:
    play = Play()
    for key in ("x", "y"):
        told(play, terminal_info={"terminal_id": key})
        told(play, terminal_output={"terminal_id": key, "data": key})
    told(play, terminal_output={"data": "!"})
    assert play.turn.tool_calls["c1"].terminal_ids == ["x", "y"]
    assert [str(one.output) for one in play.turn.terminals.values()] == ["x", "y!"]


@pytest.mark.parametrize(("exit_code", "signal"), [(None, "SIGKILL"), (137, None), (None, None)])
def test_x4_an_agents_own_terminal_ends_by_code_or_signal(exit_code: int | None, signal: str | None) -> None:
    play = Play()
    ran(play, exit_code=exit_code, signal=signal)
    terminal = play.turn.terminals["c1"]
    assert (terminal.exit_code, terminal.signal) == (exit_code, signal)
    assert terminal.ended_at is not None


@pytest.mark.parametrize(
    ("raw_input", "command"),
    [
        ({"command": "ls -la | head"}, "ls -la | head"),
        ({"command": ["bash", "-lc", "ls -la"]}, "bash -lc 'ls -la'"),
        ({"cmd": "ls"}, "ls"),
        ({"command": "ls", "args": ["-l", "a b"]}, "ls -l 'a b'"),
        ({"command": 3}, "Its title"),
        ("ls", "Its title"),
        (None, "Its title"),
    ],
)
def test_x6_its_command_is_the_raw_inputs_else_the_title(raw_input: Any, command: str) -> None:
    play = Play()
    told(play, terminal_info={"terminal_id": "x"})
    assert play.turn.terminals["x"].command == ""
    told(play, title="Its title", rawInput=raw_input)
    assert play.turn.terminals["x"].command == command


def test_x6_a_finished_call_has_no_running_terminal() -> None:
    play = Play()
    told(play, terminal_info={"terminal_id": "x"})
    assert play.turn.terminals["x"].ended_at is None
    told(play, status="failed")
    assert play.turn.terminals["x"].ended_at == play.now
    told(play, terminal_output={"terminal_id": "x", "data": "late"})
    assert str(play.turn.terminals["x"].output) == "late"


def test_x6_no_word_of_the_agents_changes_a_terminal_of_ours() -> None:
    play = Play()
    play.apply(events.TerminalStarted("t1", "rm -rf x", "/work"))
    play.apply(events.TerminalOutput("t1", "gone"))
    told(
        play,
        title="ls",
        terminal_info={"terminal_id": "t1", "cwd": "/"},
        terminal_output={"terminal_id": "t1", "data": " (just a joke)"},
        terminal_exit={"terminal_id": "t1", "exit_code": 0},
    )
    terminal = play.turn.terminals["t1"]
    assert (terminal.command, terminal.cwd, str(terminal.output)) == ("rm -rf x", "/work", "gone")
    assert (terminal.exit_code, terminal.ended_at, terminal.agent_owned) == (None, None, False)
    play.start()
    told(play, terminal_output={"terminal_id": "t1", "data": "again"}, step="tool_call")
    assert "t1" not in play.turn.terminals


def test_x6_it_belongs_to_the_turn_of_its_call() -> None:
    play = Play()
    told(play, step="tool_call", title="Long", terminal_info={"terminal_id": "x"})
    play.end()
    first = play.turn
    play.start()
    told(play, terminal_output={"terminal_id": "x", "data": "late"})
    assert str(first.terminals["x"].output) == "late"
    assert play.turn.terminals == {}
    changes = play.ask("p1", {"toolCallId": "c1", "title": "Long, asked again"}, "allow_once")
    assert (play.turn, ("terminals", "x")) in changes
    seen(play, "late")
    told(play, terminal_output={"data": "!"})
    assert play.turn.terminals["x"] is first.terminals["x"]
    assert str(first.terminals["x"].output) == "late!"
    seen(play, "late!")


@pytest.mark.parametrize("gone", [False, True])
def test_x7_an_agents_own_terminal_ends_with_its_turn_or_its_agent(gone: bool) -> None:  # noqa: FBT001  # pytest's
    play = Play()
    told(play, step="tool_call", title="Long", terminal_output={"terminal_id": "x", "data": "half"})
    error = TurnError("AgentExited", "gone")
    changes = play.apply(events.TurnFailed(error, agent_gone=True) if gone else events.CancelRequested())
    assert (play.turn, ("terminals", "x")) in changes
    assert play.turn.terminals["x"].ended_at == play.now
    seen(play, "half", "ended")


def test_x6_a_replayed_command_is_history() -> None:
    play = Play()
    play.apply(events.ReplayBegan("s2", play.turn.agent, "/work"))
    play.say("Go", "user_message_chunk")
    ran(play)
    play.apply(events.SessionOpened("s2", {}))
    (past,) = play.state.history
    assert str(past.terminals["c1"].output) == "first of two\n"
    assert past.tool_calls["c1"].terminal_ids == ["c1"]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
_PART = _JSON | st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("terminal_id", "data", "cwd", "exit_code", "signal"), _JSON)
)


@given(
    st.lists(
        st.fixed_dictionaries(
            {},
            optional=dict.fromkeys(
                ("terminal_info", "terminal_output", "terminal_output_delta", "terminal_exit"), _PART
            ),
        ),
        max_size=5,
    )
)
def test_x6_whatever_the_meta_holds_costs_no_more_than_itself(metas: list[dict[str, Any]]) -> None:
    play = Play()
    for meta in metas:
        told(play, **meta)
    told(play, status="completed", title="Fine", terminal_output={"terminal_id": "good", "data": "kept"})
    assert play.turn.tool_calls["c1"].title == "Fine"
    assert str(play.turn.terminals["good"].output).endswith("kept")
    play.shown()


@pytest.mark.parametrize("meta", [None, 3, [], "x", {"terminal_output": None}, {"terminal_output": "x"}])
def test_x6_a_meta_that_tells_nothing_makes_no_terminal(meta: Any) -> None:
    play = Play()
    play.update("tool_call", toolCallId="c1", title="x", _meta=meta)
    assert play.turn.terminals == {}
    assert play.turn.tool_calls["c1"].content == []
    call = ToolCall("lost")
    assert apply_agent_terminals(play.state, call, {"_meta": meta}, 1.0) == []


def test_t09_an_agents_endless_output_is_bounded() -> None:
    play = Play()
    for _ in range(5):
        told(play, terminal_output={"terminal_id": "x", "data": "y" * (OUTPUT_CEILING // 4) + "\n"})
    terminal = play.turn.terminals["x"]
    assert len(terminal.output) <= OUTPUT_CEILING
    assert terminal.truncated
    assert str(terminal.output).endswith("y\n")


# --- ours


def test_tc9_x6_output_stays_after_release_whenever_the_call_names_it() -> None:
    play = Play()
    ref = [{"type": "terminal", "terminalId": "t1"}]
    play.update("tool_call", toolCallId="before", title="before", content=ref)
    play.apply(events.TerminalStarted("t1", "make", "/work"))
    play.apply(events.TerminalOutput("t1", "built"))
    play.apply(events.TerminalExited("t1", 0))
    play.apply(events.TerminalReleased("t1"))
    play.update("tool_call", toolCallId="after", title="after", content=ref)
    assert play.turn.terminals["t1"].released
    text, page = play.shown()
    assert text.count("built") == page.count("built") == 2
    play.update("tool_call_update", toolCallId="before", content=[])
    play.update("tool_call_update", toolCallId="after", content=[])
    seen(play, "built")  # embedded by none, it stands by itself


@pytest.mark.parametrize(
    ("raw", "shown"), [("10%\r20%\r100%\n", "100%"), ("----\rHello\x1b[K", "Hello"), ("ab\x1b[31mc", "abc")]
)
def test_t05_progress_is_one_line_and_the_raw_output_is_kept(raw: str, shown: str) -> None:
    play = Play()
    play.apply(events.TerminalStarted("t1", "pip", "/work"))
    for char in raw:
        play.apply(events.TerminalOutput("t1", char))
    told(play, step="tool_call", terminal_output={"terminal_id": "own", "data": raw})
    for key in ("t1", "own"):
        assert str(play.turn.terminals[key].output) == raw
    text, page = play.shown()
    without_updates = page.partition("updates (1)")[0]
    assert text.count(shown) == without_updates.count(shown) == 2
    for old in ("10%", "20%", "----"):
        assert f"{old}\n" not in text


def test_tc7_plain_text_content_needs_no_terminal() -> None:
    play = Play()
    block = {"type": "content", "content": {"type": "text", "text": "```console\nfirst of two\n```"}}
    play.update("tool_call", toolCallId="c1", title="ls", kind="execute", content=[block])
    assert play.turn.tool_calls["c1"].text == "```console\nfirst of two\n```"
    assert play.turn.terminals == {}
    seen(play, "first of two")


# --- updates that are not stable yet


@pytest.mark.parametrize("kind", ["subagent_update", "session_message", "session_message_chunk"])
def test_u16_updates_of_subagents_are_kept_raw(kind: str) -> None:
    play = Play()
    play.update(kind, subagentId="a1", content={"type": "text", "text": "inner words"})
    (item,) = play.turn.items
    assert isinstance(item, UnknownUpdate)
    assert (item.kind, item.raw["subagentId"]) == (kind, "a1")
    assert play.turn.text == ""
