"""Prompts stand in line: one turn at a time, in the order in which they came.

See https://agentclientprotocol.com/protocol/prompt-turn: a session has one prompt in flight.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


class NotConfirmed(Exception):
    """The turn at the head of the line was cancelled, and its agent does not say that it has ended."""


class Line:
    """Lets one turn through at a time; nobody waits for ever for one that was cancelled.

    Args:
        grace_s: How long the agent may take to confirm a cancel while others wait.
    """

    def __init__(self, grace_s: float) -> None:
        self._grace_s = grace_s
        self._lock = asyncio.Lock()
        self._cancelled = asyncio.Event()
        self._entered = 0

    def head_was_cancelled(self) -> None:
        """Say that the turn which runs was cancelled."""
        self._cancelled.set()

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """Wait for the head of the line, and stay there.

        Raises:
            NotConfirmed: The turn there was cancelled and does not end.
        """
        await self._enter()
        self._entered += 1
        try:
            yield
        finally:
            self._cancelled.clear()
            self._lock.release()

    async def _enter(self) -> None:
        entering: asyncio.Task[Any] = asyncio.create_task(self._lock.acquire())
        try:
            while not entering.done():
                await self._until_there_or_cancelled(entering)
                await self._wait_for_the_agent(entering)
        except BaseException:
            if not entering.cancel() and not entering.cancelled():
                self._lock.release()
            raise

    async def _until_there_or_cancelled(self, entering: asyncio.Task[Any]) -> None:
        cancelled = asyncio.create_task(self._cancelled.wait())
        try:
            await asyncio.wait([entering, cancelled], return_when=asyncio.FIRST_COMPLETED)
        finally:
            cancelled.cancel()

    async def _wait_for_the_agent(self, entering: asyncio.Task[Any]) -> None:
        head = self._entered
        await asyncio.wait([entering], timeout=self._grace_s)
        if not entering.done() and self._cancelled.is_set() and head == self._entered:
            raise NotConfirmed
