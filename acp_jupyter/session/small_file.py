"""Reading a file of settings, which a cloned repository may have brought: regular, and of a sane size."""

from __future__ import annotations

import os
import stat
from pathlib import Path

LIMIT_BYTES = 4_000_000


def read_small(path: str | Path) -> bytes:
    """Return what a file holds; its end is waited for at nothing that has none.

    Raises:
        OSError: It is not there, or cannot be read.
        ValueError: It is a pipe, a device or the like, or larger than 4 MB; the text says which.
    """
    with open(Path(path).expanduser(), "rb", opener=_open_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("it is not a regular file")
        data = file.read(LIMIT_BYTES + 1)
    if len(data) > LIMIT_BYTES:
        raise ValueError(f"it is larger than {LIMIT_BYTES:,} bytes")
    return data


def text_of(data: bytes) -> str:
    """Return the text of a file of settings: UTF-8, with or without a byte-order mark.

    Raises:
        ValueError: It is none.
    """
    return data.decode("utf-8-sig")


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
