"""Joins a session's turn to the cell that runs it: the card, the waiting, the questions, the final output.

Who answers a permission request that no policy answers: a person at the card; where no card has said that
it is ready within `READY_S` (one wait a kernel), a person at ``input()``; where there is no input, nobody:
the request is rejected, and the card says what would have allowed it.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
import time
import uuid
from collections import deque
from functools import cache
from typing import TYPE_CHECKING, Any

from IPython.core.getipython import get_ipython
from IPython.display import (
    publish_display_data,  # pyright: ignore[reportUnknownVariableType]  # IPython types it loosely
)

from acp_jupyter.kernel.ask import ask
from acp_jupyter.kernel.interrupts import Interrupts
from acp_jupyter.kernel.pump import follow_front_end_subshell, waiter
from acp_jupyter.views.bundle import live_bundle, saved_bundle
from acp_jupyter.views.deltas import Deltas
from acp_jupyter.views.markdown import markdown_html
from acp_jupyter.views.text import turn_markdown, turn_text

if TYPE_CHECKING:
    from collections.abc import Generator

    from acp_jupyter.model.state import Change
    from acp_jupyter.model.turn import Turn
    from acp_jupyter.session.session import TurnRun

READY_S = 8.0
# An interrupt comes back to the user within this, whether the agent has confirmed the cancel or not.
INTERRUPT_S = 1.5
_LATE_S = 0.2
_RETIRED = 20
_log = logging.getLogger(__name__)


class Interrupted(KeyboardInterrupt):
    """The cell was interrupted, or Stop was clicked: Run All stops."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows of it: not our own code."""
        return ["KeyboardInterrupt: the turn was cancelled; the session goes on with the next prompt."]


class FrontEnd:
    """What this kernel knows of whoever looks at it; ``shown``: in which execution a turn was shown live."""

    def __init__(self) -> None:
        self.ready = False
        self.waited = False
        self.shown: dict[str, int | None] = {}
        self._cards: Any = None
        self._retired: deque[Any] = deque()

    def retire(self, widget: Any) -> None:
        """Keep the widget of an ended card for a while: a page that was reloaded may still show it."""
        self._retired.append(widget)
        if len(self._retired) > _RETIRED:
            oldest = self._retired.popleft()
            oldest.layout.close()
            oldest.close()

    @property
    def may_be_there(self) -> bool:
        """Whether a card that is not ready yet may still become so."""
        return self.ready or not self.waited

    def cards(self) -> Any:
        """Return the maker of cards; widgets are imported with the first one."""
        if self._cards is None:
            from acp_jupyter.views.widget import Cards  # noqa: PLC0415  # 45 ms that only the first card pays

            self._cards = Cards()
        return self._cards


@cache
def front_end() -> FrontEnd:
    """Return the kernel's one `FrontEnd`."""
    return FrontEnd()


def show(run: TurnRun, *, quiet: bool = False) -> Turn:
    """Show a turn while it runs, ask what is to be asked, and return it at its end.

    Raises:
        KeyboardInterrupt: The cell was interrupted, or Stop was clicked.
        AcpError: The turn could not be brought to its end.
    """
    shell = get_ipython()
    in_kernel = getattr(shell, "kernel", None) is not None
    register_display(shell)
    card: Card | Silent = Silent()
    pump = waiter()
    run.on_done(pump.wake)
    with pump:
        try:
            card = _card(run) if in_kernel and not quiet else card
            pump.wait(lambda: _over(run), on_tick=lambda: _tick(card, run))
        except KeyboardInterrupt:
            run.cancel()
            # A second interrupt ends this wait; the turn is cancelled all the same.
            with contextlib.suppress(KeyboardInterrupt):
                pump.wait(lambda: _over(run), on_tick=card.flush)
        except BaseException:
            run.cancel()  # nobody sees this turn any more
            raise
        finally:
            with _uninterrupted():
                card.finish()
                front_end().shown[run.turn.turn_id] = _execution_count()
    if isinstance(card, Silent):
        _show_plainly(run.turn, quiet=quiet, rich=in_kernel)
    if run.done():
        run.result()
    if run.turn.cancel_requested:
        raise Interrupted
    return run.turn


def _over(run: TurnRun) -> bool:
    """Whether the turn has ended, or was cancelled and its agent takes too long to confirm it."""
    return run.done() or run.cancelled_for_s() > INTERRUPT_S


def _card(run: TurnRun) -> Card | Silent:
    """Open the card; where it cannot be made, say so and go on by text."""
    card = Card(run)
    try:
        card.open()
    except Exception as error:  # noqa: BLE001  # the edge: what widgets may raise must not cost the turn
        _log.exception("the card cannot be made")
        print(f"The card cannot be shown ({error}): questions come by text.", file=sys.stderr)  # noqa: T201  # to the user
        return Silent()
    return card


