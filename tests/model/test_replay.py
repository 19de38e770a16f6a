from __future__ import annotations

from acp_jupyter.model import events
from acp_jupyter.model.transcript import from_json, to_json
from acp_jupyter.model.turn import AgentInfo, Message, Turn
from acp_jupyter.views.text import turn_text

from .play import CWD, Play

AGENT = AgentInfo("fake", "Fake", "1.0")


def replaying() -> Play:
    play = Play()
    play.update("tool_call", toolCallId="c1", title="Live", status="in_progress")
    play.apply(events.ReplayBegan("s1", AGENT, CWD))
    return play


def question(turn: Turn) -> str:
    asked = turn.items[0]
    assert isinstance(asked, Message)
    return str(asked.text)


def test_a5_and_r23_a_replay_becomes_history_turn_by_turn_and_touches_nothing_live() -> None:
    play = replaying()
    before = to_json(play.turn)
    for n in (1, 2):
        play.say("Question ", "user_message_chunk")
        play.say(f"{n}", "user_message_chunk")
        play.say("hm", "agent_thought_chunk")
        play.update("tool_call", toolCallId="c1", title=f"Call {n}", status="completed")
        play.say(f"Answer {n}")
    play.update("session_info_update", title="Told")
    play.update("available_commands_update", availableCommands=[{"name": "web", "description": ""}])
    assert to_json(play.turn) == before, "nothing is live"
    play.apply(events.SessionOpened("s1", {}))
    assert [turn.text for turn in play.state.history] == ["Answer 1", "Answer 2"]
    assert [question(turn) for turn in play.state.history] == ["Question 1", "Question 2"]
    assert [turn.tool_calls["c1"].title for turn in play.state.history] == ["Call 1", "Call 2"]
    assert play.turn.tool_calls["c1"].title == "Live"
    assert (play.turn.title, play.state.commands[0]["name"]) == ("Told", "web")
    play.say("On we go.")
    assert play.turn.text == "On we go."
    for turn in play.state.history:
        assert turn.ended
        assert "from its memory" in turn_text(turn)
        assert from_json(to_json(turn)) == turn


def test_a5_a_load_that_fails_leaves_nothing() -> None:
    play = replaying()
    play.say("Half", "user_message_chunk")
    play.apply(events.ReplayFailed())
    assert play.state.history == []
    play.say("Live")
    assert play.turn.text == "Live"


def test_a5_a_replay_that_begins_with_the_agent_is_a_turn_too() -> None:
    play = replaying()
    play.say("Earlier.")
    play.apply(events.SessionOpened("s1", {}))
    assert [turn.text for turn in play.state.history] == ["Earlier."]
