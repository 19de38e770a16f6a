"""Tool calls, and what is asked and decided about them.

See https://agentclientprotocol.com/protocol/tool-calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, overload

from acp_jupyter.model.content import Block, ContentItem, Location, TerminalRef
from acp_jupyter.model.diff import Diff
from acp_jupyter.model.request_warnings import RequestWarning, safest
from acp_jupyter.model.shown import Home, Shown
from acp_jupyter.model.text import Text, json_text

FINAL_STATUSES = frozenset({"completed", "failed"})


@dataclass(slots=True, repr=False)
class ToolCall(Shown):
    """One action of the agent, as far as it has told us.

    ``raw_input`` and ``raw_output`` are the plain Python values that came over the wire, ``None`` where none
    came. ``kind`` and ``status`` are the agent's own words; ``local_status`` is what we know beyond them
    (``cancelled``, ``cut_off``). ``updates`` holds the updates as they came, without the long content and raw
    values that a later one has replaced: all of them up to 2,000, of more the first and the last thousand;
    ``updates_count`` says how many came. ``agent_terminals`` holds the ids of the terminals that the agent
    told of as its own; ``home()`` gives the turn that first mentioned it.
    """

    tool_call_id: str
    title: str = ""
    name: str | None = None
    kind: str = "other"
    status: str = "pending"
    local_status: str | None = None
    locations: list[Location] = field(default_factory=list[Location])
    content: list[ContentItem] = field(default_factory=list[ContentItem])
    raw_input: Any = None
    raw_output: Any = None
    started_at: float | None = None
    ended_at: float | None = None
    updates: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]], compare=False, repr=False)
    updates_count: int = field(default=0, compare=False, repr=False)
    agent_terminals: list[str] = field(default_factory=list[str], compare=False, repr=False)
    home: Home = field(default_factory=Home, compare=False, repr=False)
    _texts: dict[str, tuple[Any, str]] = field(
        default_factory=dict[str, tuple[Any, str]], compare=False, repr=False
    )

    def __repr__(self) -> str:
        return f"<ToolCall {self.tool_call_id}: {self.kind}, {self.shown_status}, {self.title!r}>"

    @property
    def diffs(self) -> list[Diff]:
        """The file changes among its content."""
        return [item for item in self.content if isinstance(item, Diff)]

    @property
    def terminal_ids(self) -> list[str]:
        """The ids of the terminals among its content."""
        return [item.terminal_id for item in self.content if isinstance(item, TerminalRef)]

    @property
    def text(self) -> str:
        """The text blocks among its content, joined by newlines."""
        blocks = [item.block for item in self.content if isinstance(item, Block)]
        return "\n".join(
            str(block["text"]) for block in blocks if block.get("type") == "text" and "text" in block
        )

    @property
    def shown_status(self) -> str:
        """What a card shows: our own knowledge where we have it, else the agent's word."""
        return self.local_status or self.status

    @property
    def finished(self) -> bool:
        """Whether nothing more is expected of it."""
        return self.shown_status in FINAL_STATUSES or self.local_status is not None

    def raw_text(self, which: str) -> str | None:
        """Return ``raw_input`` or ``raw_output`` as compact JSON text, kept until the value changes."""
        value = getattr(self, which)
        if value is None:
            return None
        cached = self._texts.get(which)
        if cached is None or cached[0] is not value:
            cached = self._texts[which] = (value, json_text(value))
        return cached[1]

    def as_it_is(self) -> ToolCall:
        """Return a copy that later updates leave alone, without the updates so far."""
        return replace(
            self,
            locations=list(self.locations),
            content=list(self.content),
            agent_terminals=list(self.agent_terminals),
            updates=[],
            updates_count=0,
            _texts={},
        )

    def means(self, asked: ToolCall) -> bool:
        """Whether it is the same operation as ``asked``; text and terminals aside, which are its results."""
        return self._operation() == asked._operation()

    def shows(self, asked: ToolCall) -> bool:
        """Whether all that ``asked`` showed still stands; text and terminals may have been added."""
        kept = [item for item in self.content if isinstance(item, Diff) or item in asked.content]
        return self.means(asked) and kept == asked.content

    def _operation(self) -> tuple[Any, ...]:
        # As JSON text, since to Python `1` and `true` are equal.
        raw_input = self.raw_text("raw_input")
        paths = list(dict.fromkeys(location.path for location in self.locations))
        return (self.kind, self.title, self.name, paths, raw_input, self.diffs)


