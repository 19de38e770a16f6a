"""``%acp log``: the messages on the wire, shown or saved."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from acp_jupyter.errors import UsageError
from acp_jupyter.kernel.sessions import sessions
from acp_jupyter.model.content import as_dict
from acp_jupyter.session.agent_spec import PLAYED_FOR_REAL

if TYPE_CHECKING:
    import argparse

    from acp_jupyter.model.log import Log
    from acp_jupyter.session.frames import Frames


def log(options: argparse.Namespace) -> str | Log:
    """Return the messages that were chosen, or save all.

    Raises:
        UsageError: It cannot be written, or would not be what the line asks for.
    """
    if options.save is not None:
        return _saved_log(options)
    found = sessions().get().log.filter(method=options.method, direction=options.direction, text=options.text)
    return found if options.last is None else found.last(options.last)


def _saved_log(options: argparse.Namespace) -> str:
    if any((options.method, options.direction, options.text, options.last)):
        raise UsageError(
            "--save writes all messages that are kept, and no choice of them: nothing was written",
            advice="A part of a log cannot be played. `%acp log --save FILE` writes all; without --save a "
            "choice is shown, and `log = %acp log ...` has it in Python.",
        )
    file = Path(options.save).expanduser().absolute()
    if file.exists() or file.is_symlink():
        raise UsageError(
            f"{file} is there already: nothing was written", advice="Give another name, or remove it."
        )
    return _saved_text(sessions().get().frames, file)


def _saved_text(frames: Frames, path: Path) -> str:
    file = frames.save(path)
    lost = f" {frames.dropped:,} earlier ones are no longer kept." if frames.dropped else ""
    return (
        f"{len(frames):,} messages are in {file}, without secrets.{lost} Look through it before you give it "
        f"away: texts and paths are as they were.\n{_how_to_play(file)}"
    )


def _how_to_play(file: Path) -> str:
    count = _connections(file)
    if not count:
        return "It cannot be played as an agent: how a connection begins is no longer in it."
    play = shlex.join([sys.executable, "-m", "acp_jupyter.testing.replayer", str(file)])
    more = f" It holds {count} connections; --connection N plays a later one than the first." * (count > 1)
    return f"To play it as an agent: %acp add recorded -- {play}{more}\n{PLAYED_FOR_REAL}"


def _connections(file: Path) -> int:
    """How often the agent was started in a saved log."""
    with file.open(encoding="ascii") as lines:
        rows = [json.loads(line) for line in lines]
    begun = [row for row in rows if row.get("direction") == "out"]
    return sum(as_dict(row.get("message")).get("method") == "initialize" for row in begun)
