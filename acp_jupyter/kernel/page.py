"""What only our JupyterLab extension can do, on the page that runs the cell: the kernel asks for it."""

from __future__ import annotations

from typing import Any

from IPython.core.getipython import get_ipython

from acp_jupyter.kernel.front_end import input_allowed


def tell_page(what: str, data: dict[str, Any]) -> bool:
    """Ask the page that runs this cell for something.

    Args:
        what: ``terminal`` or ``input``; the page knows it as a comm's target.
        data: What it needs to know for that.

    Returns:
        Whether a page was asked. What it does is not known: another front end, or one without our
        extension, does nothing.
    """
    if not hasattr(get_ipython(), "kernel") or not input_allowed():
        return False
    from ipykernel.comm import Comm  # noqa: PLC0415  # only a kernel needs it, and has it

    Comm(target_name=f"acp_jupyter.{what}", data=data)  # the page closes it
    return True
