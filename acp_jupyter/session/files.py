"""The client's ``fs/read_text_file`` and ``fs/write_text_file``, within the session's directories.

See https://agentclientprotocol.com/protocol/file-system. A missing file is "not found", never an empty text,
and what could not be read as text is not written over either. Every refusal has its ``reason`` in the error's
``data``: one of `REASONS`.
"""

from __future__ import annotations

import contextlib
import io
import os
import secrets
import stat
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_jupyter.session import text_files
from acp_jupyter.wire.answers import RequestError

if TYPE_CHECKING:
    from collections.abc import Generator

    from acp_jupyter.session.roots import Roots

LIMIT_BYTES = 32 * 1024 * 1024
_INVALID, _NOT_FOUND = -32602, -32002
_BY_FOLDER = {os.open, os.rename, os.unlink} <= os.supports_dir_fd  # not on Windows
# What the system itself makes up when it is read: the process's own secrets among it.
_KERNELS_OWN = ("/proc", "/sys")

REASONS = {
    "not_absolute": "the path is not absolute",
    "outside_roots": "its real path lies outside the session's directories",
    "dangling_link": "a link that leads nowhere",
    "not_found": "no such file (code -32002)",
    "not_a_file": "a directory, pipe, device, socket, or one of the system's own files",
    "too_large": "the file, or the text to write, is larger than 32 MiB",
    "encoding": "neither UTF-8 nor UTF-16 with a byte-order mark",
    "read_only": "the file is write-protected",
    "hard_links": "the file has other names, which writing would part from it",
    "owner": "the file belongs to another user or group, and would not any more",
    "running_notebook": "the notebook that this session runs in",
    "notebook": "the text is no valid notebook, and the name ends in .ipynb",
    "changed": "the path leads elsewhere than it did when it was looked at, or a person was asked",
    "denied": "a person's yes was needed, and did not come",
    "rejected": "this turn's latest answer about it was no",
    "system": "the operating system refused",
    "workspace": "the workspace that was given in Python refused, or failed",
}


def refusal(reason: str, message: str, *, code: int = _INVALID, **more: Any) -> RequestError:
    """Return the error for one of the `REASONS`."""
    return RequestError(code, message, {"reason": reason, **more})


def read_text_file(params: dict[str, Any], roots: Roots) -> dict[str, Any]:
    """Read ``params["path"]``, or the `part_of` it that ``line`` and ``limit`` name.

    Raises:
        RequestError: It is outside the roots, missing, no regular file, too large, or not text.
    """
    path = resolve(params["path"], roots)
    return {"content": part_of(_decoded(path, _read(path)).text, params.get("line"), params.get("limit"))}


def part_of(text: str, line: int | None, limit: int | None) -> str:
    r"""Return a text from its 1-based ``line`` on, at most ``limit`` lines.

    A line ends with ``\n``, which belongs to it. Line 0 is taken for line 1; beyond the end, and with limit
    0, there is nothing.
    """
    if line is None and limit is None:
        return text
    start = max((line or 1) - 1, 0)
    lines = io.StringIO(text, newline="\n").readlines()
    return "".join(lines[start : None if limit is None else start + limit])


def write_text_file(params: dict[str, Any], roots: Roots) -> dict[str, Any]:
    """Write ``params["content"]``, its line ends untouched; a new file is made with its folders, in UTF-8.

    A file that is there keeps its mode, its owner, its encoding and its byte-order mark.

    Raises:
        RequestError: It is outside the roots, no regular text file, too large, or cannot be written.
    """
    path = resolve(params["path"], roots)
    content: str = params["content"]
    there = look(path)
    data = text_files.encode(content, _decoded(path, _read(path)) if there else None)
    check_size(path, len(data))
    if there:
        _check_replaceable(path, there)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _folder_of(path) as folder:
            replace(path, data, there.st_mode if there else None, there, folder)
    except OSError as error:
        raise _system(f"cannot write {path}", error) from error
    return {}


@contextlib.contextmanager
def _folder_of(path: Path) -> Generator[int | None]:
    """Hold the folder that a real path names, so that a link put in its place meanwhile leads nobody away.

    Yields:
        Its descriptor; ``None`` where the system cannot work by one.

    Raises:
        RequestError: The path leads elsewhere than it did.
    """
    if not _BY_FOLDER:
        yield None
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _check_still(path.parent, folder)
        yield folder
    finally:
        os.close(folder)


def _check_still(path: Path, opened: int) -> None:
    """Refuse what was opened by a real path that is not real any more, or names something else now."""
    try:
        same = Path(os.path.realpath(path)) == path and os.path.samestat(os.fstat(opened), path.stat())
    except FileNotFoundError:
        same = False
    if not same:
        raise refusal("changed", f"{path} leads elsewhere than it did a moment ago")


