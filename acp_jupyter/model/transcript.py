"""A turn to and from its JSON document; ``docs/turn-format.md`` describes it."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import Any, TypeVar, cast

from acp_jupyter.model.content import (
    Block,
    ContentItem,
    Location,
    TerminalRef,
    UnknownContent,
    as_dict,
    as_list,
    as_text,
)
from acp_jupyter.model.diff import Diff, Edit, Mark, rebuild_old
from acp_jupyter.model.elicitation import elicitation_from_json, elicitation_json
from acp_jupyter.model.received import told_texts
from acp_jupyter.model.request_warnings import RequestWarning, change_since
from acp_jupyter.model.shown import Home
from acp_jupyter.model.text import Text, json_text
from acp_jupyter.model.tool_call import Permission, PermissionOption, Terminal, ToolCall, ToolCalls
from acp_jupyter.model.turn import (
    AgentInfo,
    Compaction,
    ContentPart,
    ElicitationMark,
    Item,
    Message,
    ModeChange,
    Note,
    Notice,
    OptionChange,
    PlanEntry,
    PlanMark,
    TerminalMark,
    Thought,
    ToolCallMark,
    Turn,
    TurnError,
    UnknownUpdate,
    Usage,
)

_T = TypeVar("_T")

VERSION = 1
MIME = f"application/vnd.acp-jupyter.turn.v{VERSION}+json"

_ITEM_TYPES: dict[type, str] = {
    Message: "message",
    Thought: "thought",
    ContentPart: "content",
    PlanMark: "plan",
    ToolCallMark: "tool_call",
    TerminalMark: "terminal",
    ElicitationMark: "elicitation",
    Notice: "notice",
    Compaction: "compaction",
    ModeChange: "mode",
    OptionChange: "option",
}
_ITEM_CLASSES = {name: cls for cls, name in _ITEM_TYPES.items()}
_HEAD_KEYS = (
    "turn_id number session_id cwd additional_directories policy state started_at ended_at stop_reason "
    "prompt title mode options commands"
).split()
_HEAD_TYPES = {"turn_id": str, "number": int, "cwd": str, "policy": str} | dict.fromkeys(
    ("additional_directories", "prompt", "options", "commands"), list
)
_CALL_KEYS = "tool_call_id title name kind status local_status started_at ended_at".split()
_TERMINAL_KEYS = ("terminal_id command cwd truncated exit_code signal released started_at ended_at").split()
_PERMISSION_KEYS = "key tool_call_id state option_id decided_by reason opened_at decided_at".split()


def to_json(turn: Turn, *, updates: bool = True) -> dict[str, Any]:
    """Return the whole document of ``turn``; with the ``updates`` of its calls, or without."""
    make = saved_call_json if updates else tool_call_json
    return {
        **head_json(turn),
        "items": [item_json(item) for item in list(turn.items)],
        "tool_calls": {call.tool_call_id: make(call) for call in turn.tool_calls},
        "terminals": {key: terminal_json(terminal) for key, terminal in list(turn.terminals.items())},
        "permissions": {
            key: permission_json(one, turn.tool_calls.get(one.tool_call_id))
            for key, one in list(turn.permissions.items())
        },
        "elicitations": {key: elicitation_json(one) for key, one in list(turn.elicitations.items())},
        "plans": {key: plan_json(entries) for key, entries in list(turn.plans.items())},
    }


def node_json(turn: Turn, node: tuple[Any, ...], *, growing: bool = True) -> dict[str, Any]:
    """Return one node of the document, named as in `acp_jupyter.model.state.Change`.

    The updates of a tool call are left out; without ``growing``, also a text that grows by chunks.
    """
    if not node:
        return head_json(turn)
    where, key = node
    if where == "items":
        return item_json(turn.items[int(key)], growing=growing)
    if where == "tool_calls":
        return tool_call_json(turn.tool_calls[str(key)])
    if where == "terminals":
        return terminal_json(turn.terminals[key], growing=growing)
    if where == "permissions":
        permission = turn.permissions[key]
        return permission_json(permission, turn.tool_calls.get(permission.tool_call_id))
    if where == "elicitations":
        return elicitation_json(turn.elicitations[key])
    return plan_json(turn.plans[key])


def head_json(turn: Turn) -> dict[str, Any]:
    """Return what stands at the top level of the document, without its collections."""
    return {
        "version": VERSION,
        **{key: getattr(turn, key) for key in _HEAD_KEYS},
        "agent": asdict(turn.agent),
        "error": asdict(turn.error) if turn.error else None,
        "notes": [asdict(note) for note in turn.notes],
        "usage": asdict(turn.usage) if turn.usage else None,
        **({"cancel_requested": True} if turn.cancel_requested else {}),
        **({"cancelled_by": turn.cancelled_by} if turn.cancelled_by != "you" else {}),
        **({"replayed": True} if turn.replayed else {}),
        **({"kept": turn.kept} if turn.kept else {}),
    }


def item_json(item: Item, *, growing: bool = True) -> dict[str, Any]:
    """Return an item of the timeline; without ``growing``, without its text."""
    if isinstance(item, UnknownUpdate):
        return {"type": "unknown", "kind": item.kind, "raw": json_text(item.raw)}
    # Not `asdict`, which would copy the growing text at every look.
    values = {key: getattr(item, key) for key in item.__dataclass_fields__}
    if isinstance(item, Message | Thought):
        text, late = values.pop("text"), values.pop("late")
        values.update({"text": str(text)} if growing else {}, **({"late": True} if late else {}))
    if isinstance(item, ModeChange | OptionChange) and item.oversight is None:
        del values["oversight"]
    return {"type": _ITEM_TYPES[type(item)], **values}


def saved_call_json(call: ToolCall) -> dict[str, Any]:
    """Return a tool call with its updates, as compact JSON texts too."""
    return {**tool_call_json(call), **({"updates": told_texts(call)} if call.updates else {})}


def tool_call_json(call: ToolCall) -> dict[str, Any]:
    """Return a tool call; its raw values as compact JSON text."""
    return {
        **{key: getattr(call, key) for key in _CALL_KEYS},
        "locations": [location._asdict() for location in call.locations],
        "content": [_content_json(item) for item in call.content],
        "raw_input": call.raw_text("raw_input"),
        "raw_output": call.raw_text("raw_output"),
        **({"updates_count": call.updates_count} if call.updates_count else {}),
    }


def terminal_json(terminal: Terminal, *, growing: bool = True) -> dict[str, Any]:
    """Return a terminal with its output; without ``growing``, without it."""
    node = {
        **{key: getattr(terminal, key) for key in _TERMINAL_KEYS},
        **({"stopped_by": terminal.stopped_by} if terminal.stopped_by else {}),
        **({"agent_owned": True} if terminal.agent_owned else {}),
    }
    return {**node, "output": str(terminal.output)} if growing else node


def permission_json(permission: Permission, call: ToolCall | None) -> dict[str, Any]:
    """Return a permission request, its decision, and what was asked where ``call`` no longer shows it."""
    asked = permission.asked
    if asked is not None and call is not None and call.shows(asked):
        asked = None
    change = change_since(permission, call)
    offered = {id(one) for one in permission.offered}
    return {
        **{key: getattr(permission, key) for key in _PERMISSION_KEYS},
        "options": [_option_json(one, left_out=id(one) not in offered) for one in permission.options],
        "warnings": [one._asdict() for one in (*permission.warnings, *filter(None, [change]))],
        "checking": permission.checking,
        "asked": None if asked is None else tool_call_json(asked),
    }


def _option_json(option: PermissionOption, *, left_out: bool) -> dict[str, Any]:
    return {**asdict(option), **({"left_out": True} if left_out else {})}


def plan_json(entries: list[PlanEntry]) -> dict[str, Any]:
    """Return a plan."""
    return {"entries": [asdict(entry) for entry in entries]}


def _content_json(item: ContentItem) -> dict[str, Any]:
    if isinstance(item, Block):
        return {"type": "content", "block": item.block}
    if isinstance(item, TerminalRef):
        return {"type": "terminal", "terminal_id": item.terminal_id}
    if isinstance(item, UnknownContent):
        return {"type": "unknown", "raw": json_text(item.raw)}
    added, removed = item.totals
    ends = {"line_ends": list(item.line_ends)} if item.line_ends else {}
    return {
        "type": "diff",
        "path": item.path,
        "is_new": item.old_text is None,
        "new_text": item.new_text,
        "edits": [_edit_json(edit) for edit in item.edits],
        **ends,
        "added": added,
        "removed": removed,
    }


def _edit_json(edit: Edit) -> dict[str, Any]:
    return {
        "at": edit.at,
        "add": edit.add,
        "del": list(edit.old),
        "section": edit.section,
        "marks": [list(mark) for mark in edit.marks],
    }


def from_json(document: dict[str, Any]) -> Turn:
    """Return the turn of a document.

    Raises:
        ValueError: It is of another version, or not such a document.
    """
    version = as_dict(document).get("version")
    if version != VERSION:
        raise ValueError(f"a turn document of version {version!r}; this reads version {VERSION}")
    try:
        return _turn(document)
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"a damaged turn document: {error!r}") from error


def _make(cls: type[_T], node: dict[str, Any], **values: Any) -> _T:
    """Return a ``cls`` of what it knows in ``node``; a later version may have added keys."""
    known = {field.name for field in fields(cast("Any", cls))} - values.keys()
    return cls(**{key: value for key, value in node.items() if key in known}, **values)


def _turn(doc: dict[str, Any]) -> Turn:
    heads = {key: doc[key] for key in _HEAD_KEYS if key != "state"}
    for key, type_ in _HEAD_TYPES.items():
        if not isinstance(heads[key], type_):
            raise TypeError(f"{key} is {heads[key]!r}")
    turn = Turn(
        **heads,
        agent=_make(AgentInfo, doc["agent"]),
        phase="running" if doc["state"] == "waiting" else doc["state"],
        error=_make(TurnError, doc["error"]) if doc["error"] else None,
        notes=[_make(Note, note) for note in doc["notes"]],
        usage=_make(Usage, doc["usage"]) if doc["usage"] else None,
        cancel_requested=bool(doc.get("cancel_requested")),
        cancelled_by=as_text(doc.get("cancelled_by")) or "you",
        replayed=bool(doc.get("replayed")),
        kept=as_dict(doc.get("kept")) or None,
        items=[_item(item) for item in doc["items"]],
        tool_calls=ToolCalls(_tool_call(call) for call in doc["tool_calls"].values()),
        terminals={key: _terminal(terminal) for key, terminal in doc["terminals"].items()},
        permissions={key: _permission(one) for key, one in doc["permissions"].items()},
        # not there in what was saved before there were any
        elicitations={k: elicitation_from_json(one) for k, one in doc.get("elicitations", {}).items()},
        plans={
            key: [_make(PlanEntry, entry) for entry in plan["entries"]] for key, plan in doc["plans"].items()
        },
    )
    for call in turn.tool_calls:
        call.home = Home(turn)
    return turn


def _item(item: dict[str, Any]) -> Item:
    if item["type"] == "unknown":
        return UnknownUpdate(item["kind"], json.loads(item["raw"]))
    cls = _ITEM_CLASSES[item["type"]]
    text = {"text": Text(item["text"])} if cls in {Message, Thought} else {}
    return cast("Item", _make(cls, item, **text))


def _tool_call(node: dict[str, Any]) -> ToolCall:
    raw = {key: json.loads(node[key]) for key in ("raw_input", "raw_output") if node[key] is not None}
    return ToolCall(
        **{key: node[key] for key in _CALL_KEYS},
        **raw,
        locations=[Location(location["path"], location["line"]) for location in node["locations"]],
        content=[_content(item) for item in node["content"]],
        # not there in what was saved before there were any
        updates=[json.loads(update) for update in node.get("updates", [])],
        updates_count=node.get("updates_count", 0),
    )


def _content(item: dict[str, Any]) -> ContentItem:
    if item["type"] == "content":
        return Block(as_dict(item["block"]))
    if item["type"] == "terminal":
        return TerminalRef(item["terminal_id"])
    if item["type"] == "diff":
        edits = [_edit(edit) for edit in as_list(item["edits"])]
        ends = item.get("line_ends")
        old = None if item["is_new"] else rebuild_old(item["new_text"], edits, ends and (ends[0], ends[1]))
        return Diff(item["path"], old, item["new_text"])
    return UnknownContent(json.loads(item["raw"]))


def _edit(edit: dict[str, Any]) -> Edit:
    marks = tuple(Mark(*mark) for mark in edit["marks"])
    return Edit(edit["at"], edit["add"], tuple(edit["del"]), edit["section"], marks)


def _terminal(node: dict[str, Any]) -> Terminal:
    return Terminal(
        **{key: node[key] for key in _TERMINAL_KEYS},
        output=Text(node["output"]),
        stopped_by=as_text(node.get("stopped_by")),
        agent_owned=bool(node.get("agent_owned")),
    )


def _permission(node: dict[str, Any]) -> Permission:
    options = tuple(_make(PermissionOption, option) for option in node["options"])
    asked = _tool_call(node["asked"]) if node.get("asked") is not None else None
    # not there in what was saved before there were any; that the call was changed is found out anew
    told = [RequestWarning(one["reason"], one["text"]) for one in node.get("warnings", ())]
    warnings = tuple(one for one in told if one.reason != "changed")
    keys = {key: node[key] for key in _PERMISSION_KEYS}
    return Permission(**keys, options=options, warnings=warnings, asked=asked)
