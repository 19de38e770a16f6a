"""The magics without a kernel: what a person types, and what it prints."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from acp_jupyter.kernel.front_end import front_end
from acp_jupyter.kernel.sessions import sessions
from acp_jupyter.magics.cell import run_cell
from acp_jupyter.magics.commands import run_line
from acp_jupyter.testing import script_command

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from acp_jupyter.model.turn import Turn


class Typist:
    """Types magics and reads what they print.

    Args:
        folder: The working directory; the configuration folder is in it.
        capsys: Of the test.
    """

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys
        self._shell = SimpleNamespace(user_ns={})

    def line(self, text: str) -> str:
        """Type ``%acp`` with this after it; returns what it printed."""
        self._capsys.readouterr()
        run_line(self._shell, text)
        return self._capsys.readouterr().out

    def cell(self, line: str, task: str = "Go.") -> tuple[Turn, str, str]:
        """Run a cell; returns the turn, what it printed, and what it printed as a warning."""
        self._capsys.readouterr()
        turn = run_cell(self._shell, line, f"{task}\n")
        assert turn is not None
        printed = self._capsys.readouterr()
        return turn, printed.out, printed.err

    def add(self, name: str, script: Any, **more: Any) -> None:
        """Make a scripted agent known."""
        command = script_command(script, self.folder / f"{name}.json")
        sessions().agents.add(name, command[0], [*command[1:]], **more)


@pytest.fixture
def typist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Typist]:
    for name in ("CONFIG", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.chdir(tmp_path)
    sessions.cache_clear()
    front_end.cache_clear()
    yield Typist(tmp_path, capsys)
    sessions().close()
    sessions.cache_clear()
    front_end.cache_clear()
