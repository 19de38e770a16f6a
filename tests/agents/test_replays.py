"""The log of a session with a real agent is an agent itself: played elsewhere, it comes to the same state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acp_jupyter.session.sessions import Sessions
from acp_jupyter.testing import replay

from ..session.test_replay import state  # noqa: TID252  # tests are no installed package
from .model_server import CONTENT
from .real import AGENTS
from .support import TIMEOUT_S, running, wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from acp_jupyter.session.session import Session

pytestmark = [pytest.mark.agents, pytest.mark.parametrize("agent", AGENTS)]

SCENES = ("text", "write", "shell")


def play(session: Session) -> None:
    """What a person asks for, who allows it all, and is in the same mind the second time."""
    for scene in SCENES:
        run = session.start(f"Play the scene: {scene}.")
        if scene != "text":
            (request,) = wait_for(run, "a request", lambda: session.pending)
            request.allow_once()
        run.result(TIMEOUT_S)


def test_a_log_comes_to_the_same_state(session: Session, made: Path, agent: str, tmp_path: Path) -> None:
    play(session)
    log = session.frames.save(tmp_path / "log.jsonl")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    sessions = Sessions()
    command, *args = replay(log)
    sessions.agents.add(agent, command, args)
    written = made.read_text("utf-8")
    with running(agent, elsewhere, sessions) as again:
        play(again)
        assert state(again) == state(session)
        stderr = again.stderr
    assert "differs" not in stderr
    assert written == CONTENT
