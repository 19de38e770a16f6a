"""What of a turn a notebook keeps: without secrets, bounded, as the setting ``save`` has it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from acp_jupyter.model.excerpt import excerpt
from acp_jupyter.model.redact import kept
from acp_jupyter.model.turn import Turn
from acp_jupyter.views.bundle import part_bundle, saved_bundle
from acp_jupyter.views.html import history_html
from acp_jupyter.views.markdown import markdown_html
from acp_jupyter.views.text import turn_markdown, turn_text
from acp_jupyter.views.words import agent

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_jupyter.model.excerpt import Part
    from acp_jupyter.model.redact import Redactor
    from acp_jupyter.session.settings import Settings

_log = logging.getLogger(__name__)


def bundle_to_keep(turn: Turn, redactor: Redactor, wanted: Settings) -> dict[str, Any]:
    """Return the MIME bundle for a cell's output; the session's lock is held.

    ``full`` keeps every value whole, ``bounded`` cuts large ones, ``text`` keeps the plain text alone,
    ``none`` a line. Secrets are in none of them. It never fails: what cannot be made is left out, and said.
    """
    return _kept(turn, redactor, wanted, saved_bundle)


def part_to_keep(part: Part, redactor: Redactor, wanted: Settings) -> dict[str, Any]:
    """Return the same of a turn or of a part of one, where that is a cell's value."""
    if isinstance(part, Turn):
        return bundle_to_keep(part, redactor, wanted)
    return _kept(excerpt(part), redactor, wanted, lambda turn: part_bundle(turn, type(part)))


def answer_to_keep(turn: Turn, redactor: Redactor, wanted: Settings) -> dict[str, Any]:
    """Return the same of the agent's answer alone."""
    return _kept(turn, redactor, wanted, _answer)


def history_to_keep(history: list[Turn], redactor: Redactor, wanted: Settings) -> dict[str, Any]:
    """Return the same of the turns that an agent has told from its memory."""
    parts = [_kept(turn, redactor, wanted, _told) for turn in history]
    text = "\n\n".join(part["text/plain"] for part in parts)
    html = [part["text/html"] for part in parts if "text/html" in part]
    return {"text/html": "".join(html), "text/plain": text} if html else {"text/plain": text}


def _kept(
    turn: Turn, redactor: Redactor, wanted: Settings, make: Callable[[Turn], dict[str, Any]]
) -> dict[str, Any]:
    if wanted.save == "none":
        line = f"A turn of {agent(turn)} was here; the setting save = none keeps nothing of it."
        return {"text/plain": redactor.text(line)}
    try:
        bundle = make(_copy(turn, redactor, wanted))
    except Exception as error:  # noqa: BLE001  # the edge: what came of a turn must not be lost with its card
        _log.debug("a turn cannot be written", exc_info=True)
        return {"text/plain": _what_can_be_said(turn, redactor, wanted, error)}
    return {"text/plain": bundle["text/plain"]} if wanted.save == "text" else bundle


def _copy(turn: Turn, redactor: Redactor, wanted: Settings) -> Turn:
    if wanted.save == "full":
        return kept(turn, redactor, None)
    return kept(turn, redactor, wanted.save_limit, wanted.save_total)


def _what_can_be_said(turn: Turn, redactor: Redactor, wanted: Settings, error: Exception) -> str:
    answer = redactor.text(turn.text)
    more = "" if len(answer) <= wanted.save_limit else "\n…"
    what = f"This turn could not be written here ({type(error).__name__}); Python has all of it. Its answer:"
    return f"{what}\n{answer[: wanted.save_limit]}{more}"


def _answer(turn: Turn) -> dict[str, Any]:
    # Not `IPython.display.Markdown`: a front end would fetch the pictures that the agent names.
    answer = turn_markdown(turn)
    return {"text/html": markdown_html(answer), "text/plain": answer}


def _told(turn: Turn) -> dict[str, Any]:
    return {"text/html": history_html([turn]), "text/plain": turn_text(turn)}
