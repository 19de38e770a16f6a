"""Places in a turn's timeline, and its head: what every part of `acp_jupyter.model.reduce` needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_jupyter.model.content import as_text
from acp_jupyter.model.shown import Home
from acp_jupyter.model.state import Change
from acp_jupyter.model.turn import Thought, ToolCallMark, UnknownUpdate

if TYPE_CHECKING:
    from acp_jupyter.model.state import SessionState
    from acp_jupyter.model.tool_call import ToolCall
    from acp_jupyter.model.turn import Item, Turn

HEAD: tuple[Any, ...] = ()


def refresh_head(state: SessionState) -> list[Change]:
    """Copy into the latest turn what belongs to the whole session."""
    turn = state.turn
    if turn is None:
        return []
    turn.session_id, turn.title, turn.mode = state.session_id, state.title, state.mode
    turn.options, turn.commands = state.options, state.commands
    return [Change(turn, HEAD)]


def place(turn: Turn, item: Item, at: float) -> list[Change]:
    """Append an item to the timeline; a thought before it has ended."""
    closed = close_thought(turn, at)
    turn.items.append(item)
    return [*closed, Change(turn, ("items", len(turn.items) - 1))]


def close_thought(turn: Turn, at: float) -> list[Change]:
    """End the thought that stands last."""
    last = turn.items[-1] if turn.items else None
    if isinstance(last, Thought) and last.ended_at is None:
        last.ended_at = at
        return [Change(turn, ("items", len(turn.items) - 1))]
    return []


def show_call(turn: Turn, call: ToolCall, at: float) -> list[Change]:
    """Give a tool call a place in a turn."""
    turn.tool_calls.add(call)
    if call.home() is None:
        call.home = Home(turn)
    return place(turn, ToolCallMark(call.tool_call_id), at)


def keep_raw(state: SessionState, update: dict[str, Any], at: float) -> list[Change]:
    """Keep an update raw, in its place where there is a turn."""
    if state.turn is None:
        state.stray.append(update)
        return []
    return place(state.turn, UnknownUpdate(as_text(update.get("sessionUpdate")), update), at)
