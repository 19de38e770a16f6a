"""Whether what an agent asks of us was asked of a person, or of a policy, before: by a call of the same turn.

See https://agentclientprotocol.com/protocol/tool-calls#requesting-permission. The protocol ties no file and
no terminal to a tool call, so what ties them is what was shown when the call was asked about: its paths, or
its command. Only what is named the same counts: a doubt costs a mark, or a question.
"""

from __future__ import annotations

import shlex
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from acp_jupyter.model.content import as_dict
from acp_jupyter.model.terminals import told_command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_jupyter.model.tool_call import Permission, ToolCall
    from acp_jupyter.model.turn import Turn

# A yes to reading or deleting a file is none to writing it; a policy that allows reads looks at no command.
_WRITING = frozenset({"edit", "move", "other"})
_READING = frozenset({"read", "search"})
_RUNNING = frozenset({"execute", "other"})
_ANSWERED_BY = frozenset({"you", "policy", "nobody"})
_PATH_NAMES = frozenset(
    {"path", "file", "filepath", "filename", "abspath", "absolutepath", "notebookpath", "targetfile"}
)
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh"})


class Answer(NamedTuple):
    """The latest answer of a turn about a path or a command: the request, and its call."""

    permission: Permission
    call: ToolCall

    @property
    def allowed(self) -> bool:
        """Whether it was yes."""
        return self.permission.state == "selected" and not self.permission.rejected

    @property
    def by_person(self) -> bool:
        """Whether a person gave it."""
        return self.permission.decided_by == "you"


def covered(turn: Turn, *, path: str | None = None, command: str | None = None) -> ToolCall | None:
    """Return the call of ``turn`` that was allowed to write the path or to run the command; else ``None``.

    Args:
        turn: The turn.
        path: An absolute path.
        command: A command and its arguments, as one line.
    """
    answer = latest_answer(turn, path=path, command=command)
    return answer.call if answer is not None and answer.allowed else None


def latest_answer(
    turn: Turn, *, path: str | None = None, command: str | None = None, reading: bool = False
) -> Answer | None:
    """Return what was last decided about a path or a command; ``None`` where nothing was.

    Args:
        turn: The turn.
        path: An absolute path.
        command: A command and its arguments, as one line.
        reading: Whether the path is only to be read.
    """
    kinds = _RUNNING if path is None else _READING | _WRITING if reading else _WRITING
    for permission in reversed(list(turn.permissions.values())):
        asked = turn.asked_about(permission)
        if permission.decided_by not in _ANSWERED_BY or asked.kind not in kinds:
            continue
        if reading and permission.rejected and asked.kind not in _READING:
            continue  # a no to changing a file is none to reading it
        if (path is not None and _names_path(asked, path, turn)) or (
            command is not None and _names_command(asked, command)
        ):
            return Answer(permission, turn.tool_calls[permission.tool_call_id])
    return None


def _names_path(call: ToolCall, path: str, turn: Turn) -> bool:
    roots = [turn.cwd, *turn.additional_directories]
    # `..` stays: what it leads to depends on links, and so do not two paths that look alike.
    return any(PurePath(root, named) == PurePath(path) for named in _paths(call) for root in roots)


def _paths(call: ToolCall) -> Iterator[str]:
    yield from (location.path for location in call.locations)
    yield from (diff.path for diff in call.diffs)
    for key, value in as_dict(call.raw_input).items():
        if isinstance(value, str) and key.replace("_", "").replace("-", "").lower() in _PATH_NAMES:
            yield value


def _names_command(call: ToolCall, command: str) -> bool:
    named = told_command(call)
    if named is None and call.kind == "execute":  # then its title is all that was shown
        named = call.title.strip().strip("`")
    return named is not None and bool(_forms(named) & _forms(command))


def _forms(line: str) -> set[str]:
    """Return a command as it may be written: itself, its words, and what a shell that it starts is to run."""
    words = _words(line)
    forms = {line.strip(), shlex.join(words)}
    if len(words) == 3 and PurePath(words[0]).name in _SHELLS and words[1] in {"-c", "-lc", "-cl"}:  # noqa: PLR2004  # SHELL -c LINE
        forms.add(words[2].strip())
    return forms - {""}


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # a quote without its end
        return []


def shown_command(command: str, args: list[str]) -> str:
    """Return a command and its arguments as one readable line: a shell's own line as it is."""
    return shlex.join([command, *args]) if args else command
