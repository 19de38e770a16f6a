"""Forms and addresses with a real agent: asked, validated, answered once, withdrawn, expired, declined."""

from __future__ import annotations

import json
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from acp_jupyter.errors import AgentExited, ElicitationClosed, UsageError, ValuesRefused
from acp_jupyter.model.redact import kept
from acp_jupyter.model.transcript import to_json
from acp_jupyter.session.agents import AgentSpec
from acp_jupyter.session.elicitation import OwnRequests

from .bench import TIMEOUT_S, Bench, finish, soon, until

if TYPE_CHECKING:
    from acp_jupyter.session.elicitation import PendingElicitation
    from acp_jupyter.session.session import Session

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2},
        "count": {"type": "integer", "minimum": 1, "default": 3},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
    },
    "required": ["name"],
}
FORM = {"mode": "form", "message": "Fill it in.", "requestedSchema": SCHEMA}
URL = {"mode": "url", "message": "Log in.", "url": "https://example.org/login", "elicitationId": "e-7"}
METHOD = "elicitation/create"


def elicit(params: dict[str, Any] = FORM, **more: Any) -> dict[str, Any]:
    return {"request": METHOD, "params": params, "save": "answer", **more}


def asked(session: Session, count: int = 1) -> list[PendingElicitation]:
    until(session, lambda: len(session.pending_elicitations) >= count)
    return session.pending_elicitations


def answers(bench: Bench) -> list[Any]:
    return [answer.get("result", answer.get("error")) for answer in bench.answers(METHOD)]


def codes(bench: Bench) -> list[Any]:
    return [answer.get("error", {}).get("code") for answer in bench.answers(METHOD)]


def test_c10_a_form_is_answered_with_its_values(bench: Bench) -> None:
    session = bench.session([elicit({**FORM, "toolCallId": "c1"})])
    with session.attended():
        run = session.start("go")
        (pending,) = asked(session)
        assert run.turn.state == "waiting"
        assert pending.message == "Fill it in."
        assert [field.name for field in pending.form.fields] == ["name", "count", "tags"]
        assert pending.elicitation.tool_call_id == "c1"
        pending.accept({"tags": ["b"]}, name="Ada", count=None)
        turn = finish(run)
    assert answers(bench) == [{"action": "accept", "content": {"name": "Ada", "tags": ["b"]}}]
    (node,) = turn.elicitations.values()
    assert (node.state, node.decided_by, node.content) == ("accepted", "you", {"name": "Ada", "tags": ["b"]})


def test_i5_and_c10_both_modes_are_offered(bench: Bench) -> None:
    session = bench.session([{"text": "hello"}])
    finish(session.start("go"))
    (hello,) = [frame for frame in bench.recorded() if frame.get("method") == "initialize"]
    assert hello["params"]["clientCapabilities"]["elicitation"] == {"form": {}, "url": {}}


def test_e2_values_that_do_not_fit_are_not_sent_and_it_stays_open(bench: Bench) -> None:
    session = bench.session([elicit()])
    with session.attended():
        run = session.start("go")
        (pending,) = asked(session)
        for values in ({}, {"name": "A"}, {"name": "Ada", "count": 0}, {"name": "Ada", "other": 1}):
            with pytest.raises(ValuesRefused) as refused:
                pending.accept(values)
            assert refused.value.faults == pending.elicitation.faults != {}
            assert session.pending_elicitations != []
        assert answers(bench) == []
        pending.accept(name="Ada")
        finish(run)
    assert answers(bench) == [{"action": "accept", "content": {"name": "Ada"}}]


@pytest.mark.parametrize(("how", "state"), [("decline", "declined"), ("cancel", "cancelled")])
def test_e6_no_is_decline_and_putting_it_away_is_cancel(bench: Bench, how: str, state: str) -> None:
    session = bench.session([elicit(), elicit(URL)])
    with session.attended():
        run = session.start("go")
        for _ in range(2):
            getattr(asked(session)[0], how)()
            until(session, lambda: run.turn.ended or session.pending_elicitations)
        turn = finish(run)
    assert answers(bench) == [{"action": how}] * 2
    assert [(one.state, one.decided_by) for one in turn.elicitations.values()] == [(state, "you")] * 2


