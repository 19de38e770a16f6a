"""Who decides what an agent asks permission for: the caller's callback, or whoever resumes a held call.

See https://agentclientprotocol.com/protocol/tool-calls#requesting-permission.
"""

from __future__ import annotations

import asyncio
import inspect
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import ValidationError

from acp_jupyter.api.engine import engine
from acp_jupyter.api.errors import NotSuspended, PermissionCallbackFailed, PermissionSuspended
from acp_jupyter.api.schemas import PermissionRequest, ResumePayload
from acp_jupyter.errors import UsageError
from acp_jupyter.model.content import as_dict

if TYPE_CHECKING:
    from acp_jupyter.api.execution import Execution
    from acp_jupyter.model.turn import Turn
    from acp_jupyter.session.permissions import PendingPermission

Answer: TypeAlias = "Mapping[str, Any] | ResumePayload"
Callback: TypeAlias = "Callable[[PermissionRequest], Answer | Awaitable[Answer]]"


def first_option(request: PermissionRequest) -> dict[str, Any]:
    """Answer with the first option, whatever it means. Unsafe: it allows what nobody has looked at."""
    if not request.options:
        return {"outcome": {"outcome": "cancelled"}}
    return {"outcome": {"outcome": "selected", "optionId": request.options[0]["optionId"]}}


@dataclass
class _Held:
    """A call that waits for a decision."""

    execution: Execution
    asked: PendingPermission
    expiry: asyncio.TimerHandle | None = None


class Decisions:
    """Sees that what is asked is decided, and keeps the calls that wait for it.

    Args:
        callback: Decides; without it a call is held.
        timeout_s: How long a decision may take; then the turn is cancelled.
    """

    def __init__(self, callback: Callback | None, timeout_s: float) -> None:
        self._callback = callback
        self._timeout_s = timeout_s
        self._held: dict[str, _Held] = {}
        self._expired: asyncio.Future[None] | None = None

    async def attend(self, execution: Execution) -> Turn:
        """Wait for a call's end, and have decided what it asks meanwhile.

        Raises:
            PermissionSuspended: It asks, and there is no callback.
            AcpError: The turn could not be brought to its end.
        """
        try:
            while (asked := await execution.next_question()) is not None:
                if not asked.options:
                    await asked.answer(None)
                elif self._callback is None:
                    raise await self.hold(execution, asked)
                else:
                    await self._call_back(self._callback, execution, asked)
            return await execution.result()
        except (asyncio.CancelledError, PermissionCallbackFailed):
            await execution.give_up()
            raise

    async def resume(self, run_id: str, option_id: str | None, outcome: str) -> Execution:
        """Answer what a call waits for, and return it: it goes on.

        Raises:
            NotSuspended: It was resumed before, has expired, or never was.
            UsageError: The decision cannot be taken; the call still waits.
        """
        held = self._held.get(run_id)
        if held is None or held.execution.ended.done():
            raise NotSuspended(
                f"run {run_id!r} does not wait for a decision",
                advice="It was resumed before, or its time was over and it was cancelled.",
            )
        chosen = _decision({"outcome": outcome, "optionId": option_id})
        _check_offered(chosen, held.asked)
        del self._held[run_id]
        await engine().on_loop(_stop_expiry(held))
        await held.asked.answer(chosen)
        return held.execution

    async def close(self) -> None:
        """Cancel the calls that wait for a decision."""
        held, self._held = list(self._held.values()), {}
        await asyncio.gather(*(one.execution.give_up() for one in held))

    async def hold(self, execution: Execution, asked: PendingPermission) -> PermissionSuspended:
        """Keep a call until somebody decides, and return what tells so."""
        return await engine().on_loop(self._hold(execution, asked))

    async def _hold(self, execution: Execution, asked: PendingPermission) -> PermissionSuspended:
        run_id, held = uuid.uuid4().hex, _Held(execution, asked)

        def expire() -> None:
            if self._held.pop(run_id, None) is not None:
                self._expired = asyncio.ensure_future(execution.give_up())  # the loop holds tasks weakly

        held.expiry = asyncio.get_running_loop().call_later(self._timeout_s, expire)
        self._held[run_id] = held
        _request, payload = execution.question(asked)
        return PermissionSuspended(payload, run_id, self._timeout_s)

    async def _call_back(self, callback: Callback, execution: Execution, asked: PendingPermission) -> None:
        request, _payload = execution.question(asked)
        calling = asyncio.ensure_future(_called(callback, request))
        ending = asyncio.ensure_future(execution.wait())
        try:
            await asyncio.wait(
                [calling, ending], timeout=self._timeout_s, return_when=asyncio.FIRST_COMPLETED
            )
            if ending.done():  # the agent is gone, or has withdrawn: nobody waits for the answer
                return
            if not calling.done():
                raise asyncio.TimeoutError  # noqa: TRY301  # told with those that the callback raises
            answer = calling.result()
        except asyncio.TimeoutError as error:
            raise PermissionCallbackFailed(
                f"on_permission_request gave no answer within {self._timeout_s:g} s",
                advice="The request was answered `cancelled`.",
            ) from error
        except Exception as error:
            raise PermissionCallbackFailed(
                f"on_permission_request raised {type(error).__name__}: {error}",
                advice="The request was answered `cancelled`.",
            ) from error
        finally:
            calling.cancel()
            ending.cancel()
        try:
            chosen = _decision(answer)
            _check_offered(chosen, asked)
        except UsageError as error:
            raise PermissionCallbackFailed(
                f"on_permission_request gave an answer that cannot be used: {error.message}",
                advice="The request was answered `cancelled`.",
            ) from error
        await asked.answer(chosen)


async def _called(callback: Callback, request: PermissionRequest) -> Answer:
    """Call it on the caller's loop where it is async, else in a thread: one that hangs holds up nothing."""
    answer = callback(request) if _is_async(callback) else await asyncio.to_thread(callback, request)
    return await answer if inspect.isawaitable(answer) else answer


def _is_async(callback: Callback) -> bool:
    return inspect.iscoroutinefunction(callback) or inspect.iscoroutinefunction(type(callback).__call__)


def _decision(answer: Any) -> str | None:
    """Return the chosen option; ``None`` for cancelled. The page's nested form is taken too."""
    if isinstance(answer, ResumePayload):
        return answer.option_id
    given = as_dict(answer)
    nested = as_dict(given.get("outcome"))
    try:
        return ResumePayload.model_validate(nested or given).option_id
    except ValidationError as error:
        told = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'it'}: {one['msg']}" for one in error.errors())
        raise UsageError(f"not a decision: {told}") from error


def _check_offered(option_id: str | None, asked: PendingPermission) -> None:
    offered = [option.option_id for option in asked.permission.offered]
    if option_id is not None and option_id not in offered:
        raise UsageError(
            f"the agent did not offer {option_id!r}", advice=f"It offers: {', '.join(offered) or 'none'}."
        )


async def _stop_expiry(held: _Held) -> None:
    if held.expiry is not None:
        held.expiry.cancel()
