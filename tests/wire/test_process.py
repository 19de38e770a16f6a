from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import sys
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from acp_jupyter.errors import AgentExited, AgentNotFound, AgentStartFailed, AgentTimeout, UsageError
from acp_jupyter.wire import pipes
from acp_jupyter.wire.process import AgentProcess, find_command

from .support import Log, alive, kill_all, read_pids, spawn

pytestmark = pytest.mark.unofficial("these agents answer any method")

ECHO = """
import sys
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
"""
# a first answer for the client's first request, which has the id 0
ANSWER = """
import json, os, sys, time
def answer(text="ok"):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": 0, "result": text}, ensure_ascii=False) + "\\n")
    sys.stdout.flush()
"""
# shared by the scripts that spread: a process writes its pid, and may sleep through TERM
SPREAD = """
import os, signal, subprocess, sys, time
SLEEP = '''
import os, signal, sys, time
if "ignore" in sys.argv: signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(sys.argv[1] + ".pid", "w").write(f"{os.getpid()}\\\\n")
time.sleep(600)
'''
def sleeper(name, *words, **how):
    return subprocess.Popen([sys.executable, "-I", "-S", "-c", SLEEP, name, *words], **how)
def here(name):
    open(name + ".pid", "w").write(f"{os.getpid()}\\n")
"""


@contextlib.asynccontextmanager
async def running(script: str, tmp_path: Path, **more: Any) -> AsyncIterator[AgentProcess]:
    process = await spawn(script, tmp_path, **more)
    try:
        yield process
    finally:
        await process.stop()


async def asked(process: AgentProcess, timeout_s: float = 10) -> tuple[Any, Log]:
    log = Log(process)
    try:
        return await log.peer.request("initialize", {}, timeout_s=timeout_s), log
    finally:
        await log.peer.close()


def test_t1_lines_go_both_ways_and_end(tmp_path: Path) -> None:
    async def main() -> None:
        async with running(ECHO, tmp_path) as process:
            await process.send(b'{"a":1}\n')
            await process.send("中🙂\n".encode())
            assert await process.receive() == b'{"a":1}'
            assert await process.receive() == "中🙂".encode()
            await process.stop()
            assert await process.receive() is None
            assert process.returncode == 0

    asyncio.run(main())


def test_t5_and_f01_a_line_of_60_mb(tmp_path: Path) -> None:
    script = ANSWER + "answer('x' * 60_000_000)"

    async def main() -> None:
        async with running(script, tmp_path) as process:
            begun = time.monotonic()
            text, _ = await asked(process, 30)
            assert len(text) == 60_000_000
            assert time.monotonic() - begun < 10

    asyncio.run(main())


def test_t5_a_line_of_60_mb_goes_out_too(tmp_path: Path) -> None:
    script = ANSWER + "answer(len(json.loads(sys.stdin.readline())['params']))"

    async def main() -> None:
        async with running(script, tmp_path) as process:
            log = Log(process)
            assert await log.peer.request("m", "x" * 60_000_000, timeout_s=30) == 60_000_000
            await log.peer.close()

    asyncio.run(main())


def test_t3_and_p10_a_chatty_stderr_does_not_freeze_the_agent(tmp_path: Path) -> None:
    script = (
        ANSWER + "sys.stderr.write('line\\n' * 200_000 + 'the end \\u4e2d'); sys.stderr.flush(); answer()"
    )

    async def main() -> None:
        async with running(script, tmp_path, env={"PYTHONIOENCODING": "utf-8"}) as process:
            assert (await asked(process))[0] == "ok"
            await process.wait()
            await process.stop()
            assert process.stderr_tail().endswith("line\nthe end 中")
            assert len(process.stderr_tail().encode()) <= 64 * 1024 + 2

    asyncio.run(main())


def test_f05_characters_may_arrive_byte_by_byte(tmp_path: Path) -> None:
    script = """
import os, time
for byte in '{"jsonrpc":"2.0","id":0,"result":"\\u4e2d\\U0001f642"}\\n'.encode():
    os.write(1, bytes([byte]))
    time.sleep(0.002)
"""

    async def main() -> None:
        async with running(script, tmp_path) as process:
            assert (await asked(process))[0] == "中🙂"

    asyncio.run(main())


def test_t6_300_chunks_and_the_response_in_one_write(tmp_path: Path) -> None:
    script = """
import json, os, sys
sys.stdin.readline()
lines = [json.dumps({"jsonrpc": "2.0", "method": "u", "params": i}) for i in range(300)]
lines.append(json.dumps({"jsonrpc": "2.0", "id": 0, "result": None}))
os.write(1, ("\\n".join(lines) + "\\n").encode())
sys.stdin.read()
"""

    async def main() -> None:
        async with running(script, tmp_path) as process:
            log = Log(process)
            await log.peer.request("m", {}, timeout_s=10, on_response=lambda _: log.events.append("end"))
            assert log.events == [*(("u", i) for i in range(300)), "end"]
            await log.peer.close()

    asyncio.run(main())


