"""Content blocks that we send: whether they are what the protocol says.

https://agentclientprotocol.com/protocol/content
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource_link": ("uri", "name"),
    "resource": (),
}


def block_fault(block: Mapping[str, Any]) -> str | None:
    """Say what is wrong with a content block, or ``None``."""
    kind = block.get("type")
    if kind not in _REQUIRED:
        return f"no content is of type {kind!r}"
    missing = [name for name in _REQUIRED[str(kind)] if not isinstance(block.get(name), str)]
    if missing:
        return f"{kind} content needs {' and '.join(missing)}"
    return _resource_fault(block.get("resource")) if kind == "resource" else None


def _resource_fault(resource: Any) -> str | None:
    if isinstance(resource, dict):
        held = cast("dict[str, Any]", resource)
        if isinstance(held.get("uri"), str) and (
            isinstance(held.get("text"), str) or isinstance(held.get("blob"), str)
        ):
            return None
    return "resource content needs a resource with uri, and text or blob"
