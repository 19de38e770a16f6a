"""The seam between the JSON-RPC peer and whatever carries its lines.

https://agentclientprotocol.com/protocol/transports
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable


class Transport(Protocol):
    """Carries lines both ways; one reader at a time."""

    async def receive(self) -> bytes | None:
        """Wait for the next whole line.

        Returns:
            The line without its newline; ``None`` at the end of the stream.

        Raises:
            AcpError: Nothing more can be received, and why. An `OSError` is understood as the end.
        """
        ...

    async def send(self, line: bytes) -> None:
        """Hand over one line, its newline included.

        Raises:
            AgentExited: It cannot be delivered. An `OSError` is understood as the same.
        """
        ...


@runtime_checkable
class Diagnosable(Protocol):
    """What a transport may offer beyond lines, so that errors can say why the other side fell silent."""

    def stderr_tail(self) -> str:
        """Give the last part of the agent's error output."""
        ...

    async def exit_code_within(self, timeout_s: float) -> int | None:
        """Wait for the agent's exit code; ``None`` where it still runs after ``timeout_s``."""
        ...
