"""A JSON-RPC 2.0 peer: everything that arrives is handled one after another, and junk costs only itself.

https://agentclientprotocol.com/protocol/overview
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import math
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from acp_jupyter.errors import (
    AcpError,
    AgentExited,
    AgentTimeout,
    ConnectionClosed,
)
from acp_jupyter.wire import frames
from acp_jupyter.wire.answers import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    REQUEST_CANCELLED,
    RequestError,
    result_of,
)
from acp_jupyter.wire.transport import Diagnosable
from acp_jupyter.wire.waiting import within

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from acp_jupyter.wire.transport import Transport

    Direction = Literal["in", "out"]
    OnFrame = Callable[[Direction, bytes, Any], None]
    JsonObject = dict[str, Any]
    RequestId = int | str | float | None

_CANCEL = "$/cancel_request"
_NEVER_WITHDRAWN = frozenset({"initialize", "session/prompt"})  # a prompt is cancelled by `session/cancel`
_SLICE_S = 0.005  # under a flood, the loop's other tasks get a turn this often
_EXIT_CODE_S = 0.5  # how long an error may wait to learn the exit code
_FLUSH_S = 0.5
_NOISE_ENTRIES = 200
_NOISE_CHARACTERS = 2000
_LONGEST_ID = 20  # of ours, in digits

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Pending:
    method: str
    answer: asyncio.Future[JsonObject | AcpError]
    on_response: Callable[[JsonObject], None] | None


@dataclass(frozen=True)
class _Outgoing:
    message: JsonObject
    line: bytes


class Peer:
    """Speaks JSON-RPC 2.0 over a transport, which it does not own.

    Args:
        transport: Carries the lines.
        on_notification: Called with method and params, in the order of arrival.
        on_request: Answers a request of the agent's, each in a task of its own, which starts before anything
            that arrived later is handled. It may raise `RequestError`. Where the agent withdraws the request,
            the task is cancelled; a value returned nevertheless is the answer.
        on_frame: Sees every message, both ways, for a log: its direction, its line, and what that says.
        on_closed: Called once when the connection is gone, with the reason.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        on_notification: Callable[[str, Any], None],
        on_request: Callable[[str, Any], Awaitable[Any]],
        on_frame: OnFrame | None = None,
        on_closed: Callable[[AcpError], None] | None = None,
    ) -> None:
        self.noise: deque[tuple[str, str]] = deque(maxlen=_NOISE_ENTRIES)
        """What was ignored or repaired: the reason, and the beginning of the text."""
        self.ignored = 0
        """How many messages and lines were ignored."""
        self._transport = transport
        self._on_notification = on_notification
        self._on_request = on_request
        self._on_frame = on_frame
        self._on_closed = on_closed
        self._ids = itertools.count()
        self._pending: dict[int, _Pending] = {}
        self._withdrawn: set[int] = set()
        self._handlers: dict[RequestId, asyncio.Task[Any]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._outgoing: asyncio.Queue[_Outgoing] = asyncio.Queue()
        self._gone: Callable[[], AcpError] | None = None
        self._closed = asyncio.Event()
        self._loops: list[asyncio.Task[None]] = []

    @property
    def open_requests(self) -> dict[int, str]:
        """The method of each request of ours that the agent has not answered, by its id."""
        return {request_id: pending.method for request_id, pending in self._pending.items()}

    def start(self) -> None:
        """Begin to read and to write, in the running loop."""
        self._loops = [asyncio.create_task(self._read()), asyncio.create_task(self._write())]

    async def wait_closed(self) -> None:
        """Wait until the connection is gone, from either side."""
        await self._closed.wait()

    async def close(self) -> None:
        """Send what waits to be sent, then stop; open requests fail with `ConnectionClosed`."""
        if self._gone is None and self._loops:
            await within(_FLUSH_S, self._outgoing.join())
        self._end(lambda: ConnectionClosed("the connection to the agent was closed"))
        stopping = [task for task in (*self._loops, *self._tasks) if task is not asyncio.current_task()]
        await asyncio.gather(*stopping, return_exceptions=True)

    async def request(
        self,
        method: str,
        params: Any,
        *,
        timeout_s: float | None,
        on_response: Callable[[JsonObject], None] | None = None,
    ) -> Any:
        """Ask the agent and wait for its answer.

        A request that is given up, by time-out or cancellation, is withdrawn with `$/cancel_request`, except
        `initialize` and `session/prompt`.

        Args:
            method: The method.
            params: Its parameters.
            timeout_s: How long to wait; ``None`` for ever.
            on_response: Called with the raw response, result or error, before anything that arrived after it
                is handled. It is not called where no response came.

        Returns:
            The result, any JSON value.

        Raises:
            RequestFailed: The agent answered with an error; `AuthenticationRequired` for its code.
            AgentTimeout: It did not answer in time.
            AgentExited: It is gone, or the request could not be delivered.
            ConnectionClosed: We closed the connection.
        """
        if self._gone is not None:
            raise self._gone()
        request_id = next(self._ids)
        message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
        self._post(message)
        pending = _Pending(method, asyncio.get_running_loop().create_future(), on_response)
        self._pending[request_id] = pending
        try:
            done, _ = await asyncio.wait((pending.answer,), timeout=timeout_s)
            if not done:
                raise self._timeout(method, timeout_s)
        finally:
            if self._pending.pop(request_id, None) and method not in _NEVER_WITHDRAWN:
                self._withdrawn.add(request_id)
                self.notify(_CANCEL, {"requestId": request_id})
        return result_of(method, pending.answer.result())

    def notify(self, method: str, params: Any) -> None:
        """Queue a notification; it is lost silently where the agent is gone."""
        if self._gone is None:
            self._post({"jsonrpc": "2.0", "method": method, "params": params})

    def ignore(self, reason: str, value: Any) -> None:
        """Count something that arrived and was not understood, and keep its beginning."""
        self.ignored += 1
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        self.noise.append((reason, text[:_NOISE_CHARACTERS]))

    def _timeout(self, method: str, timeout_s: float | None) -> AgentTimeout:
        return AgentTimeout(
            f"the agent did not answer {method} within {timeout_s or 0:g} s",
            advice="Give it more time, or try its command in a terminal.",
            stderr=self._stderr_tail(),
        )

    async def _read(self) -> None:
        loop = asyncio.get_running_loop()
        turn = loop.time()
        while isinstance(line := await self._receive(), bytes):
            for part, message in self._messages(line):
                started = self._guarded(self._handle, part, message)
                # a handler that was started runs its first steps before the next message is looked at
                if started or loop.time() - turn > _SLICE_S:
                    await asyncio.sleep(0)
                    turn = loop.time()
        exit_code = await self._exit_code()
        self._end(lambda: self._exited(exit_code) if line is None else line)

    async def _receive(self) -> bytes | AcpError | None:
        try:
            return await self._transport.receive()
        except OSError:
            return None
        except AcpError as error:
            return error

    def _messages(self, line: bytes) -> list[tuple[bytes, Any]]:
        if not line.strip():
            return []
        try:
            value = frames.decode(line, lambda reason: self.noise.append((reason, _head(line))))
        except frames.UnreadableError as error:
            self.ignore(str(error), _head(line))
            self._answer_unread(str(error), error.outline)
            return []
        if isinstance(value, list) and value:  # a batch; an empty one is no message either
            return [(json.dumps(one).encode(), one) for one in cast("list[Any]", value)]
        return [(line, value)]

    def _answer_unread(self, why: str, outline: Any) -> None:
        """Let nobody wait for an answer to what was not read, nor for it as an answer."""
        for one in cast("list[Any]", outline) if isinstance(outline, list) else [outline]:
            message = cast("JsonObject", one) if isinstance(one, dict) else {}
            if "id" not in message:
                continue
            if isinstance(message.get("method"), str):
                request_id = message["id"]
                error = RequestError(INVALID_REQUEST, f"the request is {why}")
                self._reply(request_id if _is_id(request_id) else None, error=error)
            elif own_id(message["id"]) in {*self._pending, *self._withdrawn}:
                error = RequestError(INVALID_REQUEST, f"its answer is {why}")
                self._answered({"id": message["id"], "error": error.to_json()})

    def _handle(self, line: bytes, message: Any) -> bool:
        """Handle one message; say whether a handler was started for it."""
        if not isinstance(message, dict):
            self.ignore("not a message", message)
            return False
        message = cast("JsonObject", message)
        if self._on_frame is not None:
            self._guarded(self._on_frame, "in", line, message)
        method = message.get("method")
        if isinstance(method, str) and "id" in message:
            return self._begin(message["id"], method, message.get("params"))
        if isinstance(method, str):
            self._notified(method, message.get("params"))
        elif method is None and "id" in message:
            self._answered(message)
        else:
            self.ignore("neither a request, nor a notification, nor a response", message)
        return False

    def _notified(self, method: str, params: Any) -> None:
        if method != _CANCEL:
            self._on_notification(method, params)
            return
        request_id = cast("JsonObject", params).get("requestId") if isinstance(params, dict) else None
        # once: a second withdrawal must not break off what the first one began to tidy up
        task = self._handlers.pop(request_id, None) if _is_id(request_id) else None
        if task is not None:
            task.cancel()

    def _answered(self, message: JsonObject) -> None:
        request_id = own_id(message["id"])
        pending = None if request_id is None else self._pending.pop(request_id, None)
        if pending is None:
            if request_id in self._withdrawn:  # it must be answered all the same
                self._withdrawn.discard(request_id)
            else:
                self.ignore("a response to no open request", message)
            return
        try:
            if pending.on_response is not None:
                pending.on_response(message)
        finally:
            if not pending.answer.done():
                pending.answer.set_result(message)

    def _begin(self, request_id: Any, method: str, params: Any) -> bool:
        if not _is_id(request_id):
            self.ignore(
                "a request whose id is no string, number or null", {"id": request_id, "method": method}
            )
            self._reply(
                None, error=RequestError(INVALID_REQUEST, "the id must be a string, a number or null")
            )
            return False
        task = asyncio.create_task(self._serve(method, params))
        self._handlers[request_id] = task
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._served(request_id, method, done))
        return True

    async def _serve(self, method: str, params: Any) -> Any:
        return await self._on_request(method, params)

    def _served(self, request_id: RequestId, method: str, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if self._handlers.get(request_id) is task:
            del self._handlers[request_id]
        if task.cancelled():
            self._reply(request_id, error=RequestError(REQUEST_CANCELLED, "request cancelled"))
            return
        error = task.exception()
        if error is None:
            self._reply(request_id, result=task.result())
        elif isinstance(error, RequestError):
            self._reply(request_id, error=error)
        else:
            _log.error("the handler of %s failed", method, exc_info=error)
            self._reply(request_id, error=RequestError(INTERNAL_ERROR, str(error) or type(error).__name__))

    def _reply(self, request_id: RequestId, *, result: Any = None, error: RequestError | None = None) -> None:
        if self._gone is not None:
            return
        outcome = {"result": result} if error is None else {"error": error.to_json()}
        try:
            self._post({"jsonrpc": "2.0", "id": request_id, **outcome})
        except (TypeError, ValueError) as unfit:
            _log.exception("an answer is no JSON")
            self._reply(request_id, error=RequestError(INTERNAL_ERROR, f"the answer is no JSON: {unfit}"))

    def _post(self, message: JsonObject) -> None:
        self._outgoing.put_nowait(_Outgoing(message, frames.encode(message)))

    async def _write(self) -> None:
        while self._gone is None:
            outgoing = await self._outgoing.get()
            if self._on_frame is not None:
                self._guarded(self._on_frame, "out", outgoing.line, outgoing.message)
            try:
                await self._transport.send(outgoing.line)
            except (OSError, AcpError):
                await self._undelivered(outgoing.message)
            finally:
                self._outgoing.task_done()

    async def _undelivered(self, message: JsonObject) -> None:
        exit_code = await self._exit_code()
        pending = self._pending.pop(message["id"], None) if "method" in message and "id" in message else None
        if pending is not None and not pending.answer.done():
            pending.answer.set_result(self._exited(exit_code, f"{pending.method} was not delivered: "))

    def _end(self, gone: Callable[[], AcpError]) -> None:
        if self._gone is not None:
            return
        self._gone = gone
        for pending in self._pending.values():
            if not pending.answer.done():
                pending.answer.set_result(gone())
        self._pending.clear()
        for task in (*self._tasks, *self._loops):
            if task is not asyncio.current_task():
                task.cancel()
        self._closed.set()
        if self._on_closed is not None:
            self._guarded(self._on_closed, gone())

    async def _exit_code(self) -> int | None:
        if isinstance(self._transport, Diagnosable):
            return await self._transport.exit_code_within(_EXIT_CODE_S)
        return None

    def _stderr_tail(self) -> str:
        return self._transport.stderr_tail() if isinstance(self._transport, Diagnosable) else ""

    def _exited(self, exit_code: int | None, what: str = "") -> AgentExited:
        how = "closed the connection" if exit_code is None else f"exited with code {exit_code}"
        return AgentExited(
            f"{what}the agent {how}",
            advice="The next prompt starts it again.",
            stderr=self._stderr_tail(),
            exit_code=exit_code,
        )

    def _guarded(self, call: Callable[..., Any], *args: Any) -> Any:
        """Call what is not ours to trust: its failure is logged, and costs one message."""
        try:
            return call(*args)
        except Exception:  # noqa: BLE001 - the edge: no handler's fault may end the connection
            _log.exception("a handler failed")
            self.ignore("its handler failed", args[-1] if isinstance(args[-1], dict) else str(args[-1]))
            return None


def _head(line: bytes) -> str:
    """Return the beginning of a line that is to be told of."""
    return line[: 4 * _NOISE_CHARACTERS].decode("utf-8", "replace")[:_NOISE_CHARACTERS]


def own_id(value: Any) -> int | None:
    """Return the id that we may have given a request; some agents send our numbers back as text.

    ``None`` where it can be none: ``True`` would be found under 1.
    """
    if isinstance(value, str) and len(value) < _LONGEST_ID and value.isdecimal():
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if type(value) is int else None


def _is_id(value: Any) -> bool:
    """Say whether a value can be the id of a request of the agent's."""
    if isinstance(value, float):
        return math.isfinite(value)  # the answer could not be sent
    return value is None or isinstance(value, str) or type(value) is int