class ToolCalls(Shown):
    """A turn's tool calls, in the order of their first mention: by position or by id."""

    __slots__ = ("_calls", "_numbers")

    def __init__(self, calls: Iterable[ToolCall] = ()) -> None:
        self._calls: dict[str, ToolCall] = {}
        self._numbers: dict[str, int] = {}
        for call in calls:
            self.add(call)

    def add(self, call: ToolCall) -> None:
        """Append ``call``."""
        self._calls[call.tool_call_id] = call
        self._numbers.setdefault(call.tool_call_id, len(self._numbers) + 1)

    def number(self, tool_call_id: str) -> int | None:
        """Return which one it is, from 1, or ``None`` where it is none of these."""
        return self._numbers.get(tool_call_id)

    def get(self, tool_call_id: str) -> ToolCall | None:
        """Return the call of that id, or ``None``."""
        return self._calls.get(tool_call_id)

    def where(self, **wanted: Any) -> ToolCalls:
        """Return the calls whose attributes equal all of ``wanted``, such as ``kind="execute"``."""
        return ToolCalls(
            call for call in self if all(getattr(call, key) == value for key, value in wanted.items())
        )

    @overload
    def __getitem__(self, key: int | str) -> ToolCall: ...
    @overload
    def __getitem__(self, key: slice) -> list[ToolCall]: ...
    def __getitem__(self, key: int | str | slice) -> ToolCall | list[ToolCall]:
        try:
            return self._calls[key] if isinstance(key, str) else list(self._calls.values())[key]
        except LookupError as error:
            known = ", ".join(self._calls) or "none"
            raise type(error)(f"no tool call {key!r}; the turn has {len(self)}: {known}") from None

    def __iter__(self) -> Iterator[ToolCall]:
        return iter(list(self._calls.values()))

    def __len__(self) -> int:
        return len(self._calls)

    def __contains__(self, tool_call_id: object) -> bool:
        return tool_call_id in self._calls

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ToolCalls) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # it changes in place

    def __repr__(self) -> str:
        return "\n".join(["ToolCalls:", *(f"  [{n}] {call!r}" for n, call in enumerate(self))])


@dataclass(frozen=True)
class PermissionOption:
    """One answer that the agent offers: ``name`` is its words, ``kind`` a hint."""

    option_id: str
    name: str
    kind: str


@dataclass(slots=True)
class Permission:
    """A permission request and what became of it.

    ``state`` is ``open``, ``selected`` or ``cancelled``; ``decided_by`` is ``you``, ``policy``, ``nobody``,
    ``turn`` or ``agent``; ``reason`` a sentence beyond that. ``request`` is the request as it came, ``asked``
    the call as it stood then, and so what the answer is about; ``None`` where a saved turn's call still shows
    it. ``warnings`` say what was odd about it; ``checking`` is true while its files are being looked at.
    """

    key: str
    tool_call_id: str
    options: tuple[PermissionOption, ...]
    request: dict[str, Any] = field(default_factory=dict[str, Any], compare=False, repr=False)
    state: str = "open"
    option_id: str | None = None
    decided_by: str | None = None
    reason: str | None = None
    opened_at: float | None = None
    decided_at: float | None = None
    warnings: tuple[RequestWarning, ...] = ()
    checking: bool = field(default=False, compare=False)
    # What a document says by null has no copy of its own: turns are compared without it.
    asked: ToolCall | None = field(default=None, compare=False, repr=False)

    @property
    def option(self) -> PermissionOption | None:
        """The option that was selected."""
        return next((o for o in self.offered if o.option_id == self.option_id), None)

    @property
    def offered(self) -> tuple[PermissionOption, ...]:
        """The options that can be chosen: of several with one id only the safest."""
        return safest(self.options)

    @property
    def rejected(self) -> bool:
        """Whether it was answered by anything but an allowance (an unknown kind is none)."""
        allowed = self.option is not None and self.option.kind in {"allow_once", "allow_always"}
        return self.state != "open" and not (self.state == "selected" and allowed)


@dataclass(slots=True)
class Terminal(Shown):
    """A command that runs, or ran, for the agent; ``output`` still has its escape codes.

    ``agent_owned`` where the agent ran it itself, and we know only what it told; ``stopped_by`` is ``you``
    where you ended it from the card.
    """

    terminal_id: str
    command: str = ""
    cwd: str = ""
    output: Text = field(default_factory=Text)
    truncated: bool = False
    exit_code: int | None = None
    signal: str | None = None
    released: bool = False
    started_at: float | None = None
    ended_at: float | None = None
    stopped_by: str | None = None
    agent_owned: bool = field(default=False, compare=False, repr=False)
