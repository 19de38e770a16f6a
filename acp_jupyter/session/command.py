"""One command that runs for the agent: its process, its tree, and the end of its output.

See https://agentclientprotocol.com/protocol/terminals.
"""

from __future__ import annotations

import asyncio
import codecs
import signal
import subprocess
from typing import TYPE_CHECKING, Any, cast

from acp_jupyter.wire import reaper

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# The most that we keep for the agent, whatever limit it asks for.
CEILING_BYTES = 8 * 1024 * 1024
# A command that writes without end is read at no more than some 20 MB a second.
_FLOOD_BYTES, _BREATH_S = 64 * 1024, 0.005
_TERM_S = 0.5
_LAST_LOOKS, _LAST_LOOK_S = 4, 0.4
_SIGNAL_NAMES = {number.value: number.name for number in signal.Signals}


class Command(asyncio.SubprocessProtocol):
    """A command: `start` it once, then `follow` it.

    Args:
        limit_bytes: How much of its output's end `output` gives.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._on_text: Callable[[str], None] | None = None
        self._untold = ""
        self._limit = min(limit_bytes, CEILING_BYTES)
        self._kept = bytearray()
        self._cut = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._exited = asyncio.Event()
        self._closed = asyncio.Event()
        self._received_bytes = 0

    async def start(self, argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> None:
        """Start it, in a session of its own.

        Raises:
            OSError: It cannot be run.
            ValueError: Neither can its arguments or variables: a null character, a name with ``=``.
        """
        await asyncio.get_running_loop().subprocess_exec(
            lambda: self,
            *argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env=env,
            start_new_session=True,
        )
        self.pid = self._transport.get_pid()

    def follow(self, on_text: Callable[[str], None], on_end: Callable[[], None]) -> None:
        """Call ``on_text`` with what it writes, decoded and in order, and ``on_end`` when it is over."""
        self._on_text = on_text
        self._tell("")
        self._ended = asyncio.create_task(self._end(on_end))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.SubprocessTransport", transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:  # noqa: ARG002 - stdout and stderr are one
        """Take what it wrote, and let a flood wait."""
        self._received_bytes += len(data)
        self._kept += data
        if len(self._kept) > 2 * self._limit + _FLOOD_BYTES:
            del self._kept[: len(self._kept) - self._limit]
            self._cut = True
        self._tell(self._decoder.decode(data))
        if len(data) >= _FLOOD_BYTES:
            self._stdout.pause_reading()
            asyncio.get_running_loop().call_later(_BREATH_S, self._read_on)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Note the end of its output."""
        self._closed.set()

    def process_exited(self) -> None:
        """Note its exit, whoever still holds its output."""
        self._exited.set()

    @property
    def _stdout(self) -> asyncio.ReadTransport:
        return cast("asyncio.ReadTransport", self._transport.get_pipe_transport(1))

    def _read_on(self) -> None:
        if not self._closed.is_set():
            self._stdout.resume_reading()

    def _tell(self, text: str) -> None:
        self._untold += text
        if self._untold and self._on_text is not None:
            text, self._untold = self._untold, ""
            self._on_text(text)

    async def _end(self, on_end: Callable[[], None]) -> None:
        await self._exited.wait()
        # What is in the pipe already is read. A child left behind may hold it open, or write on for ever.
        for _ in range(_LAST_LOOKS):
            before = self._received_bytes
            if await self._closed_within(_LAST_LOOK_S) or before == self._received_bytes:
                break
        self._tell(self._decoder.decode(b"", final=True))
        on_end()

    async def _closed_within(self, timeout_s: float) -> bool:
        waiting = asyncio.ensure_future(self._closed.wait())
        await asyncio.wait([waiting], timeout=timeout_s)
        waiting.cancel()
        return self._closed.is_set()

    @property
    def ended(self) -> bool:
        """Whether it is over and its output complete."""
        return self._ended.done()

    def output(self) -> tuple[str, bool]:
        """Return the end of its output, from the beginning of a character on; and whether more is lost."""
        # While it runs, its last character may be there by half: it comes with the next answer.
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        whole = len(self._kept) <= self._limit and not self._cut
        text = decoder.decode(bytes(self._kept) if whole else self._tail(bytes(self._kept)), final=self.ended)
        data = text.encode()
        if len(data) <= self._limit:
            return text, not whole
        return self._tail(data).decode(), True  # an unreadable byte has become three

    def _tail(self, data: bytes) -> bytes:
        start = max(len(data) - self._limit, 0)
        while start < len(data) and data[start] & 0xC0 == 0x80:  # noqa: PLR2004  # within a character of UTF-8
            start += 1
        return data[start:]

    @property
    def exit_status(self) -> tuple[int | None, str | None]:
        """Its exit code, or the name of the signal that ended it."""
        code = self._transport.get_returncode()
        if code is None or code >= 0:
            return code, None
        return None, _SIGNAL_NAMES.get(-code, f"SIG{-code}")

    async def wait(self) -> None:
        """Wait for its end; any number may."""
        await asyncio.shield(self._ended)

    async def kill(self) -> None:
        """End it and all that it started; its output stays."""
        if not self._exited.is_set():
            # Looked at before it dies: afterwards its children belong to nobody.
            for pause in reaper.ending({self.pid: None}, _TERM_S):
                await asyncio.sleep(pause)
        await self.wait()

    async def close(self) -> None:
        """End it, and close its output."""
        await self.kill()
        self._transport.close()

    def exit_json(self) -> dict[str, Any]:
        """Return its exit status as the protocol spells it."""
        code, name = self.exit_status
        return {"exitCode": code, "signal": name}
