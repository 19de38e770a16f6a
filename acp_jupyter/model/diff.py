"""A file's change, and where its two texts differ: computed once, drawn everywhere.

See the page https://agentclientprotocol.com/protocol/tool-calls#diffs and ``docs/turn-format.md``.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Beyond this many line pairs difflib may take seconds; the changed middle is then shown as one edit.
_MAX_LINE_PAIRS = 4_000_000
_MAX_MARKED_LINE = 400
_SECTION = re.compile(r"^[A-Za-z_$@].*\S")
_WORD = re.compile(r"\w+|\s+|.")


class Mark(NamedTuple):
    """A changed stretch: side ``-`` or ``+``, the line's position there, code points from and to."""

    side: str
    line: int
    start: int
    end: int


@dataclass(frozen=True)
class Edit:
    """New lines ``at`` to ``at + add`` stand where the lines ``old`` stood."""

    at: int
    add: int
    old: tuple[str, ...]
    section: str | None = None
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class Diff:
    """What an agent says it changes in one file.

    Args:
        path: The file, absolute by the protocol; as the agent sent it.
        old_text: Its text before; ``None`` for a new file.
        new_text: Its text after.
    """

    path: str
    old_text: str | None
    new_text: str

    @cached_property
    def edits(self) -> tuple[Edit, ...]:
        """Where the texts differ, in order; lines are what ``split`` at newlines gives."""
        return tuple(_edits((self.old_text or "").split("\n"), self.new_text.split("\n")))

    @cached_property
    def totals(self) -> tuple[int, int]:
        """Lines added and removed, as a reader counts: nothing after the last newline is no line."""
        new = self.new_text.split("\n")
        added = removed = 0
        old_length = len(new) + sum(len(edit.old) - edit.add for edit in self.edits)
        shift = 0
        for edit in self.edits:
            added += _countable(new, edit.at, edit.at + edit.add, len(new))
            start = edit.at + shift
            ends_old = start + len(edit.old) == old_length
            removed += len(edit.old) - (1 if edit.old and ends_old and edit.old[-1] == "" else 0)
            shift += len(edit.old) - edit.add
        return added, removed


def rebuild_old(new_text: str, edits: Sequence[Edit]) -> str:
    """Return the old text, from the new one and the edits between them."""
    new = new_text.split("\n")
    old: list[str] = []
    position = 0
    for edit in edits:
        old += new[position : edit.at]
        old += edit.old
        position = edit.at + edit.add
    return "\n".join(old + new[position:])


def _countable(lines: list[str], start: int, end: int, length: int) -> int:
    return end - start - (1 if end > start and end == length and lines[-1] == "" else 0)


def _edits(old: list[str], new: list[str]) -> Iterator[Edit]:
    if old == new:
        return
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    old_end, new_end = len(old) - tail, len(new) - tail
    for a, b, c, d in _changes(old[head:old_end], new[head:new_end]):
        before, after = old[head + a : head + b], new[head + c : head + d]
        yield Edit(head + c, d - c, tuple(before), _section(new, head + c), tuple(_marks(before, after)))


def _common(a: list[str], b: list[str]) -> int:
    count = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        count += 1
    return count


def _changes(old: list[str], new: list[str]) -> list[tuple[int, int, int, int]]:
    if len(old) * len(new) > _MAX_LINE_PAIRS:
        return [(0, len(old), 0, len(new))]
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return [(a, b, c, d) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"]


def _section(lines: list[str], at: int) -> str | None:
    for line in reversed(lines[max(0, at - 2000) : at]):
        if _SECTION.match(line):
            return line.rstrip()[:120]
    return None


def _marks(old: list[str], new: list[str]) -> Iterator[Mark]:
    for index, (before, after) in enumerate(zip(old, new, strict=False)):
        if max(len(before), len(after)) > _MAX_MARKED_LINE:
            continue
        a, b = _WORD.findall(before), _WORD.findall(after)
        matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
        if matcher.ratio() < 0.4:  # noqa: PLR2004  # two lines that share little are clearer without marks
            continue
        for tag, i, j, k, m in matcher.get_opcodes():
            if tag == "equal":
                continue
            if j > i:
                yield Mark("-", index, len("".join(a[:i])), len("".join(a[:j])))
            if m > k:
                yield Mark("+", index, len("".join(b[:k])), len("".join(b[:m])))
