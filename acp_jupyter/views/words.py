"""What a card says in our own words; text and HTML share them.

The agent's own words (a title, an option's name) are quoted as its own, see
https://agentclientprotocol.com/protocol/tool-calls. Nothing here shortens a path or a command.
"""

from __future__ import annotations

import os.path
import shlex
import time
from typing import TYPE_CHECKING, Any

from acp_jupyter.model.content import as_dict, as_text
from acp_jupyter.model.request_warnings import change_since
from acp_jupyter.model.turn import ModeChange
from acp_jupyter.model.visible import exact, prose, visible

if TYPE_CHECKING:
    from acp_jupyter.model.content import Location
    from acp_jupyter.model.diff import Diff
    from acp_jupyter.model.request_warnings import RequestWarning
    from acp_jupyter.model.tool_call import Permission, PermissionOption, Terminal, ToolCall
    from acp_jupyter.model.turn import OptionChange, PlanEntry, Turn

VERBS = {
    "read": "Read",
    "edit": "Edit",
    "delete": "Delete",
    "move": "Move",
    "search": "Search",
    "execute": "Run",
    "think": "Think",
    "fetch": "Fetch",
    "switch_mode": "Switch mode",
    "other": "Tool",
}
_OPTION_KINDS = {
    "allow_once": "allow · once",
    "allow_always": "allow · remembered by the agent",
    "reject_once": "reject · once",
    "reject_always": "reject · remembered by the agent",
}
_DECISIONS = {
    "allow_once": "Allowed once",
    "allow_always": "Allowed, remembered by the agent,",
    "reject_once": "Rejected",
    "reject_always": "Rejected, remembered by the agent,",
}
_UNANSWERED = {
    "turn": "Not answered: the turn was over",
    "agent": "Withdrawn by the agent",
    "you": "Cancelled by you",
    "nobody": "Not allowed: nobody could be asked",
    "time_limit": "Not answered in time",
}
_STATES = {"starting": "starting", "running": "running", "waiting": "waiting for your approval"}
_STOPS = {
    "end_turn": "done",
    "max_tokens": "stopped at the token limit",
    "max_turn_requests": "stopped at the agent's limit of requests",
    "refusal": "the agent refused",
}
_STATUSES = {
    "pending": "pending",
    "in_progress": "running",
    "completed": "✓ done",
    "failed": "✗ failed",
    "cancelled": "cancelled",
    "cut_off": "cut off: the agent ended",
    "rejected": "rejected",
    "withdrawn": "the agent withdrew its request",
    "unanswered": "not answered",
    "not_told": "the agent did not tell its end",
}
PLAN_MARKS = {"completed": "✓", "in_progress": "●", "pending": "○"}


def cut(text: str, limit: int) -> str:
    """Return the first ``limit`` characters, and how many more there are."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit:,} more characters)"


def duration(seconds: float) -> str:
    """Return a length of time as one reads it: ``0.3 s``, ``42 s``, ``1 min 7 s``, ``2 h 3 min``."""
    if seconds < 9.95:  # noqa: PLR2004  # 9.95 would be written 10.0
        return f"{max(seconds, 0.0):.1f} s"
    whole = round(seconds)
    if whole < 60:  # noqa: PLR2004  # seconds of a minute
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"  # noqa: PLR2004  # minutes of an hour


def lasted(node: Any) -> str | None:
    """Return how long a turn, a tool call, a thought or a terminal took, where both ends are known.

    What was over when it was first told of took an unknown time, not none.
    """
    if node.started_at is None or node.ended_at is None or node.started_at == node.ended_at:
        return None
    return duration(node.ended_at - node.started_at)


def clock(at: float | None) -> str:
    """Return `` at 14:02:11`` in local time; empty without a time."""
    return "" if at is None else time.strftime(" at %H:%M:%S", time.localtime(at))


# --- the turn


def agent(turn: Turn) -> str:
    """Return the agent's own title and version."""
    return visible(" ".join(filter(None, [turn.agent.title or turn.agent.name, turn.agent.version])))


