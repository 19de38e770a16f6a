"""The bytes of a text file and its text: UTF-8, or UTF-16 with its byte-order mark; anything else is refused.

See https://agentclientprotocol.com/protocol/file-system, where contents are texts. A byte-order mark is the
text's first character, U+FEFF, and line ends are what they are: nothing is changed on the way.
"""

from __future__ import annotations

import codecs
from typing import NamedTuple

_MARK = "\ufeff"


class NotText(Exception):
    """It cannot be read as text; the message says why.

    Args:
        message: What it is instead, as far as that can be told.
        encoding: The encoding that it seems to have; ``None`` where nobody knows.
    """

    def __init__(self, message: str, encoding: str | None = None) -> None:
        super().__init__(message)
        self.encoding = encoding


class TextFile(NamedTuple):
    """A file's text, and how its bytes say it; ``marked`` with a byte-order mark."""

    text: str
    encoding: str = "utf-8"
    marked: bool = False


def decode(data: bytes) -> TextFile:
    """Return the text of a file.

    Raises:
        NotText: It is neither UTF-8 nor UTF-16 with a byte-order mark.
    """
    encoding = _encoding(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise NotText(_unreadable(encoding, data, error.start)) from error
    return TextFile(text, encoding, text.startswith(_MARK))


def encode(text: str, like: TextFile | None = None) -> bytes:
    """Return the bytes of ``text``, encoded and marked like the file that it replaces.

    A new file is UTF-8. Half a character pair, which no encoding can say, becomes a question mark.
    """
    encoding = like.encoding if like else "utf-8"
    mark = _MARK if like and like.marked and not text.startswith(_MARK) else ""
    return (mark + text).encode(encoding, "replace")


def _encoding(data: bytes) -> str:
    # UTF-32's little-endian mark begins with UTF-16's.
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        raise NotText("it is UTF-32, not UTF-8 or UTF-16", "utf-32")
    if data.startswith(codecs.BOM_UTF16_LE):
        return "utf-16-le"
    if data.startswith(codecs.BOM_UTF16_BE):
        return "utf-16-be"
    half = len(data) // 2
    # Valid UTF-8 by accident: every second byte of plain words in UTF-16 is zero.
    if half and max(data[::2].count(0), data[1::2].count(0)) * 2 > half:
        raise NotText("it is binary, or UTF-16 without a byte-order mark", "utf-16")
    return "utf-8"


def _unreadable(encoding: str, data: bytes, at: int) -> str:
    if encoding != "utf-8":
        return f"it begins as UTF-16 but is not (byte {at})"
    hint = "; Latin-1 or another encoding of one byte a character" if b"\0" not in data else "; binary"
    return f"it is not UTF-8 text (byte {at} is 0x{data[at]:02X}{hint}?)"
