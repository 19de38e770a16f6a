"""A turn as static HTML that stands by itself: in an untrusted notebook, in nbconvert, on GitHub; no script.

See https://agentclientprotocol.com/protocol/prompt-turn. Every word of the agent's is escaped; its Markdown
becomes HTML that can do nothing.
"""

from __future__ import annotations

import base64
import json
import re
from html import escape
from typing import TYPE_CHECKING, Any

from acp_jupyter.model.content import Block, TerminalRef, as_text
from acp_jupyter.model.diff import Diff
from acp_jupyter.model.received import told_texts
from acp_jupyter.model.turn import (
    Compaction,
    ContentPart,
    ElicitationMark,
    Message,
    ModeChange,
    Notice,
    OptionChange,
    PlanMark,
    TerminalMark,
    Thought,
    ToolCallMark,
)
from acp_jupyter.views import ansi, look, words
from acp_jupyter.views.elicitation import elicitation_html
from acp_jupyter.views.look import AMBER, BAR, BLUE, BOX, GREEN, QUIET, RED, element, fold, text
from acp_jupyter.views.markdown import markdown_html
from acp_jupyter.views.text import operation

if TYPE_CHECKING:
    from acp_jupyter.model.content import ContentItem
    from acp_jupyter.model.tool_call import Permission, PermissionOption, Terminal, ToolCall
    from acp_jupyter.model.turn import Item, Turn

_VALUE_LIMIT = 20_000
_TEXT_LIMIT = 50_000
_UPDATE_LIMIT = 300
_DIFF_LINES = 500
_OPEN_DIFF_LINES = 60
_TERMINAL_LINES = 500
_OPEN_LINES = 15
_IMAGE_LIMIT = 300_000
_IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_ICONS = {"read": "⌕", "search": "⌕", "edit": "✎", "delete": "✗", "move": "→", "execute": "❯", "fetch": "↓"}  # noqa: RUF001  # a picture, not a bracket
_STATE_COLOURS = {"done": GREEN, "failed": RED, "cancelled": RED, "waiting": AMBER}
_STATUS_COLOURS = {"completed": GREEN, "failed": RED, "cut_off": RED, "cancelled": AMBER}
_SEVERITY_COLOURS = {"error": RED, "warning": AMBER}
_BODY = "padding:4px 12px"


def turn_html(turn: Turn) -> str:
    """Return the whole turn as static HTML."""
    items = items_html(turn)
    if turn.phase == "done" and not turn.items:
        items = element("p", "The agent returned nothing.", QUIET)
    body = element("div", items + _error(turn), _BODY)
    foot = " · ".join(escape(part) for part in words.totals(turn))
    foot = element("div", foot, f"{BAR};{QUIET};border-top:1px solid rgba(128,128,128,0.3)") if foot else ""
    return element("div", _head(turn) + body + foot, f"{BOX};overflow:hidden", "acp-turn")


def items_html(turn: Turn) -> str:
    """Return the timeline alone, without the turn's head and end."""
    embedded = {key for call in turn.tool_calls for key in call.terminal_ids}
    return "".join(_item(turn, item, embedded) for item in list(turn.items))


def calls_html(turn: Turn) -> str:
    """Return the tool calls as a list, each folded, with the position by which Python has it."""
    rows = [
        fold(_call_line(turn, call, number), _call_body(turn, call), quiet=False, name="acp-tool-call")
        for number, call in enumerate(turn.tool_calls)
    ]
    return "".join(rows) or element("div", "no tool calls", QUIET)


def _call_line(turn: Turn, call: ToolCall, number: int) -> str:
    return " ".join([element("span", f"[{number}]", QUIET), *_call_head(turn, call)])


def diff_html(turn: Turn) -> str:
    """Return the turn's only diff, under its path."""
    (diff,) = turn.tool_calls[0].diffs
    return _content(turn, diff)


def history_html(turns: list[Turn]) -> str:
    """Return turns that an agent told from its memory, each folded."""
    return "".join(fold(_question(turn), turn_html(turn)) for turn in turns)


def _question(turn: Turn) -> str:
    asked = next((item for item in turn.items if isinstance(item, Message) and item.role == "user"), None)
    first = "" if asked is None else str(asked.text).strip().partition("\n")[0]
    return f"{turn.number}. {text(words.cut(first, 120))}"


# --- the turn as a whole


def _head(turn: Turn) -> str:
    agent, state, *rest = words.head(turn)
    colour = _STATE_COLOURS.get(turn.state, BLUE)
    parts = [
        look.coloured("●", colour),
        element("strong", escape(agent)),
        look.coloured(escape(state), colour),
    ]
    parts += [element("span", escape(part), f"{QUIET};overflow-wrap:anywhere") for part in rest]
    parts += [element("span", escape(part), QUIET) for part in words.session(turn)]
    bar = element("div", " ".join(parts), f"{BAR};border-bottom:1px solid rgba(128,128,128,0.3)")
    return bar + _banners(turn) + _commands(turn)


