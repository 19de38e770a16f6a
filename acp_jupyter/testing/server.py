"""An agent's side of ACP v1: sessions, one turn at a time in each, and what a cancel does.

A subclass of `Agent` says what the agent answers; the rules of the protocol are kept here.

Spec: https://agentclientprotocol.com/protocol/prompt-turn
"""

from __future__ import annotations

import asyncio
import os
import traceback
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from acp_jupyter.testing import strict
from acp_jupyter.testing.stdio import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    RECORD_VARIABLE,
    REQUEST_CANCELLED,
    Connection,
    RpcError,
)

if TYPE_CHECKING:
    from collections.abc import Coroutine

# after session/cancel a client answers its open permission requests; we do not wait for ever if it does not
CANCEL_WAIT_S = 5.0
_RESTORING = ("session/load", "session/resume", "session/fork")


@dataclass
class Session:
    """One conversation.

    Args:
        session_id: Made by us.
        params: What `session/new` asked for.
    """

    session_id: str
    params: dict[str, Any]
    prompts: int = 0
    turn: Turn | None = None

    @property
    def cwd(self) -> str:
        """The session's working directory, absolute."""
        return self.params["cwd"]


@dataclass
class Turn:
    """One `session/prompt`, from its request to its response."""

    session: Session
    request_id: Any
    prompt: list[dict[str, Any]]
    number: int
    answered: bool = False
    ignore_cancel: bool = False
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[dict[str, Any]] | None = None

    @property
    def text(self) -> str:
        """The prompt's text blocks, joined."""
        return "\n".join(str(block.get("text", "")) for block in self.prompt if block.get("type") == "text")


