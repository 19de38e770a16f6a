"""A plain yes or no by ``input()``, before something that cannot be undone."""

from __future__ import annotations

from IPython.core.error import StdinNotImplementedError

from acp_jupyter.errors import UsageError
from acp_jupyter.kernel.front_end import input_allowed


def agreed(what: str) -> bool:
    """Say what is about to be done, and return whether a person has typed yes.

    Args:
        what: A sentence.

    Raises:
        UsageError: Nobody can be asked.
    """
    nobody = UsageError(
        f"nobody can be asked, so nothing was done: {what}", advice="With --yes nobody is asked."
    )
    if not input_allowed():
        raise nobody
    try:
        return input(f"{what} Type yes to do it: ").strip().lower() in {"y", "yes"}
    except (EOFError, OSError, StdinNotImplementedError):
        raise nobody from None