def change(item: ModeChange | OptionChange) -> str:
    """Return what was changed, and by whom."""
    what, now = ("mode", item.name) if isinstance(item, ModeChange) else (exact(item.name), item.value)
    return f"{what} changed to {exact(now)} by {'you' if item.by == 'you' else 'the agent itself'}"


def state(turn: Turn) -> str:
    """Return how the turn stands."""
    if turn.phase == "failed":
        return f"failed: {visible(turn.error.type)}" if turn.error else "failed"
    if turn.phase == "cancelled":
        if not turn.cancel_requested:
            return "cancelled by the agent"
        return "cancelled by the time limit" if turn.cancelled_by == "time_limit" else "cancelled by you"
    if turn.replayed:
        return "told by the agent from its memory"
    if turn.phase != "done":
        if turn.state == "waiting" and not turn.pending:
            return "waiting for your answer"
        return _STATES.get(turn.state, turn.state)
    if turn.stop_reason is None:
        return "ended without a stop reason"
    return _STOPS.get(turn.stop_reason) or f"stopped ({visible(turn.stop_reason)})"


def head(turn: Turn) -> list[str]:
    """Return the parts of the head line: agent, state, duration, roots."""
    roots = [f"in {exact(turn.cwd)}", *(f"and {exact(path)}" for path in turn.additional_directories)]
    return [agent(turn), state(turn), *filter(None, [lasted(turn)]), " ".join(roots)]


def policy(turn: Turn) -> str | None:
    """Return what to say about the policy; nothing while the user is asked."""
    if turn.policy == "allow-once-all":
        return "WITHOUT ASKING: the policy allow-once-all allows whatever the agent asks for"
    return None if turn.policy == "ask" else f"permission policy: {visible(turn.policy)}"


def session(turn: Turn) -> list[str]:
    """Return what the agent told about its session: title, mode, options."""
    title = [f"session: {visible(turn.title)}"] if turn.title else []
    mode = [f"mode: {visible(str(turn.mode.get('name') or turn.mode.get('id')))}"] if turn.mode else []
    options = [f"{option.get('name') or option.get('id')}: {option.get('value')}" for option in turn.options]
    return [*title, *mode, *map(visible, options)]


def commands(turn: Turn) -> str | None:
    """Return the agent's slash commands, each with its description."""
    listed = [
        f"/{command.get('name')}"
        + (f" [{command['hint']}]" if command.get("hint") else "")
        + (f" ({command['description']})" if command.get("description") else "")
        for command in turn.commands
    ]
    return visible(", ".join(listed)) or None


def totals(turn: Turn) -> list[str]:
    """Return what the turn amounts to: calls, files, context, cost."""
    diffs = [diff for call in turn.tool_calls if call.shown_status == "completed" for diff in call.diffs]
    files = len({diff.path for diff in diffs})
    parts = [counted(len(turn.tool_calls), "tool call")] if len(turn.tool_calls) else []
    if files:
        added, removed = (sum(diff.totals[side] for diff in diffs) for side in (0, 1))
        parts.append(f"{counted(files, 'file')} changed +{added} −{removed}")  # noqa: RUF001  # a minus sign
    if turn.rejected:
        parts.append(f"{len(turn.rejected)} not allowed")
    if turn.usage:
        parts.append(f"{turn.usage.used:,} of {turn.usage.size:,} tokens")
        cost = turn.usage.cost
        parts += [visible(f"{cost.get('amount')} {cost.get('currency') or ''}".strip())] if cost else []
    return parts


