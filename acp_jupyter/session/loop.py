"""The event loop that everything asynchronous runs on, in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

T = TypeVar("T")
_LEAVE_S = 1.0


class LoopThread:
    """An asyncio loop in a daemon thread, started at its first use.

    The kernel's own loop is never patched nor re-entered: with it patched, cells queued behind a running one
    silently never ran.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="acp-loop", daemon=True)
                self._thread.start()
            return self._loop

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Run ``coroutine`` on the loop; the future may be waited for in any other thread."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._running())

    def call(self, function: Callable[..., object], *args: Any) -> None:
        """Call ``function`` on the loop soon; safe from any thread."""
        self._running().call_soon_threadsafe(function, *args)

    def run(self, coroutine: Coroutine[Any, Any, T], timeout_s: float | None = None) -> T:
        """Run ``coroutine`` on the loop and wait for it, from a thread that is not the loop's."""
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise RuntimeError("called from the loop's own thread: await it instead")
        return self.submit(coroutine).result(timeout_s)

    def close(self) -> None:
        """Cancel what still runs on the loop, stop it, and end its thread."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(_cancel_the_rest(), loop).add_done_callback(
            lambda _done: loop.call_soon_threadsafe(loop.stop)
        )
        thread.join(timeout=2 * _LEAVE_S)
        if not thread.is_alive():
            loop.close()


async def _cancel_the_rest() -> None:
    """Whoever waits for one of these in another thread gets an answer."""
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    if rest:
        await asyncio.wait(rest, timeout=_LEAVE_S)
