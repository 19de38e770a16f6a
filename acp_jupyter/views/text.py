"""A turn as plain text: for terminals, logs, ``print`` and notebooks that show nothing else.

See https://agentclientprotocol.com/protocol/prompt-turn. What is long is cut in display only, and says so.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from acp_jupyter.model.content import Block, TerminalRef, as_dict, as_list
from acp_jupyter.model.diff import Diff
from acp_jupyter.model.text import json_text
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
from acp_jupyter.views import ansi, words
from acp_jupyter.views.diff import unified
from acp_jupyter.views.elicitation import elicitation_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acp_jupyter.model.content import ContentItem
    from acp_jupyter.model.tool_call import Permission, PermissionOption, Terminal, ToolCall
    from acp_jupyter.model.turn import Item, Turn

_VALUE_LIMIT = 2_000
_TEXT_LIMIT = 20_000
_DIFF_LINES = 400
_ASKED_DIFF_LINES = 4_000
_TERMINAL_LINES = 200
_INDENT = "    "


def turn_text(turn: Turn) -> str:
    """Return the whole turn as plain text."""
    parts = [head_text(turn), items_text(turn)]
    if turn.ended and not turn.items:
        parts.append(nothing_text(turn))
    if turn.error:
        parts.append(error_text(turn))
    parts.append(" · ".join(words.totals(turn)))
    return "\n\n".join(part for part in parts if part)


def items_text(turn: Turn) -> str:
    """Return the timeline alone, without the turn's head and end."""
    embedded = {key for call in turn.tool_calls for key in call.terminal_ids}
    parts = [item_text(turn, item, embedded) for item in list(turn.items)]
    return "\n\n".join(part for part in parts if part)


def calls_text(turn: Turn) -> str:
    """Return the tool calls as a list, a line for each, with the position by which Python has it."""
    lines = [f"[{number}] {_first_line(turn, call)}" for number, call in enumerate(turn.tool_calls)]
    return "\n".join(lines) or "no tool calls"


def diff_text(turn: Turn) -> str:
    """Return the turn's only diff, as a unified one under its path."""
    (diff,) = turn.tool_calls[0].diffs
    return "\n".join(_diff_lines(turn, diff, _DIFF_LINES))


def fenced(text: str, language: str) -> str:
    """Return ``text`` as a code block in Markdown that nothing in it can end."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def turn_markdown(turn: Turn) -> str:
    """Return the agent's answer alone, as the Markdown that it wrote."""
    return words.prose(turn.text)


def permission_text(turn: Turn, permission: Permission) -> str:
    """Return a request as a question: the operation in full, the agent's words for it, numbered answers."""
    call = permission.asked or turn.tool_calls[permission.tool_call_id]
    verb = words.VERBS.get(call.kind) or words.visible(call.kind)
    lines = [f"{_hang(words.agent(turn))} asks for permission: {_hang(verb)}"]
    warnings = words.warnings(turn, permission)
    lines += [f"  ! {one.text}" for one in warnings if one.reason == "changed"]
    lines += operation(turn, call)
    lines += [_content(turn, item, _ASKED_DIFF_LINES) for item in call.content]
    # last, so that a long diff does not push them out of sight
    lines += [f"  ! {_hang(one.text)}" for one in warnings if one.reason != "changed"]
    lines += [f"  {number}. {_option(one)}" for number, one in enumerate(permission.offered, 1)]
    return "\n".join(lines)


def _option(option: PermissionOption) -> str:
    name, kind = words.option(option)
    return f"{_hang(name)}  ({_hang(kind)})"


def operation(turn: Turn, call: ToolCall) -> list[str]:
    """Return what a call is to do, in full: its command, its paths, the agent's words for it."""
    lines: list[str] = []
    command = words.command(call)
    lines += [f"  command: {_hang(command)}"] if command else []
    paths = [location.path for location in call.locations] + [diff.path for diff in call.diffs]
    lines += [f"  path: {_hang(_whole(turn, path))}" for path in dict.fromkeys(paths)]
    lines.append(f"  working directory: {_hang(words.exact(turn.cwd))}")
    if call.title:
        lines.append(f"  the agent calls it: “{_hang(words.exact(call.title))}”")
    lines += [f"  tool: {_hang(words.exact(call.name))}"] if call.name else []
    if call.raw_input is not None and not _is_just_a_command(call.raw_input):
        lines.append(f"  raw input: {_hang(words.exact(call.raw_text('raw_input') or ''))}")
    return lines


