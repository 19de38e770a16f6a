"""Diffs that are asked about, beside the files on disk: what a person is told before the click."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_jupyter.model.content import Location
from acp_jupyter.model.diff import Diff
from acp_jupyter.model.tool_call import ToolCall
from acp_jupyter.session import compared, permissions
from acp_jupyter.session.roots import Roots

from .bench import ask, asked, finish, until

if TYPE_CHECKING:
    from .bench import Bench

FILE = "one\ntwo\nthree\ntwo\n"


def told(work: Path, *diffs: Diff, locations: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    places = [Location(path) for path in locations]
    call = ToolCall("c", kind="edit", content=list(diffs), locations=places)
    found = compared.compare(call, Roots(str(work)))
    return [(one.reason, one.text.replace(f"{work}/", "")) for one in found]


def diff(work: Path, old: str | None, new: str, name: str = "a.py") -> Diff:
    return Diff(str(work / name), old, new)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (FILE, "x", []),
        ("one\ntwo", "x", []),
        ("three\n", "3\n", [("fragment", "a.py: this is a part of it, from line 3 on.")]),
        ("two\n", "2\n", [("fragment", "a.py: the old text stands there 2 times, first in line 2.")]),
        (
            FILE.replace("\n", "\r\n"),
            "x",
            [("line-ends", "a.py: the old text is there with other line ends.")],
        ),
        (
            "four\n",
            "4\n",
            [("mismatch", "a.py does not hold the old text that the agent shows: another one may be lost.")],
        ),
        (
            "four\n",
            "three\n",
            [("mismatch", "a.py holds the new text already: it was changed before this was asked.")],
        ),
        (
            "four\n",
            "",
            [("mismatch", "a.py does not hold the old text that the agent shows: another one may be lost.")],
        ),
        (
            None,
            "x",
            [
                (
                    "mismatch",
                    "a.py is there already, but the agent says that it is new: what it holds would be lost.",
                )
            ],
        ),
        (
            "",
            "x",
            [
                (
                    "mismatch",
                    "a.py is there already, but the agent shows it as empty: what it holds would be lost.",
                )
            ],
        ),
        (None, FILE, [("mismatch", "a.py holds this text already.")]),
    ],
)
def test_a_diff_of_a_file_that_is_there(tmp_path: Path, old: str | None, new: str, expected: Any) -> None:
    (tmp_path / "a.py").write_bytes(FILE.encode())
    assert told(tmp_path, diff(tmp_path, old, new)) == expected


@pytest.mark.parametrize(
    ("old", "expected"),
    [
        (None, []),
        ("", []),
        ("one", [("mismatch", "a.py is not there, but the agent shows an old text of it.")]),
    ],
)
def test_a_diff_of_a_file_that_is_missing(tmp_path: Path, old: str | None, expected: Any) -> None:
    assert told(tmp_path, diff(tmp_path, old, "x")) == expected


def test_a_file_of_crlf_lines_and_a_mark(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    assert told(tmp_path, diff(tmp_path, "one\r\ntwo\r\n", "x")) == []
    assert told(tmp_path, diff(tmp_path, "\ufeffone\ntwo\n", "x"))[0][0] == "line-ends"


def test_a_last_newline_alone(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("one")
    assert told(tmp_path, diff(tmp_path, "one\n", "x"))[0][0] == "line-ends"


def test_an_empty_file_may_be_shown_as_new(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    assert told(tmp_path, diff(tmp_path, None, "x"), diff(tmp_path, "", "x")) == []


def test_several_diffs_of_one_file_go_on_from_each_other(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("one\n")
    steps = [diff(tmp_path, "one\n", "two\n"), diff(tmp_path, "two\n", "three\n")]
    assert told(tmp_path, *steps) == []
    assert [reason for reason, _ in told(tmp_path, steps[1])] == ["mismatch"]
    made = [diff(tmp_path, None, "a\n", "b.py"), diff(tmp_path, "a\n", "b\n", "b.py")]
    assert told(tmp_path, *made) == []


@pytest.mark.parametrize("what", ["large", "binary", "directory", "pipe"])
def test_what_cannot_be_compared_says_so(tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    if what == "large":
        monkeypatch.setattr(compared, "LIMIT_BYTES", 3)
        path.write_text("four")
    elif what == "binary":
        path.write_bytes(b"\x00\xff\xfe\x00" * 9)
    elif what == "directory":
        path.mkdir()
    else:
        os.mkfifo(path)
    ((reason, text),) = told(tmp_path, diff(tmp_path, "one", "two"))
    assert reason == "unchecked"
    assert "could not be compared with this: " in text


def test_nothing_outside_the_directories_is_read(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "secret").write_text("the secret")
    (work / "link").symlink_to(tmp_path / "secret")
    outside = Diff(str(tmp_path / "secret"), "the secret", "x")
    assert told(work, outside) == []  # its text alone says where it is: that is told without looking
    leads = [("path", "Leads outside the session's directories: link.")]
    assert told(work, diff(work, "not it", "x", "link")) == leads
    assert told(work, locations=(str(work / "link"),)) == leads


def test_many_diffs_are_counted(tmp_path: Path) -> None:
    many = [diff(tmp_path, "x", "y", f"{n}.py") for n in range(103)]
    found = told(tmp_path, *many)
    assert len(found) == 101
    assert found[-1] == ("unchecked", "3 more diffs were not compared with their files.")


# --- in a session


def edit(bench: Bench, old: str | None, new: str = "new\n", name: str = "a.py") -> dict[str, Any]:
    content = [{"type": "diff", "path": str(bench.work / name), "oldText": old, "newText": new}]
    return ask({"kind": "edit", "content": content})


def test_a_request_is_checked_before_a_person_is_told_that_it_can_be_answered(bench: Bench) -> None:
    (bench.work / "a.py").write_text("here\n")
    session = bench.session([edit(bench, "there\n")])
    with session.attended():
        run = session.start("go")
        (permission,) = asked(session)
        until(session, lambda: not permission.checking)
        assert [one.reason for one in permission.warnings] == ["mismatch"]
        session.pending[0].allow_once()
        turn = finish(run)
    assert [one.reason for one in turn.permissions[permission.key].warnings] == ["mismatch"]


def test_looking_that_takes_long_is_given_up_and_said(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    go = threading.Event()
    monkeypatch.setattr(permissions, "_CHECK_S", 0.05)
    monkeypatch.setattr(permissions, "compare", lambda *_: go.wait(30) and [])
    session = bench.session([edit(bench, "x"), edit(bench, "x")])
    try:
        with session.attended():
            run = session.start("go")
            (permission,) = asked(session)
            until(session, lambda: not permission.checking)
            assert [one.reason for one in permission.warnings] == ["unchecked"]
            session.pending[0].reject()
            (second,) = asked(session)
            session.pending[0].reject()  # it need not be waited for
            finish(run)
        assert not second.checking
    finally:
        go.set()


def test_looking_that_fails_costs_no_question(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> Any:
        raise LookupError("a fault of ours")

    monkeypatch.setattr(permissions, "compare", broken)
    session = bench.session([edit(bench, "x")])
    with session.attended():
        run = session.start("go")
        (permission,) = asked(session)
        until(session, lambda: not permission.checking)
        assert [one.reason for one in permission.warnings] == ["unchecked"]
        session.pending[0].reject()
        finish(run)
    assert "a fault of ours" in caplog.text


def test_a_policy_waits_for_no_file(bench: Bench) -> None:
    session = bench.session([edit(bench, "there\n")])
    turn = session.run("go", policy="edits")
    assert [(one.decided_by, one.checking, one.warnings) for one in turn.permissions.values()] == [
        ("policy", False, ())
    ]


def test_what_we_are_asked_to_write_is_shown_as_a_change_of_the_file(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACP_JUPYTER_ASK_CLIENT_REQUESTS", "true")
    for name in ("a", ".env"):
        (bench.work / name).write_text("old\n")

    def write(name: str) -> dict[str, Any]:
        params = {"path": str(bench.work / name), "content": "new\n"}
        return {"request": "fs/write_text_file", "params": params, "save": "w"}

    session = bench.session([write("a"), write(".env")])
    shown: list[str | None] = []
    with session.attended():
        run = session.start("go")
        for _ in range(2):
            (permission,) = asked(session)
            call = run.turn.tool_calls[permission.tool_call_id]
            shown.append(call.diffs[0].old_text)
            assert permission.warnings == ()
            session.pending[0].allow_once()
            until(session, lambda one=permission: one.state != "open")
        finish(run)
    assert shown == ["old\n", None], "what a secret file holds stands on no card"
