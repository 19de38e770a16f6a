"""Version 1 of the protocol, as calls: what we ask of an agent, and what it may ask of us.

Another version comes beside this module; nothing above it sees JSON-RPC.
https://agentclientprotocol.com/protocol/overview
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from acp_jupyter.errors import (
    AuthenticationRequired,
    RequestFailed,
    VersionMismatch,
)
from acp_jupyter.wire.answers import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, RequestError
from acp_jupyter.wire.calls import Calls, object_of
from acp_jupyter.wire.peer import Peer, own_id
from acp_jupyter.wire.shapes import REQUEST_PARAMS, well_formed_options

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Awaitable, Callable

    from acp_jupyter.errors import AcpError
    from acp_jupyter.wire.transport import Transport

    JsonObject = dict[str, Any]
    Handler = Callable[[JsonObject], Awaitable["JsonObject | None"]]

PROTOCOL_VERSION = 1


class Client(Protocol):
    """What we do for the agent. Parameters are plain objects, as they came and with their shape checked.

    A method may raise `RequestError`. Where the agent withdraws its request, the method is cancelled; what it
    returns nevertheless is the answer.
    """

    def session_update(self, session_id: str, update: JsonObject) -> None:
        """Take an update; in order, also before `session/new` is answered and outside of a turn."""
        ...

    async def request_permission(self, params: JsonObject) -> JsonObject:
        """Decide.

        Returns:
            The outcome: ``{"outcome": "selected", "optionId": ...}`` or ``{"outcome": "cancelled"}``.
        """
        ...

    async def read_text_file(self, params: JsonObject) -> JsonObject:
        """Give ``{"content": ...}``; ``line`` is 1-based."""
        ...

    async def write_text_file(self, params: JsonObject) -> JsonObject | None:
        """Write a file, made where it is missing."""
        ...

    async def create_elicitation(self, params: JsonObject) -> JsonObject:
        """Ask the person for what the agent needs.

        Returns:
            ``{"action": "accept", "content"?}``, ``{"action": "decline"}`` or ``{"action": "cancel"}``.
        """
        ...

    def complete_elicitation(self, elicitation_id: str) -> None:
        """Take note that what was asked by URL is done; an id that is not known is ignored."""
        ...

    async def create_terminal(self, params: JsonObject) -> JsonObject:
        """Start a command and give ``{"terminalId": ...}`` at once."""
        ...

    async def terminal_output(self, params: JsonObject) -> JsonObject:
        """Give ``{"output", "truncated", "exitStatus"?}`` without waiting."""
        ...

    async def wait_for_terminal_exit(self, params: JsonObject) -> JsonObject:
        """Give ``{"exitCode", "signal"}`` once the command has ended."""
        ...

    async def kill_terminal(self, params: JsonObject) -> JsonObject | None:
        """Kill the command; its terminal stays valid."""
        ...

    async def release_terminal(self, params: JsonObject) -> JsonObject | None:
        """Kill the command and forget its terminal."""
        ...


class Connection(Calls):
    """One connection to an agent; it does not own the transport's process.

    Args:
        transport: Carries the lines.
        client: Serves the agent's requests.
        capabilities: ``clientCapabilities`` as sent; requests beyond them are refused.
        client_info: ``clientInfo`` as sent: name, title, version.
        meta: ``_meta`` of `initialize`.
        on_frame: Sees every message, both ways, for a log: its direction, its line, and what that says.
        on_closed: Called once when the connection is gone, with the reason.
    """

    def __init__(  # noqa: PLR0913 - each is named at the call
        self,
        transport: Transport,
        client: Client,
        *,
        capabilities: JsonObject,
        client_info: JsonObject,
        meta: JsonObject | None = None,
        on_frame: Callable[[Literal["in", "out"], bytes, Any], None] | None = None,
        on_closed: Callable[[AcpError], None] | None = None,
    ) -> None:
        super().__init__()
        self.agent_info: JsonObject = {}
        self._client = client
        self._capabilities = capabilities
        self._client_info = client_info
        self._meta = meta
        self._handlers = _handlers(client, capabilities, self._check_scope)
        self._peer = Peer(
            transport,
            on_notification=self._notified,
            on_request=self._requested,
            on_frame=on_frame,
            on_closed=on_closed,
        )

    @property
    def noise(self) -> deque[tuple[str, str]]:
        """What arrived and was ignored or repaired: the reason, and the beginning of the text."""
        return self._peer.noise

    @property
    def ignored(self) -> int:
        """How many messages and lines were ignored."""
        return self._peer.ignored

    @property
    def open_requests(self) -> dict[int, str]:
        """The method of each request of ours that the agent has not answered, by its id."""
        return self._peer.open_requests

    async def initialize(self, timeout_s: float | None) -> JsonObject:
        """Begin, and agree on the version.

        Returns:
            The agent's answer; its parts are in ``agent_info``, ``agent_capabilities`` and ``auth_methods``.

        Raises:
            VersionMismatch: It speaks another version; the connection is closed.
            AgentTimeout: It did not answer in time.
        """
        self._peer.start()
        params = {
            "protocolVersion": PROTOCOL_VERSION,
            "clientCapabilities": self._capabilities,
            "clientInfo": self._client_info,
            **({} if self._meta is None else {"_meta": self._meta}),
        }
        try:
            answer = object_of("initialize", await self._request("initialize", params, timeout_s=timeout_s))
        except RequestFailed as error:
            error.advice = error.advice or (
                "Does this command speak the Agent Client Protocol? Some agents need a flag for it."
            )
            raise
        version = answer.get("protocolVersion")
        if type(version) is not int or version != PROTOCOL_VERSION:  # `True` and `1.0` are no versions
            await self.close()
            raise VersionMismatch(
                f"the agent speaks version {version!r} of the protocol, we speak {PROTOCOL_VERSION}",
                advice="Install a version of the agent that speaks it.",
            )
        self.agent_info = _object_or_empty(answer.get("agentInfo"))
        self.agent_capabilities = _object_or_empty(answer.get("agentCapabilities"))
        self.auth_methods = _objects(answer.get("authMethods"))
        return answer

    def ignore(self, reason: str, message: Any) -> None:
        """Count a message that cannot be used, and keep its beginning in `noise`."""
        self._peer.ignore(reason, message)

    async def close(self) -> None:
        """Send what waits to be sent, then close; open requests fail."""
        await self._peer.close()

    def _notify(self, method: str, params: JsonObject) -> None:
        self._peer.notify(method, params)

    async def _request(
        self,
        method: str,
        params: JsonObject,
        *,
        timeout_s: float | None,
        on_response: Callable[[JsonObject], None] | None = None,
    ) -> Any:
        try:
            return await self._peer.request(method, params, timeout_s=timeout_s, on_response=on_response)
        except AuthenticationRequired as error:
            error.advice = self._auth_advice()
            raise

    def _notified(self, method: str, params: Any) -> None:
        given = _object_or_empty(params)
        session_id, update = given.get("sessionId"), given.get("update")
        elicitation_id = given.get("elicitationId")
        if method == "session/update" and isinstance(session_id, str) and isinstance(update, dict):
            self._client.session_update(session_id, cast("JsonObject", update))
        elif method == "elicitation/complete" and isinstance(elicitation_id, str):
            self._client.complete_elicitation(elicitation_id)
        elif method in {"session/update", "elicitation/complete"}:
            self._peer.ignore(f"a malformed {method}", params)
        # the protocol: unknown notifications are ignored; the log of frames has them

    def _check_scope(self, params: JsonObject) -> None:
        """See that an elicitation belongs to a session, or to a request of ours that is still open."""
        request_id = own_id(params.get("requestId"))
        if not isinstance(params.get("sessionId"), str) and request_id not in self.open_requests:
            raise RequestError(
                INVALID_PARAMS, "it needs a sessionId, or the requestId of an open request of ours"
            )

    async def _requested(self, method: str, params: Any) -> JsonObject:
        handler = self._handlers.get(method)
        if handler is None:
            raise RequestError(METHOD_NOT_FOUND, "method not found", {"method": method})
        fault = REQUEST_PARAMS[method].fault(params)
        if fault is not None:
            raise RequestError(INVALID_PARAMS, fault)
        return await handler(params) or {}  # v1's schema wants an object where the docs show null


def _handlers(
    client: Client, capabilities: JsonObject, check_scope: Callable[[JsonObject], None]
) -> dict[str, Handler]:
    """Give what serves each method that we have advertised, and no other."""

    async def request_permission(params: JsonObject) -> JsonObject:
        options = well_formed_options(params["options"])
        outcome = await client.request_permission({**params, "options": options})
        offered = [option["optionId"] for option in options]
        if outcome["outcome"] == "selected" and outcome["optionId"] not in offered:
            raise RequestError(INTERNAL_ERROR, "an option was chosen that was not offered")
        return {"outcome": outcome}

    handlers: dict[str, Handler] = {"session/request_permission": request_permission}
    modes = [mode for mode, on in _object_or_empty(capabilities.get("elicitation")).items() if on is not None]

    async def create_elicitation(params: JsonObject) -> JsonObject:
        if params["mode"] not in modes:  # never shown as a mode that it is not
            raise RequestError(
                INVALID_PARAMS, f"elicitation mode {params['mode']!r} is not one of ours: {modes}"
            )
        check_scope(params)
        return await client.create_elicitation(params)

    if modes:
        handlers["elicitation/create"] = create_elicitation
    files = _object_or_empty(capabilities.get("fs"))
    if files.get("readTextFile") is True:
        handlers["fs/read_text_file"] = client.read_text_file
    if files.get("writeTextFile") is True:
        handlers["fs/write_text_file"] = client.write_text_file
    if capabilities.get("terminal") is True:
        handlers |= {
            "terminal/create": client.create_terminal,
            "terminal/output": client.terminal_output,
            "terminal/wait_for_exit": client.wait_for_terminal_exit,
            "terminal/kill": client.kill_terminal,
            "terminal/release": client.release_terminal,
        }
    return handlers


def _object_or_empty(value: Any) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def _objects(value: Any) -> list[JsonObject]:
    if not isinstance(value, list):
        return []
    return [cast("JsonObject", item) for item in cast("list[Any]", value) if isinstance(item, dict)]
