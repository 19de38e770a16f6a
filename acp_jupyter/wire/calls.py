"""What we ask of an agent by version 1 of the protocol, a method for each of its methods.

A method that an agent need not have is asked for only where the agent says that it has it.
https://agentclientprotocol.com/protocol/overview#agent
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from acp_jupyter.errors import AgentStartFailed, RequestFailed, UsageError
from acp_jupyter.wire.answers import INTERNAL_ERROR
from acp_jupyter.wire.blocks import block_fault

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    JsonObject = dict[str, Any]

_ANSWER_S = 60.0
_BLOCK_CAPABILITY = {"image": "image", "audio": "audio", "resource": "embeddedContext"}


class Calls(ABC):
    """The calls of a connection that has been initialized."""

    def __init__(self) -> None:
        self.agent_capabilities: JsonObject = {}
        self.auth_methods: list[JsonObject] = []

    @abstractmethod
    async def _request(
        self,
        method: str,
        params: JsonObject,
        *,
        timeout_s: float | None,
        on_response: Callable[[JsonObject], None] | None = None,
    ) -> Any:
        """Send a request and wait for its result."""

    @abstractmethod
    def _notify(self, method: str, params: JsonObject) -> None:
        """Send a notification."""

    # --- log-in

    async def authenticate(self, method_id: str, *, timeout_s: float | None = None) -> None:
        """Log in by one of the agent's own methods.

        Args:
            method_id: One of ``auth_methods``.
            timeout_s: A person may be busy in a browser: by default, no limit.

        Raises:
            UsageError: No such method, or one that runs in a terminal and must not be called.
        """
        method = next((method for method in self.auth_methods if method.get("id") == method_id), None)
        if method is None:
            raise UsageError(f"the agent has no log-in {method_id!r}", advice=self._auth_advice())
        kind = method.get("type")
        if kind == "terminal":
            raise UsageError(f"the log-in {method_id!r} runs in a terminal", advice="%acp login says how.")
        if kind not in (None, "agent"):
            raise UsageError(
                f"the log-in {method_id!r} is of a kind that we do not know: {kind!r}",
                advice=_by_hand(method),
            )
        await self._request("authenticate", {"methodId": method_id}, timeout_s=timeout_s)

    async def logout(self, *, timeout_s: float | None = _ANSWER_S) -> None:
        """Log out; later prompts may want a log-in again.

        Raises:
            UsageError: The agent offers no such thing.
        """
        self._require(("auth", "logout"), "log-outs")
        await self._request("logout", {}, timeout_s=timeout_s)

    # --- sessions

    async def new_session(  # noqa: PLR0913  # each is named at the call
        self,
        cwd: str,
        additional_directories: Sequence[str] = (),
        mcp_servers: Sequence[JsonObject] = (),
        *,
        meta: JsonObject | None = None,
        timeout_s: float | None = _ANSWER_S,
        on_response: Callable[[JsonObject], None] | None = None,
    ) -> JsonObject:
        """Make a session.

        Args:
            cwd: Its working directory, absolute.
            additional_directories: Further roots, absolute.
            mcp_servers: As the protocol spells them.
            meta: The agent's own, ``_meta``.
            timeout_s: How long to wait.
            on_response: Gets the raw response before anything that arrived after it is handled.

        Returns:
            The answer, with its ``sessionId``.

        Raises:
            UsageError: A path is not absolute, or the agent cannot do what is asked.
            AuthenticationRequired: Log in first.
        """
        params = self._place(cwd, additional_directories, mcp_servers)
        params |= {} if meta is None else {"_meta": meta}
        answer = await self._request("session/new", params, timeout_s=timeout_s, on_response=on_response)
        return _session("session/new", answer)

    async def load_session(  # noqa: PLR0913  # each is named at the call
        self,
        session_id: str,
        cwd: str,
        additional_directories: Sequence[str] = (),
        mcp_servers: Sequence[JsonObject] = (),
        *,
        timeout_s: float | None = _ANSWER_S,
        on_response: Callable[[JsonObject], None] | None = None,
    ) -> JsonObject:
        """Go on with a session; its history comes as updates before the answer. Otherwise as `new_session`.

        Returns:
            The answer, empty where it was null.
        """
        self._require(("loadSession",), "sessions to load")
        params = {"sessionId": session_id, **self._place(cwd, additional_directories, mcp_servers)}
        answer = await self._request("session/load", params, timeout_s=timeout_s, on_response=on_response)
        return object_of("session/load", {} if answer is None else answer)

    async def resume_session(  # noqa: PLR0913  # each is named at the call
        self,
        session_id: str,
        cwd: str,
        additional_directories: Sequence[str] = (),
        mcp_servers: Sequence[JsonObject] = (),
        *,
        timeout_s: float | None = _ANSWER_S,
        on_response: Callable[[JsonObject], None] | None = None,
    ) -> JsonObject:
        """Go on with a session, without its history. Otherwise as `load_session`."""
        self._require(("sessionCapabilities", "resume"), "sessions to resume")
        params = {"sessionId": session_id, **self._place(cwd, additional_directories, mcp_servers)}
        answer = await self._request("session/resume", params, timeout_s=timeout_s, on_response=on_response)
        return object_of("session/resume", {} if answer is None else answer)

    async def fork_session(  # noqa: PLR0913  # each is named at the call
        self,
        session_id: str,
        cwd: str,
        additional_directories: Sequence[str] = (),
        mcp_servers: Sequence[JsonObject] = (),
        *,
        timeout_s: float | None = _ANSWER_S,
        on_response: Callable[[JsonObject], None] | None = None,
    ) -> JsonObject:
        """Make a copy of a session (a draft of the protocol). Otherwise as `new_session`."""
        self._require(("sessionCapabilities", "fork"), "sessions to fork")
        params = {"sessionId": session_id, **self._place(cwd, additional_directories, mcp_servers)}
        answer = await self._request("session/fork", params, timeout_s=timeout_s, on_response=on_response)
        return _session("session/fork", answer)

    async def list_sessions(
        self, *, cwd: str | None = None, cursor: str | None = None, timeout_s: float | None = _ANSWER_S
    ) -> JsonObject:
        """Return a page of what the agent remembers.

        Args:
            cwd: Of this directory only, absolute.
            cursor: ``nextCursor`` of the page before, as it came.
            timeout_s: How long to wait.

        Returns:
            ``{"sessions": [...], "nextCursor"?}``; entries without an id are left out, and a cursor that is
            no text ends the list.
        """
        self._require(("sessionCapabilities", "list"), "questions for its sessions", self._sessions_advice())
        if cwd is not None:
            _absolute(cwd)
        given = {"cwd": cwd, "cursor": cursor}
        params = {key: value for key, value in given.items() if value is not None}
        page = object_of("session/list", await self._request("session/list", params, timeout_s=timeout_s))
        sessions = [one for one in _objects(page.get("sessions")) if isinstance(one.get("sessionId"), str)]
        if not isinstance(page.get("nextCursor"), str):
            page.pop("nextCursor", None)
        return {**page, "sessions": sessions}

    async def close_session(self, session_id: str, *, timeout_s: float | None = _ANSWER_S) -> None:
        """Let the agent cancel what runs in a session and free what it holds."""
        self._require(("sessionCapabilities", "close"), "sessions to close")
        await self._request("session/close", {"sessionId": session_id}, timeout_s=timeout_s)

    async def delete_session(self, session_id: str, *, timeout_s: float | None = _ANSWER_S) -> None:
        """Let the agent forget a session."""
        self._require(("sessionCapabilities", "delete"), "sessions to delete")
        await self._request("session/delete", {"sessionId": session_id}, timeout_s=timeout_s)

    # --- what it lets be chosen

    async def set_mode(self, session_id: str, mode_id: str, *, timeout_s: float | None = _ANSWER_S) -> None:
        """Set the mode, where the agent has modes and no option for them."""
        await self._request(
            "session/set_mode", {"sessionId": session_id, "modeId": mode_id}, timeout_s=timeout_s
        )

    async def set_config_option(
        self,
        session_id: str,
        config_id: str,
        value: str | bool,  # noqa: FBT001  # the value is the point
        *,
        timeout_s: float | None = _ANSWER_S,
    ) -> list[JsonObject] | None:
        """Set an option.

        Returns:
            The complete list, or ``None`` where the answer held none: then a notification tells it.
        """
        params: JsonObject = {"sessionId": session_id, "configId": config_id, "value": value}
        if isinstance(value, bool):
            params["type"] = "boolean"
        answer = await self._request("session/set_config_option", params, timeout_s=timeout_s)
        options = cast("JsonObject", answer).get("configOptions") if isinstance(answer, dict) else None
        return _objects(options) if isinstance(options, list) else None

    async def set_model(self, session_id: str, model_id: str, *, timeout_s: float | None = _ANSWER_S) -> None:
        """Set the model of an older agent: this method is no part of the protocol any more."""
        params = {"sessionId": session_id, "modelId": model_id}
        await self._request("session/set_model", params, timeout_s=timeout_s)

    # --- extensions

    async def extension_request(
        self, method: str, params: JsonObject, *, timeout_s: float | None = _ANSWER_S
    ) -> Any:
        """Call a method of the agent's own, whose name begins with an underscore."""
        return await self._request(_own(method), params, timeout_s=timeout_s)

    def extension_notification(self, method: str, params: JsonObject) -> None:
        """Send a notification of the agent's own, whose name begins with an underscore."""
        self._notify(_own(method), params)

    # --- prompts

    async def prompt(
        self, session_id: str, blocks: Sequence[JsonObject], *, on_end: Callable[[JsonObject], None]
    ) -> JsonObject:
        """Prompt, and wait for the turn's end, however long it takes.

        Args:
            session_id: The session.
            blocks: Content blocks.
            on_end: Gets the raw response, result or error, before anything that arrived after it is handled.

        Returns:
            The result, with its ``stopReason``.

        Raises:
            UsageError: The agent does not take such blocks.
        """
        for block in blocks:
            kind = str(block.get("type"))
            if kind in _BLOCK_CAPABILITY:
                self._require(("promptCapabilities", _BLOCK_CAPABILITY[kind]), f"{kind} content")
            fault = block_fault(block)
            if fault is not None:
                raise UsageError(f"a content block cannot be sent: {fault}")
        params = {"sessionId": session_id, "prompt": list(blocks)}
        answer = await self._request("session/prompt", params, timeout_s=None, on_response=on_end)
        return object_of("session/prompt", answer)

    def cancel(self, session_id: str) -> None:
        """Ask the agent to end the turn; the prompt is answered when it has."""
        self._notify("session/cancel", {"sessionId": session_id})

    # --- what the agent offers

    def offers(self, *path: str) -> bool:
        """Whether the agent has said that it has this, as in ``offers("sessionCapabilities", "list")``."""
        value: Any = self.agent_capabilities
        for key in path:
            value = cast("JsonObject", value).get(key) if isinstance(value, dict) else None
        return value is not None and value is not False  # `{}` says yes

    def _require(self, path: tuple[str, ...], what: str, advice: str = "") -> None:
        if not self.offers(*path):
            raise UsageError(
                f"the agent does not take {what}: it does not offer {'.'.join(path)}", advice=advice
            )

    def _place(
        self, cwd: str, additional_directories: Sequence[str], mcp_servers: Sequence[JsonObject]
    ) -> JsonObject:
        for path in (cwd, *additional_directories):
            _absolute(path)
        params: JsonObject = {"cwd": cwd, "mcpServers": list(mcp_servers)}
        if additional_directories:
            self._require(("sessionCapabilities", "additionalDirectories"), "further directories")
            params["additionalDirectories"] = list(additional_directories)
        for kind in {server.get("type") for server in mcp_servers} & {"http", "sse"}:
            named = [server.get("name") for server in mcp_servers if server.get("type") == kind]
            removed = ", ".join(f"%acp mcp remove {name}" for name in named)
            self._require(
                ("mcpCapabilities", str(kind)), f"MCP servers over {kind}", f"Go on without: {removed}"
            )
        return params

    def _sessions_advice(self) -> str:
        """How a session of before can be had without a list."""
        if self.offers("sessionCapabilities", "resume"):
            return "%acp resume goes on with the one this notebook had, %acp resume ID with another."
        if self.offers("loadSession"):
            return "%acp load goes on with the one this notebook had, %acp load ID with another."
        return "It takes up none of before either: each of its sessions is new."

    def _auth_advice(self) -> str:
        names = [f"{method.get('id')} ({method.get('name') or 'unnamed'})" for method in self.auth_methods]
        return (
            f"Its log-ins: {', '.join(names)}. Log in with: %acp login {self.auth_methods[0].get('id')}"
            if names
            else "It offers no log-in; see its own documentation."
        )


