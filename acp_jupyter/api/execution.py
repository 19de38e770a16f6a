"""One call of a tool: a turn in a session of its own, which may be held while somebody decides.

See https://agentclientprotocol.com/protocol/prompt-turn.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from acp_jupyter.api.schemas import OfferedOption, PermissionRequest, PermissionShown, SuspendPayload
from acp_jupyter.model.content import as_dict
from acp_jupyter.session.choices import Choices
from acp_jupyter.session.run import Limits
from acp_jupyter.session.session import Session

if TYPE_CHECKING:
    from acp_jupyter.api.engine import Engine
    from acp_jupyter.model.turn import Turn
    from acp_jupyter.session.host import Host
    from acp_jupyter.session.permissions import PendingPermission
    from acp_jupyter.session.roots import Roots
    from acp_jupyter.session.run import TurnRun

CANCEL_S = 10.0


class Execution:
    """A call under way. It is played on the engine's loop to its end, whoever still waits for it.

    Args:
        engine: The loop that it is played on.
        host: Its agent, which others may use too.
        roots: Where it works.
        auth_method_id: The log-in to use before the session is opened.
        model: The model to choose.
        alone: Whether the agent's process ends with it.
    """

    def __init__(  # noqa: PLR0913  # each is named at the call
        self,
        engine: Engine,
        host: Host,
        roots: Roots,
        *,
        auth_method_id: str | None = None,
        model: str | None = None,
        alone: bool,
    ) -> None:
        self.session = Session(
            host.spec,
            loop=engine.loop,
            watcher=engine.watcher,
            host=host,
            limits=Limits(start_s=host.start_s, cancel_grace_s=CANCEL_S),
        )
        self.session.set_roots(roots.cwd, roots.additional)
        self._engine = engine
        self._host = host
        self._roots = roots
        self._auth_method_id = auth_method_id
        self._model = model
        self._alone = alone
        self._run: TurnRun | None = None

    def start(self, task: str) -> None:
        """Begin, and return at once."""
        self.ended = self._engine.loop.submit(self._to_its_end(task))

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
        if self._run is not None:
            self._run.cancel()
        else:  # it still logs in
            self.ended.cancel()

    async def give_up(self) -> None:
        """Cancel the turn and wait for its end, for at most 10 s; then it is ended without the agent's word.

        An agent that this call has for itself is killed then.
        """
        self.cancel()
        if not await self.wait(CANCEL_S):
            await self._engine.on_loop(self._kill())

    async def wait(self, timeout_s: float | None = None) -> bool:
        """Return whether it has ended, after so many seconds at the latest, however it ended."""
        ended = asyncio.wrap_future(self.ended)
        ended.add_done_callback(lambda done: done.cancelled() or done.exception())
        done, _ = await asyncio.wait([ended], timeout=timeout_s)
        return bool(done)

    async def _kill(self) -> None:
        if self._alone:
            await self._engine.end(self._host)
        else:
            await self.session.end()

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

    async def _to_its_end(self, task: str) -> Turn:
        try:
            if self._auth_method_id is not None:
                await self._host.log_in(self._auth_method_id, self._roots)
            self._run = self.session.start(task, choices=Choices(model=self._model), attended=True)
            return await self._run.wait()
        finally:
            await self.session.end()
            if self._alone:
                await self._engine.end(self._host)

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
                asked = next((one for one in self.session.pending if not one.permission.checking), None)
                if asked is not None:
                    return asked
                await changed.wait()
            return None
        finally:
            stop()
