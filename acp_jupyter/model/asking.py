"""What becomes of the agent's questions to a person, forms and addresses: a part of `reduce`.

See https://agentclientprotocol.com/protocol/elicitation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from acp_jupyter.model import events
from acp_jupyter.model.elicitation import elicitation_of
from acp_jupyter.model.state import Change
from acp_jupyter.model.timeline import HEAD, place
from acp_jupyter.model.turn import ElicitationMark

if TYPE_CHECKING:
    from acp_jupyter.model.elicitation import Elicitation
    from acp_jupyter.model.state import SessionState
    from acp_jupyter.model.turn import Turn

ElicitationEvent: TypeAlias = (
    events.ElicitationAsked
    | events.ElicitationFaulted
    | events.ElicitationClosed
    | events.ElicitationCompleted
)


def apply_elicitation(state: SessionState, event: ElicitationEvent, at: float) -> list[Change]:
    """Apply what happened to a question; one that is closed stays as it is."""
    if isinstance(event, events.ElicitationAsked):
        return _asked(state, event, at)
    if isinstance(event, events.ElicitationCompleted):
        return _completed(state, event.elicitation_id)
    found = state.find_elicitation(event.key)
    if found is None or found[1].state != "open":
        return []
    turn, node = found
    if isinstance(event, events.ElicitationFaulted):
        node.faults = dict(event.faults)
        return _changes(turn, node)
    node.state, node.content, node.faults = event.state, event.content, {}
    node.decided_by, node.reason, node.decided_at = event.decided_by, event.reason, at
    return _changes(turn, node)


def _asked(state: SessionState, event: events.ElicitationAsked, at: float) -> list[Change]:
    node = elicitation_of(event.key, event.request, at)
    turn = None if event.outside else state.turn
    if turn is None:
        state.elicitations[event.key] = node
        return []
    turn.elicitations[event.key] = node
    return [*place(turn, ElicitationMark(event.key), at), *_changes(turn, node)]


def _completed(state: SessionState, elicitation_id: str) -> list[Change]:
    """An id that is unknown, or was completed before, is ignored, as the protocol has it."""
    for turn, node in state.all_elicitations():
        if (
            node.elicitation_id == elicitation_id
            and node.state in {"open", "accepted"}
            and not node.completed
        ):
            node.completed = True
            return _changes(turn, node)
    return []


def _changes(turn: Turn | None, node: Elicitation) -> list[Change]:
    return [] if turn is None else [Change(turn, ("elicitations", node.key)), Change(turn, HEAD)]