def _by_hand(method: JsonObject) -> str:
    """Return what a person can do about a log-in that we cannot call: older agents name variables."""
    names = [name for one in _objects(method.get("vars")) if isinstance(name := one.get("name"), str)]
    if names:
        return (
            f"It is by {', '.join(names)}: set what the agent's documentation says in the environment of the "
            "kernel, then %acp restart"
        )
    return "See the agent's own documentation; when you have logged in: %acp login --done"


def object_of(method: str, answer: Any) -> JsonObject:
    """Return an answer that must be an object.

    Raises:
        RequestFailed: It is none.
    """
    if not isinstance(answer, dict):
        raise RequestFailed(method, INTERNAL_ERROR, "its answer is no object", answer)
    return cast("JsonObject", answer)


def _session(method: str, answer: Any) -> JsonObject:
    session = object_of(method, answer)
    if not isinstance(session.get("sessionId"), str) or not session["sessionId"]:
        raise AgentStartFailed(f"the agent answered {method} without a sessionId: {session}")
    return session


def _absolute(path: str) -> None:
    if not Path(path).is_absolute():
        raise UsageError(f"not an absolute path: {path!r}")


def _objects(value: Any) -> list[JsonObject]:
    if not isinstance(value, list):
        return []
    return [cast("JsonObject", item) for item in cast("list[Any]", value) if isinstance(item, dict)]


def _own(method: str) -> str:
    if not method.startswith("_"):
        raise UsageError(f"{method!r} is no extension", advice="Their names begin with an underscore.")
    return method
