"""A scripted fake agent, the built-in `demo`, and recorded logs: real subprocesses that speak ACP.

    command = script_command([{"text": "hello"}], tmp_path / "hello.json")

The steps of a script are described in `acp_jupyter.testing.steps`, its other members in
`acp_jupyter.testing.fake_agent`, what a replay does in `acp_jupyter.testing.replayer`. This package is a
program of its own: it imports nothing else of ours.

Spec: https://agentclientprotocol.com/protocol/overview
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os

__all__ = ["demo_command", "replay", "script_command"]


def script_command(script: list[Any] | dict[str, Any], path: str | os.PathLike[str]) -> list[str]:
    """Write a script to a file.

    Args:
        script: A list of steps, or an object; see `acp_jupyter.testing.fake_agent`.
        path: The JSON file to write.

    Returns:
        The command that plays it.
    """
    file = Path(path).absolute()
    file.write_text(json.dumps(script), encoding="utf-8")
    return [sys.executable, "-m", "acp_jupyter.testing.fake_agent", str(file)]


def demo_command() -> list[str]:
    """The command that runs the built-in demo agent."""
    return [sys.executable, "-m", "acp_jupyter.testing.demo"]


def replay(path: str | os.PathLike[str], connection: int = 1) -> list[str]:
    """The command of an agent that plays a recorded log, so that a bug report is a test.

    Playing it does for real what the log holds: the client writes the files and runs the commands that the
    recorded agent asked for. Play only a log that you have looked through, in an empty directory.

    Args:
        path: What `%acp log --save` or `Session.frames.save` wrote.
        connection: Which one of it, from 1: each start of the agent was one.
    """
    program = [sys.executable, "-m", "acp_jupyter.testing.replayer"]
    return [*program, str(Path(path).absolute()), "--connection", str(connection)]
