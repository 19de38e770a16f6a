from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_jupyter.model.diff import Diff
from acp_jupyter.views import diff as view
from acp_jupyter.views import look
from tests.model.play import CWD, Play, seen

LINES = st.lists(st.sampled_from("abcxyz"), max_size=40).map(
    lambda lines: "".join(f"{line}\n" for line in lines)
)


@given(LINES, LINES)
def test_the_hunks_apply_as_a_patch_does(old: str, new: str) -> None:
    result, position = [], 0
    lines = old.splitlines()
    for hunk in view.hunks(Diff("/x", old, new)):
        olds = [line for line in hunk.lines if line.sign != "+"]
        start = olds[0].old - 1 if olds and olds[0].old else position
        assert [line.text for line in olds] == lines[start : start + len(olds)]
        assert [line.old for line in olds] == list(range(start + 1, start + len(olds) + 1))
        result += lines[position:start]
        news = [line for line in hunk.lines if line.sign != "-"]
        assert [line.new for line in news] == list(range(len(result) + 1, len(result) + len(news) + 1))
        result += [line.text for line in news]
        position = start + len(olds)
    assert "".join(f"{line}\n" for line in result + lines[position:]) == new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb\nc\nd\ne\nf\ng\nh\n", "a\nb\nc\nd\nE\nf\ng\nh\n"),
        ("".join(f"{n}\n" for n in range(40)), "".join(f"{n}\n" for n in range(40) if n not in {5, 30})),
        ("a\n", "a\nb\n"),
        ("a\nb\n", "b\n"),
    ],
)
def test_the_unified_diff_is_difflibs(old: str, new: str) -> None:
    theirs = list(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm=""))[2:]
    ours = [
        line.replace(",1 ", " ") if line.startswith("@@") else line
        for line in view.unified(Diff("/x", old, new), 500)
    ]
    assert ours == theirs


def test_a_new_file_begins_at_nothing() -> None:
    assert view.unified(Diff("/x", None, "a\nb\n"), 10) == ["@@ -0,0 +1,2 @@", "+a", "+b"]
    assert view.unified(Diff("/x", "a\nb\n", ""), 10) == ["@@ -1,2 +0,0 @@", "-a", "-b"]


@pytest.mark.parametrize(
    ("old", "new", "note"),
    [
        ("a\nb", "a\nb\n", "newline added at end of file"),
        ("a\nb\n", "a\nb", "newline removed at end of file"),
        ("a", "b", "No newline at end of file"),
        (None, "b", "No newline at end of file"),
        ("a\n", "b\n", None),
        ("a", "", None),
    ],
)
def test_d06_the_newline_at_the_end(old: str | None, new: str, note: str | None) -> None:
    diff = Diff("/x", old, new)
    assert view.end_note(diff) == note
    lines = view.unified(diff, 10)
    assert lines[-1].startswith("\\") == (note is not None)
    assert "+" not in lines
    assert "-" not in lines


def test_d01_changed_line_endings_are_a_note_and_no_changed_lines() -> None:
    old, new = "a\r\nthe old word\r\nb\r\n", "a\nthe new word\nb\n"
    diff = Diff("/x", old, new)
    lines = view.unified(diff, 10)
    assert lines[0] == "\\ line endings changed: CRLF → LF"
    assert lines[2:] == [" a", "-the old word", "+the new word", " b"]
    assert diff.totals == (1, 1)
    page = look.diff(diff, 10)
    assert "line endings changed: CRLF → LF" in page
    assert "U+000D" not in page
    only = Diff("/x", "a\nb\n", "a\r\nb\r\n")
    assert only.edits == ()
    assert view.unified(only, 10) == ["\\ line endings changed: LF → CRLF"]
    play = Play()
    content = [{"type": "diff", "path": f"{CWD}/a.py", "oldText": "a\n", "newText": "a\r\n"}]
    play.update("tool_call", toolCallId="c", kind="edit", title="Edit", content=content)
    seen(play, "line endings changed: LF → CRLF")


@pytest.mark.parametrize(
    ("old", "new"),
    [("a\r\nb\r\n", "a\r\nc\r\n"), (None, "a\r\nb\r\n"), ("a", "b\r\n")],
    ids=["changed", "new", "one line"],
)
def test_d01_line_ends_that_are_no_change_are_a_note_too(old: str | None, new: str) -> None:
    lines = view.unified(Diff("/x", old, new), 10)
    assert lines[0] == "\\ lines end with CRLF"
    assert not any("U+000D" in line for line in lines)


def test_d01_a_text_with_both_ends_shows_them_in_its_lines() -> None:
    lines = view.unified(Diff("/x", "a\r\nb\n", "a\nb\n"), 10)
    assert lines[1:] == ["-a<U+000D>", "+a", " b"]


def test_d03_d04_long_diffs_and_lines_are_cut_and_say_so() -> None:
    lines = view.unified(Diff("/x", None, "".join(f"{n}\n" for n in range(1000))), 100)
    assert len(lines) == 101
    assert lines[-1] == "… (901 more lines of this diff)"
    (_, line, _) = view.unified(Diff("/x", None, "x" * 2_000_000), 100)
    assert line == f"+{'x' * 2000}… (1,998,000 more characters)"


def test_d07_d09_controls_in_a_diff_are_spelled_out() -> None:
    assert view.unified(Diff("/x", None, "a\x00\x1b[31m\u202eb\n"), 9)[1] == "+a<U+0000><U+001B>[31m<U+202E>b"


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("a\n", "", "emptied or deleted"),
        (None, "", "new file, empty"),
        (None, "a\n", "new file"),
        ("a\n", "a\n", "no change"),
        ("", "a\n", "+1 \N{MINUS SIGN}0"),
    ],
)
def test_tc8_and_d05_a_new_an_emptied_and_an_unchanged_text(old: str | None, new: str, what: str) -> None:
    play = Play()
    content = [{"type": "diff", "path": f"{CWD}/a.py", "oldText": old, "newText": new}]
    play.update("tool_call", toolCallId="c", kind="edit", title="Edit", content=content)
    seen(play, f"a.py · {what}")
