"""Which session belongs to which notebook, kept over kernel restarts in a state file of the user's.

A kernel cannot write into its notebook's metadata. So the id stands in each turn's transcript, and in this
file, keyed by the notebook (where it is not known, by the working directory) and the agent. The latest kernel
on a notebook wins; a kernel that runs keeps the session that it has. Those before it stay known for a while.
"""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

import platformdirs

from acp_jupyter.errors import UsageError
from acp_jupyter.model.content import as_dict, as_list, as_text
from acp_jupyter.model.transcript import MIME
from acp_jupyter.session.files import replace

_ENTRIES = 500
_EARLIER = 20


class Remembered(NamedTuple):
    """A session that a notebook had.

    Args:
        session_id: The agent's own id of it.
        cwd: Its working directory.
        chosen: What its user had chosen: the option, ``None`` for the mode, and its value.
    """

    session_id: str
    cwd: str
    chosen: tuple[tuple[str | None, Any], ...] = ()


Chosen: TypeAlias = "tuple[tuple[str | None, Any], ...]"


class Memory:
    """The state files: of sessions, and beside it of what was last chosen with each agent.

    Args:
        file: JSON; by default in the user's state folder.
    """

    def __init__(self, file: Path | None = None) -> None:
        self.file = file or platformdirs.user_state_path("acp-jupyter") / "sessions.json"
        self._choices_file = self.file.with_name("choices.json")

    def keep(self, place: str, agent: str, session: Remembered) -> None:
        """Remember a session; the oldest entries are dropped beyond a few hundred.

        Raises:
            UsageError: The file cannot be written.
        """
        entries = _read(self.file)
        before = self.find_all(place, agent)
        entries.pop(_key(place, agent), None)
        earlier = [one._asdict() for one in before if one.session_id != session.session_id][:_EARLIER]
        entries[_key(place, agent)] = {**session._asdict(), "at": time.time(), "earlier": earlier}
        _write(self.file, dict(list(entries.items())[-_ENTRIES:]))

    def keep_choices(self, agent: str, chosen: Chosen) -> None:
        """Remember what was last chosen with an agent.

        Raises:
            UsageError: The file cannot be written.
        """
        entries = _read(self._choices_file)
        if _chosen(entries.get(agent)) != chosen:
            _write(self._choices_file, {**entries, agent: chosen})

    def choices(self, agent: str) -> Chosen:
        """Return what was last chosen with an agent."""
        return _chosen(_read(self._choices_file).get(agent))

    def find(self, place: str, agent: str) -> Remembered | None:
        """Return the session that was kept last for a place, or that its notebook's own transcripts name."""
        return next(iter(self.find_all(place, agent)), None)

    def find_all(self, place: str, agent: str) -> list[Remembered]:
        """Return what `find` does and those that were kept before it, the latest first."""
        kept = _sessions(_read(self.file).get(_key(place, agent)))
        told = None if kept else in_notebook(Path(place), agent)
        return kept if told is None else [told]

    def agents(self, place: str) -> list[str]:
        """Return the names of the agents with which a place had sessions, the latest first."""
        keys = [_read_key(key) for key in reversed(_read(self.file))]
        names = [agent for one, agent in keys if one == place]
        return names or list(dict.fromkeys(name for name, _session in reversed(_told(Path(place)))))


def _read(file: Path) -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError, RecursionError):
        return as_dict(json.loads(file.read_text("utf-8")))
    return {}  # not there, or damaged: what it held is only a convenience


def _write(file: Path, entries: dict[str, Any]) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace(file, (json.dumps(entries, indent=1) + "\n").encode(), 0o600)
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error}", advice="Make it writable.") from error


def in_notebook(path: Path, agent: str) -> Remembered | None:
    """Return the session of the last turn with ``agent`` in a notebook's file, which may have moved."""
    return next((session for name, session in reversed(_told(path)) if name == agent), None)


def _told(path: Path) -> list[tuple[str, Remembered]]:
    """Return the agent and the session of each turn in a notebook's file, in its order."""
    if path.suffix != ".ipynb":
        return []
    try:
        cells = as_list(as_dict(json.loads(path.read_text("utf-8"))).get("cells"))
    except (OSError, ValueError, RecursionError):
        return []
    outputs = [as_dict(output) for cell in cells for output in as_list(as_dict(cell).get("outputs"))]
    turns = [as_dict(as_dict(output.get("data")).get(MIME)) for output in outputs]
    return [
        (name, session)
        for turn in turns
        for name in [as_text(as_dict(turn.get("agent")).get("name"))]
        for session in [_session(turn)]
        if name is not None and session is not None
    ]


def _sessions(entry: Any) -> list[Remembered]:
    """Read an entry of the state file: its latest session, and the earlier ones."""
    found: list[Remembered] = []
    for fields in [as_dict(entry), *map(as_dict, as_list(as_dict(entry).get("earlier")))]:
        session = _session(fields)
        if session is not None:
            found.append(session._replace(chosen=_chosen(fields.get("chosen"))))
    return found


def _chosen(pairs: Any) -> Chosen:
    lists = [cast("list[Any]", pair) for pair in as_list(pairs) if isinstance(pair, list)]
    return tuple((pair[0], pair[1]) for pair in lists if _is_choice(pair))


def _session(fields: dict[str, Any]) -> Remembered | None:
    """Read which session it was, and no more: a notebook may be anybody's, and chooses nothing."""
    session_id, cwd = as_text(fields.get("session_id")), as_text(fields.get("cwd"))
    return None if session_id is None or cwd is None else Remembered(session_id, cwd)


def _is_choice(pair: list[Any]) -> bool:
    return len(pair) == 2 and isinstance(pair[0], str | None) and isinstance(pair[1], str | bool)  # noqa: PLR2004  # a pair


def _read_key(key: str) -> tuple[str, str]:
    try:
        place, agent = as_list(json.loads(key))
    except (ValueError, RecursionError):  # damaged
        return "", ""
    return str(place), str(agent)


def _key(place: str, agent: str) -> str:
    return json.dumps([place, agent], ensure_ascii=False)