def resolve(path: str, roots: Roots) -> Path:
    """Return the real path of what the agent named.

    Raises:
        RequestError: It is not absolute, outside the roots, or a link that leads nowhere.
    """
    if not Path(path).is_absolute():
        raise refusal("not_absolute", f"{path} is not an absolute path")
    if not roots.holds(path):
        raise refusal("outside_roots", f"{path} is outside the session's directories")
    real = Path(os.path.realpath(path))
    if os.path.islink(real):  # noqa: PTH114  # Path.is_symlink raises for a name that is too long
        raise refusal("dangling_link", f"{path} is a link that leads nowhere")
    return real


def look(path: Path) -> os.stat_result | None:
    """Return what the system says of a file, without opening it; ``None`` where there is none.

    Raises:
        RequestError: It is there, and no regular file.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _system(f"cannot look at {path}", error) from error
    # A device does things when it is opened, and a pipe waits for ever.
    if not stat.S_ISREG(found.st_mode) or _is_the_systems(path):
        raise refusal("not_a_file", f"{path} is not a regular file ({_kind(found.st_mode)})")
    return found


def not_found(path: Path) -> RequestError:
    """Return the error for a file that is not there."""
    return refusal("not_found", f"Resource not found: {path}", code=_NOT_FOUND)


def check_size(path: Path, size: int) -> None:
    """Refuse what is too large to read, or to be written.

    Raises:
        RequestError: It is.
    """
    if size > LIMIT_BYTES:
        raise refusal("too_large", f"{path} is larger than {LIMIT_BYTES} bytes", limit_bytes=LIMIT_BYTES)


def _is_the_systems(path: Path) -> bool:
    return sys.platform == "linux" and any(path.is_relative_to(own) for own in _KERNELS_OWN)


def _kind(mode: int) -> str:
    kinds = {
        stat.S_IFDIR: "a directory",
        stat.S_IFIFO: "a pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    return kinds.get(stat.S_IFMT(mode), "one of the system's own")


def _read(path: Path) -> bytes:
    found = look(path)
    if found is None:
        raise not_found(path)
    check_size(path, found.st_size)
    try:
        # Looked at again when it is open: what is read is what was looked at, not through a link that was put
        # there meanwhile, and never more than the limit, whatever size a file claims.
        with open(path, "rb", opener=_open_at_once) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise refusal("not_a_file", f"{path} is not a regular file")
            _check_still(path, file.fileno())
            data = file.read(LIMIT_BYTES + 1)
    except FileNotFoundError as error:
        raise not_found(path) from error
    except OSError as error:
        raise _system(f"cannot read {path}", error) from error
    check_size(path, len(data))
    return data


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))


def _decoded(path: Path, data: bytes) -> text_files.TextFile:
    try:
        return text_files.decode(data)
    except text_files.NotText as error:
        raise refusal("encoding", f"{path}: {error}", encoding=error.encoding) from error


def _check_replaceable(path: Path, there: os.stat_result) -> None:
    """Refuse what moving a new file into its place would pass over."""
    if not there.st_mode & 0o222 or not os.access(path, os.W_OK):
        raise refusal("read_only", f"{path} is write-protected")
    if there.st_nlink > 1:
        raise refusal(
            "hard_links", f"{path} has {there.st_nlink} names (hard links), which writing would part"
        )


def _system(what: str, error: OSError) -> RequestError:
    return refusal("system", f"{what}: {error.strerror or error}")


def replace(
    path: Path,
    data: bytes,
    mode: int | None,
    there: os.stat_result | None = None,
    folder: int | None = None,
) -> None:
    """Write beside the file and move it into place, so that nobody ever reads half of it.

    Args:
        path: The file.
        data: What it is to hold.
        mode: The mode that it is to have; ``None`` for what the user's umask gives.
        there: The file that is replaced, whose owner and group are kept.
        folder: The descriptor of its folder, where that is to be used and not the path.

    Raises:
        OSError: It cannot be written; what was there is as it was.
        RequestError: Its owner or group cannot be kept.
    """
    where = path.parent if folder is None else Path()
    beside, target = where / f".{path.name[:40]}.{secrets.token_hex(6)}", where / path.name
    # A new file gets the mode that the user's umask gives; a private one is private from the beginning.
    allowed = 0o666 if mode is None else stat.S_IMODE(mode)
    try:
        opener = partial(os.open, mode=allowed, dir_fd=folder)
        with open(beside, "xb", opener=opener) as file:
            file.write(data)
            if there is not None:
                _keep_owner(file.fileno(), path, there)
            if mode is not None:
                _set_mode(
                    file.fileno(), beside, allowed
                )  # after the owner, whose change takes the set-user-id bit
        os.replace(beside, target, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside, dir_fd=folder)
        raise


def _set_mode(opened: int, path: Path, mode: int) -> None:
    if sys.platform == "win32":
        path.chmod(mode)
    else:
        os.fchmod(opened, mode)


def _keep_owner(opened: int, path: Path, there: os.stat_result) -> None:
    made = os.fstat(opened)
    if sys.platform == "win32" or (made.st_uid, made.st_gid) == (there.st_uid, there.st_gid):
        return
    try:
        os.fchown(opened, there.st_uid, there.st_gid)
    except OSError as error:
        owner = f"user {there.st_uid}, group {there.st_gid}"
        raise refusal("owner", f"{path} belongs to {owner}, and would not any more") from error
