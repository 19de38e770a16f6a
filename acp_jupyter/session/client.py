"""What the agent may ask of us: the client's methods, each handed to the part that knows.

See https://agentclientprotocol.com/protocol/overview#client.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from acp_jupyter.model import events
from acp_jupyter.model.content import as_dict
from acp_jupyter.session.client_files import ClientFiles
from acp_jupyter.wire.answers import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

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
        on_refused: Callable[[str], None] = lambda _text: None,
    ) -> None:
        files = client_files or ClientFiles(roots, check_prompted)
        self._apply = apply
        self.request_permission = broker.ask
        self.create_elicitation = elicitations.create
        self.complete_elicitation = elicitations.complete
        self._files = files
        self._on_refused = on_refused
        self.create_terminal = terminals.create
        self.wait_for_terminal_exit = terminals.wait_for_exit
        self.kill_terminal = terminals.kill
        self.release_terminal = terminals.release
        self._terminals = terminals

    def session_update(self, session_id: str, update: dict[str, Any]) -> None:  # noqa: ARG002  # one session a connection: a child session's updates belong to this turn too
        """Apply an update, in the order of the wire."""
        self._apply(events.SessionUpdate(update))

    async def read_text_file(self, params: dict[str, Any]) -> dict[str, Any]:
        """Read a file; what is refused is told."""
        with self._telling("Read"):
            return await self._files.read_text_file(params)

    async def write_text_file(self, params: dict[str, Any]) -> dict[str, Any]:
        """Write a file; what is refused is told."""
        with self._telling("Write"):
            return await self._files.write_text_file(params)

    @contextlib.contextmanager
    def _telling(self, what: str) -> Generator[None]:
        try:
            yield
        except RequestError as error:
            # a file that is missing is an answer; what a person was asked about is told with the question
            if as_dict(error.data).get("reason") not in {None, "not_found", "denied"}:
                self._on_refused(f"{what}: {error.message}")
            raise

    async def terminal_output(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return a terminal's output so far."""
        return self._terminals.output(params)
