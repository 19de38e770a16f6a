"""A turn as it may be kept: without secrets, and with no value larger than it is worth.

See https://agentclientprotocol.com/protocol/prompt-turn for what a turn holds. The live card and Python have
all of it; this is for notebooks, logs and exports.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, cast

from acp_jupyter.model.content import Block, TerminalRef, UnknownContent, as_dict, as_text
from acp_jupyter.model.diff import Diff, newline
from acp_jupyter.model.received import told
from acp_jupyter.model.secrets import is_secret_field, is_secret_name, spans, spellings
from acp_jupyter.model.text import Text, json_text
from acp_jupyter.model.transcript import from_json, to_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from acp_jupyter.model.content import ContentItem
    from acp_jupyter.model.elicitation import Elicitation
    from acp_jupyter.model.tool_call import ToolCall
    from acp_jupyter.model.turn import Turn

REDACTED = "[redacted]"
_LEAST = 1_000  # characters that any value may have
_CONTEXT = 3  # lines, around the changes of a diff that is too large


def secret_values(environment: dict[str, str], names: Iterable[str] = ()) -> list[str]:
    """Return the values of variables that are named, or whose names sound like secrets."""
    wanted = set(names)
    return [value for name, value in environment.items() if name in wanted or is_secret_name(name)]


class Redactor:
    """Finds secrets in texts: known values, and what has the shape of one.

    Args:
        values: Secrets that are known; those of fewer than 8 characters are left alone.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        self.values = frozenset(values)
        """The secrets that it knows."""
        self._known = spellings(self.values)

    @classmethod
    def of(cls, environment: dict[str, str], names: Iterable[str] = (), more: Iterable[str] = ()) -> Redactor:
        """Return one that knows the values of variables whose names sound like secrets.

        Args:
            environment: The agent's variables.
            names: Further names of variables.
            more: Further secrets.
        """
        return cls([*secret_values(environment, names), *more])

    @classmethod
    def joined(cls, redactors: Iterable[Redactor]) -> Redactor:
        """Return one that knows what any of them knows."""
        return cls(value for one in redactors for value in one.values)

    def text(self, text: str) -> str:
        """Return ``text`` without secrets."""
        return self.texts([text])[0]

    def texts(self, texts: Sequence[str]) -> list[str]:
        """Return the pieces of one text without its secrets, also where one goes over a piece's end."""
        found = spans("".join(texts), self._known)
        return list(_without(texts, found)) if found else list(texts)

    def value(self, value: Any, *, all_pairs: bool = False) -> Any:
        """Return any JSON value without secrets, in keys and values at every depth.

        Args:
            value: It is left as it is.
            all_pairs: Whether the value of every ``{name, value}`` in it is a secret, as with MCP servers.
        """
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return self._object(cast("dict[Any, Any]", value), all_pairs=all_pairs)
        if isinstance(value, list):
            return [self.value(one, all_pairs=all_pairs) for one in cast("list[Any]", value)]
        if isinstance(value, int | float) and not isinstance(value, bool):
            return REDACTED if REDACTED in self.text(json_text(value)) else value
        return value

    def _object(self, value: dict[Any, Any], *, all_pairs: bool) -> dict[str, Any]:
        name = value.get("name")
        hidden = {key for key in value if is_secret_field(str(key))}
        if isinstance(name, str) and isinstance(value.get("value"), str) and len(value) <= 3:  # noqa: PLR2004  # name, value, _meta
            hidden |= {"value"} if all_pairs or is_secret_name(name) else set()
        return {
            self.text(str(key)): _hidden(one)
            if key in hidden
            else self.value(one, all_pairs=all_pairs or key == "mcpServers")
            for key, one in value.items()
        }


def _hidden(value: Any) -> Any:
    """What stands under a secret's name: its shape is left. A schema, of what it is to be, is none."""
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        if isinstance(members.get("type"), str):
            return members
        return {key: _hidden(one) for key, one in members.items()}
    if isinstance(value, list):
        return [_hidden(one) for one in cast("list[Any]", value)]
    return value if value is None or value == "" or isinstance(value, bool) else REDACTED


def _without(texts: Sequence[str], found: list[tuple[int, int]]) -> Iterable[str]:
    """Give each piece without what is in the spans, the mark where a span begins."""
    begin, first = 0, 0
    for text in texts:
        end = begin + len(text)
        parts: list[str] = []
        at = begin
        while first < len(found) and found[first][0] < end:
            start, stop = found[first]
            parts += [
                text[at - begin : start - begin] if start > at else "",
                REDACTED if start >= begin else "",
            ]
            at = min(stop, end)
            if stop > end:  # the rest of it is in the next piece
                break
            first += 1
        parts.append(text[at - begin :])
        yield "".join(parts)
        begin = end


