"""Opens a session on a running agent: a new one, or one that it remembers.

See https://agentclientprotocol.com/protocol/session-setup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from acp_jupyter.model import events
from acp_jupyter.model.content import as_dict, as_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acp_jupyter.model.turn import AgentInfo
    from acp_jupyter.session.roots import Roots
    from acp_jupyter.wire.v1 import Connection

How = Literal["new", "load", "resume", "fork"]


class Place(NamedTuple):
    """Where a session works, and with what: its directories, its MCP servers as the protocol spells them.

    ``meta`` is told the agent with a new session, as ``_meta``.
    """

    roots: Roots
    mcp_servers: Sequence[dict[str, Any]]
    meta: dict[str, Any] | None = None


async def open_session(  # noqa: PLR0913  # each is named at the call
    connection: Connection,
    apply: Callable[[events.Event], None],
    *,
    how: How,
    session_id: str | None,
    place: Place,
    agent: AgentInfo,
    timeout_s: float,
) -> None:
    """Open a session; its state is set in the order of the wire.

    Args:
        connection: Initialized.
        apply: Applies an event.
        how: ``new``, or what to do with ``session_id``.
        session_id: The session that the agent remembers.
        place: Where it is to work.
        agent: Who tells the history, where one is told.
        timeout_s: How long the answer may take.

    Raises:
        UsageError: The agent cannot do that.
        RequestFailed: It refuses; `AuthenticationRequired` where it wants a log-in.
        AgentError: It ends, or does not answer in time.
    """

    def answered(response: dict[str, Any]) -> None:
        if "error" in response:
            return
        answer = as_dict(response.get("result"))
        opened = session_id if how in {"load", "resume"} else as_text(answer.get("sessionId"))
        if opened is not None:
            apply(events.SessionOpened(opened, answer))

    roots, mcp_servers, meta = place
    more: dict[str, Any] = {"timeout_s": timeout_s, "on_response": answered}
    if how == "new" or session_id is None:
        await connection.new_session(roots.cwd, roots.additional, mcp_servers, meta=meta, **more)
        return
    remembered = {
        "load": connection.load_session,
        "resume": connection.resume_session,
        "fork": connection.fork_session,
    }
    # Only a load tells history by the protocol; agents do it on a resume and a fork too.
    apply(events.ReplayBegan(session_id, agent, roots.cwd))
    opened = False
    try:
        await remembered[how](session_id, roots.cwd, roots.additional, mcp_servers, **more)
        opened = True
    finally:
        if not opened:
            apply(events.ReplayFailed())


def way_back(connection: Connection) -> How | None:
    """Return how a session of an earlier process can be had again: without a replay, with one, or not."""
    if connection.offers("sessionCapabilities", "resume"):
        return "resume"
    return "load" if connection.offers("loadSession") else None
