"""Joins a session's turn to the cell that runs it: what shows it, the waiting, the questions, its end.

Who answers a permission request that no policy answers, a form or an address: a person at the card; where no
card works, a person at ``input()``; where there is no input, nobody: a request is rejected, and the card says
what would have allowed it; a form or an address is declined.
"""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any, Protocol

from IPython.core.getipython import get_ipython
from IPython.display import (
    publish_display_data,  # pyright: ignore[reportUnknownVariableType]  # IPython types it loosely
)

from acp_jupyter.kernel.ask import ask, elicit_all
from acp_jupyter.kernel.card import Card
from acp_jupyter.kernel.front_end import front_end, in_kernel
from acp_jupyter.kernel.interrupts import Interrupts
from acp_jupyter.kernel.keep import answer_to_keep
from acp_jupyter.kernel.pump import waiter
from acp_jupyter.views.console import Console
from acp_jupyter.views.text import turn_markdown

if TYPE_CHECKING:
    from collections.abc import Generator

    from acp_jupyter.model.turn import Turn
    from acp_jupyter.session.run import TurnRun

# An interrupt comes back to the user within this, whether the agent has confirmed the cancel or not.
INTERRUPT_S = 1.5


class Interrupted(KeyboardInterrupt):
    """The cell was interrupted, or Stop was clicked: Run All stops."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows of it: not our own code."""
        return ["KeyboardInterrupt: the turn was cancelled; the session goes on with the next prompt."]


class _View(Protocol):
    """What shows a turn while it runs."""

    @property
    def unattended(self) -> bool:
        """Whether questions are to be asked by text."""
        ...

    def open(self) -> None:
        """Begin."""
        ...

    def flush(self, *, now: bool = False) -> None:
        """Show what is new; ``now``, however short ago it last did."""
        ...

    def finish(self) -> None:
        """Show what is left, and the end."""
        ...


def show(run: TurnRun, *, quiet: bool = False) -> Turn:
    """Show a turn while it runs, ask what is to be asked, and return it at its end.

    Raises:
        KeyboardInterrupt: The cell was interrupted, or Stop was clicked.
        AcpError: The turn could not be brought to its end.
    """
    register_display(get_ipython())
    view = _view(run, quiet=quiet)
    pump = waiter()
    run.on_done(pump.wake)
    with pump:
        try:
            view.open()
            pump.wait(lambda: _over(run), on_tick=lambda: _tick(view, run))
        except KeyboardInterrupt:
            run.cancel()
            # A second interrupt ends this wait; the turn is cancelled all the same.
            with contextlib.suppress(KeyboardInterrupt):
                pump.wait(lambda: _over(run), on_tick=view.flush)
        except BaseException:
            run.cancel()  # nobody sees this turn any more
            raise
        finally:
            with _uninterrupted():
                view.finish()
                front_end().showed(run.turn.turn_id, _execution_count())
    if run.done():
        run.result()
    if run.turn.cancel_requested:
        raise Interrupted
    return run.turn


def _view(run: TurnRun, *, quiet: bool) -> _View:
    if in_kernel() and not _in_a_cell():
        return _Hidden()
    if quiet:
        return _Quiet(run, rich=in_kernel())
    return Card(run) if in_kernel() else _Terminal(run)


def _over(run: TurnRun) -> bool:
    """Whether the turn has ended, or was cancelled and its agent takes too long to confirm it."""
    return run.done() or run.cancelled_for_s() > INTERRUPT_S


@contextlib.contextmanager
def _uninterrupted() -> Generator[None]:
    """Hold an interrupt back until the end of the block: the final card must reach the notebook."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with Interrupts() as interrupts, interrupts.held():
        yield


def _tick(view: _View, run: TurnRun) -> None:
    view.flush()
    for widget in list(front_end().following):
        widget.flush()
    if (run.turn.pending or run.turn.pending_elicitations) and view.unattended:
        view.flush(now=True)  # what is asked about stands above the question
        _ask_by_text(run)


def _ask_by_text(run: TurnRun) -> None:
    for pending in run.session.pending:
        if pending.permission.checking:  # it is asked when its files have been looked at
            continue
        if not ask(run, pending):
            run.session.reject_unasked(pending.key)
    elicit_all(run.session)


def _in_a_cell() -> bool:
    """Whether a display has a cell to go to: in a thread, ipykernel 7.0 knows of none."""
    try:
        get_ipython().get_parent()  # pyright: ignore[reportOptionalMemberAccess, reportAttributeAccessIssue, reportUnknownMemberType]  # a kernel's shell has it
    except LookupError:
        return False
    return True


class _Hidden:
    """Shows nothing."""

    unattended = True

    def open(self) -> None:
        """Nowhere."""

    def flush(self, *, now: bool = False) -> None:
        """Nowhere."""

    def finish(self) -> None:
        """Nowhere."""


class _Quiet:
    """Shows the agent's answer, at the end."""

    unattended = True

    def __init__(self, run: TurnRun, *, rich: bool) -> None:
        self._run = run
        self._rich = rich

    def open(self) -> None:
        """Nothing to show yet."""

    def flush(self, *, now: bool = False) -> None:
        """Nothing to show yet."""

    def finish(self) -> None:
        run = self._run
        if self._rich:
            with run.session.lock:
                bundle = answer_to_keep(run.turn, run.session.redactor, run.settings)
            publish_display_data(bundle)
        else:
            print(turn_markdown(run.turn))  # noqa: T201  # to a terminal, which keeps nothing


class _Terminal:
    """Tells a turn as text while it runs, in IPython without a kernel."""

    unattended = True

    def __init__(self, run: TurnRun) -> None:

        self._console = Console(run.turn)
        self._lock = run.session.lock

    def open(self) -> None:
        """Nothing to tell yet."""

    def flush(self, *, now: bool = False) -> None:  # noqa: ARG002  # it tells at once, always
        with self._lock:
            text = self._console.new()
        if text:
            print(text, end="", flush=True)  # noqa: T201  # the turn

    finish = flush


# --- exactly one card per cell


def _execution_count() -> int | None:
    return getattr(get_ipython(), "execution_count", None)


def register_display(shell: Any) -> None:
    """See that a turn which is the value of the very cell that showed it live is not shown again."""
    formatter = getattr(getattr(shell, "display_formatter", None), "ipython_display_formatter", None)
    if formatter is not None:
        formatter.for_type_by_name("acp_jupyter.model.turn", "Turn", _stay_silent)


def _stay_silent(turn: Turn) -> None:
    """Show nothing in the execution that showed the turn live; else IPython goes on to its MIME bundle."""
    if front_end().shown.get(turn.turn_id, -1) != _execution_count():
        raise NotImplementedError
