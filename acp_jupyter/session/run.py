"""What surrounds a turn: a handle on it while it runs, and how long a session waits.

See https://agentclientprotocol.com/protocol/prompt-turn.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from acp_jupyter.model.turn import Turn
    from acp_jupyter.session.session import Session
    from acp_jupyter.session.settings import Settings


class Limits(NamedTuple):
    """How long a session waits, in seconds.

    Args:
        start_s: For each answer while the agent starts; generous, a launcher such as npx may fetch it first.
        cancel_grace_s: For the agent to confirm a cancel: then the next prompt gives up, and a turn that took
            too long is ended with its process.
        slow_s: How long a start may take before it is told of, with the agent's last words; again after
            twice as long, and so on.
    """

    start_s: float = 120.0
    cancel_grace_s: float = 10.0
    slow_s: float = 10.0


class TurnRun:
    """A turn under way, for whoever shows it; ``settings`` are those that held at its start."""

    def __init__(self, session: Session, turn: Turn, future: Future[None], settings: Settings) -> None:
        self.session = session
        self.turn = turn
        self.settings = settings
        self._future = future
        self._cancelled_at: float | None = None

    async def wait(self) -> Turn:
        """As `result`, for those who are on a loop of their own.

        Raises:
            AcpError: Why it could not be brought to its end.
        """
        with self.session.redacting():
            await asyncio.wrap_future(self._future)
        return self.turn

    def done(self) -> bool:
        """Whether the turn is over, or its cancelled rest was given up."""
        return self._future.done()

    def on_done(self, callback: Callable[[], object]) -> None:
        """Call ``callback`` when the turn is over, from the loop's thread."""
        self._future.add_done_callback(lambda _future: callback())

    def cancel(self) -> None:
        """Ask the agent to end the turn; open requests are answered ``cancelled``. Safe from any thread."""
        self._cancelled_at = self._cancelled_at or time.monotonic()
        self.session.cancel(self.turn)

    def cancelled_for_s(self) -> float:
        """Return the seconds since `cancel` was first called; 0 where it was not."""
        return time.monotonic() - self._cancelled_at if self._cancelled_at else 0.0

    def result(self, timeout_s: float | None = None) -> Turn:
        """Wait for the end and return the turn.

        Raises:
            AcpError: Why it could not be brought to its end.
        """
        with self.session.redacting():
            self._future.result(timeout_s)
        return self.turn
