"""The demo's scratch copy: `acp-demo/` in the session's working directory, and nobody else's folder.

Spec: https://agentclientprotocol.com/protocol/session-setup
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = "acp-demo"
TARGET = "stats.py"
MARKER = ".acp-demo"
_MARK = "Made by the demo agent of acp_jupyter. While this file is here, the demo may rewrite this folder.\n"
_PROJECT = Path(__file__).parent / "project"
_FILES = (TARGET, "test_stats.py", "README.md")

WRONG = "    return ordered[len(ordered) // 2]\n"
RIGHT = """\
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2
"""


class NotOursError(Exception):
    """Something else has the name of our folder."""


@dataclass(frozen=True)
class Scratch:
    """The scratch copy in a working directory.

    Args:
        cwd: The session's working directory.
    """

    cwd: Path

    @property
    def directory(self) -> Path:
        """Where the copy is."""
        return self.cwd / FOLDER

    @property
    def real_directory(self) -> Path:
        """Where the copy really is, if nobody put a link in its place."""
        return self.cwd.resolve() / FOLDER

    def prepare(self) -> str:
        """See that the copy is there and has its failing test.

        Returns:
            `made`, `reset` (it was repaired already) or `kept`.

        Raises:
            NotOursError: The folder is not one of ours; it is left alone.
            OSError: It cannot be written.
        """
        if not self._exists():
            self.reset()
            return "made"
        for name in _FILES:
            if not (self.directory / name).exists():
                self._restore(name)
        if (self.directory / TARGET).read_text("utf-8") == _shipped(TARGET).replace(WRONG, RIGHT):
            self._restore(TARGET)
            return "reset"
        return "kept"

    def reset(self) -> None:
        """Make the copy, or put its files back as they were shipped; other files in it stay.

        Raises:
            NotOursError: The folder is not one of ours; it is left alone.
            OSError: It cannot be written.
        """
        if not self._exists():
            self.directory.mkdir()
            (self.directory / MARKER).write_text(_MARK, "utf-8")
        for name in _FILES:
            self._restore(name)

    def resolved(self, name: str) -> Path:
        """Where a write to a file of the copy would really go: its path, or what a link in it leads to."""
        path = self.directory / name
        real = path.resolve()
        return path if real == self.real_directory / name else real

    def holds(self, path: Path) -> bool:
        """Whether a path is really inside the copy."""
        return path.resolve().is_relative_to(self.real_directory)

    def _exists(self) -> bool:
        folder, marker = self.directory, self.directory / MARKER
        if not folder.is_symlink() and not folder.exists():
            return False
        ours = folder.is_dir() and not folder.is_symlink() and marker.is_file() and not marker.is_symlink()
        if not ours or marker.read_text("utf-8") != _MARK:
            raise NotOursError(str(folder))
        return True

    def _restore(self, name: str) -> None:
        path = self.directory / name
        path.unlink(missing_ok=True)  # a link is replaced, never written through
        path.write_text(_shipped(name), "utf-8")


def line_of(text: str, part: str) -> int:
    """The line (1-based) where a part of a text begins; 1 where it is not in it."""
    return text.count("\n", 0, max(text.find(part), 0)) + 1


def _shipped(name: str) -> str:
    return (_PROJECT / name).read_text("utf-8")
