"""What ``%acp`` prints about agents and sessions."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from acp_jupyter.session.settings import settings

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
    roots, here = session.roots, _kernels_directory()
    where = roots.cwd if roots else f"{here} (when it starts)"
    lines = [
        f"agent       {session.name} ({session.spec.shown})",
        f"process     {f'running, pid {session.pid}' if session.pid else 'not running'}",
        f"session     {session.session_id or 'not started: the first prompt does it'}",
        f"directory   {where}",
        *(f"            {path}" for path in (roots.additional if roots else ())),
        f"policy      {_policy(session)}",
        f"turns       {len(session.turns)}{', one is running' if session.running else ''}",
        f"waiting     {len(session.pending)} requests, {len(session.pending_elicitations)} forms, addresses",
    ]
    if roots is not None and os.path.realpath(roots.cwd) != os.path.realpath(here):
        lines.append(
            f"The kernel is in {here} by now; the session stays where it started. "
            "`%acp new` begins one there."
        )
    return "\n".join(lines)


def _policy(session: Session) -> str:
    """The policy, and where it is from where nobody in the notebook has set it."""
    standing = settings(session.cwd)
    return standing.described("policy") if session.policy == standing.policy else session.policy


def _kernels_directory() -> str:
    try:
        return os.getcwd()  # noqa: PTH109  # the kernel's own, as it is
    except FileNotFoundError:
        return "a directory that is gone"
