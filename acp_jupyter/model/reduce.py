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

from typing import Any

from acp_jupyter.model import events
from acp_jupyter.model.asking import apply_elicitation
from acp_jupyter.model.content import as_dict, as_list, as_text
from acp_jupyter.model.merge import apply_tool_call
from acp_jupyter.model.replay import apply_replayed, begin_replay, end_replay
from acp_jupyter.model.request_warnings import paths_of, warnings_about
from acp_jupyter.model.state import LEGACY_MODEL, TURN_LIMIT, Change, SessionState
from acp_jupyter.model.terminals import append_output, end_agent_terminals, share_agent_terminals
from acp_jupyter.model.timeline import HEAD, close_thought, place, refresh_head, show_call
from acp_jupyter.model.tool_call import Permission, PermissionOption, Terminal
from acp_jupyter.model.turn import Note, TerminalMark, Turn
from acp_jupyter.model.updates import apply_update, change_mode, change_options, read_options


def reduce(state: SessionState, event: events.Event, at: float) -> list[Change]:
    """Apply ``event``, which happened ``at`` (Unix seconds), and return the nodes that changed."""
    if isinstance(event, events.SessionUpdate):
        apply = apply_update if state.replay is None else apply_replayed
        return apply(state, event.update, at)
    if isinstance(event, _OF_THE_SESSION):
        return _session(state, event)
    if isinstance(event, events.ChoiceAsked | events.ChoiceAnswered):
        return _choice(state, event, at)
    if isinstance(event, events.TurnStarted):
        return _turn_started(state, event.turn, at)
    if isinstance(event, events.PermissionAsked | events.PermissionChecked | events.PermissionClosed):
        return _permission(state, event, at)
    if isinstance(
        event,
        events.ElicitationAsked
        | events.ElicitationFaulted
        | events.ElicitationClosed
        | events.ElicitationCompleted,
    ):
        return apply_elicitation(state, event, at)
    turn = state.turn
    if turn is None:
        return []
    if isinstance(
        event,
        events.TerminalStarted | events.TerminalOutput | events.TerminalExited | events.TerminalReleased,
    ):
        return _terminal(state, turn, event, at)
    return _turn_event(turn, event, at)


# --- the session

_OF_THE_SESSION = (
    events.SessionOpened,
    events.SessionLeft,
    events.SessionStayed,
    events.ReplayBegan,
    events.ReplayFailed,
)


def _session(
    state: SessionState,
    event: events.SessionOpened
    | events.SessionLeft
    | events.SessionStayed
    | events.ReplayBegan
    | events.ReplayFailed,
) -> list[Change]:
    if isinstance(event, events.SessionOpened):
        return _session_opened(state, event)
    if isinstance(event, events.SessionLeft):
        _session_left(state, event)
    elif isinstance(event, events.SessionStayed):
        for name, value in state.left.items():
            setattr(state, name, value)
        return refresh_head(state)
    else:
        state.replay = begin_replay(event) if isinstance(event, events.ReplayBegan) else None
    return []


def _session_opened(state: SessionState, event: events.SessionOpened) -> list[Change]:
    if state.replay is not None:
        end_replay(state)
    state.session_id = event.session_id
    modes = as_dict(event.response.get("modes"))
    entries = [as_dict(mode) for mode in as_list(modes.get("availableModes"))]
    state.modes = {
        mode_id: as_text(mode.get("name")) or mode_id
        for mode in entries
        if (mode_id := as_text(mode.get("id")))
    }
    state.mode_id = as_text(modes.get("currentModeId"))
    options = read_options(as_list(event.response.get("configOptions")))
    state.config_options = [*options, *_legacy_model(options, as_dict(event.response.get("models")))]
    return refresh_head(state)


# What an agent tells about its session.
_TOLD = ("title", "updated_at", "mode_id", "modes", "config_options", "commands")


def _session_left(state: SessionState, event: events.SessionLeft) -> None:
    state.left = {name: getattr(state, name) for name in _TOLD}
    state.title = state.updated_at = state.mode_id = None
    state.modes, state.config_options, state.commands = {}, [], []
    if event.forgotten:
        state.session_id, state.history = None, []


def _legacy_model(options: list[dict[str, Any]], models: dict[str, Any]) -> list[dict[str, Any]]:
    """Return an older agent's list of models as an option, where none of its options is about the model."""
    entries = [as_dict(model) for model in as_list(models.get("availableModels"))]
    choices = [
        {"value": one["modelId"], "name": one.get("name") or one["modelId"]}
        for one in entries
        if "modelId" in one
    ]
    if not choices or any(option.get("category") == "model" for option in options):
        return []
    return [
        {
            "id": LEGACY_MODEL,
            "name": "Model",
            "category": "model",
            "type": "select",
            "currentValue": models.get("currentModelId"),
            "options": choices,
        }
    ]


def _choice(
    state: SessionState, event: events.ChoiceAsked | events.ChoiceAnswered, at: float
) -> list[Change]:
    if isinstance(event, events.ChoiceAsked):
        state.asked[event.option_id] = event.value
        return []
    changes: list[Change] = []
    if event.done and event.option_id is None:
        changes = change_mode(state, str(event.value), at)
    elif event.done:
        options = event.options
        if event.option_id == LEGACY_MODEL:  # its answer holds nothing
            options = [
                {**option, "currentValue": event.value} if option.get("id") == LEGACY_MODEL else option
                for option in state.config_options
            ]
        changes = [] if options is None else change_options(state, options, at)
    state.asked.pop(event.option_id, None)
    return changes


