"""A card's line to the turn that it shows: what it has not been told yet, and what a person does at it."""

from __future__ import annotations

import contextlib
import logging
import time
from typing import TYPE_CHECKING, Any

from acp_jupyter.views.deltas import Deltas, updates_message

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_jupyter.model.turn import Turn
    from acp_jupyter.session.session import Session

_log = logging.getLogger(__name__)


class Line:
    """Tells a card of its turn, as ``docs/turn-format.md`` has it, and hands on what the card answers.

    Args:
        turn: What the card shows.
        session: Whose turn it is; ``None`` for one that changes no more, and takes no answers.
        send: Sends the card a message, from the kernel's main thread or whatever thread serves the card.
        turn_id: The name of the turn on the page; by default its own.
        cancel: What the card's Stop does; by default it cancels the session's turn.
    """

    def __init__(
        self,
        turn: Turn,
        session: Session | None,
        send: Callable[[dict[str, Any]], None],
        *,
        turn_id: str | None = None,
        cancel: Callable[[], None] | None = None,
    ) -> None:
        self._turn = turn
        self._session = session
        self._lock = contextlib.nullcontext() if session is None else session.lock
        self._send = send
        self._deltas = Deltas(turn, turn_id)
        self._cancel = cancel
        self.ready = False

    def mark(self, node: tuple[Any, ...]) -> None:
        """Remember that a node has changed; the session's lock is held."""
        self._deltas.mark(node)

    def tell(self) -> None:
        """Tell what is new, if the card has said that it listens."""
        if not self.ready:
            return
        with self._lock:
            message = self._deltas.drain()
        if message is not None:
            self.send(message)

    def send(self, message: dict[str, Any]) -> None:
        """Send the card a message, if it can be."""
        try:
            self._send(message)
        except Exception:  # noqa: BLE001  # the edge: the turn goes on, and its record with it
            _log.debug("the card cannot be told", exc_info=True)

    def serve(self, message: dict[str, Any]) -> None:
        """Take a message of the card's: only hand over, for this may be any thread."""
        kind = message.get("type")
        if kind in {"ready", "resync"}:
            self.ready = True
            self._send_snapshot(unless=message.get("seq") if kind == "ready" else None)
        elif kind == "updates":
            self._send_updates(message.get("tool_call_id"))
        elif self._session is not None:
            self._on_hand(self._session, message)

    def _on_hand(self, session: Session, message: dict[str, Any]) -> None:
        """What a person has done at the card."""
        kind = message.get("type")
        if kind == "offers":
            with self._lock:
                told = {"type": "offers", "offers": session.offers}
            self.send(told)
        elif kind == "decide":
            key, option_id = message.get("key"), message.get("option_id")
            if isinstance(key, str) and "option_id" in message and isinstance(option_id, str | None):
                session.decide(key, option_id)
        elif kind == "elicit":
            session.elicit(message.get("key"), message.get("action"), message.get("content"))
        elif kind == "choose":
            option_id, value = message.get("option_id"), message.get("value")
            if "option_id" in message and isinstance(option_id, str | None) and isinstance(value, str):
                session.choose_at_card(option_id, value)
        elif kind == "stop_terminal":
            terminal_id = message.get("terminal_id")
            if isinstance(terminal_id, str):
                session.stop_terminal(terminal_id)
        elif kind == "cancel":
            (self._cancel or (lambda: session.cancel(self._turn)))()

    def _send_snapshot(self, *, unless: Any) -> None:
        """Send the whole document, unless the card has it up to the number ``unless``."""
        with self._lock:
            up_to_date = unless and unless == self._deltas.seq
            message = None if up_to_date else self._deltas.snapshot(time.time())
        if message is not None:
            self.send(message)

    def _send_updates(self, tool_call_id: Any) -> None:
        """Send the updates of a call: only to those who look at them, for a call may have thousands."""
        with self._lock:
            call = self._turn.tool_calls.get(tool_call_id) if isinstance(tool_call_id, str) else None
            message = None if call is None else updates_message(call)
        if message is not None:
            self.send(message)