def _is_just_a_command(raw_input: Any) -> bool:
    """Whether `words.command` says all of it; another member, or another shape, is yet to be shown."""
    raw = as_dict(raw_input)
    line, args = raw.get("command"), raw.get("args", [])
    words_only = [*(as_list(line) or [line]), *as_list(args)]
    return (
        bool(line)
        and raw.keys() <= {"command", "args"}
        and isinstance(args, list)
        and all(isinstance(word, str) for word in words_only)
    )


def _whole(turn: Turn, path: str) -> str:
    outside = words.place(turn, path).partition(" (outside")[1:]
    return words.exact(path) + "".join(outside)


# --- the turn as a whole


def head_text(turn: Turn) -> str:
    """Return agent, state and directories, the policy in force, and what the client itself has to say."""
    policy = words.policy(turn)
    lines = [" · ".join([*words.head(turn), f"turn {turn.number}"])]
    lines += [f"*** {policy} ***" if turn.policy == "allow-once-all" else policy] if policy else []
    lines += filter(None, [" · ".join(words.session(turn))])
    commands = words.commands(turn)
    lines += [f"commands: {words.cut(commands, _VALUE_LIMIT)}"] if commands else []
    lines += [f"{words.visible(note.severity)}: {words.visible(note.text)}" for note in turn.notes]
    return "\n".join(lines)


def nothing_text(turn: Turn) -> str:
    """Return what stands for a turn that brought nothing."""
    return "The agent returned nothing." if turn.phase == "done" else ""


def error_text(turn: Turn) -> str:
    """Return why the turn failed; empty where it did not."""
    error = turn.error
    if error is None:
        return ""
    lines = [f"error: {words.visible(error.message)}", *filter(None, [words.visible(error.advice)])]
    if error.stderr.strip():
        tail = ansi.plain(error.stderr.rstrip())
        lines += ["last lines of the agent's error output:", _indented(words.visible(tail))]
    return "\n".join(lines)


# --- the timeline


def item_text(turn: Turn, item: Item, embedded: set[str]) -> str:
    """Return an item of the timeline; ``embedded`` are the terminals that a tool call shows."""
    if isinstance(item, Message):
        return _message(item)
    if isinstance(item, Thought):
        return _thought(item)
    if isinstance(item, ToolCallMark | PlanMark | TerminalMark | ElicitationMark):
        return _marked(turn, item, embedded)
    if isinstance(item, ContentPart):
        who = "" if item.role == "agent" else f"{item.role}: "
        return who + _block(item.block)
    if isinstance(item, Notice):
        told = ": ".join(filter(None, [item.title, item.description]))
        return words.prose(f"notice ({item.severity}): {told}")
    if isinstance(item, Compaction):
        return _compaction(item)
    if isinstance(item, ModeChange | OptionChange):
        return "\n".join([words.change(item), *([f"! {item.oversight}"] if item.oversight else [])])
    raw = words.cut(words.visible(json_text(item.raw)), _VALUE_LIMIT)
    return f"unsupported update {words.visible(item.kind or '(no kind)')}: {raw}"


def _marked(
    turn: Turn, item: ToolCallMark | PlanMark | TerminalMark | ElicitationMark, embedded: set[str]
) -> str:
    if isinstance(item, ToolCallMark):
        return call_text(turn, turn.tool_calls[item.tool_call_id])
    if isinstance(item, ElicitationMark):
        return elicitation_text(turn, turn.elicitations[item.key])
    if isinstance(item, TerminalMark):
        return "" if item.terminal_id in embedded else _terminal(turn, item.terminal_id)
    entries = turn.plans.get(item.plan_id, [])
    return "\n".join(["plan:", *(f"  {words.plan_line(entry)}" for entry in entries)])


def _message(item: Message) -> str:
    late = "(came after the turn's end) " if item.late else ""
    who = "" if item.role == "agent" else f"{words.visible(item.role)}: "
    return late + who + words.prose(str(item.text)).strip("\n")


def _thought(item: Thought) -> str:
    text = words.prose(str(item.text)).strip()
    first, more, _ = text.partition("\n")
    length = f" for {words.lasted(item)}" if words.lasted(item) else ""
    return f"Thought{length}: {words.cut(first, 200)}{' …' if more else ''}"