def kept(turn: Turn, redactor: Redactor, limit: int | None, total: int | None = None) -> Turn:
    """Return the turn as it may be kept: itself where nothing is to be taken out, else a copy.

    The copy's ``kept`` says how much was taken out.

    Args:
        turn: The turn.
        redactor: Takes secrets out.
        limit: Characters that any one value may have, ``None`` for no bound; what is cut says so.
        total: Characters that all of them may have together: where they have more, the longest are cut
            further, but never below a thousand.
    """
    keeper = _Keeper(redactor, limit)
    copy = keeper.turn(_copy(turn))
    if limit is not None and total is not None and sum(keeper.lengths) > total:
        keeper = _Keeper(redactor, min(limit, _even_limit(keeper.lengths, total)))
        copy = keeper.turn(_copy(turn))
    if not (keeper.redacted or keeper.cut):
        return turn
    copy.kept = {"redacted": keeper.redacted, "cut": keeper.cut}
    return copy


def _copy(turn: Turn) -> Turn:
    copy = from_json(to_json(turn, updates=False))
    for call, original in zip(copy.tool_calls, turn.tool_calls, strict=True):
        call.updates = told(original)  # whole: half a secret would not be found
    return copy


def _even_limit(lengths: Iterable[int], total: int) -> int:
    """Return the bound under which values of these lengths come to ``total``: the short ones stay whole."""
    rising = sorted(lengths)
    left = total
    for index, length in enumerate(rising):
        limit = left // (len(rising) - index)
        if length > limit:
            return max(limit, _LEAST)
        left -= length
    return max(rising, default=_LEAST)


