from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_jupyter.views import ansi
from acp_jupyter.views.ansi import Style


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("10%\r20%\r100%\n", "100%\n", id="T05-progress"),
        pytest.param("----\rHello\x1b[K", "Hello", id="T05-erase"),
        pytest.param("abcdef\rXY\x1b[K", "XY", id="T05-erase-to-end"),
        pytest.param("abcdef\rXY", "XYcdef", id="overwrite"),
        pytest.param("junk\x1b[2Kok", "ok", id="erase-line"),
        pytest.param("a\r\nb\r\n", "a\nb\n", id="crlf"),
        pytest.param("ab\bc", "ac", id="backspace"),
        pytest.param("\b\bx", "x", id="backspace-at-start"),
        pytest.param("\x1b[1;31mred\x1b[0m", "red", id="colour"),
        pytest.param("\x1b]0;title\x07text", "text", id="osc-bel"),
        pytest.param("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link (http://x)", id="link"),
        pytest.param("\x1b]8;id=1;http://x\x07http://x\x1b]8;;\x07 y", "http://x y", id="link-by-its-name"),
        pytest.param("\x1b]8;;file:///etc/passwd\x07ls\x1b]8;;\x07", "ls", id="link-to-a-file"),
        pytest.param("a\x1b]8;;HTTPS://x\x07b\nc\x1b]8;;\x07d", "ab\nc (HTTPS://x)d", id="link-over-lines"),
        pytest.param("\x1b]8;;http://x\x07\x1b]8;;\x07a", "a", id="link-without-words"),
        pytest.param("\x1b]0;never ends\nnext", "\nnext", id="osc-unfinished"),
        pytest.param("\x1b[10;5Hat\x1b[2Jx\x1b[?25l", "atx", id="cursor"),
        pytest.param("\x1b(Bx\x1b=y\x1b", "xy", id="other-escapes"),
        pytest.param("x\x00\x07y\x9bz", "xyz", id="controls"),
        pytest.param("tab\there", "tab\there", id="tab"),
        pytest.param("\x1b[38;5", "", id="unfinished"),
    ],
)
def test_plain(text: str, expected: str) -> None:
    assert ansi.plain(text) == expected


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ("31", Style("#e06c75")),
        ("1;4;92", Style("#b5e890", bold=True, underline=True)),
        ("2;3;7", Style(dim=True, italic=True, inverse=True)),
        ("44", Style(background="#61afef")),
        ("103", Style(background="#ffd68a")),
        ("38;5;1", Style("#e06c75")),
        ("38;5;16", Style("#000000")),
        ("38;5;231", Style("#ffffff")),
        ("38;5;208", Style("#ff8700")),
        ("48;5;232", Style(background="#080808")),
        ("38;5;255", Style("#eeeeee")),
        ("38;2;1;2;300", Style("#0102ff")),
        ("48:2:10:20:30", Style(background="#0a141e")),
        ("38;5", Style("#5c6370")),
        ("38", Style()),
        ("38;9;1", Style(bold=True)),
        ("31;0", Style()),
        ("", Style()),
        ("1;22", Style()),
        ("31;39", Style()),
        ("99999999999", Style()),
    ],
)
def test_colours(codes: str, expected: Style) -> None:
    assert ansi.spans(f"\x1b[{codes}mx") == [[(expected, "x")]]


def test_spans_are_lines_of_stretches() -> None:
    assert ansi.spans("a\x1b[1mb\nc\x1b[0md") == [
        [(Style(), "a"), (Style(bold=True), "b")],
        [(Style(bold=True), "c"), (Style(), "d")],
    ]


OUTPUT = st.text("ab \n\r\b\x1b[]0;12mKHJ?\x07\\", max_size=40)


@given(OUTPUT)
def test_spans_and_plain_tell_the_same(text: str) -> None:
    told = "\n".join("".join(part for _, part in line) for line in ansi.spans(text))
    assert told == ansi.plain(text)
    assert "\x1b" not in told
    assert "\r" not in told


@given(st.lists(st.text("ab", max_size=3), max_size=8).map("\n".join), st.integers(1, 9))
def test_the_tail_and_what_comes_before_it(text: str, lines: int) -> None:
    hidden, tail = ansi.tail(text, lines)
    whole = text.removesuffix("\n").split("\n")
    assert tail.split("\n") == whole[hidden:]
    assert hidden == max(0, len(whole) - lines)