def test_a_slow_reader_holds_the_agent_back_and_loses_nothing(tmp_path: Path) -> None:
    script = """
import os, sys
for number in range(4000):
    sys.stdout.write(f"{number:05}" + "x" * 10_000 + "\\n")
"""

    async def main() -> None:
        async with running(script, tmp_path) as process:
            await process.exit_code_within(0.3)
            assert process.returncode is None  # 40 MB do not fit
            for number in range(4000):
                line = await process.receive()
                assert line is not None
                assert int(line[:5]) == number
            assert await process.receive() is None

    asyncio.run(main())


def test_p02_an_agent_that_exits_at_once(tmp_path: Path) -> None:
    script = "import sys; sys.stderr.write('boom: missing key\\n'); sys.exit(3)"

    async def main() -> None:
        async with running(script, tmp_path) as process:
            begun = time.monotonic()
            with pytest.raises(AgentExited, match="boom: missing key") as caught:
                await asked(process)
            assert caught.value.exit_code == 3
            assert "code 3" in str(caught.value)
            assert time.monotonic() - begun < 2

    asyncio.run(main())


def test_i7_and_p04_an_agent_that_never_answers(tmp_path: Path) -> None:
    script = (
        "import sys; sys.stderr.write('connecting to nowhere\\n');"
        "print('started', flush=True); sys.stdin.read()"
    )

    async def main() -> None:
        async with running(script, tmp_path) as process:
            assert await process.receive() == b"started"
            with pytest.raises(AgentTimeout, match="connecting to nowhere"):
                await asked(process, 0.1)

    asyncio.run(main())


def test_f15_an_agent_that_dies_in_the_middle_of_a_line(tmp_path: Path) -> None:
    script = 'import os; os.write(1, b\'{"jsonrpc":"2.0","method":"session/upd\'); os._exit(1)'

    async def main() -> None:
        async with running(script, tmp_path) as process:
            log = Log(process)
            with pytest.raises(AgentExited) as caught:
                await log.peer.request("m", {}, timeout_s=10)
            assert caught.value.exit_code == 1
            assert log.peer.noise[-1] == ("not JSON", '{"jsonrpc":"2.0","method":"session/upd')
            await log.peer.close()

    asyncio.run(main())


@pytest.mark.parametrize("end", ["", "\\n"], ids=["endless", "ended in the same chunk"])
def test_a_line_beyond_all_measure_ends_the_connection_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.setattr(pipes, "LINE_BYTES", 100_000)
    script = f"import os; line = b'x' * 50_000; [os.write(1, line) for _ in range(3)]; print('{end}' * 9)"

    async def main() -> None:
        async with running(script + "; import time; time.sleep(60)", tmp_path) as process:
            log = Log(process)
            with pytest.raises(AgentExited, match="a line of more than 100,000 bytes"):
                await log.peer.request("m", {}, timeout_s=10)
            await log.peer.close()

    asyncio.run(main())


def test_t7_a_grandchild_that_holds_stdout_does_not_hide_the_exit(tmp_path: Path) -> None:
    script = SPREAD + "here('agent'); sleeper('child'); print('last words', flush=True); os._exit(7)"

    async def main() -> None:
        async with running(script, tmp_path) as process:
            pids = await asyncio.to_thread(read_pids, tmp_path, "agent", "child")
            assert await asyncio.wait_for(process.wait(), 5) == 7
            assert await process.receive() == b"last words"
            assert await asyncio.wait_for(process.receive(), 2) is None
            assert alive(pids[1])
            await process.stop()
            assert not any(map(alive, pids))

    asyncio.run(main())


def test_t7_an_agent_that_closes_its_output_and_lives(tmp_path: Path) -> None:
    script = "import os, sys; os.close(1); sys.stdin.read()"

    async def main() -> None:
        async with running(script, tmp_path) as process:
            with pytest.raises(AgentExited, match="closed the connection") as caught:
                await asked(process)
            assert caught.value.exit_code is None

    asyncio.run(main())


def test_f20_an_agent_that_closed_its_input(tmp_path: Path) -> None:
    script = 'import os, time; os.close(0); os.write(1, b\'{"method":"closed"}\\n\'); time.sleep(600)'

    async def main() -> None:
        async with running(script, tmp_path) as process:
            log = Log(process)
            await log.seen(1)
            with pytest.raises(AgentExited, match="session/prompt was not delivered"):
                await log.peer.request("session/prompt", "x" * 1_000_000, timeout_s=None)
            await log.peer.close()

    asyncio.run(main())


def test_t8_and_p06_stop_ends_a_stubborn_tree(tmp_path: Path) -> None:
    script = SPREAD + (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); sleeper('same', 'ignore');"
        "sleeper('session', 'ignore', start_new_session=True); sleeper('group', preexec_fn=os.setpgrp);"
        "here('agent'); time.sleep(600)"
    )

    async def main() -> None:
        process = await spawn(script, tmp_path)
        pids = await asyncio.to_thread(read_pids, tmp_path, "agent", "same", "session", "group")
        try:
            begun = time.monotonic()
            await asyncio.gather(process.stop(), process.stop())
            await process.stop()
            assert time.monotonic() - begun < 5
            assert not any(map(alive, pids))
            assert process.returncode == -9
        finally:
            kill_all(pids)

    asyncio.run(main())


