"""What there is to say about a session, as rows of a table."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_jupyter.session.session import Session


def status(session: Session) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the rows, each a name and a value, and what is to be said below them."""
    roots, here = session.roots, _kernels_directory()
    rows = [
        ("agent", f"{session.name} ({session.spec.shown})"),
        ("process", f"running, pid {session.pid}" if session.pid else "not running"),
        ("session", session.session_id or "not started: the first prompt does it"),
        ("directory", roots.cwd if roots else f"{here} (when it starts)"),
        *(("", path) for path in (roots.additional if roots else ())),
        ("policy", session.policy_told),
        ("turns", f"{len(session.turns)}{', one is running' if session.running else ''}"),
        (
            "waiting",
            f"{len(session.pending)} requests, {len(session.pending_elicitations)} forms, addresses",
        ),
    ]
    moved = roots is not None and os.path.realpath(roots.cwd) != os.path.realpath(here)
    note = f"The kernel is in {here} by now; the session stays where it started. `%acp new` begins one there."
    return rows, [note] if moved else []


def _kernels_directory() -> str:
    try:
        return os.getcwd()  # noqa: PTH109  # the kernel's own, as it is
    except FileNotFoundError:
        return "a directory that is gone"
