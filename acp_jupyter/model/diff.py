"""A file's change, and where its two texts differ: computed once, drawn everywhere.

See the page https://agentclientprotocol.com/protocol/tool-calls#diffs and ``docs/turn-format.md``.
"""

from __future__ import annotations

import difflib
import re
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from acp_jupyter.model.shown import Shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# difflib's time goes with the pairs of equal lines, at worst to the power 3/2: these take it 0.3 s. Where
# there are more, lines that stand once on each side divide the texts; what is still too much is one edit.
_MAX_EQUAL_PAIRS = 100_000
_MAX_WORD_PAIRS = 500_000
_MAX_MARKED_LINE = 400
_MAX_MARKED_LINES = 200
_SECTION = re.compile(r"^[A-Za-z_$@].*\S")
_WORD = re.compile(r"\w+|\s+|.")

_Range: TypeAlias = "tuple[int, int, int, int]"  # old lines from and to, new lines from and to


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
class Diff(Shown):
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
    def line_ends(self) -> tuple[str, str] | None:
        """How lines end in the old and in the new text; ``None`` where both have ``LF``, or one is mixed."""
        new = _line_ends(self.new_text)
        old = _line_ends(self.old_text or "") or new
        new = new or old
        if old is None or new is None or "mixed" in {old, new} or old == new == "LF":
            return None
        return old, new

    @cached_property
    def new_lines(self) -> list[str]:
        """The new text's lines, without the ends that ``line_ends`` tells of."""
        return split(self.new_text, self.line_ends)

    @cached_property
    def edits(self) -> tuple[Edit, ...]:
        """Where the texts differ, in order; lines are those of ``new_lines``."""
        new = self.new_lines
        if not self.old_text:  # nothing to compare with: no empty line of the new text is an old one
            return (Edit(0, len(new), ("",)),) if self.new_text else ()
        return tuple(_edits(split(self.old_text, self.line_ends), new))

    @cached_property
    def totals(self) -> tuple[int, int]:
        """Lines added and removed, as a reader counts: nothing after the last newline is no line."""
        new = self.new_lines
        added = removed = 0
        old_length = len(new) + sum(len(edit.old) - edit.add for edit in self.edits)
        shift = 0
        for edit in self.edits:
            added += _countable(new, edit.at, edit.at + edit.add, len(new))
            start = edit.at + shift
            ends_old = start + len(edit.old) == old_length
            removed += len(edit.old) - (1 if edit.old and ends_old and edit.old[-1] == "" else 0)
            shift += len(edit.old) - edit.add
        gained = 1 if self._last_line_differs_by_its_newline(new) else 0
        return added + gained, removed + gained

    def _last_line_differs_by_its_newline(self, new: list[str]) -> bool:
        old = self.old_text
        if not old or not self.new_text or old.endswith("\n") == self.new_text.endswith("\n"):
            return False
        last = len(new) - (2 if self.new_text.endswith("\n") else 1)
        return not any(edit.at <= last < edit.at + edit.add for edit in self.edits)


def split(text: str, line_ends: tuple[str, str] | None) -> list[str]:
    """Return the lines of ``text``, whose ends are in the way only where they differ among themselves."""
    return (text.replace("\r\n", "\n") if line_ends else text).split("\n")


def rebuild_old(new_text: str, edits: Sequence[Edit], line_ends: tuple[str, str] | None = None) -> str:
    """Return the old text, from the new one, the edits between them, and how the lines of both end."""
    new = split(new_text, line_ends)
    old: list[str] = []
    position = 0
    for edit in edits:
        old += new[position : edit.at]
        old += edit.old
        position = edit.at + edit.add
    return newline(line_ends, 0).join(old + new[position:])


def newline(line_ends: tuple[str, str] | None, side: int) -> str:
    """Return what ends a line of the old text (0) or the new one (1)."""
    return "\r\n" if line_ends and line_ends[side] == "CRLF" else "\n"


