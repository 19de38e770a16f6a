"""Permission requests with a real agent: asked, answered once, withdrawn, expired."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from acp_jupyter.errors import AgentExited, PermissionClosed, UsageError
from acp_jupyter.views.text import turn_text

from .bench import OPTIONS, TIMEOUT_S, Bench, ask, asked, finish, soon, until

CANCELLED = {"outcome": {"outcome": "cancelled"}}
SAY = {"text": "${answer}"}


def selected(option_id: str) -> dict[str, Any]:
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


def outcomes(bench: Bench) -> list[Any]:
    return [
        answer.get("result", answer.get("error")) for answer in bench.answers("session/request_permission")
    ]


def test_r09_several_at_once_are_answered_in_any_order(bench: Bench) -> None:
    several = [ask({"toolCallId": f"c{n}"}, wait=False, save=f"a{n}", id=10 + n) for n in range(3)]
    session = bench.session([*several, *({"await": f"a{n}"} for n in range(3))])
    with session.attended():
        run = session.start("go")
        asked(session, 3)
        assert run.turn.state == "waiting"
        third, first, second = (session.pending[n] for n in (2, 0, 1))
        third.select("yes")
        first.reject()
        second.cancel()
        turn = finish(run)
    replies = {reply["id"]: reply["result"] for reply in bench.answers("session/request_permission")}
    assert replies == {10: selected("no"), 11: CANCELLED, 12: selected("yes")}
    assert [reply["id"] for reply in bench.answers("session/request_permission")] == [12, 10, 11]
    assert [permission.decided_by for permission in turn.permissions.values()] == ["you"] * 3
    assert [permission.tool_call_id for permission in turn.rejected] == ["c0", "c1"]


def test_r10_two_requests_for_one_call_are_two(bench: Bench) -> None:
    script = [
        ask({}, wait=False, save="a", id="x"),
        ask({}, wait=False, save="b", id="y"),
        {"await": "a"},
        {"await": "b"},
    ]
    session = bench.session(script)
    with session.attended():
        run = session.start("go")
        asked(session, 2)
        second, first = session.pending[1], session.pending[0]
        second.select("yes")
        first.select("no")
        turn = finish(run)
    replies = {reply["id"]: reply["result"] for reply in bench.answers("session/request_permission")}
    assert replies == {"x": selected("no"), "y": selected("yes")}
    assert len(turn.tool_calls) == 1


def test_u01_the_second_decision_is_too_late_and_one_reply_is_sent(bench: Bench) -> None:
    session = bench.session([ask({}), {"until_file": str(bench.folder / "go")}])
    with session.attended():
        run = session.start("go")
        asked(session)
        pending = session.pending[0]
        pending.select("yes")
        for late in (lambda: pending.select("no"), pending.reject, pending.cancel, pending.allow_once):
            with pytest.raises(PermissionClosed):
                late()
        session.decide(pending.key, "no")  # a click: ignored
        session.reject_unasked(pending.key)
        (bench.folder / "go").touch()
        finish(run)
    assert outcomes(bench) == [selected("yes")]
    assert session.pending == []


def test_u01_two_threads_decide_at_once(bench: Bench) -> None:
    session = bench.session([ask({})])
    lost: list[Exception] = []
    with session.attended():
        run = session.start("go")
        asked(session)
        pending = session.pending[0]
        start = threading.Barrier(8)

        def click(option_id: str) -> None:
            start.wait()
            try:
                pending.select(option_id)
            except PermissionClosed as error:
                lost.append(error)

        threads = [threading.Thread(target=click, args=(("yes", "no")[n % 2],)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(TIMEOUT_S)
        finish(run)
    assert len(lost) == 7
    assert len(outcomes(bench)) == 1


def test_what_was_not_offered_cannot_be_selected(bench: Bench) -> None:
    session = bench.session([ask({})])
    with session.attended():
        run = session.start("go")
        asked(session)
        pending = session.pending[0]
        with pytest.raises(UsageError, match="yes, always, no"):
            pending.select("maybe")
        session.decide(pending.key, "maybe")
        session.decide("p99", "yes")
        pending.allow_once()
        finish(run)
    assert outcomes(bench) == [selected("yes")]


@pytest.mark.parametrize(
    "options",
    [[OPTIONS[1]], [OPTIONS[0], {**OPTIONS[0], "optionId": "also"}], []],
    ids=["U15-only-always", "U03-two", "U05-none"],
)
def test_allow_once_is_refused_where_it_is_not_plain(bench: Bench, options: list[Any]) -> None:
    session = bench.session([ask({}, options)])
    with session.attended():
        run = session.start("go")
        asked(session)
        with pytest.raises(UsageError, match="options of kind allow_once"):
            session.pending[0].allow_once()
        session.pending[0].reject()
        finish(run)
    assert outcomes(bench) == [CANCELLED]


def test_u03_three_of_a_kind_stay_three_and_no_policy_picks_one(bench: Bench) -> None:
    three = [{"optionId": name.lower(), "name": name, "kind": "allow_once"} for name in "ABC"]
    session = bench.session([ask({}, three)])
    with session.attended():
        run = session.start("go", policy="allow-once-all")
        (permission,) = asked(session)
        assert [(one.option_id, one.name) for one in permission.offered] == [
            ("a", "A"),
            ("b", "B"),
            ("c", "C"),
        ]
        session.decide(permission.key, "b")
        turn = finish(run)
    assert outcomes(bench) == [selected("b")]
    assert [one.decided_by for one in turn.permissions.values()] == ["you"]


def test_u05_without_options_a_person_can_say_no(bench: Bench) -> None:
    session = bench.session([ask({}, [])])
    with session.attended():
        run = session.start("go")
        (permission,) = asked(session)
        session.decide(permission.key, None)  # the card's own button
        turn = finish(run)
    assert outcomes(bench) == [CANCELLED]
    assert [(one.state, one.decided_by) for one in turn.permissions.values()] == [("cancelled", "you")]


def test_u15_and_u18_always_is_sent_as_it_is_and_is_the_agents_to_remember(bench: Bench) -> None:
    always = [OPTIONS[1], OPTIONS[2]]
    session = bench.session(
        [ask({"kind": "execute"}, always), ask({"toolCallId": "c2", "kind": "execute"}, always)]
    )
    with session.attended():
        run = session.start("go")
        (first,) = asked(session)
        session.decide(first.key, "always")
        until(session, lambda: first.state != "open")
        (second,) = asked(session)  # what it was told is the agent's affair: we answer nothing by ourselves
        assert second is not first
        session.decide(second.key, "no")
        turn = finish(run)
    assert outcomes(bench) == [selected("always"), selected("no")]
    text = turn_text(turn)
    assert "Allowed, remembered by the agent, by you at" in text
    assert turn_text(turn).count("Rejected by you at") == 1


@pytest.mark.parametrize("how", ["cancel", "end"])
def test_u02_a_click_that_comes_too_late_is_answered_by_nothing(bench: Bench, how: str) -> None:
    go = str(bench.folder / "go")
    session = bench.session([ask({}, wait=False), {"until_file": go}, {"end": {}}, {"await": "answer"}])
    with session.attended():
        run = session.start("go")
        (permission,) = asked(session)
        if how == "cancel":
            run.cancel()
        (bench.folder / "go").touch()
        finish(run)
        until(session, lambda: permission.state != "open")
        session.decide(permission.key, "yes")
        session.decide(permission.key, None)
        session.reject_unasked(permission.key)
    soon(lambda: outcomes(bench))  # the agent notes it after the turn's end
    assert outcomes(bench) == [CANCELLED]
    assert (permission.state, permission.decided_by) == ("cancelled", "turn")
    assert "Not answered: the turn was over at" in turn_text(run.turn)


def test_u06_an_unknown_kind_and_malformed_options_cost_only_themselves(bench: Bench) -> None:
    bench.may_complain = True  # it counts what it offered by ids, which these lack
    odd: list[Any] = [
        "odd",
        {"name": "No id"},
        {"optionId": 7, "name": "A number", "kind": "allow_once"},
        None,
    ]
    kept = [*OPTIONS, {"optionId": "keep", "name": "Keep", "kind": "allow_persistent"}, {"optionId": "bare"}]
    session = bench.session([ask({}, [*odd, *kept])])
    with session.attended():
        run = session.start("go")
        asked(session)
        assert [(option.option_id, option.kind) for option in session.pending[0].options] == [
            ("yes", "allow_once"),
            ("always", "allow_always"),
            ("no", "reject_once"),
            ("keep", "allow_persistent"),
            ("bare", ""),
        ]
        session.pending[0].select("keep")
        turn = finish(run)
    assert outcomes(bench) == [selected("keep")]
    assert turn.rejected  # what an unknown kind means is not ours to say


def test_r07_a_call_never_announced_gets_its_card_from_the_request(bench: Bench) -> None:
    later = {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"}
    session = bench.session([ask({"kind": "execute", "rawInput": {"command": "ls"}}), {"update": later}])
    with session.attended():
        run = session.start("go")
        asked(session)
        assert session.pending[0].tool_call.raw_input == {"command": "ls"}
        session.pending[0].allow_once()
        turn = finish(run)
    assert [(call.kind, call.status) for call in turn.tool_calls] == [("execute", "completed")]


@pytest.mark.parametrize("tool_call_id", [None, {}, [1], 7, "", False])
def test_a_request_with_an_odd_id_is_asked_all_the_same(bench: Bench, tool_call_id: Any) -> None:
    session = bench.session([ask({"toolCallId": tool_call_id, "kind": "read"})])
    with session.attended():
        run = session.start("go")
        asked(session)
        assert session.pending[0].tool_call.kind == "read"
        session.pending[0].allow_once()
        finish(run)
    assert outcomes(bench) == [selected("yes")]


def test_p7_a_bare_request_is_judged_by_what_the_call_said_before(bench: Bench) -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "x", "kind": "read"}
    place = {"locations": [{"path": str(bench.work / "a")}]}
    bare = {
        "request": "session/request_permission",
        "params": {"toolCall": {"toolCallId": "c1"}, "options": OPTIONS},
    }
    turns = [
        [{"update": {**call, **place}}, bare],
        [{"update": {**call, "rawInput": {"command": "ls"}}}, bare],
    ]
    session = bench.session({"turns": turns})
    first = session.run("one", policy="read")
    second = session.run("two", policy="read")
    assert outcomes(bench) == [selected("yes"), selected("no")]
    assert [p.decided_by for turn in (first, second) for p in turn.permissions.values()] == [
        "policy",
        "nobody",
    ]


def test_a_request_about_an_earlier_turns_call_is_asked_in_this_one(bench: Bench) -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "x", "kind": "other"}
    session = bench.session({"turns": [[{"update": call}], [ask({})]]})
    first = session.run("one")
    with session.attended():
        run = session.start("two")
        asked(session)
        assert run.turn.state == "waiting"
        assert session.pending[0].tool_call is first.tool_calls["c1"]
        session.pending[0].allow_once()
        finish(run)
    assert outcomes(bench) == [selected("yes")]


@pytest.mark.parametrize(("policy", "option_id"), [("allow-once-all", "yes"), ("reject", "no")])
def test_a_policy_allows_no_call_of_an_earlier_turn(bench: Bench, policy: str, option_id: str) -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "x", "kind": "execute"}
    session = bench.session({"turns": [[{"update": call}], [ask({})], [ask({"toolCallId": "c3"})]]})
    session.run("one")
    with session.attended():
        run = session.start("two", policy=policy)
        if policy != "reject":
            asked(session)
            session.pending[0].allow_once()
        turn = finish(run)
    session.run("three", policy=policy)
    assert outcomes(bench) == [selected(option_id)] * 2
    by = "policy" if policy == "reject" else "you"
    assert [permission.decided_by for permission in turn.permissions.values()] == [by]


def test_a_call_announced_again_is_this_turns_own(bench: Bench) -> None:
    call = {"update": {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "x", "kind": "execute"}}
    session = bench.session({"turns": [[call], [call, ask({})]]})
    session.run("one")
    turn = session.run("two", policy="allow-once-all")
    assert [permission.decided_by for permission in turn.permissions.values()] == ["policy"]


def test_no_policy_is_advised_for_a_call_of_an_earlier_turn(bench: Bench) -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "x", "kind": "execute"}
    session = bench.session({"turns": [[{"update": call}], [ask({})]]})
    session.run("one")
    turn = session.run("two", policy="allow-once-all")
    (permission,) = turn.permissions.values()
    assert (permission.option_id, permission.decided_by) == ("no", "nobody")
    assert permission.reason == "no policy would allow it"


def test_who_attends_one_turn_does_not_attend_another(bench: Bench) -> None:
    go = str(bench.folder / "go")
    session = bench.session({"turns": [[{"text": "x"}, {"until_file": go}, ask({})], [ask({})]]})
    one = session.start("one")
    with session.attended():
        two = session.start("two")  # it waits for the first
        (bench.folder / "go").touch()
        finish(one)
        asked(session)
        session.pending[0].allow_once()
        finish(two)
    assert [p.decided_by for turn in (one.turn, two.turn) for p in turn.permissions.values()] == [
        "nobody",
        "you",
    ]


def test_attendance_ends_with_the_block_and_is_no_other_threads(bench: Bench) -> None:
    session = bench.session({"turns": [[{"until_file": str(bench.folder / "go")}, ask({})], [ask({})]]})
    with session.attended():
        left = session.start("one")
        thread = threading.Thread(target=session.start, args=["two"])
        thread.start()
        thread.join()
    (bench.folder / "go").touch()
    finish(left)
    until(session, lambda: len(session.turns) > 1 and session.turns[1].ended)
    assert [p.decided_by for turn in session.turns for p in turn.permissions.values()] == ["nobody"] * 2


def test_p1_and_r11_a_cancel_answers_what_is_open_and_r12_what_comes_after_it(bench: Bench) -> None:
    late = [
        {"ignore_cancel": True},
        ask({}, wait=False, save="a"),
        {"until_cancel": 1},
        {"await": "a"},
        ask({}),
        SAY,
    ]
    session = bench.session([*late, {"end": {"stopReason": "cancelled"}}])
    with session.attended():
        run = session.start("go")
        asked(session)
        run.cancel()
        turn = finish(run)
    assert outcomes(bench) == [CANCELLED, CANCELLED]
    assert [(p.state, p.decided_by) for p in turn.permissions.values()] == [("cancelled", "turn")] * 2
    assert turn.state == "cancelled"
    frames = bench.recorded()
    cancel = next(n for n, frame in enumerate(frames) if frame.get("method") == "session/cancel")
    assert len([frame for frame in frames[cancel - 1 :] if frame.get("result") == CANCELLED]) == 2


def test_p2_a_withdrawn_request_is_answered_and_closed(bench: Bench) -> None:
    go = str(bench.folder / "go")
    steps = [ask({}, wait=False), {"until_file": go}, {"withdraw": "answer"}, {"await": "answer"}, SAY]
    session = bench.session(steps)
    with session.attended():
        run = session.start("go")
        asked(session)
        pending = session.pending[0]
        (bench.folder / "go").touch()
        turn = finish(run)
        with pytest.raises(PermissionClosed):
            pending.select("yes")
    assert outcomes(bench) == [CANCELLED]
    assert [(p.state, p.decided_by) for p in turn.permissions.values()] == [("cancelled", "agent")]


def test_u02_an_agent_that_dies_closes_its_request(bench: Bench) -> None:
    go = str(bench.folder / "go")
    session = bench.session([ask({}, wait=False), {"until_file": go}, {"exit": 3}])
    with session.attended():
        run = session.start("go")
        asked(session)
        pending = session.pending[0]
        (bench.folder / "go").touch()
        with pytest.raises(AgentExited):
            finish(run)
        with pytest.raises(PermissionClosed):
            pending.select("yes")
    assert session.pending == []
    assert run.turn.permissions[pending.key].decided_by == "agent"


def test_u02_a_request_left_open_at_the_turns_end_expires(bench: Bench) -> None:
    session = bench.session(
        [ask({}, wait=False), {"until_file": str(bench.folder / "go")}, {"end": {}}, {"await": "answer"}]
    )
    with session.attended():
        run = session.start("go")
        asked(session)
        (bench.folder / "go").touch()
        turn = finish(run)
        until(session, lambda: not session.pending)
    assert [(p.state, p.decided_by) for p in turn.permissions.values()] == [("cancelled", "turn")]


@pytest.mark.parametrize(
    ("tool_call", "words"),
    [
        ({"kind": "execute"}, "--approve allow-once-all, which allows everything: for throw-away copies"),
        ({"kind": "read", "locations": "HERE"}, "--approve read"),
    ],
)
def test_n12_where_nobody_can_be_asked_it_is_rejected_and_says_what_would_allow_it(
    bench: Bench, tool_call: Any, words: str
) -> None:
    if tool_call.get("locations"):
        tool_call = {**tool_call, "locations": [{"path": str(bench.work)}]}
    session = bench.session([ask(tool_call)])
    turn = session.run("go")
    (permission,) = turn.permissions.values()
    assert (permission.option_id, permission.decided_by) == ("no", "nobody")
    assert words in str(permission.reason)
    assert outcomes(bench) == [selected("no")]


def test_n12_nobody_and_nothing_that_would_allow_it(bench: Bench) -> None:
    session = bench.session([ask({}, [OPTIONS[1]])])
    turn = session.run("go")
    (permission,) = turn.permissions.values()
    assert (permission.state, permission.decided_by) == ("cancelled", "nobody")
    assert "no policy" in str(permission.reason)
    assert outcomes(bench) == [CANCELLED]


@pytest.mark.parametrize(("policy", "option_id"), [("allow-once-all", "yes"), ("reject", "no")])
def test_a_policy_answers_without_a_person(bench: Bench, policy: str, option_id: str) -> None:
    session = bench.session([ask({"kind": "execute", "rawInput": {"command": "\0 rm"}})])
    with session.attended():
        turn = session.run("go", policy=policy)
    (permission,) = turn.permissions.values()
    assert (permission.option_id, permission.decided_by) == (option_id, "policy")
    assert policy in str(permission.reason)
    assert outcomes(bench) == [selected(option_id)]


def test_the_policy_is_the_turns_own(bench: Bench) -> None:
    session = bench.session([ask({})])
    session.run("one", policy="allow-once-all")
    session.run("two")
    session.policy = "reject"
    session.run("three")
    assert [turn.policy for turn in session.turns] == ["allow-once-all", "ask", "reject"]
    assert outcomes(bench) == [selected("yes"), selected("no"), selected("no")]
    with pytest.raises(UsageError, match="no policy"):
        session.start("four", policy="yes-to-all")


def test_r33_a_child_sessions_request_is_answered_too(bench: Bench) -> None:
    request = ask({})
    request["params"]["sessionId"] = "child"
    session = bench.session([request])
    turn = session.run("go", policy="allow-once-all")
    assert outcomes(bench) == [selected("yes")]
    assert len(turn.permissions) == 1


def test_before_any_turn_nobody_is_asked(bench: Bench) -> None:
    session = bench.session({"start": [], "before_new_session": [ask({})], "turns": [[]]})
    with session.attended():
        run = session.start("go")
        asked(session)  # the turn that waits for the session has a card already
        session.pending[0].allow_once()
        finish(run)
    assert outcomes(bench) == [selected("yes")]


def test_a_listener_that_fails_costs_nothing(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    session = bench.session([ask({}), {"text": "done"}])

    def broken(_changes: Any) -> None:
        raise LookupError("a view's own trouble")

    session.listen(broken)
    assert session.run("go", policy="allow-once-all").text == "done"
    assert "a view's own trouble" in caplog.text