def counted(number: int, noun: str) -> str:
    """Return ``1 file``, ``2 files``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def plan_line(entry: PlanEntry) -> str:
    """Return a step of a plan: its mark, its words, its priority where that says something."""
    mark = PLAN_MARKS.get(entry.status) or f"? {visible(entry.status)}:"
    priority = "" if entry.priority == "medium" else f" ({visible(entry.priority)} priority)"
    return f"{mark} {visible(entry.content)}{priority}"


# --- a tool call


def command(call: ToolCall) -> str | None:
    """Return the command in a call's raw input, as one shell line; the words are exactly the agent's."""
    raw = as_dict(call.raw_input)
    line, args = raw.get("command"), raw.get("args")
    if isinstance(line, list):
        line = shlex.join(str(word) for word in line)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # any JSON
    if not isinstance(line, str) or not line:
        return None
    if isinstance(args, list) and args:
        line += " " + shlex.join(str(word) for word in args)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # any JSON
    return exact(line)


def place(turn: Turn, path: str, line: int | None = None) -> str:
    """Return a path for reading: relative within the working directory, else whole; outside is said.

    Of a part that has lost its turn the directories are not known: then the path is whole, and no more said.
    """
    if not turn.cwd:
        return exact(path) + (f":{line}" if line is not None else "")
    whole = os.path.normpath(os.path.join(turn.cwd, path))  # noqa: PTH118  # text only; nothing is looked up
    roots = [os.path.normpath(root) for root in (turn.cwd, *turn.additional_directories)]
    inside = [root for root in roots if whole == root or whole.startswith(root.rstrip(os.sep) + os.sep)]
    shown = os.path.relpath(whole, roots[0]) if roots[0] in inside else path
    where = "" if inside else " (outside the session's directories)"
    return exact(shown) + (f":{line}" if line is not None else "") + where


def _places(turn: Turn, call: ToolCall) -> list[str]:
    locations: list[Location] = call.locations
    if locations:
        return [place(turn, location.path, location.line) for location in locations]
    return list(dict.fromkeys(place(turn, diff.path) for diff in call.diffs))


def heading(turn: Turn, call: ToolCall) -> tuple[str, str]:
    """Return what a call does, a verb, and to what: its places, its command, or the agent's words for it."""
    verb = VERBS.get(call.kind) or visible(call.kind)
    line, places = command(call), ", ".join(_places(turn, call))
    if line and (call.kind == "execute" or not places):
        return verb, line
    if line:  # whatever the agent calls it, it runs something
        return verb, f"{places} · runs: {line}"
    return verb, places or exact(call.title or call.name or call.tool_call_id)


def changed(call: ToolCall) -> str:
    """Return ``+2 −3``, lines added and removed; empty without a diff."""  # noqa: RUF002  # a minus sign
    if not call.diffs:
        return ""
    added, removed = (sum(diff.totals[side] for diff in call.diffs) for side in (0, 1))
    return f"+{added} −{removed}"  # noqa: RUF001  # a minus sign


def aside(turn: Turn, call: ToolCall) -> str | None:
    """Return the agent's own title and tool name, as its own, where the heading has not said them."""
    title = exact(call.title)
    named = f"tool {exact(call.name)}" if call.name else None
    target = heading(turn, call)[1]
    quoted = f"the agent calls it “{title}”" if title and title != target else None
    places = [path for path in _places(turn, call) if path not in {".", target}] if command(call) else []
    at = f"at {', '.join(places)}" if places and not target.startswith(places[0]) else None
    return ", ".join(filter(None, [quoted, named, at])) or None


def asked(turn: Turn, call: ToolCall) -> list[Permission]:
    """Return the permission requests about a call."""
    return [one for one in list(turn.permissions.values()) if one.tool_call_id == call.tool_call_id]


def status(turn: Turn, call: ToolCall) -> str:
    """Return how a call stands, and how long it took."""
    requests = asked(turn, call)
    if any(one.state == "open" for one in requests):
        return "waiting for you"
    shown = _STATUSES.get(call.shown_status) or visible(call.shown_status)
    if requests and requests[-1].rejected:
        return shown
    return " · ".join(filter(None, [shown, _worked(call, requests)]))


