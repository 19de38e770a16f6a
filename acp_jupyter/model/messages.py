"""A message on the wire, as people look at it: its kind, what it says in a line, whose answer it is.

See https://agentclientprotocol.com/protocol/overview.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from acp_jupyter.model.content import as_dict, as_list, as_text
from acp_jupyter.model.text import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from acp_jupyter.model.redact import Redactor

_LONGEST = 100  # characters of a summary


def kind(message: Any) -> str:
    """Return ``request``, ``notification``, ``response``, or ``unknown``."""
    message = as_dict(message)
    if isinstance(message.get("method"), str):
        return "request" if "id" in message else "notification"
    return "response" if "id" in message else "unknown"


def methods(messages: Iterable[tuple[str, Any]]) -> list[str]:
    """Return the method of each message; of a response the one that it answers, where that is among them.

    Args:
        messages: Pairs of direction (``in`` or ``out``) and message, in order.
    """
    asked: dict[tuple[bool, str], str] = {}
    found: list[str] = []
    for direction, one in messages:
        message, incoming = as_dict(one), direction == "in"
        method, request_id = as_text(message.get("method")), json_text(message.get("id"))
        if method is not None:
            asked[incoming, request_id] = method
        found.append(asked.get((not incoming, request_id), "") if method is None else method)
    return found


def summary(message: Any) -> str:
    """Return what a message says, in a line; what cannot be printed is told by its number."""
    message = as_dict(message)
    if "error" in message:
        error = as_dict(message["error"])
        return short(f"error {error.get('code')}: {error.get('message')}")
    value = message.get("params") if "method" in message else message.get("result")
    said = _said(as_dict(value))
    if said is None:
        rest = {key: one for key, one in as_dict(value).items() if key not in {"sessionId", "_meta"}}
        said = json_text(rest if isinstance(value, dict) else value)
    return short(said)


def short(text: str) -> str:
    """Return the beginning of a text, in a line."""
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return "".join(one if one.isprintable() else f"<U+{ord(one):04X}>" for one in text)


def _said(value: dict[str, Any]) -> str | None:
    """What a person wants to read first, where there is such a thing."""
    update, call = as_dict(value.get("update")), as_dict(value.get("toolCall"))
    if update:
        return _updated(update)
    if call:
        return f"{call.get('toolCallId')} {call.get('title') or ''}"
    if isinstance(value.get("prompt"), list):
        blocks = map(as_dict, as_list(value["prompt"]))
        return " ".join(as_text(block.get("text")) or f"[{block.get('type')}]" for block in blocks)
    return as_text(value.get("path")) or as_text(value.get("stopReason"))


def _updated(update: dict[str, Any]) -> str:
    what = as_text(update.get("sessionUpdate")) or "?"
    text = as_text(as_dict(update.get("content")).get("text"))
    words = [update.get("toolCallId"), update.get("status"), update.get("title")]
    named = " ".join(one for one in words if isinstance(one, str))
    rest = {key: one for key, one in update.items() if key != "sessionUpdate"}
    return f"{what}: {text if text is not None else named or json_text(rest)}"


class _Chunk(NamedTuple):
    """A piece of a text: of which text, where in the message it is, and the piece."""

    of: tuple[str, ...]
    path: tuple[str, ...]
    text: str


def without_split_secrets(messages: Sequence[Any], redactor: Redactor) -> list[Any]:
    """Return the messages with what is told in chunks looked at as a whole: a secret may go over an end.

    Args:
        messages: In order; they are left as they are.
        redactor: Finds the secrets.
    """
    clean = list(messages)
    texts: dict[tuple[str, ...], list[tuple[int, _Chunk]]] = {}
    for index, message in enumerate(messages):
        chunk = _chunk(message)
        if chunk is not None:
            texts.setdefault(chunk.of, []).append((index, chunk))
    for chunks in texts.values():
        redacted = redactor.texts([chunk.text for _, chunk in chunks])
        for (index, chunk), text in zip(chunks, redacted, strict=True):
            if text != chunk.text:
                clean[index] = _with(clean[index], chunk.path, text)
    return clean


def _chunk(message: Any) -> _Chunk | None:
    params = as_dict(as_dict(message).get("params"))
    update = as_dict(params.get("update"))
    session_id, what = str(params.get("sessionId")), str(update.get("sessionUpdate"))
    text = as_text(as_dict(update.get("content")).get("text"))
    if text is not None:
        of = (session_id, what, str(update.get("messageId")))
        return _Chunk(of, ("params", "update", "content", "text"), text)
    output = as_dict(as_dict(update.get("_meta")).get("terminal_output"))
    data = as_text(output.get("data"))
    if data is None:
        return None
    path = ("params", "update", "_meta", "terminal_output", "data")
    return _Chunk((session_id, "terminal", str(output.get("terminal_id"))), path, data)


def _with(value: dict[str, Any], path: Sequence[str], text: str) -> dict[str, Any]:
    """A copy with another text at a path; what is beside the path is shared."""
    first, *rest = path
    return {**value, first: _with(value[first], rest, text) if rest else text}
