"""Completion of ``%acp`` and ``%%acp`` by IPython's own hook."""

from __future__ import annotations

from typing import Any

from acp_jupyter.magics import parser

_VALUES = {"--approve": ["ask", "reject", "read", "edits", "allow-once-all"]}
_KEYS = ("%acp", "%%acp")


def register(shell: Any) -> None:
    """Complete the two magics in an IPython shell."""
    for key in _KEYS:
        shell.set_hook("complete_command", _complete, str_key=key)


def unregister(shell: Any) -> None:
    """Take the completion away again."""
    for key in _KEYS:
        shell.strdispatchers["complete_command"].strs.pop(key, None)


def _complete(_shell: Any, event: Any) -> list[str]:
    return candidates(event.line, event.symbol)


def candidates(line: str, symbol: str) -> list[str]:
    """Return what may stand at the end of ``line``, where ``symbol`` was begun."""
    before = line[: len(line) - len(symbol)].split() if symbol else line.split()
    offered = _for_cell(before[1:]) if line.lstrip().startswith("%%") else _for_line(before[1:])
    return [one for one in offered if one.startswith(symbol)]


def _for_cell(before: list[str]) -> list[str]:
    if before and before[-1] in _VALUES:
        return _VALUES[before[-1]]
    return [*(_agents() if not before else []), *parser.options(None)]


def _for_line(before: list[str]) -> list[str]:
    if not before:
        return parser.commands()
    if before[0] in {"use", "remove"}:
        return _agents()
    return parser.options(before[0])


def _agents() -> list[str]:
    from acp_jupyter.kernel.sessions import sessions  # noqa: PLC0415  # only completion of a name needs it

    return [spec.name for spec in sessions().agents.all()]
