"""What a cell's output holds for a turn, live and saved; ``docs/turn-format.md`` describes the document.

The document carries what came by https://agentclientprotocol.com/protocol/prompt-turn.
"""

from __future__ import annotations

import html
import logging
import math
import re
from typing import TYPE_CHECKING, Any, cast

from acp_jupyter.model.diff import Diff
from acp_jupyter.model.tool_call import Terminal, ToolCalls
from acp_jupyter.model.transcript import MIME, to_json
from acp_jupyter.views.html import calls_html, diff_html, items_html, turn_html
from acp_jupyter.views.text import calls_text, diff_text, fenced, items_text, turn_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_jupyter.model.turn import Turn

__all__ = ["MIME", "WIDGET_MIME", "part_bundle", "saved_bundle", "widget_view"]

WIDGET_MIME = "application/vnd.jupyter.widget-view+json"
_log = logging.getLogger(__name__)
_SURROGATE = re.compile("[\ud800-\udfff]")


def saved_bundle(turn: Turn) -> dict[str, Any]:
    """Return the turn as document, HTML and text: strict JSON, fit for a notebook file."""
    text = turn_text(turn)
    bundle = {MIME: to_json(turn), "text/html": _html(turn, text, turn_html), "text/plain": text}
    return cast("dict[str, Any]", _strict(bundle))


def part_bundle(turn: Turn, kind: type) -> dict[str, Any]:
    """Return a part of a turn as HTML and text, and in a fence as Markdown where it is a text itself.

    In other places than a fence a front end would fetch the pictures that the agent's words name.

    Args:
        turn: It holds the part alone, see `acp_jupyter.model.excerpt`.
        kind: The part's class.
    """
    text = _TEXTS.get(kind, items_text)(turn)
    bundle = {"text/html": _html(turn, text, _PAGES.get(kind, items_html))}
    bundle |= {"text/markdown": fenced(text, _FENCES[kind])} if kind in _FENCES else {}
    return cast("dict[str, Any]", _strict({**bundle, "text/plain": text}))


_TEXTS = {ToolCalls: calls_text, Diff: diff_text}
_PAGES = {ToolCalls: calls_html, Diff: diff_html}
_FENCES = {Diff: "diff", Terminal: "text"}


def _html(turn: Turn, text: str, page: Callable[[Turn], str]) -> str:
    """The turn as HTML: its plain text where that fails, for the document beside it must not be lost too."""
    try:
        return page(turn)
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
