"""A coding agent as a tool: a task goes in, the agent's last word comes out.

See https://agentclientprotocol.com/protocol/overview.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from acp_jupyter.api.decisions import Callback, Decisions
from acp_jupyter.api.engine import engine
from acp_jupyter.api.execution import CANCEL_S, Execution
from acp_jupyter.api.schemas import ResumePayload, SuspendPayload, ToolInput, ToolOutput
from acp_jupyter.api.setup import Setup, checked_setup
from acp_jupyter.api.workspace import CallersStore, Workspace, current_workspace, is_local
from acp_jupyter.errors import UsageError
from acp_jupyter.session.run import Limits
from acp_jupyter.session.session import Session

if TYPE_CHECKING:
    from acp_jupyter.model.turn import Turn
    from acp_jupyter.session.host import Host


@dataclass(frozen=True)
class AcpToolResult:
    """What came of a task: the agent's answer, and the whole turn."""

    output: str
    turn: Turn

    @classmethod
    def of(cls, turn: Turn) -> AcpToolResult:
        """Return what came of a turn."""
        return cls(turn.text, turn)

    @property
    def stop_reason(self) -> str | None:
        """Why the agent stopped, in its own word."""
        return self.turn.stop_reason

    @property
    def session_id(self) -> str | None:
        """The agent's own id of the session."""
        return self.turn.session_id


class AcpTool:
    """A tool made by `create_acp_tool`; call it with a task, close it or use it in ``async with``."""

    input_schema = ToolInput
    output_schema = ToolOutput
    suspend_schema = SuspendPayload
    resume_schema = ResumePayload

    def __init__(self, setup: Setup) -> None:
        self.id = setup.id
        self.description = setup.description
        self._setup = setup
        self._decisions = Decisions(setup.on_permission_request, setup.permission_timeout_s)
        self._hosts: dict[bool, Host] = {}  # the processes that stay, by whether terminals are offered
        self._retired: set[Host] = set()  # those that a call has found deaf; the last one on it ends it

    async def __call__(self, task: str, *, session_id: str | None = None) -> AcpToolResult:
        """Send a task to the agent in a session of its own, and return its answer.

        Args:
            task: What the agent is to do.
            session_id: The session of an earlier result, to go on with it.

        Raises:
            PermissionSuspended: It asks for permission, and there is no callback: go on by `resume`.
            AcpError: The turn could not be brought to its end.
        """
        execution = self._execution(session_id)
        execution.start(_checked(task))
        return AcpToolResult.of(await self._decisions.attend(execution))

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
        execution = await self._decisions.resume(run_id, option_id, outcome)
        return AcpToolResult.of(await self._decisions.attend(execution))

    async def aclose(self) -> None:
        """End the agent's process; calls under way fail, and those that wait for a decision are cancelled."""
        await self._decisions.close()
        hosts, self._hosts, self._retired = {*self._hosts.values(), *self._retired}, {}, set()
        await asyncio.gather(*(engine().on_loop(engine().end(host)) for host in hosts))

    async def __aenter__(self) -> AcpTool:  # noqa: PYI034  # Python 3.10 has no Self
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()

    def _execution(self, session_id: str | None) -> Execution:
        """Return a call that is yet to begin, with a session of its own on the agent's process."""
        setup = self._setup
        workspace = setup.workspace or current_workspace()
        host, roots = self._host(workspace), setup.roots()
        session = Session(
            host.spec,
            loop=engine().loop,
            watcher=engine().watcher,
            host=host,
            store=CallersStore(workspace, asyncio.get_running_loop()) if workspace is not None else None,
            limits=Limits(start_s=host.start_s, cancel_grace_s=CANCEL_S),
        )
        session.set_roots(roots.cwd, roots.additional)
        session.mcp_servers.extend(setup.session.mcp_servers)
        session.meta = setup.session.meta

        @contextlib.asynccontextmanager
        async def around() -> AsyncGenerator[None]:
            try:
                async with host.only_one_in(session_id):
                    if setup.auth_method_id is not None:
                        await host.log_in(setup.auth_method_id, roots)
                    if session_id is not None:
                        await session.take_up(session_id)
                    yield
            finally:
                await session.end()
                if not setup.persist_session or (host in self._retired and not host.router.guests):
                    self._retired.discard(host)
                    await engine().end(host)

        async def kill() -> None:
            """Use a deaf agent for no other call; it is ended when the last one on it has ended."""
            self._hosts = {key: one for key, one in self._hosts.items() if one is not host}
            self._retired.add(host)
            await session.end()

        return Execution(engine(), session, around=around, kill=kill, model=setup.model)

    def _host(self, workspace: Workspace | None) -> Host:
        setup, local = self._setup, is_local(workspace)
        if setup.persist_session and local in self._hosts:
            return self._hosts[local]
        host = engine().host(
            setup.spec, setup.start_timeout_s, offer=setup.offer(workspace), cwd=setup.process_cwd()
        )
        if setup.persist_session:
            self._hosts[local] = host
        return host


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
    cwd: str | os.PathLike[str] | None = None,
    session: Mapping[str, Any] | None = None,
    initialize: Mapping[str, Any] | None = None,
    auth_method_id: str | None = None,
    persist_session: bool = True,
    on_permission_request: Callback | None = None,
    workspace: Workspace | None = None,
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
        session: A part of ``session/new`` over ours: ``cwd`` (of the session alone), ``mcp_servers``,
            ``additional_directories``, ``_meta``; in this spelling or the protocol's.
        initialize: A part of ``initialize`` over ours: ``client_capabilities``, ``client_info``, ``_meta``.
        auth_method_id: The log-in to use before a session is opened.
        persist_session: Whether the process stays for the next call; each call has a session of its own.
        on_permission_request: Decides, sync or async; without it a call is suspended.
        workspace: Where the agent's files are; by default that of `using_workspace`, else the disk, confined
            to the directories of the session.
        model: The model to choose, by id or name.
        permission_timeout_s: How long a decision may take; then the turn is cancelled.
        start_timeout_s: How long each answer may take while the agent starts.

    Raises:
        UsageError: A field is not as it should be; the message names it.
    """
    return AcpTool(checked_setup("create_acp_tool", locals()))
