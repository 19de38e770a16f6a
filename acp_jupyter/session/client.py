"""What the agent may ask of us: the client's methods, each handed to the part that knows.

See https://agentclientprotocol.com/protocol/overview#client.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_jupyter.model import events
from acp_jupyter.session.client_files import ClientFiles

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_jupyter.session.elicitation import ElicitationBroker
    from acp_jupyter.session.permissions import PermissionBroker
    from acp_jupyter.session.roots import Roots
    from acp_jupyter.session.terminals import Terminals


class ClientSide:
    """The `acp_jupyter.wire.v1.Client` of a session."""

    def __init__(  # noqa: PLR0913  # one place makes it
        self,
        apply: Callable[[events.Event], None],
        broker: PermissionBroker,
        terminals: Terminals,
        roots: Callable[[], Roots],
        check_prompted: Callable[[], None],
        *,
        elicitations: ElicitationBroker,
        client_files: ClientFiles | None = None,
    ) -> None:
        files = client_files or ClientFiles(roots, check_prompted)
        self._apply = apply
        self.request_permission = broker.ask
        self.create_elicitation = elicitations.create
        self.complete_elicitation = elicitations.complete
        self.read_text_file = files.read_text_file
        self.write_text_file = files.write_text_file
        self.create_terminal = terminals.create
        self.wait_for_terminal_exit = terminals.wait_for_exit
        self.kill_terminal = terminals.kill
        self.release_terminal = terminals.release
        self._terminals = terminals

    def session_update(self, session_id: str, update: dict[str, Any]) -> None:  # noqa: ARG002  # one session a connection: a child session's updates belong to this turn too
        """Apply an update, in the order of the wire."""
        self._apply(events.SessionUpdate(update))

    async def terminal_output(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return a terminal's output so far."""
        return self._terminals.output(params)
