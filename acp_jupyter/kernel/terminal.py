"""JupyterLab's own terminal, for a command that a person is to run: the page opens it, and types it in."""

from __future__ import annotations

from acp_jupyter.kernel.page import tell_page


def type_into_terminal(line: str) -> bool:
    """Ask the page that runs this cell for a terminal with a line typed in; a person presses Enter.

    Args:
        line: A shell's command line; one with control characters the page leaves alone.

    Returns:
        Whether a page was asked.
    """
    return tell_page("terminal", {"line": line})
