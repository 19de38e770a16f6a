"""A bad field costs that field: what an agent tells with faults in it comes to what it tells without them.

`test_fuzz` says that each update arrives, whatever stands around it on the wire; here each is told with one
thing of a wrong type. `SHAPES` says what a field must be and what goes with it, by the schema's
``x-deserialize-default-on-error`` and ``x-deserialize-skip-invalid-items``; it shares nothing with the code.
"""

from __future__ import annotations

import copy
import json
import os
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_jupyter.model import events
from acp_jupyter.model.transcript import to_json
from tests.model.play import Play

SEQUENCES = int(os.environ.get("ACP_JUPYTER_FUZZ", "300"))

# --- what an agent may tell

words = st.text("ab \n", max_size=5)
names = st.sampled_from(["one", "two"])
blocks = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "text": words}),
    st.fixed_dictionaries({"type": st.just("resource_link"), "name": names, "uri": names}),
)
items = st.one_of(
    st.fixed_dictionaries({"type": st.just("content"), "content": blocks}),
    st.fixed_dictionaries({"type": st.just("diff"), "path": names, "newText": words}),
    st.fixed_dictionaries({"type": st.just("terminal"), "terminalId": names}),
)
values = st.none() | st.booleans() | st.integers(0, 3) | words | st.just([]) | st.just({"a": [1]})
places = st.fixed_dictionaries({"path": names}, optional={"line": st.integers(1, 3)})
call_fields = {
    "title": words,
    "name": names,
    "kind": st.sampled_from(["read", "edit", "execute"]),
    "status": st.sampled_from(["pending", "in_progress", "completed", "failed"]),
    "content": st.lists(items, max_size=2),
    "locations": st.lists(places, max_size=2),
    "rawInput": values,
    "rawOutput": values,
}
choice = st.fixed_dictionaries({"value": names, "name": names})
option = st.fixed_dictionaries(
    {
        "id": names,
        "name": names,
        "type": st.just("select"),
        "currentValue": names,
        "options": st.lists(choice, max_size=2),
    }
)
entry = st.fixed_dictionaries(
    {
        "content": words,
        "priority": st.sampled_from(["high", "low"]),
        "status": st.sampled_from(["pending", "completed"]),
    }
)


def of(kind: str, needed: dict[str, Any], may: dict[str, Any] | None = None) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries({"sessionUpdate": st.just(kind), **needed}, optional=may or {})


updates: st.SearchStrategy[dict[str, Any]] = st.one_of(
    of("agent_message_chunk", {"content": blocks}, {"messageId": names}),
    of("agent_thought_chunk", {"content": blocks}, {"messageId": names}),
    of("user_message_chunk", {"content": blocks}, {"messageId": names}),
    of("tool_call", {"toolCallId": names}, call_fields),
    of("tool_call_update", {"toolCallId": names}, call_fields),
    of("plan", {"entries": st.lists(entry, max_size=2)}),
    of("usage_update", {"used": st.integers(0, 9), "size": st.integers(1, 9)}),
    of(
        "available_commands_update",
        {
            "availableCommands": st.lists(
                st.fixed_dictionaries({"name": names, "description": words}), max_size=2
            )
        },
    ),
    of("current_mode_update", {"currentModeId": names}),
    of("config_option_update", {"configOptions": st.lists(option, max_size=2)}),
    of("session_info_update", {}, {"title": words | st.none()}),
    of("notice", {"title": names, "severity": st.sampled_from(["info", "error"])}, {"description": words}),
    of(
        "compaction_update",
        {"compactionId": names, "status": st.just("completed")},
        {"summary": st.lists(blocks, max_size=2) | st.none(), "error": words | st.none()},
    ),
    of("compaction_summary_chunk", {"compactionId": names, "content": blocks}),
)

# --- what is wrong, and what goes with it

