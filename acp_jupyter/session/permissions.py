"""Permission requests: one object a request, several open at once, each answered exactly once.

See https://agentclientprotocol.com/protocol/tool-calls#requesting-permission. The broker runs on the loop
thread; `PendingPermission` is its face for every other thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from typing import TYPE_CHECKING, Any

from acp_jupyter.errors import PermissionClosed, UsageError
from acp_jupyter.model import events
from acp_jupyter.model.request_warnings import RequestWarning
from acp_jupyter.session import policy as policies
from acp_jupyter.session.compared import compare, old_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_jupyter.model.state import SessionState
    from acp_jupyter.model.tool_call import Permission, PermissionOption, ToolCall
    from acp_jupyter.model.turn import Turn
    from acp_jupyter.session.gate import ClientRequest
    from acp_jupyter.session.loop import LoopThread
    from acp_jupyter.session.roots import Roots

_log = logging.getLogger(__name__)

# The files of a request are looked at for so long; its card takes no answer meanwhile.
_CHECK_S = 2.0
_YES_OR_NO = [
    {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
    {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
]


class PermissionBroker:
    """Keeps the open requests of a session and answers them.

    Args:
        state: The session's state, for reading.
        apply: Applies an event to it.
        roots: The session's directories now.
        attended: Whether somebody can be asked now about what a turn wants.
        answer_s: How long a person has for an answer, in seconds; ``None`` is for ever.
        cancel: Cancels a turn.
    """

    def __init__(  # noqa: PLR0913  # one place makes it
        self,
        state: SessionState,
        apply: Callable[[events.Event], None],
        roots: Callable[[], Roots],
        attended: Callable[[Turn], bool],
        *,
        answer_s: Callable[[], float | None],
        cancel: Callable[[Turn], None],
    ) -> None:
        self._state = state
        self._apply = apply
        self._roots = roots
        self._attended = attended
        self._answer_s = answer_s
        self._cancel = cancel
        self._keys = itertools.count(1)
        self._client_keys = itertools.count(1)
        self._for_persons: set[str] = set()
        self._waiting: dict[str, asyncio.Future[dict[str, Any]]] = {}

    async def ask(self, params: dict[str, Any]) -> dict[str, Any]:
        """Answer ``session/request_permission``: by the turn's policy, or when somebody decides.

        Returns:
            The protocol's outcome: ``{"outcome": "selected", "optionId": ...}``, or ``cancelled`` alone.
        """
        return await self._ask(params, check=True)

    async def _ask(self, params: dict[str, Any], *, check: bool) -> dict[str, Any]:
        key = f"p{next(self._keys)}"
        answer = asyncio.get_running_loop().create_future()
        self._waiting[key] = answer
        checking = asyncio.ensure_future(self._check(key))  # not before what follows
        try:
            self._apply(events.PermissionAsked(key, params, check=check))
            self._answer_at_once(key)
            return await answer
        except asyncio.CancelledError:
            # The agent withdrew its request, or is gone; what was decided before stands.
            decided = answer.done() and not answer.cancelled()
            return answer.result() if decided else {"outcome": "cancelled"}
        finally:
            checking.cancel()
            self._close(key, events.PermissionClosed(key, "cancelled", "agent"))

    async def _check(self, key: str) -> None:
        """Look at the files of a request that waits for a person, who is told before an answer is taken."""
        found = self._state.find_permission(key)
        if found is None or not found[1].checking or found[1].asked is None:
            return
        looking = asyncio.to_thread(compare, found[1].asked, self._roots())
        try:
            told = await asyncio.wait_for(looking, _CHECK_S)
        except asyncio.TimeoutError:
            told = [RequestWarning("unchecked", f"Its files could not be looked at within {_CHECK_S:g} s.")]
        except Exception:  # noqa: BLE001  # the edge: a request that cannot be checked is asked all the same
            _log.exception("the files of a request cannot be looked at")
            told = [RequestWarning("unchecked", "Its files could not be looked at: see the kernel's log.")]
        self._apply(events.PermissionChecked(key, tuple(told)))

    async def consent(self, request: ClientRequest) -> bool:
        """Ask for a yes to what the agent asks us to do: as if it had asked for permission itself."""
        key = f"client-{next(self._client_keys)}"
        call: dict[str, Any] = {"toolCallId": key, "title": request.title, "kind": request.kind}
        if request.path is not None:
            call["locations"] = [{"path": request.path}]
        if request.command is not None:
            call["rawInput"] = {"command": request.command}
        if request.path is not None and request.new_text is not None:
            # what a secret file holds is not to stand on a card
            old = None if request.secret else await asyncio.to_thread(old_text, request.path, self._roots())
            diff = {"type": "diff", "path": request.path, "oldText": old, "newText": request.new_text}
            call["content"] = [diff]
        self._for_persons |= {key} if request.secret else set()
        outcome = await self._ask({"toolCall": call, "options": _YES_OR_NO}, check=False)
        return outcome.get("optionId") == "allow"

    def _answer_at_once(self, key: str) -> None:
        found = self._state.find_permission(key)
        if found is None:  # no turn has ever been: nobody to ask
            self._close(key, events.PermissionClosed(key, "cancelled", "nobody"))
            return
        turn, permission = found
        if turn.ended or turn.cancel_requested:
            self._close(key, events.PermissionClosed(key, "cancelled", "turn", reason="the turn was over"))
            return
        decision = self._decision(turn.policy, turn, permission)
        if decision is not None:
            self._select(key, decision.option_id, "policy", decision.reason)
        elif not self._attended(turn):
            self.reject_unasked(key)
        elif (seconds := self._answer_s()) is not None:
            asyncio.get_running_loop().call_later(seconds, self._expire, key, seconds)

    def _expire(self, key: str, seconds: float) -> None:
        """Say no where no answer came in time; where only ``cancelled`` says no, the turn is cancelled."""
        found = self._state.find_permission(key)
        if found is None or found[1].state != "open":
            return
        turn, permission = found
        no = policies.rejection(permission)
        self._select(key, no, "time_limit", f"no answer within {seconds:g} s")
        if no is None:
            self._cancel(turn)

    def _decision(self, policy: str, turn: Turn, permission: Permission) -> policies.Decision | None:
        """What a policy says to a request; a policy is given to a turn, so it allows no other turn's call."""
        call = turn.tool_calls[permission.tool_call_id]
        if permission.tool_call_id in self._for_persons and policy != "reject":
            return None
        if policy != "reject" and any(other is not turn for other in self._state.turns_with(call)):
            return None
        return policies.decide(policy, permission, call, self._roots())

    def decide(self, key: str, option_id: str | None, by: str = "you", reason: str | None = None) -> None:
        """Select an option, or answer ``cancelled`` where ``option_id`` is ``None``.

        Raises:
            PermissionClosed: It was answered before, or has expired.
            UsageError: The agent did not offer that option.
        """
        permission = self._open(key)
        if option_id is not None and all(option.option_id != option_id for option in permission.options):
            offered = ", ".join(option.option_id for option in permission.options) or "none"
            raise UsageError(f"the agent did not offer {option_id!r}", advice=f"It offers: {offered}.")
        self._select(key, option_id, by, reason)

    def reject(self, key: str, by: str = "you", reason: str | None = None) -> None:
        """Say no just this time: by the agent's own option where it has one, else with ``cancelled``."""
        self._select(key, policies.rejection(self._open(key)), by, reason)

    def reject_unasked(self, key: str) -> None:
        """Reject because nobody can be asked, and say what would have allowed it."""
        permission = self._open(key)
        turn, _ = self._state.find_permission(key) or (None, None)
        allowing = turn and next(
            (policy for policy in policies.ALLOWING if self._decision(policy, turn, permission)), None
        )
        advice = (
            f"the policy {allowing} would allow it: --approve {allowing}"
            if allowing
            else "no policy would allow it"
        )
        if allowing == policies.ALLOWING[-1]:
            advice += ", which allows everything: for throw-away copies"
        self.reject(key, "nobody", advice)

    def close_all(self, reason: str) -> None:
        """Answer every open request with ``cancelled``: the turn was cancelled, or is over."""
        for key in list(self._waiting):
            self._close(key, events.PermissionClosed(key, "cancelled", "turn", reason=reason))

    def _open(self, key: str) -> Permission:
        found = self._state.find_permission(key)
        if found is None or found[1].state != "open":
            raise PermissionClosed(
                f"request {key} is not open any more", advice="`%acp pending` lists the open ones."
            )
        return found[1]

    def _select(self, key: str, option_id: str | None, by: str, reason: str | None) -> None:
        state = "cancelled" if option_id is None else "selected"
        self._close(key, events.PermissionClosed(key, state, by, option_id, reason))

    def _close(self, key: str, event: events.PermissionClosed) -> None:
        answer = self._waiting.pop(key, None)
        if answer is None:
            return
        self._apply(event)
        if not answer.done():
            selected = {"outcome": "selected", "optionId": event.option_id}
            answer.set_result(selected if event.state == "selected" else {"outcome": "cancelled"})


