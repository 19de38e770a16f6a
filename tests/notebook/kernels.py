"""A real kernel, driven by jupyter_client as a front end drives it, and environments of other releases."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
import venv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import zmq
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jupyter_client.blocking.client import BlockingKernelClient

REPOSITORY = Path(__file__).resolve().parents[2]
ENVIRONMENTS = REPOSITORY / ".venvs"

Message = dict[str, Any]


def kernel_python() -> str:
    """Return the interpreter whose kernel is tested."""
    return os.environ.get("ACP_TEST_KERNEL_PYTHON", sys.executable)


def make_environment(name: str, requirements: list[str]) -> Path:
    """Make a virtual environment of this Python, or take the one of before if it holds the same.

    Returns:
        Its interpreter.
    """
    home = ENVIRONMENTS / f"{name}-python{sys.version_info.major}.{sys.version_info.minor}"
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    installed = home / "requirements.txt"
    wanted = "\n".join(requirements)
    if not (installed.is_file() and installed.read_text(encoding="utf-8") == wanted):
        venv.create(home, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *requirements], check=True)
        installed.write_text(wanted, encoding="utf-8")
    return python


@contextlib.contextmanager
def running_kernel(python: str, home: Path) -> Iterator[Kernel]:
    """Run a kernel that finds the package in this checkout.

    Args:
        python: Its interpreter.
        home: An empty folder, for its settings and history.
    """
    spec = {
        "argv": [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "tested",
        "language": "python",
    }
    (home / "tested").mkdir()
    (home / "tested" / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    env = os.environ | {
        "PYTHONPATH": str(REPOSITORY),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_CONFIG_DIR": str(home / "jupyter"),
        "XDG_CONFIG_HOME": str(home / "config"),  # not the agents of whoever runs the tests
    }
    specs = KernelSpecManager(kernel_dirs=[str(home)], ensure_native_kernel=False)
    manager = KernelManager(kernel_name="tested", kernel_spec_manager=specs)
    manager.start_kernel(env=env, cwd=str(home))
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        yield Kernel(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()


class Kernel:
    """A running kernel and its client.

    Args:
        manager: Of a kernel that has been started.
        client: Connected, with its channels open.
    """

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self.manager = manager
        self.client = client
        self.heard: list[Message] = []
        self.replies: list[Message] = []

    def execute(self, code: str) -> str:
        """Send a cell and return the message's id."""
        return self.client.execute(code)

    def run(self, code: str) -> str:
        """Run a cell to its end, which must be a good one, and return what it printed."""
        cell = self.execute(code)
        assert self.status(cell) == "ok", self.heard[-5:]
        return self.printed(cell)

    def send(self, msg_type: str, content: dict[str, Any], *, header: dict[str, Any] | None = None) -> str:
        """Send any message on the shell channel and return its id."""
        message = self.client.session.msg(msg_type, content)
        message["header"].update(header or {})
        self.client.shell_channel.send(message)
        return message["header"]["msg_id"]

    def control(self, msg_type: str, content: dict[str, Any]) -> Message:
        """Send a request on the control channel and return the reply's content."""
        message = self.client.session.msg(msg_type, content)
        self.client.control_channel.send(message)
        while True:
            reply = self.client.control_channel.get_msg(timeout=10)
            if reply["parent_header"]["msg_id"] == message["header"]["msg_id"]:
                return reply["content"]

    def until(self, seen: Callable[[], bool], *, timeout_s: float = 30) -> None:
        """Listen on the shell and the iopub channel until ``seen()`` is true.

        Raises:
            AssertionError: The time is up.
        """
        poller = zmq.Poller()
        poller.register(self.client.iopub_channel.socket, zmq.POLLIN)
        poller.register(self.client.shell_channel.socket, zmq.POLLIN)
        end = time.monotonic() + timeout_s
        while not seen():
            left = end - time.monotonic()
            assert left > 0, f"not seen within {timeout_s} s; last heard: {self.heard[-5:]}"
            ready = dict(poller.poll(left * 1000))
            if self.client.iopub_channel.socket in ready:
                self.heard.append(self.client.get_iopub_msg(timeout=1))
            if self.client.shell_channel.socket in ready:
                self.replies.append(self.client.get_shell_msg(timeout=1))

    def status(self, msg_id: str, *, timeout_s: float = 30) -> str:
        """Wait for the reply as `reply` does and return its status."""
        return self.reply(msg_id, timeout_s=timeout_s)["content"]["status"]

    def reply(self, msg_id: str, *, timeout_s: float = 30) -> Message:
        """Wait for the reply to a message, and for the kernel to be idle after it; return the reply."""
        self.until(lambda: bool(answers(self.replies, msg_id)) and self.idle(msg_id), timeout_s=timeout_s)
        (reply,) = answers(self.replies, msg_id)
        return reply

    def settle(self) -> None:
        """Let the kernel leave the abort of its queue: 6.17.1 aborts also what comes within that instant."""
        self.reply(self.send("kernel_info_request", {}))

    def idle(self, msg_id: str) -> bool:
        """Whether the kernel has said that it is done with a message."""
        return "idle" in self.states(msg_id)

    def states(self, msg_id: str) -> list[str]:
        """Return the busy and idle states that the kernel has published for a message."""
        return [
            message["content"]["execution_state"]
            for message in answers(self.heard, msg_id)
            if message["msg_type"] == "status"
        ]

    def printed(self, msg_id: str) -> str:
        """Return what has been printed for a message so far."""
        return "".join(
            message["content"]["text"]
            for message in answers(self.heard, msg_id)
            if message["msg_type"] == "stream"
        )

    def times_run(self, msg_id: str) -> int:
        """Return how often a cell has begun to run."""
        return sum(message["msg_type"] == "execute_input" for message in answers(self.heard, msg_id))


def answers(messages: list[Message], msg_id: str) -> list[Message]:
    """Return the messages whose parent is the given one."""
    return [message for message in messages if message["parent_header"].get("msg_id") == msg_id]
