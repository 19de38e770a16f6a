"""What a cell's output holds for a turn, live and saved; ``docs/turn-format.md`` describes the document.

The document carries what came by https://agentclientprotocol.com/protocol/prompt-turn.
"""

from __future__ import annotations

import html
import logging
import math
import re
from typing import TYPE_CHECKING, Any, cast

from acp_jupyter.model.transcript import MIME, to_json
from acp_jupyter.views.html import turn_html
from acp_jupyter.views.text import turn_text

if TYPE_CHECKING:
    from acp_jupyter.model.turn import Turn

__all__ = ["MIME", "WIDGET_MIME", "saved_bundle", "widget_view"]

WIDGET_MIME = "application/vnd.jupyter.widget-view+json"
_log = logging.getLogger(__name__)
_SURROGATE = re.compile("[\ud800-\udfff]")


def saved_bundle(turn: Turn) -> dict[str, Any]:
    """Return the turn as document, HTML and text: strict JSON, fit for a notebook file."""
    text = turn_text(turn)
    bundle = {MIME: to_json(turn), "text/html": _html(turn, text), "text/plain": text}
    return cast("dict[str, Any]", _strict(bundle))


def _html(turn: Turn, text: str) -> str:
    """The turn as HTML: its plain text where that fails, for the document beside it must not be lost too."""
    try:
        return turn_html(turn)
    except Exception:  # noqa: BLE001  # the edge: an agent's Markdown goes through a parser that is not ours
        _log.debug("a turn cannot be made HTML", exc_info=True)
        return f'<pre style="white-space:pre-wrap">{html.escape(text)}</pre>'


def widget_view(model_id: str, turn_id: str) -> dict[str, Any]:
    """Return the view of the widget ``model_id``, to stand before the saved bundle while a turn runs.

    It names the turn, so that our JupyterLab extension knows it where no document stands beside it.
    """
    return {WIDGET_MIME: {"version_major": 2, "version_minor": 0, "model_id": model_id, "turn_id": turn_id}}


def _strict(value: Any) -> Any:
    """Return ``value`` as strict JSON that UTF-8 can carry: NaN by its name, a lone surrogate as U+FFFD."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value).replace("inf", "Infinity").replace("nan", "NaN")
    if isinstance(value, dict):
        return {_strict(str(key)): _strict(one) for key, one in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_strict(one) for one in cast("list[Any]", value)]
    return value
