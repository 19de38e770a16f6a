"""Which session belongs to which notebook, kept over kernel restarts in a state file of the user's.

A kernel cannot write into its notebook's metadata. So the id stands in each turn's transcript, and in this
file, keyed by the notebook (where it is not known, by the working directory) and the agent. The latest kernel
on a notebook wins; a kernel that runs keeps the session that it has.
"""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path
from typing import Any, NamedTuple, cast

import platformdirs

from acp_jupyter.errors import UsageError
from acp_jupyter.model.content import as_dict, as_list, as_text
from acp_jupyter.model.transcript import MIME
from acp_jupyter.session.files import replace

_ENTRIES = 500


class Remembered(NamedTuple):
    """A session that a notebook had: the agent's id of it, and its working directory."""

    session_id: str
    cwd: str


class Memory:
    """The state file.

    Args:
        file: JSON; by default in the user's state folder.
    """

    def __init__(self, file: Path | None = None) -> None:
        self.file = file or platformdirs.user_state_path("acp-jupyter") / "sessions.json"

    def keep(self, place: str, agent: str, session: Remembered) -> None:
        """Remember a session; the oldest entries are dropped beyond a few hundred.

        Raises:
            UsageError: The file cannot be written.
        """
        entries = self._entries()
        entries.pop(_key(place, agent), None)
        entries[_key(place, agent)] = {**session._asdict(), "at": time.time()}
        newest = dict(list(entries.items())[-_ENTRIES:])
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            replace(self.file, (json.dumps(newest, indent=1) + "\n").encode(), 0o600)
        except OSError as error:
            raise UsageError(f"cannot write {self.file}: {error}", advice="Make it writable.") from error

    def find(self, place: str, agent: str) -> Remembered | None:
        """Return the session that was kept last for a place, or that its notebook's own transcripts name."""
        entry = as_dict(self._entries().get(_key(place, agent)))
        session_id, cwd = as_text(entry.get("session_id")), as_text(entry.get("cwd"))
        if session_id is not None and cwd is not None:
            return Remembered(session_id, cwd)
        return in_notebook(Path(place), agent)

    def _entries(self) -> dict[str, Any]:
        with contextlib.suppress(OSError, ValueError, RecursionError):
            return as_dict(json.loads(self.file.read_text("utf-8")))
        return {}  # not there, or damaged: what it held is only a convenience


def in_notebook(path: Path, agent: str) -> Remembered | None:
    """Return the session of the last turn with ``agent`` in a notebook's file, which may have moved."""
    if path.suffix != ".ipynb":
        return None
    try:
        cells = as_list(as_dict(json.loads(path.read_text("utf-8"))).get("cells"))
    except (OSError, ValueError, RecursionError):
        return None
    outputs = [as_dict(output) for cell in cells for output in as_list(as_dict(cell).get("outputs"))]
    turns = [as_dict(as_dict(output.get("data")).get(MIME)) for output in outputs]
    found = [
        Remembered(cast("str", turn["session_id"]), cast("str", turn["cwd"]))
        for turn in turns
        if as_dict(turn.get("agent")).get("name") == agent
        and as_text(turn.get("session_id")) is not None
        and as_text(turn.get("cwd")) is not None
    ]
    return found[-1] if found else None


def _key(place: str, agent: str) -> str:
    return json.dumps([place, agent], ensure_ascii=False)
