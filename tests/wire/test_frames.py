from __future__ import annotations

import json
import math
from typing import Any

import pytest

from acp_jupyter.wire import frames

LINE = '{"jsonrpc":"2.0","id":0,"result":{"text":"中🙂"}}'


def read(line: bytes) -> tuple[Any, list[str]]:
    notes: list[str] = []
    return frames.decode(line, notes.append), notes


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(LINE.encode(), id="T1-plain"),
        pytest.param(b"\x1b]0;proj: ready\x07" + LINE.encode(), id="F03-title"),
        pytest.param(
            b"\x1b]0;proj: {ready}\x1b\\\x1b[2K\r" + LINE.encode(), id="F03-title-with-brace-and-colour"
        ),
        pytest.param(LINE.encode() + b"\x1b[0m", id="F03-colour-behind"),
        pytest.param(LINE.encode() + b"\r", id="F07-crlf"),
        pytest.param(b"\xef\xbb\xbf" + LINE.encode(), id="F08-bom"),
        pytest.param(json.dumps(json.loads(LINE)).encode(), id="F10-whole-pair-escaped"),
    ],
)
def test_f03_f07_f08_reads_a_message_through_what_surrounds_it(line: bytes) -> None:
    assert read(line) == (json.loads(LINE), [])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        pytest.param(b"Migrating db...", "not JSON", id="F02-banner"),
        pytest.param(b'{"jsonrpc":"2.0","method":"session/upd', "not JSON", id="F15-fragment"),
        pytest.param(b'DEBUG got {"id":1,"method":"terminal/create"}', "not JSON", id="F02-log-that-quotes"),
        pytest.param(b'{"a":1} {"b":2}', "more than one JSON value on the line", id="T4-two-values"),
        pytest.param(b'{"params":' + b"[" * 100_000, "nested too deeply", id="F16-open"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, "nested too deeply", id="F16-closed"),
        pytest.param(b"[" * 300 + b"]" * 300, "nested too deeply", id="F16-parses-but-breaks-others"),
        pytest.param(b'{"n":' + b"9" * 10_000 + b"x}", "not JSON", id="T4-endless-number"),
    ],
)
def test_f02_f15_f16_refuses_what_is_no_message(line: bytes, reason: str) -> None:
    with pytest.raises(frames.UnreadableError, match=reason):
        read(line)


@pytest.mark.parametrize("depth", [300, 100_000])
def test_f16_of_what_is_too_deep_the_outline_is_read(depth: int) -> None:
    deep = b"[" * depth + b"]" * depth
    request = rb'\x1b[0m{"id":"a\"]}\ud83d","params":%b,"method":"m","n":{"a":[1,"}"]}} '.replace(
        rb"\x1b", b"\x1b"
    )
    with pytest.raises(frames.UnreadableError) as one:
        read(request % deep)
    assert one.value.outline == {"id": 'a"]}\ufffd', "params": None, "method": "m", "n": None}
    with pytest.raises(frames.UnreadableError) as batch:
        read(b'[1,{"id":1,"params":%b},[],{"id":2}]' % deep)
    assert batch.value.outline == [1, {"id": 1, "params": None}, [], {"id": 2}]
    with pytest.raises(frames.UnreadableError) as torn:
        read(b'{"id":1,"params":' + b"[" * depth + b"]" * (depth - 1) + b"}")
    assert torn.value.outline is None


def test_wide_is_not_deep() -> None:
    value = [{"a": [i]} for i in range(1000)]
    assert read(json.dumps(value).encode())[0] == value


def test_f09_latin_1_is_shown_with_a_replacement_and_a_note() -> None:
    value, notes = read(b'{"text":"caf\xe9"}')
    assert value == {"text": "caf\ufffd"}
    assert notes == ["not UTF-8: unreadable bytes were replaced"]


def test_f10_lone_surrogates_are_replaced_everywhere() -> None:
    value, _ = read(rb'{"x\ud83dy":["\ude00",{"a":"ok \ud83d\ude42 \udc00"}],"n":1}')
    assert value == {"x\ufffdy": ["\ufffd", {"a": "ok 🙂 \ufffd"}], "n": 1}


def test_f11_nan_and_large_integers_are_kept() -> None:
    value, _ = read(b'{"v":NaN,"w":-Infinity,"n":123456789012345678901234567890}')
    assert math.isnan(value["v"])
    assert value["w"] == -math.inf
    assert value["n"] == 123456789012345678901234567890


def test_an_integer_that_python_does_not_convert_costs_no_message() -> None:
    digits = "9" * 5_000
    value, _ = read(f'{{"n":{digits},"m":-{digits},"text":"kept","one":1}}'.encode())
    assert value == {"n": digits, "m": f"-{digits}", "text": "kept", "one": 1}


def test_t1_what_we_send_is_one_line_of_utf_8() -> None:
    text = "a\nb\r\u2028中🙂 \ud83d\ude42 \ud83d."
    line = frames.encode({"text": text})
    assert line.count(b"\n") == 1
    assert json.loads(line) == {"text": "a\nb\r\u2028中🙂 🙂 \ufffd."}


def test_t1_what_json_cannot_say_is_not_sent() -> None:
    with pytest.raises(ValueError, match="JSON"):
        frames.encode({"v": math.nan})
    with pytest.raises(TypeError):
        frames.encode({"v": object()})
