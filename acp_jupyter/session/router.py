"""Which session on a connection a message is for: several may share one agent.

See https://agentclientprotocol.com/protocol/session-setup#session-id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from acp_jupyter.model.content import as_dict
from acp_jupyter.wire.answers import INVALID_PARAMS, RequestError

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_jupyter.wire.v1 import Client

# What comes for sessions whose ids are not known yet; beyond it updates are ignored, and noted.
_EARLY = 1000


class Guest(Protocol):
    """A session on a connection, as the connection sees it."""

    @property
    def client(self) -> Client:
        """What serves the agent's requests in it."""
        ...

    def on_frame(self, direction: str, line: bytes, message: Any, /) -> None:
        """See a message of its own, or one that names no session, in either direction."""
        ...

    def on_lost(self) -> None:
        """Take note that the agent ended the connection, and not we."""
        ...


class Router:
    """The `acp_jupyter.wire.v1.Client` of a connection: hands each message to the session that it names.

    A single session gets everything, also what names another: agents tell of their child sessions so. Of
    several, each gets its own. What names none of them is ignored and noted, and a request is refused.

    Args:
        shared: Whether several sessions may come.
        ignore: Takes note of what is ignored: why, and the message.
    """

    def __init__(self, *, shared: bool, ignore: Callable[[str, Any], None]) -> None:
        self.guests: list[Guest] = []
        self.opening = 0  # sessions that were asked for, and whose ids are not known yet
        self._shared = shared
        self._ignore = ignore
        self._owner: dict[str, Guest] = {}
        self._early: list[tuple[str, dict[str, Any]]] = []

    def claim(self, session_id: str, guest: Guest) -> None:
        """Let a session's messages go to ``guest``, first those that came before its id was known."""
        self._owner[session_id] = guest
        early, self._early = self._early, []
        for named, update in early:
            self.session_update(named, update)

    def forget(self, guest: Guest, *, session_id: str | None = None) -> None:
        """Let nothing go to ``guest`` any more, or nothing of one session."""
        self._owner = {
            one: owner
            for one, owner in self._owner.items()
            if owner is not guest or session_id not in {None, one}
        }

    def opened(self) -> None:
        """One of the sessions that were asked for has its id, or will never have one."""
        self.opening -= 1
        if not self.opening:
            early, self._early = self._early, []
            for named, update in early:
                self.session_update(named, update)

    def begin_anew(self) -> None:
        """Another process knows none of the sessions of the one before."""
        self._owner.clear()
        self._early.clear()

    # --- what comes

    def session_update(self, session_id: str, update: dict[str, Any]) -> None:
        """Hand an update over in the order of the wire; an early one waits until its session is known."""
        guest = self._guest(session_id)
        if guest is not None:
            guest.client.session_update(session_id, update)
        elif self.opening and len(self._early) < _EARLY:
            self._early.append((session_id, update))
        else:
            self._ignore(
                "a session/update of no session of ours", {"sessionId": session_id, "update": update}
            )

    def complete_elicitation(self, elicitation_id: str) -> None:
        """Tell every session: each knows its own."""
        for guest in self.guests:
            guest.client.complete_elicitation(elicitation_id)

    async def request_permission(self, params: dict[str, Any]) -> dict[str, Any]:
        """Let its session decide."""
        return await self._of(params).request_permission(params)

    async def create_elicitation(self, params: dict[str, Any]) -> dict[str, Any]:
        """Let its session ask."""
        return await self._of(params).create_elicitation(params)

    async def read_text_file(self, params: dict[str, Any]) -> dict[str, Any]:
        """Let its session read."""
        return await self._of(params).read_text_file(params)

    async def write_text_file(self, params: dict[str, Any]) -> dict[str, Any] | None:
        """Let its session write."""
        return await self._of(params).write_text_file(params)

    async def create_terminal(self, params: dict[str, Any]) -> dict[str, Any]:
        """Let its session start a command."""
        return await self._of(params).create_terminal(params)

    async def terminal_output(self, params: dict[str, Any]) -> dict[str, Any]:
        """Let its session tell of a terminal."""
        return await self._of(params).terminal_output(params)

    async def wait_for_terminal_exit(self, params: dict[str, Any]) -> dict[str, Any]:
        """Let its session wait for a command."""
        return await self._of(params).wait_for_terminal_exit(params)

    async def kill_terminal(self, params: dict[str, Any]) -> dict[str, Any] | None:
        """Let its session kill a command."""
        return await self._of(params).kill_terminal(params)

    async def release_terminal(self, params: dict[str, Any]) -> dict[str, Any] | None:
        """Let its session forget a terminal."""
        return await self._of(params).release_terminal(params)

    def frame(self, direction: str, line: bytes, message: Any) -> None:
        """Show a message to its session; one that names none, to all."""
        owner = self._guest(as_dict(as_dict(message).get("params")).get("sessionId"))
        for guest in [owner] if owner is not None else list(self.guests):
            guest.on_frame(direction, line, message)

    def lost(self) -> None:
        """Tell every session that the agent is gone."""
        for guest in list(self.guests):
            guest.on_lost()

    def _guest(self, session_id: Any) -> Guest | None:
        if not self._shared:
            return self.guests[0]
        return self._owner.get(session_id) if isinstance(session_id, str) else None

    def _of(self, params: dict[str, Any]) -> Client:
        guest = self._guest(params.get("sessionId"))
        if guest is None:
            raise RequestError(INVALID_PARAMS, "no session of ours", {"sessionId": params.get("sessionId")})
        return guest.client