@contextlib.contextmanager
def _uninterrupted() -> Generator[None]:
    """Hold an interrupt back until the end of the block: the final card must reach the notebook."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with Interrupts() as interrupts, interrupts.held():
        yield


def _tick(card: Card | Silent, run: TurnRun) -> None:
    card.flush()
    if run.turn.pending and card.unattended:
        _ask_by_text(run)


def _ask_by_text(run: TurnRun) -> None:
    for pending in run.session.pending:
        if not ask(run, pending):
            run.session.reject_unasked(pending.key)


def _show_plainly(turn: Turn, *, quiet: bool, rich: bool) -> None:
    if quiet and rich:
        # Not `IPython.display.Markdown`: a front end would fetch the pictures that the agent names.
        answer = turn_markdown(turn)
        publish_display_data({"text/html": markdown_html(answer), "text/plain": answer})
    else:
        print(turn_markdown(turn) if quiet else turn_text(turn))  # noqa: T201  # the cell's output


class Silent:
    """Shows nothing while the turn runs; questions are asked by text."""

    unattended = True

    def flush(self) -> None:
        """Nothing to tell."""

    def finish(self) -> None:
        """Nothing to end."""


class Card:
    """The live card of one turn, replaced by the saved one at its end."""

    def __init__(self, run: TurnRun) -> None:
        self._run = run
        self._turn = run.turn
        self._session = run.session
        self._deltas = Deltas(run.turn)
        self._display_id = f"acp-{uuid.uuid4().hex}"
        self._widget: Any = None
        self._opened_at = 0.0
        self._ready = False
        self._finished = False
        self._late_scheduled = False
        self._late_s = _LATE_S
        self._session.listen(self._changed, run.turn)  # for ever: the agent may add to it long after its end

    @property
    def unattended(self) -> bool:
        """Whether nobody will ever click on this card."""
        if self._widget.comm is None:  # somebody has closed all widgets
            return True
        if self._ready:
            return False
        if front_end().may_be_there and time.monotonic() - self._opened_at < READY_S:
            return False
        front_end().waited, front_end().ready = True, False
        return True

    def open(self) -> None:
        """Show the card in the cell that runs."""
        self._widget = front_end().cards().make(self._turn.turn_id, self._on_message)
        follow_front_end_subshell(self._widget.comm)
        self._opened_at = time.monotonic()
        with self._session.lock:
            bundle = live_bundle(self._turn, self._widget.model_id)
        self._publish(bundle, update=False)

    def flush(self) -> None:
        """Tell the card what is new, if it listens."""
        if not self._ready or self._widget is None:
            return
        with self._session.lock:
            message = self._deltas.drain()
        if message is not None:
            self._widget.send(message)

    def finish(self) -> None:
        """Replace the live card by the saved one, in place."""
        if self._widget is None:
            return
        self.flush()
        self._finished = True
        self._publish_saved()
        front_end().retire(self._widget)

    def _publish_saved(self) -> None:
        with self._session.lock:
            bundle = saved_bundle(self._turn)
        self._publish(bundle, update=True)

    def _publish(self, bundle: dict[str, Any], *, update: bool) -> None:
        publish_display_data(bundle, transient={"display_id": self._display_id}, update=update)

    def _on_message(self, message: dict[str, Any]) -> None:
        """Serve the card: only hand over, for this may be any thread."""
        kind = message.get("type")
        if kind in {"ready", "resync"}:
            self._ready = front_end().ready = True
            with self._session.lock:
                snapshot = self._deltas.snapshot(time.time())
            self._widget.send(snapshot)
        elif kind == "decide":
            key, option_id = message.get("key"), message.get("option_id")
            if isinstance(key, str) and isinstance(option_id, str):
                self._session.decide(key, option_id)
        elif kind == "cancel":
            self._run.cancel()

    def _changed(self, changes: list[Change]) -> None:
        """Called on the loop's thread, with the session's lock held."""
        for change in changes:
            self._deltas.mark(change.node)
        if self._finished:
            self._show_late()

    def _show_late(self) -> None:
        """What comes after the end is shown when the kernel is idle again, in the card of its own turn."""
        if self._late_scheduled:
            return
        self._late_scheduled = True
        kernel = getattr(get_ipython(), "kernel", None)
        loop = getattr(kernel, "io_loop", None)
        if loop is not None:
            loop.add_callback(loop.call_later, self._late_s, self._publish_late)

    def _publish_late(self) -> None:
        self._late_scheduled = False
        begun = time.monotonic()
        self.flush()  # where a reloaded page still shows the live card
        self._publish_saved()
        # A long turn is published whole each time: at most a twentieth of the time goes into it.
        self._late_s = max(_LATE_S, 20 * (time.monotonic() - begun))


# --- exactly one card per cell


def _execution_count() -> int | None:
    return getattr(get_ipython(), "execution_count", None)


def register_display(shell: Any) -> None:
    """Let turns be displayed by `display_turn` where they are a cell's value."""
    formatter = getattr(getattr(shell, "display_formatter", None), "ipython_display_formatter", None)
    if formatter is not None:
        formatter.for_type_by_name("acp_jupyter.model.turn", "Turn", display_turn)


def display_turn(turn: Turn) -> None:
    """Show a turn as a cell's value: nothing in the execution that showed it live, else the saved card."""
    if front_end().shown.get(turn.turn_id, -1) != _execution_count():
        publish_display_data(saved_bundle(turn))
