"""A turn as it may be kept: without secrets, and with no value larger than it is worth.

See https://agentclientprotocol.com/protocol/prompt-turn for what a turn holds. The live card and Python have
all of it; this is for notebooks, logs and exports.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, cast

from acp_jupyter.model.content import Block, TerminalRef, UnknownContent
from acp_jupyter.model.diff import Diff
from acp_jupyter.model.text import Text
from acp_jupyter.model.transcript import from_json, to_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acp_jupyter.model.content import ContentItem
    from acp_jupyter.model.tool_call import ToolCall
    from acp_jupyter.model.turn import Turn

REDACTED = "[redacted]"
_SHORTEST = 8  # a shorter value stands in too many places that are no secret
_SHAPES = re.compile(
    r"sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|AKIA[0-9A-Z]{16}|xox[abprs]-[\w-]{10,}"
    r"|AIza[\w-]{30,}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    re.DOTALL,
)
_HEADER = re.compile(
    r"(?i)\b((?:proxy-)?authorization|(?:set-)?cookie|x-api-key)(\"?\s*[:=]\s*\"?)([^\r\n\"]+)"
)
_USER_INFO = re.compile(r"(?i)\b([a-z][a-z0-9+.-]*://)[^\s/@:]+:[^\s/@]+@")
_NAMES = re.compile(r"(?i)key|token|secret|passw|credential|auth")


class Redactor:
    """Finds secrets in texts: known values, and what has the shape of one.

    Args:
        values: Secrets that are known; those of fewer than 8 characters are left alone.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        known = {value for value in values if len(value) >= _SHORTEST}
        known |= {json.dumps(value)[1:-1] for value in known}  # as it stands within JSON text
        # the longest first: one may be the beginning of another
        ordered = sorted(known, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    @classmethod
    def of(cls, environment: dict[str, str], names: Iterable[str] = (), more: Iterable[str] = ()) -> Redactor:
        """Return one that knows the values of variables whose names sound like secrets.

        Args:
            environment: The agent's variables.
            names: Further names of variables.
            more: Further secrets.
        """
        wanted = set(names)
        values = [value for name, value in environment.items() if name in wanted or _NAMES.search(name)]
        return cls([*values, *more])

    def text(self, text: str) -> str:
        """Return ``text`` without secrets."""
        if self._known is not None:
            text = self._known.sub(REDACTED, text)
        text = _SHAPES.sub(REDACTED, text)
        text = _HEADER.sub(rf"\1\2{REDACTED}", text)
        return _USER_INFO.sub(rf"\1{REDACTED}@", text)

    def value(self, value: Any) -> Any:
        """Return any JSON value without secrets, in keys and values at every depth."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(str(k)): self.value(v) for k, v in cast("dict[Any, Any]", value).items()}
        return [self.value(one) for one in cast("list[Any]", value)] if isinstance(value, list) else value


def kept(turn: Turn, redactor: Redactor, limit: int | None) -> Turn:
    """Return the turn as it may be kept: itself where nothing is to be taken out, else a copy.

    Args:
        turn: The turn.
        redactor: Takes secrets out.
        limit: Characters that any one value may have, ``None`` for no bound; what is cut says so.
    """
    document = to_json(turn)
    whole = json.dumps(document, ensure_ascii=False)
    if redactor.text(whole) == whole and (limit is None or len(whole) <= limit):
        return turn
    return _Keeper(redactor, limit).turn(from_json(document))


class _Keeper:
    def __init__(self, redactor: Redactor, limit: int | None) -> None:
        self._redactor = redactor
        self._limit = limit

    def turn(self, turn: Turn) -> Turn:
        """Change a turn of our own in place."""
        for item in turn.items:
            for name in item.__dataclass_fields__:
                value = getattr(item, name)
                where = "" if name == "raw" else "turn.text"
                if isinstance(value, Text):
                    setattr(item, name, Text(self._text(str(value), where)))
                elif name not in {"type", "tool_call_id", "terminal_id", "plan_id", "role"}:
                    setattr(item, name, self._value(value, "turn.items"))
        for call in turn.tool_calls:
            self._call(call)
        for key, terminal in turn.terminals.items():
            terminal.command = self._redactor.text(terminal.command)
            terminal.output = Text(self._text(str(terminal.output), f"turn.terminals[{key!r}].output"))
        for permission in turn.permissions.values():
            permission.reason = self._value(permission.reason, "")
            if permission.asked is not None:
                self._call(permission.asked)
        turn.prompt = self._value(turn.prompt, "turn.prompt")
        turn.title = self._value(turn.title, "")
        turn.plans = {
            key: [
                type(one)(self._text(one.content, "turn.plan"), one.priority, one.status) for one in entries
            ]
            for key, entries in turn.plans.items()
        }
        turn.notes = [type(note)(note.severity, self._text(note.text, "turn.notes")) for note in turn.notes]
        if turn.error is not None:
            error = turn.error
            parts = (error.message, error.advice, error.stderr)
            turn.error = type(error)(error.type, *(self._text(part, "turn.error") for part in parts))
        return turn

    def _call(self, call: ToolCall) -> None:
        where = f"turn.tool_calls[{call.tool_call_id!r}]"
        call.title = self._redactor.text(call.title)
        call.raw_input = self._raw(call.raw_input, f"{where}.raw_input")
        call.raw_output = self._raw(call.raw_output, f"{where}.raw_output")
        call.content = [self._content(item, f"{where}.content") for item in call.content]
        call.locations = [one._replace(path=self._redactor.text(one.path)) for one in call.locations]

    def _raw(self, value: Any, where: str) -> Any:
        value = self._redactor.value(value)
        if self._limit is None or len(json.dumps(value, ensure_ascii=False)) <= self._limit:
            return value
        return self._text(json.dumps(value, ensure_ascii=False), where)

    def _content(self, item: ContentItem, where: str) -> ContentItem:
        if isinstance(item, Diff):
            old = None if item.old_text is None else self._text(item.old_text, f"{where}, old_text")
            return Diff(self._redactor.text(item.path), old, self._text(item.new_text, f"{where}, new_text"))
        if isinstance(item, TerminalRef):
            return item
        if isinstance(item, Block):
            return Block(self._value(item.block, where))
        return UnknownContent(self._value(item.raw, where))

    def _value(self, value: Any, where: str) -> Any:
        """Any JSON value, with every text in it bounded."""
        if isinstance(value, str):
            return self._text(value, where)
        if isinstance(value, dict):
            return {
                self._redactor.text(str(k)): self._value(v, where)
                for k, v in cast("dict[Any, Any]", value).items()
            }
        return (
            [self._value(one, where) for one in cast("list[Any]", value)]
            if isinstance(value, list)
            else value
        )

    def _text(self, text: str, where: str) -> str:
        text = self._redactor.text(text)
        if self._limit is None or len(text) <= self._limit:
            return text
        more = len(text) - self._limit
        return f"{text[: self._limit]}\n… {more:,} more characters are not kept here; in Python: {where}"
