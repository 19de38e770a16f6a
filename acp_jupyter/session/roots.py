"""The directories that a session works in, and whether a path lies within them.

See https://agentclientprotocol.com/protocol/session-setup#working-directory.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from acp_jupyter.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Roots:
    """The working directory and further directories; all absolute."""

    cwd: str
    additional: tuple[str, ...] = ()

    @classmethod
    def of(cls, cwd: str | None = None, additional: Iterable[str] = ()) -> Roots:
        """Make paths absolute and check that they are directories.

        Raises:
            UsageError: One of them is not.
        """
        paths = [os.path.abspath(os.path.expanduser(path)) for path in (cwd or _here(), *additional)]  # noqa: PTH100, PTH111  # not Path.resolve: the agent gets the path as the user knows it
        for path in paths:
            if not Path(path).is_dir():
                raise UsageError(f"{path} is not a directory", advice="Give an existing directory.")
        return cls(paths[0], tuple(paths[1:]))

    @property
    def all(self) -> tuple[str, ...]:
        """The working directory, then the further ones."""
        return (self.cwd, *self.additional)

    def holds(self, path: str) -> bool:
        """Whether ``path`` is absolute and lies within a root, by its real path (links are followed)."""
        if not Path(path).is_absolute():
            return False
        try:
            real = Path(os.path.realpath(path))
        except (OSError, ValueError):  # a null character, or no path that this system could have
            return False
        return any(real.is_relative_to(os.path.realpath(root)) for root in self.all)


def _here() -> str:
    try:
        return os.getcwd()  # noqa: PTH109  # as above
    except FileNotFoundError:
        raise UsageError(
            "the kernel's working directory does not exist any more", advice="%cd to another one."
        ) from None
