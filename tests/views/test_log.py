from __future__ import annotations

from typing import Any

import pytest

from acp_jupyter.model.log import Entry, Log
from acp_jupyter.model.redact import Redactor
from acp_jupyter.views.log import log_bundle, log_html, log_text

from .test_html import EVIL, checked

CHUNK = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hi\nthere"}}


def log(*messages: Any, notes: tuple[str, ...] = ()) -> Log:
    entries = [Entry(n + 0.25, "in" if n % 2 else "out", 1234, one) for n, one in enumerate(messages)]
    return Log.of(entries, Redactor(), notes)


def update(**more: Any) -> dict[str, Any]:
    return {"method": "session/update", "params": {"sessionId": "s1", "update": more}}


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (update(**CHUNK), "agent_message_chunk: hi<U+000A>there"),
        (
            update(sessionUpdate="tool_call", toolCallId="c1", title="Look", status="pending"),
            "tool_call: c1 pending Look",
        ),
        (update(sessionUpdate="surprise", v=[1]), 'surprise: {"v":[1]}'),
        (update(), '{"update":{}}'),
        ({"id": 1, "method": "session/prompt", "params": {"prompt": [{"type": "image"}]}}, "[image]"),
        ({"id": 1, "method": "fs/read_text_file", "params": {"path": "/a"}}, "/a"),
        ({"id": 1, "method": "m", "params": {"sessionId": "s", "_meta": {}, "v": 1}}, '{"v":1}'),
        ({"id": 1, "result": {"stopReason": "end_turn"}}, "end_turn"),
        ({"id": 1, "result": None}, "null"),
        ({"id": 1, "result": [1, "x"]}, '[1,"x"]'),
        ({"id": 1, "error": {"code": -1, "message": "no"}}, "error -1: no"),
        ({"id": 1, "error": "no"}, "error None: None"),
        ({"id": [1], "method": "m", "params": 3}, "m"),
        ({"strange": 1}, "?"),
    ],
)
def test_a_line_for_each(message: Any, said: str) -> None:
    (line,) = log_text(log(message)).splitlines()
    assert said in line
    assert "1,234" in line


def test_a_long_one_is_cut_and_whole_in_python() -> None:
    one = log(update(sessionUpdate="agent_message_chunk", content={"text": "x" * 9_999}))
    assert len(log_text(one)) < 200
    assert "more characters" in log_html(one)
    assert len(log_html(one)) < 10_000
    assert one[0].message["params"]["update"]["content"]["text"] == "x" * 9_999


def test_the_last_ones_are_shown_and_all_where_that_is_asked() -> None:
    many = log(*({"id": n, "method": "m", "params": n} for n in range(60)), notes=("Something.",))
    first, second, *lines = log_text(many).splitlines()
    assert (first, second) == ("Something.", "The last 50 of 60 messages; --last 60 shows all.")
    assert len(lines) == 50
    assert lines[-1].endswith(" 59")
    assert log_html(many).count("<details>") == 50
    assert log_html(many.last(60)).count("<details>") == 60
    assert log_text(log()) == "No message is here."


def test_nothing_of_it_is_markup_or_moves_the_terminal() -> None:
    evil = {"id": EVIL, "method": EVIL, "params": {"sessionId": EVIL, EVIL: "\x1b[2J"}}
    page = checked(log_html(log(evil, {"id": 1, "error": {"code": EVIL, "message": EVIL}})))
    assert "PWN" in page
    assert "\x1b" not in log_text(log(evil))
    assert "\x1b" not in page


def test_the_bundle() -> None:
    assert log_bundle(log({"id": 1, "method": "m"})).keys() == {"text/html", "text/plain"}