ITSELF, ITEM, UPDATE = "the field", "the item", "the whole update"
NO_TEXT: list[Any] = [5, True, [], {}, 1.5]
NO_LIST: list[Any] = ["x", 5, {}, True]
NO_OBJECT: list[Any] = ["x", 5, [], True]
NO_NUMBER: list[Any] = ["x", 1.5, [], {}, True]
# the way to a field (`*`: an item of the list), what it cannot be, and what that costs
SHAPES: dict[str, list[tuple[str, list[Any], str]]] = {
    "agent_message_chunk": [("content", NO_OBJECT, UPDATE), ("messageId", NO_TEXT, ITSELF)],
    "tool_call": [
        ("toolCallId", [[], {}, None], UPDATE),
        *((field, NO_TEXT, ITSELF) for field in ("title", "name", "kind", "status")),
        *((field, NO_LIST, ITSELF) for field in ("content", "locations")),
        ("content.*", NO_OBJECT, ITEM),
        ("locations.*", NO_OBJECT, ITEM),
        ("locations.*.path", NO_TEXT, ITEM),
        ("locations.*.line", NO_NUMBER, ITSELF),
    ],
    "plan": [
        ("entries", NO_LIST, UPDATE),
        ("entries.*", NO_OBJECT, ITEM),
        ("entries.*.content", NO_TEXT, ITEM),
        ("entries.*.priority", NO_TEXT, ITSELF),
        ("entries.*.status", NO_TEXT, ITSELF),
    ],
    "usage_update": [("used", NO_NUMBER, UPDATE), ("size", NO_NUMBER, UPDATE)],
    "available_commands_update": [
        ("availableCommands", NO_LIST, UPDATE),
        ("availableCommands.*", NO_OBJECT, ITEM),
        ("availableCommands.*.name", NO_TEXT, ITEM),
        ("availableCommands.*.description", NO_TEXT, ITSELF),
    ],
    "current_mode_update": [("currentModeId", NO_TEXT, UPDATE)],
    "config_option_update": [
        ("configOptions", NO_LIST, UPDATE),
        ("configOptions.*", NO_OBJECT, ITEM),
        ("configOptions.*.id", NO_TEXT, ITEM),
    ],
    "session_info_update": [("title", NO_TEXT, ITSELF)],
    "notice": [
        ("title", NO_TEXT, UPDATE),
        ("severity", NO_TEXT, ITSELF),
        ("description", NO_TEXT, ITSELF),
    ],
    "compaction_update": [
        ("compactionId", NO_TEXT, UPDATE),
        ("status", NO_TEXT, ITSELF),
        ("summary", NO_LIST, ITSELF),
        ("summary.*", NO_OBJECT, ITEM),
        ("error", NO_TEXT, ITSELF),
    ],
    "compaction_summary_chunk": [("compactionId", NO_TEXT, UPDATE)],
}
SHAPES["agent_thought_chunk"] = SHAPES["user_message_chunk"] = SHAPES["agent_message_chunk"]
SHAPES["tool_call_update"] = SHAPES["tool_call"]


def spoiled(told: dict[str, Any], way: str, bad: Any, cost: str, at: int) -> tuple[Any, Any] | None:
    """The update with a fault in it, and what is left of it without that; none where it has no such field."""
    faulty, clean = copy.deepcopy(told), copy.deepcopy(told)
    parts = way.split(".")
    nodes: list[tuple[Any, Any]] = [(faulty, clean)]
    keys: list[Any] = []
    for part in parts:
        node = nodes[-1][0]
        key: Any = at % len(node) if part == "*" and node else part
        if (isinstance(node, dict) and key not in node) or (part == "*" and not node):
            return None
        keys.append(key)
        nodes.append((node[key], nodes[-1][1][key]))
    nodes[-2][0][keys[-1]] = bad
    if cost == UPDATE:
        return faulty, {"sessionUpdate": "not understood"}  # which is a line in its place
    depth = len(parts) - 1 if cost == ITSELF else parts.index("*")
    del nodes[depth][1][keys[depth]]
    return faulty, clean


@st.composite
def told_twice(draw: Any) -> tuple[Any, Any]:
    """An update as it is told, mostly with one fault, and what it must come to."""
    told = draw(updates)
    way, bads, cost = draw(st.sampled_from(SHAPES[told["sessionUpdate"]]))
    bad, at, whole = draw(st.sampled_from(bads)), draw(st.integers(0, 3)), draw(st.integers(0, 3))
    return (whole > 0 and spoiled(told, way, bad, cost, at)) or (told, told)


# --- what comes of it


def state(told: list[Any]) -> Any:
    """All that a session knows in the end; without the raw text of what was not understood."""
    play = Play()
    for update in told:
        play.apply(events.SessionUpdate(copy.deepcopy(update)), seconds=0)
    session = play.state
    turn = to_json(play.turn, updates=False)
    turn["items"] = [item for item in turn["items"] if item["type"] != "unknown"]
    for call in turn["tool_calls"].values():
        call["content"] = [item for item in call["content"] if item["type"] != "unknown"]
    return json.loads(
        json.dumps([turn, session.commands, session.options, session.mode, session.title, len(session.turns)])
    )


@settings(max_examples=SEQUENCES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(told_twice(), max_size=20))
def test_u17_a_bad_field_costs_that_field(sequence: list[tuple[Any, Any]]) -> None:
    faulty, clean = ([pair[side] for pair in sequence] for side in (0, 1))
    assert state(faulty) == state(clean)
