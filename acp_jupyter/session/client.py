"""What the agent may ask of us: the client's methods, each handed to the part that knows.

See https://agentclientprotocol.com/protocol/overview#client.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from acp_jupyter.model import events
from acp_jupyter.session import files

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_jupyter.session.permissions import PermissionBroker
    from acp_jupyter.session.roots import Roots
    from acp_jupyter.session.terminals import Terminals


class ClientSide:
    """The `acp_jupyter.wire.v1.Client` of a session."""

    def __init__(
        self,
        apply: Callable[[events.Event], None],
        broker: PermissionBroker,
        terminals: Terminals,
        roots: Callable[[], Roots],
        check_prompted: Callable[[], None],
    ) -> None:
        self._apply = apply
        self._check_prompted = check_prompted
        self._roots = roots
        self.request_permission = broker.ask
        self.create_terminal = terminals.create
        self.wait_for_terminal_exit = terminals.wait_for_exit
        self.kill_terminal = terminals.kill
        self.release_terminal = terminals.release
        self._terminals = terminals

    def session_update(self, session_id: str, update: dict[str, Any]) -> None:  # noqa: ARG002  # one session a connection: a child session's updates belong to this turn too
        """Apply an update, in the order of the wire."""
        self._apply(events.SessionUpdate(update))

    async def read_text_file(self, params: dict[str, Any]) -> dict[str, Any]:
        """Read a file within the roots."""
        return await asyncio.to_thread(files.read_text_file, params, self._roots())

    async def write_text_file(self, params: dict[str, Any]) -> dict[str, Any]:
        """Write a file within the roots, while a prompt is under way."""
        self._check_prompted()
        return await asyncio.to_thread(files.write_text_file, params, self._roots())

    async def terminal_output(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return a terminal's output so far."""
        return self._terminals.output(params)
