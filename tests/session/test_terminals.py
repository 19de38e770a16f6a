"""The client's terminals, asked for by a real agent."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_jupyter.errors import AcpError
from acp_jupyter.session.command import Command

if TYPE_CHECKING:
    from acp_jupyter.session.session import Session

from .bench import Bench, alive, descriptors, finish, gone, soon, until

PYTHON = "import os, signal, sys, time\n"


def create(command: str, *args: str, save: str = "t", **more: Any) -> dict[str, Any]:
    return {
        "request": "terminal/create",
        "params": {"command": command, "args": list(args)} | more,
        "save": save,
    }


def python(code: str, *args: str, **more: Any) -> dict[str, Any]:
    return create("python3", "-c", PYTHON + code, *args, **more)


def on(method: str, save: str | None = None, of: str = "t", **more: Any) -> dict[str, Any]:
    return {
        "request": f"terminal/{method}",
        "params": {"terminalId": f"${{{of}.terminalId}}"},
        "save": save or method,
        **more,
    }


WAIT, OUTPUT, KILL, RELEASE = on("wait_for_exit"), on("output"), on("kill"), on("release")
TELL = {"text": "${output}"}


def told(bench: Bench, *steps: Any) -> Any:
    """Run steps; what the last of them says, as JSON."""
    return json.loads(bench.session(list(steps)).run("go").text)


def test_c5_c6_tc9_output_status_and_card(bench: Bench) -> None:
    session = bench.session([create("sh", "-c", "echo out; echo err >&2; exit 3"), WAIT, OUTPUT, TELL])
    turn = session.run("go")
    assert json.loads(turn.text) == {
        "output": "out\nerr\n",
        "truncated": False,
        "exitStatus": {"exitCode": 3, "signal": None},
    }
    (terminal,) = turn.terminals.values()
    assert str(terminal.output) == "out\nerr\n"
    assert (terminal.exit_code, terminal.signal, terminal.cwd) == (3, None, str(bench.work))


def test_c6_output_while_it_runs_has_no_status(bench: Bench) -> None:
    code = f"print('a', flush=True); open({str(bench.folder / 'said')!r}, 'w'); time.sleep(600)"
    session = bench.session([python(code), {"until_file": str(bench.folder / "said")}, OUTPUT, RELEASE, TELL])
    text = json.loads(session.run("go").text)
    assert text.keys() == {"output", "truncated"}
    assert text["output"] in {"", "a\n"}


@pytest.mark.parametrize(("limit", "kept"), [(2000, 2000), (101, 100), (2, 2), (1, 0), (0, 0), (None, 2000)])
def test_t03_x1_the_limit_cuts_at_a_character(bench: Bench, limit: int | None, kept: int) -> None:
    script = [
        python("sys.stdout.buffer.write('é'.encode() * 1000)", outputByteLimit=limit),
        WAIT,
        OUTPUT,
        TELL,
    ]
    output = told(bench, *script)
    assert output["output"] == "é" * (kept // 2)
    assert output["truncated"] is (kept < 2000)


def test_x1_unreadable_bytes_count_as_what_they_become(bench: Bench) -> None:
    output = told(
        bench, python("sys.stdout.buffer.write(b'\\xff' * 90)", outputByteLimit=90), WAIT, OUTPUT, TELL
    )
    assert output == {"output": "�" * 30, "truncated": True, "exitStatus": {"exitCode": 0, "signal": None}}


def test_t04_a_giant_limit_is_ours(bench: Bench) -> None:
    code = "line = b'x' * 63 + b'\\n'\nfor _ in range(20 * 16): sys.stdout.buffer.write(line * 1024)"
    session = bench.session([python(code, outputByteLimit=10**12), WAIT, OUTPUT])
    turn = session.run("go")
    answer = bench.answers("terminal/output")[0]["result"]
    assert len(answer["output"]) <= 8 * 1024 * 1024
    assert answer["truncated"] is True
    assert str(next(iter(turn.terminals.values())).output).endswith("x\n")


def test_x2_a_character_split_between_reads_is_whole(bench: Bench) -> None:
    go = str(bench.folder / "go")
    code = f"""out = sys.stdout.buffer
