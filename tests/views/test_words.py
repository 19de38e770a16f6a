from __future__ import annotations

import re
from typing import Any

import pytest

from acp_jupyter.model import events
from acp_jupyter.views import words
from tests.model.play import CWD, Play, seen


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a\u202eb", "a<U+202E>b", id="U12-right-to-left"),
        pytest.param("rm -rf x\r\x1b[2Kls", "rm -rf x<U+000D><U+001B>[2Kls", id="U11-rewriting"),
        pytest.param("a\u200bb\u2066c\ufeff", "a<U+200B>b<U+2066>c<U+FEFF>", id="U12-no-width"),
        pytest.param("x\x00\x08\x7f\x9b", "x<U+0000><U+0008><U+007F><U+009B>", id="D09-controls"),
        pytest.param("x\ud83dy", "x<U+D83D>y", id="F10-lone-surrogate"),
        pytest.param("pa\u00adth\U000e0041", "pa<U+00AD>th<U+E0041>", id="tags"),
        pytest.param("one\n\ttwo é 中 🙂", "one\n\ttwo é 中 🙂", id="plain"),
    ],
)
def test_hidden_characters_are_spelled_out(text: str, expected: str) -> None:
    assert words.visible(text) == expected


def test_prose_keeps_what_makes_words_and_emoji() -> None:
    assert words.prose("👩\u200d💻 नर\u200cक\r\n") == "👩\u200d💻 नर\u200cक\n"
    assert words.prose("a\u202eb") == "a<U+202E>b"


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.04, "0.0 s"),
        (0.31, "0.3 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min 0 s"),
        (67, "1 min 7 s"),
        (7380, "2 h 3 min"),
        (-1, "0.0 s"),
    ],
)
def test_durations(seconds: float, expected: str) -> None:
    assert words.duration(seconds) == expected


def call(**fields: Any) -> tuple[Play, Any]:
    play = Play()
    play.update("tool_call", toolCallId="c", **fields)
    return play, play.turn.tool_calls["c"]


@pytest.mark.parametrize(
    ("raw_input", "expected"),
    [
        ({"command": "make test"}, "make test"),
        ({"command": ["sh", "-c", "echo 'a b'"]}, """sh -c 'echo '"'"'a b'"'"''"""),
        ({"command": "git", "args": ["diff", "--", "a b"]}, "git diff -- 'a b'"),
        ({"command": ["ls", 7]}, "ls 7"),
        ({"command": ""}, None),
        ({"command": {"x": 1}}, None),
        ("make test", None),
        (None, None),
    ],
)
def test_u10_the_command_in_the_raw_input(raw_input: Any, expected: str | None) -> None:
    _, made = call(title="bash", rawInput=raw_input)
    assert words.command(made) == expected


def test_u09_a_command_is_never_cut_and_spaces_hide_nothing() -> None:
    command = "echo ok" + " " * 5000 + "; rm -rf build\n" + "\n".join(f"line {n}" for n in range(200))
    play, made = call(kind="execute", rawInput={"command": command})
    shown = words.command(made) or ""
    assert shown.startswith("echo ok <↦ 5000 spaces> ; rm -rf build\nline 0\n")
    assert shown.endswith("line 199")
    seen(play, "<↦ 5000 spaces> ; rm -rf build", "line 199")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (f"{CWD}/src/a.py", "src/a.py"),
        (CWD, "."),
        ("src/a.py", "src/a.py"),
        ("/extra/b.py", "/extra/b.py"),
        (f"{CWD}-old/a.py", f"{CWD}-old/a.py (outside the session's directories)"),
        ("../../etc/x", "../../etc/x (outside the session's directories)"),
        (f"{CWD}/../x", f"{CWD}/../x (outside the session's directories)"),
        (f"{CWD}/a\u202e.py", "a<U+202E>.py"),
        (f"{CWD}/{'deep/' * 200}a.py", f"{'deep/' * 200}a.py"),
    ],
)
def test_d10_paths_are_relative_inside_and_whole_outside(path: str, expected: str) -> None:
    play = Play()
    play.turn.additional_directories.append("/extra")
    assert words.place(play.turn, path) == expected
    assert words.place(play.turn, path, 3).startswith(expected.partition(" (")[0] + ":3")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"kind": "read", "locations": [{"path": f"{CWD}/a", "line": 2}]}, ("Read", "a:2")),
        ({"kind": "execute", "rawInput": {"command": "ls"}}, ("Run", "ls")),
        (
            {"kind": "execute", "rawInput": {"command": "ls"}, "locations": [{"path": f"{CWD}/a"}]},
            ("Run", "ls"),
        ),
        (
            {"kind": "read", "rawInput": {"command": "rm x"}, "locations": [{"path": f"{CWD}/a"}]},
            ("Read", "a · runs: rm x"),
        ),
        ({"kind": "fetch", "title": "example.org"}, ("Fetch", "example.org")),
        ({"kind": "deploy", "title": "Ship it"}, ("deploy", "Ship it")),
        ({"name": "grep"}, ("Tool", "grep")),
        ({}, ("Tool", "c")),
    ],
)
def test_p4_a_heading_says_what_a_call_works_on(fields: dict[str, Any], expected: tuple[str, str]) -> None:
    play, made = call(**fields)
    assert words.heading(play.turn, made) == expected


