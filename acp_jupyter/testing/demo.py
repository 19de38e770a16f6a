"""The built-in agent `demo`: a scripted demonstration, with no model, no key and no network.

    python -m acp_jupyter.testing.demo

It repairs the one failing test of a tiny project, in `acp-demo/` within the session's working directory, and
asks before it edits or runs. `$ACP_DEMO_SPEED` is a factor on its delays; 0 plays without any.

Spec: https://agentclientprotocol.com/protocol/prompt-turn
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_jupyter.testing.permissions import Permissions
from acp_jupyter.testing.scene import Scene, Voice
from acp_jupyter.testing.scratch import FOLDER, NotOursError, Scratch
from acp_jupyter.testing.server import Agent, Session, Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

SPEED_VARIABLE = "ACP_DEMO_SPEED"
COMMANDS = [
    {"name": "reset", "description": f"Put {FOLDER}/ back as it was, and ask about everything again"},
]


class DemoAgent(Agent):
    """Plays the scene for each prompt."""

    def __init__(self) -> None:
        super().__init__()
        self._delay_factor = _delay_factor()
        self._permissions: dict[str, Permissions] = {}

    async def on_initialize(self, _params: dict[str, Any]) -> dict[str, Any]:
        """Say who we are, and claim nothing beyond the protocol's baseline."""
        return {
            "protocolVersion": 1,
            "agentInfo": {"name": "demo", "title": "Demo agent", "version": _version()},
            "agentCapabilities": {"loadSession": False},
            "authMethods": [],
        }

    async def after_new_session(self, session: Session) -> None:
        """Announce `/reset`."""
        self._permissions[session.session_id] = Permissions(self, session.session_id)
        commands = {"sessionUpdate": "available_commands_update", "availableCommands": COMMANDS}
        self.update(session.session_id, commands)

    async def on_prompt(self, turn: Turn) -> dict[str, Any]:
        """Reset, or play the scene."""
        voice = Voice(self, turn, self._delay_factor)
        scratch = Scratch(Path(turn.session.cwd))
        permissions = self._permissions[turn.session.session_id]
        try:
            if turn.text.split()[:1] == ["/reset"]:
                scratch.reset()
                permissions.forget()
                await voice.say(f"`{scratch.directory}` is as it was shipped, with its failing test.")
            else:
                await Scene(voice, scratch, permissions).play()
        except NotOursError:
            await voice.say(
                f"There is already something called `{FOLDER}` in `{scratch.cwd}` that I did not make, so I "
                "leave it alone. Rename it, or start me in another directory, and ask again."
            )
        except OSError as error:
            await voice.say(f"I cannot make my scratch copy in `{scratch.cwd}`: {error}")
        return {"stopReason": "end_turn"}


def _version() -> str:
    try:
        return metadata.version("acp_jupyter")
    except metadata.PackageNotFoundError:  # run from a source tree
        return "0+source"


def _delay_factor() -> float:
    word = os.environ.get(SPEED_VARIABLE, "1")
    try:
        return max(0.0, float(word))
    except ValueError:
        # its user reads stderr
        print(f"{SPEED_VARIABLE} is a number, not {word!r}: 1 is taken", file=sys.stderr)  # noqa: T201 - as said
        return 1.0


async def _serve() -> None:
    await DemoAgent().run()


def main(arguments: Sequence[str] | None = None) -> int:
    """The program: serves until stdin ends; returns its exit code."""
    argparse.ArgumentParser(
        prog="python -m acp_jupyter.testing.demo",
        description="The demo agent. It speaks ACP on stdin and stdout; a client starts it.",
    ).parse_args(arguments)
    asyncio.run(_serve())
    return 0


if __name__ == "__main__":
    sys.exit(main())
