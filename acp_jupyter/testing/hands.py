"""What an agent does to files and commands: by the client where it offers that, else by itself.

Spec: https://agentclientprotocol.com/protocol/terminals
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_jupyter.testing.stdio import Connection, RpcError

if TYPE_CHECKING:
    from collections.abc import Callable

_ENVIRONMENT = {"PYTHONDONTWRITEBYTECODE": "1"}
_OUTPUT_LIMIT_BYTES = 100_000
_RELEASE_WAIT_S = 2.0  # a client that does not answer must not hold up a cancelled turn


class HandsError(Exception):
    """A file or a command could not be had."""


@dataclass(frozen=True)
class Ran:
    """A command that ended; its exit code is ``None`` where a signal ended it."""

    exit_code: int | None
    output: str


class Hands:
    """Reads, writes and runs for one session.

    Args:
        connection: To the client.
        session_id: Whose capabilities and directories count.
        capabilities: The `clientCapabilities` of `initialize`.
    """

    def __init__(self, connection: Connection, session_id: str, capabilities: dict[str, Any]) -> None:
        files: dict[str, Any] = capabilities.get("fs") or {}
        self._connection = connection
        self._session_id = session_id
        self._client_reads = files.get("readTextFile") is True
        self._client_writes = files.get("writeTextFile") is True
        self.client_runs = capabilities.get("terminal") is True

    async def read(self, path: Path) -> str:
        """The text of a file.

        Raises:
            HandsError: It cannot be read.
        """
        if self._client_reads:
            return (await self._call("fs/read_text_file", path=str(path)))["content"]
        try:
            return path.read_text("utf-8")  # noqa: ASYNC240 - a small local file
        except (OSError, UnicodeDecodeError) as error:
            raise HandsError(str(error)) from error

    async def write(self, path: Path, text: str) -> None:
        """Replace the text of a file.

        Raises:
            HandsError: It cannot be written. Nothing else is tried: the client's no is a no.
        """
        if self._client_writes:
            await self._call("fs/write_text_file", path=str(path), content=text)
            return
        try:
            path.write_text(text, "utf-8")  # noqa: ASYNC240 - a small local file
        except OSError as error:
            raise HandsError(str(error)) from error

    async def run(self, command: list[str], cwd: Path, on_terminal: Callable[[str], None]) -> Ran:
        """Run a command to its end.

        Args:
            command: The program and its arguments.
            cwd: Where, absolute.
            on_terminal: Called with the client's terminal id, as soon as there is one.

        Raises:
            HandsError: It cannot be run.
        """
        if self.client_runs:
            return await self._run_by_client(command, cwd, on_terminal)
        return await _run_by_ourselves(command, cwd)

    async def _run_by_client(self, command: list[str], cwd: Path, on_terminal: Callable[[str], None]) -> Ran:
        creating = asyncio.ensure_future(
            self._call(
                "terminal/create",
                command=command[0],
                args=command[1:],
                cwd=str(cwd),
                env=[{"name": name, "value": value} for name, value in _ENVIRONMENT.items()],
                outputByteLimit=_OUTPUT_LIMIT_BYTES,
            )
        )
        try:
            terminal_id: str = (await asyncio.shield(creating))["terminalId"]
        except asyncio.CancelledError:
            # the terminal may be there all the same, and only we can release it
            with contextlib.suppress(HandsError, asyncio.TimeoutError):
                await self._release((await asyncio.wait_for(creating, _RELEASE_WAIT_S))["terminalId"])
            raise
        try:
            on_terminal(terminal_id)
            ended = await self._call("terminal/wait_for_exit", terminalId=terminal_id)
            shown = await self._call("terminal/output", terminalId=terminal_id)
        finally:
            await self._release(terminal_id)  # also kills what still runs
        return Ran(ended.get("exitCode"), shown["output"])

    async def _release(self, terminal_id: str) -> None:
        releasing = asyncio.ensure_future(self._call("terminal/release", terminalId=terminal_id))
        # not `wait_for`: before Python 3.12 that can swallow a cancellation
        done, _ = await asyncio.wait([releasing], timeout=_RELEASE_WAIT_S)
        with contextlib.suppress(HandsError):
            for task in done:
                task.result()

    async def _call(self, method: str, **params: Any) -> Any:
        try:
            return await self._connection.request(method, {"sessionId": self._session_id, **params})
        except RpcError as error:
            raise HandsError(f"the client refused {method}: {error}") from error


async def _run_by_ourselves(command: list[str], cwd: Path) -> Ran:
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=cwd,
            env={**os.environ, **_ENVIRONMENT},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
    except OSError as error:
        raise HandsError(str(error)) from error
    try:
        output, _ = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    code = process.returncode
    return Ran(code if code is not None and code >= 0 else None, output.decode("utf-8", "replace"))
