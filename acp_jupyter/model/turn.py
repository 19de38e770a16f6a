"""A turn: everything from a prompt to its end, in the order in which it came.

See https://agentclientprotocol.com/protocol/prompt-turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, overload

from acp_jupyter.model.elicitation import Elicitation
from acp_jupyter.model.shown import Shown
from acp_jupyter.model.text import Text
from acp_jupyter.model.tool_call import Permission, Terminal, ToolCall, ToolCalls


@dataclass(slots=True)
class Message:
    """A run of text of one speaker, ``agent`` or ``user``."""

    role: str
    text: Text = field(default_factory=Text)
    message_id: str | None = None
    late: bool = False


@dataclass(slots=True)
class Thought:
    """A run of the agent's thinking."""

    text: Text = field(default_factory=Text)
    message_id: str | None = None
    started_at: float | None = None
    ended_at: float | None = None
    late: bool = False


@dataclass(slots=True)
class ContentPart:
    """A content block other than text, spoken by ``agent``, ``user`` or in a ``thought``."""

    role: str
    block: dict[str, Any]
    message_id: str | None = None


@dataclass(slots=True)
class PlanMark:
    """Where a plan first appeared; its entries are in ``turn.plans``."""

    plan_id: str


@dataclass(slots=True)
class ToolCallMark:
    """Where a tool call was first mentioned."""

    tool_call_id: str


@dataclass(slots=True)
class TerminalMark:
    """Where a terminal was made."""

    terminal_id: str


@dataclass(slots=True)
class ElicitationMark:
    """Where the agent asked for values, or for a visit to an address; see ``turn.elicitations``."""

    key: str


@dataclass(slots=True)
class Notice:
    """Something the agent tells in passing."""

    severity: str
    title: str
    description: str | None = None


@dataclass(slots=True)
class Compaction:
    """The agent shortened its context."""

    compaction_id: str
    status: str = "in_progress"
    summary: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    error: str | None = None


@dataclass(slots=True)
class ModeChange:
    """The agent's mode changed here, ``by`` ``you`` or by the ``agent`` itself; then ``oversight`` warns."""

    id: str
    name: str
    by: str = "agent"
    oversight: str | None = None


@dataclass(slots=True)
class OptionChange:
    """One of its options changed here to the readable ``value``, ``by`` and ``oversight`` as of a mode."""

    id: str
    name: str
    value: str
    by: str = "agent"
    oversight: str | None = None


@dataclass(slots=True)
class UnknownUpdate:
    """An update that we do not understand, as it came."""

    kind: str | None
    raw: Any


Item: TypeAlias = (
    Message
    | Thought
    | ContentPart
    | PlanMark
    | ToolCallMark
    | TerminalMark
    | ElicitationMark
    | Notice
    | Compaction
    | ModeChange
    | OptionChange
    | UnknownUpdate
)


@dataclass(frozen=True)
class PlanEntry:
    """A step of the agent's plan; ``status`` is ``pending``, ``in_progress`` or ``completed``."""

    content: str
    priority: str = "medium"
    status: str = "pending"


class Plan(Sequence[PlanEntry], Shown):
    """The steps of the agent's plan, as they stood when it was looked at."""

    # No list: IPython would print it as one, and say nothing of what `Shown` has.
    __slots__ = ("_entries",)

    def __init__(self, entries: Iterable[PlanEntry] = ()) -> None:
        self._entries = tuple(entries)

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, key: int) -> PlanEntry: ...
    @overload
    def __getitem__(self, key: slice) -> Plan: ...
    def __getitem__(self, key: int | slice) -> PlanEntry | Plan:
        return Plan(self._entries[key]) if isinstance(key, slice) else self._entries[key]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan | list | tuple) and self._entries == tuple(other)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # of anything

    def __hash__(self) -> int:
        return hash(self._entries)

    def __repr__(self) -> str:
        return f"Plan({list(self._entries)!r})"


@dataclass(frozen=True)
class Usage:
    """Context in use, in tokens, of ``size``; ``cost`` is ``{amount, currency}`` so far, or ``None``."""

    used: int
    size: int
    cost: dict[str, Any] | None = None


@dataclass(frozen=True)
class AgentInfo:
    """The agent: the name its user calls it by, its own title and version."""

    name: str
    title: str
    version: str | None = None


@dataclass(frozen=True)
class TurnError:
    """Why a turn failed: the error's type, what happened, what to do, the agent's last words on stderr."""

    type: str
    message: str
    advice: str = ""
    stderr: str = ""


