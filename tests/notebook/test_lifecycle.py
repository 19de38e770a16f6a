"""However a kernel ends, and whatever it was doing, nothing that an agent started is left.

Every shape at once: an agent behind ``sh -c``, its children (one deaf to TERM, one in a session of its own as
well), a terminal that runs, and a terminal that has ended and left a child behind. The kernel has also forked
a child, which holds the watcher's pipe and the agent's stdin open. **That child is the user's own**: no agent
started it, so we do not end it. Here it has a session of its own, as otherwise ipykernel itself would.

One round each; ``ACP_LIFECYCLE_ROUNDS=20`` asks for more, and ``--log-cli-level=INFO`` tells the seconds.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shlex
import signal
import sys
import threading
import time
import uuid
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from acp_jupyter.testing import script_command

from .front_end import FrontEnd
from .kernels import kernel_python, running_kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.notebook,
    pytest.mark.skipif(sys.platform == "win32", reason="no sh, no fork, no watcher"),
]

log = logging.getLogger(__name__)
ROUNDS = int(os.environ.get("ACP_LIFECYCLE_ROUNDS", "1"))
NONE_LEFT_S = 5.0
MARK = "ACP_LIFECYCLE_MARK"
# what is seen on the command line of each process that must be there, and then must not
SHAPES = {
    "the watcher": r"reaper\.py",
    "the shell": r"sh -c .*--record frames; :",
    "the agent": r"--record frames$",
    "a child deaf to TERM": "sleep 1001",
    "a deaf child in a session of its own": "sleep 1002",
    "a terminal": "sleep 1003",
    "a child left behind by a terminal": "sleep 1004",
}
SPREAD: list[dict[str, Any]] = [
    {"spawn": ["sleep", "1001"], "ignore_term": True},
    {"spawn": ["sleep", "1002"], "ignore_term": True, "new_session": True},
    {"request": "terminal/create", "params": {"command": "sleep", "args": ["1003"]}},
    {"request": "terminal/create", "params": {"command": "sleep 1004 & echo"}, "save": "left"},
    {"request": "terminal/wait_for_exit", "params": {"terminalId": "${left.terminalId}"}},
    {"text": "Spread."},
]
ASK = {
    "request": "session/request_permission",
    "params": {
        "toolCall": {"toolCallId": "call", "title": "Touch it", "kind": "edit", "rawInput": {}},
        "options": [{"optionId": "yes", "name": "Allow once", "kind": "allow_once"}],
    },
}
# sockets are closed: they are the kernel's ports, which a restarted kernel needs
FORK = """
import os, signal, stat
def fork():
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            for fd in map(int, os.listdir('/dev/fd')):
                try:
                    if stat.S_ISSOCK(os.fstat(fd).st_mode):
                        os.close(fd)
                except OSError:
                    pass
            while True:
                signal.pause()
        finally:
            os._exit(1)
    return pid
