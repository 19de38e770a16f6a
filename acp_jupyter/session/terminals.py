"""The client's ``terminal/*``: commands that run for the agent, in its session's directories.

See https://agentclientprotocol.com/protocol/terminals. A terminal is no sandbox: a command does whatever the
user's account may do; only where it starts is checked.
"""

from __future__ import annotations

import asyncio
import codecs
import itertools
import os
import shlex
import shutil
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_jupyter.model import events
from acp_jupyter.wire import reaper
from acp_jupyter.wire.answers import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_jupyter.session.roots import Roots
    from acp_jupyter.wire.watcher import Watcher

# The most that we keep for the agent, whatever limit it asks for.
CEILING_BYTES = 8 * 1024 * 1024
_CHUNK_BYTES = 64 * 1024
# A command that writes without end is read at no more than some 10 MB a second.
_BREATH_S = 0.005
_TERM_S = 0.5
_INVALID, _NOT_FOUND = -32602, -32002


class Terminals:
    """The terminals of one session.

    Args:
        apply: Applies an event to the session's state.
        roots: The session's directories now.
        watcher: Told of every process, so that none outlives the kernel.
    """

    def __init__(
        self, apply: Callable[[events.Event], None], roots: Callable[[], Roots], watcher: Watcher | None
    ) -> None:
        self._apply = apply
        self._roots = roots
        self._watcher = watcher
        self._ids = itertools.count(1)
        self._open: dict[str, _Terminal] = {}
        self._pids: set[int] = set()

    async def create(self, params: dict[str, Any]) -> dict[str, Any]:
        """Start a command and return at once: ``{"terminalId": ...}``."""
        cwd = params.get("cwd") or self._roots().cwd
        if not Path(cwd).is_absolute() or not Path(cwd).is_dir():  # noqa: ASYNC240  # one look at the disk
            raise RequestError(_INVALID, f"cwd {cwd!r} is not an absolute path of a directory")
        if not self._roots().holds(cwd):
            raise RequestError(_INVALID, f"cwd {cwd} is outside the session's directories")
        variables: list[dict[str, str]] = params.get("env") or []
        env = {**os.environ, **{one["name"]: one["value"] for one in variables}}
        argv = _argv(params["command"], list(params.get("args") or []), cwd, env)
        limit = params.get("outputByteLimit")
        terminal = _Terminal(
            f"t{next(self._ids)}", CEILING_BYTES if limit is None else min(limit, CEILING_BYTES)
        )
        try:
            await terminal.start(argv, cwd, env, self._apply)
        except OSError as error:
            raise RequestError(_INVALID, f"cannot run {argv[0]}: {error.strerror or error}") from error
        self._pids.add(terminal.pid)
        if self._watcher is not None:
            self._watcher.add(terminal.pid)
        self._open[terminal.terminal_id] = terminal
        command = params["command"] if argv[0] != params["command"] else shlex.join(argv)
        self._apply(events.TerminalStarted(terminal.terminal_id, command, cwd))
        terminal.follow(self._finished)
        return {"terminalId": terminal.terminal_id}

    def output(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return what a command has written so far, without waiting."""
        return self._find(params).output()

    async def wait_for_exit(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return ``{"exitCode", "signal"}`` when the command has ended."""
        return await self._find(params).wait()

    async def kill(self, params: dict[str, Any]) -> dict[str, Any]:
        """Kill the command and all that it started; the terminal stays."""
        await self._find(params).kill()
        return {}

    async def release(self, params: dict[str, Any]) -> dict[str, Any]:
        """Kill what runs, and forget the terminal; its output stays on the card."""
        terminal = self._find(params)
        del self._open[terminal.terminal_id]
        await terminal.kill()
        self._apply(events.TerminalReleased(terminal.terminal_id))
        return {}

    async def release_all(self) -> None:
        """End every terminal, and what commands that ended have left running: the agent is gone."""
        for terminal_id in list(self._open):
            await self.release({"terminalId": terminal_id})
        pids, self._pids = self._pids, set()
        for pid in pids:
            if self._watcher is not None:
                self._watcher.end(pid)

    def _find(self, params: dict[str, Any]) -> _Terminal:
        terminal_id = params["terminalId"]
        if terminal_id not in self._open:
            raise RequestError(_NOT_FOUND, f"no terminal {terminal_id!r} (unknown, or released)")
        return self._open[terminal_id]

    def _finished(self, terminal: _Terminal) -> None:
        self._apply(events.TerminalExited(terminal.terminal_id, **terminal.exit_status()))


class _Terminal:
    """One command: its process, and the end of its output, for the agent."""

    def __init__(self, terminal_id: str, limit_bytes: int) -> None:
        self.terminal_id = terminal_id
        self._limit = max(limit_bytes, 0)
        self._kept = bytearray()
        self._truncated = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    async def start(
        self, argv: list[str], cwd: str, env: dict[str, str], apply: Callable[[events.Event], None]
    ) -> None:
        self._apply = apply
        self._process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=cwd,
            env=env,
            start_new_session=True,
        )
        self.pid = self._process.pid

    def follow(self, finished: Callable[[_Terminal], None]) -> None:
        self._reader = asyncio.create_task(self._read())
        self._ended = asyncio.create_task(self._end(finished))

    async def _read(self) -> None:
        assert self._process.stdout is not None  # noqa: S101  # it was started with a pipe
        while data := await self._process.stdout.read(_CHUNK_BYTES):
            self._keep(data)
            self._tell(self._decoder.decode(data))
            if len(data) == _CHUNK_BYTES:
                await asyncio.sleep(_BREATH_S)

    async def _end(self, finished: Callable[[_Terminal], None]) -> None:
        await self._process.wait()
        # A child left behind may hold the pipe open: what is in it already is read, then the command is over.
        await asyncio.wait([self._reader], timeout=0.5)
        self._reader.cancel()
        self._tell(self._decoder.decode(b"", final=True))
        finished(self)

    def _keep(self, data: bytes) -> None:
        self._kept += data
        if len(self._kept) > 2 * CEILING_BYTES:
            del self._kept[: len(self._kept) - CEILING_BYTES]
            self._truncated = True

    def _tell(self, text: str) -> None:
        if text:
            self._apply(events.TerminalOutput(self.terminal_id, text))

    def output(self) -> dict[str, Any]:
        kept = bytes(self._kept)
        tail = _tail(kept, self._limit)
        result: dict[str, Any] = {
            "output": tail.decode("utf-8", "replace"),
            "truncated": self._truncated or len(tail) < len(kept),
        }
        if self._ended.done():
            status = self.exit_status()
            result["exitStatus"] = {"exitCode": status["exit_code"], "signal": status["signal"]}
        return result

    def exit_status(self) -> dict[str, Any]:
        code = self._process.returncode
        if code is not None and code < 0:
            return {"exit_code": None, "signal": signal.Signals(-code).name}
        return {"exit_code": code, "signal": None}

    async def wait(self) -> dict[str, Any]:
        await asyncio.shield(self._ended)
        status = self.exit_status()
        return {"exitCode": status["exit_code"], "signal": status["signal"]}

    async def kill(self) -> None:
        if self._process.returncode is None:
            # Looked at before the command dies: afterwards its children belong to nobody.
            for pause in reaper.ending(reaper.family({self.pid: None}, reaper.snapshot()), _TERM_S):
                await asyncio.sleep(pause)
        await asyncio.shield(self._ended)


def _tail(data: bytes, limit: int) -> bytes:
    """Return at most the last ``limit`` bytes, from the beginning of a character on."""
    tail = data[len(data) - limit :] if limit < len(data) else data
    start = 0
    while start < min(len(tail), 3) and len(tail) < len(data) and tail[start] & 0xC0 == 0x80:  # noqa: PLR2004  # UTF-8 continuation bytes
        start += 1
    return tail[start:]


def _argv(command: str, args: list[str], cwd: str, env: dict[str, str]) -> list[str]:
    """Return what to run: without arguments, a command that is no program is a line for the shell."""
    path = command if Path(command).name == command else str(Path(cwd, command))
    if args or shutil.which(path, path=env.get("PATH")):
        return [command, *args]
    shell = shutil.which("sh")
    return [shell, "-c", command] if shell else ["cmd", "/c", command]
