"""The agent's process: found, started in a session of its own, spoken to, and ended with its whole tree.

https://agentclientprotocol.com/protocol/transports
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from acp_jupyter.errors import AgentExited, AgentNotFound, AgentStartFailed, UsageError
from acp_jupyter.wire import reaper
from acp_jupyter.wire.pipes import Pipes
from acp_jupyter.wire.waiting import within

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from acp_jupyter.wire.watcher import Watcher

_STEP_S = 0.05
_KILL_S = 1.5  # how long to go on killing what keeps appearing
_WINDOWS = sys.platform == "win32"
_CREATION_FLAGS: int = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)  # Windows alone has it
_PATHEXT = ".COM;.EXE;.BAT;.CMD"


class AgentProcess:
    """An agent that runs as our child; a `Transport` by its stdin and stdout.

    Its pipes belong to the event loop it was spawned in. Made by `spawn`, ended by `stop`.
    """

    def __init__(
        self, command: str, transport: asyncio.SubprocessTransport, pipes: Pipes, watcher: Watcher | None
    ) -> None:
        self._command = command
        self._transport = transport
        self._pipes = pipes
        self._watcher = watcher
        self._stopping: asyncio.Task[None] | None = None
        self._family: reaper.Family = {self.pid: None}
        self._look()

    @classmethod
    async def spawn(  # noqa: PLR0913  # all but the command are named at the call
        cls,
        command: str,
        args: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str] | None = None,
        inherit: bool = True,
        watcher: Watcher | None = None,
    ) -> AgentProcess:
        """Start an agent.

        Args:
            command: A name to look for on PATH, or a path, relative to ``cwd``.
            args: Its arguments; no shell reads them.
            cwd: Its working directory.
            env: Variables to set; the PATH among them is the one searched.
            inherit: Whether they are set over our own environment, or are all that it gets.
            watcher: Told of the process, so that it dies with us.

        Raises:
            AgentNotFound: There is no such command.
            AgentStartFailed: It cannot be run.
            UsageError: ``cwd`` is no directory.
        """
        environment = merged_environment(env, inherit=inherit)
        program = find_command(command, cwd, environment)
        try:
            transport, pipes = await asyncio.get_running_loop().subprocess_exec(
                Pipes,
                program,
                *args,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=cwd,
                env=environment,
                start_new_session=not _WINDOWS,  # an interrupt of the kernel's group must not reach it
                creationflags=_CREATION_FLAGS,
            )
        except (OSError, ValueError) as error:  # ValueError: a null character in an argument
            raise AgentStartFailed(
                f"{program} cannot be run: {error}", advice="Try the same command in a terminal."
            ) from error
        if watcher is not None:
            watcher.add(transport.get_pid())
        return cls(command, transport, pipes, watcher)

    @property
    def pid(self) -> int:
        """Its process id; on POSIX also its group's and its session's."""
        return self._transport.get_pid()

    @property
    def returncode(self) -> int | None:
        """Its exit code, negative for a signal; ``None`` while it runs."""
        return self._transport.get_returncode()

    @property
    def exited(self) -> asyncio.Event:
        """Set when it has exited, whoever still holds its pipes."""
        return self._pipes.exited

    async def wait(self) -> int:
        """Wait for its exit code."""
        await self._pipes.exited.wait()
        return cast("int", self.returncode)

    async def exit_code_within(self, timeout_s: float) -> int | None:
        """Wait for its exit code; ``None`` where it still runs after ``timeout_s``."""
        await within(timeout_s, self._pipes.exited.wait())
        return self.returncode

    def stderr_tail(self) -> str:
        """Give the last 64 kB of its error output, unreadable bytes replaced."""
        return self._pipes.stderr_tail()

    async def receive(self) -> bytes | None:
        """Wait for its next line; ``None`` when its output has ended, or half a second after its exit."""
        return await self._pipes.receive()

    async def send(self, line: bytes) -> None:
        """Write one line, its newline included, to its stdin.

        Raises:
            AgentExited: Its stdin is closed.
        """
        if not self._pipes.stdin_lost:
            self._stdin.write(line)
            await self._pipes.drain_stdin()
        if self._pipes.stdin_lost:
            raise AgentExited(
                f"{self._command} no longer reads its input",
                stderr=self.stderr_tail(),
                exit_code=self.returncode,
            )

    async def stop(self, grace_s: float = 0.75, term_s: float = 1.0) -> None:
        """End it and its whole tree: end of input, then TERM, then KILL; in under 5 s, however often called.

        By default KILL comes before the 2.5 s are over that jupyter_client gives a kernel to leave by itself.

        Args:
            grace_s: How long it may take to leave by itself after the end of its input.
            term_s: How long the tree may take after TERM.
        """
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._stop(grace_s, term_s))
        await asyncio.shield(self._stopping)

    async def _stop(self, grace_s: float, term_s: float) -> None:
        try:
            self._look()  # before the parents die: afterwards their children belong to nobody
            self._stdin.close()
            await self._leave(grace_s)
            if _WINDOWS:
                await self._end_windows_tree()
            else:
                for pause in reaper.ending(self._family, term_s, _KILL_S):
                    await asyncio.sleep(pause)
            await self.exit_code_within(_STEP_S * 4)  # closing would reap it under asyncio's feet
        finally:
            if not self._pipes.stdin_lost:  # closing waits for what it never read
                self._stdin.abort()
            self._transport.close()
            if self._watcher is not None:
                self._watcher.end(self.pid)  # it may remember more of the tree than we saw

    async def _leave(self, grace_s: float) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + grace_s
        while loop.time() < deadline and await self.exit_code_within(_STEP_S) is None:
            self._look()

    def _look(self) -> None:
        if not _WINDOWS:
            self._family = reaper.look({self.pid: self._family})[0][self.pid]

    async def _end_windows_tree(self) -> None:
        killer = await asyncio.create_subprocess_exec(
            "taskkill",
            "/T",
            "/F",
            "/PID",
            str(self.pid),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        await killer.wait()

    @property
    def _stdin(self) -> asyncio.WriteTransport:
        return cast("asyncio.WriteTransport", self._transport.get_pipe_transport(0))


def merged_environment(overrides: Mapping[str, str] | None, *, inherit: bool = True) -> dict[str, str]:
    """Lay overrides over our own environment, or over none; names are case-blind on Windows."""
    names = {name.upper() if _WINDOWS else name: value for name, value in (overrides or {}).items()}
    return {**os.environ, **names} if inherit else names


def find_command(command: str, cwd: str, environment: Mapping[str, str], *, windows: bool = _WINDOWS) -> str:
    """Find a command as the agent's own environment would.

    Args:
        command: A name, or a path, relative to ``cwd``.
        cwd: The agent's working directory.
        environment: Its PATH is searched and, on Windows, its PATHEXT tried.
        windows: Whether names get extensions.

    Returns:
        An absolute path.

    Raises:
        AgentNotFound: It names the command and where it was looked for.
        UsageError: ``cwd`` is no directory.
    """
    if not Path(cwd).is_dir():
        raise UsageError(f"the agent's working directory does not exist: {cwd}")
    if Path(command).name != command:
        folders = [str(Path(cwd, Path(command).parent))]
    else:
        folders = [folder for folder in environment.get("PATH", os.defpath).split(os.pathsep) if folder]
    names = _names(Path(command).name, environment) if windows else [Path(command).name]
    for folder in folders:
        for name in names:
            if found := shutil.which(str(Path(cwd, folder, name))):
                return found
    raise AgentNotFound(
        f"the agent's command {command!r} was not found",
        advice="Where it is installed, add its directory to PATH, or give its full path. A kernel's PATH may "
        f"differ from a terminal's; it was looked for in {os.pathsep.join(folders) or 'an empty PATH'}.",
    )


def _names(name: str, environment: Mapping[str, str]) -> list[str]:
    extensions = [ext for ext in environment.get("PATHEXT", _PATHEXT).split(";") if ext]
    if name.lower().endswith(tuple(ext.lower() for ext in extensions)):
        return [name]
    return [name + ext for ext in extensions]
