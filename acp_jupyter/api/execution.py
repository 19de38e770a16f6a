"""One call under way: a turn, which may be held while somebody decides.

See https://agentclientprotocol.com/protocol/prompt-turn.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from acp_jupyter.api.schemas import OfferedOption, PermissionRequest, PermissionShown, SuspendPayload
from acp_jupyter.model.content import as_dict
from acp_jupyter.session.choices import Choices

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence
    from contextlib import AbstractAsyncContextManager

    from acp_jupyter.api.engine import Engine
    from acp_jupyter.model.turn import Turn
    from acp_jupyter.session.permissions import PendingPermission
    from acp_jupyter.session.run import TurnRun
    from acp_jupyter.session.session import Session

CANCEL_S = 10.0


class Execution:
    """A call under way. It is played on the engine's loop to its end, whoever still waits for it.

    Args:
        engine: The loop that it is played on.
        session: Where it is played.
        around: What surrounds the turn, on the loop: what comes before the prompt, and what is put away.
        kill: Awaited on the loop where the agent does not end the turn when it is asked to.
        model: The model to choose.
    """

    def __init__(  # each is named at the call
        self,
        engine: Engine,
        session: Session,
        *,
        around: Callable[[], AbstractAsyncContextManager[None]],
        kill: Callable[[], Coroutine[Any, Any, None]],
        model: str | None = None,
    ) -> None:
        self.session = session
        self._engine = engine
        self._around = around
        self._kill = kill
        self._model = model
        self.run: TurnRun | None = None

    def start(self, prompt: str | Sequence[dict[str, Any]]) -> None:
        """Begin, and return at once."""
        self.ended = self._engine.loop.submit(self._to_its_end(prompt))

    async def result(self) -> Turn:
        """Wait for the end, with all that it leaves behind put away.

        Raises:
            AcpError: Why it could not be brought to its end.
        """
        return await asyncio.shield(asyncio.wrap_future(self.ended))

    def cancel(self) -> None:
        """Ask the agent to end the turn; safe from any thread."""
        self._engine.loop.call(self._cancel)

    def _cancel(self) -> None:
        if self.run is not None:
            self.run.cancel()
        else:  # it still logs in
            self.ended.cancel()

    async def give_up(self) -> None:
        """Cancel the turn and wait for its end, for at most 10 s; then the agent is not asked any more."""
        self.cancel()
        if not await self.wait(CANCEL_S):
            await self._engine.on_loop(self._kill())

    async def wait(self, timeout_s: float | None = None) -> bool:
        """Return whether it has ended, after so many seconds at the latest, however it ended."""
        ended = asyncio.wrap_future(self.ended)
        ended.add_done_callback(lambda done: done.cancelled() or done.exception())
        done, _ = await asyncio.wait([ended], timeout=timeout_s)
        return bool(done)

    def _told_before(self, asked: PendingPermission) -> dict[str, Any]:
        """What earlier updates have said of the call: a request need not repeat its arguments."""
        known = self.session.tool_calls.get(asked.permission.tool_call_id)
        told: dict[str, Any] = {}
        for update in known.updates if known is not None else ():
            told |= {key: value for key, value in update.items() if value is not None}
        told.pop("sessionUpdate", None)
        return told

    def question(self, asked: PendingPermission) -> tuple[PermissionRequest, SuspendPayload]:
        """Return what is asked, as it came and as the page's payload has it."""
        raw = asked.permission.request
        call = {**self._told_before(asked), **as_dict(raw.get("toolCall")), "title": asked.tool_call.title}
        options = [
            {"optionId": one.option_id, "name": one.name, "kind": one.kind}
            for one in asked.permission.offered
        ]
        request = {**raw, "sessionId": self.session.session_id, "toolCall": call, "options": options}
        shown = PermissionShown(
            title=asked.tool_call.title,
            options=tuple(OfferedOption(option_id=one["optionId"], name=one["name"]) for one in options),
        )
        return (
            PermissionRequest.model_validate(request),
            SuspendPayload(permission_request=shown, request=request),
        )

    async def _to_its_end(self, prompt: str | Sequence[dict[str, Any]]) -> Turn:
        async with self._around():
            self.run = self.session.start(prompt, choices=Choices(model=self._model), attended=True)
            return await self.run.wait()

    async def next_question(self) -> PendingPermission | None:
        """Wait until the agent asks something; ``None`` where the call has ended."""
        loop, changed = asyncio.get_running_loop(), asyncio.Event()

        def tell(_changes: object = None) -> None:
            with contextlib.suppress(RuntimeError):  # whoever waited is gone, with its loop
                loop.call_soon_threadsafe(changed.set)

        stop = self.session.listen(tell)
        self.ended.add_done_callback(tell)
        try:
            while not self.ended.done():
                changed.clear()
                for form in self.session.pending_elicitations:
                    self.session.decline_unasked(form.key)
                asked = next((one for one in self.pending if not one.permission.checking), None)
                if asked is not None:
                    return asked
                await changed.wait()
            return None
        finally:
            stop()

    @property
    def pending(self) -> list[PendingPermission]:
        """The requests of this call that wait for an answer."""
        run = self.run
        return [one for one in self.session.pending if run is not None and one.key in run.turn.permissions]
