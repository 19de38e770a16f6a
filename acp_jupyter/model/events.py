"""What can happen to a session; `acp_jupyter.model.reduce` applies it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from acp_jupyter.model.request_warnings import RequestWarning
    from acp_jupyter.model.turn import AgentInfo, Turn, TurnError


@dataclass(frozen=True)
class SessionOpened:
    """The session is open; ``response`` answers ``session/new``, ``load``, ``resume`` or ``fork``.

    What was replayed until then is the session's history.
    """

    session_id: str
    response: dict[str, Any]


@dataclass(frozen=True)
class SessionLeft:
    """What the agent has told about the session is over; ``forgotten`` where the session itself is."""

    forgotten: bool = False


@dataclass(frozen=True)
class SessionStayed:
    """The session that was left goes on: the one that was to be had instead could not be opened."""


@dataclass(frozen=True)
class ReplayBegan:
    """The agent is asked to load a session: what it tells until the answer is history."""

    session_id: str
    agent: AgentInfo
    cwd: str


@dataclass(frozen=True)
class ReplayFailed:
    """The session was not loaded: what came of it is dropped."""


@dataclass(frozen=True)
class ChoiceAsked:
    """We ask the agent to set an option, or its mode where ``option_id`` is ``None``."""

    option_id: str | None
    value: Any


@dataclass(frozen=True)
class ChoiceAnswered:
    """It has answered; ``options`` is its complete list where it sent one, ``done`` whether it obeyed."""

    option_id: str | None
    value: Any
    options: list[dict[str, Any]] | None = None
    done: bool = True


@dataclass(frozen=True)
class TurnStarted:
    """A turn begins: it is the current one from now on."""

    turn: Turn


@dataclass(frozen=True)
class PromptSent:
    """The turn's prompt is on its way to the agent."""


@dataclass(frozen=True)
class SessionUpdate:
    """The agent's ``session/update``, as it came."""

    update: dict[str, Any]


@dataclass(frozen=True)
class CancelRequested:
    """The turn was cancelled, by ``you`` or a ``time_limit``; the agent has not confirmed it yet."""

    by: str = "you"


@dataclass(frozen=True)
class TurnEnded:
    """The agent answered the prompt; ``response`` is its result as it came."""

    response: Any


@dataclass(frozen=True)
class TurnFailed:
    """The turn ended otherwise; ``agent_gone`` where running tool calls were cut off by it."""

    error: TurnError
    agent_gone: bool = False


@dataclass(frozen=True)
class PermissionAsked:
    """The agent asks; ``request`` is ``session/request_permission`` as it came, ``key`` our name for it.

    Args:
        key: Our name.
        request: What came.
        check: Whether its files will be looked at; `PermissionChecked` then says what was found.
    """

    key: str
    request: dict[str, Any]
    check: bool = False


@dataclass(frozen=True)
class PermissionChecked:
    """The files of a request were looked at; ``warnings`` are what is odd about them."""

    key: str
    warnings: tuple[RequestWarning, ...] = ()


@dataclass(frozen=True)
class PermissionClosed:
    """A request was answered: ``selected`` with an option, or ``cancelled``."""

    key: str
    state: str
    decided_by: str
    option_id: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class ElicitationAsked:
    """The agent asks for values or a visit; ``request`` is ``elicitation/create`` as it came.

    ``outside`` of any turn it has no place in one.
    """

    key: str
    request: dict[str, Any]
    outside: bool = False


@dataclass(frozen=True)
class ElicitationFaulted:
    """Values were tried that cannot be sent: a sentence for each field."""

    key: str
    faults: dict[str, str]


@dataclass(frozen=True)
class ElicitationClosed:
    """It was answered: ``accepted``, with ``content`` where it was a form, ``declined`` or ``cancelled``."""

    key: str
    state: str
    decided_by: str
    content: dict[str, Any] | None = None
    reason: str | None = None


@dataclass(frozen=True)
class ElicitationCompleted:
    """What the agent wanted done at an address is done."""

    elicitation_id: str


@dataclass(frozen=True)
class TerminalStarted:
    """A command runs for the agent."""

    terminal_id: str
    command: str
    cwd: str


@dataclass(frozen=True)
class TerminalOutput:
    """A command wrote something, decoded."""

    terminal_id: str
    text: str


@dataclass(frozen=True)
class TerminalExited:
    """A command ended, with a code or by a signal; ``stopped_by`` ``you``, where you stopped it."""

    terminal_id: str
    exit_code: int | None = None
    signal: str | None = None
    stopped_by: str | None = None


@dataclass(frozen=True)
class TerminalReleased:
    """The agent needs a terminal no longer; its output stays."""

    terminal_id: str


@dataclass(frozen=True)
class Noted:
    """The client itself has something to say about the turn."""

    text: str
    severity: str = field(default="info")


Event: TypeAlias = (
    SessionOpened
    | SessionLeft
    | SessionStayed
    | ReplayBegan
    | ReplayFailed
    | ChoiceAsked
    | ChoiceAnswered
    | TurnStarted
    | PromptSent
    | SessionUpdate
    | CancelRequested
    | TurnEnded
    | TurnFailed
    | PermissionAsked
    | PermissionChecked
    | PermissionClosed
    | ElicitationAsked
    | ElicitationFaulted
    | ElicitationClosed
    | ElicitationCompleted
    | TerminalStarted
    | TerminalOutput
    | TerminalExited
    | TerminalReleased
    | Noted
)