out.write('中'.encode()[:2]); out.flush(); open({go!r}, 'w')
while not os.path.exists({go + "2"!r}): time.sleep(0.01)
out.write('中'.encode()[2:])"""
    first = on("output", "first")
    session = bench.session(
        [python(code), {"until_file": go}, first, {"until_file": go + "2"}, WAIT, OUTPUT, TELL]
    )
    run = session.start("go")
    soon(lambda: len(bench.answers("terminal/output")) == 1)
    Path(go + "2").touch()
    turn = finish(run)
    assert json.loads(turn.text)["output"] == "中"
    assert bench.answers("terminal/output")[0]["result"]["output"] == ""
    assert str(next(iter(turn.terminals.values())).output) == "中"


def test_t07_c8_x5_kill_ends_the_tree_and_keeps_the_output(bench: Bench) -> None:
    pids = bench.folder / "pids"
    line = f"echo before; sleep 600 & echo $! > {pids}.tmp; mv {pids}.tmp {pids}; wait; :"
    script = [create("sh", "-c", line), {"until_file": str(pids)}, KILL, OUTPUT, WAIT, TELL]
    output = told(bench, *script)
    assert output["output"].startswith("before\n")
    assert output["exitStatus"] == {"exitCode": None, "signal": "SIGTERM"}
    assert not alive(int(pids.read_text()))


def test_t07_a_command_and_a_grandchild_that_ignore_term_are_killed(bench: Bench) -> None:
    pids = bench.folder / "pids"
    child = f"(trap '' TERM; exec sleep 600) & echo $! > {pids}.tmp; mv {pids}.tmp {pids}"
    line = f"trap '' TERM; {child}; while :; do wait; done"
    session = bench.session(
        [create("sh", "-c", line), {"until_file": str(pids)}, KILL, WAIT, {"text": "${wait_for_exit}"}]
    )
    assert json.loads(session.run("go").text) == {"exitCode": None, "signal": "SIGKILL"}
    assert not alive(int(pids.read_text()))


def test_t10_c9_x6_release_kills_and_forgets_and_the_card_remembers(bench: Bench) -> None:
    pids = bench.folder / "pids"
    line = f"echo shown; sleep 600 & echo $! > {pids}.tmp; mv {pids}.tmp {pids}; wait"
    after = [on(name, f"after_{name}") for name in ("output", "wait_for_exit", "kill", "release")]
    codes = " ".join(f"${{{step['save']}.error.code}}" for step in after)
    session = bench.session(
        [create("sh", "-c", line), {"until_file": str(pids)}, RELEASE, *after, {"text": codes}]
    )
    turn = session.run("go")
    assert turn.text == "-32002 -32002 -32002 -32002"
    assert not alive(int(pids.read_text()))
    (terminal,) = turn.terminals.values()
    assert str(terminal.output).startswith("shown\n")
    assert terminal.released


@pytest.mark.parametrize("method", ["output", "wait_for_exit", "kill", "release"])
def test_t08_t10_an_unknown_terminal_is_an_error(bench: Bench, method: str) -> None:
    failed = create("no-such-program", "x")
    steps = [
        {"request": f"terminal/{method}", "params": {"terminalId": "t1"}, "save": "o"},
        {"text": "[${t.error.code}, ${o.error.code}]"},
    ]
    assert told(bench, failed, *steps) == [-32602, -32002]


@pytest.mark.parametrize("ending", [KILL, RELEASE], ids=["kill", "release"])
def test_c7_t07_who_waits_hears_of_a_kill_and_of_a_release(bench: Bench, ending: dict[str, Any]) -> None:
    up = str(bench.folder / "up")
    waits = [on("wait_for_exit", f"w{n}", wait=False) for n in range(2)]
    script = [
        create("sh", "-c", f": > {up}; exec sleep 600"),
        {"until_file": up},
        *waits,
        ending,
        {"await": "w0"},
        {"await": "w1"},
        {"text": "[${w0}, ${w1}]"},
    ]
    assert told(bench, *script) == [{"exitCode": None, "signal": "SIGTERM"}] * 2


def test_t10_output_after_the_exit_is_there_as_often_as_it_is_asked_for(bench: Bench) -> None:
    kill = on("kill", "late_kill")
    again = on("output", "again")
    script = [
        create("sh", "-c", "printf a; exit 3"),
        WAIT,
        OUTPUT,
        kill,
        again,
        {"text": "[${output}, ${again}]"},
    ]
    whole = {"output": "a", "truncated": False, "exitStatus": {"exitCode": 3, "signal": None}}
    assert told(bench, *script) == [whole, whole]


def test_c7_several_wait_and_one_withdraws(bench: Bench) -> None:
    go = str(bench.folder / "go")
    code = f"while not os.path.exists({go!r}): time.sleep(0.01)\nsys.exit(7)"
    waits = [on("wait_for_exit", f"w{n}", wait=False) for n in range(3)]
    answers = [{"await": f"w{n}"} for n in (1, 0, 2)]
    kept = "${w0.exitCode} ${w2.exitCode} ${w1.error.code}"
    script = [
        python(code),
        *waits,
        {"withdraw": "w1"},
        answers[0],
        {"notify": "_go"},
        *answers[1:],
        {"text": kept},
    ]
    session = bench.session(script)
    run = session.start("go")
    until(session, lambda: run.turn.terminals)
    sees(session, "_go")
    Path(go).touch()
    assert finish(run).text == "7 7 -32800"


def sees(session: Session, method: str) -> bool:
    """Wait for a notification that changes no state."""
    return soon(lambda: any(frame.message.get("method") == method for frame in list(session.frames)))


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"command": "no-such-program", "args": ["x"]}, "No such file"),
        ({"command": "WORK", "args": ["x"]}, "ermission denied"),
        ({"command": "a\0b", "args": ["x"]}, "null"),
        ({"command": "env", "args": ["x"], "env": [{"name": "A=B", "value": ""}]}, "environment variable"),
        ({"command": "  "}, "the command is empty"),
        ({"command": "ls", "cwd": "/"}, "outside the session's directories"),
        ({"command": "ls", "cwd": "WORK/../"}, "outside the session's directories"),
        ({"command": "ls", "cwd": "WORK/missing"}, "not an absolute path of a directory"),
        ({"command": "ls", "cwd": "work"}, "absolute path"),
    ],
)
def test_t08_and_t11_what_cannot_run_is_an_error_at_once(
    bench: Bench, params: dict[str, Any], words: str
) -> None:
    params = {
        key: value.replace("WORK", str(bench.work)) if isinstance(value, str) else value
        for key, value in params.items()
    }
    session = bench.session(
        [{"request": "terminal/create", "params": params, "save": "t"}, {"text": "${t.error}"}]
    )
    turn = session.run("go")
    error = json.loads(turn.text)
    assert error["code"] == -32602
    assert words in error["message"]
    assert not turn.terminals


def test_t11_nulls_mean_left_out_and_a_link_out_is_outside(bench: Bench) -> None:
    (bench.work / "out").symlink_to("/")
    (bench.work / "sub").mkdir()
    script = [
        create("pwd", save="here", env=None, cwd=None, outputByteLimit=None, args=None),
        create("pwd", save="sub", cwd=str(bench.work / "sub")),
        create("pwd", save="out", cwd=str(bench.work / "out")),
        *(on("wait_for_exit", f"w{of}", of) for of in ("here", "sub")),
        *(on("output", f"o{of}", of) for of in ("here", "sub")),
        {"text": "${ohere.output}${osub.output}${out.error.code}"},
    ]
    assert bench.session(script).run("go").text.split("\n") == [
        str(bench.work),
        str(bench.work / "sub"),
        "-32602",
    ]


@pytest.mark.parametrize("command", ["echo one two | tr a-z A-Z", "nope-no-such", "echo $SHOWN"])
def test_t01_and_t08_a_line_without_arguments_is_the_shells(bench: Bench, command: str) -> None:
    output = told(bench, create(command, env=[{"name": "SHOWN", "value": "ONE TWO"}]), WAIT, OUTPUT, TELL)
    if command == "nope-no-such":
        assert output["exitStatus"] == {"exitCode": 127, "signal": None}
        assert "not found" in output["output"]
    else:
        assert output["output"] == "ONE TWO\n"


def test_t13_the_shell_is_posix_sh_whatever_the_environment_says(bench: Bench) -> None:
    (bench.work / "sh").write_text("#!/bin/sh\necho other\n")
    (bench.work / "sh").chmod(0o755)
    env = [{"name": "SHELL", "value": "/bin/false"}, {"name": "PATH", "value": str(bench.work)}]
    assert told(bench, create("echo $0", env=env), WAIT, OUTPUT, TELL)["output"] == "/bin/sh\n"


@pytest.mark.skipif(sys.platform == "win32", reason="posix")
def test_t04_no_more_is_kept_for_the_agent_than_it_asked_for(tmp_path: Path) -> None:
    async def kept() -> tuple[int, tuple[str, bool]]:
        command = Command(1000)
        await command.start(["/bin/sh", "-c", "yes | head -c 2000000; printf end"], str(tmp_path), os.environ)
        command.follow(lambda _text: None, lambda: None)
        await command.wait()
        await command.close()
        return len(command._kept), command.output()

    size, (text, truncated) = asyncio.run(kept())
    assert size < 500_000
    assert len(text) == 1000
    assert text.endswith("y\nend")
    assert truncated


@pytest.mark.parametrize(
    ("number", "name"), [("signal.SIGKILL", "SIGKILL"), ("signal.SIGRTMIN + 3", "SIG37")]
)
def test_x4_an_end_by_a_signal_has_its_name(bench: Bench, number: str, name: str) -> None:
    script = [python(f"os.kill(os.getpid(), {number})"), WAIT, {"text": "${wait_for_exit}"}]
    assert told(bench, *script) == {"exitCode": None, "signal": name}


def test_t09_endless_output_is_bounded_and_the_loop_stays_free(bench: Bench) -> None:
    go = str(bench.folder / "go")
    session = bench.session([create("yes"), {"until_file": go}, OUTPUT, RELEASE])
    run = session.start("go")
    until(session, lambda: any(terminal.truncated for terminal in run.turn.terminals.values()))
    for _ in range(50):
        bench.loop.run(nothing(), 5)  # raises where the loop has no time for it
    Path(go).touch()
    turn = finish(run)
    assert len(bench.answers("terminal/output")[0]["result"]["output"]) <= 8 * 1024 * 1024
    assert len(next(iter(turn.terminals.values())).output) <= 4_000_000


async def nothing() -> None:
    """What a free loop has done at once."""


@pytest.mark.parametrize("ending", ["stop", "exit"])
def test_x7_the_end_of_the_agent_ends_its_terminals(bench: Bench, ending: str) -> None:
    pids = bench.folder / "pids"
    line = f"(trap '' TERM; exec sleep 600) & echo $! > {pids}.tmp; mv {pids}.tmp {pids}; wait"
    last = {"exit": 1} if ending == "exit" else {"end": {}}
    session = bench.session({"turns": [[create("sh", "-c", line), {"until_file": str(pids)}, last], []]})
    if ending == "exit":
        with pytest.raises(AcpError):
            session.run("go")
    else:
        session.run("go")
        session.stop()
    (terminal,) = session.turns[0].terminals.values()
    until(session, lambda: terminal.released)
    assert gone(int(pids.read_text()))
    assert terminal.ended_at is not None


def test_t07_x7_a_child_that_an_ended_command_left_behind_ends_with_the_session(bench: Bench) -> None:
    pids = bench.folder / "pids"
    line = f"echo started; sleep 600 & echo $! > {pids}"
    session = bench.session([create("sh", "-c", line), WAIT, OUTPUT, RELEASE, TELL])
    output = json.loads(session.run("go").text)
    assert output["output"] == "started\n"
    assert output["exitStatus"] == {"exitCode": 0, "signal": None}
    pid = int(pids.read_text())
    assert alive(pid)
    session.stop()
    assert gone(pid)


def test_t09_a_child_that_writes_on_for_ever_does_not_hold_the_end_up(bench: Bench) -> None:
    session = bench.session(
        [create("sh", "-c", "yes & echo first"), WAIT, RELEASE, {"text": "${wait_for_exit.exitCode}"}]
    )
    assert session.run("go").text == "0"


def test_x7_stop_ends_many_stubborn_terminals(bench: Bench) -> None:
    stubborn = [
        step
        for n in range(8)
        for step in (
            create(
                "sh",
                "-c",
                f"trap '' TERM; : > {bench.folder}/up{n}; while :; do sleep 600; done",
                save=f"t{n}",
            ),
            {"until_file": f"{bench.folder}/up{n}"},
        )
    ]
    session = bench.session([*stubborn, {"ignore_term": True}])
    session.run("go")
    session.stop()
    assert all(terminal.released for terminal in session.turns[0].terminals.values())


def test_c9_released_terminals_leave_no_descriptors(bench: Bench) -> None:
    go = str(bench.folder / "go")
    one = [create("sh", "-c", "sleep 600 & echo x"), WAIT, RELEASE]
    session = bench.session({"turns": [[*one], [{"repeat": 5, "steps": one}, {"until_file": go}]]})
    session.run("warm")
    gc.collect()
    before = descriptors()
    run = session.start("five")
    until(
        session, lambda: len(run.turn.terminals) == 5 and all(t.released for t in run.turn.terminals.values())
    )
    soon(lambda: descriptors() <= before)
    Path(go).touch()
    finish(run)


def test_t07_a_person_stops_one_command_with_its_children_and_the_turn_goes_on(bench: Bench) -> None:
    pids = bench.folder / "pids"
    line = f"sleep 600 & echo $! > {pids}.tmp; mv {pids}.tmp {pids}; echo begun; wait; :"
    other = create("sh", "-c", "sleep 600", save="other")
    session = bench.session([other, create("sh", "-c", line), WAIT, {"text": "${wait_for_exit}"}])
    run = session.start("go")
    until(session, lambda: any(str(one.output) for one in run.turn.terminals.values()))
    stopped = next(key for key, one in run.turn.terminals.items() if str(one.output))
    session.stop_terminal(stopped)
    session.stop_terminal(stopped)  # a second click
    turn = finish(run)
    assert json.loads(turn.text) == {"exitCode": None, "signal": "SIGTERM"}, (
        "the agent is told by the protocol"
    )
    assert turn.state == "done"
    assert not alive(int(pids.read_text()))
    ended = turn.terminals.pop(stopped)
    assert (ended.signal, ended.stopped_by) == ("SIGTERM", "you")
    (left_alone,) = turn.terminals.values()
    assert (left_alone.signal, left_alone.exit_code, left_alone.ended_at) == (None, None, None)


def test_t08_what_has_ended_or_is_unknown_is_not_stopped(bench: Bench) -> None:
    go = bench.folder / "go"
    session = bench.session([create("true"), WAIT, {"text": "ended"}, {"until_file": str(go)}, OUTPUT, TELL])
    run = session.start("go")
    until(session, lambda: run.turn.text == "ended")
    (terminal_id,) = run.turn.terminals
    for one in (terminal_id, "t99", "__proto__"):
        session.stop_terminal(one)
    go.touch()
    turn = finish(run)
    assert turn.state == "done"
    assert (turn.terminals[terminal_id].exit_code, turn.terminals[terminal_id].stopped_by) == (0, None)
