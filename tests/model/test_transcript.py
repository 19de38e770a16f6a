from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_jupyter.model import events
from acp_jupyter.model.reduce import reduce
from acp_jupyter.model.state import SessionState
from acp_jupyter.model.transcript import MIME, from_json, node_json, to_json
from acp_jupyter.model.turn import AgentInfo, Message, Turn, TurnError
from acp_jupyter.views.bundle import saved_bundle
from tests.model.play import CWD, Play

WORDS = st.text(max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
IDS = st.sampled_from(["a", "b", "c", 7, None])
BLOCKS = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, WORDS),
    st.builds(lambda data: {"type": "image", "mimeType": "image/png", "data": data}, WORDS),
    st.builds(lambda more: {"type": "odd", "more": more}, JSON),
)
CONTENT = st.one_of(
    st.builds(lambda block: {"type": "content", "content": block}, BLOCKS),
    st.builds(
        lambda old, new: {"type": "diff", "path": "/a", "oldText": old, "newText": new},
        st.none() | st.text("a\n", max_size=6),
        st.text("a\nb", max_size=6),
    ),
    st.builds(lambda key: {"type": "terminal", "terminalId": key}, IDS),
    JSON,
)
KINDS = (
    "user_message_chunk agent_message_chunk agent_thought_chunk tool_call tool_call_update plan "
    "available_commands_update current_mode_update config_option_update session_info_update usage_update "
    "notice compaction_update compaction_summary_chunk plan_update quota_update"
).split()
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "content": BLOCKS | st.lists(CONTENT, max_size=3),
    "messageId": IDS,
    "toolCallId": IDS,
    "title": WORDS,
    "name": WORDS,
    "kind": st.sampled_from(["read", "execute", "deploy"]),
    "status": st.sampled_from(["pending", "in_progress", "completed", "failed", "paused"]),
    "locations": st.lists(st.builds(lambda path: {"path": path, "line": 3}, WORDS), max_size=2),
    "rawInput": JSON,
    "rawOutput": JSON,
    "entries": st.lists(st.builds(lambda text: {"content": text, "status": "pending"}, WORDS), max_size=3),
    "availableCommands": st.lists(st.builds(lambda name: {"name": name}, WORDS), max_size=2),
    "currentModeId": IDS,
    "configOptions": st.lists(st.builds(lambda value: {"id": "m", "currentValue": value}, JSON), max_size=2),
    "used": st.integers(0, 9),
    "size": st.integers(0, 9),
    "cost": st.builds(lambda amount: {"amount": amount, "currency": "EUR"}, st.integers(0, 9)),
    "severity": WORDS,
    "description": WORDS,
    "compactionId": IDS,
    "summary": st.lists(BLOCKS, max_size=2),
    "error": st.none() | WORDS,
}
# Each field may be left out, may be what it should be, or anything at all.
UPDATES = st.fixed_dictionaries(
    {"sessionUpdate": st.sampled_from(KINDS) | JSON},
    optional={name: st.one_of(strategy, strategy, strategy, JSON) for name, strategy in FIELDS.items()},
)
EVENTS = st.one_of(
    st.builds(events.SessionUpdate, UPDATES),
    st.builds(events.SessionUpdate, UPDATES),
    st.builds(events.SessionUpdate, UPDATES),
    st.builds(
        lambda key, call, option: events.PermissionAsked(key, {"toolCall": call, "options": [option]}),
        st.sampled_from(["k", "l"]),
        UPDATES | JSON,
        st.builds(lambda kind: {"optionId": "y", "kind": kind}, JSON) | JSON,
    ),
    st.builds(
        events.PermissionClosed,
        st.sampled_from(["k", "l"]),
        st.just("selected"),
        st.just("you"),
        st.just("y"),
    ),
    st.builds(
        lambda key, mode, schema, url: events.ElicitationAsked(
            key, {"mode": mode, "message": "m", "requestedSchema": schema, "url": url, "elicitationId": key}
        ),
        st.sampled_from(["k", "l"]),
        st.sampled_from(["form", "url", "voice"]),
        st.builds(lambda one: {"properties": {"x": one}, "required": ["x"]}, JSON) | JSON,
        st.just("https://example.org/") | JSON,
    ),
    st.builds(events.ElicitationFaulted, st.sampled_from(["k", "l"]), st.just({"x": "no"})),
    st.builds(
        events.ElicitationClosed,
        st.sampled_from(["k", "l"]),
        st.sampled_from(["accepted", "declined", "cancelled"]),
        st.just("you"),
        st.just({"x": "v"}) | st.none(),
    ),
    st.builds(events.ElicitationCompleted, st.sampled_from(["k", "l", "m"])),
    st.builds(events.TerminalStarted, st.sampled_from(["a", "b"]), WORDS, st.just(CWD)),
    st.builds(events.TerminalOutput, st.sampled_from(["a", "b"]), WORDS),
    st.builds(events.TerminalExited, st.sampled_from(["a", "b"]), st.integers(0, 3)),
    st.just(events.CancelRequested()),
    st.builds(events.TurnEnded, JSON | st.just({"stopReason": "end_turn"})),
    st.just(events.TurnFailed(TurnError("AgentExited", "gone"), agent_gone=True)),
    st.builds(events.Noted, WORDS),
    st.builds(
        lambda number: events.TurnStarted(Turn(f"t{number}", number, AgentInfo("f", "F"), CWD, [])),
        st.integers(1, 9),
    ),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(EVENTS, max_size=12), st.sampled_from([Play().state, SessionState()]))
