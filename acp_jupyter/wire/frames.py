"""Lines to JSON values and back: tolerant of what comes in, strict about what goes out.

The standard `json` stays: faster parsers turn integers over 64 bits into floats and refuse lone surrogates.
https://agentclientprotocol.com/protocol/transports
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_DEPTH_LIMIT = 200  # deeper values would break whoever walks them later
_JUNK = re.compile(  # titles, colours, other control characters, byte order marks, blanks
    r"(?:\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[0-~]|[\x00-\x20\x7f-\x9f\ufeff])*"
)
_TOO_DEEP = "nested too deeply"
_STEP = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]')  # a string, or where a value begins or ends
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class UnreadableError(ValueError):
    """A line is not one JSON value that can be taken; its text says why.

    Args:
        why: It.
        outline: The value without what it nests, where only that is too much: who asked is still there.
    """

    def __init__(self, why: str, outline: Any = None) -> None:
        super().__init__(why)
        self.outline = outline


def _integer(digits: str) -> int | str:
    """Return an integer, as its digits where Python refuses to convert so many (4,300 by default)."""
    try:
        return int(digits)
    except ValueError:
        return digits


_DECODER = json.JSONDecoder()
_PATIENT = json.JSONDecoder(parse_int=_integer)  # slower: it is asked where the other one has failed


def decode(line: bytes, note: Callable[[str], None]) -> Any:
    """Read one line.

    Terminal escapes and control characters around the value are skipped, words are not: a log line that
    quotes a message must not be taken for one.

    Args:
        line: Without its newline.
        note: Told of what had to be repaired.

    Returns:
        The value. Lone surrogates have become U+FFFD; NaN stays a float.

    Raises:
        UnreadableError: It is no JSON, or nested beyond reason.
    """
    text = _text(line, note)
    value, end = _value(text, 0 if text.startswith("{") else _end_of_junk(text, 0))
    if end != len(text) and _end_of_junk(text, end) != len(text):
        raise UnreadableError("more than one JSON value on the line")
    if len(text) > _DEPTH_LIMIT and text.count("[") + text.count("{") > _DEPTH_LIMIT and _too_deep(value):
        raise UnreadableError(_TOO_DEEP, _outline(text))
    if "\\u" in text and _SURROGATE_ESCAPE.search(text):
        value = _mended(value)
    return value


def _value(text: str, start: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, start)
    except RecursionError:
        raise UnreadableError(_TOO_DEEP, _outline(text)) from None
    except ValueError:
        pass
    try:
        return _PATIENT.raw_decode(text, start)
    except ValueError:
        raise UnreadableError("not JSON") from None


def _outline(text: str) -> Any:
    """Read a line's value with nulls for what it nests: members of a message, or of each in a batch.

    It holds neither recursion nor what is deep; ``None`` where it is no JSON.
    """
    start = _end_of_junk(text, 0)
    levels = 2 if text.startswith("[", start) else 1
    depth, at, parts = 0, start, list[str]()
    for step in _STEP.finditer(text, start):
        mark = text[step.start()]
        if mark in "[{":
            depth += 1
            if depth == levels + 1:
                parts += [text[at : step.start()], "null"]
        elif mark in "]}":
            if depth == levels + 1:
                at = step.end()
            depth -= 1
            if depth == 0:
                parts.append(text[at : step.end()])
                break
    try:
        return _mended(_PATIENT.decode("".join(parts)))
    except ValueError:
        return None


def encode(message: Any) -> bytes:
    """Write one message as a line, its newline included.

    Raises:
        TypeError: It holds what JSON cannot.
        ValueError: It holds NaN or an infinity, which JSON cannot either.
    """
    text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return repaired(text).encode() + b"\n"


def repaired(text: str) -> str:
    """Replace lone surrogates by U+FFFD; two halves of one character are joined."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _text(line: bytes, note: Callable[[str], None]) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        note("not UTF-8: unreadable bytes were replaced")
        return line.decode("utf-8", "replace")


def _end_of_junk(text: str, start: int) -> int:
    found = _JUNK.match(text, start)
    return found.end() if found else start


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(_DEPTH_LIMIT):
        level = [child for node in level for child in _children(node)]
        if not level:
            return False
    return True


def _children(node: Any) -> Iterable[Any]:
    if isinstance(node, dict):
        return cast("dict[str, Any]", node).values()
    return cast("list[Any]", node) if isinstance(node, list) else ()


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return repaired(value)
    if isinstance(value, list):
        return [_mended(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {repaired(key): _mended(item) for key, item in cast("dict[str, Any]", value).items()}
    return value
