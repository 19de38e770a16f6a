"""The updates of a tool call: what Python keeps of them, and what a document does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acp_jupyter.model import received
from acp_jupyter.model.excerpt import excerpt
from acp_jupyter.model.redact import REDACTED, Redactor, kept
from acp_jupyter.model.transcript import from_json, node_json, to_json
from acp_jupyter.views.deltas import Deltas
from tests.model.play import Play


def block(text: str) -> dict[str, Any]:
    return {"type": "content", "content": {"type": "text", "text": text}}


def node(play: Play, call: str = "c") -> dict[str, Any]:
    return to_json(play.turn)["tool_calls"][call]


def texts(play: Play) -> list[Any]:
    return [json.loads(text) for text in node(play)["updates"]]


def test_short_updates_stand_in_the_document_as_they_came() -> None:
    play = Play()
    came = [
        {
            "sessionUpdate": "tool_call",
            "toolCallId": "c",
            "rawInput": {"n": 12345678901234567890123},
            "new": None,
        },
        {"sessionUpdate": "tool_call_update", "toolCallId": "c", "_meta": {"é": [1.0, "\ud800"]}},
        {
            "sessionUpdate": "tool_call_update",
            "toolCallId": "c",
            "content": "no list" * 50,
            "status": "completed",
        },
    ]
    for update in came:
        play.update(update["sessionUpdate"], **{k: v for k, v in update.items() if k != "sessionUpdate"})
    assert texts(play) == came == play.turn.tool_calls["c"].updates
    assert "12345678901234567890123" in node(play)["updates"][0]
    assert node(play)["updates_count"] == 3


def test_what_stands_in_the_call_is_not_repeated() -> None:
    play = Play()
    long = "x" * 5_000
    data = {"terminal_id": "t", "data": long}
    play.update("tool_call", toolCallId="c", rawInput={"k": long}, content=[block(long)], rawOutput=[long])
    play.update("tool_call_update", toolCallId="c", _meta={"terminal_output": data, "other": 1})
    first, second = texts(play)
    assert first["rawInput"] == "[as in raw_input]"
    assert first["rawOutput"] == "[as in raw_output]"
    assert first["content"] == "[as in content]"
    assert second["_meta"] == {
        "terminal_output": {"terminal_id": "t", "data": "[as in the terminal]"},
        "other": 1,
    }
    assert play.turn.tool_calls["c"].updates[1]["_meta"]["terminal_output"] == data, "Python has it"
    assert json.dumps(node(play)).count(long) == 3


def test_a_long_one_says_how_much_is_left_out_and_stays_json() -> None:
    play = Play()
    play.update("tool_call", toolCallId="c", unheard_of="y" * 10_000)
    (cut,) = texts(play)
    assert cut.startswith('{"sessionUpdate":"tool_call"')
    whole = len(json.dumps(play.turn.tool_calls["c"].updates[0], separators=(",", ":")))
    assert cut.endswith(f"… ({whole - 4_000:,} more characters)")
    document = to_json(play.turn)
    assert to_json(from_json(document)) == document, "it is not cut again"


def test_thousands_are_bounded_and_counted_in_python_and_more_so_in_the_document() -> None:
    play = Play()
    play.update("tool_call", toolCallId="c", title="Test")
    for n in range(3_000):
        data = {"terminal_id": "t", "data": f"{n} " * 500}
        play.update("tool_call_update", toolCallId="c", _meta={"terminal_output_delta": data}, n=n)
    call = play.turn.tool_calls["c"]
    assert call.updates_count == 3_001
    assert [one.get("n") for one in call.updates] == [None, *range(999), *range(2_000, 3_000)]
    saved = node(play)
    numbers = [json.loads(text).get("n") for text in saved["updates"]]
    assert numbers == [None, *range(49), *range(2_950, 3_000)]
    assert saved["updates_count"] == 3_001
    assert len(json.dumps(saved["updates"])) < 40_000
    again = from_json(json.loads(json.dumps(to_json(play.turn))))
    assert again.tool_calls["c"].updates_count == 3_001
    assert again.tool_calls["c"].updates[-1]["n"] == 2_999, "counted from the end it is the same one"
    assert to_json(again) == to_json(play.turn)


def test_many_long_ones_share_the_room() -> None:
    play = Play()
    for n in range(100):
        play.update("tool_call_update", toolCallId="c", n=n, x="z" * 3_000)
    assert len(json.dumps(node(play)["updates"])) < 60_000
    assert all(text.startswith('"{') for text in node(play)["updates"])


@pytest.mark.parametrize("at", [3_890, 3_900, 3_950, 3_990, 5_000])
def test_a_secret_is_taken_out_before_anything_is_cut(at: int) -> None:
    play = Play()
    secret = "planted-secret-of-some-length"  # noqa: S105  # made up
    play.update("tool_call", toolCallId="c", rawInput={"a": 1}, x="y" * (at - 60) + secret, z="y" * 5_000)
    play.update("tool_call_update", toolCallId="c", rawInput={"a": 2})
    document = json.dumps(to_json(kept(play.turn, Redactor([secret]), None)))
    assert "planted" not in document
    assert secret in json.dumps(play.turn.tool_calls["c"].updates)


def test_a_secret_that_only_a_replaced_value_had_is_taken_out() -> None:
    play = Play()
    play.update("tool_call", toolCallId="c", rawInput={"password": "abc"}, content=[block("planted-secret")])
    play.update("tool_call_update", toolCallId="c", rawInput={}, content=[])
    copy = kept(play.turn, Redactor(["planted-secret"]), None)
    assert copy is not play.turn
    (first, _) = [json.loads(one) for one in to_json(copy)["tool_calls"]["c"]["updates"]]
    assert first["rawInput"] == {"password": REDACTED}
    assert first["content"] == [block(REDACTED)]


def test_the_bound_of_the_settings_holds_for_them() -> None:
    play = Play()
    play.update("tool_call", toolCallId="c", x="y" * 3_000)
    (told,) = [
        json.loads(one) for one in to_json(kept(play.turn, Redactor(), 1_000))["tool_calls"]["c"]["updates"]
    ]
    left_out = "… 2,000 more characters are not kept here; in Python: turn.tool_calls['c'].updates"
    assert told["x"] == f"{'y' * 1_000}\n{left_out}"


def test_a_live_card_is_told_their_number_and_no_more() -> None:
    play = Play()
    deltas = Deltas(play.turn)
    for change in play.update("tool_call", toolCallId="c", title="Look"):
        deltas.mark(change.node)
    snapshot = deltas.snapshot(play.now)["turn"]["tool_calls"]["c"]
    assert (snapshot["updates_count"], "updates" in snapshot) == (1, False)
    for change in play.update("tool_call_update", toolCallId="c", status="completed"):
        deltas.mark(change.node)
    message = deltas.drain()
    assert message is not None
    (told,) = [op["value"] for op in message["ops"] if op["path"] == ["tool_calls", "c"]]
    assert told["updates_count"] == 2
    assert "updates" not in told
    assert "updates" not in node_json(play.turn, ("tool_calls", "c"))


def test_an_excerpt_and_an_older_document_are_read_all_the_same() -> None:
    play = Play()
    play.update("tool_call", toolCallId="c", title="Look")
    assert to_json(excerpt(play.turn.tool_calls["c"]))["tool_calls"]["c"]["updates_count"] == 1
    document = to_json(play.turn)
    del document["tool_calls"]["c"]["updates"], document["tool_calls"]["c"]["updates_count"]
    assert from_json(document).tool_calls["c"].updates == []


def test_what_a_request_holds_is_an_update_too() -> None:
    play = Play()
    play.ask("k", {"toolCallId": "c", "title": "Edit", "rawInput": {"path": "/x"}}, "allow_once")
    assert texts(play) == [{"toolCallId": "c", "title": "Edit", "rawInput": {"path": "/x"}}]
    assert "updates" not in json.dumps(to_json(play.turn)["permissions"])


def test_the_page_lists_them() -> None:
    play = Play()
    for n in range(received.IN_DOCUMENT + 10):
        play.update("tool_call_update", toolCallId="c", n=n, x="<b>")
    _, page = play.shown()
    assert "updates (110)" in page
    assert '"n":0,"x":"<b>"' in page
    assert "… 10 more" in page
    assert '"n":109' in page