def test_no_sequence_of_events_is_too_much_and_every_turn_survives_json(
    sequence: list[Any], begun: SessionState
) -> None:
    state = copy.deepcopy(begun)
    for number, event in enumerate(sequence):
        for change in reduce(state, event, 2000.0 + number):
            node_json(change.turn, change.node)
    for turn in state.turns:
        document = json.loads(json.dumps(to_json(turn)))
        assert from_json(document) == turn
        assert to_json(from_json(document)) == document
        saved = json.dumps(saved_bundle(turn), allow_nan=False)
        saved.encode()


@given(st.lists(WORDS, max_size=10))
def test_the_answer_is_the_concatenation_of_its_chunks(chunks: list[str]) -> None:
    play = Play()
    for chunk in chunks:
        play.say(chunk)
    assert "".join(str(item.text) for item in play.turn.items if isinstance(item, Message)) == "".join(chunks)


def test_r19_three_hundred_chunks_in_order() -> None:
    play = Play()
    for number in range(300):
        play.say(f"{number} ")
    assert play.turn.text == "".join(f"{number} " for number in range(300))


def played() -> Turn:
    play = Play()
    play.say("Look.")
    play.update("plan", entries=[{"content": "Step"}])
    content = [{"type": "diff", "path": "/a", "oldText": "a\n", "newText": "b\n"}]
    play.update("tool_call", toolCallId="c", rawInput={"n": 12345678901234567890}, content=content)
    play.ask("k", {"toolCallId": "c"}, "allow_once")
    play.apply(events.TerminalStarted("t", "make", CWD))
    play.update("usage_update", used=1, size=2)
    play.update("quota_update", x=1)
    play.apply(events.Noted("told"))
    play.apply(events.TurnFailed(TurnError("AgentExited", "gone")))
    return play.turn


def test_the_document_is_the_one_that_docs_describe() -> None:
    document = to_json(played())
    assert f"application/vnd.acp-jupyter.turn.v{document['version']}+json" == MIME
    assert document["tool_calls"]["c"]["raw_input"] == '{"n":12345678901234567890}'
    assert document["tool_calls"]["c"]["content"] == [
        {
            "type": "diff",
            "path": "/a",
            "is_new": False,
            "new_text": "b\n",
            "edits": [{"at": 0, "add": 1, "del": ["a"], "section": None, "marks": []}],
            "added": 1,
            "removed": 1,
        }
    ]
    assert document["items"][0] == {"type": "message", "role": "agent", "message_id": None, "text": "Look."}
    assert [item["type"] for item in document["items"]] == [
        "message",
        "plan",
        "tool_call",
        "terminal",
        "unknown",
    ]


def asked_edit() -> Play:
    play = Play()
    diff = {"type": "diff", "path": f"{CWD}/a.py", "oldText": "x\n", "newText": "y\n"}
    described = {"toolCallId": "c", "title": "Edit", "kind": "edit", "content": [diff], "rawInput": {"n": 1}}
    play.ask("k", described, "allow_once")
    return play


