"""Wait in a cell for something that happens elsewhere, and let clicks through meanwhile.

A click is a comm message on the shell channel, which nobody reads while a cell runs: a cell that waits for
the click would wait for ever. `ShellPump` reads the channel from within the waiting cell, serves comm and
info messages in place and hands all others back to ipykernel in the order of arrival. It never turns the
event loop: no cell runs inside another.

The messages: https://jupyter-client.readthedocs.io/en/stable/messaging.html#custom-messages
"""

from __future__ import annotations

import contextlib
import logging
import math
import socket
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from typing import TYPE_CHECKING, Any

import zmq
from IPython.core.getipython import get_ipython

from acp_jupyter.kernel.interrupts import Interrupts
from acp_jupyter.kernel.main_shell import MainShell

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

    from acp_jupyter.kernel.main_shell import Frames

log = logging.getLogger(__name__)

# messages read at a stretch, so that a flood of them does not keep wait() from looking at done()
_BATCH = 100
# how long a request may stay unseen that ipykernel 7.0 to 7.3 has overlooked
_NUDGE_S = 0.25


class Waiter(ABC):
    """A wait in the running cell; entered as a context manager around the calls of `wait`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        return None

    def wait(
        self,
        done: Callable[[], bool],
        *,
        on_tick: Callable[[], None] | None = None,
        tick_s: float = 0.04,
        timeout_s: float | None = None,
    ) -> bool:
        """Wait until ``done()`` is true.

        Args:
            done: Looked at after every wake, tick and served message.
            on_tick: Called every ``tick_s``, and right after a wake; what it raises ends the wait.
            tick_s: Seconds between two ticks.
            timeout_s: Seconds after which to give up; ``None`` waits for ever.

        Returns:
            False where the time was up first.

        Raises:
            KeyboardInterrupt: The cell was interrupted.
        """
        end = math.inf if timeout_s is None else time.monotonic() + timeout_s
        next_tick = time.monotonic() + tick_s
        while not done():
            now = time.monotonic()
            if now >= end:
                return False
            woken = self._pause(max(0.0, min(next_tick, end) - now))
            if woken or time.monotonic() >= next_tick:
                next_tick = time.monotonic() + tick_s
                if on_tick is not None:
                    on_tick()
        return True

    @abstractmethod
    def wake(self) -> None:
        """Make `wait` look at ``done()`` at once; from any thread, as often as one likes."""

    @abstractmethod
    def _pause(self, seconds: float) -> bool:
        """Pause for at most ``seconds``; true where a wake ended it."""


class PlainWait(Waiter):
    """Wait without serving anything: in a thread, in a subshell, outside kernels."""

    def __init__(self) -> None:
        self._bell = threading.Event()

    def wake(self) -> None:
        """Make `wait` look at ``done()`` at once; from any thread, as often as one likes."""
        self._bell.set()

    def _pause(self, seconds: float) -> bool:
        woken = self._bell.wait(seconds)
        self._bell.clear()
        return woken


class ShellPump(Waiter):
    """Wait in a cell of the main shell and serve its comm and info messages meanwhile; made by `detect`.

    Args:
        shell: The main shell of the running kernel.
    """

    def __init__(self, shell: MainShell) -> None:
        self._shell = shell
        self._unserved: deque[Frames] = deque()
        self._interrupts = Interrupts()
        self._poller = zmq.Poller()
        self._poller.register(shell.socket, zmq.POLLIN)
        self._bell: tuple[socket.socket, socket.socket] | None = None
        self._bell_lock = threading.Lock()
        self._next_nudge = 0.0

    @classmethod
    def detect(cls) -> ShellPump | None:
        """Return the pump for the cell that runs in this thread, or None with the reason in the debug log."""
        if threading.current_thread() is not threading.main_thread():
            log.debug("no shell pump: not the main thread")
            return None
        kernel = getattr(get_ipython(), "kernel", None)
        if kernel is None:
            log.debug("no shell pump: no kernel")
            return None
        try:
            return cls(MainShell(kernel))
        except (AttributeError, LookupError, TypeError) as missing:
            log.debug("no shell pump: %r", missing)
            return None

    def __enter__(self) -> Self:
        # a socket pair and no pipe: on Windows zmq polls sockets only
        self._bell = socket.socketpair()
        for end in self._bell:
            end.setblocking(False)  # noqa: FBT003 # the standard library's signature
        self._poller.register(self._bell[0].fileno(), zmq.POLLIN)
        return self

    def __exit__(self, *_exc: object) -> None:
        with self._bell_lock:
            bell, self._bell = self._bell, None
        if bell is not None:
            self._poller.unregister(bell[0].fileno())
            for end in bell:
                end.close()

    def wake(self) -> None:
        """Make `wait` look at ``done()`` at once; from any thread, as often as one likes."""
        with self._bell_lock:
            if self._bell is not None:
                with contextlib.suppress(BlockingIOError):  # full: it rings already
                    self._bell[1].send(b"!")

    def wait(
        self,
        done: Callable[[], bool],
        *,
        on_tick: Callable[[], None] | None = None,
        tick_s: float = 0.04,
        timeout_s: float | None = None,
    ) -> bool:
        """Wait until ``done()`` is true and serve messages meanwhile; otherwise as `Waiter.wait`."""
        # before the first raw read, so that no interrupt comes between the two; it acts after this cell
        self._shell.rearm()
        with self._interrupts:
            try:
                with self._interrupts.held():
                    self._unserved.extend(self._shell.take_read_ahead())
                self._serve()
                return super().wait(done, on_tick=on_tick, tick_s=tick_s, timeout_s=timeout_s)
            finally:
                with self._interrupts.held():
                    while self._unserved:
                        self._shell.hand_back(self._unserved.popleft())
                    self._shell.rearm()  # again: a handler may have turned the loop (nest_asyncio)
                    self._shell.nudge(_NUDGE_S)  # when this cell's reply has been sent

    def _pause(self, seconds: float) -> bool:
        self._interrupts.check()
        ready = dict(self._poller.poll(math.ceil(seconds * 1000)))
        woken = False
        if self._bell is not None and self._bell[0].fileno() in ready:
            woken = bool(self._bell[0].recv(4096))
        if self._shell.socket in ready:
            with self._interrupts.held():
                self._sort()
            self._serve()
        elif time.monotonic() > self._next_nudge:
            self._next_nudge = time.monotonic() + _NUDGE_S
            self._shell.nudge()
        return woken

    def _sort(self) -> None:
        for _ in range(_BATCH):
            frames = self._shell.read()
            if frames is None:
                return
            if self._shell.in_place(frames):
                self._unserved.append(frames)
            else:
                self._shell.hand_back(frames)

    def _serve(self) -> None:
        while self._unserved:
            self._shell.serve(self._unserved.popleft())


def waiter() -> Waiter:
    """Return the pump where there is one, else a plain wait."""
    return ShellPump.detect() or PlainWait()


def follow_front_end_subshell(comm: Any) -> None:
    """Let the front end choose the shell that serves this comm.

    ipykernel 7.4.0 sends a comm message to the shell that last *sent* on its comm: the main one, which is
    busy with the cell, and not the free subshell to which the front end addressed it.

    Args:
        comm: A comm of ipykernel; before 7.4.0 there is nothing to change.
    """
    if hasattr(comm, "_reply_subshell_for"):
        comm._reply_subshell_for = _as_addressed  # noqa: SLF001 # there is no public way


def _as_addressed(_data: object, default: str | None) -> str | None:
    return default
