"""What an update of a tool call changes.

See https://agentclientprotocol.com/protocol/tool-calls#updating. What is left out or null stays as it was;
every other value replaces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_jupyter.model.content import as_text, parse_content, parse_locations
from acp_jupyter.model.received import receive
from acp_jupyter.model.state import Change
from acp_jupyter.model.terminals import apply_agent_terminals
from acp_jupyter.model.timeline import keep_raw, show_call
from acp_jupyter.model.tool_call import FINAL_STATUSES, ToolCall

if TYPE_CHECKING:
    from acp_jupyter.model.state import SessionState
    from acp_jupyter.model.turn import Turn

# Of an agent that asks about one call without end, only what waits and the latest are drawn anew.
_REQUESTS_TOLD = 50


def apply_tool_call(state: SessionState, update: dict[str, Any], at: float) -> list[Change]:
    """Apply ``tool_call`` or ``tool_call_update``: the call is made where it is new."""
    raw_id = update.get("toolCallId")
    if raw_id is None or isinstance(raw_id, dict | list) or state.turn is None:
        return keep_raw(state, update, at)
    tool_call_id = str(raw_id)
    call = state.find_call(tool_call_id)
    # Announced again in a later turn, it is another call: some agents count from one in each turn.
    if (
        call is not None
        and update.get("sessionUpdate") == "tool_call"
        and tool_call_id not in state.turn.tool_calls
    ):
        call = None
    placed: list[Change] = []
    if call is None:
        call = ToolCall(tool_call_id, started_at=at)
        placed = show_call(state.turn, call, at)
    _merge(call, update, at)
    told = apply_agent_terminals(state, call, update, at)
    return [
        *placed,
        *told,
        *(change for turn in state.turns_with(call) for change in _changes(turn, tool_call_id)),
    ]


def _changes(turn: Turn, tool_call_id: str) -> list[Change]:
    """The call's node, and those of the requests about it: they tell whether it still is what was asked."""
    about = [(key, one) for key, one in turn.permissions.items() if one.tool_call_id == tool_call_id]
    open_ones = [key for key, one in about[:-_REQUESTS_TOLD] if one.state == "open"]
    requests = [*open_ones, *(key for key, _one in about[-_REQUESTS_TOLD:])]
    return [
        Change(turn, ("tool_calls", tool_call_id)),
        *(Change(turn, ("permissions", key)) for key in requests),
    ]


def _merge(call: ToolCall, update: dict[str, Any], at: float) -> None:
    title = as_text(update.get("title"))
    call.title = call.title if title is None else title
    name = as_text(update.get("name"))
    call.name = call.name if name is None else name
    call.kind = as_text(update.get("kind")) or call.kind
    if isinstance(update.get("locations"), list):
        call.locations = parse_locations(update["locations"])
    if isinstance(update.get("content"), list):
        call.content = parse_content(update["content"], call.content)
    # Omission and null both mean "as before"; every other JSON value replaces.
    if update.get("rawInput") is not None:
        call.raw_input = update["rawInput"]
    if update.get("rawOutput") is not None:
        call.raw_output = update["rawOutput"]
    status = as_text(update.get("status"))
    if status:
        call.status, call.local_status = status, None
        call.ended_at = at if status in FINAL_STATUSES else None
    receive(call, update)
