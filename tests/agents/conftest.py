"""A session with a real agent, whose model plays a script."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from . import install
from .model_server import ModelServer
from .real import set_up
from .support import running, throw_away_home

if TYPE_CHECKING:
    from acp_jupyter.session.session import Session


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """The file that the scene ``write`` makes."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder / "made.txt"


@pytest.fixture
def settings(request: pytest.FixtureRequest) -> str:
    """Whether the agent's own settings make it ask; `as_it_comes` leaves them out."""
    return getattr(request, "param", "careful")


@pytest.fixture
def session(
    agent: str, made: Path, settings: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Session]:
    assert install.installed(), "the agents are not there: python tests/agents/install.py"
    throw_away_home(tmp_path / "home", monkeypatch)
    model = ModelServer(made.parent)
    try:
        sessions = set_up(agent, model.url, monkeypatch, careful=settings == "careful")
        with running(agent, made.parent, sessions) as session:
            yield session
    finally:
        model.close()
    assert model.complaints == []
    assert _left(tmp_path / "home") == []


def _left(home: Path) -> list[str]:
    """Name the processes of that home that are still there after 5 s."""
    found = [process for process in psutil.process_iter() if _home(process) == str(home)]
    _, alive = psutil.wait_procs(found, timeout=5)
    return [str(process) for process in alive]


def _home(process: psutil.Process) -> str | None:
    try:
        return None if process.pid == os.getpid() else process.environ().get("HOME")
    except psutil.Error:  # gone, or somebody else's
        return None