def _compaction(item: Compaction) -> str:
    summary = " ".join(_block(block) for block in item.summary)
    told = [f"context compaction: {words.visible(item.status)}", words.prose(item.error or ""), summary]
    return " · ".join(filter(None, told))


def _block(block: dict[str, Any]) -> str:
    text = block.get("text")
    if block.get("type") == "text" and isinstance(text, str):
        return words.prose(words.cut(text, _TEXT_LIMIT))
    if block.get("type") in {"image", "audio", "resource", "resource_link"}:
        return "\n".join(filter(None, [words.block_note(block), words.resource_text(block)]))
    return words.cut(words.visible(json_text(block)), _VALUE_LIMIT)


# --- tool calls


def call_text(turn: Turn, call: ToolCall) -> str:
    """Return a tool call: what it does, its content, who allowed it, its raw input and output."""
    lines = ["▸ " + _first_line(turn, call)]
    lines += [_INDENT + _hang(aside) for aside in [words.aside(turn, call)] if aside]
    lines += [_content(turn, item, _DIFF_LINES) for item in call.content]
    for permission in words.asked(turn, call):
        lines.append(_INDENT + _hang(words.decision(turn, permission)))
        lines += [f"{_INDENT}! {_hang(one.text)}" for one in words.warnings(turn, permission)]
        lines += _was_asked(turn, permission)
        if permission.state == "open":
            lines += [f"{_INDENT}- {_option(one)}" for one in permission.offered]
    lines += [_raw(call, which) for which in ("raw_input", "raw_output") if call.raw_text(which) is not None]
    number = turn.tool_calls.number(call.tool_call_id)
    if turn.turn_id and number is not None:  # an excerpt does not know which one it was
        lines.append(f"{_INDENT}call {turn.number}.{number}")  # as `%acp inspect` takes it
    return "\n".join(lines)


def _first_line(turn: Turn, call: ToolCall) -> str:
    parts = [" ".join(words.heading(turn, call)), words.changed(call), words.status(turn, call)]
    return " · ".join(_hang(part) for part in parts if part)


def _was_asked(turn: Turn, permission: Permission) -> list[str]:
    asked = words.asked_instead(turn, permission)
    if asked is None:
        return []
    verb = words.VERBS.get(asked.kind) or words.visible(asked.kind)
    lines = [f"  {_hang(verb)}", *operation(turn, asked)]
    return [_indented(lines)] + [_content(turn, item, _DIFF_LINES) for item in asked.content]


def _raw(call: ToolCall, which: str) -> str:
    text = words.exact(call.raw_text(which) or "")
    return f"{_INDENT}{which.replace('_', ' ')}: {words.cut(text, _VALUE_LIMIT)}"


def _content(turn: Turn, item: ContentItem, diff_lines: int) -> str:
    if isinstance(item, Diff):
        return _indented(_diff_lines(turn, item, diff_lines))
    if isinstance(item, TerminalRef):
        return _indented(_terminal(turn, item.terminal_id))
    if isinstance(item, Block):
        return _indented(_block(item.block))
    return _indented(f"unknown content: {words.cut(words.visible(json_text(item.raw)), _VALUE_LIMIT)}")


def _diff_lines(turn: Turn, diff: Diff, limit: int) -> list[str]:
    return [_hang(words.diff_title(turn, diff)), *unified(diff, limit)]


def _terminal(turn: Turn, terminal_id: str) -> str:
    terminal = turn.terminals.get(terminal_id)
    if terminal is None:
        return f"terminal {words.visible(terminal_id)}: its output is not part of this turn"
    return "\n".join(_terminal_lines(terminal))


def _terminal_lines(terminal: Terminal) -> list[str]:
    hidden, tail = ansi.tail(str(terminal.output), _TERMINAL_LINES)
    notes = ["(earlier output was dropped)"] if terminal.truncated else []
    notes += [f"… ({words.counted(hidden, 'earlier line')})"] if hidden else []
    lines = words.visible(ansi.plain(tail)).split("\n") if tail else []
    return [
        f"$ {_hang(words.exact(terminal.command))}",
        *notes,
        *lines,
        f"[{words.terminal_status(terminal)}]",
    ]


def _indented(text: str | Iterable[str]) -> str:
    whole = text if isinstance(text, str) else "\n".join(text)
    return "\n".join(_INDENT + line for line in whole.split("\n"))


def _hang(text: str) -> str:
    """Indent what follows a first line, so that the agent's words never look like ours."""
    return text.replace("\n", f"\n{_INDENT}| ")
