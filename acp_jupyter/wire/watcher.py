"""The kernel's side of its one watcher process, which outlives the kernel just long enough to end its agents.

https://agentclientprotocol.com/protocol/transports
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
import threading

from acp_jupyter.wire import reaper

_log = logging.getLogger(__name__)
_END_S = 4.0  # the program needs about 2.5 s at the most


class Watcher:
    """Ends what was added when the kernel dies, however it dies.

    The program starts with the first `add`. All methods may be called from any thread. **On Windows there is
    no watcher**: agents get the end of their input there, and nothing more, when a kernel is killed.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()
        self._pids: set[int] = set()

    @property
    def pid(self) -> int | None:
        """The watcher process, or ``None`` where it has not started."""
        return self._process.pid if self._process else None

    def add(self, pid: int) -> None:
        """Watch a process and its tree from now on.

        Args:
            pid: Best the leader of a session of its own.
        """
        with self._lock:
            self._pids.add(pid)
            self._tell(f"+{pid}")

    def remove(self, pid: int) -> None:
        """Forget a process and its tree: it will not be touched."""
        self._drop("-", pid)

    def end(self, pid: int) -> None:
        """KILL what is left of a process and its tree, seen or remembered, and forget it."""
        self._drop("!", pid)

    def close(self) -> None:
        """End the watcher; what is still watched is ended first. The next `add` starts another."""
        with self._lock:
            if self._process is not None and os.getpid() == self._owner:
                self._tell(".")  # the end of its stdin is not enough: a forked child may hold it open
                _close_stdin(self._process)
                try:
                    self._process.wait(_END_S)
                except subprocess.TimeoutExpired:
                    _log.warning("the watcher process %d is still ending agents", self._process.pid)
            self._process = None
            self._pids.clear()

    def _drop(self, verb: str, pid: int) -> None:
        with self._lock:
            if pid in self._pids:
                self._tell(f"{verb}{pid}")
                self._pids.discard(pid)

    def _tell(self, order: str) -> None:
        # a child that the kernel forked holds a copy of us; it is not the one to speak
        if sys.platform == "win32" or os.getpid() != self._owner:
            return
        try:
            if self._process:
                _write(self._process, [order])
                return
        except OSError:
            _log.warning("the watcher process died and is started again")
            _bury(self._process)
        self._process = _start(self._owner)
        _write(self._process, [*(f"+{watched}" for watched in sorted(self._pids)), order])


def _start(owner: int) -> subprocess.Popen[bytes]:
    # a mask is inherited, so the program is deaf to all but KILL from its first instruction
    deaf_to = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, deaf_to)
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", reaper.__file__, str(owner)],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _bury(process: subprocess.Popen[bytes] | None) -> None:
    if process:
        process.kill()
        _close_stdin(process)
        process.wait()


def _write(process: subprocess.Popen[bytes], orders: list[str]) -> None:
    if process.stdin:
        process.stdin.write("".join(f"{order}\n" for order in orders).encode())


def _close_stdin(process: subprocess.Popen[bytes]) -> None:
    if process.stdin:
        with contextlib.suppress(OSError):
            process.stdin.close()
