from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from acp_jupyter.wire import reaper
from acp_jupyter.wire.watcher import Watcher

from .support import alive, kill_all, read_pids, spawn, wait_for
from .test_process import SPREAD

ROOT = str(Path(__file__).parents[2])
# a stand-in for the kernel: it starts an agent behind `sh -c`, and waits to be killed
KERNEL = """
import asyncio, os, sys, threading
sys.path.insert(0, sys.argv[1])
from acp_jupyter.wire.process import AgentProcess
from acp_jupyter.wire.watcher import Watcher

async def main():
    watcher = Watcher()
    command = f"{sys.executable} -I -S agent.py; :"
    agent = await AgentProcess.spawn("sh", ["-c", command], cwd=".", watcher=watcher)
    if "at-once" in sys.argv:
        open("agent.pid", "w").write(f"{agent.pid}\\n")
        os.kill(os.getpid(), 9)
    if "fork" in sys.argv and os.fork() == 0:  # it holds the watcher's pipe
        open("fork.pid", "w").write(f"{os.getpid()}\\n")
        threading.Event().wait(600)
    open("watcher.pid", "w").write(f"{watcher.pid}\\n")
    open("kernel.pid", "w").write(f"{os.getpid()}\\n")
    await asyncio.sleep(600) if "clean" not in sys.argv else await asyncio.to_thread(sys.stdin.read)

asyncio.run(main())
"""
AGENT = SPREAD + (
    "sleeper('plain'); sleeper('stubborn', 'ignore'); sleeper('session', 'ignore', start_new_session=True);"
    "here('agent'); time.sleep(600)"
)
NAMES = ("kernel", "watcher", "agent", "plain", "stubborn", "session")


def start_kernel(tmp_path: Path, *words: str, agent: str = AGENT) -> subprocess.Popen[bytes]:
    (tmp_path / "agent.py").write_text(agent)
    (tmp_path / "kernel.py").write_text(KERNEL)
    return subprocess.Popen(
        [sys.executable, "kernel.py", ROOT, *words],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        start_new_session=True,
    )


def finish(kernel: subprocess.Popen[bytes], pids: list[int]) -> None:
    kernel.kill()
    kernel.communicate()
    kill_all(pids)


@pytest.mark.parametrize("words", [(), ("fork",)], ids=["alone", "forked-child"])
def test_p08_kill_9_of_the_kernel_leaves_nothing(tmp_path: Path, words: tuple[str, ...]) -> None:
    kernel = start_kernel(tmp_path, *words)
    pids = read_pids(tmp_path, *NAMES)
    forked = read_pids(tmp_path, *words)
    try:
        kernel.kill()
        wait_for(lambda: not any(map(alive, pids)), 4)
        assert all(map(alive, forked))  # it is the user's own
    finally:
        finish(kernel, pids + forked)


def test_p08_the_kernel_may_die_while_the_watcher_starts(tmp_path: Path) -> None:
    kernel = start_kernel(tmp_path, "at-once", agent="import time; time.sleep(600)")
    pids = read_pids(tmp_path, "agent")
    try:
        assert kernel.wait(10) == -signal.SIGKILL
        wait_for(lambda: not any(map(alive, pids)), 4)
    finally:
        finish(kernel, pids)


def test_p08_a_clean_end_of_the_kernel_leaves_nothing(tmp_path: Path) -> None:
    kernel = start_kernel(tmp_path, "clean")
    pids = read_pids(tmp_path, *NAMES)
    try:
        kernel.communicate(timeout=10)
        wait_for(lambda: not any(map(alive, pids)), 4)
    finally:
        finish(kernel, pids)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_p09_signals_to_the_kernels_group_and_to_itself_do_not_end_the_watcher(
    tmp_path: Path, number: int
) -> None:
    kernel = start_kernel(tmp_path)
    pids = read_pids(tmp_path, *NAMES)
    try:
        os.kill(pids[1], number)
        os.killpg(kernel.pid, number)
        kernel.kill()  # where it ignores the signal, as under nohup
        wait_for(lambda: not any(map(alive, pids)), 5)
    finally:
        finish(kernel, pids)


def test_p06_a_family_is_remembered_when_its_middle_has_died(tmp_path: Path) -> None:
    # the sleeper leaves group and session, and its parent dies later than the watcher's next look
    middle = SPREAD + "sleeper('lost', 'ignore', start_new_session=True); here('middle'); sys.stdin.read()"
    (tmp_path / "middle.py").write_text(middle)
    agent = (
        "import subprocess, sys; middle = subprocess.Popen([sys.executable, '-I', '-S', 'middle.py'],"
        "stdin=subprocess.PIPE, start_new_session=True);"
        "sys.stdin.readline(); middle.communicate(); sys.exit(5)"
    )

    async def main() -> None:
        watcher = Watcher()
        process = await spawn(agent, tmp_path, watcher=watcher)
        pids = await asyncio.to_thread(read_pids, tmp_path, "middle", "lost")
        try:
            await asyncio.sleep(1.2)  # what is tested is that the watcher looks twice a second
            await process.send(b"\n")
            assert await process.wait() == 5
            assert alive(pids[1])
            await process.stop()
            await asyncio.to_thread(wait_for, lambda: not alive(pids[1]), 3)
        finally:
            kill_all(pids)
            watcher.close()

    asyncio.run(main())