def _line_ends(text: str) -> str | None:
    ends, with_return = text.count("\n"), text.count("\r\n")
    if not ends:
        return None
    return "LF" if not with_return else "CRLF" if with_return == ends else "mixed"


def _countable(lines: list[str], start: int, end: int, length: int) -> int:
    return end - start - (1 if end > start and end == length and lines[-1] == "" else 0)


def _edits(old: list[str], new: list[str]) -> Iterator[Edit]:
    if old == new:
        return
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    marker = _Marker()
    section, seen = None, 0
    for a, b, c, d in _changes(old[head : len(old) - tail], new[head : len(new) - tail]):
        at, before, after = head + c, old[head + a : head + b], new[head + c : head + d]
        section, seen = _section(new[seen:at]) or section, at
        yield Edit(at, d - c, tuple(before), section, tuple(marker.marks(before, after)))


def _common(a: list[str], b: list[str]) -> int:
    count = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        count += 1
    return count


def _section(lines: list[str]) -> str | None:
    return next((line.rstrip()[:120] for line in reversed(lines) if _SECTION.match(line)), None)


# --- which lines differ


def _changes(old: list[str], new: list[str]) -> Iterator[_Range]:
    whole = (0, len(old), 0, len(new))
    left = _MAX_EQUAL_PAIRS
    for a, b, c, d in [whole] if _equal_pairs(old, new) <= left else _between_anchors(old, new):
        pairs = _equal_pairs(old[a:b], new[c:d])
        if pairs > left:
            yield a, b, c, d
            continue
        left -= pairs
        matcher = difflib.SequenceMatcher(None, old[a:b], new[c:d], autojunk=False)
        for tag, i, j, k, m in matcher.get_opcodes():
            if tag != "equal":
                yield a + i, a + j, c + k, c + m


def _equal_pairs(old: list[str], new: list[str]) -> int:
    """Return how many pairs of equal lines there are: what each of difflib's passes costs."""
    counts = Counter(new)
    return sum(counts[line] for line in old)


def _between_anchors(old: list[str], new: list[str]) -> Iterator[_Range]:
    """Yield what lies between the lines that stand once in both texts, in the same order ("patience")."""
    a = c = 0
    for b, d in [*_anchors(old, new), (len(old), len(new))]:
        if a < b or c < d:
            yield a, b, c, d
        a, c = b + 1, d + 1


def _anchors(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    olds, news = Counter(old), Counter(new)
    at = {line: index for index, line in enumerate(old) if olds[line] == 1}
    pairs = [(at[line], index) for index, line in enumerate(new) if news[line] == 1 and line in at]
    # The longest run of pairs that rises on both sides: for each length the least last pair, and its past.
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (position, _) in enumerate(pairs):
        length = bisect_left(ends, position)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1], last[length : length + 1] = [position], [number]
    chain: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]


# --- what differs within a line


class _Marker:
    """Finds changes within lines until a diff's budget for that is used up."""

    def __init__(self) -> None:
        self._left = _MAX_WORD_PAIRS

    def marks(self, old: list[str], new: list[str]) -> Iterator[Mark]:
        """Yield the marks of an edit; a block that was rewritten at length is clearer without."""
        if max(len(old), len(new)) > _MAX_MARKED_LINES:
            return
        for index, (before, after) in enumerate(zip(old, new, strict=False)):
            if max(len(before), len(after)) <= _MAX_MARKED_LINE:
                yield from self._of_line(index, _WORD.findall(before), _WORD.findall(after))

    def _of_line(self, index: int, old: list[str], new: list[str]) -> Iterator[Mark]:
        self._left -= len(old) * len(new)
        if self._left < 0:
            return
        matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
        if matcher.ratio() < 0.4:  # noqa: PLR2004  # two lines that share little are clearer without marks
            return
        for tag, i, j, k, m in matcher.get_opcodes():
            if tag == "equal":
                continue
            if j > i:
                yield Mark("-", index, len("".join(old[:i])), len("".join(old[:j])))
            if m > k:
                yield Mark("+", index, len("".join(new[:k])), len("".join(new[:m])))