@pytest.mark.parametrize(
    ("kind", "verb"),
    [
        ("read", "Read"),
        ("edit", "Edit"),
        ("delete", "Delete"),
        ("move", "Move"),
        ("search", "Search"),
        ("execute", "Run"),
        ("think", "Think"),
        ("fetch", "Fetch"),
        ("switch_mode", "Switch mode"),
        ("other", "Tool"),
        ("kind_of_tomorrow", "kind_of_tomorrow"),
    ],
)
def test_tc1_every_kind_has_its_word(kind: str, verb: str) -> None:
    play, _ = call(kind=kind, title="on something")
    seen(play, f"{verb} on something")


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("allow_once", "allow · once"),
        ("allow_always", "allow · remembered by the agent"),
        ("reject_once", "reject · once"),
        ("reject_always", "reject · remembered by the agent"),
        ("allow_persistent", "unknown kind: allow_persistent"),
        ("", "no kind given"),
    ],
)
def test_u06_kinds_of_options(kind: str, expected: str) -> None:
    assert words.option_kind(kind) == expected


@pytest.mark.parametrize(
    ("closed", "expected"),
    [
        (("selected", "you", "allow_once", None), r"Allowed once by you at \d\d:\d\d:\d\d · Do allow_once"),
        (
            ("selected", "policy", "allow_once", "kind edit"),
            r"Allowed once by policy edits at \d\d:\d\d:\d\d · Do allow_once · kind edit",
        ),
        (
            ("selected", "you", "allow_always", None),
            r"Allowed, remembered by the agent, by you at \d\d:\d\d:\d\d · Do allow_always",
        ),
        (("selected", "you", "reject_once", None), r"Rejected by you at \d\d:\d\d:\d\d · Do reject_once"),
        (
            ("selected", "nobody", "reject_once", "use --approve edits"),
            r"Rejected: nobody could be asked at \d\d:\d\d:\d\d · Do reject_once · use --approve edits",
        ),
        (("cancelled", "nobody", None, None), r"Not allowed: nobody could be asked at \d\d:\d\d:\d\d"),
        (("cancelled", "turn", None, None), r"Not answered: the turn was over at \d\d:\d\d:\d\d"),
        (("cancelled", "agent", None, None), r"Withdrawn by the agent at \d\d:\d\d:\d\d"),
        (
            ("selected", "time_limit", "reject_once", "no answer within 60 s"),
            r"Rejected by the time limit at \d\d:\d\d:\d\d · Do reject_once · no answer within 60 s",
        ),
        (("cancelled", "time_limit", None, None), r"Not answered in time at \d\d:\d\d:\d\d"),
        (("cancelled", "you", None, None), r"Cancelled by you at \d\d:\d\d:\d\d"),
        (
            ("selected", "you", "odd", None),
            r"Answered \(unknown kind: odd\) by you at \d\d:\d\d:\d\d · Do odd",
        ),
    ],
)
def test_decisions(closed: tuple[Any, ...], expected: str) -> None:
    play = Play(policy="edits")
    play.ask("k", {"toolCallId": "c"}, "allow_once", "allow_always", "reject_once", "odd")
    assert words.decision(play.turn, play.turn.permissions["k"]) == "Waiting for your answer"
    state, by, option, reason = closed
    play.apply(events.PermissionClosed("k", state, by, option, reason))
    decision = words.decision(play.turn, play.turn.permissions["k"])
    assert re.fullmatch(expected, decision), decision
    seen(play, decision)


def test_the_head_names_agent_roots_policy_and_length() -> None:
    play = Play(policy="allow-once-all")
    play.turn.additional_directories.append("/data")
    play.say("x")
    play.now += 38
    play.end()
    seen(play, "Fake 1.0", "done", "42 s", f"in {CWD} and /data", "WITHOUT ASKING", "allow-once-all")


def test_the_totals() -> None:
    play = Play()
    diff = {"type": "diff", "path": "/a", "oldText": "a\n", "newText": "b\nc\n"}
    play.update("tool_call", toolCallId="c", content=[diff])
    play.update("tool_call", toolCallId="d")
    play.ask("k", {"toolCallId": "c"}, "reject_once")
    play.apply(events.PermissionClosed("k", "selected", "you", "reject_once"))
    assert words.totals(play.turn) == ["2 tool calls", "1 not allowed"], "what was rejected changed nothing"
    play.update("tool_call_update", toolCallId="c", status="completed")
    assert words.totals(play.turn)[1] == "1 file changed +2 −1"  # noqa: RUF001  # a minus sign
