"""``%%acp`` and ``%acp``: they parse the line, call the floor below, and nothing else.

Only what IPython has loaded itself is imported here; the rest waits for its first use, so that loading costs
nothing. What stands in the line is taken as it stands: no ``{expression}`` is filled in.
"""

from __future__ import annotations

import sys
from typing import Any

from IPython.core.magic import no_var_expand

from acp_jupyter.magics import completion, parser


def load(shell: Any) -> None:
    """Register the magics and their completion with an IPython shell."""
    shell.register_magic_function(_cell_magic(shell), "cell", "acp")
    shell.register_magic_function(_line_magic(shell), "line", "acp")
    completion.register(shell)
    shell.input_transformers_cleanup.insert(0, _with_a_body)


def unload(shell: Any) -> None:
    """Take everything back that `load` registered, and end the agents."""
    for kind in ("cell", "line"):
        shell.magics_manager.magics[kind].pop("acp", None)
    completion.unregister(shell)
    shell.input_transformers_cleanup[:] = [
        one for one in shell.input_transformers_cleanup if one is not _with_a_body
    ]
    kernel = sys.modules.get("acp_jupyter.kernel.sessions")
    if kernel is not None:  # never used: nothing was started
        kernel.sessions().stop_all()


def _with_a_body(lines: list[str]) -> list[str]:
    """Give ``%%acp`` alone a body: IPython would take it for a mistyped line magic, also with ``--help``."""
    return [*lines, "\n"] if len(lines) == 1 and lines[0].startswith("%%acp") else lines


# IPython leaves it out where it asks whether a cell is complete: in a terminal Enter goes on to the body.
_with_a_body.has_side_effects = True  # type: ignore[attr-defined]


def _cell_magic(shell: Any) -> Any:
    def acp(line: str, cell: str) -> Any:
        from acp_jupyter.magics.cell import run_cell  # noqa: PLC0415  # the first prompt pays for it

        return run_cell(shell, line, cell)

    acp.__doc__ = parser.cell_help()
    return no_var_expand(acp)


def _line_magic(shell: Any) -> Any:
    def acp(line: str) -> Any:
        from acp_jupyter.magics.commands import run_line  # noqa: PLC0415  # as above

        return run_line(shell, line)

    acp.__doc__ = parser.line_help()
    return no_var_expand(acp)
