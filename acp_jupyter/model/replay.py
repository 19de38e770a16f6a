"""The history that an agent tells when it loads a session: turns of their own, apart from the live ones.

See https://agentclientprotocol.com/protocol/session-setup#loading-sessions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_jupyter.model.state import Change, Replay, SessionState
from acp_jupyter.model.turn import ContentPart, Message, Turn
from acp_jupyter.model.updates import apply_update

if TYPE_CHECKING:
    from acp_jupyter.model.events import ReplayBegan

# What a session tells about itself, in its history as well as live.
_ABOUT_THE_SESSION = ("title", "updated_at", "mode_id", "config_options", "commands")


def begin_replay(event: ReplayBegan) -> Replay:
    """Return an empty history of that session."""
    return Replay(SessionState(session_id=event.session_id), event.agent, event.cwd)


def apply_replayed(state: SessionState, update: dict[str, Any], at: float) -> list[Change]:
    """Apply an update to the history; nothing of the live turns changes.

    A user's words begin a turn, as they did when it was live.
    """
    assert state.replay is not None  # noqa: S101  # the caller looks
    past = state.replay.state
    begins = update.get("sessionUpdate") == "user_message_chunk"
    if past.turn is None or (begins and _answered(past.turn)):
        past.turns.append(_turn(state.replay, len(past.turns) + 1))
    apply_update(past, update, at)
    return []


def end_replay(state: SessionState) -> None:
    """Take over what was told: the turns as history, the rest as the session's own."""
    assert state.replay is not None  # noqa: S101  # the caller looks
    past, state.replay = state.replay.state, None
    told = [turn for turn in past.turns if turn.items]
    if told or past.session_id != state.session_id:
        state.history = told
    for turn in told:
        turn.phase = "done"
    for name in _ABOUT_THE_SESSION:
        setattr(state, name, getattr(past, name))


def _answered(turn: Turn) -> bool:
    return any(not isinstance(item, Message | ContentPart) or item.role != "user" for item in turn.items)


def _turn(replay: Replay, number: int) -> Turn:
    return Turn(
        turn_id=f"{replay.state.session_id}/{number}",
        number=number,
        agent=replay.agent,
        cwd=replay.cwd,
        prompt=[],
        session_id=replay.state.session_id,
        replayed=True,
    )
