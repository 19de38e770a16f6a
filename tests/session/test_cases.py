"""Faults that other clients and agents have met, each with a real session: what is lost, and what is not.

A test bears the case's name in docs/protocol.md.
"""

from __future__ import annotations

import base64
import contextvars
import json
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_jupyter.errors import AuthenticationRequired, RequestFailed
from acp_jupyter.session.agents import AgentSpec
from acp_jupyter.session.run import Limits
from acp_jupyter.views.bundle import saved_bundle
from acp_jupyter.views.log import log_html, log_text

from .bench import Bench, alive, ask, asked, begun, finish, gone, until

if TYPE_CHECKING:
    from acp_jupyter.session.session import Session

CALL = {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Look", "kind": "read"}
SHORT = Limits(cancel_grace_s=0.5)
LOG_IN = {"code": -32000, "message": "log in first"}

# Every line that it says ends with CR LF.
CRLF_AGENT = r"""
import json, sys
def say(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\r\n")
    sys.stdout.flush()
sys.stdout.reconfigure(newline="")
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "session/prompt":
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "a\r\nb"}}
        say(method="session/update", params={"sessionId": "s", "update": update})
    answers = {"initialize": {"protocolVersion": 1}, "session/new": {"sessionId": "s"}}
    say(id=asked["id"], result=answers.get(asked["method"], {"stopReason": "end_turn"}))
"""


def glued(data: bytes) -> dict[str, Any]:
    """Bytes without a newline: they stand at the beginning of the next message's line."""
    return {"raw_bytes_b64": base64.b64encode(data).decode()}


def sent(session: Session) -> list[str]:
    """The methods of what we sent."""
    frames = [frame.message for frame in session.frames if frame.direction == "out"]
    return [message["method"] for message in frames if "method" in message]


# --- lines


def test_f02_a_banner_before_the_first_answer(bench: Bench) -> None:
    start = [{"raw": "Migrating db..."}, {"raw": ""}, {"raw": "Ready {in 3 s}"}]
    session = bench.session({"start": start, "turns": [[{"text": "ok"}]]})
    turn = session.run("go")
    assert turn.text == "ok"
    assert session.ignored == ["not JSON: Migrating db...", "not JSON: Ready {in 3 s}"]
    assert [note.text.partition(":")[0] for note in turn.notes] == [
        "2 of the agent's lines and messages could not be used"
    ]
    assert session.run("again").notes == [], "it is told once"
    session.restart()
    assert session.run("anew").notes[-1].text.startswith("2 of the agent's lines"), "another process"
    told = log_text(session.log)
    assert "4 of the agent's lines and messages could not be used: ignored." in told
    assert "not JSON: Migrating db..." in told


def test_f02_what_was_ignored_is_told_without_secrets_and_controls(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "planted-in-noise")
    session = bench.session([{"raw": "key planted-in-noise \x1b[2J<b>"}])
    session.run("go")
    for told in ("\n".join(session.ignored), log_text(session.log), log_html(session.log)):
        assert "not JSON: key" in told
        assert "planted" not in told
    assert "<U+001B>[2J" in log_text(session.log)
    assert "&lt;b&gt;" in log_html(session.log)


def test_f02_a_secret_at_the_place_where_what_was_ignored_is_cut(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "planted-in-noise")
    session = bench.session([{"raw": "x" * 490 + "planted-in-noise"}])
    session.run("go")
    assert "planted" not in session.ignored[0]


@pytest.mark.parametrize(
    "junk",
    [
        pytest.param(b"\x1b]0;proj: ready\x07", id="F03-title"),
        pytest.param(b"\x1b]0;proj {1}\x1b\\\x1b[2K\r", id="F03-title-and-erase"),
        pytest.param(b"\xef\xbb\xbf", id="F08-byte-order-mark"),
    ],
)
def test_f03_f08_what_is_glued_to_the_front_of_a_message(bench: Bench, junk: bytes) -> None:
    session = bench.session({"start": [glued(junk)], "turns": [[glued(junk), {"text": "ok"}]]})
    assert session.run("go").text == "ok"
    assert session.ignored == []


def test_f07_lines_that_end_with_cr_lf(bench: Bench) -> None:
    session = bench.of(AgentSpec(name="crlf", command=sys.executable, args=("-c", CRLF_AGENT)))
    turn = session.run("go")
    assert (turn.text, turn.stop_reason) == ("a\r\nb", "end_turn")
    assert session.ignored == []


def test_f10_half_an_emoji_poisons_nothing_later(bench: Bench) -> None:
    half, whole = "x\ud83dy", "x\ufffdy"
    call = {**CALL, "title": half, "rawOutput": half, "locations": [{"path": half}]}
    told = [{"update": call}, {"text": half}]
    session = bench.session([{"if": {"prompt.0.text": "go"}, "then": told, "else": [{"echo_prompt": True}]}])
    turn = session.run("go")
    assert (turn.text, turn.tool_calls[0].title, turn.tool_calls[0].raw_output) == (whole, whole, whole)
    json.dumps(saved_bundle(turn), ensure_ascii=False).encode()
    assert json.loads(session.run(f"again {half}").text)[0]["text"] == f"again {whole}"


def test_f16_absurd_nesting_costs_one_message(bench: Bench) -> None:
    deep = '{"jsonrpc":"2.0","method":"session/update","params":' + "[" * 100_000
    closed = '{"jsonrpc":"2.0","method":"session/update","params":' + "[" * 5_000 + "]" * 5_000 + "}"
    session = bench.session([{"text": "a"}, {"raw": deep}, {"raw": closed}, {"text": "b"}])
    assert session.run("go").text == "ab"
    assert [one.partition(":")[0] for one in session.ignored] == ["nested too deeply"] * 2


def test_f16_a_request_too_deep_to_read_is_answered_and_told_of(bench: Bench) -> None:
    raw_input: Any = 1
    for _ in range(300):
        raw_input = {"a": raw_input}
    session = bench.session([ask({"rawInput": raw_input}), {"text": "refused: ${answer.error.message}"}])
    turn = session.run("go", policy="allow-once-all")
    assert (turn.text, turn.stop_reason) == ("refused: the request is nested too deeply", "end_turn")
    assert [note.text for note in turn.notes if "ignored" in note.text] != []
    assert [one.partition(":")[0] for one in session.ignored] == ["nested too deeply"]


# --- the life of a process


def test_p04_p05_a_slow_start_is_told_of_with_its_last_words_and_is_no_failure(bench: Bench) -> None:
    go = str(bench.folder / "go")
    start = [{"stderr": "fetched 1 of 9\nfetched 2 of 9\n"}, {"until_file": go}]
    session = bench.session({"start": start, "turns": [[{"text": "ok"}]]}, limits=Limits(slow_s=0.1))
    run = session.start("go")
    until(session, lambda: any(one.text.endswith("Its last words: fetched 2 of 9") for one in run.turn.notes))
    assert run.turn.state == "starting"
    Path(go).touch()
    turn = finish(run)
    assert (turn.state, turn.text) == ("done", "ok")
    assert all(note.text.startswith("The agent is still starting after ") for note in turn.notes)
    assert session.run("again").notes == [], "only a start is slow"


def test_p15_restart_ends_a_wedged_agent_and_its_tree(bench: Bench) -> None:
    wedged = [
        {"ignore_term": True},
        {"spawn": ["sleep", "600"], "ignore_term": True},
        {"ignore_cancel": True},
        {"text": "${child.pid}"},
        {"sleep_s": 600},
    ]
    session = bench.session([{"if": {"prompt.0.text": "go"}, "then": wedged, "else": [{"text": "fresh"}]}])
    run = session.start("go")
    begun(session, run)
    pid, child = session.pid or 0, int(run.turn.text)
    session.restart()
    assert not alive(pid)
    assert gone(child)
    assert run.turn.state == "failed"
    again = session.run("again")
    assert again.text == "fresh"
    assert session.pid not in {None, pid}


# --- the protocol


def test_r04_a_call_before_any_word(bench: Bench) -> None:
    turn = bench.session([{"update": CALL}, {"text": "Done."}]).run("go")
    assert [call.title for call in turn.tool_calls] == ["Look"]
    page = saved_bundle(turn)
    assert page["text/plain"].index("Look") < page["text/plain"].index("Done.")


def test_r14_a_cancel_that_is_ignored_leaves_the_text_and_says_so(bench: Bench) -> None:
    steps = [{"ignore_cancel": True}, {"text": "begun "}, {"until_cancel": True}, {"text": "and on"}]
    session = bench.session([*steps, {"sleep_s": 600}], limits=SHORT)
    run = session.start("go")
    begun(session, run)
    run.cancel()
    until(session, lambda: run.turn.notes and "and on" in run.turn.text)
    assert "has not confirmed the cancel" in run.turn.notes[0].text
    assert "%acp restart" in run.turn.notes[0].text
    session.restart()
    assert finish(run).text == "begun and on"


def test_r20_chunks_stay_in_order_while_requests_are_served(bench: Bench) -> None:
    (bench.work / "a.txt").write_text("a")
    read = {"request": "fs/read_text_file", "params": {"path": str(bench.work / "a.txt")}, "wait": False}
    steps = [{"text": "${i} "}, {**read, "save": "r${i}"}, ask({"kind": "read"}, wait=False, save="p")]
    session = bench.session([{"update": CALL}, {"repeat": 60, "steps": steps}, {"await": "p"}])
    turn = session.run("go", policy="reject")
    assert turn.text == "".join(f"{n} " for n in range(60))
    assert len(turn.permissions) == 60
    kinds = [type(item).__name__ for item in turn.items]
    assert kinds.count("Message") == 1, "one call, named again and again, parts no message"


def test_r25_a_log_in_that_does_not_help_is_no_loop(bench: Bench) -> None:
    methods = [{"id": "key", "name": "API key"}]
    session = bench.session(
        {"initialize": {"authMethods": methods}, "new_session": {"error": LOG_IN}, "turns": [[]]}
    )
    for last in (False, True):
        with pytest.raises(AuthenticationRequired) as caught:
            session.run("go")
        assert "key (API key)" in caught.value.advice
        if not last:
            session.login("key")
    assert sent(session) == ["initialize", "session/new", "authenticate", "session/new"]


def test_r26_what_an_agent_lacks_is_a_warning_and_not_tried_again(bench: Bench) -> None:
    bench.may_complain = True  # it does not know the method
    option = {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": False}
    session = bench.session(
        {"new_session": {"configOptions": [option]}, "turns": [[{"text": "ok"}]]},
        default_options={"fast": True},
    )
    first, second = session.run("one"), session.run("two")
    assert (first.text, second.text, second.notes) == ("ok", "ok", [])
    (note,) = first.notes
    assert "could not be set" in note.text
    assert sent(session).count("session/set_config_option") == 1


def test_r26_a_list_that_was_offered_and_is_missing_costs_only_itself(bench: Bench) -> None:
    bench.may_complain = True
    offers = {"agentCapabilities": {"sessionCapabilities": {"list": {}}}}
    session = bench.session({"initialize": offers, "turns": [[{"text": "ok"}]]})
    with pytest.raises(RequestFailed, match="-32601"):
        session.sessions()
    assert session.run("go").text == "ok"


def test_r29_an_agent_that_said_all_and_never_ends_its_turn(bench: Bench) -> None:
    session = bench.session([{"text": "All of it."}, {"end": None}], limits=SHORT)
    run = session.start("go")
    begun(session, run)
    assert run.turn.state == "running", "its clock goes on"
    assert run.turn.ended_at is None
    run.cancel()
    assert not run.done()
    session.restart()
    turn = finish(run)
    assert (turn.state, turn.text) == ("cancelled", "All of it.")


def test_r33_a_child_sessions_updates_are_shown_in_the_turn(bench: Bench) -> None:
    child = {"notify": "session/update", "params": {"sessionId": "child", "update": CALL}}
    turn = bench.session([child, {"text": "Done."}]).run("go")
    assert [call.title for call in turn.tool_calls] == ["Look"]


@pytest.mark.parametrize("at_once", [True, False])
def test_r37_one_choice_of_the_model_where_both_ways_are_offered(bench: Bench, *, at_once: bool) -> None:
    values = [{"value": one, "name": one.title()} for one in ("small", "large")]
    option = {"id": "m", "name": "Model", "category": "model", "type": "select", "options": values}
    small, large = ([{**option, "currentValue": one}] for one in ("small", "large"))
    models = {"currentModelId": "small", "availableModels": [{"modelId": "small"}, {"modelId": "large"}]}

    def told(options: Any) -> dict[str, Any]:
        return {"update": {"sessionUpdate": "config_option_update", "configOptions": options}}

    session = bench.session(
        {
            "new_session": {"models": models, **({"configOptions": small} if at_once else {})},
            "methods": {"session/set_config_option": {"steps": [told(large)], "result": {}}},
            "turns": [[] if at_once else [told(small)]],
        }
    )
    session.run("go")
    assert session.options == small
    session.choose(model="large")
    assert session.options == large
    assert "session/set_model" not in sent(session)


@pytest.mark.parametrize("offers_a_no", [True, False])
def test_r38_a_request_that_nobody_answers_in_time_is_rejected(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, *, offers_a_no: bool
) -> None:
    monkeypatch.setenv("ACP_JUPYTER_ANSWER_TIMEOUT_S", "0.2")
    kinds = ("allow_once", "reject_once") if offers_a_no else ("allow_once",)
    session = bench.session([ask({}, [{"optionId": kind, "name": kind, "kind": kind} for kind in kinds])])
    with session.attended():
        turn = finish(session.start("go"))
    (permission,) = turn.permissions.values()
    (answer,) = bench.answers("session/request_permission")
    assert (permission.decided_by, permission.reason) == ("time_limit", "no answer within 0.2 s")
    assert (turn.state, turn.cancel_requested) == (("done", False) if offers_a_no else ("cancelled", True))
    selected = {"outcome": "selected", "optionId": "reject_once"}
    assert answer["result"]["outcome"] == (selected if offers_a_no else {"outcome": "cancelled"})
    assert ("session/cancel" in sent(session)) is not offers_a_no


def test_r38_an_answer_in_time_stands(bench: Bench) -> None:
    go = str(bench.folder / "go")
    session = bench.session([ask({}), {"until_file": go}])
    with session.attended():
        run = session.start("go")
        key = asked(session)[0].key
        session.pending[0].allow_once()
        bench.loop.call(session._conversation.broker._expire, key, 60)
        Path(go).touch()
        turn = finish(run)
    assert [one.decided_by for one in turn.permissions.values()] == ["you"]
    assert (turn.state, len(bench.answers("session/request_permission"))) == ("done", 1)


def test_r39_a_decision_may_come_from_a_thread_that_knows_of_nothing(bench: Bench) -> None:
    session = bench.session([ask({})])
    with session.attended():
        run = session.start("go")
        asked(session)
        decide = session.pending[0].allow_once
        thread = threading.Thread(target=lambda: contextvars.Context().run(decide))
        thread.start()
        turn = finish(run)
        thread.join()
    assert [one.decided_by for one in turn.permissions.values()] == ["you"]
    assert not turn.rejected
