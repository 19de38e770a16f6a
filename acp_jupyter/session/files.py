"""The client's ``fs/read_text_file`` and ``fs/write_text_file``, within the session's directories.

See https://agentclientprotocol.com/protocol/file-system. A missing file is "not found", never an empty text.
"""

from __future__ import annotations

import io
import os
import secrets
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_jupyter.wire.answers import RequestError

if TYPE_CHECKING:
    from acp_jupyter.session.roots import Roots

LIMIT_BYTES = 32 * 1024 * 1024
_INVALID, _NOT_FOUND = -32602, -32002


def read_text_file(params: dict[str, Any], roots: Roots) -> dict[str, Any]:
    """Read ``params["path"]``, from its 1-based ``line`` on, at most ``limit`` lines.

    Raises:
        RequestError: It is outside the roots, missing, no regular file, too large, or not UTF-8.
    """
    path = _within(params["path"], roots)
    text = _decode(path, _read(path))
    line, limit = params.get("line"), params.get("limit")
    if line is None and limit is None:
        return {"content": text}
    start = max((line or 1) - 1, 0)
    lines = io.StringIO(text, newline="\n").readlines()
    return {"content": "".join(lines[start : None if limit is None else start + limit])}


def write_text_file(params: dict[str, Any], roots: Roots) -> dict[str, Any]:
    """Write ``params["content"]`` as it is (UTF-8, line ends untouched), made with its folders if it is new.

    Raises:
        RequestError: It is outside the roots, no regular file, or cannot be written.
    """
    path = _within(params["path"], roots)
    content: str = params["content"]
    try:
        mode = path.stat().st_mode if path.exists() else None
        if mode is not None and not stat.S_ISREG(mode):
            raise RequestError(_INVALID, f"{path} is not a regular file")
        # Moving a new file into its place would pass over a write protection.
        if mode is not None and not os.access(path, os.W_OK):
            raise RequestError(_INVALID, f"{path} is write-protected")
        path.parent.mkdir(parents=True, exist_ok=True)
        replace(path, content.encode("utf-8", "replace"), mode)
    except OSError as error:
        raise RequestError(_INVALID, f"cannot write {path}: {error.strerror or error}") from error
    return {}


def _within(path: str, roots: Roots) -> Path:
    if not Path(path).is_absolute():
        raise RequestError(_INVALID, f"{path} is not an absolute path")
    if not roots.holds(path):
        raise RequestError(_INVALID, f"{path} is outside the session's directories")
    real = Path(os.path.realpath(path))
    if os.path.islink(real):  # noqa: PTH114  # Path.is_symlink raises for a name that is too long
        raise RequestError(_INVALID, f"{path} is a link that leads nowhere")
    return real


def _read(path: Path) -> bytes:
    try:
        # Not blocking: a pipe without a writer would hold us for ever. Looked at when it is open: what is
        # read is what was looked at, and never more than the limit, whatever size a file claims.
        with open(path, "rb", opener=_open_at_once) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise RequestError(_INVALID, f"{path} is not a regular file")
            data = file.read(LIMIT_BYTES + 1)
    except FileNotFoundError as error:
        raise RequestError(_NOT_FOUND, f"Resource not found: {path}") from error
    except OSError as error:
        raise RequestError(_INVALID, f"cannot read {path}: {error.strerror or error}") from error
    if len(data) > LIMIT_BYTES:
        raise RequestError(_INVALID, f"{path} is larger than {LIMIT_BYTES} bytes")
    return data


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _decode(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RequestError(_INVALID, f"{path} is not UTF-8 text (byte {error.start})") from error


def replace(path: Path, data: bytes, mode: int | None) -> None:
    """Write beside the file and move it into place, so that nobody ever reads half of it."""
    beside = path.with_name(f".{path.name[:40]}.{secrets.token_hex(6)}")
    # A new file gets the mode that the user's umask gives; a private one is private from the beginning.
    allowed = 0o666 if mode is None else stat.S_IMODE(mode)
    try:
        with open(beside, "xb", opener=lambda name, flags: os.open(name, flags, allowed)) as file:
            file.write(data)
        if mode is not None:
            beside.chmod(allowed)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
