"""Several sessions on one agent: each gets its own messages, and ends alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from acp_jupyter import errors
from acp_jupyter.session.agents import AgentSpec
from acp_jupyter.session.host import Host
from acp_jupyter.session.session import Session
from acp_jupyter.testing import script_command

from .bench import TIMEOUT_S, Bench, alive, ask, asked, begun, gone


class Shared:
    """A host, and sessions on it; all in the bench's directory and on its loop."""

    def __init__(self, bench: Bench, script: Any) -> None:
        self.bench = bench
        command = script_command(script, bench.folder / "shared.json")
        args = (*command[1:], "--record", str(bench.record_of(0)))
        self.spec = AgentSpec(name="shared", command=command[0], args=args)
        self.host = Host(self.spec, watcher=bench.watcher, start_s=TIMEOUT_S, shared=True)

    def session(self) -> Session:
        session = Session(self.spec, loop=self.bench.loop, watcher=self.bench.watcher, host=self.host)
        session.set_roots(str(self.bench.work), ())
        self.bench.sessions.append(session)
        return session

    def sent(self, method: str) -> list[dict[str, Any]]:
        return [frame for frame in self.bench.recorded() if frame.get("method") == method]

    def close(self) -> None:
        self.bench.loop.run(self.host.close())


@pytest.fixture
def hosts(bench: Bench) -> Iterator[list[Shared]]:
    made: list[Shared] = []
    yield made
    for shared in made:
        assert shared.bench is bench  # closed before the loop of the bench is
        shared.close()


def shared_by(hosts: list[Shared], bench: Bench, script: Any) -> Shared:
    hosts.append(Shared(bench, script))
    return hosts[-1]


def test_two_sessions_share_a_process_and_each_hears_its_own(bench: Bench, hosts: list[Shared]) -> None:
    go = bench.folder / "go"
    script = [{"text": "of "}, {"until_file": str(go)}, {"text": "${session_id}"}]
    shared = shared_by(hosts, bench, script)
    sessions = [shared.session() for _ in range(5)]
    runs = [session.start("Which session are you?") for session in sessions]
    for session, run in zip(sessions, runs, strict=True):
        begun(session, run)  # all of them are under way at once
    go.touch()
    texts = [run.result(TIMEOUT_S).text for run in runs]
    assert texts == [f"of {session.session_id}" for session in sessions]
    assert len(set(texts)) == 5
    assert len({session.pid for session in sessions}) == 1
    assert len(shared.sent("initialize")) == 1


def test_updates_before_the_answer_to_session_new_are_not_lost(bench: Bench, hosts: list[Shared]) -> None:
    commands = [{"name": "plan", "description": "${session_id}"}]
    early = {"update": {"sessionUpdate": "available_commands_update", "availableCommands": commands}}
    shared = shared_by(hosts, bench, {"before_new_session": [early], "turns": [[{"text": "done"}]]})
    sessions = [shared.session() for _ in range(2)]
    for run in [session.start("Begin.") for session in sessions]:
        run.result(TIMEOUT_S)
    told = [session.commands[0]["description"] for session in sessions]
    assert told == [session.session_id for session in sessions]


def test_what_names_no_session_of_ours_is_ignored_and_noted(bench: Bench, hosts: list[Shared]) -> None:
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "of nobody"}}
    stray = {"notify": "session/update", "params": {"sessionId": "nobody's", "update": chunk}}
    shared = shared_by(hosts, bench, [stray, {"text": "mine"}])
    session = shared.session()
    turn = session.run("Begin.")
    assert turn.text == "mine"
    assert ["no session of ours" in line for line in session.ignored] == [True]


def test_a_request_for_no_session_of_ours_is_refused(bench: Bench, hosts: list[Shared]) -> None:
    stray = {**ask({}), "params": {**ask({})["params"], "sessionId": "nobody's"}}
    shared = shared_by(hosts, bench, [stray, {"text": "on"}])
    assert shared.session().run("Begin.").text == "on"
    [answer] = bench.answers("session/request_permission")
    assert (answer["error"]["code"], answer["error"]["message"]) == (-32602, "no session of ours")


