"""Content blocks that we send: whether they are what the protocol says.

https://agentclientprotocol.com/protocol/content
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

# the strings that a block must have, and those that it may have
_MUST: Mapping[str, tuple[str, ...]] = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource_link": ("uri", "name"),
    "resource": (),
}
_MAY: Mapping[str, tuple[str, ...]] = {
    "image": ("uri",),
    "resource_link": ("mimeType", "title", "description"),
}


def block_fault(block: Mapping[str, Any]) -> str | None:
    """Say what is wrong with a content block, or ``None``."""
    kind = block.get("type")
    if not isinstance(kind, str) or kind not in _MUST:
        return f"no content is of type {kind!r}"
    for name, shape in (("annotations", dict), ("_meta", dict), ("size", int)):
        value = block.get(name)
        if value is not None and (not isinstance(value, shape) or isinstance(value, bool)):
            return f"{name} of {kind} content must not be {value!r}"
    if kind == "resource":
        return _resource_fault(block.get("resource"))
    return _strings_fault(f"{kind} content", block, _MUST[kind], _MAY.get(kind, ()))


def _strings_fault(
    what: str, given: Mapping[str, Any], must: tuple[str, ...], may: tuple[str, ...]
) -> str | None:
    missing = [name for name in must if not isinstance(given.get(name), str)]
    if missing:
        return f"{what} needs {' and '.join(missing)}"
    wrong = [name for name in may if not isinstance(given.get(name), str | None)]
    return f"{' and '.join(wrong)} of {what} must be text" if wrong else None


def _resource_fault(resource: Any) -> str | None:
    if isinstance(resource, dict):
        held = cast("dict[str, Any]", resource)
        if isinstance(held.get("uri"), str) and (
            isinstance(held.get("text"), str) or isinstance(held.get("blob"), str)
        ):
            return _strings_fault("a resource", held, (), ("mimeType",))
    return "resource content needs a resource with uri, and text or blob"
