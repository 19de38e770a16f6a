"""The named permission policies: what may be answered without asking a person.

A policy looks at what the agent says it will do, never at its title or at an option's name, and picks only an
``allow_once`` option: where there is none, or more than one, the request is left to a person. The kind is the
agent's word too, so a call that says ``read`` and carries a command, a diff or a terminal is not a read.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from acp_jupyter.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_jupyter.model.tool_call import Permission, ToolCall
    from acp_jupyter.session.roots import Roots

POLICIES = {
    "ask": "ask a person (the default)",
    "reject": "reject everything",
    "read": "allow once what reads or searches within the directories of the session",
    "edits": "as read, and edits with a diff whose paths are all within them",
    "allow-once-all": "allow everything, once each time; for throw-away copies",
}
_COMMAND_KEYS = ("command", "cmd", "script", "shell", "argv", "code", "exec")
_PATH_KEYS = ("path", "file", "dir", "uri", "url", "cwd", "root")


class Decision(NamedTuple):
    """A policy's answer: an option of the agent's, or ``None`` for cancelled; and the rule that gave it."""

    option_id: str | None
    reason: str


def check_policy(name: str) -> str:
    """Return ``name`` where it is a policy.

    Raises:
        UsageError: It is none.
    """
    if name not in POLICIES:
        raise UsageError(f"no policy {name!r}", advice=f"The policies are: {', '.join(POLICIES)}.")
    return name


def decide(policy: str, permission: Permission, call: ToolCall, roots: Roots) -> Decision | None:
    """Answer ``permission``, which concerns ``call``, or return ``None`` to leave it to a person."""
    if policy == "reject":
        return Decision(rejection(permission), "the policy reject rejects everything")
    reason = _rule(policy, call, roots)
    once = [option for option in permission.options if option.kind == "allow_once"]
    ids = [option.option_id for option in permission.options]
    if reason is None or len(once) != 1 or ids.count(once[0].option_id) != 1:
        return None
    return Decision(once[0].option_id, reason)


def rejection(permission: Permission) -> str | None:
    """Return the option that says no just this time, or ``None`` where only ``cancelled`` does."""
    return next((o.option_id for o in permission.options if o.kind == "reject_once"), None)


def would_allow(permission: Permission, call: ToolCall, roots: Roots) -> str | None:
    """Return the strictest policy that would allow ``permission``, or ``None`` where none would."""
    return next((p for p in ("read", "edits", "allow-once-all") if decide(p, permission, call, roots)), None)


def _rule(policy: str, call: ToolCall, roots: Roots) -> str | None:
    if policy == "allow-once-all":
        return "the policy allow-once-all allows everything"
    if policy in {"read", "edits"} and _reads_within(call, roots):
        return f"the policy {policy} allows reading and searching within {roots.cwd}"
    if policy == "edits" and _edits_within(call, roots):
        return f"the policy edits allows edits within {roots.cwd}"
    return None


def _reads_within(call: ToolCall, roots: Roots) -> bool:
    return call.kind in {"read", "search"} and not call.diffs and _harmless(call, roots)


def _edits_within(call: ToolCall, roots: Roots) -> bool:
    inside = all(roots.holds(diff.path) for diff in call.diffs)
    return call.kind == "edit" and bool(call.diffs) and inside and _harmless(call, roots)


def _harmless(call: ToolCall, roots: Roots) -> bool:
    """Whether it runs nothing, and names its paths, all of them within the roots."""
    paths = [location.path for location in call.locations] + [diff.path for diff in call.diffs]
    named = [os.path.join(roots.cwd, path) for path in _paths_in(call.raw_input)]  # noqa: PTH118  # an absolute one stays as it is, `..` is resolved by `holds`
    inside = bool(paths) and all(roots.holds(path) for path in paths + named)
    return inside and not call.terminal_ids and not _has_command(call.raw_input)


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            yield str(key).lower(), inner
            yield from _entries(inner)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from _entries(inner)


def _has_command(raw_input: Any) -> bool:
    return any(value and any(word in key for word in _COMMAND_KEYS) for key, value in _entries(raw_input))


def _paths_in(raw_input: Any) -> Iterator[str]:
    for key, value in _entries(raw_input):
        if any(word in key for word in _PATH_KEYS):
            candidates = cast("list[Any]", value) if isinstance(value, list) else [value]
            yield from (one.removeprefix("file://") for one in candidates if isinstance(one, str) and one)
