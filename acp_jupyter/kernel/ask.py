"""Asks a permission request by text, where no card can."""

from __future__ import annotations

from typing import TYPE_CHECKING

from IPython.core.error import StdinNotImplementedError
from IPython.core.getipython import get_ipython

from acp_jupyter.errors import PermissionClosed
from acp_jupyter.views.text import permission_text

if TYPE_CHECKING:
    from acp_jupyter.model.turn import Turn
    from acp_jupyter.session.permissions import PendingPermission


def ask(turn: Turn, pending: PendingPermission) -> bool:
    """Put the question and carry out the answer.

    Returns:
        False where there is no input: the front end allows none, or it has ended.
    """
    if not _input_allowed():
        return False
    print(permission_text(turn, pending.permission))  # noqa: T201  # the question
    count = len(pending.options)
    while True:
        try:
            answer = (
                input(f"1 to {count}, or c for none of them: " if count else "c to go on: ").strip().lower()
            )
        except (EOFError, OSError, StdinNotImplementedError):
            return False
        if answer == "c" or (answer.isdecimal() and 1 <= int(answer) <= count):
            _answer(pending, answer)
            return True
        print(f"{answer!r} is none of the answers.")  # noqa: T201  # ask again


def _input_allowed() -> bool:
    """Whether the front end takes input; it says so with each request to run a cell."""
    return bool(getattr(getattr(get_ipython(), "kernel", None), "_allow_stdin", True))


def _answer(pending: PendingPermission, answer: str) -> None:
    try:
        if answer == "c":
            pending.cancel()
        else:
            pending.select(pending.options[int(answer) - 1].option_id)
    except PermissionClosed as error:
        print(error)  # noqa: T201  # the person is to know that it was too late
