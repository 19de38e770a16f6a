r"""Terminal output for reading: colours as spans, progress bars as the line that they end as.

Understood: SGR (``CSI m``), carriage return, backspace, erase to the end of the line, and links (``OSC 8``),
whose targets stand behind their words. Every other escape is dropped. The time is linear in the text. See
https://agentclientprotocol.com/protocol/terminals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

# An unfinished string command ends with its line: it must not swallow what follows.
_TOKEN = re.compile(
    r"\x1b\[(?P<args>[0-?]*)[ -/]*(?P<final>[@-~]?)"
    r"|\x1b\]8;[^;\x07\x1b\n]*;(?P<link>[^\x07\x1b\n]*)(?:\x07|\x1b\\)?"
    r"|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?"
    r"|\x1b[ -/]*[0-~]?"
    r"|(?P<control>[\n\r\b])"
    r"|[\x00-\x07\x0b-\x1f\x7f\x80-\x9f]"
    r"|(?P<text>[^\x00-\x08\x0a-\x1f\x7f-\x9f]+)"
)
_WEB = re.compile("https?://", re.IGNORECASE)
_NAMED = (
    "#5c6370 #e06c75 #98c379 #e5c07b #61afef #c678dd #56b6c2 #d7dae0 "
    "#7f848e #ff7b86 #b5e890 #ffd68a #82c4ff #e29bf2 #7fdbe6 #ffffff"
).split()
_LEVELS = (0, 95, 135, 175, 215, 255)

# Characters of a terminal that are drawn in static views, whatever its lines are.
_DRAWN = 200_000


class Style(NamedTuple):
    """How a stretch of output looks; colours are ``#rrggbb``, ``None`` for the terminal's own."""

    foreground: str | None = None
    background: str | None = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    inverse: bool = False


_PLAIN = Style()
_ON = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse"}
_OFF = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 27: ("inverse",)}


def plain(text: str) -> str:
    """Return ``text`` as it would stand on the screen, without colours."""
    return "\n".join("".join(cells) for cells, _ in _screen(text))


def spans(text: str) -> list[list[tuple[Style, str]]]:
    """Return the lines of ``text``, each a list of stretches of one style."""
    return [list(_runs(cells, styles)) for cells, styles in _screen(text)]


def _runs(cells: list[str], styles: list[Style]) -> Iterator[tuple[Style, str]]:
    start = 0
    for index in range(1, len(cells) + 1):
        if index == len(cells) or styles[index] != styles[start]:
            yield styles[start], "".join(cells[start:index])
            start = index


def _screen(text: str) -> Iterator[tuple[list[str], list[Style]]]:
    cells: list[str] = []
    styles: list[Style] = []
    column, style, link, link_from = 0, _PLAIN, "", 0
    for token in _TOKEN.finditer(text):
        written, control, final = token["text"], token["control"], token["final"]
        if token["link"] is not None:
            # the words of a link may be others than its target
            named = "".join(cells[link_from:column])
            written = f" ({link})" if named not in {"", link} and _WEB.match(link) else ""
            link, link_from = token["link"], column + len(written)
        if written:
            end = column + len(written)
            cells[column:end] = written
            styles[column:end] = [style] * len(written)
            column = end
        elif control == "\n":
            yield cells, styles
            cells, styles, column, link_from = [], [], 0, 0
        elif control:
            column = 0 if control == "\r" else max(0, column - 1)
        elif final == "m":
            style = _sgr(style, token["args"])
        elif final == "K":
            column = 0 if token["args"] == "2" else column
            if token["args"] in {"", "0", "2"}:
                del cells[column:], styles[column:]
    yield cells, styles


def _sgr(style: Style, args: str) -> Style:
    codes = [int(code) if code.isdecimal() and len(code) < 4 else 0 for code in re.split("[;:]", args)]  # noqa: PLR2004  # none has more digits
    rest = iter(codes)
    for code in rest:
        if code == 0:
            style = _PLAIN
        elif code in _ON:
            style = style._replace(**{_ON[code]: True})
        elif code in _OFF:
            style = style._replace(**dict.fromkeys(_OFF[code], False))
        else:
            style = _coloured(style, code, rest)
    return style


def _coloured(style: Style, code: int, rest: Iterator[int]) -> Style:
    if code in {38, 48}:
        colour = _extended(rest)
        side = "foreground" if code == 38 else "background"  # noqa: PLR2004  # 38 sets the foreground
        return style._replace(**{side: colour}) if colour else style
    if code in {39, 49}:
        return style._replace(**{"foreground" if code == 39 else "background": None})  # noqa: PLR2004  # 39 resets the foreground
    for first, side, bright in (
        (30, "foreground", 0),
        (40, "background", 0),
        (90, "foreground", 8),
        (100, "background", 8),
    ):
        if first <= code < first + 8:
            return style._replace(**{side: _NAMED[code - first + bright]})
    return style


def _extended(rest: Iterator[int]) -> str | None:
    mode = next(rest, None)
    if mode == 5:  # noqa: PLR2004  # one of 256
        return _of_256(next(rest, 0))
    if mode == 2:  # noqa: PLR2004  # red, green, blue
        return "#{:02x}{:02x}{:02x}".format(*(min(next(rest, 0), 255) for _ in range(3)))
    return None


def _of_256(index: int) -> str:
    if index < len(_NAMED):
        return _NAMED[index]
    if index < 232:  # noqa: PLR2004  # a cube of six levels a side, then greys
        cube = index - 16
        red, green, blue = (_LEVELS[cube // 36], _LEVELS[cube // 6 % 6], _LEVELS[cube % 6])
        return f"#{red:02x}{green:02x}{blue:02x}"
    grey = min(8 + (index - 232) * 10, 255)
    return f"#{grey:02x}{grey:02x}{grey:02x}"


def tail(text: str, lines: int) -> tuple[int, str]:
    """Return how many lines of ``text`` come before its last ``lines``, and those, escapes and all."""
    text = text.removesuffix("\n")
    cut = len(text)
    for _ in range(lines):
        cut = text.rfind("\n", 0, cut)
        if cut < 0:
            return 0, _end(text)
    return text.count("\n", 0, cut) + 1, _end(text[cut + 1 :])


def _end(text: str) -> str:
    """The end of a text whose escapes would take seconds to read."""
    return text if len(text) <= _DRAWN else f"… {text[-_DRAWN:]}"
