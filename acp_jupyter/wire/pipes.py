"""The three pipes of a child process: whole lines out of stdout, a tail of stderr, a stdin that can break.

https://agentclientprotocol.com/protocol/transports
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import cast

from acp_jupyter.errors import AgentExited

LINE_BYTES = 1 << 30
"""The longest line that is waited for; a file of 60 MB in one message is well within it."""
_DRAIN_S = 0.5  # after the exit: what is in the pipe still counts, what a grandchild keeps open does not
_STDERR_BYTES = 64 * 1024
_FULL_BYTES = 8 * 1024 * 1024  # lines waiting for the reader; beyond this the agent has to wait


class Pipes(asyncio.SubprocessProtocol):
    """Collects what a child process writes and knows when each of its ends is gone."""

    def __init__(self) -> None:
        self.exited = asyncio.Event()
        self.stdin_lost = False
        self._transport: asyncio.SubprocessTransport | None = None
        self._lines: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._parts: list[bytes] = []
        self._part_bytes = 0
        self._endless = False
        self._arrived = asyncio.Event()
        self._ended = False
        self._paused = False
        self._writable = asyncio.Event()
        self._writable.set()
        self._stderr = bytearray()

    def stderr_tail(self) -> str:
        """Give the last 64 kB of stderr, unreadable bytes replaced."""
        return self._stderr[-_STDERR_BYTES:].decode("utf-8", "replace")

    async def receive(self) -> bytes | None:
        """Wait for the next line of stdout; ``None`` at its end.

        Raises:
            AgentExited: The line was longer than `LINE_BYTES`; nothing more is read.
        """
        while not self._lines:
            if self._endless:
                raise AgentExited(
                    f"the agent sent a line of more than {LINE_BYTES:,} bytes, and was stopped",
                    advice="The next prompt starts it again.",
                    stderr=self.stderr_tail(),
                )
            if self._ended:
                return None
            self._arrived.clear()
            await self._arrived.wait()
        line = self._lines.popleft()
        self._waiting_bytes -= len(line)
        if self._paused and self._waiting_bytes < _FULL_BYTES // 2:
            self._pause(paused=False)
        return line

    async def drain_stdin(self) -> None:
        """Wait until stdin takes more, or is lost."""
        await self._writable.wait()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport, to pause stdout with."""
        self._transport = cast("asyncio.SubprocessTransport", transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Take a chunk of stdout or stderr."""
        if fd == 1:
            self._collect(data)
            return
        self._stderr += data
        if len(self._stderr) > 2 * _STDERR_BYTES:
            del self._stderr[:-_STDERR_BYTES]

    def _collect(self, data: bytes) -> None:
        # parts, joined once: growing one buffer took 20 s for a line of 60 MB, this takes 0.04 s
        if self._ended:
            return
        first, *others = data.split(b"\n")
        self._parts.append(first)
        self._part_bytes += len(first)
        if self._part_bytes > LINE_BYTES:
            self._give_up()
            return
        if not others:
            return
        *whole, rest = others
        whole.insert(0, b"".join(self._parts))
        self._parts = [rest]
        self._part_bytes = len(rest)
        self._lines.extend(whole)
        self._waiting_bytes += sum(map(len, whole))
        self._arrived.set()
        if not self._paused and self._waiting_bytes > _FULL_BYTES:
            self._pause(paused=True)

    def _give_up(self) -> None:
        self._endless = True
        self._parts.clear()
        self._pause(paused=True)
        self._end()

    def _pause(self, *, paused: bool) -> None:
        stdout = self._transport and self._transport.get_pipe_transport(1)
        if self._ended or stdout is None:
            return
        self._paused = paused
        reading = cast("asyncio.ReadTransport", stdout)
        reading.pause_reading() if paused else reading.resume_reading()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Note which end is gone."""
        if fd == 0:
            self.stdin_lost = True
            self._writable.set()
        elif fd == 1:
            self._end()

    def process_exited(self) -> None:
        """Note the exit, and give stdout a moment more."""
        self.exited.set()
        asyncio.get_running_loop().call_later(_DRAIN_S, self._end_after_exit)

    def _end_after_exit(self) -> None:
        if self._paused and not self._ended:  # the reader is slow: the pipe may be full
            asyncio.get_running_loop().call_later(_DRAIN_S, self._end_after_exit)
        else:
            self._end()

    def _end(self) -> None:
        if self._ended:
            return
        self._ended = True
        fragment = b"".join(self._parts)
        if fragment:
            self._lines.append(fragment)
        self._arrived.set()

    def pause_writing(self) -> None:
        """Hold senders back: stdin's buffer is full."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Let senders go on."""
        self._writable.set()
