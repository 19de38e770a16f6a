"""A session's life: started late, the same from prompt to prompt, in order; and how turns end."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_jupyter.errors import (
    AgentTimeout,
    ConnectionClosed,
    RequestFailed,
    SessionBusy,
    UsageError,
)
from acp_jupyter.session.run import Limits
from acp_jupyter.views.text import turn_text

from .bench import TIMEOUT_S, Bench, alive, ask, asked, begun, descriptors, finish, gone, soon, until

if TYPE_CHECKING:
    from acp_jupyter.session.session import Session

SHORT = Limits(start_s=10, cancel_grace_s=0.5)
STUBBORN = [{"ignore_cancel": True}, {"text": "begun"}, {"until_cancel": True}, {"sleep_s": 600}]


def sent(session: Session, method: str) -> list[dict[str, Any]]:
    """What we sent of a method, over all processes."""
    out = [frame.message for frame in session.frames if frame.direction == "out"]
    return [message for message in out if message.get("method") == method]


# --- prompts


def test_the_first_prompt_starts_the_agent_and_the_next_one_continues(bench: Bench) -> None:
    session = bench.session([{"echo_prompt": True}])
    assert (session.pid, session.session_id, session.turns) == (None, None, [])
    first = session.run("one\n\ttwo  ")
    pid, session_id = session.pid, session.session_id
    second = session.run("again")
    assert (session.pid, session.session_id) == (pid, session_id)
    assert pid is not None
    assert json.loads(first.text) == [{"type": "text", "text": "one\n\ttwo  "}]
    assert [first.stop_reason, second.stop_reason] == ["end_turn", "end_turn"]
    assert [turn.number for turn in session.turns] == [1, 2]
    assert session.turn is second
    assert len(sent(session, "session/new")) == 1


def test_i1_i2_r36_what_we_say_at_the_start(bench: Bench) -> None:
    session = bench.session([])
    turn = session.run("go")
    (hello,) = sent(session, "initialize")
    assert hello["params"]["protocolVersion"] == 1
    assert hello["params"]["clientInfo"]["name"] == "acp_jupyter"
    (new,) = sent(session, "session/new")
    assert new["params"] == {"cwd": str(bench.work), "mcpServers": []}
    assert (turn.agent.title, turn.agent.version) == ("Fake agent", "1.0.0")


@pytest.mark.parametrize("task", ["", "  \n\t"])
def test_an_empty_task_starts_nothing(bench: Bench, task: str) -> None:
    session = bench.session([])
    with pytest.raises(UsageError, match="empty"):
        session.run(task)
    assert session.pid is None


def test_p14_and_r18_two_threads_prompt_at_once(bench: Bench) -> None:
    session = bench.session([{"report": "pid"}, {"echo_prompt": True}])
    turns: dict[str, Any] = {}
    start = threading.Barrier(2)

    def prompt(task: str) -> None:
        start.wait()
        turns[task] = session.run(task)

    threads = [threading.Thread(target=prompt, args=(f"task {n}",)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT_S)
    assert sorted(turns) == ["task 0", "task 1"]
    for task, turn in turns.items():
        assert f'"{task}"' in turn.text
        assert turn.text.startswith(str(session.pid))
    assert len(sent(session, "initialize")) == 1
    first, second = session.turns
    assert first.ended_at <= second.started_at


def test_r18_many_prompts_run_in_the_order_in_which_they_came(bench: Bench) -> None:
    session = bench.session([{"echo_prompt": True}])
    runs = [session.start(f"task {n}") for n in range(5)]
    for n, run in enumerate(runs):
        assert f'"task {n}"' in finish(run).text
    assert session.turns == [run.turn for run in runs]


def test_r34_two_sessions_are_independent(bench: Bench) -> None:
    waits, works = bench.session([ask({})], name="waits"), bench.session([{"text": "done"}], name="works")
    with waits.attended():
        run = waits.start("go")
        asked(waits)
        assert works.run("go").text == "done"
        assert works.pid != waits.pid
        works.stop()
        assert alive(waits.pid or 0)
        waits.pending[0].allow_once()
        finish(run)


# --- the turn's end


@pytest.mark.parametrize(
    ("end", "stop_reason"),
    [
        ({"stopReason": "refusal"}, "refusal"),
        ({"stopReason": "max_tokens"}, "max_tokens"),
        ({"stopReason": "max_turn_requests"}, "max_turn_requests"),
        ({"stopReason": "error"}, "error"),
        ({"stopReason": None}, None),
        ({"stopReason": 7}, None),
    ],
)
def test_s6_r28_every_end_is_a_result(bench: Bench, end: Any, stop_reason: str | None) -> None:
    session = bench.session([{"text": "kept"}, {"end": end}])
    turn = session.run("go")
    assert (turn.state, turn.stop_reason, turn.text) == ("done", stop_reason, "kept")
    assert turn.ended_raw == {"stopReason": "end_turn", **end}


@pytest.mark.parametrize("result", [None, [], "end_turn", {}])
def test_r28_an_end_without_an_object_or_a_reason(bench: Bench, result: Any) -> None:
    raw = {"jsonrpc": "2.0", "id": {"$": "prompt_id"}, "result": result}
    session = bench.session([{"text": "kept"}, {"send": raw}, {"end": None}])
    turn = session.run("go")
    assert (turn.state, turn.stop_reason, turn.text, turn.error) == ("done", None, "kept", None)
    session.run("again")


def test_a_prompt_answered_by_an_error_is_that_error_and_the_agent_lives_on(bench: Bench) -> None:
    error = {"code": -32603, "message": "rate limit", "data": {"retry": 5}}
    session = bench.session({"turns": [[{"text": "part"}, {"end_error": error}], [{"text": "fine"}]]})
    with pytest.raises(RequestFailed, match="rate limit") as caught:
        session.run("go")
    assert (caught.value.code, caught.value.data) == (-32603, {"retry": 5})
    (turn,) = session.turns
    assert (turn.state, turn.text, turn.error and turn.error.type) == ("failed", "part", "RequestFailed")
    pid = session.pid
    assert session.run("again").text == "fine"
    assert session.pid == pid


def test_r16_a_second_end_is_ignored(bench: Bench) -> None:
    raw = {"jsonrpc": "2.0", "id": {"$": "prompt_id"}, "result": {"stopReason": "cancelled"}}
    session = bench.session({"turns": [[{"end": {}}, {"send": raw}], [{"text": "next"}]]})
    assert session.run("go").stop_reason == "end_turn"
    assert session.run("go").text == "next"


def test_r19_the_text_is_whole_when_the_turn_is_over(bench: Bench) -> None:
    session = bench.session([{"repeat": 300, "steps": [{"text": "${i} "}]}])
    assert session.run("go").text == "".join(f"{n} " for n in range(300))


def test_r21_what_comes_after_the_end_belongs_to_its_turn(bench: Bench) -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "x", "status": "in_progress"}
    done = {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed", "rawOutput": 0}
    go = str(bench.folder / "go")
    late = [
        {"update": call},
        {"text": "in time"},
        {"end": {}},
        {"until_file": go},
        {"text": "late"},
        {"update": done},
    ]
    session = bench.session({"turns": [late, [{"text": "second"}]]})
    first = session.run("go")
    assert first.text == "in time"
    Path(go).touch()
    until(session, lambda: first.tool_calls["c1"].status == "completed")
    assert [(str(item.text), item.late) for item in first.items if hasattr(item, "text")] == [
        ("in time", False),
        ("late", True),
    ]
    assert (first.state, first.tool_calls["c1"].raw_output) == ("done", 0)
    assert session.run("go").text == "second"


def test_an_update_to_an_earlier_turns_call_changes_that_call(bench: Bench) -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "x", "rawInput": {"a": 1}}
    later = {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"}
    session = bench.session({"turns": [[{"update": call}], [{"update": later}]]})
    first = session.run("one")
    second = session.run("two")
    assert (first.tool_calls["c1"].status, len(second.tool_calls)) == ("completed", 0)
    assert first.tool_calls["c1"].raw_input == {"a": 1}


def test_r01_t4_junk_and_unknown_updates_cost_only_themselves(bench: Bench) -> None:
    steps = [
        {"raw": "null"},
        {"raw": "42"},
        {"raw": "a banner"},
        {"raw": "[]"},
        {"update": {"sessionUpdate": "quota_update", "left": 3}},
        {"notify": "_vendor/thing"},
        {"notify": "session/update", "params": {"sessionId": 7}},
        {"request": "session/frobnicate", "save": "r"},
        {"text": "${r.error.code}"},
    ]
    turn = bench.session(steps).run("go")
    assert turn.text == "-32601"
    assert [item.raw for item in turn.items if hasattr(item, "raw")] == [
        {"sessionUpdate": "quota_update", "left": 3}
    ]


def test_t3_a_megabyte_on_stderr_and_t5_a_line_of_60_mb(bench: Bench) -> None:
    session = bench.session([{"stderr_bytes": 1_000_000}, {"line_of": 60_000_000}, {"text": "end"}])
    turn = session.run("go")
    assert len(turn.text) == 60_000_003
    assert 0 < len(session.stderr) <= 64 * 1024


# --- cancel


def test_a_cancel_while_it_runs(bench: Bench) -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "x", "status": "in_progress"}
    done = {"sessionUpdate": "tool_call", "toolCallId": "c2", "title": "x", "status": "completed"}
    script = [{"update": call}, {"update": done}, {"text": "begun"}, {"until_cancel": True}]
    session = bench.session({"turns": [script, [{"text": "next"}]]})
    run = session.start("go")
    begun(session, run)
    run.cancel()
    run.cancel()
    turn = finish(run)
    assert (turn.state, turn.stop_reason, turn.text) == ("cancelled", "cancelled", "begun")
    assert [one.shown_status for one in turn.tool_calls] == ["cancelled", "completed"]
    assert len(sent(session, "session/cancel")) == 1
    pid = session.pid
    assert session.run("go").text == "next"
    assert session.pid == pid
    run.cancel()  # it is over: nothing is cancelled
    assert session.run("go").text == "next"


@pytest.mark.parametrize(
    "end", [{"end": {"stopReason": "end_turn"}}, {"end_error": {"code": -32800, "message": "x"}}]
)
def test_r14_r15_a_cancelled_turn_that_ends_otherwise_is_cancelled(bench: Bench, end: dict[str, Any]) -> None:
    session = bench.session([{"ignore_cancel": True}, {"text": "begun"}, {"until_cancel": True}, end])
    run = session.start("go")
    begun(session, run)
    run.cancel()
    turn = finish(run)
    assert (turn.state, turn.cancel_requested, turn.error) == ("cancelled", True, None)


def test_a_cancel_while_it_starts_ends_the_process(bench: Bench) -> None:
    session = bench.session({"initialize": {"never": True}})
    run = session.start("go")
    soon(lambda: session.pid is not None)
    pid = session.pid or 0
    until(session, lambda: session.turns)
    run.cancel()
    turn = finish(run)
    assert turn.state == "cancelled"
    assert gone(pid)
    assert session.pid is None


def test_a_cancel_before_anything_has_begun(bench: Bench) -> None:
    session = bench.session([{"text": "x"}])
    for _ in range(20):
        run = session.start("go")
        run.cancel()
        assert finish(run).state == "cancelled"
    assert session.run("go").text == "x"


def test_a_cancel_of_a_prompt_that_waits_for_its_turn(bench: Bench) -> None:
    script = [{"text": "begun"}, {"until_file": str(bench.folder / "go")}]
    session = bench.session({"turns": [script, [{"text": "third"}]]})
    first = session.start("one")
    begun(session, first)
    second, third = session.start("two"), session.start("three")
    second.cancel()
    assert finish(second).state == "cancelled"
    assert first.turn.state == "running"
    (bench.folder / "go").touch()
    assert [finish(run).state for run in (first, third)] == ["done", "done"]
    assert third.turn.text == "third"
    assert session.turns == [first.turn, third.turn]
    assert not sent(session, "session/cancel")


def test_r14_p15_after_an_unconfirmed_cancel_the_next_prompt_gives_up_and_restart_helps(bench: Bench) -> None:
    session = bench.session({"turns": [STUBBORN]}, limits=SHORT)
    run = session.start("go")
    begun(session, run)
    run.cancel()
    with pytest.raises(SessionBusy, match="not confirmed") as caught:
        session.run("next")
    assert "restart" in caught.value.advice
    until(session, lambda: any("not confirmed" in note.text for note in run.turn.notes))
    assert not run.done()
    pid = session.pid or 0
    session.restart()
    assert gone(pid)
    turn = finish(run)
    assert (turn.state, turn.text) == ("cancelled", "begun")
    again = session.start("again")
    begun(session, again)
    assert session.pid != pid
    assert any("new process" in note.text for note in again.turn.notes)


def test_a_prompt_that_waits_already_gives_up_after_a_later_cancel(bench: Bench) -> None:
    session = bench.session({"turns": [STUBBORN]}, limits=SHORT)
    run = session.start("go")
    begun(session, run)
    waiting = session.start("next")
    run.cancel()
    with pytest.raises(SessionBusy):
        finish(waiting)
    assert (waiting.turn.state, waiting.turn.error and waiting.turn.error.type) == ("failed", "SessionBusy")


def test_after_a_confirmed_cancel_nobody_gives_up_on_a_long_turn(bench: Bench) -> None:
    go = bench.folder / "go"
    turns = [
        [{"text": "begun"}, {"until_cancel": True}],
        [{"text": "long"}, {"until_file": str(go)}],
        [{"text": "last"}],
    ]
    session = bench.session({"turns": turns}, limits=SHORT)
    first = session.start("one")
    begun(session, first)
    long, last = session.start("two"), session.start("three")
    first.cancel()
    begun(session, long)
    newcomer = session.start("four")
    watch = threading.Event()
    assert not watch.wait(3 * SHORT.cancel_grace_s)  # longer than anybody's patience
    assert not last.done()
    assert not newcomer.done()
    go.touch()
    assert [finish(run).state for run in (long, last, newcomer)] == ["done"] * 3


def test_a_time_out_cancels_the_turn(bench: Bench) -> None:
    session = bench.session({"turns": [[{"text": "here"}], [{"text": "begun"}, {"until_cancel": True}]]})
    session.run("are you there?")  # its start is no part of what is limited below
    with pytest.raises(AgentTimeout, match="longer than 2 s"):
        session.run("go", timeout_s=2)
    turn = session.turns[-1]
    assert (turn.state, turn.text) == ("cancelled", "begun")
    assert "cancelled by the time limit" in turn_text(turn)
    assert any("2 s" in note.text for note in turn.notes)
    assert len(sent(session, "session/cancel")) == 1
    assert session.pid is not None


def test_a_time_out_of_an_agent_that_ignores_it_ends_the_process(bench: Bench) -> None:
    session = bench.session({"turns": [STUBBORN]}, limits=SHORT)
    with pytest.raises(AgentTimeout):
        session.run("go", timeout_s=0.3)
    assert session.pid is None
    assert session.turns[0].ended


def test_a_time_out_while_it_starts(bench: Bench) -> None:
    session = bench.session({"initialize": {"never": True}})
    with pytest.raises(AgentTimeout):
        session.run("go", timeout_s=0.3)
    assert session.pid is None


# --- stop, restart, new


def test_stop_ends_a_running_turn_and_the_next_prompt_starts_again(bench: Bench) -> None:
    session = bench.session({"turns": [[{"text": "begun"}, {"until_cancel": True}]]})
    run = session.start("go")
    begun(session, run)
    pid = session.pid or 0
    session.stop()
    assert session.pid is None
    assert not alive(pid)
    with pytest.raises(ConnectionClosed):
        finish(run)
    assert (run.turn.state, run.turn.text) == ("failed", "begun")
    again = session.start("go")
    begun(session, again)
    assert any("new process" in note.text for note in again.turn.notes)
    session.stop()
    session.stop()


def test_t8_stop_takes_less_than_5_s_whatever_the_agent_does(bench: Bench) -> None:
    pids = [
        {"ignore_term": True},
        {"spawn": ["sleep", "600"], "ignore_term": True, "new_session": True, "hold_stdout": True},
    ]
    session = bench.session({"turns": [[*pids, {"text": "${child.pid}"}]], "ignore_eof": True})
    child = int(session.run("go").text)
    pid = session.pid or 0
    begun_at = time.monotonic()
    session.stop()
    assert time.monotonic() - begun_at < 5
    assert gone(pid)
    assert gone(child)


def test_stop_while_it_starts(bench: Bench) -> None:
    session = bench.session({"initialize": {"never": True}, "ignore_eof": True})
    run = session.start("go")
    until(session, lambda: session.turns)
    soon(lambda: session.pid is not None)
    pid = session.pid or 0
    session.stop()
    assert not alive(pid)
    with pytest.raises(ConnectionClosed, match="before it was ready"):
        finish(run)
    assert run.turn.state == "failed"


def test_new_begins_a_session_of_its_own(bench: Bench) -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "x", "rawInput": "${cwd}"}
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"}
    info = {"sessionUpdate": "session_info_update", "title": "a title"}
    commands = {
        "sessionUpdate": "available_commands_update",
        "availableCommands": [{"name": "c", "description": ""}],
    }
    session = bench.session(
        [
            {
                "if": {"prompt.0.text": "one"},
                "then": [{"update": call}, {"update": info}, {"update": commands}],
            },
            {"update": update},
        ]
    )
    first = session.run("one")
    assert (first.title, first.commands) == ("a title", [{"name": "c", "description": ""}])
    session.new()
    assert (session.session_id, session.cwd) == (None, None)
    session.set_roots(str(bench.folder), ())
    second = session.run("two")
    assert (second.title, second.commands, second.notes) == (None, [], [])
    assert first.tool_calls["c1"] is not second.tool_calls["c1"]
    assert first.tool_calls["c1"].raw_input == str(bench.work)
    assert second.tool_calls["c1"].raw_input is None
    assert sent(session, "session/new")[-1]["params"]["cwd"] == str(bench.folder)
    assert [turn.number for turn in session.turns] == [1, 2]


def test_f13_an_update_right_behind_the_answer_finds_the_session(bench: Bench) -> None:
    modes = {
        "currentModeId": "a",
        "availableModes": [{"id": "a", "name": "Ask"}, {"id": "b", "name": "Build"}],
    }
    update = {"sessionUpdate": "current_mode_update", "currentModeId": "b"}
    session = bench.session({"new_session": {"modes": modes}, "after_new_session": [{"update": update}]})
    turn = session.run("go")
    assert turn.mode == {"id": "b", "name": "Build"}


# --- directories


def test_directories_are_set_once(bench: Bench) -> None:
    more = bench.folder / "more"
    more.mkdir()
    script = {"initialize": {"agentCapabilities": {"sessionCapabilities": {"additionalDirectories": {}}}}}
    session = bench.session(script)
    session.set_roots(None, [str(more)])
    turn = session.run("go")
    (new,) = sent(session, "session/new")
    assert (new["params"]["cwd"], new["params"]["additionalDirectories"]) == (str(bench.work), [str(more)])
    assert (turn.cwd, turn.additional_directories) == (str(bench.work), [str(more)])
    session.set_roots(str(bench.work), ())
    with pytest.raises(UsageError, match="already"):
        session.set_roots(str(more), ())
    with pytest.raises(UsageError, match="not a directory"):
        session.set_roots(str(bench.folder / "missing"), ())


def test_s1_further_directories_need_the_capability(bench: Bench) -> None:
    session = bench.session([])
    session.set_roots(None, [str(bench.folder)])
    with pytest.raises(UsageError, match="further directories"):
        session.run("go")
    assert (session.pid, session.turns[0].state) == (None, "failed")


def test_the_kernels_directory_at_the_start_counts(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    session = bench.session([{"report": "cwd"}])
    session.new()  # without the directory that the bench has given it
    (bench.work / "sub").mkdir()
    monkeypatch.chdir(bench.work)
    assert session.run("go").text == str(bench.work)
    monkeypatch.chdir(bench.work / "sub")
    assert session.run("go").text == str(bench.work)
    assert session.cwd == str(bench.work)


# --- a long life


def test_twenty_restarts_leave_no_descriptors_and_no_threads(bench: Bench) -> None:
    session = bench.session(
        [{"request": "fs/read_text_file", "params": {"path": str(bench.work / "x")}, "save": "r"}]
    )
    session.run("warm")
    session.stop()
    before, threads = descriptors(), threading.active_count()
    for _ in range(20):
        session.run("go")
        session.restart()
    soon(lambda: descriptors() <= before)
    soon(lambda: threading.active_count() <= threads + 5)  # those that read and write files stay


def test_a_policy_is_told_with_where_it_is_from(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    session = bench.session({})
    assert session.policy_told == "ask"
    monkeypatch.setenv("ACP_JUPYTER_POLICY", "read")
    assert session.policy_told == "read, by ACP_JUPYTER_POLICY"
    session.policy = "read"
    assert session.policy_told == "read, by session.policy"


def test_f08_files_that_were_refused_are_told_once_each_and_not_without_end(bench: Bench) -> None:
    def read(path: str) -> dict[str, Any]:
        return {"request": "fs/read_text_file", "params": {"path": path}, "save": "answer"}

    (bench.folder / "outside.txt").write_text("x")
    outside = str(bench.folder / "outside.txt")
    few = [read(outside), read(outside), read(str(bench.work / "missing.txt"))]
    write = {"request": "fs/write_text_file", "params": {"path": outside, "content": "y"}, "save": "answer"}
    many = [read(f"{bench.folder}/{number}.txt") for number in range(50)]
    session = bench.session({"turns": [[*few, write], many]})
    notes = session.run("go").notes
    assert [note.text.split(":")[:2] for note in notes] == [["Refused", " Read"], ["Refused", " Write"]]
    assert all(outside in note.text and note.severity == "warning" for note in notes)
    told = [note.text for note in session.run("go on").notes]
    assert len(told) == 21
    assert told[-1] == "Refused: more than is told here, see %acp log."
