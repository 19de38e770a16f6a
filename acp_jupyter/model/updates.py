"""The agent's ``session/update``: a function for each kind.

See https://agentclientprotocol.com/protocol/prompt-turn. What is malformed, or of a kind that we do not know,
is kept raw in its place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from acp_jupyter.model.content import as_dict, as_int, as_list, as_text
from acp_jupyter.model.merge import apply_tool_call
from acp_jupyter.model.request_warnings import oversight_of
from acp_jupyter.model.state import LEGACY_MODEL, Change, SessionState
from acp_jupyter.model.text import Text
from acp_jupyter.model.timeline import HEAD, keep_raw, place, refresh_head
from acp_jupyter.model.turn import (
    Compaction,
    ContentPart,
    Message,
    ModeChange,
    Notice,
    OptionChange,
    PlanEntry,
    PlanMark,
    Thought,
    Turn,
    UnknownUpdate,
    Usage,
)


def apply_update(state: SessionState, update: dict[str, Any], at: float) -> list[Change]:
    """Apply one update, whatever it holds."""
    kind = as_text(update.get("sessionUpdate"))
    if kind in _OF_THE_SESSION:
        return _OF_THE_SESSION[kind](state, update, at)
    turn = state.turn
    if turn is None:
        state.stray.append(update)
        return []
    apply = _OF_THE_TURN.get(kind or "")
    changes = apply(turn, update, at) if apply else None
    return place(turn, UnknownUpdate(kind, update), at) if changes is None else changes


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
        return place(turn, ContentPart(role, block, message_id), at)
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
    item = (
        Thought(Text(text), message_id, started_at=at, late=turn.ended)
        if role == "thought"
        else Message(role, Text(text), message_id, late=turn.ended)
    )
    turn.newest[role, message_id] = len(turn.items)
    return place(turn, item, at)


def _running_item(turn: Turn, role: str, message_id: str | None) -> int | None:
    """Return the index of the item that a chunk continues: by its id anywhere, without one only the last."""
    index = turn.newest.get((role, message_id))
    if index is None or (message_id is None and index != len(turn.items) - 1):
        return None
    item = turn.items[index]
    # What comes after the turn's end is a message of its own.
    return index if isinstance(item, Message | Thought) and item.late == turn.ended else None


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
            content,
            as_text(entry.get("priority")) or "medium",
            as_text(entry.get("status")) or "pending",
        )
        for entry in entries
        if (content := as_text(entry.get("content"))) is not None
    ]
    placed = place(turn, PlanMark("default"), at) if new else []
    return [*placed, Change(turn, ("plans", "default"))]


def _notice(turn: Turn, update: dict[str, Any], at: float) -> list[Change] | None:
    title = as_text(update.get("title"))
    if not title:
        return None
    severity = as_text(update.get("severity")) or "info"
    return place(turn, Notice(severity, title, as_text(update.get("description"))), at)


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
        changes = place(turn, item, at)
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
    if "summary" in update and isinstance(update["summary"], list | None):
        item.summary = [as_dict(block) for block in as_list(update["summary"]) if as_dict(block)]
    if "error" in update:
        item.error = _replaced(item.error, update["error"])
    return changes


def _replaced(before: str | None, value: Any) -> str | None:
    """Return the text that stands now: null clears it, what is no text changes nothing."""
    return value if value is None or isinstance(value, str) else before


def _usage(state: SessionState, update: dict[str, Any], at: float) -> list[Change]:
    turn = state.turn
    used, size = as_int(update.get("used")), as_int(update.get("size"))
    if turn is None or used is None or size is None:
        return keep_raw(state, update, at)
    cost = as_dict(update.get("cost"))
    turn.usage = Usage(used, size, cost if "amount" in cost else None)
    return [Change(turn, HEAD)]


def _commands(state: SessionState, update: dict[str, Any], at: float) -> list[Change]:
    if not isinstance(update.get("availableCommands"), list):
        return keep_raw(state, update, at)
    commands = [as_dict(command) for command in as_list(update["availableCommands"])]
    state.commands = [
        _command(name, command) for command in commands if (name := as_text(command.get("name")))
    ]
    return refresh_head(state)


def _command(name: str, command: dict[str, Any]) -> dict[str, Any]:
    hint = as_text(as_dict(command.get("input")).get("hint"))
    told = {"name": name, "description": as_text(command.get("description")) or ""}
    return {**told, "hint": hint} if hint else told


def _mode(state: SessionState, update: dict[str, Any], at: float) -> list[Change]:
    # The schema says currentModeId, an example in the documentation modeId.
    mode_id = as_text(update.get("currentModeId")) or as_text(update.get("modeId"))
    if mode_id is None:
        return keep_raw(state, update, at)
    return change_mode(state, mode_id, at)


def change_mode(state: SessionState, mode_id: str, at: float) -> list[Change]:
    """Set the mode; that it changed, and whether we had asked for that, is shown in its place."""
    changed, state.mode_id = state.mode_id != mode_id, mode_id
    turn = state.turn
    if turn is None or not changed:
        return refresh_head(state)
    by = "you" if state.asked.get(None) == mode_id else "agent"
    warning = oversight_of("mode") if by == "agent" else None
    placed = place(turn, ModeChange(mode_id, state.modes.get(mode_id, mode_id), by, warning), at)
    return [*refresh_head(state), *placed]


def _config(state: SessionState, update: dict[str, Any], at: float) -> list[Change]:
    if not isinstance(update.get("configOptions"), list):
        return keep_raw(state, update, at)
    return change_options(state, as_list(update["configOptions"]), at)


def read_options(raw: list[Any]) -> list[dict[str, Any]]:
    """Read a list of options; one without an id is left out, for it could not be set."""
    return [as_dict(option) for option in raw if as_text(as_dict(option).get("id"))]


def change_options(state: SessionState, options: list[Any], at: float) -> list[Change]:
    """Replace the complete list; what changed, and whether we had asked for that, is shown in its place."""
    before = {str(option.get("id")): option.get("currentValue") for option in state.config_options}
    new = read_options(options)
    kept = [one for one in state.config_options if one.get("id") == LEGACY_MODEL and one not in new]
    if any(option.get("category") == "model" for option in new):
        kept = []
    state.config_options = [*new, *kept]
    changes = refresh_head(state)
    turn = state.turn
    if turn is None:
        return changes
    for option, shown in zip(state.config_options, state.options, strict=True):
        option_id, value = str(shown["id"]), option.get("currentValue")
        if option_id in before and before[option_id] != value:
            asked = option_id in state.asked and state.asked[option_id] == value
            by = "you" if asked else "agent"
            warning = None if asked else oversight_of(as_text(option.get("category")))
            item = OptionChange(option_id, str(shown["name"]), str(shown["value"]), by, warning)
            changes += place(turn, item, at)
    return changes


def _info(state: SessionState, update: dict[str, Any], at: float) -> list[Change]:  # noqa: ARG001  # one signature for all
    if "title" in update:
        state.title = _replaced(state.title, update["title"])
    if "updatedAt" in update:
        state.updated_at = _replaced(state.updated_at, update["updatedAt"])
    return refresh_head(state)


_OF_THE_SESSION: dict[str | None, Callable[[SessionState, dict[str, Any], float], list[Change]]] = {
    "tool_call": apply_tool_call,
    "tool_call_update": apply_tool_call,
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
