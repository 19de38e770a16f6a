"""The client's ``terminal/*``: commands that run for the agent, in its session's directories.

See https://agentclientprotocol.com/protocol/terminals. A terminal is no sandbox: a command does whatever the
user's account may do; only where it starts is checked.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_jupyter.model import events
from acp_jupyter.session.command import CEILING_BYTES, Command
from acp_jupyter.session.covered import shown_command
from acp_jupyter.session.gate import Gate
from acp_jupyter.wire.answers import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_jupyter.session.roots import Roots
    from acp_jupyter.wire.watcher import Watcher

_INVALID, _NOT_FOUND = -32602, -32002


class Terminals:
    """The terminals of one session.

    Args:
        apply: Applies an event to the session's state.
        roots: The session's directories now.
        check_prompted: Raises where no prompt is under way.
        watcher: Told of every process, so that none outlives the kernel.
        gate: What stands before commands; by default one that asks nobody.
        taken: Whether an id is in use in the session: an agent names terminals of its own.
    """

    def __init__(  # noqa: PLR0913  # one place makes it
        self,
        apply: Callable[[events.Event], None],
        roots: Callable[[], Roots],
        check_prompted: Callable[[], None],
        watcher: Watcher | None,
        *,
        gate: Gate | None = None,
        taken: Callable[[str], bool] = lambda _terminal_id: False,
    ) -> None:
        self._apply = apply
        self._check_prompted = check_prompted
        self._roots = roots
        self._watcher = watcher
        self._gate = gate or Gate()
        self._taken = taken
        self._ids = map("t{}".format, itertools.count(1))
        self._open: dict[str, Command] = {}
        self._pids: set[int] = set()
        self._stopped: set[str] = set()  # by the person at the card
        self._killing: set[asyncio.Future[None]] = set()

    async def create(self, params: dict[str, Any]) -> dict[str, Any]:
        """Start a command and return at once: ``{"terminalId": ...}``."""
        self._check_prompted()
        cwd = self._checked_cwd(params.get("cwd"))
        variables: list[dict[str, str]] = params.get("env") or []
        env = {**os.environ, **{one["name"]: one["value"] for one in variables}}
        args = list(params.get("args") or [])
        argv = _argv(params["command"], args, cwd, env)
        shown = shown_command(params["command"], args)
        runs = await self._gate.running(shown)
        self._check_prompted()  # the turn may be over by now
        limit = params.get("outputByteLimit")
        terminal_id = next(one for one in self._ids if not self._taken(one))
        command = Command(CEILING_BYTES if limit is None else limit)
        try:
            await command.start(argv, cwd, env)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise RequestError(_INVALID, f"cannot run {argv[0]}: {reason}") from error
        self._pids.add(command.pid)
        if self._watcher is not None:
            self._watcher.add(command.pid)
        self._open[terminal_id] = command
        self._apply(events.TerminalStarted(terminal_id, shown, cwd))
        command.follow(partial(self._wrote, terminal_id), partial(self._ended, terminal_id, command))
        runs(terminal_id)
        return {"terminalId": terminal_id}

    def output(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return what a command has written so far, without waiting."""
        command = self._find(params)
        text, truncated = command.output()
        status = {"exitStatus": command.exit_json()} if command.ended else {}
        return {"output": text, "truncated": truncated, **status}

    async def wait_for_exit(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return ``{"exitCode", "signal"}`` when the command has ended."""
        command = self._find(params)
        await command.wait()
        return command.exit_json()

    async def kill(self, params: dict[str, Any]) -> dict[str, Any]:
        """Kill the command and all that it started; the terminal stays."""
        await self._find(params).kill()
        return {}

    def stop(self, terminal_id: str) -> None:
        """Kill a command for the person at the card, who does not wait for it; a late click is ignored."""
        command = self._open.get(terminal_id)
        if command is not None and not command.ended:
            self._stopped.add(terminal_id)
            killing = asyncio.ensure_future(command.kill())
            self._killing.add(killing)  # the loop itself holds no task
            killing.add_done_callback(self._killing.discard)

    async def release(self, params: dict[str, Any]) -> dict[str, Any]:
        """Kill what runs, and forget the terminal; its output stays on the card."""
        command = self._find(params)
        del self._open[params["terminalId"]]
        await self._close(params["terminalId"], command)
        return {}

    async def release_all(self) -> None:
        """End every terminal, and what commands that ended have left running: the agent is gone."""
        commands, self._open = self._open, {}
        await asyncio.gather(*(self._close(*one) for one in commands.items()))
        pids, self._pids = self._pids, set()
        for pid in pids:
            if self._watcher is not None:
                self._watcher.end(pid)

    def _checked_cwd(self, asked: str | None) -> str:
        cwd = asked or self._roots().cwd
        if not Path(cwd).is_absolute() or not Path(cwd).is_dir():
            raise RequestError(_INVALID, f"cwd {cwd!r} is not an absolute path of a directory")
        if not self._roots().holds(cwd):
            raise RequestError(_INVALID, f"cwd {cwd} is outside the session's directories")
        return cwd

    def _find(self, params: dict[str, Any]) -> Command:
        terminal_id = params["terminalId"]
        if terminal_id not in self._open:
            raise RequestError(_NOT_FOUND, f"no terminal {terminal_id!r} (unknown, or released)")
        return self._open[terminal_id]

    async def _close(self, terminal_id: str, command: Command) -> None:
        await command.close()
        self._apply(events.TerminalReleased(terminal_id))

    def _wrote(self, terminal_id: str, text: str) -> None:
        self._apply(events.TerminalOutput(terminal_id, text))

    def _ended(self, terminal_id: str, command: Command) -> None:
        code, signal_name = command.exit_status
        by = "you" if terminal_id in self._stopped else None
        self._apply(events.TerminalExited(terminal_id, code, signal_name, by))


def _argv(command: str, args: list[str], cwd: str, env: dict[str, str]) -> list[str]:
    """Return what to run: without arguments, a command that is no program is a line for the shell."""
    if not command.strip():
        raise RequestError(_INVALID, "the command is empty")
    path = command if Path(command).name == command else str(Path(cwd, command))
    if args or shutil.which(path, path=env.get("PATH")):
        return [command, *args]
    return ["/bin/sh", "-c", command] if os.name == "posix" else ["cmd", "/c", command]
