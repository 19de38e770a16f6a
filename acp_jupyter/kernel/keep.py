"""What of a turn a notebook keeps: without secrets, bounded, as the setting ``save`` has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_jupyter.model.redact import kept
from acp_jupyter.session.settings import settings
from acp_jupyter.views.bundle import saved_bundle
from acp_jupyter.views.words import agent

if TYPE_CHECKING:
    from acp_jupyter.model.redact import Redactor
    from acp_jupyter.model.turn import Turn


def bundle_to_keep(turn: Turn, redactor: Redactor) -> dict[str, Any]:
    """Return the MIME bundle for a cell's output; the session's lock is held.

    ``full`` keeps every value whole, ``bounded`` cuts large ones, ``text`` keeps the plain text alone,
    ``none`` a line. Secrets are in none of them.
    """
    wanted = settings()
    if wanted.save == "none":
        line = f"A turn of {agent(turn)} was here; the setting save = none keeps nothing of it."
        return {"text/plain": line}
    bundle = saved_bundle(kept(turn, redactor, None if wanted.save == "full" else wanted.save_limit))
    return {"text/plain": bundle["text/plain"]} if wanted.save == "text" else bundle
