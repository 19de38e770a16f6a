"""HTML from parts: escaped text, elements with inline styles, folds, diffs and terminals as blocks.

The styles are inline and few: a notebook's sanitiser drops style sheets, and colours must do on light and on
dark, so text inherits its colour and grounds are translucent. Without any style the elements still read well.
"""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from acp_jupyter.views import ansi, words
from acp_jupyter.views.diff import end_note, hunks, line_ends_note

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acp_jupyter.model.diff import Diff
    from acp_jupyter.views.diff import Line

GREEN, RED, AMBER, BLUE = "#2a9d4b", "#e0524a", "#bf8700", "#3b82d6"
MILD = frozenset({"line-ends", "fragment", "unchecked"})
"""Reasons of warnings that are no alarm."""
_LINE = "rgba(128,128,128,0.3)"
BOX = f"border:1px solid {_LINE};border-radius:8px;margin:8px 0"
BAR = "display:flex;flex-wrap:wrap;gap:4px 10px;align-items:baseline;padding:6px 12px"
QUIET = "opacity:0.7"
_BARE = "background:transparent;color:inherit"
_WRAP = "white-space:pre-wrap;overflow-wrap:anywhere"
_CODE = f"font-family:monospace;{_BARE};padding:0;{_WRAP}"
_PRE = (
    "font-family:monospace;font-size:0.92em;line-height:1.45;margin:0;padding:8px 12px;overflow:auto;"
    "max-height:420px"
)
_DARK = f"{_PRE};background:#1e2127;color:#d7dae0;{_WRAP}"
_GROUNDS = {"+": "rgba(46,160,67,0.16)", "-": "rgba(248,81,73,0.16)"}
_MARKED = {"+": "rgba(46,160,67,0.38)", "-": "rgba(248,81,73,0.38)"}
_LINE_LIMIT = 2_000


def text(value: str) -> str:
    """Return a text of the agent's, to stand between tags: nothing hidden, nothing that HTML obeys there.

    Quotation marks stay as they are: each would be five bytes more, and raw JSON is half made of them.
    """
    return escape(words.visible(value), quote=False)


def element(tag: str, content: str, style: str = "", name: str = "") -> str:
    """Return an element; ``content`` is HTML, ``name`` a class."""
    attributes = (f' class="{name}"' if name else "") + (f' style="{style}"' if style else "")
    return f"<{tag}{attributes}>{content}</{tag}>"


def code(value: str) -> str:
    """Return a path or a command, already spelled out, in the type of code."""
    return element("code", escape(value), _CODE)


def pre(value: str) -> str:
    """Return preformatted text."""
    return element("pre", text(value), f"{_PRE};{_BARE};{_WRAP}")


def fold(summary: str, content: str, *, opened: bool = False, quiet: bool = True, name: str = "") -> str:
    """Return ``content`` under a line that opens and closes it, ``quiet`` while closed; both are HTML."""
    head = element(
        "summary", summary, f"cursor:pointer;padding:2px 0;{QUIET if quiet and not opened else ''}"
    )
    attributes = (f' class="{name}"' if name else "") + (" open" if opened else "")
    return f"<details{attributes}>{head}{content}</details>"


def banner(content: str, colour: str) -> str:
    """Return a line that stands out."""
    return element("div", content, f"border-left:4px solid {colour};padding:4px 12px;margin:4px 0")


def warning(reason: str, words: str) -> str:
    """Return a sentence that a person is to read before answering, what agents wrote in it spelled out."""
    colour = AMBER if reason in MILD else RED
    style = f"color:{colour};overflow-wrap:anywhere"
    return f'<div class="acp-warning" data-reason="{escape(reason)}" style="{style}">{escape(words)}</div>'


def coloured(content: str, colour: str) -> str:
    """Return ``content`` in a colour."""
    return element("span", content, f"color:{colour}")


def diff(change: Diff, limit: int) -> str:
    """Return the hunks of a diff, of at most ``limit`` lines."""
    ends = line_ends_note(change)
    rows = [element("div", escape(ends), QUIET)] if ends else []
    left, more = limit, 0
    for hunk in hunks(change):
        shown = hunk.lines[: max(left, 0)]
        left, more = left - len(shown), more + len(hunk.lines) - len(shown)
        if shown:
            rows.append(element("div", escape(hunk.header), f"{QUIET};background:rgba(128,128,128,0.12)"))
            rows += [_run(sign, lines) for sign, lines in groupby(shown, lambda line: line.sign)]
    rows += [element("div", f"… ({more:,} more lines of this diff)")] if more > 0 else []
    note = end_note(change)
    rows += [element("div", f"\\ {escape(note)}", QUIET)] if note and rows else []
    if not rows:
        return ""
    block = element("div", "".join(rows), "display:inline-block;min-width:100%")
    return element("pre", block, f"{_PRE};{_BARE};padding:0", "acp-diff")


def _run(sign: str, lines: Iterable[Line]) -> str:
    """Return neighbouring lines of one sign; one element for all of them keeps a page small."""
    ground = f"background:{_GROUNDS[sign]}" if sign in _GROUNDS else ""
    return element("div", "\n".join(map(_row, lines)), ground)


def _row(line: Line) -> str:
    numbers = "".join(f"{number if number is not None else '':>5}" for number in (line.old, line.new))
    return element("span", f"{numbers} {line.sign} ", "opacity:0.6") + "".join(_stretches(line))


def _stretches(line: Line) -> Iterator[str]:
    if len(line.text) > _LINE_LIMIT:
        yield text(words.cut(line.text, _LINE_LIMIT))
        return
    position = 0
    for start, end in line.marks:
        yield text(line.text[position:start])
        yield element("span", text(line.text[start:end]), f"background:{_MARKED[line.sign]}")
        position = end
    yield text(line.text[position:])


def terminal(output: str) -> str:
    """Return terminal output in its own colours, on its own dark ground."""
    lines = ("".join(_span(style, part) for style, part in line) for line in ansi.spans(output))
    return element("pre", "\n".join(lines), _DARK, "acp-terminal")


def _span(style: ansi.Style, part: str) -> str:
    foreground, background = style.foreground, style.background
    if style.inverse:
        foreground, background = background or "#1e2127", foreground or "#d7dae0"
    rules = [
        f"color:{foreground}" if foreground else "",
        f"background:{background}" if background else "",
        "font-weight:bold" if style.bold else "",
        "opacity:0.7" if style.dim else "",
        "font-style:italic" if style.italic else "",
        "text-decoration:underline" if style.underline else "",
    ]
    css = ";".join(filter(None, rules))
    return element("span", text(part), css) if css else text(part)
