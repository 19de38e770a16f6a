"""Answers to requests, ours and the agent's: error codes, errors, and what a response means.

https://agentclientprotocol.com/protocol/overview
"""

from __future__ import annotations

from typing import Any, cast

from acp_jupyter.errors import AcpError, AuthenticationRequired, RequestFailed

JsonObject = dict[str, Any]

INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
REQUEST_CANCELLED = -32800
AUTHENTICATION_REQUIRED = -32000


class RequestError(Exception):
    """What a handler raises to answer the agent's request with an error.

    Args:
        code: The JSON-RPC error code.
        message: One sentence for the agent.
        data: Any JSON value; left out where it is ``None``.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def to_json(self) -> JsonObject:
        """Give the ``error`` member of a response."""
        error = {"code": self.code, "message": self.message}
        return error if self.data is None else {**error, "data": self.data}


def result_of(method: str, answer: JsonObject | AcpError) -> Any:
    """Give a response's result, or raise what it says or what came instead."""
    if isinstance(answer, AcpError):
        raise answer
    error = answer.get("error")
    if error is None and "result" in answer:
        return answer["result"]
    raise _failure(method, error)


def _failure(method: str, error: Any) -> RequestFailed:
    if not isinstance(error, dict):
        reason = "its answer has neither result nor error" if error is None else f"a malformed error: {error}"
        return RequestFailed(method, INTERNAL_ERROR, reason)
    error = cast("JsonObject", error)
    code, reason = error.get("code"), error.get("message")
    if not isinstance(code, int) or isinstance(code, bool):
        return RequestFailed(method, INTERNAL_ERROR, f"a malformed error: {error}", error.get("data"))
    kind = AuthenticationRequired if code == AUTHENTICATION_REQUIRED else RequestFailed
    return kind(method, code, reason if isinstance(reason, str) else "no message", error.get("data"))
