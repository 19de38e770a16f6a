"""A diff's hunks with their context, for text and for HTML; where the texts differ the model has found.

See https://agentclientprotocol.com/protocol/tool-calls#diffs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from acp_jupyter.views.words import cut, visible

if TYPE_CHECKING:
    from acp_jupyter.model.diff import Diff, Edit

_CONTEXT = 3
_LINE_LIMIT = 2000


class Line(NamedTuple):
    """A line of a hunk: sign `` ``, ``-`` or ``+``, its 1-based numbers, its text and changed stretches."""

    sign: str
    old: int | None
    new: int | None
    text: str
    marks: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Hunk:
    """Neighbouring changes and what stands around them."""

    header: str
    lines: tuple[Line, ...]


def hunks(diff: Diff) -> list[Hunk]:
    """Return the hunks of ``diff``, with three lines of context."""
    new = diff.new_lines
    shift = 0
    found: list[Hunk] = []
    for group in _groups(diff.edits):
        lines = tuple(line for line in _walk(group, new, shift) if not _is_end(line, diff))
        found.append(Hunk(_header(lines, group, shift), lines))
        shift += sum(len(edit.old) - edit.add for edit in group)
    return found


def end_note(diff: Diff) -> str | None:
    """Return what to say about the newline at the file's end."""
    lacked = bool(diff.old_text) and not (diff.old_text or "").endswith("\n")
    lacks = bool(diff.new_text) and not diff.new_text.endswith("\n")
    if lacks:
        return (
            "newline removed at end of file" if diff.old_text and not lacked else "No newline at end of file"
        )
    return "newline added at end of file" if lacked and diff.new_text else None


def line_ends_note(diff: Diff) -> str | None:
    """Return what to say about how lines end, where that is no sign in each line."""
    if diff.line_ends is None:
        return None
    old, new = diff.line_ends
    return f"lines end with {new}" if old == new else f"line endings changed: {old} → {new}"


def unified(diff: Diff, limit: int) -> list[str]:
    """Return the unified diff for reading, of at most ``limit`` lines, and how many more there are."""
    lines: list[str] = []
    for hunk in hunks(diff):
        lines.append(hunk.header)
        lines += [line.sign + cut(visible(line.text), _LINE_LIMIT) for line in hunk.lines]
    more = len(lines) - limit
    lines = [*lines[:limit], f"… ({more:,} more lines of this diff)"] if more > 0 else lines
    note = end_note(diff)
    lines = [*lines, f"\\ {note}"] if note and lines else lines
    ends = line_ends_note(diff)
    return [f"\\ {ends}", *lines] if ends else lines


def _groups(edits: tuple[Edit, ...]) -> Iterator[list[Edit]]:
    group: list[Edit] = []
    for edit in edits:
        if group and edit.at - (group[-1].at + group[-1].add) > 2 * _CONTEXT:
            yield group
            group = []
        group.append(edit)
    if group:
        yield group


def _walk(group: list[Edit], new: list[str], shift: int) -> Iterator[Line]:
    position = max(0, group[0].at - _CONTEXT)
    for edit in group:
        yield from _context(new, position, edit.at, shift)
        yield from _changed(edit, new, shift)
        position = edit.at + edit.add
        shift += len(edit.old) - edit.add
    yield from _context(new, position, min(len(new), position + _CONTEXT), shift)


def _context(new: list[str], start: int, end: int, shift: int) -> Iterator[Line]:
    return (Line(" ", index + shift + 1, index + 1, new[index]) for index in range(start, end))


def _changed(edit: Edit, new: list[str], shift: int) -> Iterator[Line]:
    marks: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for mark in edit.marks:
        marks.setdefault((mark.side, mark.line), []).append((mark.start, mark.end))
    for index, text in enumerate(edit.old):
        yield Line("-", edit.at + shift + index + 1, None, text, tuple(marks.get(("-", index), ())))
    for index in range(edit.add):
        at = edit.at + index
        yield Line("+", None, at + 1, new[at], tuple(marks.get(("+", index), ())))


def _is_end(line: Line, diff: Diff) -> bool:
    """Whether this is not a line but the nothing after the last newline."""
    if line.text:
        return False
    ends_new = line.new is not None and line.new == diff.new_text.count("\n") + 1
    ends_old = line.old is not None and line.old == (diff.old_text or "").count("\n") + 1
    return ends_old if line.sign == "-" else ends_new


def _header(lines: tuple[Line, ...], group: list[Edit], shift: int) -> str:
    olds = [line.old for line in lines if line.old is not None]
    news = [line.new for line in lines if line.new is not None]
    # By the format's rule an empty side names the line before it.
    start = max(0, group[0].at - _CONTEXT)
    section = f" {visible(group[0].section)}" if group[0].section else ""
    old = f"-{olds[0] if olds else start + shift},{len(olds)}"
    return f"@@ {old} +{news[0] if news else start},{len(news)} @@{section}"
