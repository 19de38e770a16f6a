"""Asks a permission request by text, where no card can."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any

from IPython.core.error import StdinNotImplementedError

from acp_jupyter.errors import PermissionClosed
from acp_jupyter.kernel.front_end import input_allowed
from acp_jupyter.views.text import permission_text

if TYPE_CHECKING:
    from acp_jupyter.session.permissions import PendingPermission
    from acp_jupyter.session.run import TurnRun


def ask(run: TurnRun, pending: PendingPermission) -> bool:
    """Put the question and carry out the answer.

    Returns:
        False where there is no input: the front end allows none, or it has ended.
    """
    if not input_allowed():
        return False
    print(permission_text(run.turn, pending.permission))  # noqa: T201  # the question
    count = len(pending.options)
    prompt = f"1 to {count}, or c for none of them: " if count else "c to go on: "
    while True:
        try:
            answer = _Input(run, pending).read(prompt)
        except (EOFError, OSError, StdinNotImplementedError):
            return False
        if answer is None:
            print("The question was settled meanwhile.")  # noqa: T201  # so that nobody waits for it
            return True
        if answer == "c" or (answer.isdecimal() and 1 <= int(answer) <= count):
            _answer(pending, answer)
            return True
        print(f"{answer!r} is none of the answers.")  # noqa: T201  # ask again


class _Input:
    """``input()`` that ends when its question is settled otherwise: by a time-out, or a dead agent."""

    def __init__(self, run: TurnRun, pending: PendingPermission) -> None:
        self._run = run
        self._pending = pending
        self._lock = threading.Lock()
        self._reading = False
        self._settled = False

    def read(self, prompt: str) -> str | None:
        """Return the answer in lower case, or ``None`` where none is needed any more."""
        stop = self._run.session.listen(self._look, self._run.turn)
        # Python's own handler meanwhile: the pump's would bring back the interrupt that ends `input()`.
        in_main = threading.current_thread() is threading.main_thread()
        before = signal.signal(signal.SIGINT, signal.default_int_handler) if in_main else None
        try:
            with self._lock:
                self._reading = self._pending.permission.state == "open"
            answer = input(prompt).strip().lower() if self._reading else None
            with self._lock:
                self._reading = False
        except KeyboardInterrupt:
            if not self._settled:
                raise
            return None
        else:
            return answer
        finally:
            stop()
            if before is not None:
                signal.signal(signal.SIGINT, before)

    def _look(self, _changes: list[Any]) -> None:
        """Called on the loop's thread: only a signal ends ``input()`` in the main one."""
        with self._lock:
            if not self._reading or self._pending.permission.state == "open":
                return
            self._reading, self._settled = False, True
            ident = threading.main_thread().ident
            if ident is not None and hasattr(signal, "pthread_kill"):
                signal.pthread_kill(ident, signal.SIGINT)


def _answer(pending: PendingPermission, answer: str) -> None:
    try:
        if answer == "c":
            pending.cancel()
        else:
            pending.select(pending.options[int(answer) - 1].option_id)
    except PermissionClosed as error:
        print(error)  # noqa: T201  # the person is to know that it was too late
