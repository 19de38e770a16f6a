"""A tool call's updates as they came: how many of them Python keeps, and what a document says of them.

See https://agentclientprotocol.com/protocol/tool-calls#updating. An agent may tell a growing output anew,
thousands of times: what a later update has replaced is kept where it is short, and the rest is bounded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from acp_jupyter.model.content import as_dict
from acp_jupyter.model.text import json_text

if TYPE_CHECKING:
    from acp_jupyter.model.tool_call import ToolCall

IN_PYTHON = 2_000
"""The most updates of one call that Python keeps: of more, the first half and the last half."""
IN_DOCUMENT = 100
"""The same in a document."""
_REPLACED = 1_000  # characters from which on a value that was replaced is let go
_ELSEWHERE = 200  # characters from which on a document does not repeat what stands in the call itself
# Characters of an update's JSON text in a document, of all of a call, and of each at least.
_EACH, _ALL, _LEAST = 4_000, 32_000, 400
_STANDS = {"content": "content", "rawInput": "raw_input", "rawOutput": "raw_output"}
_TERMINALS = ("terminal_output", "terminal_output_delta")


def receive(call: ToolCall, update: dict[str, Any]) -> None:
    """Add an update of ``call``, and let go of what it tells anew."""
    for key in _STANDS:
        if update.get(key) is not None:
            _give_up(call, key)
    call.updates_count += 1
    call.updates.append(update)
    if len(call.updates) > IN_PYTHON:
        del call.updates[IN_PYTHON // 2]


def _give_up(call: ToolCall, key: str) -> None:
    """Let go of the long value of ``key`` in the latest update that has one."""
    for number in reversed(range(len(call.updates))):
        earlier = call.updates[number]
        if earlier.get(key) is not None:
            if _longer(earlier[key], _REPLACED):  # a copy goes without it: the message is the log's too
                call.updates[number] = {**earlier, key: "[long, and told anew by a later update: not kept]"}
            return


def told(call: ToolCall) -> list[dict[str, Any]]:
    """Return the updates that a document holds, with a note where a long value stands in the call itself."""
    half = IN_DOCUMENT // 2
    few = len(call.updates) <= IN_DOCUMENT
    return [_noted(one) for one in (call.updates if few else [*call.updates[:half], *call.updates[-half:]])]


def told_texts(call: ToolCall) -> list[str]:
    """Return their JSON texts; of one that is too long the beginning, as a JSON string."""
    updates = told(call)
    limit = min(_EACH, max(_ALL // max(len(updates), 1), _LEAST))
    return [_bounded(json_text(update), limit) for update in updates]


def _bounded(text: str, limit: int) -> str:
    # a string was too long when the document that it is from was written
    if len(text) <= limit or text.startswith('"'):
        return text
    return json_text(f"{text[:limit]}… ({len(text) - limit:,} more characters)")


def _noted(update: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(update, dict):  # pyright: ignore[reportUnnecessaryIsInstance]  # of a document: it was cut
        return update
    notes: dict[str, Any] = {
        key: f"[as in {where}]"
        for key, where in _STANDS.items()
        if _longer(update.get(key), _ELSEWHERE) and (key != "content" or isinstance(update[key], list))
    }
    meta = as_dict(update.get("_meta"))
    outputs = {
        key: {**as_dict(meta[key]), "data": "[as in the terminal]"}
        for key in _TERMINALS
        if _longer(as_dict(meta.get(key)).get("data"), _ELSEWHERE)
    }
    return {**update, **notes, **({"_meta": {**meta, **outputs}} if outputs else {})}


def _longer(value: Any, limit: int) -> bool:
    """Whether JSON text of ``value`` has more than some ``limit`` characters; no more of it is looked at."""
    left, rest = limit, [value]
    while rest and left >= 0:
        one = rest.pop()
        if isinstance(one, dict):
            members = cast("dict[str, Any]", one)
            left -= sum(map(len, members)) + 5 * len(members)
            rest.extend(members.values())
        elif isinstance(one, list):
            left -= 2 + len(cast("list[Any]", one))
            rest.extend(cast("list[Any]", one))
        else:
            left -= len(one) + 2 if isinstance(one, str) else 4
    return left < 0