class PendingPermission:
    """An open permission request, answered by `select`, `allow_once`, `reject` or `cancel`, from any thread.

    Raises `PermissionClosed` where it was answered before.
    """

    def __init__(
        self, permission: Permission, call: ToolCall, broker: PermissionBroker, loop: LoopThread
    ) -> None:
        self.permission = permission
        self.tool_call = call
        self._broker = broker
        self._loop = loop

    @property
    def key(self) -> str:
        """Our own name for the request, such as ``p1``."""
        return self.permission.key

    @property
    def options(self) -> tuple[PermissionOption, ...]:
        """What the agent offers, in its order."""
        return self.permission.options

    async def answer(self, option_id: str | None) -> None:
        """Select an option, or none by ``None``, from any loop; one that is closed by now stays as it is.

        Raises:
            UsageError: The agent did not offer that option.
        """

        async def on_loop() -> None:
            with contextlib.suppress(PermissionClosed):
                self._broker.decide(self.key, option_id)

        await asyncio.wrap_future(self._loop.submit(on_loop()))

    def select(self, option_id: str) -> None:
        """Select one of the `options`."""
        self._do(self._broker.decide, option_id)

    def allow_once(self) -> None:
        """Select the only option that allows it this time.

        Raises:
            UsageError: There is none, or more than one: use `select`.
        """
        once = [option.option_id for option in self.options if option.kind == "allow_once"]
        if len(once) != 1:
            offered = ", ".join(f"{o.option_id} ({o.kind})" for o in self.options) or "none"
            raise UsageError(
                f"the agent offers {len(once)} options of kind allow_once",
                advice=f"Select one of: {offered}.",
            )
        self.select(once[0])

    def reject(self) -> None:
        """Say no just this time."""
        self._do(self._broker.reject)

    def cancel(self) -> None:
        """Answer ``cancelled``: no option is selected."""
        self._do(self._broker.decide, None)

    def _do(self, function: Callable[..., None], *args: Any) -> None:
        async def on_loop() -> None:
            function(self.key, *args)

        self._loop.run(on_loop())

    def __repr__(self) -> str:
        offered = ", ".join(option.option_id for option in self.options)
        return f"<PendingPermission {self.key}: {self.tool_call.kind}; options {offered}>"