def test_close_ends_what_is_watched_and_nothing_else() -> None:
    watched, removed, stranger = (
        subprocess.Popen(["/bin/sleep", "600"], start_new_session=True) for _ in range(3)
    )
    watcher = Watcher()
    assert watcher.pid is None
    watcher.add(watched.pid)
    watcher.add(removed.pid)
    pid = watcher.pid
    assert pid is not None
    watcher.remove(removed.pid)
    try:
        watcher.close()
        assert not alive(pid)
        assert watched.wait(5) == -signal.SIGTERM
        assert removed.poll() is None
        assert stranger.poll() is None
    finally:
        for process in (watched, removed, stranger):
            process.kill()
            process.wait()


def test_close_does_not_wait_for_a_forked_child_that_holds_the_pipe() -> None:
    watched = subprocess.Popen(["/bin/sleep", "600"], start_new_session=True)
    watcher = Watcher()
    watcher.add(watched.pid)
    pid = watcher.pid
    assert pid is not None
    stdin = watcher._process and watcher._process.stdin
    assert stdin
    with os.fdopen(os.dup(stdin.fileno()), "wb"):  # what a fork leaves behind
        begun = time.monotonic()
        watcher.close()
        assert time.monotonic() - begun < 2
        assert not alive(pid)
    assert watched.wait(5) == -signal.SIGTERM


def test_close_ends_what_was_watched_by_a_watcher_that_died() -> None:
    watched = subprocess.Popen(["/bin/sleep", "600"], start_new_session=True)
    watcher = Watcher()
    watcher.add(watched.pid)
    dead = watcher.pid
    assert dead is not None
    os.kill(dead, signal.SIGKILL)
    wait_for(lambda: not alive(dead))
    watcher.close()
    assert watched.wait(5) == -signal.SIGTERM


def test_end_kills_at_once() -> None:
    watcher = Watcher()
    with subprocess.Popen(
        ["/bin/sh", "-c", "trap '' TERM; echo; sleep 600; :"], stdout=subprocess.PIPE, start_new_session=True
    ) as stubborn:
        assert stubborn.stdout
        stubborn.stdout.readline()
        watcher.add(stubborn.pid)
        watcher.end(stubborn.pid)
        begun = time.monotonic()
        # killed, or ended by itself when the KILL hit the command that it waited for first
        assert stubborn.wait(5) in {-signal.SIGKILL, 0}
        assert time.monotonic() - begun < 1
    watcher.close()


def test_a_watcher_that_died_is_started_again() -> None:
    watcher = Watcher()
    first, second = (subprocess.Popen(["/bin/sleep", "600"], start_new_session=True) for _ in range(2))
    try:
        watcher.add(first.pid)
        dead = watcher.pid
        assert dead is not None
        os.kill(dead, signal.SIGKILL)
        wait_for(lambda: not alive(dead))
        watcher.add(second.pid)
        assert watcher.pid not in (None, dead)
        watcher.close()
        assert first.wait(5) == second.wait(5) == -signal.SIGTERM
    finally:
        for process in (first, second):
            process.kill()
            process.wait()


def row(ppid: int, pgid: int = 1, sid: int = 1, started: str = "0") -> reaper.Row:
    return reaper.Row(ppid, pgid, sid, started)


def test_a_family_grows_by_parent_group_and_session_and_knows_reuse() -> None:
    table = {1: row(0), 10: row(1, 10, 10), 11: row(10), 12: row(1, 10, 1), 13: row(1, 99, 10), 20: row(1)}
    known = reaper.family({10: None}, table)
    assert known == {10: "0", 11: "0", 12: "0", 13: "0"}
    # its leader died, its members hold the number; a later stranger under another number is not theirs
    assert reaper.family(known, {1: row(0), 12: row(1, 10), 14: row(1, 10)}) == {10: "0", 12: "0", 14: "0"}
    # nobody is left; the number 10 is given to a stranger who has a child
    assert reaper.family(known, {1: row(0), 10: row(1, 10, 10, "9"), 15: row(10, 10, 10)}) == {}
    assert reaper.family(known, {1: row(0)}) == {}


@pytest.mark.parametrize("known", [{10: None}, {10: "0"}], ids=["new", "known"])
def test_a_child_that_is_forked_while_the_table_is_read_is_not_missed(
    monkeypatch: pytest.MonkeyPatch, known: reaper.Family
) -> None:
    # listed before 11 was forked, and read after 10 had ended
    tables = iter([{1: row(0)}, {1: row(0), 11: row(1, 10, 10)}])
    monkeypatch.setattr(reaper, "snapshot", lambda: next(tables))
    (family,) = reaper.look({10: known})[0].values()
    assert family.keys() == {10, 11}


def test_the_table_of_ps_agrees_with_that_of_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = reaper.snapshot()[os.getpid()]
    monkeypatch.setattr(sys, "platform", "darwin")
    theirs = reaper.snapshot()[os.getpid()]
    assert (theirs.ppid, theirs.pgid, theirs.sid) == (ours.ppid, ours.pgid, ours.sid)
    assert theirs == reaper.snapshot()[os.getpid()]


def test_the_program_needs_nothing_of_ours() -> None:
    source = Path(reaper.__file__).read_text()
    assert "acp_jupyter" not in source
