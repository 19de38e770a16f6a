"""Finds process trees and ends them; run as a program, it does so when the kernel is gone.

    python -I -S reaper.py KERNEL_PID
    lines on stdin: +PID watch, -PID forget, !PID end it now and forget, . end all and exit

It imports nothing of ours, so that the program starts fast and stands alone. A tree is more than parents and
children: a process whose parent has died belongs to process 1, so families are remembered while they live,
and grow by parent, by process group and by session. A start time beside each pid guards against reuse.

The program acts on the end of its stdin, on ``.`` *or* on a changed parent id: a child that the kernel forked
keeps the pipe open. https://agentclientprotocol.com/protocol/transports
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_POLL_S = 0.25  # how soon a changed parent id is noticed
_REFRESH_S = 0.5  # how often families are looked at while the kernel lives
_REFRESH_SHARE = 20  # ... but never spend more than a twentieth of one core on it
_STEP_S = 0.05
_TERM_S = 1.0


class Row(NamedTuple):
    """What the process table says about one process."""

    ppid: int
    pgid: int
    sid: int
    started: str


Table = dict[int, Row]
Family = dict[int, "str | None"]
"""Start times by pid; ``None`` where it is not known yet."""


def snapshot() -> Table:
    """Read the process table, without zombies."""
    return _from_proc() if sys.platform == "linux" and os.access("/proc/self/stat", os.R_OK) else _from_ps()


def _from_proc() -> Table:
    table: Table = {}
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            file = os.open(f"/proc/{entry.name}/stat", os.O_RDONLY)
            try:
                text = os.read(file, 4096)
            finally:
                os.close(file)
        except OSError:
            continue  # it ended meanwhile
        state, ppid, pgid, sid, *rest = text.rpartition(b")")[2].split()
        if state not in (b"Z", b"X"):
            table[int(entry.name)] = Row(int(ppid), int(pgid), int(sid), rest[15].decode())
    return table


def _from_ps() -> Table:
    import subprocess  # noqa: PLC0415 - slow to import, and Linux does without

    command = ["ps", "-A", "-o", "pid=,ppid=,pgid=,stat=,lstart="]
    # the C locale, so that a start time reads the same every time
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, env=environment
    )
    table: Table = {}
    for line in done.stdout.splitlines():
        pid, ppid, pgid, state, started = line.split(None, 4)
        if not state.startswith("Z"):
            table[int(pid)] = Row(int(ppid), int(pgid), _session_of(int(pid)), started.strip())
    return table


def _session_of(pid: int) -> int:
    try:
        return os.getsid(pid)  # `ps` on macOS does not print it
    except OSError:
        return 0


def family(known: Family, table: Table) -> Family:
    """Look again at a family.

    Args:
        known: What was known of it: at first one pid, with ``None``.
        table: The process table now.

    Returns:
        All that is left of it and all that has grown from it. A dead member stays for as long as a group or
        session that it led has members: until then its pid cannot be given to anybody else.
    """
    leaders = {
        pid for pid, started in known.items() if pid not in table or started in (None, table[pid].started)
    }
    alive = leaders & table.keys()
    while new := {pid for pid, row in table.items() if pid not in alive and _belongs(row, alive, leaders)}:
        alive |= new
        leaders |= new
    led = {group for pid in alive for group in (table[pid].pgid, table[pid].sid)}
    return {
        pid: table[pid].started if pid in alive else known.get(pid)
        for pid in leaders
        if pid in alive or pid in led
    }


def _belongs(row: Row, alive: set[int], leaders: set[int]) -> bool:
    return row.ppid in alive or row.pgid in leaders or row.sid in leaders


def look(families: dict[int, Family]) -> tuple[dict[int, Family], Table]:
    """Look again at families by any key; also return the process table that they were seen in.

    Reading the table takes milliseconds, in which a parent may fork and end: then both are missed. So who has
    ended counts until a table shows that nobody else has ended since the one before.
    """
    ended: set[int] = set()
    while True:
        table = snapshot()
        families = {key: known | family(known, table) for key, known in families.items()}
        before, ended = ended, {pid for known in families.values() for pid in known} - table.keys()
        if ended <= before:
            return {key: family(known, table) for key, known in families.items()}, table


def ending(known: Family, term_s: float, kill_s: float = 1.5) -> Iterator[float]:
    """End a family: TERM, and KILL for what is left after ``term_s``.

    Yields:
        How many seconds to wait before the next step, so that one loop serves `time.sleep` and asyncio. It
        stops when none is left, or ``kill_s`` after the first KILL.
    """
    known, table = _look_at(known)
    _signal(known.keys() & table.keys(), signal.SIGTERM)
    begun = time.monotonic()
    while (passed := time.monotonic() - begun) < term_s + kill_s:
        if not known.keys() & table.keys():
            return
        yield _STEP_S
        known, table = _look_at(known)
        if passed >= term_s:
            _signal(known.keys() & table.keys(), signal.SIGKILL)


def _look_at(known: Family) -> tuple[Family, Table]:
    families, table = look({0: known})
    return families[0], table


def _signal(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(OSError):  # it ended meanwhile, or belongs to another user
            os.kill(pid, number)


class _Watch:
    """The families to end when the kernel dies, by the pid that was named."""

    def __init__(self) -> None:
        self._families: dict[int, Family] = {}
        self._unread = b""
        self._next_look = 0.0
        self.over = False

    def obey(self, data: bytes) -> None:
        *lines, self._unread = (self._unread + data).split(b"\n")
        for line in lines:
            if line == b".":
                self.over = True
                return
            verb, pid = line[:1], int(line[1:])
            if verb == b"+":
                self._families |= look({pid: {pid: None}})[0]
            else:
                known = self._families.pop(pid, {})
                if verb == b"!":
                    _finish(known, term_s=0)

    def look(self) -> None:
        """Refresh what is known of the families, where it is time to."""
        begun = time.monotonic()
        if not self._families or begun < self._next_look:
            return
        self._families, _ = look(self._families)
        now = time.monotonic()
        self._next_look = now + max(_REFRESH_S, _REFRESH_SHARE * (now - begun))

    def end(self) -> None:
        _finish({pid: at for known in self._families.values() for pid, at in known.items()}, _TERM_S)


def _finish(known: Family, term_s: float) -> None:
    for pause in ending(known, term_s):
        time.sleep(pause)


def main(kernel_pid: int) -> None:
    """Watch until the kernel is gone, end what it left, and exit."""
    watch = _Watch()
    while not watch.over:
        # it may have died while we started: its orders are read all the same
        gone = os.getppid() != kernel_pid
        readable, _, _ = select.select([0], [], [], 0 if gone else _POLL_S)
        data = os.read(0, 65536) if readable else b""
        if data:
            watch.obey(data)
        elif readable or gone:
            break
        watch.look()
    watch.end()


if __name__ == "__main__":
    main(int(sys.argv[1]))
