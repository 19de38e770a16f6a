"""What ``%acp`` prints about agents and sessions."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from acp_jupyter.kernel.status import status
from acp_jupyter.views import status as views

if TYPE_CHECKING:
    from pathlib import Path

    from acp_jupyter.session.agent_files import Found
    from acp_jupyter.session.agent_spec import AgentSpec
    from acp_jupyter.session.session import Session
    from acp_jupyter.session.sessions import Sessions


def agents_text(sessions: Sessions) -> str:
    """Return the table of agents, with what to type next."""
    current = sessions.current.name if sessions.current else None
    lines = ["agents found here:" if current else "no agent was chosen yet; found here:"]
    missing: list[str] = []
    for spec in sessions.agents.all():
        if spec.on_path:
            mark = "*" if spec.name == current else " "
            lines.append(f" {mark} {spec.name:12} {spec.shown:14} {_command(spec.command, spec.args)}")
        else:
            missing.append(
                f"   {spec.name:12} {spec.shown:14} {spec.install or _command(spec.command, spec.args)}"
            )
    if missing:
        lines += ["known, but not on PATH:", *missing]
    if sessions.agents.problem:
        lines.append(f"Left out: {sessions.agents.problem}")
    before = [] if current else sessions.remembered_agents()
    if before:
        lines.append(f"this notebook had sessions with: {', '.join(before)}; %acp use NAME, then %acp resume")
    return "\n".join([*lines, "start one with its name: %%acp demo"])


def taken_text(found: Found, taken: list[AgentSpec], saved_in: Path | None) -> str:
    """Return what was found in a file or a registry, and what of it is known now."""
    names = {spec.name for spec in taken}
    lines = [
        f" {'+' if spec.name in names else ' '} {spec.name:20} {_command(spec.command, spec.args)}"
        for spec in found.specs
    ]
    lines += [f"   left out: {why}" for why in found.left_out]
    where = f", and saved in {saved_in}" if saved_in and taken else ""
    lines.append(f"{len(taken)} of {len(found.specs)} added (+){where}; one that was known keeps its place.")
    return "\n".join(lines)


def _command(command: str, args: tuple[str, ...]) -> str:
    return " ".join([os.path.basename(command), *args])  # noqa: PTH119  # a name, or a path of another system


def status_text(session: Session) -> str:
    """Return what there is to say about a session."""
    return views.status_text(*status(session))