def test_e6_and_c11_an_address_is_agreed_to_without_values_and_then_done(bench: Bench) -> None:
    done = {"notify": "elicitation/complete", "params": {"elicitationId": "e-7"}}
    unknown = {"notify": "elicitation/complete", "params": {"elicitationId": "unknown"}}
    session = bench.session([unknown, elicit(URL), unknown, done, done, {"text": "on"}])
    with session.attended():
        run = session.start("go")
        (pending,) = asked(session)
        assert pending.url == "https://example.org/login"
        with pytest.raises(UsageError, match="takes no values"):
            pending.accept(name="Ada")
        pending.accept()
        turn = finish(run)
    assert answers(bench) == [{"action": "accept"}]
    (node,) = turn.elicitations.values()
    assert (node.state, node.completed, node.content) == ("accepted", True, None)
    assert turn.text == "on"


def test_e9_several_are_open_at_once_and_each_is_answered_once(bench: Bench) -> None:
    several = [elicit(wait=False, save=f"a{n}", id=10 + n) for n in range(3)]
    session = bench.session([*several, *({"await": f"a{n}"} for n in range(3))])
    with session.attended():
        run = session.start("go")
        first, second, third = asked(session, 3)
        third.accept(name="Ada")
        first.decline()
        second.cancel()
        for late in (lambda: third.accept(name="Bob"), third.decline, third.cancel):
            with pytest.raises(ElicitationClosed):
                late()
        session.elicit(third.key, "decline", None)  # a click: ignored
        session.decline_unasked(third.key)
        turn = finish(run)
    replies = {reply["id"]: reply["result"]["action"] for reply in bench.answers(METHOD)}
    assert replies == {10: "decline", 11: "cancel", 12: "accept"}
    assert len(bench.answers(METHOD)) == 3
    assert turn.notes == []


