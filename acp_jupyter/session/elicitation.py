"""What the agent asks a person for, forms and addresses: several open at once, each answered exactly once.

See https://agentclientprotocol.com/protocol/elicitation. No policy answers here: what nobody can be asked is
declined. An address is never opened nor fetched; to accept it is a person's consent to open it. The broker
runs on the loop thread; `PendingElicitation` is its face for every other thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from typing import TYPE_CHECKING, Any

from acp_jupyter.errors import ElicitationClosed, UsageError, ValuesRefused
from acp_jupyter.model import events
from acp_jupyter.model.address import address_of
from acp_jupyter.model.content import as_dict
from acp_jupyter.model.form import entered, faults
from acp_jupyter.wire.answers import INVALID_PARAMS, RequestError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from acp_jupyter.model.elicitation import Elicitation
    from acp_jupyter.model.form import Form
    from acp_jupyter.model.state import SessionState
    from acp_jupyter.model.turn import Turn
    from acp_jupyter.session.loop import LoopThread

_LONGEST_ID = 20
_ACTIONS = {"accepted": "accept", "declined": "decline", "cancelled": "cancel"}


class ElicitationBroker:
    """Keeps the open forms and addresses of a session and answers them.

    Args:
        state: The session's state, for reading.
        apply: Applies an event to it.
        attended: Whether somebody can be asked now about what a turn wants.
    """

    def __init__(
        self,
        state: SessionState,
        apply: Callable[[events.Event], None],
        attended: Callable[[Turn], bool],
    ) -> None:
        self._state = state
        self._apply = apply
        self._attended = attended
        self._own_requests = OwnRequests()
        self.see = self._own_requests.see
        self._keys = itertools.count(1)
        self._waiting: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._outside: set[str] = set()
        self._attending: set[object] = set()

    async def create(self, params: dict[str, Any]) -> dict[str, Any]:
        """Answer ``elicitation/create``: when somebody has decided, or because nobody can.

        Returns:
            ``{"action": "accept", "content"?}``, ``{"action": "decline"}`` or ``{"action": "cancel"}``.

        Raises:
            RequestError: It is malformed, or belongs to nothing.
        """
        self._check(params)
        key = f"e{next(self._keys)}"
        turn = self._turn_of(params)
        answer = asyncio.get_running_loop().create_future()
        self._waiting[key] = answer
        self._outside |= set() if turn else {key}
        try:
            self._apply(events.ElicitationAsked(key, params, outside=turn is None))
            self._answer_at_once(key, turn)
            return await answer
        except asyncio.CancelledError:
            # The agent withdrew its request, or is gone; what was decided before stands.
            decided = answer.done() and not answer.cancelled()
            return answer.result() if decided else {"action": "cancel"}
        finally:
            self._close(key, events.ElicitationClosed(key, "cancelled", "agent"))

    def complete(self, elicitation_id: str) -> None:
        """Take note that what was to be done at an address is done."""
        self._apply(events.ElicitationCompleted(elicitation_id))

    def _check(self, params: dict[str, Any]) -> None:
        if not isinstance(params.get("sessionId"), str) and not self._own_requests.is_open(
            params.get("requestId")
        ):
            raise RequestError(
                INVALID_PARAMS, "it needs a sessionId, or the requestId of an open request of ours"
            )
        if params["mode"] == "form":
            if not isinstance(params.get("requestedSchema"), dict):
                raise RequestError(INVALID_PARAMS, "requestedSchema must be an object")
            return
        url = params.get("url")
        if not isinstance(params.get("elicitationId"), str) or not isinstance(url, str):
            raise RequestError(INVALID_PARAMS, "elicitationId and url must be strings")
        if address_of(url) is None:
            text = "The agent asked you to open what is no plain web address; that was refused."
            self._apply(events.Noted(text, "warning"))
            raise RequestError(INVALID_PARAMS, "url must be a plain http or https address", {"url": url})

    def _turn_of(self, params: dict[str, Any]) -> Turn | None:
        """The turn that it is shown in: one that is over does not wait for what is about no session."""
        turn = self._state.turn
        of_session = isinstance(params.get("sessionId"), str)
        return turn if turn is not None and (of_session or not turn.ended) else None

    def _answer_at_once(self, key: str, turn: Turn | None) -> None:
        if turn is not None and (turn.ended or turn.cancel_requested):
            reason = "the turn was over"
            self._close(key, events.ElicitationClosed(key, "cancelled", "turn", reason=reason))
        elif not (self._attended(turn) if turn is not None else self._attending):
            self.decline_unasked(key)

    @contextlib.contextmanager
    def attending(self) -> Generator[None]:
        """While this lasts somebody can be asked outside of any turn, as during a log-in; from any thread."""
        token = object()
        self._attending.add(token)
        try:
            yield
        finally:
            self._attending.discard(token)

    # --- the answers

    def accept(self, key: str, content: Mapping[str, Any] | None = None) -> None:
        """Send the values of a form, or agree to open an address.

        Raises:
            ElicitationClosed: It was answered before, or has expired.
            ValuesRefused: Some of the values cannot be sent; it stays open.
            UsageError: Values were given for an address.
        """
        node = self._open(key)
        given = {name: value for name, value in (content or {}).items() if value is not None}
        if node.mode != "form":
            if given:
                raise UsageError("an address takes no values", advice="Accept it without any.")
            self._close(key, events.ElicitationClosed(key, "accepted", "you"))
            return
        self._refuse(key, faults(node.form, given))
        self._close(key, events.ElicitationClosed(key, "accepted", "you", given))

    def _refuse(self, key: str, found: dict[str, str]) -> None:
        if found:
            self._apply(events.ElicitationFaulted(key, found))
            raise ValuesRefused(found)

    def decline(self, key: str, by: str = "you", reason: str | None = None) -> None:
        """Say no.

        Raises:
            ElicitationClosed: It was answered before, or has expired.
        """
        self._open(key)
        self._close(key, events.ElicitationClosed(key, "declined", by, reason=reason))

    def cancel(self, key: str) -> None:
        """Put it away without an answer; otherwise as `decline`."""
        self._open(key)
        self._close(key, events.ElicitationClosed(key, "cancelled", "you"))

    def decline_unasked(self, key: str) -> None:
        """Decline because nobody can be asked, and say so."""
        what = "for values" if self._open(key).mode == "form" else "you to open an address"
        where = " outside of any turn" if key in self._outside else ""
        self.decline(key, "nobody", "run it where somebody can be asked")
        text = f"The agent asked {what}{where}, and nobody could be asked: declined."
        self._apply(events.Noted(text, "warning"))

    def answer(self, key: Any, action: Any, content: Any) -> None:
        """Answer as a card does: what comes late or malformed is ignored, what is wrong is told there."""
        with contextlib.suppress(ElicitationClosed, UsageError):
            if not isinstance(key, str):
                return
            if action == "accept":
                self._accept_entered(key, as_dict(content))
            elif action == "check":
                self._check_entered(key, as_dict(content))
            elif action == "decline":
                self.decline(key)
            elif action == "cancel":
                self.cancel(key)

    def _accept_entered(self, key: str, given: dict[str, Any]) -> None:
        form = self._open(key).form
        values, wrong = entered(form, given)
        if wrong:
            self._refuse(key, {**faults(form, values), **wrong})
        self.accept(key, values)

    def _check_entered(self, key: str, given: dict[str, Any]) -> None:
        """Tell what is wrong with what was entered so far: of other fields nobody has thought yet."""
        form = self._open(key).form
        values, wrong = entered(form, given)
        found = {**faults(form, values), **wrong}
        self._apply(events.ElicitationFaulted(key, {name: found[name] for name in given if name in found}))

    def close_all(self, reason: str) -> None:
        """Answer every open one of a turn with ``cancel``: the turn was cancelled, or is over."""
        for key in set(self._waiting) - self._outside:
            self._close(key, events.ElicitationClosed(key, "cancelled", "turn", reason=reason))

    def close_outside(self) -> None:
        """Decline what was asked outside of any turn, unless somebody still attends."""
        for key in list(self._outside):
            if not self._attending:
                self.decline_unasked(key)

    def open_ones(self) -> list[tuple[Turn | None, Elicitation]]:
        """Return those that wait for an answer, the oldest first; safe from any thread."""
        return [found for found in reversed(list(self._state.all_elicitations())) if found[1].state == "open"]

    def _open(self, key: str) -> Elicitation:
        found = self._state.find_elicitation(key)
        if found is None or found[1].state != "open":
            raise ElicitationClosed(f"{key} is not open any more", advice="It was answered, or has expired.")
        return found[1]

    def _close(self, key: str, event: events.ElicitationClosed) -> None:
        answer = self._waiting.pop(key, None)
        self._outside.discard(key)
        if answer is None:
            return
        self._apply(event)
        if not answer.done():
            content = {} if event.content is None else {"content": event.content}
            answer.set_result({"action": _ACTIONS[event.state], **content})


class OwnRequests:
    """Knows which of our own requests the agent has not answered yet: it may ask on behalf of one."""

    def __init__(self) -> None:
        self._open: set[Any] = set()

    def see(self, direction: str, message: Any) -> None:
        """Look at a message on the wire."""
        if not isinstance(message, dict) or "id" not in message:
            return
        request_id, method = message["id"], message.get("method")  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]  # any JSON
        if direction == "out" and method is not None:
            if method == "initialize":  # a connection begins, and counts anew
                self._open.clear()
            self._open.add(request_id)
        elif direction == "in" and method is None and isinstance(request_id, int | str):
            self._open.discard(_as_ours(request_id))

    def is_open(self, request_id: Any) -> bool:
        """Whether it is the id of such a request."""
        known = isinstance(request_id, int | str) and not isinstance(request_id, bool)
        return known and _as_ours(request_id) in self._open


def _as_ours(request_id: int | str) -> int | str:
    """Our ids are numbers; some agents send them back as text."""
    if isinstance(request_id, str) and request_id.isdecimal() and len(request_id) < _LONGEST_ID:
        return int(request_id)
    return request_id


class PendingElicitation:
    """An open form or address, answered by `accept`, `decline` or `cancel`, from any thread.

    ``turn`` is the one it is asked in, ``None`` outside of any.

    Each raises `ElicitationClosed` where it was answered before.
    """

    def __init__(
        self, elicitation: Elicitation, turn: Turn | None, broker: ElicitationBroker, loop: LoopThread
    ) -> None:
        self.elicitation = elicitation
        self.turn = turn
        self._broker = broker
        self._loop = loop

    @property
    def key(self) -> str:
        """Our own name for it, such as ``e1``."""
        return self.elicitation.key

    @property
    def message(self) -> str:
        """What the agent says about it."""
        return self.elicitation.message

    @property
    def form(self) -> Form:
        """The fields of a form; none for an address."""
        return self.elicitation.form

    @property
    def url(self) -> str | None:
        """The address, whole; ``None`` for a form."""
        return self.elicitation.url

    def accept(self, content: Mapping[str, Any] | None = None, /, **values: Any) -> None:
        """Send a form's values, or agree to open the address: it is yours to open.

        Args:
            content: Values by name; what is ``None`` or left out is not sent, defaults neither.
            values: The same, where the names are words of Python.

        Raises:
            ValuesRefused: Some cannot be sent, ``faults`` says which and why; it stays open.
        """
        self._do(self._broker.accept, {**(content or {}), **values})

    def decline(self) -> None:
        """Say no."""
        self._do(self._broker.decline)

    def cancel(self) -> None:
        """Put it away without an answer."""
        self._do(self._broker.cancel)

    def _do(self, function: Callable[..., None], *args: Any) -> None:
        async def on_loop() -> None:
            function(self.key, *args)

        self._loop.run(on_loop())

    def __repr__(self) -> str:
        asked = self.url or ", ".join(field.name for field in self.form.fields)
        return f"<PendingElicitation {self.key}: {self.elicitation.mode}; {asked}>"
