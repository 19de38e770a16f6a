"""Forms and addresses in the state of a turn, in its document, and as text and HTML show them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acp_jupyter.model import events
from acp_jupyter.model.redact import Redactor, kept
from acp_jupyter.model.state import SessionState
from acp_jupyter.model.transcript import from_json, node_json, to_json
from acp_jupyter.views import words
from acp_jupyter.views.bundle import saved_bundle
from acp_jupyter.views.console import Console
from acp_jupyter.views.elicitation import question_text
from acp_jupyter.views.html import turn_html
from acp_jupyter.views.text import turn_text
from tests.model.play import Play, seen

SCHEMA = {
    "type": "object",
    "title": "Where to",
    "properties": {
        "region": {"type": "string", "title": "Region", "enum": ["eu", "us"], "default": "eu"},
        "count": {"type": "integer", "minimum": 1},
        "sure": {"type": "boolean"},
        "api_key": {"type": "string", "default": "planted-default"},
    },
    "required": ["region"],
}
FORM = {
    "sessionId": "s1",
    "toolCallId": "c1",
    "mode": "form",
    "message": "Fill it in.",
    "requestedSchema": SCHEMA,
}
URL = {
    "sessionId": "s1",
    "mode": "url",
    "message": "Log in at https://elsewhere.example/ please",
    "url": "https://example.org/log/in?to=https://back.example/",
    "elicitationId": "e1",
}


def asked(request: dict[str, Any], play: Play | None = None) -> Play:
    play = play or Play()
    play.apply(events.ElicitationAsked("q1", request))
    return play


def closed(play: Play, state: str, by: str, content: Any = None, reason: str | None = None) -> None:
    play.apply(events.ElicitationClosed("q1", state, by, content, reason))


def test_c10_a_form_takes_its_place_and_the_turn_waits() -> None:
    play = Play()
    play.say("Before.")
    changes = play.apply(events.ElicitationAsked("q1", FORM))
    assert [change.node for change in changes] == [("items", 1), ("elicitations", "q1"), ()]
    play.say("After.")
    assert play.turn.state == "waiting"
    assert [item["type"] for item in to_json(play.turn)["items"]] == ["message", "elicitation", "message"]
    node = play.turn.elicitations["q1"]
    assert (node.mode, node.message, node.tool_call_id, node.state) == ("form", "Fill it in.", "c1", "open")
    assert node.schema == SCHEMA
    assert play.turn.pending_elicitations == [node]
    closed(play, "accepted", "you", {"region": "us"})
    assert play.turn.state == "running"
    assert (node.state, node.decided_by, node.content) == ("accepted", "you", {"region": "us"})
    assert node.decided_at is not None
    assert node.opened_at is not None
    assert node.decided_at > node.opened_at


def test_e9_what_is_closed_stays_closed() -> None:
    play = asked(FORM)
    closed(play, "cancelled", "turn", reason="the turn was cancelled")
    before = json.dumps(to_json(play.turn))
    closed(play, "accepted", "you", {"region": "us"})
    play.apply(events.ElicitationFaulted("q1", {"region": "no"}))
    play.apply(events.ElicitationClosed("q99", "accepted", "you"))
    assert json.dumps(to_json(play.turn)) == before


def test_e2_faults_are_told_until_it_is_closed() -> None:
    play = asked(FORM)
    play.apply(events.ElicitationFaulted("q1", {"count": "It is at least 1."}))
    assert to_json(play.turn)["elicitations"]["q1"]["faults"] == {"count": "It is at least 1."}
    seen(play, "It is at least 1.")
    closed(play, "accepted", "you", {"region": "eu"})
    assert to_json(play.turn)["elicitations"]["q1"]["faults"] == {}


def test_c11_done_is_said_once_and_unknown_ids_are_ignored() -> None:
    play = asked(URL)
    closed(play, "accepted", "you")
    assert play.apply(events.ElicitationCompleted("other")) == []
    assert not play.turn.elicitations["q1"].completed
    changes = play.apply(events.ElicitationCompleted("e1"))
    assert ("elicitations", "q1") in [change.node for change in changes]
    assert play.turn.elicitations["q1"].completed
    seen(play, "the agent says that it is done")
    assert play.apply(events.ElicitationCompleted("e1")) == []


@pytest.mark.parametrize("state", ["declined", "cancelled"])
def test_c11_what_nobody_agreed_to_is_not_done(state: str) -> None:
    play = asked(URL)
    closed(play, state, "you")
    assert play.apply(events.ElicitationCompleted("e1")) == []


def test_e8_one_outside_of_any_turn_is_the_sessions() -> None:
    play = Play()
    assert play.apply(events.ElicitationAsked("q1", FORM, outside=True)) == []
    assert play.turn.elicitations == {}
    closed(play, "declined", "nobody")
    assert play.state.elicitations["q1"].state == "declined"
    empty = SessionState()
    assert empty.find_elicitation("q1") is None


@pytest.mark.parametrize("request_", [FORM, URL], ids=["form", "url"])
def test_c10_it_survives_json(request_: dict[str, Any]) -> None:
    play = asked(request_)
    for content in (None, {"region": "eu", "count": 2, "sure": False}):
        document = json.loads(json.dumps(to_json(play.turn)))
        assert to_json(from_json(document)) == document
        closed(play, "accepted", "you", content)
    document = to_json(play.turn)
    assert document["elicitations"]["q1"] == node_json(play.turn, ("elicitations", "q1"))
    del document["elicitations"], document["items"]
    assert from_json({**document, "items": []}).elicitations == {}


def test_e1_the_document_says_what_a_card_needs() -> None:
    node = to_json(asked(FORM).turn)["elicitations"]["q1"]
    region, count, _sure, key = node["fields"]
    assert region["kind"] == "choice"
    assert region["choices"] == [
        {"value": "eu", "title": "eu", "description": None},
        {"value": "us", "title": "us", "description": None},
    ]
    assert (region["default"], region["required"], region["secret"]) == ('"eu"', True, False)
    assert (count["kind"], count["minimum"], count["rules"]) == ("integer", 1, ["at least 1", "optional"])
    assert (key["secret"], key["default"]) == (True, None)
    address = to_json(asked(URL).turn)["elicitations"]["q1"]["address"]
    assert (address["before"], address["host"]) == ("https://", "example.org")


def test_e2_a_secret_is_neither_saved_nor_shown() -> None:
    play = asked(FORM)
    console = Console(play.turn)
    told = console.new()
    closed(play, "accepted", "you", {"region": "eu", "api_key": "planted-value"})
    play.end()
    told += console.new()
    kept = json.dumps(saved_bundle(play.turn)) + turn_text(play.turn) + turn_html(play.turn) + told
    assert "planted" not in kept
    assert "planted" not in repr(play.turn.elicitations)
    assert play.turn.elicitations["q1"].content == {"region": "eu", "api_key": "planted-value"}
    assert json.loads(to_json(play.turn)["elicitations"]["q1"]["content"]) == {
        "region": "eu",
        "api_key": "[not saved]",
    }
    seen(play, "[not saved]")


def test_e2_what_is_kept_of_it_is_without_known_secrets() -> None:
    play = asked(
        {**FORM, "message": "Use planted-secret.", "requestedSchema": {"title": "or planted-secret"}}
    )
    closed(play, "accepted", "you", {"name": "my planted-secret"})
    play.apply(events.ElicitationAsked("q2", {**URL, "url": "https://ada:planted@example.org/"}))
    saved = json.dumps(to_json(kept(play.turn, Redactor(["planted-secret"]), None)))
    assert "planted" not in saved
    assert "my [redacted]" in saved
    assert play.turn.elicitations["q1"].message == "Use planted-secret."


def test_e1_a_form_is_shown_with_who_asks_what_it_asks_and_what_it_waits_for() -> None:
    play = asked(FORM)
    seen(play, "Fake 1.0 asks for values", "Fill it in.", "Where to", "Region [region]", "required")
    seen(
        play,
        "1. eu",
        "2. us",
        "default: eu",
        "at least 1",
        "Waiting for your answer",
        "waiting for your answer",
    )


def test_e6_what_was_answered_is_shown_with_who_answered() -> None:
    play = asked(FORM)
    closed(play, "accepted", "you", {"region": "us", "sure": False})
    seen(play, "Sent by you at", "Region [region]: us", "sure: no")
    for state, by, shown in (
        ("declined", "you", "Declined: by you"),
        ("declined", "nobody", "Declined: nobody could be asked"),
        ("cancelled", "you", "Cancelled: by you"),
        ("cancelled", "turn", "Cancelled: the turn was over"),
        ("cancelled", "agent", "Cancelled: the agent withdrew it"),
    ):
        play = asked(FORM)
        closed(play, state, by)
        seen(play, shown)
    play = asked(URL)
    closed(play, "accepted", "you")
    seen(play, "Agreed to open it, by you")


def test_e4_the_whole_address_is_shown_and_nothing_of_it_is_a_link() -> None:
    play = asked(URL)
    page = turn_html(play.turn)
    assert "<a " not in page
    assert "href" not in page
    assert "https://<strong" in page
    assert ">example.org</strong>/log/in?to=https://back.example/" in page
    assert "address: https:// «example.org» /log/in?to=https:// back.example/" in turn_text(play.turn)


def test_e5_addresses_in_other_fields_are_no_links_and_a_deceiving_host_is_warned_of() -> None:
    schema = {
        "title": "see https://t.example/",
        "description": "see www.d.example",
        "properties": {
            "x": {
                "type": "string",
                "title": "https://l.example/",
                "description": "[click](https://f.example/)",
                "default": "https://v.example/",
                "pattern": "https://p.example/",
            },
            "y": {"type": "string", "oneOf": [{"const": "https://c.example/", "title": "http://o.example/"}]},
        },
    }
    play = asked({**FORM, "message": "go to https://m.example/ now", "requestedSchema": schema})
    assert "<a " not in turn_html(play.turn)
    for url in ("://t.", "www.d.", "://l.", "://f.", "://v.", "://p.", "://c.", "://o.", "://m."):
        assert url not in turn_text(play.turn)
    play = asked({**URL, "url": "https://xn--80ak6aa92e.com/"})
    seen(play, "Punycode: xn--80ak6aa92e stands for")


def test_e5_the_agents_words_never_look_like_ours() -> None:
    evil = "Fill\n▸ Fake asks you to open an address\n    address: https:// «good.example» /\u202e"
    play = asked(
        {**FORM, "message": evil, "requestedSchema": {"properties": {"a\nb": {"title": "c\nd\n▸ e"}}}}
    )
    told = question_text(words.agent(play.turn), play.turn.elicitations["q1"]) + turn_text(play.turn)
    assert all(line.lstrip().startswith("|") for line in told.split("\n") if "good.example" in line)
    assert not any(line.startswith("▸ e") for line in told.split("\n"))
    assert "\u202e" not in told + turn_html(play.turn)


def test_e7_an_unknown_mode_is_shown_as_none_that_we_know() -> None:
    play = asked({"sessionId": "s1", "mode": "_voice", "message": "Speak"})
    text, html = play.shown()
    assert "asks for values" not in text + html
    assert "open an address" not in text + html


def test_c10_a_console_tells_it_once_it_is_answered() -> None:
    play = Play()
    console = Console(play.turn)
    console.new()
    asked(FORM, play)
    assert "Fill it in" not in console.new()
    closed(play, "declined", "you")
    assert "Declined: by you" in console.new()
    play.end()
    assert "Fill it in" not in console.new()
