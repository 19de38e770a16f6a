"""A coding agent as a tool: a task goes in, the agent's last word comes out.

See https://agentclientprotocol.com/protocol/overview.
"""

from __future__ import annotations

import asyncio
import inspect
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import ValidationError

from acp_jupyter.api.engine import engine
from acp_jupyter.api.errors import NotSuspended, PermissionCallbackFailed, PermissionSuspended
from acp_jupyter.api.execution import Execution
from acp_jupyter.api.schemas import PermissionRequest, ResumePayload, SuspendPayload, ToolInput, ToolOutput
from acp_jupyter.errors import UsageError
from acp_jupyter.model.content import as_dict
from acp_jupyter.session.agent_spec import checked_spec
from acp_jupyter.session.roots import Roots

if TYPE_CHECKING:
    from acp_jupyter.model.turn import Turn
    from acp_jupyter.session.host import Host
    from acp_jupyter.session.permissions import PendingPermission

Answer: TypeAlias = "Mapping[str, Any] | ResumePayload"
Callback: TypeAlias = "Callable[[PermissionRequest], Answer | Awaitable[Answer]]"


@dataclass(frozen=True)
class AcpToolResult:
    """What came of a task: the agent's answer, and the whole turn."""

    output: str
    turn: Turn

    @property
    def stop_reason(self) -> str | None:
        """Why the agent stopped, in its own word."""
        return self.turn.stop_reason

    @property
    def session_id(self) -> str | None:
        """The agent's own id of the session."""
        return self.turn.session_id


@dataclass
class _Held:
    """A call that waits for a decision."""

    execution: Execution
    asked: PendingPermission
    expiry: asyncio.TimerHandle | None = None


def first_option(request: PermissionRequest) -> dict[str, Any]:
    """Answer with the first option, whatever it means. Unsafe: it allows what nobody has looked at."""
    if not request.options:
        return {"outcome": {"outcome": "cancelled"}}
    return {"outcome": {"outcome": "selected", "optionId": request.options[0]["optionId"]}}


