"""The client's file methods: within the roots, byte for byte, whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_jupyter.session import files
from acp_jupyter.session.roots import Roots
from acp_jupyter.wire.answers import RequestError

from .bench import finish, until

if TYPE_CHECKING:
    from .bench import Bench

INVALID, NOT_FOUND = -32602, -32002


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    return tmp_path / "root"


def read(root: Path, path: Any, **more: Any) -> str:
    return files.read_text_file({"path": str(path), **more}, Roots.of(str(root)))["content"]


def write(root: Path, path: Any, content: str = "new") -> None:
    assert files.write_text_file({"path": str(path), "content": content}, Roots.of(str(root))) == {}


def refused(function: Any, *args: Any, code: int = INVALID, **more: Any) -> str:
    with pytest.raises(RequestError) as caught:
        function(*args, **more)
    assert caught.value.code == code
    return caught.value.message


# --- where


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "ROOT/../outside/secret", "ROOT/link", "ROOT/out/secret", "ROOT/loop"]
)
def test_s01_and_s06_outside_the_roots_nothing_is_read_or_written(root: Path, path: str) -> None:
    (root / "link").symlink_to(root.parent / "outside" / "secret")
    (root / "out").symlink_to(root.parent / "outside")
    (root / "loop").symlink_to(root / "loop")
    path = path.replace("ROOT", str(root))
    before = sorted(root.parent.rglob("*"))
    refused(write, root, path)
    if not path.endswith("loop"):
        assert "outside the session's directories" in refused(read, root, path)
    assert sorted(root.parent.rglob("*")) == before
    assert (root.parent / "outside" / "secret").read_text() == "secret"


def test_a_dangling_link_out_is_refused_and_one_within_is_followed(root: Path) -> None:
    (root / "out").symlink_to(root.parent / "outside" / "new")
    (root / "in").symlink_to(root / "target")
    refused(write, root, root / "out")
    assert not (root.parent / "outside" / "new").exists()
    write(root, root / "in", "x")
    assert (root / "in").is_symlink()
    assert (root / "target").read_text() == "x"


def test_a_link_into_the_roots_and_dots_that_stay_within(root: Path) -> None:
    (root.parent / "link").symlink_to(root)
    (root / "sub").mkdir()
    write(root, root.parent / "link" / "a", "x")
    assert read(root, root / "sub" / ".." / "a") == "x"


@pytest.mark.parametrize("path", ["a", "./a", "~/a", "", "a\0b"])
def test_paths_are_absolute(root: Path, path: str) -> None:
    refused(read, root, path)
    refused(write, root, path)


def test_a_null_character_or_an_endless_name_is_refused(root: Path) -> None:
    for name in ("a\0b", "x" * 300):
        refused(read, root, f"{root}/{name}")
        refused(write, root, f"{root}/{name}")
    assert list(root.iterdir()) == []


# --- what kind of file


def test_s04_a_pipe_a_directory_and_a_device_are_refused_at_once(root: Path) -> None:
    os.mkfifo(root / "fifo")
    (root / "dir").mkdir()
    for name in ("fifo", "dir", "."):
        assert "regular file" in refused(read, root, root / name) or name != "fifo"
        assert "regular file" in refused(write, root, root / name)
    assert "regular file" in refused(read, Path("/dev"), "/dev/zero")
    assert stat.S_ISFIFO((root / "fifo").stat().st_mode)


def test_s07_missing_is_not_found_and_never_empty(root: Path) -> None:
    assert "not found" in refused(read, root, root / "missing", code=NOT_FOUND)
    assert "not found" in refused(read, root, root / "no" / "such", code=NOT_FOUND)
    (root / "file").write_text("")
    refused(read, root, root / "file" / "below")
    assert read(root, root / "file") == ""


def test_s04_a_huge_file_is_refused_without_being_read(root: Path) -> None:
    with (root / "huge").open("wb") as file:
        file.truncate(1 << 40)
    assert "larger than" in refused(read, root, root / "huge")
    with (root / "most").open("wb") as file:
        file.truncate(files.LIMIT_BYTES)
    assert len(read(root, root / "most")) == files.LIMIT_BYTES


@pytest.mark.parametrize(
    ("data", "byte"),
    [(b"caf\xe9", 3), ("x".encode("utf-16"), 0), (b"ab\xed\xa0\x80", 2)],
    ids=["latin", "utf-16", "surrogate"],
)
def test_s07_what_is_not_utf8_is_refused_by_name(root: Path, data: bytes, byte: int) -> None:
    (root / "a").write_bytes(data)
    assert f"not UTF-8 text (byte {byte})" in refused(read, root, root / "a")


# --- lines


@pytest.mark.parametrize(
    ("line", "limit", "content"),
    [
        (None, None, "1\r\n2\n3\r4\n5"),
        (1, None, "1\r\n2\n3\r4\n5"),
        (0, None, "1\r\n2\n3\r4\n5"),
        (2, 1, "2\n"),
        (1, 1, "1\r\n"),
        (3, 1, "3\r4\n"),
        (4, None, "5"),
        (4, 10, "5"),
        (5, None, ""),
        (10**30, None, ""),
        (None, 0, ""),
        (2, 0, ""),
        (None, 2, "1\r\n2\n"),
        (None, 10**30, "1\r\n2\n3\r4\n5"),
    ],
)
def test_s07_lines_and_limits(root: Path, line: int | None, limit: int | None, content: str) -> None:
    (root / "a").write_bytes(b"1\r\n2\n3\r4\n5")
    assert read(root, root / "a", line=line, limit=limit) == content


# --- writing


@pytest.mark.parametrize(
    "text", ["a\r\nb\nc\rd", "\ufeffa", "", "no newline", "中🙂\u2028\x85\x0c", "x\n" * 3]
)
def test_s07_bytes_are_kept_there_and_back(root: Path, text: str) -> None:
    write(root, root / "a", text)
    assert (root / "a").read_bytes() == text.encode()
    assert read(root, root / "a") == text


def test_a_lone_surrogate_cannot_break_a_file(root: Path) -> None:
    write(root, root / "a", "x\ud83dy")
    assert read(root, root / "a") == "x?y"


def test_parents_are_made_and_the_users_umask_counts(root: Path) -> None:
    before = os.umask(0o027)
    try:
        write(root, root / "x" / "y" / "a")
    finally:
        os.umask(before)
    assert stat.S_IMODE((root / "x" / "y" / "a").stat().st_mode) == 0o640


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o666])
def test_the_mode_of_a_file_is_kept(root: Path, mode: int) -> None:
    (root / "a").write_text("old")
    (root / "a").chmod(mode)
    write(root, root / "a")
    assert (root / "a").read_text() == "new"
    assert stat.S_IMODE((root / "a").stat().st_mode) == mode


@pytest.mark.parametrize("step", ["fchmod", "replace", "write"])
def test_a_failed_write_leaves_the_old_file_and_nothing_beside_it(
    root: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a").write_text("old")

    def full(*_args: Any, **_more: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    if step == "write":
        monkeypatch.setattr(files.os, "open", full)
    else:
        monkeypatch.setattr(Path, {"fchmod": "chmod", "replace": "replace"}[step], full)
    assert "No space left on device" in refused(write, root, root / "a")
    monkeypatch.undo()
    assert (root / "a").read_text() == "old"
    assert [path.name for path in root.iterdir()] == ["a"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_write_protected_file_stays(root: Path) -> None:
    (root / "a").write_text("old")
    (root / "a").chmod(0o444)
    assert "write-protected" in refused(write, root, root / "a")
    assert (root / "a").read_text() == "old"


def test_a_parent_that_is_a_file_is_an_error(root: Path) -> None:
    (root / "a").write_text("old")
    refused(write, root, root / "a" / "b")
    assert (root / "a").read_text() == "old"


# --- with an agent


def fs(method: str, save: str, **params: Any) -> dict[str, Any]:
    return {"request": f"fs/{method}_text_file", "params": params, "save": save}


def test_an_agent_reads_and_writes_and_hears_what_was_wrong(bench: Bench) -> None:
    work = bench.work
    script = [
        fs("write", "w", path=f"{work}/new/a", content="1\r\n2\n"),
        fs("read", "r", path=f"{work}/new/a", line=2),
        fs("read", "missing", path=f"{work}/b"),
        fs("read", "out", path="/etc/passwd"),
        fs("write", "there", path=f"{work}/../x", content=""),
        {"text": "${w}|${r.content}|${missing.error.code}|${out.error.code}|${there.error.code}"},
    ]
    turn = bench.session(script).run("go")
    assert turn.text == "{}|2\n|-32002|-32602|-32602"
    assert not (bench.folder / "x").exists()


def test_what_was_not_offered_is_refused(bench: Bench) -> None:
    steps = [
        fs("read", "r", path="/a"),
        {"request": "terminal/create", "params": {"command": "ls"}, "save": "t"},
    ]
    session = bench.session(
        [*steps, {"text": "${r.error.code} ${t.error.code}"}], client_fs=False, client_terminal=False
    )
    assert session.run("go").text == "-32601 -32601"
    sent = next(frame.message for frame in session.frames if frame.direction == "out")
    assert sent["params"]["clientCapabilities"]["fs"] == {"readTextFile": False, "writeTextFile": False}
    assert sent["params"]["clientCapabilities"]["terminal"] is False


# --- when


def test_after_a_cancel_or_the_end_nothing_is_changed_until_the_next_prompt(bench: Bench) -> None:
    new, old = bench.work / "new", bench.work / "old"
    old.write_text("old")
    change = [
        {"request": "fs/write_text_file", "params": {"path": str(new), "content": "x"}, "save": "write"},
        {"request": "terminal/create", "params": {"command": "touch", "args": [str(new)]}, "save": "create"},
        {"request": "fs/read_text_file", "params": {"path": str(old)}, "save": "read"},
    ]
    said = {"text": "${write} ${create} ${read}"}
    cancelled = [
        {"ignore_cancel": True},
        {"text": "on"},
        {"until_cancel": 1},
        *change,
        said,
        {"end": {"stopReason": "cancelled"}},
    ]
    late = [{"end": {}}, *change, said]
    session = bench.session({"turns": [cancelled, late, [change[0], {"text": "${write}"}]]})
    run = session.start("one")
    until(session, lambda: run.turn.text)
    run.cancel()
    finish(run)
    assert run.turn.text.count("refused until the next prompt: the turn was cancelled") == 2
    assert '"content":"old"' in run.turn.text.replace(" ", "")
    two = finish(session.start("two"))
    until(session, lambda: two.text)
    assert two.text.count("refused until the next prompt: no prompt is under way") == 2
    assert '"content":"old"' in two.text.replace(" ", "")
    assert not new.exists()
    finish(session.start("three"))
    assert new.read_text() == "x"
