"""A turn's terminals: their growing output, and those that an agent runs itself and tells about in ``_meta``.

See https://agentclientprotocol.com/protocol/terminals for ours. An agent's own is no part of the protocol.
Some agents tell of it in the ``_meta`` of a tool call and its updates, to a client that declares
``_meta.terminal_output``: ``terminal_info`` ``{terminal_id, cwd}``, ``terminal_output`` and
``terminal_output_delta`` ``{terminal_id, data}``, which both append, ``terminal_exit`` ``{terminal_id,
exit_code, signal}``; any of them, or all, in one update.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, cast

from acp_jupyter.model.content import TerminalRef, as_dict, as_int, as_text
from acp_jupyter.model.state import Change
from acp_jupyter.model.text import Text
from acp_jupyter.model.tool_call import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_jupyter.model.state import SessionState
    from acp_jupyter.model.tool_call import ToolCall
    from acp_jupyter.model.turn import Turn

# Characters of a terminal's output that a turn holds; beyond that its beginning is dropped.
OUTPUT_CEILING = 4_000_000


def append_output(terminal: Terminal, text: str) -> None:
    """Add what a command wrote; where that is too much, the beginning goes."""
    terminal.output.append(text)
    if len(terminal.output) > OUTPUT_CEILING:
        terminal.output = Text(str(terminal.output)[-OUTPUT_CEILING // 2 :])
        terminal.truncated = True


def apply_agent_terminals(
    state: SessionState, call: ToolCall, update: dict[str, Any], at: float
) -> list[Change]:
    """Apply what ``update``, which ``call`` holds already, tells about terminals of the agent's own.

    They stay embedded in the call, whatever content it is given later: what was received is never lost.
    """
    turns = state.turns_with(call)
    changed: set[str] = set()
    meta = as_dict(update.get("_meta"))
    for key, tell in _TOLD.items():
        told = meta.get(key)
        terminal = _terminal(state, turns, call, told, at) if isinstance(told, dict) else None
        if terminal is not None:
            tell(terminal, as_dict(told), at)
            changed.add(terminal.terminal_id)
    if not call.agent_terminals:
        return []
    missing = [key for key in call.agent_terminals if key not in call.terminal_ids]
    call.content = [*call.content, *map(TerminalRef, missing)]
    changed |= _follow(turns, call, at)
    return [
        Change(turn, ("terminals", key)) for turn in turns for key in call.agent_terminals if key in changed
    ]


def end_agent_terminals(turn: Turn, call: ToolCall, at: float) -> list[Change]:
    """End the terminals of a call that is over: nothing more is expected of them."""
    return [Change(turn, ("terminals", key)) for key in sorted(_follow([turn], call, at))]


def share_agent_terminals(state: SessionState, turn: Turn, call: ToolCall) -> list[Change]:
    """Show in ``turn``, where a call of an earlier one is asked about, what its terminals have told."""
    changes: list[Change] = []
    for other in state.turns_with(call):
        for key in call.agent_terminals:
            if key in other.terminals and key not in turn.terminals:
                turn.terminals[key] = other.terminals[key]
                changes.append(Change(turn, ("terminals", key)))
    return changes


def told_command(call: ToolCall) -> str | None:
    """Return the command that a call's raw input names, as one line; ``None`` where it names none."""
    raw_input = as_dict(call.raw_input)
    for key in ("command", "cmd"):
        value = raw_input.get(key)
        words = cast("list[Any]", value) if isinstance(value, list) else []
        if words and all(isinstance(word, str) for word in words):
            return shlex.join(words)
        if isinstance(value, str) and value.strip():
            args = raw_input.get("args")
            more = cast("list[Any]", args) if isinstance(args, list) else []
            return " ".join([value, shlex.join(map(str, more))]).strip()
    return None


def _terminal(
    state: SessionState, turns: list[Turn], call: ToolCall, told: Any, at: float
) -> Terminal | None:
    """Return the terminal that is told about; ``None`` where it is ours: about that one only we tell."""
    last = call.agent_terminals[-1] if call.agent_terminals else call.tool_call_id
    terminal_id = as_text(as_dict(told).get("terminal_id")) or last
    every = (turn.terminals.get(terminal_id) for turn in state.turns)
    if any(one is not None and not one.agent_owned for one in every):
        return None
    known = [turn.terminals[terminal_id] for turn in turns if terminal_id in turn.terminals]
    terminal = known[0] if known else Terminal(terminal_id, started_at=at, agent_owned=True)
    for turn in turns:
        turn.terminals[terminal_id] = terminal
    if terminal_id not in call.agent_terminals:
        call.agent_terminals.append(terminal_id)
    return terminal


def _follow(turns: list[Turn], call: ToolCall, at: float) -> set[str]:
    """Let the call's terminals say what it says: the command, and that it is over. Returns which changed."""
    changed: set[str] = set()
    command = told_command(call) or call.title
    for key in call.agent_terminals:
        for terminal in (turn.terminals[key] for turn in turns if key in turn.terminals):
            if terminal.agent_owned and command not in {"", terminal.command}:
                terminal.command = command
                changed.add(key)
            if terminal.agent_owned and call.finished and terminal.ended_at is None:
                terminal.ended_at = at
                changed.add(key)
    return changed


def _info(terminal: Terminal, told: dict[str, Any], at: float) -> None:  # noqa: ARG001  # one signature for all
    terminal.cwd = as_text(told.get("cwd")) or terminal.cwd


def _output(terminal: Terminal, told: dict[str, Any], at: float) -> None:  # noqa: ARG001  # as above
    append_output(terminal, as_text(told.get("data")) or "")


def _exit(terminal: Terminal, told: dict[str, Any], at: float) -> None:
    terminal.exit_code, terminal.signal = as_int(told.get("exit_code")), as_text(told.get("signal"))
    terminal.ended_at = at


# In the order in which they happened, where one update holds several.
_TOLD: dict[str, Callable[[Terminal, dict[str, Any], float], None]] = {
    "terminal_info": _info,
    "terminal_output": _output,
    "terminal_output_delta": _output,
    "terminal_exit": _exit,
}