def test_what_was_asked_stands_once_while_the_call_still_shows_it() -> None:
    play = asked_edit()
    assert to_json(play.turn)["permissions"]["k"]["asked"] is None
    said = {"type": "content", "content": {"type": "text", "text": "done"}}
    diff = {"type": "diff", "path": f"{CWD}/a.py", "oldText": "x\n", "newText": "y\n"}
    play.update("tool_call_update", toolCallId="c", status="completed", rawOutput=1, content=[diff, said])
    assert node_json(play.turn, ("permissions", "k"))["asked"] is None


@pytest.mark.parametrize(
    "update",
    [
        {"title": "Look"},
        {"name": "other"},
        {"kind": "read"},
        {"locations": [{"path": "/etc/passwd"}]},
        {"rawInput": {"n": True}},
        {"content": []},
        {"content": [{"type": "diff", "path": f"{CWD}/a.py", "oldText": "x\n", "newText": "z\n"}]},
    ],
)
def test_what_was_asked_is_kept_where_the_call_changes(update: dict[str, Any]) -> None:
    play = asked_edit()
    before = node_json(play.turn, ("tool_calls", "c"))
    del before["updates_count"]  # of the request there is only one
    play.update("tool_call_update", toolCallId="c", **update)
    document = json.loads(json.dumps(to_json(play.turn)))
    assert document["permissions"]["k"]["asked"] == before
    again = from_json(document)
    assert again.permissions["k"].asked == play.turn.permissions["k"].asked
    assert to_json(again) == document


def test_a_reader_ignores_keys_that_it_does_not_know() -> None:
    def grown(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: grown(value) for key, value in node.items()} | {"added_later": 1}
        return [grown(one) for one in node] if isinstance(node, list) else node

    turn = played()
    document = to_json(turn)
    plain = {"items", "agent", "error", "notes", "usage"}
    document = {key: grown(value) if key in plain else value for key, value in document.items()} | {
        "later": 1
    }
    for name in ("tool_calls", "terminals", "permissions", "plans"):
        document[name] = {key: grown(value) for key, value in document[name].items()}
    assert from_json(json.loads(json.dumps(document))) == turn


@pytest.mark.parametrize("version", [None, 0, 2, "1"])
def test_a_document_of_another_version_is_refused(version: Any) -> None:
    with pytest.raises(ValueError, match="version"):
        from_json(to_json(played()) | {"version": version})


@pytest.mark.parametrize("document", [None, [], "x", 7, {}])
def test_what_is_no_document_is_refused(document: Any) -> None:
    with pytest.raises(ValueError, match="version"):
        from_json(document)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["items"], None),
        (["items", 0], "message"),
        (["items", 0, "type"], "hologram"),
        (["items", 0, "text"], 7),
        (["items", 4, "raw"], "{"),
        (["tool_calls"], []),
        (["tool_calls", "c"], {}),
        (["tool_calls", "c", "raw_input"], "not json"),
        (["tool_calls", "c", "raw_input"], 7),
        (["tool_calls", "c", "content", 0, "new_text"], None),
        (["tool_calls", "c", "content", 0, "edits", 0], {"at": 0}),
        (["permissions", "k", "options"], [{"name": "x"}]),
        (["terminals", "t", "output"], None),
        (["plans", "default"], {}),
        (["agent"], None),
        (["error"], {"type": "x"}),
        (["prompt"], 7),
        (["cwd"], None),
        (["turn_id"], []),
    ],
)
def test_a_damaged_document_is_refused(path: list[Any], value: Any) -> None:
    document = json.loads(json.dumps(to_json(played())))
    node = document
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    with pytest.raises(ValueError, match=r"damaged|Expecting"):
        from_json(document)


# The elicitations came later: a document of before is read without.
@pytest.mark.parametrize("key", [key for key in to_json(played()) if key not in {"version", "elicitations"}])
def test_a_document_without_one_of_its_keys_is_refused(key: str) -> None:
    document = copy.deepcopy(to_json(played()))
    del document[key]
    with pytest.raises(ValueError, match="damaged"):
        from_json(document)
