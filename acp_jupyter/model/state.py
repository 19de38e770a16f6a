"""The state of a session: what its turns share."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from acp_jupyter.model.elicitation import Elicitation
    from acp_jupyter.model.tool_call import Permission, ToolCall
    from acp_jupyter.model.turn import AgentInfo, Turn

_STRAY_LIMIT = 1000
TURN_LIMIT = 100
"""A session keeps so many turns; an earlier one lives on where something else holds it, as ``Out``."""
LEGACY_MODEL = "_model"
"""Under this id an older agent's models stand among its options; ``session/set_model`` sets it."""


class Change(NamedTuple):
    """A node of a turn's document that changed: ``()`` for its head, ``("items", 4)``, ``("plans", id)``."""

    turn: Turn
    node: tuple[Any, ...]


class Replay(NamedTuple):
    """A history on its way: a state of its own, and what its turns have in common."""

    state: SessionState
    agent: AgentInfo
    cwd: str


@dataclass(slots=True)
class SessionState:
    """What one session has seen. Changed in place by `reduce`, and by its one owner.

    ``stray`` holds updates that came before any turn and have no place of their own. ``history`` holds the
    turns that the agent replayed when it loaded the session, ``replay`` what it is replaying now. ``asked``
    holds the values that we have asked for, by option, the mode's under ``None``, until it has answered.
    ``elicitations`` holds what it asked a person for outside of any turn. ``left`` holds what was told about
    the session that was left last, which goes on where another cannot be had.
    """

    session_id: str | None = None
    turns: list[Turn] = field(default_factory=list["Turn"])
    title: str | None = None
    updated_at: str | None = None
    modes: dict[str, str] = field(default_factory=dict[str, str])
    mode_id: str | None = None
    config_options: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    commands: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    stray: deque[dict[str, Any]] = field(default_factory=lambda: deque[dict[str, Any]](maxlen=_STRAY_LIMIT))
    history: list[Turn] = field(default_factory=list["Turn"])
    replay: Replay | None = None
    asked: dict[str | None, Any] = field(default_factory=dict["str | None", Any])
    elicitations: dict[str, Elicitation] = field(default_factory=dict[str, "Elicitation"])
    left: dict[str, Any] = field(default_factory=dict[str, Any])
    _read_options: tuple[list[dict[str, Any]] | None, list[dict[str, Any]]] = (None, [])

    @property
    def turn(self) -> Turn | None:
        """The latest turn."""
        return self.turns[-1] if self.turns else None

    @property
    def mode(self) -> dict[str, Any] | None:
        """The agent's current mode, ``{id, name}``."""
        if self.mode_id is None:
            return None
        return {"id": self.mode_id, "name": self.modes.get(self.mode_id, self.mode_id)}

    @property
    def options(self) -> list[dict[str, Any]]:
        """The agent's configuration options, ``{id, name, category, value}``, with readable values."""
        if self._read_options[0] is not self.config_options:  # the list is replaced whole, never changed
            self._read_options = (self.config_options, self._readable())
        return self._read_options[1]

    def _readable(self) -> list[dict[str, Any]]:
        return [
            {
                "id": str(option.get("id", "")),
                "name": str(option.get("name") or option.get("id") or ""),
                "category": option.get("category"),
                "value": _value_name(option),
            }
            for option in self.config_options
        ]

    def find_call(self, tool_call_id: str) -> ToolCall | None:
        """Return the tool call of that id: the latest, where an agent uses an id twice in a session."""
        calls = (turn.tool_calls.get(tool_call_id) for turn in self._turns_of_session())
        return next((call for call in calls if call is not None), None)

    def turns_with(self, call: ToolCall) -> list[Turn]:
        """Return the turns that show ``call``: where it was first mentioned, and where it was asked about."""
        return [turn for turn in self._turns_of_session() if turn.tool_calls.get(call.tool_call_id) is call]

    def _turns_of_session(self) -> Iterator[Turn]:
        return (turn for turn in reversed(self.turns) if turn.session_id == self.session_id)

    def find_permission(self, key: str) -> tuple[Turn, Permission] | None:
        """Return the permission request of that key and the turn that it belongs to."""
        for turn in reversed(self.turns):
            if key in turn.permissions:
                return turn, turn.permissions[key]
        return None

    def all_elicitations(self) -> Iterator[tuple[Turn | None, Elicitation]]:
        """Give all that the agent asked a person for, the latest first, and the turn where it has one."""
        yield from ((None, one) for one in reversed(list(self.elicitations.values())))
        for turn in reversed(self.turns):
            yield from ((turn, one) for one in reversed(list(turn.elicitations.values())))

    def find_elicitation(self, key: str) -> tuple[Turn | None, Elicitation] | None:
        """Return the elicitation of that key, and the turn that it belongs to."""
        return next((found for found in self.all_elicitations() if found[1].key == key), None)


def _value_name(option: dict[str, Any]) -> str:
    value = option.get("currentValue")
    choices = option.get("options")
    for choice in _flat(choices if isinstance(choices, list) else []):  # pyright: ignore[reportUnknownArgumentType]  # any JSON
        if choice.get("value") == value:
            return str(choice.get("name") or value)
    return {True: "on", False: "off"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _flat(choices: list[Any]) -> list[dict[str, Any]]:
    flat: list[dict[str, Any]] = []
    for choice in choices:
        if isinstance(choice, dict):
            nested = choice.get("options")  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]  # any JSON
            flat += _flat(nested) if isinstance(nested, list) else [choice]  # pyright: ignore[reportUnknownArgumentType]  # any JSON
    return flat
