"""The one output of a turn in its cell: the live card, or what stands for it, in the end the saved one."""

from __future__ import annotations

import logging
import sys
import time
import uuid
from typing import TYPE_CHECKING, Any

from IPython.display import (
    publish_display_data,  # pyright: ignore[reportUnknownVariableType]  # IPython types it loosely
)

from acp_jupyter.kernel.front_end import front_end, when_idle
from acp_jupyter.kernel.keep import bundle_to_keep
from acp_jupyter.kernel.line import Line
from acp_jupyter.kernel.pump import follow_front_end_subshell
from acp_jupyter.views.bundle import MIME, widget_view

if TYPE_CHECKING:
    from acp_jupyter.model.state import Change
    from acp_jupyter.session.run import TurnRun
    from acp_jupyter.views.widget import CardWidget

_LATE_S = 0.2
_PUBLISH_S = 1.0
# Calls that end together are written together: each time the page draws the whole card anew.
_SETTLE_S = 0.4
# A long turn is published whole each time: at most a twentieth of the time goes into it.
_PUBLISH_SHARE = 20
_log = logging.getLogger(__name__)


class Card:
    """Shows a turn in the cell that runs, by a widget where one works, and writes it into the cell's output.

    The output is written anew now and then, so that a file that was saved in mid-turn, or a kernel that died,
    leaves what was received: with a widget when a tool call ends and when a permission request is opened or
    decided, without one whenever something has changed.
    """

    def __init__(self, run: TurnRun) -> None:
        self._run = run
        self._turn = run.turn
        self._session = run.session
        self._line = Line(run.turn, run.session, self._send, cancel=run.cancel)
        self._display_id = f"acp-{uuid.uuid4().hex}"
        self._widget: CardWidget | None = None
        self._opened_at = 0.0
        self._shown = False
        self._stands = False
        self._cleared = False
        self._written_by_page = False
        self._finished = False
        self._due = False
        self._urgent = False
        self._states: dict[str, str] = {}
        self._next_publish = self._next_urgent = 0.0
        self._late_scheduled = False
        self._late_s = _LATE_S
        self._unlisten = self._session.listen(self._changed, run.turn)

    def open(self) -> None:
        """Show the card in the cell that runs."""
        front_end().standing = self._run.settings.ask
        if front_end().may_draw:
            self._make_widget()
        self._opened_at = time.monotonic()
        self._publish()

    @property
    def unattended(self) -> bool:
        """Whether nobody will ever click on this card."""
        if self._widget is None:
            return True
        if not self._line.ready and front_end().unlikely:
            self._give_up()
        elif self._widget.comm is None:  # somebody has closed all widgets
            self._widget = None
            self._publish()
        return self._widget is None

    def flush(self, *, now: bool = False) -> None:
        """Show what is new; ``now``, however short ago the output was last written."""
        if self._cleared:
            self._show_again()
        self._tell()
        waited_s = time.monotonic() - self._opened_at
        if self._widget is not None and not self._line.ready and front_end().given_up(waited_s):
            self._give_up()
        if self._due and (
            now or time.monotonic() > (self._next_urgent if self._urgent else self._next_publish)
        ):
            self._publish()

    def finish(self) -> None:
        """Replace what was live by the saved card, in place."""
        self._tell()
        self._finished = True
        self._shown = self._shown and not self._cleared
        self._publish()
        # not yet: the agent may add to it after its end, and a reloaded page may still show the widget
        front_end().retire(self._end)

    def _end(self) -> None:
        self._unlisten()
        if self._widget is not None:
            self._widget.end()

    def _make_widget(self) -> None:
        try:
            self._widget = front_end().make(self._turn.turn_id, self._on_message)
            follow_front_end_subshell(self._widget.comm)
        except ModuleNotFoundError as error:
            front_end().lacks(error.name or str(error))
        except Exception as error:  # noqa: BLE001  # the edge: what widgets may raise must not cost the turn
            _log.debug("the card cannot be made", exc_info=True)
            print(f"The card cannot be live ({error}): questions come by text.", file=sys.stderr)  # noqa: T201  # to the user

    def _give_up(self) -> None:
        """Go on without the widget: what stands beside it is shown in its place, and goes on."""
        if self._widget is not None:
            front_end().retire(self._widget.end)
        self._widget = None
        front_end().not_answered()
        self._publish()

    def _show_again(self) -> None:
        """The output was cleared: show it anew, and wait for it; it has answered before, so it can."""
        self._cleared = self._stands = self._shown = False
        self._publish()

    def _tell(self) -> None:
        if self._widget is not None:
            self._line.tell()

    def _send(self, message: dict[str, Any]) -> None:
        if self._widget is not None:
            self._widget.tell(message)

    def _publish(self) -> None:
        begun = time.monotonic()
        self._due = self._urgent = False
        bundle = self._bundle()
        if self._written_by_page:
            self._hand_over(bundle)
        publish_display_data(bundle, transient={"display_id": self._display_id}, update=self._shown)
        self._shown = True
        now = time.monotonic()
        self._next_urgent = now + _PUBLISH_SHARE * (now - begun)
        self._next_publish = max(self._next_urgent, now + _PUBLISH_S)

    def _bundle(self) -> dict[str, Any]:
        with self._session.lock:
            kept = bundle_to_keep(self._turn, self._session.redactor, self._run.settings)
        if self._finished:
            return kept
        if self._widget is None:
            if MIME in kept:
                kept[MIME]["by_text"] = True
            return kept
        return {**widget_view(self._widget.model_id, self._turn.turn_id), **kept}

    def _hand_over(self, bundle: dict[str, Any]) -> None:
        """Give a page what its file is to hold: it writes it itself where updates do not arrive."""
        self._line.send({"type": "bundle", "data": bundle})

    def _on_message(self, message: dict[str, Any]) -> None:
        """Serve the card: only hand over, for this may be any thread."""
        kind = message.get("type")
        if kind == "cleared":
            # of several views that went, the first one to say so counts, until the card has answered again
            self._cleared = self._stands
        elif kind == "bundle":
            self._written_by_page = True
            self._hand_over(self._bundle())
        else:
            if kind in {"ready", "resync"}:
                self._stands = True
                self._cleared = False  # a view stands again: its cell was moved, or its deletion undone
                front_end().answered()
            self._line.serve(message)

    def _changed(self, changes: list[Change]) -> None:
        """Called on the loop's thread, with the session's lock held."""
        for change in changes:
            self._line.mark(change.node)
            self._weigh(change.node)
        if self._finished:
            self._show_late()

    def _weigh(self, node: tuple[Any, ...]) -> None:
        """Note whether the output is to be written anew for this."""
        where, key = node if len(node) == 2 else ("", "")  # noqa: PLR2004  # kind and key
        if where in {"permissions", "elicitations"}:
            asked = self._turn.permissions if where == "permissions" else self._turn.elicitations
            state = asked[key].state
            changed = self._states.get(key) != state
            self._states[key] = state
            self._due = self._due or changed
            # a person is to see at once what is asked
            self._urgent = self._urgent or (changed and state == "open")
        elif self._widget is None:
            self._due = True
        elif where == "tool_calls" and self._turn.tool_calls[str(key)].finished:
            if not self._due:
                self._next_publish = max(self._next_publish, time.monotonic() + _SETTLE_S)
            self._due = True

    def _show_late(self) -> None:
        """What comes after the end is shown when the kernel is idle again, in the card of its own turn."""
        if self._late_scheduled:
            return
        self._late_scheduled = True
        when_idle(self._late_s, self._publish_late)

    def _publish_late(self) -> None:
        self._late_scheduled = False
        begun = time.monotonic()
        self._tell()  # where a reloaded page still shows the live card
        self._publish()
        self._late_s = max(_LATE_S, _PUBLISH_SHARE * (time.monotonic() - begun))