def _worked(call: ToolCall, requests: list[Permission]) -> str | None:
    """Return how long a call took, without the time that a person took to decide."""
    decided = max((one.decided_at or 0.0 for one in requests), default=0.0)
    if call.ended_at is None or decided <= (call.started_at or 0.0):
        return lasted(call)
    return duration(max(call.ended_at - decided, 0.0))


def diff_title(turn: Turn, diff: Diff) -> str:
    """Return a diff's path and what kind of change it is."""
    if diff.old_text is None:
        what = "new file" if diff.new_text else "new file, empty"
    elif diff.old_text == diff.new_text:
        what = "no change"
    elif not diff.new_text:
        what = "emptied or deleted"
    else:
        what = "+{} −{}".format(*diff.totals)  # noqa: RUF001  # a minus sign
    return f"{place(turn, diff.path)} · {what}"


def terminal_status(terminal: Terminal) -> str:
    """Return how a terminal's command ended, and how long it took."""
    if terminal.signal:
        how = f"killed by {visible(terminal.signal)}"
    elif terminal.exit_code is not None:
        how = f"exit {terminal.exit_code}"
    else:
        how = "ended" if terminal.ended_at is not None else "running"
    how += f", stopped by {visible(terminal.stopped_by)}" if terminal.stopped_by else ""
    return " · ".join(filter(None, [how, lasted(terminal)]))


def block_note(block: dict[str, Any]) -> str:
    """Return one line for a content block that is not text."""
    kind = as_text(block.get("type")) or "?"
    inner = as_dict(block.get("resource")) if kind == "resource" else block
    named = [inner.get(key) for key in ("title", "name", "uri", "mimeType", "description")]
    data = as_text(inner.get("data")) or as_text(inner.get("blob"))
    size = [f"{len(data) * 3 // 4:,} bytes"] if data else []
    return visible(f"[{', '.join([kind.replace('_', ' '), *(str(word) for word in named if word), *size])}]")


def resource_text(block: dict[str, Any]) -> str:
    """Return the text that a resource block carries, cut for display."""
    return prose(cut(as_text(as_dict(block.get("resource")).get("text")) or "", 2_000))


# --- a permission


def option_kind(kind: str) -> str:
    """Return an option's kind in our words."""
    return _OPTION_KINDS.get(kind) or (f"unknown kind: {exact(kind)}" if kind else "no kind given")


def option(one: PermissionOption) -> tuple[str, str]:
    """Return an option's name, its id where it has none, and its kind in our words."""
    return exact(one.name or one.option_id) or "(no name)", option_kind(one.kind)


def warnings(turn: Turn, permission: Permission) -> list[RequestWarning]:
    """Return what is odd about a request, and whether its call is another by now."""
    change = change_since(permission, turn.tool_calls.get(permission.tool_call_id))
    return [*permission.warnings, *filter(None, [change])]


def asked_instead(turn: Turn, permission: Permission) -> ToolCall | None:
    """Return the call as it was asked, where it is another by now; then that is to be shown too."""
    change = change_since(permission, turn.tool_calls.get(permission.tool_call_id))
    return permission.asked if change else None


def decision(turn: Turn, permission: Permission) -> str:
    """Return what became of a request, who decided it and when; for an open one, that it waits."""
    if permission.state == "open":
        return "Waiting for your answer"
    chosen = permission.option
    reason = f" · {exact(permission.reason)}" if permission.reason else ""
    at = clock(permission.decided_at)
    by = permission.decided_by or ""
    if permission.state != "selected":
        return f"{_UNANSWERED.get(by, 'Not answered')}{at}{reason}"
    name, kind = option(chosen) if chosen else (exact(permission.option_id or ""), "not offered")
    what = _DECISIONS.get(chosen.kind if chosen else "", f"Answered ({kind})")
    if by == "nobody":
        return f"{what.rstrip(',')}: nobody could be asked{at} · {name}{reason}"
    who = {"policy": f"policy {visible(turn.policy)}", "time_limit": "the time limit"}.get(by)
    return f"{what} by {who or visible(by or '?')}{at} · {name}{reason}"