class AcpTool:
    """A tool made by `create_acp_tool`; call it with a task, close it or use it in ``async with``."""

    input_schema = ToolInput
    output_schema = ToolOutput
    suspend_schema = SuspendPayload
    resume_schema = ResumePayload

    def __init__(  # noqa: PLR0913  # `create_acp_tool` makes it
        self,
        *,
        fields: Mapping[str, Any],
        description: str,
        cwd: str | None,
        auth_method_id: str | None,
        persist_session: bool,
        on_permission_request: Callback | None,
        model: str | None,
        permission_timeout_s: float,
        start_timeout_s: float,
    ) -> None:
        self._spec = checked_spec(fields, "create_acp_tool")
        self.id = self._spec.name
        self.description = description
        self._cwd = cwd
        self._auth_method_id = auth_method_id
        self._persist = persist_session
        self._callback = on_permission_request
        self._model = model
        self._permission_timeout_s = permission_timeout_s
        self._start_timeout_s = start_timeout_s
        self._host: Host | None = None
        self._held: dict[str, _Held] = {}
        self._expired: asyncio.Future[None] | None = None

    async def __call__(self, task: str) -> AcpToolResult:
        """Send a task to the agent in a session of its own, and return its answer.

        Args:
            task: What the agent is to do.

        Raises:
            PermissionSuspended: It asks for permission, and there is no callback: go on by `resume`.
            AcpError: The turn could not be brought to its end.
        """
        task, roots = _checked(task), Roots.of(self._cwd)
        execution = Execution(
            engine(),
            self._the_host(),
            roots,
            auth_method_id=self._auth_method_id,
            model=self._model,
            alone=not self._persist,
        )
        execution.start(task)
        return await self._attend(execution)

    async def resume(
        self, run_id: str, *, option_id: str | None = None, outcome: str = "selected"
    ) -> AcpToolResult:
        """Answer what a call waits for, and go on with the very same turn.

        Args:
            run_id: Of the `PermissionSuspended`; each can be resumed once.
            option_id: The option to select.
            outcome: ``selected`` or ``cancelled``.

        Raises:
            NotSuspended: It was resumed before, has expired, or never was.
            UsageError: The decision cannot be taken; the call still waits.
            PermissionSuspended: The agent asks for something else.
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
        return await self._attend(held.execution)

    async def aclose(self) -> None:
        """End the agent's process; calls under way fail, and those that wait for a decision are cancelled."""
        held, self._held = list(self._held.values()), {}
        await asyncio.gather(*(one.execution.give_up() for one in held))
        host, self._host = self._host, None
        if host is not None:
            await engine().on_loop(engine().end(host))

    async def __aenter__(self) -> AcpTool:  # noqa: PYI034  # Python 3.10 has no Self
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()

    def _the_host(self) -> Host:
        if not self._persist:
            return engine().host(self._spec, self._start_timeout_s)
        if self._host is None:
            self._host = engine().host(self._spec, self._start_timeout_s)
        return self._host

    async def _attend(self, execution: Execution) -> AcpToolResult:
        try:
            while (asked := await execution.next_question()) is not None:
                if not asked.options:
                    await asked.answer(None)
                elif self._callback is None:
                    raise await engine().on_loop(self._hold(execution, asked))
                else:
                    await self._call_back(self._callback, execution, asked)
            turn = await execution.result()
        except (asyncio.CancelledError, PermissionCallbackFailed):
            await execution.give_up()
            raise
        return AcpToolResult(turn.text, turn)

    async def _hold(self, execution: Execution, asked: PendingPermission) -> PermissionSuspended:
        run_id, held = uuid.uuid4().hex, _Held(execution, asked)

        def expire() -> None:
            if self._held.pop(run_id, None) is not None:
                self._expired = asyncio.ensure_future(execution.give_up())  # the loop holds tasks weakly

        held.expiry = asyncio.get_running_loop().call_later(self._permission_timeout_s, expire)
        self._held[run_id] = held
        _request, payload = execution.question(asked)
        return PermissionSuspended(payload, run_id, self._permission_timeout_s)

    async def _call_back(self, callback: Callback, execution: Execution, asked: PendingPermission) -> None:
        request, _payload = execution.question(asked)
        calling = asyncio.ensure_future(_called(callback, request))
        ending = asyncio.ensure_future(execution.wait())
        try:
            await asyncio.wait(
                [calling, ending], timeout=self._permission_timeout_s, return_when=asyncio.FIRST_COMPLETED
            )
            if ending.done():  # the agent is gone, or has withdrawn: nobody waits for the answer
                return
            if not calling.done():
                raise asyncio.TimeoutError  # noqa: TRY301  # told with those that the callback raises
            answer = calling.result()
        except asyncio.TimeoutError as error:
            raise PermissionCallbackFailed(
                f"on_permission_request gave no answer within {self._permission_timeout_s:g} s",
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


def _checked(task: Any) -> str:
    try:
        return ToolInput.model_validate({"task": task}).task
    except ValidationError as error:
        raise UsageError(f"task: {error.errors()[0]['msg']}", advice="Give the task as text.") from error


def create_acp_tool(  # noqa: PLR0913  # each is named at the call
    *,
    id: str,  # noqa: A002  # the page's name for it
    description: str,
    command: str,
    args: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    auth_method_id: str | None = None,
    persist_session: bool = True,
    on_permission_request: Callback | None = None,
    model: str | None = None,
    permission_timeout_s: float = 600.0,
    start_timeout_s: float = 120.0,
) -> AcpTool:
    """Make a tool that sends a task to a coding agent and returns its answer.

    Args:
        id: The tool's name.
        description: Tells a model when to use it.
        command: The agent's executable.
        args: Its arguments.
        env: Variables over those of this process.
        cwd: Where it works; by default the current directory at the time of the call.
        auth_method_id: The log-in to use before a session is opened.
        persist_session: Whether the process stays for the next call; each call has a session of its own.
        on_permission_request: Decides, sync or async; without it a call is suspended.
        model: The model to choose, by id or name.
        permission_timeout_s: How long a decision may take; then the turn is cancelled.
        start_timeout_s: How long each answer may take while the agent starts.

    Raises:
        UsageError: A field is not as it should be; the message names it.
    """
    fields = {"name": id, "command": command, "args": tuple(args), "env": dict(env or {})}
    return AcpTool(
        fields=fields,
        description=description,
        cwd=cwd,
        auth_method_id=auth_method_id,
        persist_session=persist_session,
        on_permission_request=on_permission_request,
        model=model,
        permission_timeout_s=permission_timeout_s,
        start_timeout_s=start_timeout_s,
    )
