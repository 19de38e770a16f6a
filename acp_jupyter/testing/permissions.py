"""Asking before acting, with an agent's duties: what was approved is what is done.

Spec: https://agentclientprotocol.com/protocol/tool-calls
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acp_jupyter.testing.stdio import RpcError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from acp_jupyter.testing.server import Agent

ALLOWING = ("allow_once", "allow_always")


@dataclass(frozen=True)
class Operation:
    """Something that needs a yes.

    Args:
        call: The tool call's fields, with its `toolCallId`.
        identity: What exactly would be done; another identity is another operation, and is asked again.
        scope: What an *always* remembers; ``None`` offers none.
        always: That option's id and its name, which says the scope.
    """

    call: dict[str, Any]
    identity: tuple[str, ...]
    scope: tuple[str, ...] | None = None
    always: tuple[str, str] = ("", "")

    def options(self) -> list[dict[str, str]]:
        """The options to choose from."""
        options = [
            {"optionId": "allow-once", "name": "Allow once", "kind": "allow_once"},
            {"optionId": self.always[0], "name": self.always[1], "kind": "allow_always"},
            {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
        ]
        return [each for each in options if self.scope is not None or each["kind"] != "allow_always"]


class Permissions:
    """Asks, and remembers the *always* answers of one session, each within its scope.

    Args:
        agent: Whose client is asked.
        session_id: The session.
    """

    def __init__(self, agent: Agent, session_id: str) -> None:
        self._agent = agent
        self._session_id = session_id
        self._scopes: set[tuple[str, ...]] = set()

    def forget(self) -> None:
        """Ask about everything again."""
        self._scopes.clear()

    async def permitted(
        self, describe: Callable[[], Awaitable[Operation]], changed: Callable[[Operation], Awaitable[None]]
    ) -> Operation | str:
        """Ask until what was approved is what would be done now.

        Args:
            describe: Says what would be done, looking anew each time.
            changed: Awaited when that became something else while we asked.

        Returns:
            The operation to perform, or why not.
        """
        operation = await describe()
        self._agent.update(self._session_id, {"sessionUpdate": "tool_call", **operation.call})
        while operation.scope not in self._scopes:  # None never is
            no = await self._ask(operation)
            if no:
                return no
            now = await describe()
            if now.identity == operation.identity:
                return now
            await changed(now)
            operation = now
        return operation

    async def _ask(self, operation: Operation) -> str:
        """Why not, or nothing; an outcome that we do not know is a no."""
        options = operation.options()
        params = {"sessionId": self._session_id, "toolCall": operation.call, "options": options}
        try:
            answer = await self._agent.connection.request("session/request_permission", params)
            outcome = answer["outcome"]
            if outcome["outcome"] == "cancelled":
                return "Not approved: the question was cancelled."
            selected = outcome["optionId"] if outcome["outcome"] == "selected" else None
        except (RpcError, KeyError, TypeError):
            selected = None
        kind = next((each["kind"] for each in options if each["optionId"] == selected), "unknown")
        if kind not in ALLOWING:
            return (
                "Rejected." if kind == "reject_once" else "Rejected: the answer was not one that I offered."
            )
        if kind == "allow_always" and operation.scope is not None:
            self._scopes.add(operation.scope)
        return ""