"""


class Scene:
    """A kernel with an agent and all that it has started.

    Args:
        notebook: The kernel.
        home: Its directory.
    """

    def __init__(self, notebook: FrontEnd, home: Path) -> None:
        self.notebook = notebook
        self._home = home
        self._mark = uuid.uuid4().hex
        self.forked: psutil.Process | None = None

    def spread(self) -> None:
        """Let the agent start everything in one turn, and see that it is there."""
        # the kernel's own environment, as the system shows it, does not change: the mark is on what it starts
        self.notebook.run(f"import os; os.environ[{MARK!r}] = {self._mark!r}\n%load_ext acp_jupyter")
        script_command(
            {"turns": [SPREAD, [{"report": "pid"}, {"until_file": "ask"}, ASK]]}, self._home / "spread.json"
        )
        agent = [kernel_python(), "-m", "acp_jupyter.testing.fake_agent", "spread.json", "--record", "frames"]
        self.notebook.run(f"%acp add spread -- sh -c {shlex.quote(shlex.join(agent) + '; :')}")
        cell = self.notebook.execute("%%acp spread\nSpread.")
        card = self.notebook.card_of(cell)
        assert self.notebook.status(cell) == "ok"
        self.notebook.see(lambda: card.text == "Spread.")
        missing = [name for name in SHAPES if name not in self.left()]
        assert missing == []

    def fork(self) -> None:
        """Let the kernel fork a child, which holds all its pipes."""
        self.forked = psutil.Process(int(self.notebook.run(FORK + "print(fork())")))

    def wait_for_permission(self) -> str:
        """Start a turn that waits for an answer; returns its cell."""
        cell = self.notebook.execute("%%acp\nAsk me.")
        card = self.notebook.card_of(cell)
        self.let_it_ask()
        self.notebook.asked(card)
        return cell

    def let_it_ask(self) -> None:
        """Let the agent ask: it waits for this, so that somebody is there to be asked."""
        (self._home / "ask").touch()

    def left(self) -> dict[str, int]:
        """Return the pids of all that the kernel and the agent have started, by shape."""
        return {_shape(line): pid for pid, line in self._marked()}

    def close(self) -> None:
        """End what is left, for the sake of the tests that follow."""
        for pid, _ in self._marked():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if self.forked is not None:
            self.forked.kill()

    def _marked(self) -> list[tuple[int, str]]:
        found: list[tuple[int, str]] = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):  # it ended meanwhile, or is another user's
                if process.environ().get(MARK) == self._mark and process.status() != psutil.STATUS_ZOMBIE:
                    found.append((process.pid, shlex.join(process.cmdline())))
        return found


def _shape(line: str) -> str:
    return next((name for name, words in SHAPES.items() if re.search(words, line)), line)


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with running_kernel(kernel_python(), tmp_path) as kernel:
        scene = Scene(FrontEnd(kernel), tmp_path)
        try:
            yield scene
        finally:
            scene.close()


def seconds_until(over: Callable[[], bool], end: Callable[[], object]) -> float:
    """Call ``end``, which may take its time, and measure from its beginning."""
    ended: list[float] = []

    def watch() -> None:
        while not over() and time.monotonic() < begun + 4 * NONE_LEFT_S:
            time.sleep(0.05)
        ended.append(time.monotonic())

    watching = threading.Thread(target=watch)
    begun = time.monotonic()
    watching.start()
    try:
        end()
    finally:
        watching.join()
    return ended[0] - begun


def kill_9(scene: Scene) -> None:
    os.kill(scene.notebook.manager.provisioner.pid, signal.SIGKILL)


def shutdown(scene: Scene) -> None:
    scene.notebook.manager.shutdown_kernel(now=False)


def restart(scene: Scene) -> None:
    scene.notebook.manager.restart_kernel(now=False)


def restart_now(scene: Scene) -> None:
    scene.notebook.manager.restart_kernel(now=True)


@pytest.mark.parametrize("nth", range(ROUNDS))
@pytest.mark.parametrize("busy", [False, True], ids=["idle", "a permission is open"])
@pytest.mark.parametrize("end", [kill_9, shutdown, restart, restart_now])
def test_p08_nothing_is_left_of_an_agent_when_its_kernel_ends(
    scene: Scene, end: Callable[[Scene], None], nth: int, *, busy: bool
) -> None:
    scene.spread()
    scene.fork()
    if busy:
        scene.wait_for_permission()
    seconds = seconds_until(lambda: not scene.left(), lambda: end(scene))
    log.info("%s, %s, round %d: %.2f s", end.__name__, "busy" if busy else "idle", nth, seconds)
    assert seconds < NONE_LEFT_S, scene.left()
    assert scene.forked is not None
    assert scene.forked.status() != psutil.STATUS_ZOMBIE, "it was its user's own"
    if end in {restart, restart_now}:
        scene.notebook.client.wait_for_ready(timeout=30)
        assert scene.notebook.run("print('fork' in globals())") == "False\n"


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "a permission is open"])
def test_p09_an_interrupt_ends_no_process(scene: Scene, *, busy: bool) -> None:
    scene.spread()
    before = scene.left()
    cell = scene.wait_for_permission() if busy else None
    scene.let_it_ask()
    scene.notebook.manager.interrupt_kernel()
    assert cell is None or scene.notebook.status(cell) == "error"
    assert (
        scene.notebook.status(scene.notebook.execute("%%acp -o turn --approve reject\nWho are you?")) == "ok"
    )
    assert scene.notebook.value("int(turn.text)") == before["the agent"], "it still speaks"
    assert scene.left() == before


@pytest.mark.parametrize("line", ["%acp stop", "%acp restart", "%acp new", "%unload_ext acp_jupyter"])
def test_a_command_that_ends_the_agent_leaves_nothing(scene: Scene, line: str) -> None:
    scene.spread()
    scene.fork()
    # the watcher is the kernel's, and waits for the next agent
    stays = set() if "unload" in line else {"the watcher"}
    seconds = seconds_until(lambda: scene.left().keys() <= stays, lambda: scene.notebook.run(line))
    assert seconds < NONE_LEFT_S, scene.left()
    assert scene.left().keys() == stays


@pytest.mark.parametrize("line", ["%acp stop", "%unload_ext acp_jupyter"])
def test_what_an_agent_that_died_has_left_behind_is_ended(scene: Scene, line: str) -> None:
    scene.spread()
    pids = scene.left()
    time.sleep(1.5)  # the watcher looks twice a second, and remembers what then loses its parent
    for name in ("the shell", "the agent"):
        os.kill(pids[name], signal.SIGKILL)
    died = "__import__('acp_jupyter').get_session().pid is None"
    scene.notebook.see(lambda: scene.notebook.value(died))
    stays = set() if "unload" in line else {"the watcher"}
    seconds = seconds_until(lambda: scene.left().keys() <= stays, lambda: scene.notebook.run(line))
    assert seconds < NONE_LEFT_S
    assert scene.left().keys() == stays
