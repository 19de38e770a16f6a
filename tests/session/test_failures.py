"""Agents that cannot start, die, or want something first: typed errors, with what to do next."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from acp_jupyter.errors import (
    AgentError,
    AgentExited,
    AgentNotFound,
    AgentTimeout,
    AuthenticationRequired,
    RequestFailed,
    UsageError,
    VersionMismatch,
)
from acp_jupyter.session.agents import AgentSpec
from acp_jupyter.session.run import Limits

from .bench import Bench, alive, gone, until

if TYPE_CHECKING:
    from acp_jupyter.session.session import Session


def failed(session: Session, kind: type[Exception]) -> Any:
    """Run a prompt that fails; the error is on the turn too."""
    with pytest.raises(kind) as caught:
        session.run("go")
    turn = session.turn
    assert turn is not None
    assert (turn.state, turn.error and turn.error.type) == ("failed", type(caught.value).__name__)
    assert not session.running
    return caught.value


def test_p01_a_command_that_is_not_there(bench: Bench) -> None:
    session = bench.of(AgentSpec(name="ghost", command="no-such-agent", install="npm install ghost"))
    error = failed(session, AgentNotFound)
    assert "no-such-agent" in error.message
    assert os.environ["PATH"].split(os.pathsep)[0] in error.advice
    assert "npm install ghost" in error.advice
    assert session.pid is None


def test_p02_an_agent_that_exits_at_once(bench: Bench) -> None:
    code = "import sys; print('boom: missing key', file=sys.stderr); sys.exit(3)"
    session = bench.of(AgentSpec(name="short", command=sys.executable, args=("-c", code)))
    begun = time.monotonic()
    error = failed(session, AgentExited)
    assert (error.exit_code, "boom: missing key" in error.stderr) == (3, True)
    assert "boom: missing key" in session.stderr
    assert time.monotonic() - begun < 5
    assert "boom: missing key" in str(error)
    assert "Does this command speak the Agent Client Protocol?" in error.advice


def test_p04_an_agent_that_never_answers_initialize(bench: Bench) -> None:
    start = [{"stderr": "fetching the model"}]
    session = bench.session({"start": start, "initialize": {"never": True}}, limits=Limits(start_s=1.5))
    error = failed(session, AgentTimeout)
    assert "initialize" in error.message
    assert "fetching the model" in error.stderr
    assert session.pid is None


def test_i7_an_agent_that_never_answers_session_new(bench: Bench) -> None:
    session = bench.session({"new_session": {"never": True}}, limits=Limits(start_s=1.5))
    assert "session/new" in failed(session, AgentTimeout).message
    assert session.pid is None


@pytest.mark.parametrize("version", [99, "2025-01-01", None, True, 1.0])
def test_r27_another_version(bench: Bench, version: Any) -> None:
    session = bench.session({"initialize": {"protocolVersion": version}})
    assert repr(version) in failed(session, VersionMismatch).message
    assert session.pid is None


def test_r25_an_agent_that_wants_a_log_in_names_its_ways(bench: Bench) -> None:
    script = {
        "initialize": {
            "authMethods": [{"id": "browser", "name": "Log in"}, {"id": "key", "name": "API key"}]
        },
        "new_session": {"error": {"code": -32000, "message": "Authentication required"}},
    }
    session = bench.session(script)
    error = failed(session, AuthenticationRequired)
    assert "browser (Log in), key (API key)" in error.advice
    assert session.pid is not None, "a log-in goes on with the same process"
    sent = [frame.message["method"] for frame in session.frames if frame.direction == "out"]
    assert sent == ["initialize", "session/new"]  # no loop, and no log-in that nobody asked for


@pytest.mark.parametrize(
    "script",
    [
        {"initialize": {"error": {"code": -32603, "message": "no home"}}},
        {"new_session": {"error": {"code": -32603, "message": "no home"}}},
    ],
)
def test_an_agent_that_refuses_to_start(bench: Bench, script: Any) -> None:
    session = bench.session(script)
    assert "no home" in failed(session, RequestFailed).message
    assert (session.pid, session.session_id) == (None, None)


def test_a_session_without_an_id(bench: Bench) -> None:
    session = bench.session({"new_session": {"error": "odd"}})
    failed(session, RequestFailed)


@pytest.mark.parametrize("end", [{"exit": 139}, {"kill_self": True}, {"close_stdout": True}])
def test_p03_an_agent_that_dies_in_mid_turn_and_the_next_prompt_starts_another(
    bench: Bench, end: Any
) -> None:
    calls = [
        {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "x", "status": "in_progress"},
        {"sessionUpdate": "tool_call", "toolCallId": "c2", "title": "x", "status": "completed"},
    ]
    first = [*({"update": call} for call in calls), {"stderr": "last words"}, {"text": "half"}, end]
    again = {"prompt.0.text": "again"}
    session = bench.session([{"if": again, "then": [{"text": "whole"}], "else": [*first, {"sleep_s": 600}]}])
    error = failed(session, AgentExited)
    assert "last words" in error.stderr
    assert (
        error.exit_code == {"exit": 139, "kill_self": -signal.SIGKILL, "close_stdout": None}[next(iter(end))]
    )
    turn = session.turns[0]
    assert turn.text == "half"
    assert [call.shown_status for call in turn.tool_calls] == ["cut_off", "completed"]
    old_id = session.session_id
    second = session.run("again")
    assert second.text == "whole"
    assert session.session_id != old_id
    assert [note.severity for note in second.notes] == ["warning"]
    assert "does not know what was said before" in second.notes[0].text
    assert session.run("again").notes == []


def test_an_agent_that_dies_between_two_prompts(bench: Bench) -> None:
    session = bench.session([{"text": "x"}])
    session.run("one")
    pid = session.pid or 0
    os.kill(pid, signal.SIGKILL)
    assert gone(pid)
    second = session.run("two")
    assert second.text == "x"
    assert any("new process" in note.text for note in second.notes)


def test_what_a_dying_agent_leaves_is_ended_at_once(bench: Bench) -> None:
    spawn = {"spawn": ["sleep", "600"], "ignore_term": True, "hold_stdout": True}
    session = bench.session(
        [spawn, {"text": "${child.pid}"}, {"until_file": str(bench.folder / "go")}, {"exit": 1}]
    )
    run = session.start("go")
    until(session, lambda: run.turn.text)
    child = int(run.turn.text)
    assert alive(child)
    (bench.folder / "go").touch()
    with pytest.raises(AgentExited):
        run.result(10)
    assert gone(child)


def test_f20_an_agent_that_no_longer_reads(bench: Bench) -> None:
    session = bench.session([{"close_stdin": True}])
    session.run("one")
    with pytest.raises(AgentError, match="not delivered"):
        session.run("x" * 1_000_000)
    assert session.run("three").stop_reason == "end_turn"


def test_p13_the_agents_own_variables_over_the_kernels(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FROM_KERNEL", "k")
    monkeypatch.setenv("BOTH", "kernel")
    steps = [{"report": f"env:{name}"} for name in ("FROM_KERNEL", "BOTH", "OWN")]
    session = bench.session(steps, env={"BOTH": "agent", "OWN": "o"})
    assert session.run("go").text == "kagento"


def test_what_an_agent_needs_is_looked_for_when_it_starts(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NEEDED_KEY", raising=False)
    session = bench.session([{"report": "env:NEEDED_KEY"}], needs=("NEEDED_KEY",))
    assert "NEEDED_KEY" in failed(session, UsageError).message
    monkeypatch.setenv("NEEDED_KEY", "k")
    assert session.run("go").text == "k"


def test_the_working_directory_vanished(bench: Bench) -> None:
    session = bench.session([])
    bench.work.rmdir()
    assert "does not exist" in failed(session, UsageError).message
