"""A session's log, saved and played again to another session in another directory: the same comes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_jupyter.errors import AgentExited, RequestFailed
from acp_jupyter.model.transcript import to_json
from acp_jupyter.session.agents import AgentSpec
from acp_jupyter.testing import replay

from .bench import Bench, ask, asked, finish

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_jupyter.session.session import Session

RUN = {"command": "sh", "args": ["-c", "echo in the terminal; exit 3"]}
PLAN = [{"content": "Do", "priority": "low", "status": "pending"}]
FIRST: list[Any] = [
    {"thought": "Hm, let me see.", "chunks": "words"},
    {"update": {"sessionUpdate": "plan", "entries": PLAN}},
    {"text": "I work in ${cwd}, "},
    {"request": "fs/read_text_file", "params": {"path": "${cwd}/here.txt"}, "save": "file"},
    {"text": "where I read: ${file.content}"},
    ask({"title": "Write", "kind": "edit", "locations": [{"path": "${cwd}/new.txt"}]}),
    {"request": "fs/write_text_file", "params": {"path": "${cwd}/new.txt", "content": "new\n"}, "save": "w"},
    {"request": "terminal/create", "params": RUN, "save": "t"},
    {
        "update": {
            "sessionUpdate": "tool_call_update",
            "toolCallId": "c1",
            "content": [
                {"type": "terminal", "terminalId": "${t.terminalId}"},
                {"type": "diff", "path": "${cwd}/new.txt", "oldText": None, "newText": "new\n"},
            ],
            "rawOutput": {"wrote": "${cwd}/new.txt"},
        }
    },
    {"request": "terminal/wait_for_exit", "params": {"terminalId": "${t.terminalId}"}, "save": "exit"},
    {"request": "terminal/output", "params": {"terminalId": "${t.terminalId}"}, "save": "out"},
    {"request": "terminal/release", "params": {"terminalId": "${t.terminalId}"}, "save": "r"},
    {"update": {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"}},
]
SECOND: list[Any] = [{"text": "begun"}, ask({"toolCallId": "c2", "title": "Wait for me"}), {"text": "never"}]
TIMES = {"started_at", "ended_at", "opened_at", "decided_at", "turn_id"}


def drive(session: Session) -> None:
    """What a person does: allow one request, cancel the turn at another."""
    assert session.cwd is not None
    Path(session.cwd, "here.txt").write_text("a word")
    with session.attended():
        run = session.start("Do it.")
        asked(session)
        session.pending[0].allow_once()
        finish(run)
        run = session.start("And again.")
        asked(session)
        run.cancel()
        finish(run)


def state(session: Session) -> Any:
    """All that is known of a session's turns, but for times and where it was."""
    text = json.dumps([to_json(turn) for turn in session.turns]).replace(str(session.cwd), "CWD")
    return _without_times(json.loads(text))


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_times(one) for key, one in value.items() if key not in TIMES}
    return [_without_times(one) for one in value] if isinstance(value, list) else value


@pytest.fixture
def again(bench: Bench, tmp_path: Path) -> Callable[..., Session]:
    """Save a session's log, and make a session elsewhere to which it is played."""

    def played(session: Session, connection: int = 1) -> Session:
        command = replay(session.frames.save(tmp_path / "log.jsonl"), connection)
        spec = AgentSpec(name=session.name, command=command[0], args=tuple(command[1:]))
        other = bench.of(spec)
        (tmp_path / "elsewhere").mkdir()
        other.set_roots(str(tmp_path / "elsewhere"), ())
        return other

    return played


def test_the_same_comes_of_it_elsewhere(bench: Bench, again: Callable[..., Session]) -> None:
    session = bench.session({"turns": [FIRST, SECOND]})
    drive(session)
    other = again(session)
    drive(other)
    assert [turn.state for turn in session.turns] == ["done", "cancelled"]
    assert other.cwd != session.cwd
    assert state(other) == state(session)
    assert str(other.cwd) in other.turns[0].text
    assert str(session.cwd) not in str(to_json(other.turns[0]))
    assert Path(str(other.cwd), "new.txt").read_text() == "new\n"
    other.stop()
    assert "differs" not in other.stderr
    assert "left" not in other.stderr


