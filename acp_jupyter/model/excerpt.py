"""A part of a turn as a turn of its own, so that it is kept and drawn as it would be within the whole.

See https://agentclientprotocol.com/protocol/tool-calls.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from acp_jupyter.model.diff import Diff
from acp_jupyter.model.tool_call import Terminal, ToolCall, ToolCalls
from acp_jupyter.model.turn import AgentInfo, Plan, PlanMark, TerminalMark, ToolCallMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable

Part: TypeAlias = "Turn | ToolCall | ToolCalls | Diff | Terminal | Plan"


def excerpt(part: Part) -> Turn:
    """Return a turn that holds ``part`` and nothing else; a turn as it is."""
    if isinstance(part, Turn):
        return part
    if isinstance(part, ToolCall | ToolCalls):
        return _of_calls([part] if isinstance(part, ToolCall) else list(part))
    turn = _bare(None)
    if isinstance(part, Diff):
        turn.tool_calls.add(ToolCall("diff", content=[part]))
    elif isinstance(part, Terminal):
        turn.terminals[part.terminal_id] = part
        turn.items.append(TerminalMark(part.terminal_id))
    else:
        turn.plans["default"] = list(part)
        turn.items.append(PlanMark("default"))
    return turn


def _of_calls(calls: list[ToolCall]) -> Turn:
    homes = [home for call in calls if (home := call.home()) is not None]
    turn = _bare(homes[-1] if homes else None)
    turn.tool_calls = ToolCalls(calls)
    turn.items.extend(ToolCallMark(call.tool_call_id) for call in calls)
    for home in _each_once(homes):
        turn.permissions |= {
            key: one for key, one in home.permissions.items() if one.tool_call_id in turn.tool_calls
        }
        turn.terminals |= home.terminals
    embedded = {key for call in calls for key in call.terminal_ids}
    turn.terminals = {key: one for key, one in turn.terminals.items() if key in embedded}
    return turn


def _each_once(turns: list[Turn]) -> Iterable[Turn]:
    return {id(turn): turn for turn in turns}.values()


def _bare(home: Turn | None) -> Turn:
    """A turn without anything in it, of the same agent and in the same directories as ``home``."""
    if home is None:
        return Turn("", 0, AgentInfo("an agent", "an agent"), "", [])
    return Turn(
        "",
        home.number,
        replace(home.agent),
        home.cwd,
        [],
        additional_directories=list(home.additional_directories),
        policy=home.policy,
        phase=home.phase,
    )