class _Keeper:
    """Changes a turn of our own in place, and counts what it has changed."""

    def __init__(self, redactor: Redactor, limit: int | None) -> None:
        self._redactor = redactor
        self._limit = limit
        self.redacted = 0
        self.cut = 0
        self.lengths: list[int] = []  # of what was kept of each value

    def turn(self, turn: Turn) -> Turn:
        """Go through everything that an agent, a person or our own errors can have put there.

        Ids are left alone: they join the parts.
        """
        turn.items = [self._members(item, "turn.items", _ITEM_IDS) for item in turn.items]
        for call in turn.tool_calls:
            self._call(call)
        for key, terminal in turn.terminals.items():
            where = f"turn.terminals[{key!r}]"
            terminal.command = self._text(terminal.command, f"{where}.command")
            terminal.output = Text(self._text(str(terminal.output), f"{where}.output"))
            terminal.cwd = self._value(terminal.cwd, where)
        for key, permission in turn.permissions.items():
            permission.reason = self._value(permission.reason, "")
            permission.options = tuple(
                replace(one, name=self._text(one.name, "")) for one in permission.options
            )
            permission.warnings = tuple(
                one._replace(text=self._text(one.text, "")) for one in permission.warnings
            )
            if permission.asked is not None:
                self._call(permission.asked, f"turn.permissions[{key!r}].asked")
        for key, elicitation in turn.elicitations.items():
            self._elicitation(elicitation, f"turn.elicitations[{key!r}]")
        turn.plans = {
            key: [self._members(one, "turn.plans") for one in entries] for key, entries in turn.plans.items()
        }
        turn.notes = [self._members(note, "turn.notes") for note in turn.notes]
        turn.error = None if turn.error is None else self._members(turn.error, "turn.error")
        turn.agent = self._members(turn.agent, "turn.agent")
        for name in ("prompt", "title", "mode", "options", "commands", "cwd", "additional_directories"):
            setattr(turn, name, self._value(getattr(turn, name), f"turn.{name}"))
        return turn

    def _members(self, node: Any, where: str, ids: frozenset[str] = frozenset()) -> Any:
        """A dataclass with every text in it gone through, but for ids."""
        values = {field.name: getattr(node, field.name) for field in fields(node) if field.name not in ids}
        # numbers of the protocol's own are counts and times
        texts = {name: value for name, value in values.items() if not isinstance(value, int | float)}
        return replace(node, **{name: self._value(value, where) for name, value in texts.items()})

    def _call(self, call: ToolCall, where: str | None = None) -> None:
        where = where or f"turn.tool_calls[{call.tool_call_id!r}]"
        call.title = self._text(call.title, f"{where}.title")
        call.name, call.kind, call.status = (
            self._value(one, "") for one in (call.name, call.kind, call.status)
        )
        call.raw_input = self._raw(call.raw_input, f"{where}.raw_input")
        call.raw_output = self._raw(call.raw_output, f"{where}.raw_output")
        call.content = [self._content(item, f"{where}.content") for item in call.content]
        call.updates = [self._value(update, f"{where}.updates") for update in call.updates]
        call.locations = [one._replace(path=self._text(one.path, where)) for one in call.locations]

    def _elicitation(self, node: Elicitation, where: str) -> None:
        for name in ("message", "schema", "url", "content", "faults", "reason"):
            setattr(node, name, self._value(getattr(node, name), f"{where}.{name}"))

    def _raw(self, value: Any, where: str) -> Any:
        """A raw value: whole, or the beginning of its JSON text."""
        value = self._clean(value)
        if self._limit is None or value is None:
            return value
        text = json_text(value)
        cut = self._cut(text, where)
        return value if cut == text else cut

    def _content(self, item: ContentItem, where: str) -> ContentItem:
        if isinstance(item, Diff):
            return self._diff(item, where)
        if isinstance(item, TerminalRef):
            return item
        if isinstance(item, Block):
            return Block(as_dict(self._value(item.block, where)))
        return UnknownContent(self._value(item.raw, where))

    def _diff(self, diff: Diff, where: str) -> Diff:
        old = None if diff.old_text is None else self._clean(diff.old_text)
        clean = Diff(self._text(diff.path, where), old, self._clean(diff.new_text))
        size = max(len(clean.old_text or ""), len(clean.new_text))
        if self._limit is None or size <= self._limit:
            self.lengths.append(size)
            return clean
        if clean.old_text:
            clean = _changes_only(clean, f"{where}[...].new_text")
            self.cut += 1
        return Diff(
            clean.path,
            None if clean.old_text is None else self._cut(clean.old_text, f"{where}[...].old_text"),
            self._cut(clean.new_text, f"{where}[...].new_text"),
        )

    def _value(self, value: Any, where: str) -> Any:
        """Any value, with every text in it bounded, and bytes of media that are too large left out."""
        if isinstance(value, Text):
            return Text(self._text(str(value), "turn.text"))
        return self._bounded(self._clean(value), where)

    def _bounded(self, value: Any, where: str) -> Any:
        if isinstance(value, str):
            return self._cut(value, where)
        if isinstance(value, list):
            return [self._bounded(one, where) for one in cast("list[Any]", value)]
        if not isinstance(value, dict):
            return value
        block = cast("dict[str, Any]", value)
        note = self._too_large(block, where)
        return note or {key: self._bounded(one, where) for key, one in block.items()}

    def _too_large(self, block: dict[str, Any], where: str) -> dict[str, Any] | None:
        """A text in place of a picture, sound or file whose bytes are more than is kept, else ``None``."""
        kind = as_text(block.get("type"))
        inner = as_dict(block.get("resource")) if kind == "resource" else block
        data = as_text(inner.get("data")) or as_text(inner.get("blob"))
        if kind not in {"image", "audio", "resource"} or data is None:
            return None
        if self._limit is None or len(data) <= self._limit:
            return None
        self.cut += 1
        what = as_text(inner.get("mimeType")) or kind
        size = f"{len(data) * 3 // 4:,} bytes"
        return {"type": "text", "text": f"[{what}, {size}: not kept here; in Python: {where}]"}

    def _text(self, text: str, where: str) -> str:
        return self._cut(self._clean(text), where)

    def _clean(self, value: Any) -> Any:
        clean = self._redactor.value(value)
        if clean != value:
            self.redacted += 1
        return clean

    def _cut(self, text: str, where: str) -> str:
        if self._limit is None or len(text) <= self._limit:
            self.lengths.append(len(text))
            return text
        self.lengths.append(self._limit)
        self.cut += 1
        more = f"{len(text) - self._limit:,} more characters"
        return f"{text[: self._limit]}\n… {more} are not kept here; in Python: {where}".rstrip(": ")


_ITEM_IDS = frozenset(
    {"type", "role", "message_id", "tool_call_id", "terminal_id", "plan_id", "key", "compaction_id"}
)


def _changes_only(diff: Diff, where: str) -> Diff:
    """The lines around each change; a line stands where others are left out, on both sides."""
    new = diff.new_lines
    olds: list[str] = []
    news: list[str] = []
    at = 0
    for edit in diff.edits:
        start = max(at, edit.at - _CONTEXT)
        before = [*_left_out(start - at, where), *new[start : edit.at]]
        end = edit.at + edit.add
        after = min(end + _CONTEXT, _next_change(diff, edit.at), len(new))
        olds += [*before, *edit.old, *new[end:after]]
        news += [*before, *new[edit.at : after]]
        at = after
    rest = _left_out(len(new) - at, where)
    old_text, new_text = (
        newline(diff.line_ends, side).join([*lines, *rest]) for side, lines in enumerate((olds, news))
    )
    return Diff(diff.path, old_text, new_text)


def _next_change(diff: Diff, at: int) -> int:
    return next((edit.at for edit in diff.edits if edit.at > at), len(diff.new_text) + 1)


def _left_out(count: int, where: str) -> list[str]:
    return [f"… {count:,} unchanged lines are not kept here; in Python: {where}"] if count > 0 else []
