from __future__ import annotations

from typing import Any

import pytest

from acp_jupyter.model import events
from acp_jupyter.model.request_warnings import oversight_of
from acp_jupyter.model.transcript import from_json, to_json
from acp_jupyter.model.turn import ModeChange, OptionChange

from .play import Play


def model(value: str) -> list[dict[str, Any]]:
    choices = [{"value": one, "name": one.title()} for one in ("small", "large")]
    return [{"id": "model", "name": "Model", "category": "model", "currentValue": value, "options": choices}]


def played() -> Play:
    play = Play()
    modes = {"currentModeId": "ask", "availableModes": [{"id": "go", "name": "Go on"}]}
    play.apply(events.SessionOpened("s1", {"modes": modes, "configOptions": model("small")}))
    return play


@pytest.mark.parametrize("first", ["notification", "answer"])
def test_p10_an_option_that_we_set_is_ours_whatever_comes_first(first: str) -> None:
    play = played()
    play.apply(events.ChoiceAsked("model", "large"))
    told: list[events.Event] = [
        events.SessionUpdate({"sessionUpdate": "config_option_update", "configOptions": model("large")}),
        events.ChoiceAnswered("model", "large", model("large")),
    ]
    for event in told if first == "notification" else told[::-1]:
        play.apply(event)
    assert play.turn.items == [OptionChange("model", "Model", "Large", "you")]
    assert all("Model changed to Large by you" in shown for shown in play.shown())


def test_p10_an_option_that_changed_by_itself_is_the_agents_doing() -> None:
    play = played()
    play.apply(events.ChoiceAsked("model", "small"))
    play.update("config_option_update", configOptions=model("large"))
    play.apply(events.ChoiceAnswered("model", "small", None, done=False))
    assert play.turn.items == [OptionChange("model", "Model", "Large", "agent")]
    assert all("Model changed to Large by the agent itself" in shown for shown in play.shown())
    assert from_json(to_json(play.turn)) == play.turn


def test_p10_a_mode_that_we_set_is_ours_and_one_that_was_refused_is_not() -> None:
    play = played()
    play.apply(events.ChoiceAsked(None, "go"))
    play.apply(events.ChoiceAnswered(None, "go", done=False))
    assert play.turn.mode == {"id": "ask", "name": "ask"}
    play.apply(events.ChoiceAsked(None, "go"))
    play.apply(events.ChoiceAnswered(None, "go"))
    assert play.turn.items == [ModeChange("go", "Go on", "you")]
    play.update("current_mode_update", currentModeId="ask")
    assert play.turn.items[-1] == ModeChange("ask", "ask", "agent", oversight_of("mode"))


def test_o6_the_complete_list_replaces() -> None:
    play = played()
    play.update("config_option_update", configOptions=[{"id": "new", "name": "New", "currentValue": "x"}])
    assert [option["id"] for option in play.turn.options] == ["new"]
    assert play.turn.items == [], "an option that is new, or gone, has not changed"