def test_requests_wait_in_their_own_session(bench: Bench, hosts: list[Shared]) -> None:
    shared = shared_by(hosts, bench, [ask({}), {"text": "${answer.outcome.optionId}"}])
    first, second = shared.session(), shared.session()
    with first.attended(), second.attended():
        runs = [first.start("One."), second.start("Two.")]
        for session in (first, second):
            asked(session)
        assert [len(first.pending), len(second.pending)] == [1, 1]
        second.pending[0].select("no")
        first.pending[0].select("yes")
        assert [run.result(TIMEOUT_S).text for run in runs] == ["yes", "no"]


def test_a_session_that_ends_leaves_the_process_to_the_others(bench: Bench, hosts: list[Shared]) -> None:
    capable = {"agentCapabilities": {"sessionCapabilities": {"close": {}}}}
    script = {"initialize": capable, "methods": {"session/close": {}}, "turns": [[{"report": "pid"}]]}
    shared = shared_by(hosts, bench, script)
    first, second = shared.session(), shared.session()
    pid = int(first.run("Begin.").text)
    second.run("Begin.")
    first.stop()
    assert [frame["params"]["sessionId"] for frame in shared.sent("session/close")] == [first.session_id]
    assert alive(pid)
    assert int(second.run("Go on.").text) == pid
    shared.close()
    assert gone(pid)


def test_a_turn_under_way_is_cancelled_when_its_session_ends(bench: Bench, hosts: list[Shared]) -> None:
    shared = shared_by(hosts, bench, [{"text": "working"}, {"until_cancel": True}])
    first, second = shared.session(), shared.session()
    run, other = first.start("Begin."), second.start("Begin.")
    begun(first, run)
    begun(second, other)
    first.stop()
    assert run.result(TIMEOUT_S).cancel_requested
    assert not other.done()
    other.cancel()
    assert other.result(TIMEOUT_S).stop_reason == "cancelled"
    cancelled = [frame["params"]["sessionId"] for frame in shared.sent("session/cancel")]
    assert cancelled == [first.session_id, second.session_id]  # by now the agent has read both


def test_an_agent_that_died_fails_each_turn_and_is_started_once(bench: Bench, hosts: list[Shared]) -> None:
    die = bench.folder / "die"
    fatal = [{"text": "x"}, {"until_file": str(die)}, {"exit": 3}]
    shared = shared_by(hosts, bench, {"turns": [fatal]})
    sessions = [shared.session(), shared.session()]
    runs = [session.start("Begin.") for session in sessions]
    for session, run in zip(sessions, runs, strict=True):
        begun(session, run)
    before = sessions[0].pid
    die.touch()
    for run in runs:
        with pytest.raises(errors.AgentExited):
            run.result(TIMEOUT_S)
    die.unlink()
    again = [session.start("Again.") for session in sessions]
    for session, run in zip(sessions, again, strict=True):
        begun(session, run)
    assert len({session.pid for session in sessions} - {before}) == 1
    assert len(shared.sent("initialize")) == 2
    for run in again:
        assert ["it does not know what was said before" in note.text for note in run.turn.notes] == [True]
    die.touch()
    for run in again:
        with pytest.raises(errors.AgentExited):
            run.result(TIMEOUT_S)


def test_a_session_that_is_refused_costs_no_other(bench: Bench, hosts: list[Shared]) -> None:
    answers = [{}, {"error": {"code": -32603, "message": "too many"}}]
    shared = shared_by(hosts, bench, {"new_session": answers, "turns": [[{"report": "pid"}]]})
    first, second = shared.session(), shared.session()
    pid = first.run("Begin.").text
    with pytest.raises(errors.RequestFailed, match="too many"):
        second.run("Begin.")
    assert first.run("Go on.").text == pid