def test_p06_stop_ends_what_a_launcher_has_left_behind(tmp_path: Path) -> None:
    script = SPREAD + "sleeper('child', 'ignore'); here('agent'); sys.stdin.read()"

    async def main() -> None:
        process = await spawn(script, tmp_path)
        pids = await asyncio.to_thread(read_pids, tmp_path, "agent", "child")
        try:
            await process.stop(grace_s=2.0)
            assert process.returncode == 0
            assert not any(map(alive, pids))
        finally:
            kill_all(pids)

    asyncio.run(main())


def test_p09_the_agent_has_its_own_session(tmp_path: Path) -> None:
    async def main() -> None:
        async with running(ECHO, tmp_path) as process:
            assert os.getsid(process.pid) == process.pid
            assert os.getpgid(process.pid) == process.pid

    asyncio.run(main())


def test_p13_full_environment_plus_overrides_and_no_open_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("X_API_KEY", "k")
    monkeypatch.setenv("X_OTHER", "ours")
    script = (
        ANSWER + "e = os.environ; answer([e['X_API_KEY'], e['X_OTHER'], os.getcwd(), os.listdir('/dev/fd')])"
    )
    read, write = os.pipe()
    os.set_inheritable(write, True)  # noqa: FBT003 - the function's only argument

    async def main() -> None:
        async with running(script, tmp_path, env={"X_OTHER": "$HOME"}) as process:
            key, other, cwd, files = (await asked(process))[0]
            assert (key, other, Path(cwd)) == ("k", "$HOME", tmp_path)
            assert len(files) == 4  # its three pipes, and the listing itself

    asyncio.run(main())
    os.close(read)
    os.close(write)


def test_p01_an_agent_that_is_not_found(tmp_path: Path) -> None:
    async def main() -> None:
        with pytest.raises(AgentNotFound) as caught:
            await AgentProcess.spawn("no-such-agent", [], cwd=str(tmp_path), env={"PATH": "/some/where"})
        assert "no-such-agent" in caught.value.message
        assert "/some/where" in caught.value.advice
        assert "PATH" in caught.value.advice

    asyncio.run(main())


def executable(file: Path, text: str = "#!/bin/sh\n") -> str:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return str(file)


def test_p01_commands_are_found_where_the_agent_would(tmp_path: Path) -> None:
    found = executable(tmp_path / "bin" / "agent")
    cwd = str(tmp_path)
    assert find_command("agent", cwd, {"PATH": f"/nowhere:{tmp_path}/bin"}) == found
    assert find_command("./bin/agent", cwd, {"PATH": ""}) == found
    assert find_command("bin/agent", cwd, {}) == found
    assert find_command(found, "/", {}) == found
    for missing in ("bin/other", "other", ".", ""):
        with pytest.raises(AgentNotFound):
            find_command(missing, cwd, {"PATH": str(tmp_path / "bin")})
    with pytest.raises(UsageError, match="working directory"):
        find_command("agent", str(tmp_path / "gone"), {})


def test_p11_windows_shims_are_found_by_pathext(tmp_path: Path) -> None:
    found = executable(tmp_path / "bin" / "npx.CMD")
    environment = {"PATH": str(tmp_path / "bin"), "PATHEXT": ".EXE;.CMD"}
    for name in ("npx", "npx.CMD"):
        assert find_command(name, "/", environment, windows=True) == found
    with pytest.raises(AgentNotFound):
        find_command("npx", "/", {**environment, "PATHEXT": ".EXE"}, windows=True)


def test_an_agent_that_cannot_be_run(tmp_path: Path) -> None:
    file = executable(tmp_path / "agent", "#!/no/such/interpreter\n")

    async def main() -> None:
        with pytest.raises(AgentStartFailed, match="cannot be run"):
            await AgentProcess.spawn(file, [], cwd=str(tmp_path))

    asyncio.run(main())


def test_p14_the_loop_may_run_in_a_thread(tmp_path: Path) -> None:
    results: list[Any] = []

    async def main() -> None:
        async with running(ECHO, tmp_path) as process:
            await process.send(b"{}\n")
            results.append(await process.receive())
        results.append(process.returncode)

    thread = threading.Thread(target=lambda: asyncio.run(main()))
    thread.start()
    thread.join(20)
    assert results == [b"{}", 0]


def test_p17_a_wrapper_that_prints_first(tmp_path: Path) -> None:
    agent = tmp_path / "answer.py"
    agent.write_text(ANSWER + "answer()")
    wrapper = executable(tmp_path / "wrap", f"#!/bin/sh\necho hello\nexec {sys.executable} -I -S {agent}\n")

    async def main() -> None:
        process = await AgentProcess.spawn(wrapper, [], cwd=str(tmp_path))
        text, log = await asked(process)
        await process.stop()
        assert text == "ok"
        assert log.peer.noise[0] == ("not JSON", "hello")

    asyncio.run(main())