def test_files_may_be_missing_where_it_is_played(bench: Bench, again: Callable[..., Session]) -> None:
    read = {"request": "fs/read_text_file", "params": {"path": "${cwd}/here.txt"}, "save": "file"}
    session = bench.session([read, {"text": "${file.content}"}])
    (bench.work / "here.txt").write_text("a word")
    session.run("Read.")
    other = again(session)
    assert other.run("Read.").text == "a word"
    other.stop()
    assert "differs, played on: line 8 of the log, fs/read_text_file: it was an answer, now" in other.stderr


def test_a_client_that_asks_something_else_is_told_where(bench: Bench, again: Callable[..., Session]) -> None:
    session = bench.session([{"text": "hello"}])
    session.run("Do this.")
    other = again(session)
    where = r"line 6 of the log, session/prompt: params.prompt\[0\].text was \"Do this.\", now it is \"Do t"
    with pytest.raises(RequestFailed, match=where):
        other.run("Do that.")
    with pytest.raises(RequestFailed, match=where):
        other.run("Do this.")
    other.stop()
    assert "replay: differs: line 6" in other.stderr


def test_a_person_who_decides_otherwise_is_told_where(bench: Bench, again: Callable[..., Session]) -> None:
    session = bench.session([ask({"title": "Write"}), {"text": "done"}])
    session.run("Do it.", policy="allow-once-all")
    other = again(session)
    with pytest.raises(RequestFailed, match=r"request_permission: result.outcome.optionId was \"yes\""):
        other.run("Do it.", policy="reject")
    assert other.turns[0].text == ""


def test_a_prompt_more_than_was_recorded(bench: Bench, again: Callable[..., Session]) -> None:
    session = bench.session([{"text": "hello"}])
    session.run("Do it.")
    other = again(session)
    other.run("Do it.")
    with pytest.raises(RequestFailed, match="the log has no more of this"):
        other.run("Do it.")


def test_an_answer_that_never_came_is_an_error(bench: Bench, again: Callable[..., Session]) -> None:
    session = bench.session([{"text": "hello"}, {"exit": 3}])
    with pytest.raises(AgentExited):
        session.run("Do it.")
    other = again(session)
    with pytest.raises(RequestFailed, match="the log ends before this was answered"):
        other.run("Do it.")
    assert other.turns[0].text == "hello"


def test_each_start_of_the_agent_is_a_connection_of_its_own(
    bench: Bench, again: Callable[..., Session]
) -> None:
    session = bench.session([{"report": "pid"}])
    first = session.run("Do it.")
    session.restart()
    second = session.run("Do it.")
    assert again(session, 2).run("Do it.").text == second.text != first.text


def test_a_long_session_goes_on_where_its_log_begins_again(
    bench: Bench, again: Callable[..., Session]
) -> None:
    session = bench.session({"turns": [[{"text": f"turn {n}"}] for n in range(4)]})
    session.frames._limit_count = 8
    for n in range(4):
        session.run(f"Do {n}.")
    other = again(session)
    assert [other.run(f"Do {n}.").text for n in (2, 3)] == ["turn 2", "turn 3"]
    with pytest.raises(RequestFailed, match="the log has no more of this"):
        other.run("Do 4.")


def test_what_was_redacted_may_be_anything(bench: Bench, again: Callable[..., Session]) -> None:
    session = bench.session([{"text": "hello"}], env={"MY_TOKEN": "planted-secret"})
    session.run("Use planted-secret, please.")
    assert again(session).run("Use another one, please.").text == "hello"


def test_a_file_that_is_no_log(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("no JSON\n")
    command = replay(tmp_path / "bad.jsonl")
    session = bench.of(AgentSpec(name="bad", command=command[0], args=tuple(command[1:])))
    with pytest.raises(AgentExited) as caught:
        session.run("Do it.")
    assert caught.value.exit_code == 2
    assert "bad.jsonl: line 1 is not JSON" in caught.value.stderr