# --- the turn as a whole


def _turn_started(state: SessionState, turn: Turn, at: float) -> list[Change]:
    turn.started_at = at
    state.turns.append(turn)
    del state.turns[:-TURN_LIMIT]
    return refresh_head(state)


def _turn_event(turn: Turn, event: events.Event, at: float) -> list[Change]:
    changes = [Change(turn, HEAD)]
    if isinstance(event, events.PromptSent):
        turn.phase = "running"
    elif isinstance(event, events.Noted):
        turn.notes.append(Note(event.severity, event.text))
    elif isinstance(event, events.CancelRequested):
        turn.cancel_requested, turn.cancelled_by = True, event.by
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
    return [*close_thought(turn, at), *_leave_asked(turn, at)]


def _leave_asked(turn: Turn, at: float) -> list[Change]:
    """A call that was asked about and never told of again waits no more: what came of it is not known."""
    changes: list[Change] = []
    for call in turn.tool_calls:
        asked = [one for one in turn.permissions.values() if one.tool_call_id == call.tool_call_id]
        if call.finished or call.status != "pending" or not asked:
            continue
        call.local_status = _what_came_of(asked[-1])
        call.ended_at = at
        changes.append(Change(turn, ("tool_calls", call.tool_call_id)))
    return changes


def _what_came_of(permission: Permission) -> str:
    if not permission.rejected:
        return "not_told"
    if permission.state == "selected" or permission.decided_by in {"you", "nobody"}:
        return "rejected"
    return "withdrawn" if permission.decided_by == "agent" else "unanswered"


def _leave(turn: Turn, local_status: str, at: float) -> list[Change]:
    changes: list[Change] = []
    for call in turn.tool_calls:
        if not call.finished:
            call.local_status, call.ended_at = local_status, at
            changes += end_agent_terminals(turn, call, at)
            changes.append(Change(turn, ("tool_calls", call.tool_call_id)))
    return changes


# --- permissions


def _permission(
    state: SessionState,
    event: events.PermissionAsked | events.PermissionChecked | events.PermissionClosed,
    at: float,
) -> list[Change]:
    if isinstance(event, events.PermissionAsked):
        return _permission_asked(state, event, at)
    if isinstance(event, events.PermissionChecked):
        return _permission_checked(state, event)
    return _permission_closed(state, event, at)


def _permission_asked(state: SessionState, event: events.PermissionAsked, at: float) -> list[Change]:
    turn = state.turn
    if turn is None:
        return []
    tool_call = as_dict(event.request.get("toolCall"))
    # A request may come before its call, or without one: then its own description makes the card.
    raw_id = tool_call.get("toolCallId")
    tool_call_id = event.key if raw_id is None or isinstance(raw_id, dict | list) else str(raw_id)
    changes = apply_tool_call(state, {**tool_call, "toolCallId": tool_call_id}, at)
    call = state.find_call(tool_call_id)
    # It is asked on the card of the running turn, wherever the call is from: only there it can be answered.
    if call is not None and tool_call_id not in turn.tool_calls:
        changes += share_agent_terminals(state, turn, call)
        changes += [*show_call(turn, call, at), Change(turn, ("tool_calls", tool_call_id))]
    asked = None if call is None else call.as_it_is()
    options = _options(event.request)
    turn.permissions[event.key] = Permission(
        event.key,
        tool_call_id,
        options,
        event.request,
        opened_at=at,
        warnings=tuple(warnings_about(asked, options, [turn.cwd, *turn.additional_directories])),
        checking=event.check and asked is not None and bool(paths_of(asked)),
        asked=asked,
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


def _permission_checked(state: SessionState, event: events.PermissionChecked) -> list[Change]:
    found = state.find_permission(event.key)
    if found is None or not found[1].checking:
        return []
    turn, permission = found
    permission.checking = False
    permission.warnings += tuple(one for one in event.warnings if one not in permission.warnings)
    return [Change(turn, ("permissions", event.key))]


def _permission_closed(state: SessionState, event: events.PermissionClosed, at: float) -> list[Change]:
    found = state.find_permission(event.key)
    if found is None or found[1].state != "open":
        return []
    turn, permission = found
    permission.checking = False
    permission.state, permission.option_id = event.state, event.option_id
    permission.decided_by, permission.reason, permission.decided_at = event.decided_by, event.reason, at
    return [Change(turn, ("permissions", event.key)), Change(turn, HEAD)]


# --- terminals


def _terminal(state: SessionState, turn: Turn, event: Any, at: float) -> list[Change]:
    if isinstance(event, events.TerminalStarted):
        turn.terminals[event.terminal_id] = Terminal(
            event.terminal_id, event.command, event.cwd, started_at=at
        )
        placed = place(turn, TerminalMark(event.terminal_id), at)
        return [*placed, Change(turn, ("terminals", event.terminal_id))]
    owner = next((t for t in reversed(state.turns) if event.terminal_id in t.terminals), None)
    if owner is None:
        return []
    terminal = owner.terminals[event.terminal_id]
    if isinstance(event, events.TerminalOutput):
        append_output(terminal, event.text)
    elif isinstance(event, events.TerminalExited):
        terminal.exit_code, terminal.signal, terminal.ended_at = event.exit_code, event.signal, at
        terminal.stopped_by = event.stopped_by
    else:
        terminal.released = True
    return [Change(owner, ("terminals", event.terminal_id))]
