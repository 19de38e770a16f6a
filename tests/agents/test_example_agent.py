"""The example agent of the TypeScript SDK, which nobody here wrote: it needs Node, and no model."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from acp_jupyter.model.tool_call import PermissionOption
from acp_jupyter.session.sessions import Sessions

from .support import ROOT, TIMEOUT_S, running, sent, throw_away_home, wait_for

if TYPE_CHECKING:
    from acp_jupyter.session.session import Session

AGENT = ROOT / "labextension/node_modules/acp-sdk-agent/dist/examples/agent.js"
OPTIONS = (
    PermissionOption("allow", "Allow this change", "allow_once"),
    PermissionOption("reject", "Skip this change", "reject_once"),
)
READING = "I'll help you with that. Let me start by reading some files to understand the current situation."
UNDERSTOOD = " Now I understand the project structure. I need to make some changes to improve it."
CHANGED = " Perfect! I've successfully updated the configuration. The changes have been applied."
SKIPPED = " I understand you prefer not to make that change. I'll skip the configuration update."
CHANGE = {"path": "/home/user/project/config.json", "content": '{"database": {"host": "new-host"}}'}


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    node = shutil.which("node")
    assert node, "node is not on PATH: install Node.js 20 or newer"
    assert AGENT.is_file(), f"{AGENT} is missing: run `npm ci` in {ROOT / 'labextension'}"
    throw_away_home(tmp_path / "home", monkeypatch)
    sessions = Sessions()
    sessions.agents.add("example", node, [str(AGENT)])
    with running("example", tmp_path, sessions) as session:
        yield session


def test_a_policy_allows_the_change(session: Session) -> None:
    turn = session.run("Improve it.", policy="allow-once-all", timeout_s=TIMEOUT_S)
    assert (turn.stop_reason, turn.state) == ("end_turn", "done")
    assert turn.text.replace("\n\n", "") == READING + UNDERSTOOD + CHANGED
    read, change = turn.tool_calls
    assert (read.kind, read.status, read.raw_input) == ("read", "completed", {"path": "/project/README.md"})
    assert read.text == "# My Project\n\nThis is a sample project..."
    assert read.raw_output == {"content": read.text}
    assert (change.kind, change.status, change.raw_input) == ("edit", "completed", CHANGE)
    assert change.raw_output == {"success": True, "message": "Configuration updated"}
    (asked,) = turn.permissions.values()
    assert asked.options == OPTIONS
    assert (asked.tool_call_id, asked.option_id, asked.decided_by) == ("call_2", "allow", "policy")
    assert turn.rejected == []


def test_a_person_rejects_the_change(session: Session) -> None:
    run = session.start("Improve it.")
    (request,) = wait_for(run, "a request", lambda: session.pending)
    assert run.turn.state == "waiting"
    assert request.options == OPTIONS
    # The request corrects what the call said before it.
    assert [location.path for location in request.tool_call.locations] == [CHANGE["path"]]
    assert request.tool_call.raw_input == CHANGE
    request.reject()
    turn = run.result(TIMEOUT_S)
    assert (turn.stop_reason, turn.state) == ("end_turn", "done")
    assert turn.text.replace("\n\n", "") == READING + UNDERSTOOD + SKIPPED
    assert [(p.option_id, p.decided_by) for p in turn.rejected] == [("reject", "you")]
    assert turn.tool_calls["call_2"].status == "pending", "the agent never says that it left it"


def test_cancelled_while_asked_and_the_next_turn_goes_on(session: Session) -> None:
    first = session.start("Improve it.")
    (request,) = wait_for(first, "a request", lambda: session.pending)
    pid, session_id = session.pid, session.session_id
    first.cancel()
    cancelled = first.result(TIMEOUT_S)
    # This agent takes the answer `cancelled` for the end of its work, and says so.
    assert (cancelled.stop_reason, cancelled.state) == ("end_turn", "cancelled")
    assert sent(session, "session/cancel") == 1
    assert (request.permission.state, request.permission.decided_by) == ("cancelled", "turn")
    assert cancelled.tool_calls["call_2"].shown_status == "cancelled"

    second = session.run("Improve it again.", policy="allow-once-all", timeout_s=TIMEOUT_S)
    assert (second.stop_reason, second.state, second.number) == ("end_turn", "done", 2)
    assert (session.pid, session.session_id, second.session_id) == (pid, session_id, session_id)
    assert sent(session, "session/new") == 1
