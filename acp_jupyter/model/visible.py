"""Characters that hide, reorder or fake what a person reads: spelled out in place, and told in words.

See https://agentclientprotocol.com/protocol/tool-calls. The card's script spells out the same ones
(``text/visible.ts``); what is told about them is said here alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f"  # but tab and newline
_DIRECTIONS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
# What has no width, blanks that look like nothing, tags, halves of a pair.
_NOTHING = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2028\u2029\u2060-\u2065\u206a-\u206f"
    "\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_HIDDEN = re.compile(f"[{_CONTROLS}{_DIRECTIONS}{_NOTHING}]")
# In prose joiners and variation selectors are part of words and of emoji.
_HIDDEN_IN_PROSE = re.compile(
    f"[{_CONTROLS}{_DIRECTIONS}\u180e\u200b\u2028\u2029\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_DIRECTION = re.compile(f"[{_DIRECTIONS}]")
_CONTROL = re.compile(f"[{_CONTROLS}]")
_EMOJI = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2934\u2935"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299\ufe0f\U0001f000-\U0001faff]"
)
# From so many on they may push what follows out of sight.
_SPACES = re.compile("[ \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]{32,}")
_LINES = re.compile(r"\n((?:[ \t]*\n){4,})")
_ASCII_CONTROLS = bytes(code for code in (*range(32), 127) if code not in b"\t\n")
_NAMES = {
    0x00: "null character",
    0x07: "bell",
    0x08: "backspace",
    0x0D: "carriage return",
    0x1B: "escape character",
    0x7F: "delete character",
    0xAD: "soft hyphen",
    0x61C: "Arabic letter mark",
    0x200B: "zero-width space",
    0x200C: "zero-width non-joiner",
    0x200D: "zero-width joiner",
    0x200E: "left-to-right mark",
    0x200F: "right-to-left mark",
    0x2028: "line separator",
    0x2029: "paragraph separator",
    0x202A: "left-to-right embedding",
    0x202B: "right-to-left embedding",
    0x202C: "end of direction change",
    0x202D: "left-to-right override",
    0x202E: "right-to-left override",
    0x2060: "word joiner",
    0x2066: "left-to-right isolate",
    0x2067: "right-to-left isolate",
    0x2068: "first strong isolate",
    0x2069: "end of direction isolate",
    0xFEFF: "byte order mark",
}


def visible(text: str) -> str:
    """Return ``text`` with every character that hides or deceives spelled out, as ``<U+202E>``."""
    return _HIDDEN.sub(_spelled, text)


def prose(text: str) -> str:
    """Return running text for reading: as `visible`, with plain newlines, and with joiners left alone."""
    return _HIDDEN_IN_PROSE.sub(_spelled, text.replace("\r\n", "\n"))


def exact(text: str) -> str:
    """Return a command, a path or a title in full: as `visible`, and runs of blanks by their number."""
    shown = _SPACES.sub(lambda run: f" <↦ {len(run[0])} spaces> ", visible(text))
    return _LINES.sub(lambda run: f" <↵ {run[1].count(chr(10))} empty lines>\n", shown)


def hidden(text: str) -> Iterator[tuple[str, str]]:
    """Give what ``text`` hides: a warning's reason and words for it, ``("bidi", "right-to-left mark")``."""
    # Nearly all texts are plain: a hundredth of the time shows it.
    if not text.isascii() or len(text.encode().translate(None, _ASCII_CONTROLS)) < len(text):
        for match in _HIDDEN.finditer(text):
            if not _is_of_an_emoji(match):
                yield _reason(match[0]), _name(match[0])
    if not text.isascii() or " " * 32 in text.replace("\t", " "):
        yield from (("padding", f"run of {len(run[0])} spaces") for run in _SPACES.finditer(text))
    for run in _LINES.finditer(text):
        yield "padding", f"run of {run[1].count(chr(10))} empty lines"


def direction_changes(text: str) -> Iterator[tuple[str, str]]:
    """Give the same of what changes the direction of writing alone."""
    return (("bidi", _name(char)) for char in ([] if text.isascii() else _DIRECTION.findall(text)))


def listed(words: list[str]) -> str:
    """Return ``a bell, an escape character and a run of 40 spaces``."""
    told = [f"{'an' if word[0] in 'AEIOUaeiou' else 'a'} {word}" for word in words]
    return told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"


def _spelled(match: re.Match[str]) -> str:
    return match[0] if _is_of_an_emoji(match) else f"<U+{ord(match[0]):04X}>"


def _is_of_an_emoji(match: re.Match[str]) -> bool:
    """Whether it only joins or colours the picture before it."""
    start = match.start()
    return match[0] in "\ufe0f\u200d" and start > 0 and bool(_EMOJI.match(match.string, start - 1))


def _reason(char: str) -> str:
    if _DIRECTION.match(char):
        return "bidi"
    return "control" if _CONTROL.match(char) else "invisible"


def _name(char: str) -> str:
    return _NAMES.get(ord(char)) or ("control character" if _CONTROL.match(char) else "invisible character")
