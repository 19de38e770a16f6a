"""The latest messages on the wire as they were, for a log, and for a file that can be played again.

See https://agentclientprotocol.com/protocol/transports. What is kept are the lines; they are read when they
are looked at, for a chunk of text that has been read takes seven times the memory of its line.
"""

from __future__ import annotations

import itertools
import json
import time
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from acp_jupyter.errors import UsageError
from acp_jupyter.model.log import Entry, Log
from acp_jupyter.wire import frames

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from acp_jupyter.model.redact import Redactor
    from acp_jupyter.model.turn import AgentInfo

    _Line = tuple[float, str, bytes]

VERSION = 1
LIMIT_COUNT = 10_000
LIMIT_BYTES = 16_000_000
_LONGEST_OPENING = 200  # messages; a loaded session may tell a long history in it


class Frame(NamedTuple):
    """A message on the wire: when (Unix seconds), ``in`` or ``out``, and its line."""

    at: float
    direction: str
    line: bytes

    @property
    def message(self) -> Any:
        """The message, as it was."""
        return frames.decode(self.line, lambda _repaired: None)


class Frames:
    """The latest messages on the wire, bounded by their number and by their size; secrets are in them.

    Args:
        redactor: Gives what takes secrets out of the log and of a file.
        agent: Gives the agent, which a file names.
        limit_count: How many messages are kept.
        limit_bytes: How many bytes of JSON; the newest message is kept whatever its size.
    """

    def __init__(
        self,
        redactor: Callable[[], Redactor],
        agent: Callable[[], AgentInfo],
        *,
        limit_count: int = LIMIT_COUNT,
        limit_bytes: int = LIMIT_BYTES,
    ) -> None:
        self.dropped = 0
        """How many earlier messages are no longer kept."""
        self._redactor = redactor
        self._agent = agent
        self._limit_count = limit_count
        self._limit_bytes = limit_bytes
        self._kept: deque[_Line] = deque()  # plain tuples: they cost the collector nothing
        self._bytes = 0
        self._opening: list[_Line] = []  # how the connection began, where it is dropped
        self._is_opening = False

    def append(self, at: float, direction: str, line: bytes) -> None:
        """Add a message; what is too much leaves at the other end. Only the loop's thread does that."""
        self._kept.append((at, direction, line))
        self._bytes += len(line)
        if self._bytes > self._limit_bytes or len(self._kept) > self._limit_count:
            self._drop()

    def _drop(self) -> None:
        kept = self._kept
        while len(kept) > 1 and (self._bytes > self._limit_bytes or len(kept) > self._limit_count):
            dropped = kept.popleft()
            self._bytes -= len(dropped[-1])
            self.dropped += 1
            self._keep_opening(dropped)

    def _keep_opening(self, dropped: _Line) -> None:
        """Keep what is said before a connection's first prompt: without it a file could not be played."""
        _, direction, line = dropped
        if direction == "out" and b'"method":"initialize"' in line:  # in a text the quotes are escaped
            self._opening, self._is_opening = [], True
        elif direction == "out" and b'"method":"session/prompt"' in line:
            self._is_opening = False
        if self._is_opening:
            self._opening.append(dropped)
        if len(self._opening) > _LONGEST_OPENING:
            self._opening, self._is_opening = [], False

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[Frame]:
        return itertools.starmap(Frame, tuple(self._kept))  # the loop may be appending

    @overload
    def __getitem__(self, key: int) -> Frame: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Frame, ...]: ...
    def __getitem__(self, key: int | slice) -> Frame | tuple[Frame, ...]:
        return tuple(self)[key]

    def __repr__(self) -> str:
        return f"<Frames: {len(self):,} messages, {self.dropped:,} earlier ones are no longer kept>"

    def log(self, notes: Sequence[str] = ()) -> Log:
        """Return them as a table, without secrets.

        Args:
            notes: What else is to be said above it.
        """
        lost = [f"{self.dropped:,} earlier messages are no longer kept."] if self.dropped else []
        return self._table(self, (*lost, *notes))

    def _table(self, frames: Iterable[Frame], notes: tuple[str, ...] = ()) -> Log:
        entries = [Entry(one.at, one.direction, len(one.line.rstrip()), one.message) for one in frames]
        return Log.of(entries, self._redactor(), notes)

    def _snapshot(self) -> tuple[tuple[_Line, ...], tuple[_Line, ...], int]:
        while True:  # the loop may be dropping
            before = self.dropped
            opening, kept = tuple(self._opening), tuple(self._kept)
            if before == self.dropped:
                return opening, kept, before

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write them to a file, without secrets; `acp_jupyter.testing.replay` plays it again.

        Args:
            path: An existing file is written anew. It has one JSON object a line: first what it is, then
                ``{at, direction, message}`` for each message; ``{dropped}`` where some are missing after the
                connection's opening, which is kept longer.

        Returns:
            The file.

        Raises:
            UsageError: It cannot be written.
        """
        header = {
            "acp_jupyter_log": VERSION,
            "agent": self._redactor().value(self._agent().__dict__),
            "saved": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }
        opening, kept, dropped = self._snapshot()
        table = self._table(itertools.starmap(Frame, (*opening, *kept)))
        rows = [{"at": one.at, "direction": one.direction, "message": one.message} for one in table]
        if dropped > len(opening):
            rows.insert(len(opening), {"dropped": dropped - len(opening)})
        file = Path(path).expanduser().absolute()
        try:
            with file.open("w", encoding="ascii") as lines:
                lines.writelines(json.dumps(one) + "\n" for one in (header, *rows))
        except OSError as error:
            raise UsageError(f"cannot write {file}: {error.strerror or error}") from error
        return file
