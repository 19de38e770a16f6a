"""What a tool call produced: content blocks, diffs, terminals, and what we do not know.

See https://agentclientprotocol.com/protocol/tool-calls#content. Everything here is read leniently: a bad
field costs that field, and an item that we do not understand is kept as it came.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, cast

from acp_jupyter.model.diff import Diff

_BLOCK_TYPES = frozenset({"text", "image", "audio", "resource", "resource_link"})


class Location(NamedTuple):
    """A file that a tool call works on; ``line`` is 1-based. Display only, it grants nothing."""

    path: str
    line: int | None = None


@dataclass(frozen=True)
class Block:
    """A protocol content block, as it came."""

    block: dict[str, Any]


@dataclass(frozen=True)
class TerminalRef:
    """A terminal shown within a tool call."""

    terminal_id: str


@dataclass(frozen=True)
class UnknownContent:
    """An item of a type that we do not know, as it came."""

    raw: Any


ContentItem: TypeAlias = Block | Diff | TerminalRef | UnknownContent


def as_dict(value: Any) -> dict[str, Any]:
    """Return ``value`` where it is a JSON object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """Return ``value`` where it is a JSON array, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_text(value: Any) -> str | None:
    """Return ``value`` where it is a string, else ``None``."""
    return value if isinstance(value, str) else None


def as_int(value: Any) -> int | None:
    """Return ``value`` where it is a whole number, else ``None``."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def parse_locations(raw: list[Any]) -> list[Location]:
    """Read a tool call's ``locations``; an item without a path is left out."""
    items = [as_dict(item) for item in raw]
    return [Location(item["path"], as_int(item.get("line"))) for item in items if as_text(item.get("path"))]


def parse_content(raw: list[Any], before: Iterable[ContentItem] = ()) -> list[ContentItem]:
    """Read a tool call's ``content``; a diff equal to one ``before`` is that object."""
    known = [item for item in before if isinstance(item, Diff)]
    return [_reuse(_parse_item(item), known) for item in raw]


def _reuse(item: ContentItem, known: list[Diff]) -> ContentItem:
    return next((old for old in known if old == item), item) if isinstance(item, Diff) else item


def _parse_item(raw: Any) -> ContentItem:
    item: Mapping[str, Any] = as_dict(raw)
    kind = item.get("type")
    if kind == "content" and as_dict(item.get("content")):
        return Block(as_dict(item["content"]))
    path, new_text = as_text(item.get("path")), as_text(item.get("newText"))
    if kind == "diff" and path is not None and new_text is not None:
        return Diff(path, as_text(item.get("oldText")), new_text)
    terminal_id = as_text(item.get("terminalId"))
    if kind == "terminal" and terminal_id is not None:
        return TerminalRef(terminal_id)
    if kind in _BLOCK_TYPES:  # a bare block, as one example of the documentation has it
        return Block(dict(item))
    return UnknownContent(raw)
