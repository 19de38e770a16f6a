"""The stop button during a wait.

Front ends interrupt a kernel by a signal or by a message, which ipykernel turns into that signal:
https://jupyter-client.readthedocs.io/en/stable/messaging.html#kernel-interrupt
"""

from __future__ import annotations

import contextlib
import signal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import FrameType

    from typing_extensions import Self


class Interrupts:
    """SIGINT during a wait: raised at once, except while frames are in hand, and never lost.

    Raised between the read and the hand-back of a message, an interrupt would lose a queued cell. Raised in a
    handler, it may be swallowed: IPython's event manager and any ``__del__`` do so.
    """

    def __init__(self) -> None:
        self._before: Any = None
        self._is_held = False
        self._held: tuple[int, FrameType | None] | None = None
        self._raised = False

    def __enter__(self) -> Self:
        if self._before is not None:
            raise RuntimeError("this wait has begun already; a wait within it needs a waiter of its own")
        self._before = signal.getsignal(signal.SIGINT)
        self._raised = False
        if callable(self._before):  # else ignored, default, or not Python's: nothing would be raised
            signal.signal(signal.SIGINT, self._on_signal)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_exc: object) -> None:
        if callable(self._before):
            signal.signal(signal.SIGINT, self._before)
        self._before = None
        if kind is None:
            self.check()

    @contextlib.contextmanager
    def held(self) -> Generator[None]:
        """Hold an interrupt back until the end of the block."""
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
            held, self._held = self._held, None
            if held is not None:
                self._deliver(*held)

    def check(self) -> None:
        """Raise the interrupt that somebody swallowed."""
        if self._raised:
            raise KeyboardInterrupt

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._is_held:
            self._held = number, frame
        else:
            self._deliver(number, frame)

    def _deliver(self, number: int, frame: FrameType | None) -> None:
        try:
            self._before(number, frame)
        except KeyboardInterrupt:
            self._raised = True
            raise