class Agent:
    """An agent that can do nothing yet; override `on_initialize`, `on_prompt` and what else is needed.

    Args:
        record: A file that gets every frame; also from `$ACP_FAKE_RECORD`.
    """

    def __init__(self, record: str | None = None) -> None:
        self.connection = Connection(self._on_frame, record or os.environ.get(RECORD_VARIABLE))
        self.client_capabilities: dict[str, Any] = {}
        self.agent_capabilities: dict[str, Any] = {}
        self.sessions: dict[str, Session] = {}
        self._initialized = False
        self._tasks: set[asyncio.Task[None]] = set()  # the loop itself holds tasks weakly
        self._answering: dict[Any, asyncio.Task[Any]] = {}

    async def run(self) -> None:
        """Serve until the client closes our stdin; then end the turns that still run."""
        await self.connection.run()
        turns = [session.turn for session in self.sessions.values() if session.turn]
        running = [turn.task for turn in turns if turn.task]
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=CANCEL_WAIT_S)

    async def on_initialize(self, _params: dict[str, Any]) -> dict[str, Any]:
        """The answer to `initialize`."""
        return {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": []}

    async def on_new_session(self, session: Session) -> dict[str, Any]:
        """The answer to `session/new`; its `sessionId` counts."""
        return {"sessionId": session.session_id}

    async def after_new_session(self, session: Session) -> None:
        """What follows the answer to `session/new`."""

    async def on_restore(self, method: str, _session: Session) -> Any:
        """The answer to `session/load`, `resume` or `fork`; what is told before it is history."""
        raise RpcError(METHOD_NOT_FOUND, f"method not found: {method}")

    async def on_prompt(self, turn: Turn) -> dict[str, Any]:
        """Play a turn; returns its response. Cancelled (as a task) by `session/cancel`."""
        raise NotImplementedError

    async def on_other(self, method: str, _params: dict[str, Any]) -> Any:
        """Any other request."""
        raise RpcError(METHOD_NOT_FOUND, f"method not found: {method}")

    def update(self, session_id: str, update: dict[str, Any]) -> None:
        """Send a `session/update`."""
        self.connection.notify("session/update", {"sessionId": session_id, "update": update})

    def finish(self, turn: Turn, result: dict[str, Any] | RpcError | None) -> None:
        """Answer the prompt, once.

        Args:
            turn: The turn that ends.
            result: The response; ``None`` ends the turn and never answers.
        """
        if turn.answered:
            return
        turn.answered = True
        turn.session.turn = None
        if result is not None:
            self._respond(turn.request_id, result)

    def _on_frame(self, frame: dict[str, Any]) -> None:
        method, params = frame["method"], frame.get("params", {})
        faults = strict.request_faults(method, params)
        for fault in faults:
            self.connection.complain(fault)
        if "id" not in frame:
            if not faults:
                self._on_notification(method, params)
        elif faults:
            self._respond(frame["id"], RpcError(INVALID_PARAMS, "; ".join(faults)))
        elif method == "session/prompt":
            self._start_turn(frame["id"], params)  # at once, so that a cancel right behind it finds the turn
        else:
            answering = asyncio.ensure_future(self._answer(method, params))
            self._answering[frame["id"]] = answering  # at once, as above: it may be withdrawn
            self._start(self._serve(frame["id"], method, answering))

    def _on_notification(self, method: str, params: dict[str, Any]) -> None:
        if method == "session/cancel":
            session = self.sessions.get(params["sessionId"])
            if session is None:
                self.connection.complain(f"session/cancel: no session {params['sessionId']!r}")
            elif session.turn is not None:
                self._cancel(session.turn)
        elif method == "$/cancel_request":
            if answering := self._answering.get(params["requestId"]):  # else: it has been answered
                answering.cancel()
        elif not method.startswith(("$/", "_")):
            self.connection.complain(f"no such notification: {method}")

    def _cancel(self, turn: Turn) -> None:
        if turn.cancelled.is_set():  # a second cancel must not break off what the first one began to tidy up
            return
        for pending in self.connection.open_requests(turn.session.session_id):
            pending.turn_cancelled = True
        turn.cancelled.set()
        if turn.task and not turn.ignore_cancel:
            turn.task.cancel()

    async def _serve(self, request_id: Any, method: str, answering: asyncio.Task[Any]) -> None:
        """Answer a request; one that the client withdraws is answered with an error."""
        await asyncio.wait([answering])
        self._answering.pop(request_id, None)
        if answering.cancelled():
            self._respond(request_id, RpcError(REQUEST_CANCELLED, "request cancelled"))
        elif isinstance(error := answering.exception(), RpcError):
            if error.code == METHOD_NOT_FOUND:
                self.connection.complain(f"no such method: {method}")
            self._respond(request_id, error)
        elif error is not None:
            traceback.print_exception(type(error), error, error.__traceback__)
            self._respond(request_id, RpcError(INTERNAL_ERROR, f"{type(error).__name__}: {error}"))
        else:
            self._respond(request_id, answering.result())
            if method == "session/new":
                await self.after_new_session(self.sessions[answering.result()["sessionId"]])

    async def _answer(self, method: str, params: dict[str, Any]) -> Any:
        if method == "initialize":
            return await self._initialize(params)
        if not self._initialized:
            self.connection.complain(f"{method} before initialize")
            raise RpcError(INVALID_REQUEST, "initialize first")
        if strict.ungranted_method(method, self.agent_capabilities):
            self.connection.complain(f"{method} without the capability")
            raise RpcError(METHOD_NOT_FOUND, f"not a capability of this agent: {method}")
        if method == "session/new":
            return await self._new_session(params)
        if method in _RESTORING:
            return await self._restore(method, params)
        return await self.on_other(method, params)

    async def _initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        if self._initialized:
            self.connection.complain("initialize came twice")
        self.client_capabilities = params.get("clientCapabilities") or {}
        result = await self.on_initialize(params)
        self.agent_capabilities = result.get("agentCapabilities") or {}
        self._initialized = True
        return result

    async def _new_session(self, params: dict[str, Any]) -> dict[str, Any]:
        capabilities: dict[str, Any] = self.agent_capabilities.get("sessionCapabilities") or {}
        if params.get("additionalDirectories") and capabilities.get("additionalDirectories") is None:
            self.connection.complain("session/new: additionalDirectories without the capability")
            raise RpcError(INVALID_PARAMS, "additionalDirectories: not a capability of this agent")
        session = Session(f"session-{uuid.uuid4().hex[:12]}", params)
        result = await self.on_new_session(session)
        session.session_id = result["sessionId"]
        self.sessions[session.session_id] = session
        return result

    async def _restore(self, method: str, params: dict[str, Any]) -> Any:
        session = Session(params["sessionId"], params)
        result = await self.on_restore(method, session)
        if method == "session/fork":
            session.session_id = result["sessionId"]
        self.sessions[session.session_id] = session
        return result

    def _start_turn(self, request_id: Any, params: dict[str, Any]) -> None:
        session = self.sessions.get(params["sessionId"])
        fault = None
        if session is None:
            fault = f"session/prompt: no session {params['sessionId']!r}"
        elif session.turn is not None:
            fault = "session/prompt: a turn is running in this session"
        faults = strict.ungranted_blocks(params["prompt"], self.agent_capabilities.get("promptCapabilities"))
        fault = fault or next(iter(faults), None)
        if session is None or fault is not None:
            self.connection.complain(str(fault))
            self._respond(request_id, RpcError(INVALID_REQUEST, str(fault)))
            return
        turn = Turn(session, request_id, params["prompt"], session.prompts)
        session.prompts += 1
        session.turn = turn
        turn.task = asyncio.create_task(self.on_prompt(turn))
        self._start(self._await_turn(turn, turn.task))

    async def _await_turn(self, turn: Turn, task: asyncio.Task[dict[str, Any]]) -> None:
        await asyncio.wait([task])
        if task.cancelled():
            await self._settle_cancelled(turn)
            self.finish(turn, {"stopReason": "cancelled"})
        elif (error := task.exception()) is None:
            self.finish(turn, task.result())
        else:
            if type(error) is not RpcError:  # our own mistake, or the script's: its author wants to see where
                traceback.print_exception(type(error), error, error.__traceback__)
            if not isinstance(error, RpcError):
                error = RpcError(INTERNAL_ERROR, f"{type(error).__name__}: {error}")
            self.finish(turn, error)

    async def _settle_cancelled(self, turn: Turn) -> None:
        # a terminal's end may be far away, and nobody waits for it any more
        left = {
            pending.response: pending
            for pending in self.connection.open_requests(turn.session.session_id)
            if pending.method != "terminal/wait_for_exit"
        }
        if not left:
            return
        _, unanswered = await asyncio.wait(left, timeout=CANCEL_WAIT_S)
        for response in unanswered:
            self.connection.complain(f"{left[response].method} was not answered after session/cancel")

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _respond(self, request_id: Any, result: Any) -> None:
        frame: dict[str, Any] = {"jsonrpc": "2.0", "id": request_id}
        if isinstance(result, RpcError):
            self.connection.send({**frame, "error": result.to_json()})
        else:
            self.connection.send({**frame, "result": result})