def _banners(turn: Turn) -> str:
    policy = words.policy(turn)
    loud = turn.policy == "allow-once-all"
    first = (
        look.banner(element("strong" if loud else "span", escape(policy)), RED if loud else BLUE)
        if policy
        else ""
    )
    notes = [
        look.banner(f"{text(note.severity)}: {text(note.text)}", _SEVERITY_COLOURS.get(note.severity, BLUE))
        for note in turn.notes
    ]
    return first + "".join(notes)


def _commands(turn: Turn) -> str:
    listed = words.commands(turn)
    if not listed:
        return ""
    folded = fold(words.counted(len(turn.commands), "slash command"), element("div", escape(listed), QUIET))
    return element("div", folded, _BODY)


def _error(turn: Turn) -> str:
    error = turn.error
    if error is None:
        return ""
    parts = [element("strong", text(error.message)), text(error.advice)]
    tail = error.stderr.rstrip()
    if tail:
        parts.append("last lines of the agent’s error output:" + look.terminal(tail))  # noqa: RUF001  # an apostrophe
    return look.banner("<br>".join(filter(None, parts)), RED)


# --- the timeline


def _item(turn: Turn, item: Item, embedded: set[str]) -> str:
    if isinstance(item, Message):
        return _message(item)
    if isinstance(item, Thought):
        length = f" for {words.lasted(item)}" if words.lasted(item) else ""
        return fold(f"Thought{length}", markdown_html(str(item.text)), name="acp-thought")
    if isinstance(item, ToolCallMark | PlanMark | TerminalMark | ElicitationMark):
        return _marked(turn, item, embedded)
    if isinstance(item, ContentPart):
        who = "" if item.role == "agent" else f"{text(item.role)}: "
        return element("div", who + _block(item.block))
    if isinstance(item, Notice):
        told = f"notice ({text(item.severity)}): {element('strong', text(item.title))}"
        description = f"<br>{escape(words.prose(item.description))}" if item.description else ""
        return look.banner(told + description, _SEVERITY_COLOURS.get(item.severity, BLUE))
    if isinstance(item, Compaction):
        return _compaction(item)
    if isinstance(item, ModeChange | OptionChange):
        warning = look.warning("oversight", item.oversight) if item.oversight else ""
        return look.banner(escape(words.change(item)) + warning, RED if warning else AMBER)
    return fold(f"unsupported update {text(item.kind or '(no kind)')}", _json(item.raw))


def _marked(
    turn: Turn, item: ToolCallMark | PlanMark | TerminalMark | ElicitationMark, embedded: set[str]
) -> str:
    if isinstance(item, ToolCallMark):
        return _call(turn, turn.tool_calls[item.tool_call_id])
    if isinstance(item, ElicitationMark):
        return elicitation_html(turn, turn.elicitations[item.key])
    if isinstance(item, TerminalMark):
        return "" if item.terminal_id in embedded else element("div", _terminal(turn, item.terminal_id), BOX)
    return _plan(turn, item.plan_id)


def _message(item: Message) -> str:
    notes = ["came after the turn’s end"] if item.late else []  # noqa: RUF001  # an apostrophe
    notes += [text(item.role)] if item.role != "agent" else []
    note = element("div", ", ".join(notes), QUIET) if notes else ""
    return note + element("div", markdown_html(str(item.text)), name="acp-message")


def _plan(turn: Turn, plan_id: str) -> str:
    looks = {"completed": "opacity:0.6;text-decoration:line-through", "in_progress": "font-weight:bold"}
    lines = [
        element("div", escape(words.plan_line(entry)), looks.get(entry.status, ""))
        for entry in turn.plans.get(plan_id, [])
    ]
    style = "border-left:2px solid rgba(128,128,128,0.3);padding:0 12px;margin:8px 0"
    return element("div", "".join(lines) or "plan: no steps", style, "acp-plan")


def _compaction(item: Compaction) -> str:
    told = f"context compaction: {text(item.status)}"
    told += f" · {escape(words.prose(item.error))}" if item.error else ""
    summary = "".join(_block(block) for block in item.summary)
    return fold(told, summary) if summary else element("div", told, QUIET)


# --- tool calls


def _call(turn: Turn, call: ToolCall) -> str:
    head = element("div", " ".join(_call_head(turn, call)), BAR)
    return element("div", head + _call_body(turn, call), BOX, "acp-tool-call")


def _call_head(turn: Turn, call: ToolCall) -> list[str]:
    colour = _STATUS_COLOURS.get(call.shown_status, AMBER if words.asked(turn, call) else BLUE)
    verb, target = words.heading(turn, call)
    parts = [escape(_ICONS.get(call.kind, "•")), element("strong", escape(verb)), look.code(target)]
    added, _, removed = words.changed(call).partition(" ")
    parts += [look.coloured(added, GREEN), look.coloured(removed, RED)] if added else []
    parts.append(element("span", escape(words.status(turn, call)), f"color:{colour};margin-left:auto"))
    return parts


