"""The messages on the wire, shown: as lines of text, and as HTML whose rows open.

See https://agentclientprotocol.com/protocol/overview.
"""

from __future__ import annotations

import html
import json
import time
from typing import TYPE_CHECKING

from acp_jupyter.model.messages import short
from acp_jupyter.views.words import visible

if TYPE_CHECKING:
    from acp_jupyter.model.log import Log, Row

_HEAD = ("time", "", "method", "id", "bytes", "")
_LONGEST = 4_000  # characters of a message's JSON


def log_bundle(log: Log) -> dict[str, str]:
    """Return the MIME bundle of a log."""
    return {"text/html": log_html(log), "text/plain": log_text(log)}


def log_text(log: Log) -> str:
    """Return the log's last rows, a line for each."""
    return "\n".join([*map(visible, _notes(log)), *map(_line, _shown(log))])


def log_html(log: Log) -> str:
    """Return the log's last rows as a table; each opens to the message's JSON."""
    notes = "".join(f"<p>{html.escape(visible(note))}</p>" for note in _notes(log))
    head = "".join(f'<th style="text-align:left">{name}</th>' for name in _HEAD)
    rows = "".join(map(_html_row, _shown(log)))
    return f"{notes}<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _shown(log: Log) -> Log:
    return log[max(len(log) - log.shown, 0) :]


def _notes(log: Log) -> list[str]:
    if not log:
        return [*log.notes, "No message is here."]
    if len(log) <= log.shown:
        return list(log.notes)
    return [*log.notes, f"The last {log.shown:,} of {len(log):,} messages; --last {len(log)} shows all."]


def _cells(row: Row) -> list[str]:
    at = time.strftime("%H:%M:%S", time.localtime(row.at)) + f".{int(row.at % 1 * 1000):03d}"
    arrow = "<-" if row.direction == "in" else "->"
    method = short(("answer to " if row.kind == "response" else "") + (row.method or "?"))
    request_id = "" if row.id is None else short(str(row.id))
    return [at, arrow, method, request_id, f"{row.size:,}", row.summary]


def _line(row: Row) -> str:
    at, arrow, method, request_id, size, said = _cells(row)
    return f"{at} {arrow} {method:<36} {request_id:>4} {size:>9}  {said}".rstrip()


def _html_row(row: Row) -> str:
    *first, said = map(html.escape, _cells(row))
    text = json.dumps(row.message, indent=2, ensure_ascii=False)
    more = f"\n… {len(text) - _LONGEST:,} more characters" if len(text) > _LONGEST else ""
    whole = f'<pre style="text-align:left">{html.escape(text[:_LONGEST] + more)}</pre>'
    cells = [*first, f"<details><summary>{said}</summary>{whole}</details>"]
    return f"<tr>{''.join(map(_cell, cells))}</tr>"


def _cell(content: str) -> str:
    return f'<td style="text-align:left;vertical-align:top">{content}</td>'
