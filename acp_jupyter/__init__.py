"""A notebook client of the Agent Client Protocol: coding agents in a cell, live, asked and inspected.

Everything is imported at its first use, so that ``%load_ext acp_jupyter`` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_jupyter.model.shown import Shown as _Shown  # imports nothing else

if TYPE_CHECKING:
    from acp_jupyter.kernel.sessions import get_session
    from acp_jupyter.kernel.widgets import DiffWidget, PermissionWidget, TurnWidget
    from acp_jupyter.model.diff import Diff
    from acp_jupyter.model.tool_call import ToolCall
    from acp_jupyter.model.turn import Turn
    from acp_jupyter.session.session import Session

__all__ = [
    "Diff",
    "DiffWidget",
    "PermissionWidget",
    "Session",
    "ToolCall",
    "Turn",
    "TurnWidget",
    "get_session",
    "load_ipython_extension",
    "unload_ipython_extension",
]

_PLACES = {
    "Diff": "acp_jupyter.model.diff",
    "DiffWidget": "acp_jupyter.kernel.widgets",
    "PermissionWidget": "acp_jupyter.kernel.widgets",
    "Session": "acp_jupyter.session.session",
    "ToolCall": "acp_jupyter.model.tool_call",
    "Turn": "acp_jupyter.model.turn",
    "TurnWidget": "acp_jupyter.kernel.widgets",
    "get_session": "acp_jupyter.kernel.sessions",
}


def _drawn(value: Any) -> dict[str, Any]:
    from acp_jupyter.kernel.display import bundle  # noqa: PLC0415  # the first value that is shown pays for it

    return bundle(value)


_Shown.draw = _drawn  # here, since this runs before any part of the package and stands above all of them


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415  # everything here is imported at its first use

    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_PLACES])


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext acp_jupyter``: register ``%%acp`` and ``%acp``; starts no process, patches nothing."""
    from acp_jupyter.magics import load  # noqa: PLC0415  # `import acp_jupyter` alone needs no IPython

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """``%unload_ext acp_jupyter``: take the magics away and end every agent."""
    from acp_jupyter.magics import unload  # noqa: PLC0415  # as above

    unload(shell)