@dataclass(frozen=True)
class Note:
    """A line that the client itself has to say; ``severity`` is ``info`` or ``warning``."""

    severity: str
    text: str


@dataclass(slots=True)
class Turn(Shown):
    """A prompt, everything that came of it, and how it ended.

    ``phase`` is ``starting``, ``running``, ``done``, ``cancelled`` or ``failed``; `state` adds ``waiting``.
    Times are Unix seconds. ``replayed`` says that the agent told it from its memory, when it loaded the
    session. ``kept`` is set in a copy that is not whole: how many places had secrets (``redacted``), how many
    values were too large (``cut``).
    """

    turn_id: str
    number: int
    agent: AgentInfo
    cwd: str
    prompt: list[dict[str, Any]]
    additional_directories: list[str] = field(default_factory=list[str])
    policy: str = "ask"
    session_id: str | None = None
    phase: str = "starting"
    started_at: float | None = None
    ended_at: float | None = None
    stop_reason: str | None = None
    cancel_requested: bool = False
    cancelled_by: str = "you"
    error: TurnError | None = None
    notes: list[Note] = field(default_factory=list[Note])
    title: str | None = None
    mode: dict[str, Any] | None = None
    options: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    commands: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    usage: Usage | None = None
    replayed: bool = False
    kept: dict[str, int] | None = None
    items: list[Item] = field(default_factory=list[Item])
    tool_calls: ToolCalls = field(default_factory=ToolCalls)
    terminals: dict[str, Terminal] = field(default_factory=dict[str, Terminal])
    permissions: dict[str, Permission] = field(default_factory=dict[str, Permission])
    elicitations: dict[str, Elicitation] = field(default_factory=dict[str, Elicitation])
    plans: dict[str, list[PlanEntry]] = field(default_factory=dict[str, list[PlanEntry]])
    ended_raw: Any = field(default=None, compare=False, repr=False)
    echoed: int = field(default=0, compare=False, repr=False)
    # Where the newest message or thought of each role and message id stands in `items`.
    newest: dict[tuple[str, str | None], int] = field(
        default_factory=dict[tuple[str, "str | None"], int], compare=False, repr=False
    )

    @property
    def state(self) -> str:
        """``starting``, ``running``, ``waiting``, ``done``, ``cancelled`` or ``failed``."""
        waits = self.phase == "running" and (self.pending or self.pending_elicitations)
        return "waiting" if waits else self.phase

    @property
    def ended(self) -> bool:
        """Whether the turn is over."""
        return self.phase in {"done", "cancelled", "failed"}

    @property
    def pending(self) -> list[Permission]:
        """The permission requests that nobody has answered yet."""
        return [permission for permission in list(self.permissions.values()) if permission.state == "open"]

    @property
    def pending_elicitations(self) -> list[Elicitation]:
        """The forms and addresses that nobody has answered yet."""
        return [one for one in list(self.elicitations.values()) if one.state == "open"]

    def asked_about(self, permission: Permission) -> ToolCall:
        """Return the call of a request: as it stood when it was asked, where it has changed since."""
        call, asked = self.tool_calls[permission.tool_call_id], permission.asked
        return call if asked is None or call.shows(asked) else asked

    @property
    def rejected(self) -> list[Permission]:
        """The permission requests that were answered by anything but an allowance."""
        return [permission for permission in list(self.permissions.values()) if permission.rejected]

    @property
    def text(self) -> str:
        """The agent's answer: its messages in order, with an empty line between them."""
        runs = [str(item.text) for item in self.items if isinstance(item, Message) and item.role == "agent"]
        return "\n\n".join(run.strip("\n") for run in runs if run)

    @property
    def thoughts(self) -> str:
        """The agent's thinking, in order, with an empty line between its runs."""
        return "\n\n".join(str(item.text) for item in self.items if isinstance(item, Thought))

    @property
    def plan(self) -> Plan:
        """The plan's entries as they stand now."""
        return Plan(self.plans.get("default", []))

    @property
    def cost(self) -> dict[str, Any] | None:
        """The session's cost so far, ``{amount, currency}``, where the agent tells it."""
        return self.usage.cost if self.usage else None

    def __repr__(self) -> str:
        calls = len(self.tool_calls)
        how = self.stop_reason or self.state
        return (
            f"<Turn {self.number} of {self.agent.name}: {how}, {calls} tool call{'' if calls == 1 else 's'}>"
        )
