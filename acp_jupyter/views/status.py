"""How a session stands, as text and as a table; see https://agentclientprotocol.com/protocol/session-setup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_jupyter.model.content import as_text
from acp_jupyter.views import look, words
from acp_jupyter.views.look import QUIET, element

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acp_jupyter.model.turn import Turn

_TASK = 120  # characters of a prompt's first line


def status_text(rows: Sequence[tuple[str, str]], notes: Sequence[str]) -> str:
    """Return the rows as lines, and the notes below them."""
    return "\n".join([*(f"{name:12}{words.visible(value)}" for name, value in rows), *notes])


def session_bundle(
    rows: Sequence[tuple[str, str]],
    notes: Sequence[str],
    turns: Sequence[Turn],
    clean: Callable[[str], str],
) -> dict[str, str]:
    """Return the MIME bundle of a session: how it stands, and a line for each of its turns.

    Args:
        rows: Names and values.
        notes: What is to be said below them.
        turns: The turns so far.
        clean: Takes secrets out of a text.
    """
    rows = [(name, clean(value)) for name, value in rows]
    notes = [clean(note) for note in notes]
    lines = [clean(turn_line(turn)) for turn in turns]
    text = "\n".join([status_text(rows, notes), *lines])
    cells = "".join(
        element(
            "tr", element("th", name, "text-align:left") + element("td", look.text(value), "text-align:left")
        )
        for name, value in rows
    )
    below = [element("div", look.text(note)) for note in notes]
    below += [element("div", look.text(line), QUIET) for line in lines]
    return {"text/html": element("table", element("tbody", cells)) + "".join(below), "text/plain": text}


def turn_line(turn: Turn) -> str:
    """Return a turn in one line: its number, the first line of its prompt, how it stands."""
    prompt = next((text for block in turn.prompt if (text := as_text(block.get("text")))), "")
    task = words.cut(prompt.strip().partition("\n")[0], _TASK)
    told = [words.visible(task), words.state(turn), words.lasted(turn)]
    return f"{turn.number}. " + " · ".join(filter(None, told))
