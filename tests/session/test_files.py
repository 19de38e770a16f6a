"""The client's file methods: within the roots, byte for byte, whole or not at all."""

from __future__ import annotations

import errno
import os
import socket
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


def failure(function: Any, *args: Any, **more: Any) -> RequestError:
    with pytest.raises(RequestError) as caught:
        function(*args, **more)
    assert caught.value.data["reason"] in files.REASONS
    return caught.value


def reason(function: Any, *args: Any, **more: Any) -> str:
    return failure(function, *args, **more).data["reason"]


# --- where


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "ROOT/../outside/secret", "ROOT/link", "ROOT/out/secret", "ROOT/out/../new", "ROOT/loop"],
)
def test_s01_and_s06_outside_the_roots_nothing_is_read_or_written(root: Path, path: str) -> None:
    (root / "link").symlink_to(root.parent / "outside" / "secret")
    (root / "out").symlink_to(root.parent / "outside")
    (root / "loop").symlink_to(root / "loop")
    path = path.replace("ROOT", str(root))
    before = sorted(root.parent.rglob("*"))
    refused(write, root, path)
    why = "dangling_link" if path.endswith("loop") else "outside_roots"
    assert reason(read, root, path) == reason(write, root, path) == why
    assert sorted(root.parent.rglob("*")) == before
    assert (root.parent / "outside" / "secret").read_text() == "secret"


def test_s01_a_dangling_link_out_is_refused_and_one_within_is_followed(root: Path) -> None:
    (root / "out").symlink_to(root.parent / "outside" / "new")
    (root / "in").symlink_to(root / "target")
    refused(write, root, root / "out")
    assert not (root.parent / "outside" / "new").exists()
    write(root, root / "in", "x")
    assert (root / "in").is_symlink()
    assert (root / "target").read_text() == "x"


def test_s2_a_link_into_the_roots_and_dots_that_stay_within(root: Path) -> None:
    (root.parent / "link").symlink_to(root)
    (root / "sub").mkdir()
    write(root, root.parent / "link" / "a", "x")
    assert read(root, root / "sub" / ".." / "a") == "x"


@pytest.mark.parametrize("path", ["a", "./a", "~/a", "", "a\0b"])
def test_s1_c3_c4_paths_are_absolute(root: Path, path: str) -> None:
    refused(read, root, path)
    refused(write, root, path)


def test_c3_a_null_character_or_an_endless_name_is_refused(root: Path) -> None:
    for name in ("a\0b", "x" * 300):
        refused(read, root, f"{root}/{name}")
        refused(write, root, f"{root}/{name}")
    assert list(root.iterdir()) == []


# --- what kind of file


