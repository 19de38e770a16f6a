"""JSON-RPC 2.0 over stdio, one message a line, seen from the agent: minimal, and strict with its client.

Spec: https://agentclientprotocol.com/protocol/transports
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from acp_jupyter.testing import strict

if TYPE_CHECKING:
    from collections.abc import Callable

RECORD_VARIABLE = "ACP_FAKE_RECORD"
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
INTERNAL_ERROR, REQUEST_CANCELLED = -32603, -32800
_RECORDED_TEXT_LIMIT = 10_000  # a huge raw line is recorded by its size
_READ_BYTES = 1 << 16


class RpcError(Exception):
    """An error answer, ours or the client's.

    Args:
        code: The JSON-RPC error code.
        message: What went wrong.
        data: Any JSON value; left out where it is ``None``.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"{message} [{code}]")
        self.code = code
        self.message = message
        self.data = data

    def to_json(self) -> dict[str, Any]:
        """The `error` member of a response."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        return error if self.data is None else {**error, "data": self.data}


@dataclass
class Pending:
    """A request of ours that the client has to answer; its future holds the whole response."""

    request_id: Any
    method: str
    params: dict[str, Any]
    response: asyncio.Future[dict[str, Any]] = field(repr=False)
    turn_cancelled: bool = False

    async def answer(self) -> Any:
        """The result, once it is there.

        Raises:
            RpcError: The client answered with an error, or went away.
        """
        # shielded: a cancelled turn stops waiting, the request stays open until the client answers it
        response = await asyncio.shield(self.response)
        if "error" in response:
            raise rpc_error(response["error"])
        return response.get("result")


class Connection:
    """The agent's end of the pipe pair. Make it within a running loop; then `run` it.

    Args:
        on_frame: Called with each request and notification, in order.
        record: A file that gets every frame, one JSON object a line; appended to.
    """

    def __init__(self, on_frame: Callable[[dict[str, Any]], None], record: str | None = None) -> None:
        self._on_frame = on_frame
        self._record_file = open(record, "a", encoding="utf-8") if record else None  # noqa: PTH123, SIM115 - open until we exit
        # what else writes to stdout (a print, a child) must not get between the frames
        self.out_fd = os.dup(1)
        os.dup2(2, 1)
        self._parts: list[bytes] = []
        self._pending: dict[Any, Pending] = {}
        self._last_id = 0
        self._loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()

    async def run(self) -> None:
        """Read until the client closes our stdin."""
        try:
            self._loop.add_reader(0, self._read)
        except PermissionError:  # a plain file or /dev/null: no poll, and no waiting either
            while not self._ended.is_set():
                self._read()
        await self._ended.wait()

    def send(self, frame: dict[str, Any]) -> None:
        """Write a frame."""
        self._record("a2c", frame)
        self._write(_encode(frame))

    def write_raw(self, data: bytes) -> None:
        """Write bytes to stdout as they are."""
        text = data.decode("utf-8", "replace")
        shown = text if len(text) <= _RECORDED_TEXT_LIMIT else f"<{len(data)} bytes>"
        self._record("a2c", None, raw=shown)
        self._write(data)

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def open_request(self, method: str, params: dict[str, Any], request_id: Any = ...) -> Pending:
        """Send a request and go on.

        Args:
            method: The client's method.
            params: Its parameters.
            request_id: A string, number or ``None``; the next free number by default.
        """
        if request_id is ...:
            self._last_id += 1
            request_id = self._last_id
        pending = Pending(request_id, method, params, self._loop.create_future())
        if self._ended.is_set():
            pending.response.set_result(_gone())
            return pending
        self._pending[request_id] = pending
        self.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
        return pending

    async def request(self, method: str, params: dict[str, Any]) -> Any:
        """Send a request and wait for its result.

        Raises:
            RpcError: The client answered with an error, or went away.
        """
        return await self.open_request(method, params).answer()

    def open_requests(self, session_id: str) -> list[Pending]:
        """The requests of a session that the client has not answered yet."""
        return [each for each in self._pending.values() if each.params.get("sessionId") == session_id]

    def complain(self, fault: str) -> None:
        """Say on stderr, and in the record, what the client did wrong."""
        self._record("complaint", fault)
        print(f"complaint: {fault}", file=sys.stderr, flush=True)  # noqa: T201 - stderr is a program's place for it

    def close_stdin(self) -> None:
        """Close our end of the client's pipe, as a broken agent does; the client's next write fails."""
        self._loop.remove_reader(0)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)  # not os.close: the next file opened would become stdin
        os.close(null)

    def _read(self) -> None:
        data = os.read(0, _READ_BYTES)
        if not data:
            self._end()
            return
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._parts.append(line)
            whole = b"".join(self._parts)
            self._parts.clear()
            self._receive(whole)
        self._parts.append(rest)

    def _receive(self, line: bytes) -> None:
        try:
            frame = json.loads(line)
        except ValueError as error:
            self.complain(f"not JSON: {error}: {line[:200]!r}")
            self.send({"jsonrpc": "2.0", "id": None, "error": {"code": PARSE_ERROR, "message": "not JSON"}})
            return
        self._record("c2a", frame)
        faults = strict.frame_faults(frame)
        for fault in faults:
            self.complain(fault)
        if not strict.is_object(frame):
            return
        if "method" in frame:
            self._on_frame(frame)
        elif not faults:
            self._settle(frame)

    def _settle(self, response: dict[str, Any]) -> None:
        pending = self._pending.pop(response["id"], None)
        if pending is None:
            self.complain(f"an answer to no open request: id {response['id']!r}")
            return
        if "result" in response:
            for fault in strict.answer_faults(pending.method, pending.params, response["result"]):
                self.complain(fault)
            if pending.turn_cancelled and strict.is_selection(response["result"]):
                self.complain(
                    f"{pending.method} was answered by a selection after session/cancel, not `cancelled`"
                )
        pending.response.set_result(response)

    def _end(self) -> None:
        self._loop.remove_reader(0)
        self._ended.set()
        for pending in self._pending.values():
            pending.response.set_result(_gone())
        self._pending.clear()

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self.out_fd, view) :]
        except BrokenPipeError:  # the client is gone; the end of stdin will tell us too
            self._loop.call_soon(self._end)

    def _record(self, direction: str, message: Any, **more: str) -> None:
        if self._record_file is not None:
            entry = {"dir": direction, "t": time.time(), "pid": os.getpid(), "msg": message, **more}
            self._record_file.write(json.dumps(entry) + "\n")
            self._record_file.flush()


def rpc_error(error: Any) -> RpcError:
    """The exception for the `error` member of a response, whatever it holds."""
    if strict.is_object(error):
        return RpcError(error.get("code", INTERNAL_ERROR), str(error.get("message", "")), error.get("data"))
    return RpcError(INTERNAL_ERROR, str(error))


def _gone() -> dict[str, Any]:
    return {"error": RpcError(REQUEST_CANCELLED, "the client is gone").to_json()}


def _encode(frame: dict[str, Any]) -> bytes:
    """UTF-8 as real agents write it; escapes where a lone surrogate has no UTF-8."""
    try:
        return (json.dumps(frame, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
    except UnicodeEncodeError:
        return (json.dumps(frame, separators=(",", ":")) + "\n").encode()
