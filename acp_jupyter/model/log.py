"""The messages on the wire as a table, without secrets.

See https://agentclientprotocol.com/protocol/overview.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from acp_jupyter.errors import UsageError
from acp_jupyter.model.content import as_dict, as_text
from acp_jupyter.model.messages import kind, methods, summary, without_split_secrets
from acp_jupyter.model.shown import Shown
from acp_jupyter.model.text import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acp_jupyter.model.redact import Redactor

SHOWN = 50


class Entry(NamedTuple):
    """A message: when (Unix seconds), ``in`` or ``out``, how many bytes its line had, and itself."""

    at: float
    direction: str
    size: int
    message: Any
    method: str = ""


class Row(NamedTuple):
    """A message as a row of the table, without secrets.

    ``at`` is in Unix seconds; ``direction`` is ``in`` (from the agent) or ``out``; ``kind`` is ``request``,
    ``response``, ``notification`` or ``unknown``. A response has the ``method`` that it answers, where that
    is still known. ``size`` is in bytes.
    """

    at: float
    direction: str
    kind: str
    method: str
    id: Any
    session_id: str | None
    size: int
    summary: str
    message: Any


class Log(Sequence[Row], Shown):
    """The messages on the wire, as rows without secrets.

    Args:
        entries: What is in it, in order.
        redactor: Takes secrets out of a row when it is looked at.
        notes: What is to be said above the table.
        shown: How many rows are shown, the last ones; all are there.
    """

    def __init__(
        self, entries: Iterable[Entry], redactor: Redactor, notes: tuple[str, ...] = (), shown: int = SHOWN
    ) -> None:
        self.notes = notes
        self.shown = shown
        self._entries = tuple(entries)
        self._redactor = redactor

    @classmethod
    def of(cls, entries: Sequence[Entry], redactor: Redactor, notes: tuple[str, ...] = ()) -> Log:
        """Return the log of all messages that there are: what is told in pieces is looked at as a whole."""
        names = methods((entry.direction, entry.message) for entry in entries)
        clean = without_split_secrets([entry.message for entry in entries], redactor)
        named = zip(entries, clean, names, strict=True)
        return cls(
            (entry._replace(message=message, method=name) for entry, message, name in named), redactor, notes
        )

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, key: int) -> Row: ...
    @overload
    def __getitem__(self, key: slice) -> Log: ...
    def __getitem__(self, key: int | slice) -> Row | Log:
        if isinstance(key, slice):
            return Log(self._entries[key], self._redactor, self.notes, self.shown)
        return _row(self._entries[key], self._redactor)

    def filter(
        self, *, method: str | None = None, direction: str | None = None, text: str | None = None
    ) -> Log:
        """Return the rows for which all of it holds.

        Args:
            method: What the method's name holds, such as ``permission``; an answer counts with its request.
            direction: ``in`` (from the agent) or ``out``.
            text: What the message's JSON holds, in any case of letters.

        Raises:
            UsageError: There is no such direction.
        """
        if direction not in {None, "in", "out"}:
            raise UsageError(f"there is no direction {direction!r}", advice="It is 'in' or 'out'.")
        kept = (
            entry
            for entry in self._entries
            if (method is None or method in entry.method)
            and direction in {None, entry.direction}
            and (text is None or text.lower() in json_text(entry.message).lower())
        )
        return Log(kept, self._redactor, self.notes, self.shown)

    def last(self, count: int) -> Log:
        """Return the last rows, to be shown all."""
        return Log(self._entries[-count:] if count else (), self._redactor, self.notes, count)

    def to_dataframe(self) -> Any:
        """Return the table as a pandas DataFrame, whose columns are those of `Row`; ``at`` is in UTC.

        Raises:
            UsageError: pandas is not installed.
        """
        try:
            pandas: Any = importlib.import_module("pandas")  # only this needs it
        except ImportError as error:
            raise UsageError(
                "pandas is not installed here", advice="Install it, or go through the log's rows."
            ) from error
        table: Any = pandas.DataFrame(list(self), columns=list(Row._fields))
        table["at"] = pandas.to_datetime(table["at"], unit="s", utc=True)
        return table

    def __repr__(self) -> str:
        return f"<Log: {len(self):,} messages>"


def _row(entry: Entry, redactor: Redactor) -> Row:
    clean = redactor.value(entry.message)
    message = as_dict(clean)
    session_id = as_text(as_dict(message.get("params")).get("sessionId"))
    return Row(
        entry.at,
        entry.direction,
        kind(message),
        redactor.text(entry.method),
        message.get("id"),
        session_id or as_text(as_dict(message.get("result")).get("sessionId")),
        entry.size,
        summary(message),
        clean,
    )