def _call_body(turn: Turn, call: ToolCall) -> str:
    aside = words.aside(turn, call)
    rows = [element("div", escape(aside), f"{QUIET};overflow-wrap:anywhere")] if aside else []
    rows += [_content(turn, item) for item in call.content]
    rows += [_permission(turn, permission) for permission in words.asked(turn, call)]
    rows += [
        fold(which.replace("_", " "), _json(getattr(call, which)))
        for which in ("raw_input", "raw_output")
        if getattr(call, which) is not None
    ]
    rows += [fold(f"updates ({call.updates_count:,})", _updates(call))] if call.updates else []
    return element("div", "".join(rows), "padding:0 12px 6px") if rows else ""


def _updates(call: ToolCall) -> str:
    """Return the updates that there are, a line each, and no longer than that."""
    texts = [words.cut(update, _UPDATE_LIMIT) for update in told_texts(call)]
    left_out = call.updates_count - len(texts)
    if left_out > 0:
        texts.insert(len(texts) // 2, f"… {left_out:,} more")
    return look.pre("\n".join(texts))


def _permission(turn: Turn, permission: Permission) -> str:
    waits = permission.state == "open"
    answered = permission.state == "selected"
    colour = RED if answered and permission.rejected else GREEN if answered else AMBER
    told = escape(words.decision(turn, permission))
    warned = "".join(look.warning(one.reason, one.text) for one in words.warnings(turn, permission))
    options = [element("li", _option(one)) for one in permission.offered]
    listed = element("ol", "".join(options), "margin:4px 0") if waits else ""
    asked = _was_asked(turn, permission)
    return element("div", look.banner(told + warned + asked + listed, colour), name="acp-permission")


def _option(option: PermissionOption) -> str:
    name, kind = words.option(option)
    return f"{escape(name)} {element('span', f'({escape(kind)})', QUIET)}"


def _was_asked(turn: Turn, permission: Permission) -> str:
    """Return what was asked, where the call no longer shows it."""
    asked = words.asked_instead(turn, permission)
    if asked is None:
        return ""
    verb = words.VERBS.get(asked.kind) or words.visible(asked.kind)
    told = element("strong", escape(verb)) + look.pre("\n".join(operation(turn, asked)))
    return told + "".join(_content(turn, item) for item in asked.content)


def _content(turn: Turn, item: ContentItem) -> str:
    if isinstance(item, Diff):
        title = look.code(words.diff_title(turn, item))
        lines = look.diff(item, _DIFF_LINES)
        short = lines.count("\n") + lines.count("<div") <= _OPEN_DIFF_LINES
        return fold(title, lines, opened=short) if lines else element("div", title)
    if isinstance(item, TerminalRef):
        return _terminal(turn, item.terminal_id)
    if isinstance(item, Block):
        block = _block(item.block)
        lines = (as_text(item.block.get("text")) or "").count("\n") + 1
        return block if lines <= _OPEN_LINES else fold(words.counted(lines, "line"), block)
    return fold("unknown content", _json(item.raw), opened=True)


def _terminal(turn: Turn, terminal_id: str) -> str:
    terminal = turn.terminals.get(terminal_id)
    if terminal is None:
        return element("div", f"terminal {text(terminal_id)}: its output is not part of this turn", QUIET)
    return _terminal_block(terminal)


def _terminal_block(terminal: Terminal) -> str:
    hidden, tail = ansi.tail(str(terminal.output), _TERMINAL_LINES)
    notes = ["earlier output was dropped"] if terminal.truncated else []
    notes += [words.counted(hidden, "earlier line") + " not shown"] if hidden else []
    head = look.code(f"$ {words.exact(terminal.command)}") + f" · {escape(words.terminal_status(terminal))}"
    head += f" · {', '.join(notes)}" if notes else ""
    if not tail:
        return element("div", head)
    return fold(head, look.terminal(tail), opened=tail.count("\n") < _OPEN_LINES)


def _block(block: dict[str, Any]) -> str:
    content = block.get("text")
    if block.get("type") == "text" and isinstance(content, str):
        return markdown_html(words.cut(content, _TEXT_LIMIT))
    if block.get("type") not in {"image", "audio", "resource", "resource_link"}:
        return _json(block)
    note = element("span", escape(words.block_note(block)), QUIET)
    carried = words.resource_text(block)
    return _image(block) + note + (look.pre(carried) if carried else "")


def _image(block: dict[str, Any]) -> str:
    """Return a small raster picture that came with the block; anything else is only named."""
    mime, data = block.get("mimeType"), block.get("data")
    if block.get("type") != "image" or mime not in _IMAGE_TYPES or not isinstance(data, str):
        return ""
    if len(data) > _IMAGE_LIMIT or not re.fullmatch("[A-Za-z0-9+/]+={0,2}", data):
        return ""
    try:
        base64.b64decode(data, validate=True)
    except ValueError:
        return ""
    return f'<img src="data:{mime};base64,{data}" alt="image from the agent" style="max-width:100%"><br>'


def _json(value: Any) -> str:
    return look.pre(words.cut(json.dumps(value, ensure_ascii=False, indent=2), _VALUE_LIMIT))
