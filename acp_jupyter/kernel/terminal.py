"""JupyterLab's own terminal, for a command that a person is to run: the page opens it, and types it in."""

from __future__ import annotations

from IPython.core.getipython import get_ipython

from acp_jupyter.kernel.front_end import input_allowed

_TARGET = "acp_jupyter.terminal"


def type_into_terminal(line: str) -> bool:
    """Ask the page that runs this cell for a terminal with a line typed in; a person presses Enter.

    Args:
        line: A shell's command line; one with control characters the page leaves alone.

    Returns:
        Whether a page was asked. What it does is not known: another front end, or one without our
        extension, does nothing.
    """
    if not hasattr(get_ipython(), "kernel") or not input_allowed():
        return False
    from ipykernel.comm import Comm  # noqa: PLC0415  # only a kernel needs it, and has it

    Comm(target_name=_TARGET, data={"line": line})  # the page closes it
    return True
