"""The named permission policies: what may be answered without asking a person.

A policy looks at what the agent says it will do, never at its title or at an option's name, and picks only an
``allow_once`` option: where there is none, or more than one, the request is left to a person. The kind is the
agent's word too: a call that says ``read`` and carries a diff, a terminal, or a raw input with anything
that is not known to be part of reading, is asked about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from acp_jupyter.errors import UsageError
from acp_jupyter.model.content import UnknownContent
from acp_jupyter.session.raw_input import named_paths

if TYPE_CHECKING:
    from acp_jupyter.model.tool_call import Permission, ToolCall
    from acp_jupyter.session.roots import Roots

POLICIES = {
    "ask": "ask a person (the default)",
    "reject": "reject everything",
    "read": "allow once what reads or searches within the directories of the session",
    "edits": "as read, and edits with a diff whose paths are all within them",
    "allow-once-all": "allow everything, once each time; for throw-away copies",
}

# Those that allow anything, the strictest first.
ALLOWING = ("read", "edits", "allow-once-all")


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
    once = [option.option_id for option in permission.options if option.kind == "allow_once"]
    if reason is None or len(once) != 1 or not _is_unique(once[0], permission):
        return None
    return Decision(once[0], reason)


def rejection(permission: Permission) -> str | None:
    """Return the option that says no just this time, or ``None`` where only ``cancelled`` does."""
    no = (option.option_id for option in permission.options if option.kind == "reject_once")
    return next((option_id for option_id in no if _is_unique(option_id, permission)), None)


def _is_unique(option_id: str, permission: Permission) -> bool:
    """Whether the agent will know which option is meant."""
    return sum(option.option_id == option_id for option in permission.options) == 1


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
    return call.kind == "edit" and bool(call.diffs) and _harmless(call, roots)


def _harmless(call: ToolCall, roots: Roots) -> bool:
    """Whether it runs nothing, and names its paths, all of them within the roots."""
    paths = [location.path for location in call.locations] + [diff.path for diff in call.diffs]
    named = named_paths(call.raw_input, roots.all, edits=call.kind == "edit")
    # A terminal, a diff without its text, whatever another version of the protocol brings.
    more = call.terminal_ids or any(isinstance(item, UnknownContent) for item in call.content)
    if not paths or named is None or more:
        return False
    return all(roots.holds(path) for path in (*paths, *named))
