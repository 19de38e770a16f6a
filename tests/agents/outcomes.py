"""What a turn with a real agent came to, as a row of the table in ``docs/agents.md``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .support import ROOT, called

if TYPE_CHECKING:
    from acp_jupyter.model.turn import Turn
    from acp_jupyter.session.session import Session

TABLE = ROOT / "docs/agents.md"
NOTHING = "–"  # noqa: RUF001  # a dash, as print has it


def row(session: Session, turn: Turn, scenario: str) -> str:
    """Return the row for a turn that is over."""
    cells = (
        f"{turn.agent.name} {turn.agent.version}",
        scenario,
        f"`{turn.stop_reason}`",
        _offered(turn),
        _diff(turn),
        _done_by(session, turn),
        ", ".join(f"`{call.shown_status}`" for call in turn.tool_calls) or NOTHING,
    )
    return f"| {' | '.join(cells)} |"


def documented() -> list[str]:
    """Return the lines of the documentation."""
    return TABLE.read_text("utf-8").splitlines()


def _offered(turn: Turn) -> str:
    if not turn.tool_calls:
        return NOTHING
    kinds = [option.kind for permission in turn.permissions.values() for option in permission.options]
    return ", ".join(kinds) or "not asked"


def _diff(turn: Turn) -> str:
    if not any(call.kind == "edit" for call in turn.tool_calls):
        return NOTHING
    if any(call.diffs for call in turn.tool_calls):
        return "yes"
    once = any(permission.asked and permission.asked.diffs for permission in turn.permissions.values())
    return "when asked" if once else "no"


def _done_by(session: Session, turn: Turn) -> str:
    if called(session, "fs/write_text_file"):
        return "our `fs`"
    if turn.terminals:
        return "our `terminal`"
    ran = any(permission.option and not permission.rejected for permission in turn.permissions.values())
    unasked = bool(turn.tool_calls) and not turn.permissions
    return "the agent" if ran or unasked else NOTHING
