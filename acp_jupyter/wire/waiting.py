"""Waiting with a limit."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Coroutine


async def within(timeout_s: float, waiting: Coroutine[Any, Any, object]) -> bool:
    """Wait for a coroutine, at most ``timeout_s``; say whether it ended in time.

    Not `asyncio.wait_for`: before Python 3.12 that swallows a cancellation which comes in the moment of the
    end, and a loop that was to be stopped by it goes on for ever.
    """
    task = asyncio.ensure_future(waiting)
    try:
        done, _ = await asyncio.wait([task], timeout=timeout_s)
    finally:
        task.cancel()
    return bool(done)
