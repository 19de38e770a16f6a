"""Real agents with a scripted model, by `make test-agents`; what each does stands in docs/agents.md."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from . import install
from .model_server import ANSWER, CONTENT, DONE
from .outcomes import TABLE, documented, row
from .real import AGENTS
from .support import TIMEOUT_S, sent, wait_for

if TYPE_CHECKING:
    from acp_jupyter.model.turn import Turn
    from acp_jupyter.session.session import Session, TurnRun

pytestmark = [pytest.mark.agents, pytest.mark.parametrize("agent", AGENTS)]

# Their own settings, not ours: these two write without asking where nobody has told them otherwise.
ASKS_AS_IT_COMES = {"opencode": False, "fast-agent": True, "agentao": False}


as_it_comes = pytest.mark.parametrize("settings", ["none"], indirect=True)


def start(session: Session, scene: str) -> TurnRun:
    return session.start(f"Play the scene: {scene}.")


def said(turn: Turn) -> str:
    """Give its text without its spaces: an agent may announce a call in the middle of a sentence."""
    return "".join(turn.text.split())


def check(row: str) -> None:
    assert row in documented(), f"{TABLE} says otherwise; seen was:\n{row}"


def goes_on(session: Session, pid: int | None, session_id: str | None) -> None:
    """Assert that the next prompt is answered by the same process on the same session."""
    turn = start(session, "text").result(TIMEOUT_S)
    assert (turn.text, turn.stop_reason) == (ANSWER, "end_turn")
    assert (session.pid, session.session_id, sent(session, "session/new")) == (pid, session_id, 1)


def test_text(session: Session, agent: str) -> None:
    turn = start(session, "text").result(TIMEOUT_S)
    assert (turn.text, turn.state, turn.error) == (ANSWER, "done", None)
    assert turn.agent.version == install.VERSIONS[agent]
    check(row(session, turn, "text"))


def test_write_allowed(session: Session, made: Path) -> None:
    run = start(session, "write")
    (request,) = wait_for(run, "a request", lambda: session.pending)
    assert not made.exists()
    assert request.tool_call.kind == "edit"
    assert str(made) in str(request.tool_call.raw_input)
    assert all((diff.path, diff.new_text) == (str(made), CONTENT) for diff in request.tool_call.diffs)
    request.allow_once()
    turn = run.result(TIMEOUT_S)
    assert made.read_text("utf-8") == CONTENT
    assert said(turn).endswith("".join(DONE.split()))
    assert (turn.state, turn.rejected) == ("done", [])
    check(row(session, turn, "write allowed"))


def test_write_rejected(session: Session, made: Path) -> None:
    run = start(session, "write")
    (request,) = wait_for(run, "a request", lambda: session.pending)
    request.reject()
    turn = run.result(TIMEOUT_S)
    assert not made.exists()
    assert [permission.option.kind for permission in turn.rejected if permission.option] == ["reject_once"]
    assert turn.state == "done"
    check(row(session, turn, "write rejected"))


def test_shell(session: Session) -> None:
    run = start(session, "shell")
    (request,) = wait_for(run, "a request", lambda: session.pending)
    assert request.tool_call.kind == "execute"
    request.allow_once()
    turn = run.result(TIMEOUT_S)
    (call,) = turn.tool_calls
    assert "first\nsecond\n" in call.text
    for terminal in turn.terminals.values():
        assert (str(terminal.output), terminal.exit_code, terminal.released) == ("first\nsecond\n", 3, True)
    assert turn.state == "done"
    check(row(session, turn, "shell command"))


def test_cancel_while_streaming(session: Session) -> None:
    run = start(session, "slow")
    wait_for(run, "a few words", lambda: "word3" in run.turn.text)
    pid, session_id = session.pid, session.session_id
    run.cancel()
    turn = run.result(TIMEOUT_S)
    assert turn.state == "cancelled"
    assert "word3" in turn.text
    check(row(session, turn, "cancel while it streams"))
    goes_on(session, pid, session_id)


def test_cancel_while_asked(session: Session, made: Path) -> None:
    run = start(session, "write")
    (request,) = wait_for(run, "a request", lambda: session.pending)
    pid, session_id = session.pid, session.session_id
    run.cancel()
    turn = run.result(TIMEOUT_S)
    assert turn.state == "cancelled"
    assert (request.permission.state, request.permission.decided_by) == ("cancelled", "turn")
    assert not made.exists()
    check(row(session, turn, "cancel while it asks"))
    goes_on(session, pid, session_id)


@as_it_comes
def test_as_it_comes(session: Session, agent: str, made: Path) -> None:
    turn = session.run("Play the scene: write.", policy="reject", timeout_s=TIMEOUT_S)
    assert bool(turn.permissions) == ASKS_AS_IT_COMES[agent]
    # No policy of ours stops what the agent does not ask about.
    assert made.exists() == (not turn.permissions)
    check(row(session, turn, "write, as it comes, policy `reject`"))
