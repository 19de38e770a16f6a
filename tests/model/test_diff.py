from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_jupyter.model import diff as module
from acp_jupyter.model.diff import Diff, rebuild_old

LINES = st.lists(st.sampled_from(["a", "b", "", "  c", "def f():", "x y", "x z", "\r", "é"]), max_size=14)
TEXTS = st.builds(str.join, st.sampled_from(["\n", "\n", "\r\n"]), LINES)


@given(TEXTS, TEXTS)
def test_the_edits_rebuild_the_old_text(old: str, new: str) -> None:
    diff = Diff("/x", old, new)
    assert rebuild_old(new, diff.edits, diff.line_ends) == old
    ends = [edit.at + edit.add for edit in diff.edits]
    starts = [edit.at for edit in diff.edits]
    assert all(end < start for end, start in zip(ends, starts[1:], strict=False)), "edits touch"
    for edit in diff.edits:
        added = diff.new_lines[edit.at : edit.at + edit.add]
        for mark in edit.marks:
            line = (edit.old if mark.side == "-" else added)[mark.line]
            assert 0 <= mark.start < mark.end <= len(line)


@given(TEXTS, TEXTS)
def test_the_edits_rebuild_the_old_text_when_difflib_is_given_up(old: str, new: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MAX_EQUAL_PAIRS", 2)
        test_the_edits_rebuild_the_old_text.hypothesis.inner_test(old, new)  # type: ignore[attr-defined]  # hypothesis sets it


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb\nc\n", "a\nB\nc\n"),
        ("a\nb\nc\n", "a\nc\n"),
        ("", "a\nb\n"),
        ("a\n", ""),
        ("a\nb\nc\nd\ne\n", "b\nc\nx\ny\ne\nf\n"),
        ("same\n", "same\n"),
    ],
)
def test_totals_count_as_difflib_does(old: str, new: str) -> None:
    lines = list(difflib.ndiff(old.splitlines(), new.splitlines()))
    expected = (sum(line[0] == "+" for line in lines), sum(line[0] == "-" for line in lines))
    assert Diff("/x", old, new).totals == expected


@pytest.mark.parametrize(("old", "new"), [("a\nb", "a\nb\n"), ("a\nb\n", "a\nb")])
def test_a_newline_at_the_end_changes_the_line_before_it(old: str, new: str) -> None:
    diff = Diff("/x", old, new)
    assert diff.totals == (1, 1)
    assert len(diff.edits) == 1


def test_a_new_file_has_no_old_text() -> None:
    diff = Diff("/x", None, "a\nb\n")
    assert diff.totals == (2, 0)
    assert Diff("/x", "", "a\nb\n").edits == diff.edits


def test_an_edit_names_its_section_and_marks_the_changed_words() -> None:
    old = "import os\n\ndef load(path):\n    x = 1\n    return old_name(path)\n"
    (edit,) = Diff("/x", old, old.replace("old_name", "new_name")).edits
    assert edit.section == "def load(path):"
    assert [mark.side for mark in edit.marks] == ["-", "+"]
    assert [edit.old[0][mark.start : mark.end] for mark in edit.marks if mark.side == "-"] == ["old_name"]


class Counting:
    """Stands for difflib's matcher and counts what it is given to do."""

    def __init__(self) -> None:
        self.pairs = 0
        self.real = difflib.SequenceMatcher

    def __call__(self, junk: None, a: list[str], b: list[str], *, autojunk: bool) -> object:
        counts = {line: b.count(line) for line in set(a)} if len(a) * len(b) < 10**6 else {}
        self.pairs += sum(counts.get(line, 0) for line in a)
        return self.real(junk, a, b, autojunk=autojunk)


def numbered(word: str, count: int) -> str:
    return "".join(f"{word} {number}\n" for number in range(count))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (numbered("old", 50_000), numbered("new", 50_000)),
        ("a\nb\n" * 25_000, "b\nb\na\n" * 20_000),
        ("\n" * 50_000 + "x", "x" + "\n" * 50_000),
        (("(.;," * 99 + "\n") * 1_900, (";,(." * 99 + "\n") * 1_900),
    ],
    ids=["D03-all-lines-differ", "D03-two-lines", "D03-blank", "D04-long-lines"],
)
def test_d03_d04_the_work_for_a_hostile_diff_is_bounded(
    old: str, new: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting = Counting()
    monkeypatch.setattr(module.difflib, "SequenceMatcher", counting)
    diff = Diff("/x", old, new)
    assert rebuild_old(new, diff.edits) == old
    assert counting.pairs <= module._MAX_EQUAL_PAIRS + module._MAX_WORD_PAIRS
    assert sum(len(edit.marks) for edit in diff.edits) < 10_000


def test_a_small_change_in_a_large_repetitive_file_stays_small() -> None:
    lines = [line for number in range(5_000) for line in (f'"k{number}": {{', "}", "")]
    changed = [*lines]
    changed[6], changed[12_000] = "first", "second"
    diff = Diff("/x.json", "\n".join(lines), "\n".join(changed))
    assert [(edit.at, edit.add, len(edit.old)) for edit in diff.edits] == [(6, 1, 1), (12_000, 1, 1)]


@pytest.mark.parametrize(
    ("old", "new", "totals"),
    [
        (None, "a\n\nb", (3, 0)),
        ("", "a\n\nb\n", (3, 0)),
        (None, "", (0, 0)),
        ("a\nb", "a\nb\n", (1, 1)),
        ("a\nb\n", "a\nb", (1, 1)),
        ("a\nb\n", "a\nc", (1, 1)),
        ("a\n", "", (0, 1)),
    ],
)
def test_totals_are_what_a_reader_counts(old: str | None, new: str, totals: tuple[int, int]) -> None:
    diff = Diff("/a", old, new)
    assert diff.totals == totals
    assert rebuild_old(new, diff.edits) == (old or "")