def test_s04_a_pipe_a_directory_and_a_socket_are_refused_without_being_opened(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(root / "pipe")
    (root / "directory").mkdir()
    with socket.socket(socket.AF_UNIX) as listening, monkeypatch.context() as context:
        context.chdir(root)  # the name of a socket is short
        listening.bind("socket")
        context.setattr(files.os, "open", None)
        for name in ("pipe", "directory", "socket"):
            assert f"regular file (a {name})" in refused(read, root, root / name)
            assert f"regular file (a {name})" in refused(write, root, root / name)
        assert reason(read, root, root) == reason(write, root, root) == "not_a_file"
    assert stat.S_ISFIFO((root / "pipe").stat().st_mode)


@pytest.mark.parametrize(
    "path", ["/dev/zero", "/dev/null", "/proc/self/environ", "/proc/self/mem", "/sys/kernel/uevent_seqnum"]
)
def test_s04_devices_and_the_systems_own_files_are_refused(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not os.path.exists(path):  # noqa: PTH110  # as text
        pytest.skip(f"no {path} here")
    monkeypatch.setattr(files.os, "open", None)
    assert reason(read, Path("/"), path) == "not_a_file"
    assert reason(write, Path("/"), path) == "not_a_file"


def test_s04_a_pipe_that_was_put_in_a_files_place_does_not_hold_us(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a").write_text("x")
    seen = (root / "a").stat()
    (root / "a").unlink()
    os.mkfifo(root / "a")
    monkeypatch.setattr(files, "look", lambda _path: seen)
    assert reason(read, root, root / "a") == "not_a_file"
    (root / "a").unlink()
    (root / "a").symlink_to(root.parent / "outside" / "secret")
    monkeypatch.setattr(files, "resolve", lambda path, _roots: Path(path))
    assert "secret" not in refused(read, root, root / "a")


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
    (root / "most").write_bytes(b"x" * files.LIMIT_BYTES)
    assert len(read(root, root / "most")) == files.LIMIT_BYTES


def test_s04_a_huge_text_is_not_written(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LIMIT_BYTES", 10)
    write(root, root / "a", "é" * 5)
    error = failure(write, root, root / "a", "é" * 5 + "x")
    assert error.data == {"reason": "too_large", "limit_bytes": 10}
    assert (root / "a").read_text() == "é" * 5
    (root / "big").write_bytes(b"x" * 11)
    assert reason(write, root, root / "big") == "too_large"  # nobody knows its encoding


@pytest.mark.parametrize(
    ("data", "words", "encoding"),
    [
        (b"caf\xe9", "not UTF-8 text (byte 3 is 0xE9; Latin-1", None),
        (b"ab\xed\xa0\x80", "not UTF-8 text (byte 2 is 0xED", None),
        (b"\x89PNG\r\n\x1a\n\0\0\0\x0d", "byte 0 is 0x89; binary?", None),
        ("plain words".encode("utf-16-le"), "UTF-16 without a byte-order mark", "utf-16"),
        ("plain words".encode("utf-16-be"), "UTF-16 without a byte-order mark", "utf-16"),
        (b"\0" * 100, "binary", "utf-16"),
        ("x".encode("utf-32"), "UTF-32", "utf-32"),
        (b"\xff\xfea", "begins as UTF-16 but is not", None),
    ],
)
def test_s07_what_is_no_text_is_refused_by_name_and_not_written_over(
    root: Path, data: bytes, words: str, encoding: str | None
) -> None:
    (root / "a").write_bytes(data)
    error = failure(read, root, root / "a")
    assert words in error.message
    assert error.data == {"reason": "encoding", "encoding": encoding}
    assert reason(write, root, root / "a") == "encoding"
    assert (root / "a").read_bytes() == data


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_s07_utf16_with_its_mark_is_read_and_stays_utf16(root: Path, encoding: str) -> None:
    (root / "a").write_bytes("\ufeffcafé\r\n中🙂\n".encode(encoding))
    assert read(root, root / "a") == "\ufeffcafé\r\n中🙂\n"
    assert read(root, root / "a", line=2, limit=1) == "中🙂\n"
    write(root, root / "a", "\ufeffnew\r\n")
    assert (root / "a").read_bytes() == "\ufeffnew\r\n".encode(encoding)
    write(root, root / "a", "without\n")
    assert (root / "a").read_bytes() == "\ufeffwithout\n".encode(encoding)


def test_s07_a_byte_order_mark_is_seen_and_kept(root: Path) -> None:
    (root / "a").write_bytes(b"\xef\xbb\xbfold\r\n")
    assert read(root, root / "a") == "\ufeffold\r\n"
    write(root, root / "a", "\ufeffnew\r\n")
    assert (root / "a").read_bytes() == b"\xef\xbb\xbfnew\r\n"
    write(root, root / "a", "newer\n")
    assert (root / "a").read_bytes() == b"\xef\xbb\xbfnewer\n"
    write(root, root / "b", "\ufeffgiven")
    write(root, root / "b", "\ufeffgiven")
    assert (root / "b").read_bytes() == b"\xef\xbb\xbfgiven"


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
def test_s07_c3_lines_and_limits(root: Path, line: int | None, limit: int | None, content: str) -> None:
    (root / "a").write_bytes(b"1\r\n2\n3\r4\n5")
    assert read(root, root / "a", line=line, limit=limit) == content


# --- writing


@pytest.mark.parametrize(
    "text", ["a\r\nb\nc\rd", "\ufeffa", "", "no newline", "中🙂\u2028\x85\x0c", "x\n" * 3]
)
def test_d02_s07_bytes_are_kept_there_and_back(root: Path, text: str) -> None:
    write(root, root / "a", text)
    assert (root / "a").read_bytes() == text.encode()
    assert read(root, root / "a") == text


def test_d02_a_lone_surrogate_cannot_break_a_file(root: Path) -> None:
    write(root, root / "a", "x\ud83dy")
    assert read(root, root / "a") == "x?y"


def test_c4_parents_are_made_and_the_users_umask_counts(root: Path) -> None:
    before = os.umask(0o027)
    try:
        write(root, root / "x" / "y" / "a")
    finally:
        os.umask(before)
    assert stat.S_IMODE((root / "x" / "y" / "a").stat().st_mode) == 0o640


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o666])
def test_c4_the_mode_of_a_file_is_kept(root: Path, mode: int) -> None:
    (root / "a").write_text("old")
    (root / "a").chmod(mode)
    write(root, root / "a")
    assert (root / "a").read_text() == "new"
    assert stat.S_IMODE((root / "a").stat().st_mode) == mode


@pytest.mark.parametrize("step", ["fchmod", "replace", "write"])
def test_c4_a_failed_write_leaves_the_old_file_and_nothing_beside_it(
    root: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a").write_text("old")

    def full(*_args: Any, **_more: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, {"write": "open"}.get(step, step), full)
    assert "No space left on device" in refused(write, root, root / "a")
    monkeypatch.undo()
    assert (root / "a").read_text() == "old"
    assert [path.name for path in root.iterdir()] == ["a"]


def test_c4_a_write_protected_file_stays(root: Path) -> None:
    (root / "a").write_text("old")
    (root / "a").chmod(0o444)
    assert reason(write, root, root / "a") == "read_only"
    assert (root / "a").read_text() == "old"
    assert [path.name for path in root.iterdir()] == ["a"]


def test_c4_a_file_with_other_names_is_not_parted_from_them(root: Path) -> None:
    (root / "a").write_text("old")
    (root / "b").hardlink_to(root / "a")
    assert reason(write, root, root / "a") == "hard_links"
    assert read(root, root / "a") == (root / "b").read_text() == "old"


def test_c4_another_owner_is_kept_or_the_file_left_alone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "a").write_text("old")
    found = (root / "a").stat()
    theirs = os.stat_result([*found[:4], found.st_uid + 1, found.st_gid, *found[6:]])
    monkeypatch.setattr(files, "look", lambda _path: theirs)
    given: list[tuple[int, int]] = []
    monkeypatch.setattr(files.os, "fchown", lambda _path, uid, gid: given.append((uid, gid)))
    write(root, root / "a")
    assert given == [(found.st_uid + 1, found.st_gid)]

    def not_ours(*_args: Any) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(files.os, "fchown", not_ours)
    assert reason(write, root, root / "a", "newer") == "owner"
    assert (root / "a").read_text() == "new"
    assert [path.name for path in root.iterdir()] == ["a"]


def test_c4_a_parent_that_is_a_file_is_an_error(root: Path) -> None:
    (root / "a").write_text("old")
    refused(write, root, root / "a" / "b")
    assert (root / "a").read_text() == "old"


# --- with an agent


def fs(method: str, save: str, **params: Any) -> dict[str, Any]:
    return {"request": f"fs/{method}_text_file", "params": params, "save": save}


def test_c3_c4_an_agent_reads_and_writes_and_hears_what_was_wrong(bench: Bench) -> None:
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


def test_c3_c4_c5_what_was_not_offered_is_refused(bench: Bench) -> None:
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


def test_c4_c5_after_a_cancel_or_the_end_nothing_is_changed_until_the_next_prompt(bench: Bench) -> None:
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


def swapped(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have a folder of the root replaced by a link to one outside when its path has been found good."""
    outside = root.parent / "outside"
    (outside / "secret").unlink()
    (root / "folder").mkdir()
    for place in (root / "folder", outside):
        (place / "a.txt").write_text(f"of {place.name}")
    resolve = files.resolve

    def resolve_and_swap(path: str, roots: Roots) -> Path:
        found = resolve(path, roots)
        (root / "folder").rename(root / "before")
        (root / "folder").symlink_to(outside)
        return found

    monkeypatch.setattr(files, "resolve", resolve_and_swap)
    return outside


def test_s01_a_folder_that_becomes_a_link_leads_nobody_out_of_the_roots(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swapped(root, monkeypatch)
    assert "leads elsewhere" in refused(read, root, root / "folder" / "a.txt")


@pytest.mark.parametrize("name", ["a.txt", "new.txt"])
def test_s01_nothing_is_written_through_a_folder_that_becomes_a_link(
    root: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    outside = swapped(root, monkeypatch)
    assert "leads elsewhere" in refused(write, root, root / "folder" / name)
    assert [one.name for one in outside.iterdir()] == ["a.txt"]
    assert (outside / "a.txt").read_text() == "of outside"
    assert [one.name for one in (root / "before").iterdir()] == ["a.txt"]


def test_s01_a_link_put_in_a_folders_place_while_it_is_written_changes_nothing_outside(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = root.parent / "outside"
    (outside / "secret").unlink()
    (root / "folder").mkdir()
    still = files._check_still  # pyright: ignore[reportPrivateUsage]

    def check_and_swap(path: Path, opened: int) -> None:
        still(path, opened)
        (root / "folder").rename(root / "before")
        (root / "folder").symlink_to(outside)

    monkeypatch.setattr(files, "_check_still", check_and_swap)
    write(root, root / "folder" / "a.txt", "text")
    assert list(outside.iterdir()) == []
    assert (root / "before" / "a.txt").read_text() == "text"