def test_e9_of_two_threads_one_answers(bench: Bench) -> None:
    session = bench.session([elicit()])
    lost: list[Exception] = []
    with session.attended():
        run = session.start("go")
        (pending,) = asked(session)
        start = threading.Barrier(6)

        def click(number: int) -> None:
            start.wait()
            try:
                pending.accept(name="Ada") if number % 2 else pending.decline()
            except ElicitationClosed as error:
                lost.append(error)

        threads = [threading.Thread(target=click, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(TIMEOUT_S)
        finish(run)
    assert len(lost) == 5
    assert len(answers(bench)) == 1


@pytest.mark.parametrize("params", [FORM, URL], ids=["form", "url"])
@pytest.mark.parametrize("policy", ["ask", "reject", "read", "edits", "allow-once-all"])
def test_e6_where_nobody_can_be_asked_it_is_declined_whatever_the_policy(
    bench: Bench, policy: str, params: dict[str, Any]
) -> None:
    session = bench.session([elicit(params), {"text": "on"}])
    turn = finish(session.start("go", policy=policy))
    assert answers(bench) == [{"action": "decline"}]
    (node,) = turn.elicitations.values()
    assert (node.state, node.decided_by) == ("declined", "nobody")
    assert [note.severity for note in turn.notes] == ["warning"]
    assert "nobody could be asked" in turn.notes[0].text
    assert turn.text == "on"


def test_e6_no_policy_answers_for_a_person(bench: Bench) -> None:
    session = bench.session([elicit()])
    with session.attended():
        run = session.start("go", policy="allow-once-all")
        (pending,) = asked(session)
        pending.decline()
        finish(run)
    assert answers(bench) == [{"action": "decline"}]


def test_e9_a_cancelled_turn_answers_cancel_and_so_does_what_comes_after(bench: Bench) -> None:
    session = bench.session([elicit(), elicit()])
    with session.attended():
        run = session.start("go")
        (pending,) = asked(session)
        run.cancel()
        turn = finish(run)
    assert answers(bench)[0] == {"action": "cancel"}
    assert set(map(str, answers(bench))) == {str({"action": "cancel"})}
    assert pending.elicitation.state == "cancelled"
    assert pending.elicitation.decided_by == "turn"
    assert turn.state == "cancelled"
    with pytest.raises(ElicitationClosed):
        pending.accept(name="Ada")


def test_e9_the_end_of_the_turn_answers_cancel(bench: Bench) -> None:
    session = bench.session([elicit(wait=False)])
    with session.attended():
        turn = finish(session.start("go"))
        until(session, lambda: not session.pending_elicitations)
    (node,) = turn.elicitations.values()
    assert (node.state, node.decided_by) == ("cancelled", "turn")


def test_e9_and_t7_a_dead_agent_leaves_nothing_open(bench: Bench) -> None:
    session = bench.session(
        [elicit(wait=False), {"text": "dying"}, {"until_file": str(bench.folder / "go")}, {"exit": 3}]
    )
    with session.attended():
        run = session.start("go")
        (pending,) = asked(session)
        (bench.folder / "go").touch()
        with pytest.raises(AgentExited):
            finish(run)
        assert pending.elicitation.state == "cancelled"
        with pytest.raises(ElicitationClosed):
            pending.decline()
    assert session.pending_elicitations == []


def test_e9_and_a14_a_withdrawn_request_is_answered_all_the_same(bench: Bench) -> None:
    script = [
        elicit(wait=False),
        {"until_file": str(bench.folder / "go")},
        {"withdraw": "answer"},
        {"await": "answer"},
    ]
    session = bench.session(script)
    with session.attended():
        run = session.start("go")
        (pending,) = asked(session)
        (bench.folder / "go").touch()
        finish(run)
    assert answers(bench) == [{"action": "cancel"}]
    assert (pending.elicitation.state, pending.elicitation.decided_by) == ("cancelled", "agent")


@pytest.mark.parametrize(
    "params",
    [
        {"mode": "form", "message": "m"},
        {"mode": "form", "message": "m", "requestedSchema": []},
        {"mode": "url", "message": "m", "url": "https://example.org/"},
        {"mode": "url", "message": "m", "elicitationId": "e"},
        {"mode": "url", "message": "m", "elicitationId": 7, "url": "https://example.org/"},
        {**URL, "url": "javascript:alert(1)"},
        {**URL, "url": "file:///etc/passwd"},
        {**URL, "url": "https://good.example\\@evil.example/"},
        {"mode": "_voice", "message": "m"},
        {"mode": "form", "requestedSchema": SCHEMA},
        {**FORM, "sessionId": None},
        {**FORM, "sessionId": None, "requestId": 99},
        {**FORM, "sessionId": None, "requestId": True},
        {**FORM, "sessionId": None, "requestId": "9" * 5000},
        {**FORM, "sessionId": None, "requestId": {}},
    ],
    ids=lambda params: str(params)[:60],
)
def test_e7_and_e8_what_is_malformed_or_belongs_to_nothing_is_refused(
    bench: Bench, params: dict[str, Any]
) -> None:
    session = bench.session([elicit(params), {"text": "on"}])
    with session.attended():
        turn = finish(session.start("go"))
    assert codes(bench) == [-32602]
    assert turn.elicitations == {}
    assert turn.text == "on"


def test_e4_an_address_that_was_refused_is_told(bench: Bench) -> None:
    session = bench.session([elicit({**URL, "url": "javascript:alert(1)"})])
    with session.attended():
        turn = finish(session.start("go"))
    assert ["no plain web address" in note.text for note in turn.notes] == [True]


@pytest.mark.parametrize("as_text", [False, True])
def test_e8_a_form_on_behalf_of_our_own_request(bench: Bench, *, as_text: bool) -> None:
    """Of the prompt itself here: any request of ours that is open will do."""
    request_id: Any = "${prompt_id}" if as_text else {"$": "prompt_id"}
    session = bench.session([elicit({**FORM, "sessionId": None, "requestId": request_id})])
    with session.attended():
        run = session.start("go")
        (pending,) = asked(session)
        assert list(run.turn.elicitations) == [pending.key]
        pending.accept(name="Ada")
        finish(run)
    assert [answer["action"] for answer in answers(bench)] == ["accept"]


def test_e8_which_requests_are_ours_and_open() -> None:
    ours = OwnRequests()
    ours.see("out", {"id": 0, "method": "initialize"})
    ours.see("out", {"id": 1, "method": "session/new"})
    ours.see("out", {"method": "session/cancel"})
    ours.see(
        "in", {"id": 1, "method": "session/request_permission"}
    )  # the agent's own ids are another matter
    ours.see("out", {"id": 5, "result": {}})
    ours.see("in", "noise")
    assert [ours.is_open(one) for one in (0, 1, "1", 5, 2, True, None, 1.5, [], "9" * 5000)] == [True] * 3 + [
        False
    ] * 7
    ours.see("in", {"id": "1", "result": {}})
    ours.see("in", {"id": [], "result": {}})
    assert (ours.is_open(1), ours.is_open(0)) == (False, True)
    ours.see("out", {"id": 0, "method": "initialize"})
    ours.see("in", {"id": 0, "error": {}})
    assert not ours.is_open(0)


def test_e2_what_was_typed_into_a_secret_field_is_taken_out_of_the_log(bench: Bench) -> None:
    schema = {"properties": {"api_key": {"type": "string"}, "name": {"type": "string"}}}
    session = bench.session([elicit({**FORM, "requestedSchema": schema}), {"text": "it is planted-value"}])
    with session.attended():
        run = session.start("go")
        (pending,) = asked(session)
        pending.accept(api_key="planted-value", name="Ada Lovelace")
        turn = finish(run)
    log = session.redactor.text(str([frame.message for frame in session.frames]))
    assert "planted-value" not in log
    assert "Ada Lovelace" in log
    assert "planted-value" not in str(to_json(kept(turn, session.redactor, None)))


# An agent that asks while it is asked itself: before it answers a request of one method.
ASKS_FIRST = """
import json, sys
when, params = sys.argv[1], json.loads(sys.argv[2])
def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def results(message):
    if message["method"] == "initialize":
        return {"protocolVersion": 1, "authMethods": [{"id": "web", "name": "Web"}]}
    if message["method"] == "session/prompt":
        return {"stopReason": "end_turn"}
    return {"sessionId": "s1"} if message["method"] == "session/new" else {}
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == when:
        send({"id": "ask", "method": "elicitation/create", "params": {**params, "requestId": message["id"]}})
        print(json.loads(sys.stdin.readline())["result"]["action"], file=sys.stderr, flush=True)
    if "id" in message and "method" in message:
        send({"id": message["id"], "result": results(message)})
"""


def asks_first(bench: Bench, when: str) -> Session:
    args = ("-c", ASKS_FIRST, when, json.dumps(URL))
    return bench.of(AgentSpec(name="asks", command=sys.executable, args=args))


def test_e8_a_session_that_is_only_being_made_asks_in_the_turn_that_makes_it(bench: Bench) -> None:
    session = asks_first(bench, "session/new")
    with session.attended():
        run = session.start("go")
        (pending,) = asked(session)
        assert list(run.turn.elicitations) == [pending.key]
        pending.accept()
        finish(run)
    assert session.stderr.split() == ["accept"]


def test_e8_a_log_in_outside_of_any_turn_is_declined_where_nobody_attends(bench: Bench) -> None:
    session = asks_first(bench, "authenticate")
    session.login("web")
    assert session.stderr.split() == ["decline"]
    assert session.pending_elicitations == []


def test_e8_a_log_in_that_is_attended_waits_for_an_answer(bench: Bench) -> None:
    session = asks_first(bench, "authenticate")

    def log_in() -> None:
        with session.attended():
            session.login("web")

    thread = threading.Thread(target=log_in)
    thread.start()
    soon(lambda: session.pending_elicitations)
    (pending,) = session.pending_elicitations
    assert pending.url == URL["url"]
    pending.accept()
    thread.join(TIMEOUT_S)
    assert not thread.is_alive()
    assert session.stderr.split() == ["accept"]
    assert session.turns == []


def test_e1_the_pending_one_says_what_it_is(bench: Bench) -> None:
    session = bench.session(
        [elicit(wait=False), elicit(URL, save="b", wait=False), {"await": "answer"}, {"await": "b"}]
    )
    with session.attended():
        run = session.start("go")
        form, address = asked(session, 2)
        assert repr(form) == f"<PendingElicitation {form.key}: form; name, count, tags>"
        assert repr(address) == f"<PendingElicitation {address.key}: url; https://example.org/login>"
        form.decline()
        address.decline()
        finish(run)
