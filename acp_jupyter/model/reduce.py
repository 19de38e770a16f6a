"""One function that applies an event to a session's state, in place, and says which nodes changed.

No IO, no clock, no threads: the owner passes the time and is the only one who calls it. The rules are
those of https://agentclientprotocol.com/protocol/tool-calls and /protocol/prompt-turn:

- everything is an upsert by id: what is left out or null stays as it was, a value replaces (``false``, ``0``,
  ``""`` and ``[]`` too), chunks append;
- a tool call belongs to the turn in which it was first mentioned, for as long as the session lasts;
- without message ids a message ends where anything else takes a place in the timeline;
- what we do not understand is kept raw, in its place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from acp_jupyter.model import events
from acp_jupyter.model.content import as_dict, as_int, as_list, as_text, parse_content, parse_locations
from acp_jupyter.model.state import Change, SessionState
from acp_jupyter.model.text import Text
from acp_jupyter.model.tool_call import FINAL_STATUSES, Permission, PermissionOption, Terminal, ToolCall
from acp_jupyter.model.turn import (
    Compaction,
    ContentPart,
    Item,
    Message,
    ModeChange,
    Note,
    Notice,
    PlanEntry,
    PlanMark,
    TerminalMark,
    Thought,
    ToolCallMark,
    Turn,
    UnknownUpdate,
    Usage,
)

HEAD: tuple[Any, ...] = ()
# Characters of a terminal's output that a turn holds; beyond that its beginning is dropped.
OUTPUT_CEILING = 4_000_000


def reduce(state: SessionState, event: events.Event, at: float) -> list[Change]:
    """Apply ``event``, which happened ``at`` (Unix seconds), and return the nodes that changed."""
    if isinstance(event, events.SessionUpdate):
        return _session_update(state, event.update, at)
    if isinstance(event, events.SessionOpened):
        return _session_opened(state, event)
    if isinstance(event, events.TurnStarted):
        return _turn_started(state, event.turn, at)
    if isinstance(event, events.PermissionAsked):
        return _permission_asked(state, event, at)
    if isinstance(event, events.PermissionClosed):
        return _permission_closed(state, event, at)
    turn = state.turn
    if turn is None:
        return []
    if isinstance(
        event,
        events.TerminalStarted | events.TerminalOutput | events.TerminalExited | events.TerminalReleased,
    ):
        return _terminal(state, turn, event, at)
    return _turn_event(turn, event, at)


# --- the turn as a whole


def _session_opened(state: SessionState, event: events.SessionOpened) -> list[Change]:
    state.session_id = event.session_id
    modes = as_dict(event.response.get("modes"))
    entries = [as_dict(mode) for mode in as_list(modes.get("availableModes"))]
    state.modes = {str(mode["id"]): str(mode.get("name") or mode["id"]) for mode in entries if "id" in mode}
    state.mode_id = as_text(modes.get("currentModeId"))
    state.config_options = [
        as_dict(option) for option in as_list(event.response.get("configOptions")) if option
    ]
    return _refresh_head(state)


def _turn_started(state: SessionState, turn: Turn, at: float) -> list[Change]:
    turn.started_at = at
    state.turns.append(turn)
    return _refresh_head(state)


def _turn_event(turn: Turn, event: events.Event, at: float) -> list[Change]:
    changes = [Change(turn, HEAD)]
    if isinstance(event, events.PromptSent):
        turn.phase = "running"
    elif isinstance(event, events.Noted):
        turn.notes.append(Note(event.severity, event.text))
    elif isinstance(event, events.CancelRequested):
        turn.cancel_requested = True
        changes += _leave(turn, "cancelled", at)
    elif isinstance(event, events.TurnEnded):
        turn.ended_raw = event.response
        turn.stop_reason = as_text(as_dict(event.response).get("stopReason"))
        cancelled = turn.cancel_requested or turn.stop_reason == "cancelled"
        # Once more: the agent may have reported progress between the request and its end.
        changes += _leave(turn, "cancelled", at) if cancelled else []
        changes += _end(turn, "cancelled" if cancelled else "done", at)
    elif isinstance(event, events.TurnFailed):
        turn.error = event.error
        if event.agent_gone:
            changes += _leave(turn, "cut_off", at)
        changes += _end(turn, "failed", at)
    return changes


def _end(turn: Turn, phase: str, at: float) -> list[Change]:
    turn.phase, turn.ended_at = phase, at
    return _close_thought(turn, at)


def _leave(turn: Turn, local_status: str, at: float) -> list[Change]:
    changes: list[Change] = []
    for call in turn.tool_calls:
        if not call.finished:
            call.local_status, call.ended_at = local_status, at
            changes.append(Change(turn, ("tool_calls", call.tool_call_id)))
    return changes


def _refresh_head(state: SessionState) -> list[Change]:
    turn = state.turn
    if turn is None:
        return []
    turn.session_id, turn.title, turn.mode = state.session_id, state.title, state.mode
    turn.options, turn.commands = state.options, state.commands
    return [Change(turn, HEAD)]


# --- the timeline


def _place(turn: Turn, item: Item, at: float) -> list[Change]:
    closed = _close_thought(turn, at)
    turn.items.append(item)
    return [*closed, Change(turn, ("items", len(turn.items) - 1))]


def _close_thought(turn: Turn, at: float) -> list[Change]:
    last = turn.items[-1] if turn.items else None
    if isinstance(last, Thought) and last.ended_at is None:
        last.ended_at = at
        return [Change(turn, ("items", len(turn.items) - 1))]
    return []


# --- session/update


def _session_update(state: SessionState, update: dict[str, Any], at: float) -> list[Change]:
    kind = as_text(update.get("sessionUpdate"))
    if kind in _OF_THE_SESSION:
        return _OF_THE_SESSION[kind](state, update, at)
    turn = state.turn
    if turn is None:
        state.stray.append(update)
        return []
    apply = _OF_THE_TURN.get(kind or "")
    changes = apply(turn, update, at) if apply else None
    return _place(turn, UnknownUpdate(kind, update), at) if changes is None else changes


def _chunk(turn: Turn, update: dict[str, Any], at: float) -> list[Change] | None:
    block = as_dict(update.get("content"))
    message_id = as_text(update.get("messageId"))
    role = {"user_message_chunk": "user", "agent_thought_chunk": "thought"}.get(
        update["sessionUpdate"], "agent"
    )
    if not block:
        return None
    text = as_text(block.get("text")) if block.get("type") == "text" else None
    if text is None:
        return _place(turn, ContentPart(role, block, message_id), at)
    if role == "user" and _is_echo(turn, text):
        return []
    return _append(turn, role, message_id, text, at)


def _append(turn: Turn, role: str, message_id: str | None, text: str, at: float) -> list[Change]:
    index = _running_item(turn, role, message_id)
    if index is not None:
        item = turn.items[index]
        assert isinstance(item, Message | Thought)  # noqa: S101  # _running_item looks for just these
        item.text.append(text)
        return [Change(turn, ("items", index))]
    if role == "thought":
        return _place(turn, Thought(Text(text), message_id, started_at=at, late=turn.ended), at)
    return _place(turn, Message(role, Text(text), message_id, late=turn.ended), at)


def _running_item(turn: Turn, role: str, message_id: str | None) -> int | None:
    """Return the index of the item that a chunk continues: by its id anywhere, without one only the last."""
    start = 0 if message_id is not None else max(0, len(turn.items) - 1)
    for index in range(len(turn.items) - 1, start - 1, -1):
        item = turn.items[index]
        if not isinstance(item, Message | Thought) or item.late != turn.ended:
            continue
        same_role = (role == "thought") if isinstance(item, Thought) else (item.role == role)
        if same_role and item.message_id == message_id:
            return index
    return None


def _is_echo(turn: Turn, text: str) -> bool:
    """Whether the agent repeats the prompt back to us, as one does; each chunk consumes its part of it."""
    if turn.ended or turn.phase != "running":
        return False
    prompt = "".join(str(block.get("text", "")) for block in turn.prompt)
    if not prompt.startswith(text, turn.echoed):
        return False
    turn.echoed += len(text)
    return True


def _plan(turn: Turn, update: dict[str, Any], at: float) -> list[Change] | None:
    raw = update.get("entries")
    if not isinstance(raw, list):
        return None
    new = "default" not in turn.plans
    entries = [as_dict(entry) for entry in as_list(update["entries"])]
    turn.plans["default"] = [
        PlanEntry(
            str(entry["content"]),
            as_text(entry.get("priority")) or "medium",
            as_text(entry.get("status")) or "pending",
        )
        for entry in entries
        if "content" in entry
    ]
    placed = _place(turn, PlanMark("default"), at) if new else []
    return [*placed, Change(turn, ("plans", "default"))]


def _notice(turn: Turn, update: dict[str, Any], at: float) -> list[Change] | None:
    title = as_text(update.get("title"))
    if not title:
        return None
    severity = as_text(update.get("severity")) or "info"
    return _place(turn, Notice(severity, title, as_text(update.get("description"))), at)


def _compaction(turn: Turn, update: dict[str, Any], at: float) -> list[Change] | None:
    compaction_id = as_text(update.get("compactionId"))
    if compaction_id is None:
        return None
    index = next(
        (
            i
            for i, item in enumerate(turn.items)
            if isinstance(item, Compaction) and item.compaction_id == compaction_id
        ),
        None,
    )
    if index is None:
        item = Compaction(compaction_id)
        changes = _place(turn, item, at)
    else:
        found = turn.items[index]
        assert isinstance(found, Compaction)  # noqa: S101  # just found as one
        item, changes = found, [Change(turn, ("items", index))]
    if update["sessionUpdate"] == "compaction_summary_chunk":
        block = as_dict(update.get("content"))
        item.summary += [block] if block else []
        return changes
    item.status = as_text(update.get("status")) or item.status
    # The three states of the specification: left out keeps, null clears, a value replaces.
    if "summary" in update:
        item.summary = [as_dict(block) for block in as_list(update["summary"]) if as_dict(block)]
    if "error" in update:
        item.error = as_text(update["error"])
    return changes


def _usage(state: SessionState, update: dict[str, Any], at: float) -> list[Change]:
    turn = state.turn
    used, size = as_int(update.get("used")), as_int(update.get("size"))
    if turn is None or used is None or size is None:
        return _unplaced(state, update, at)
    cost = as_dict(update.get("cost"))
    turn.usage = Usage(used, size, cost if "amount" in cost else None)
    return [Change(turn, HEAD)]


# --- updates of the session


def _unplaced(state: SessionState, update: dict[str, Any], at: float) -> list[Change]:
    if state.turn is None:
        state.stray.append(update)
        return []
    return _place(state.turn, UnknownUpdate(as_text(update.get("sessionUpdate")), update), at)


def _commands(state: SessionState, update: dict[str, Any], at: float) -> list[Change]:
    if not isinstance(update.get("availableCommands"), list):
        return _unplaced(state, update, at)
    commands = [as_dict(command) for command in as_list(update["availableCommands"])]
    state.commands = [
        {"name": str(command["name"]), "description": str(command.get("description") or "")}
        for command in commands
        if "name" in command
    ]
    return _refresh_head(state)


def _mode(state: SessionState, update: dict[str, Any], at: float) -> list[Change]:
    # The schema says currentModeId, an example in the documentation modeId.
    mode_id = as_text(update.get("currentModeId")) or as_text(update.get("modeId"))
    if mode_id is None:
        return _unplaced(state, update, at)
    changed, state.mode_id = state.mode_id != mode_id, mode_id
    turn = state.turn
    if turn is None or not changed:
        return _refresh_head(state)
    placed = _place(turn, ModeChange(mode_id, state.modes.get(mode_id, mode_id)), at)
    return [*_refresh_head(state), *placed]


def _config(state: SessionState, update: dict[str, Any], at: float) -> list[Change]:
    if not isinstance(update.get("configOptions"), list):
        return _unplaced(state, update, at)
    state.config_options = [as_dict(option) for option in as_list(update["configOptions"]) if as_dict(option)]
    return _refresh_head(state)


def _info(state: SessionState, update: dict[str, Any], at: float) -> list[Change]:  # noqa: ARG001  # one signature for all
    if "title" in update:
        state.title = as_text(update["title"])
    if "updatedAt" in update:
        state.updated_at = as_text(update["updatedAt"])
    return _refresh_head(state)


def _tool_call(state: SessionState, update: dict[str, Any], at: float) -> list[Change]:
    raw_id = update.get("toolCallId")
    if raw_id is None or isinstance(raw_id, dict | list) or state.turn is None:
        return _unplaced(state, update, at)
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
        placed = _show_call(state.turn, call, at)
    _merge(call, update, at)
    return [*placed, *(Change(turn, ("tool_calls", tool_call_id)) for turn in state.turns_with(call))]


def _show_call(turn: Turn, call: ToolCall, at: float) -> list[Change]:
    turn.tool_calls.add(call)
    return _place(turn, ToolCallMark(call.tool_call_id), at)


def _merge(call: ToolCall, update: dict[str, Any], at: float) -> None:
    call.history.append(update)
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


# --- permissions


def _permission_asked(state: SessionState, event: events.PermissionAsked, at: float) -> list[Change]:
    turn = state.turn
    if turn is None:
        return []
    tool_call = as_dict(event.request.get("toolCall"))
    # A request may come before its call, or without one: then its own description makes the card.
    raw_id = tool_call.get("toolCallId")
    tool_call_id = event.key if raw_id is None or isinstance(raw_id, dict | list) else str(raw_id)
    changes = _tool_call(state, {**tool_call, "toolCallId": tool_call_id}, at)
    call = state.find_call(tool_call_id)
    # It is asked on the card of the running turn, wherever the call is from: only there it can be answered.
    if call is not None and tool_call_id not in turn.tool_calls:
        changes += [*_show_call(turn, call, at), Change(turn, ("tool_calls", tool_call_id))]
    turn.permissions[event.key] = Permission(
        event.key, tool_call_id, _options(event.request), event.request, opened_at=at
    )
    return [*changes, Change(turn, ("permissions", event.key)), Change(turn, HEAD)]


def _options(request: dict[str, Any]) -> tuple[PermissionOption, ...]:
    options = [as_dict(option) for option in as_list(request.get("options"))]
    return tuple(
        PermissionOption(
            str(option["optionId"]),
            str(option.get("name") or option["optionId"]),
            as_text(option.get("kind")) or "",
        )
        for option in options
        if "optionId" in option
    )


def _permission_closed(state: SessionState, event: events.PermissionClosed, at: float) -> list[Change]:
    found = state.find_permission(event.key)
    if found is None or found[1].state != "open":
        return []
    turn, permission = found
    permission.state, permission.option_id = event.state, event.option_id
    permission.decided_by, permission.reason, permission.decided_at = event.decided_by, event.reason, at
    return [Change(turn, ("permissions", event.key)), Change(turn, HEAD)]


# --- terminals


def _terminal(state: SessionState, turn: Turn, event: Any, at: float) -> list[Change]:
    if isinstance(event, events.TerminalStarted):
        turn.terminals[event.terminal_id] = Terminal(
            event.terminal_id, event.command, event.cwd, started_at=at
        )
        placed = _place(turn, TerminalMark(event.terminal_id), at)
        return [*placed, Change(turn, ("terminals", event.terminal_id))]
    owner = next((t for t in reversed(state.turns) if event.terminal_id in t.terminals), None)
    if owner is None:
        return []
    terminal = owner.terminals[event.terminal_id]
    if isinstance(event, events.TerminalOutput):
        terminal.output.append(event.text)
        if len(terminal.output) > OUTPUT_CEILING:
            terminal.output = Text(str(terminal.output)[-OUTPUT_CEILING // 2 :])
            terminal.truncated = True
    elif isinstance(event, events.TerminalExited):
        terminal.exit_code, terminal.signal, terminal.ended_at = event.exit_code, event.signal, at
    else:
        terminal.released = True
    return [Change(owner, ("terminals", event.terminal_id))]


_OF_THE_SESSION: dict[str | None, Callable[[SessionState, dict[str, Any], float], list[Change]]] = {
    "tool_call": _tool_call,
    "tool_call_update": _tool_call,
    "available_commands_update": _commands,
    "current_mode_update": _mode,
    "config_option_update": _config,
    "session_info_update": _info,
    "usage_update": _usage,
}
_OF_THE_TURN: dict[str, Callable[[Turn, dict[str, Any], float], list[Change] | None]] = {
    "user_message_chunk": _chunk,
    "agent_message_chunk": _chunk,
    "agent_thought_chunk": _chunk,
    "plan": _plan,
    "notice": _notice,
    "compaction_update": _compaction,
    "compaction_summary_chunk": _compaction,
}
