"""Agents out of other clients' files, and out of the public registry; nothing is read before it is asked for.

The registry's shape: https://github.com/agentclientprotocol/registry/blob/main/FORMAT.md.
"""

from __future__ import annotations

import difflib
import json
import platform
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from urllib.parse import urlsplit

from acp_jupyter.errors import UsageError
from acp_jupyter.model.content import as_dict, as_text
from acp_jupyter.session.agent_spec import AgentSpec, checked_spec
from acp_jupyter.session.small_file import read_small, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable

# Where clients keep them: Zed and the JetBrains IDEs; VS Code's; several others, as an object or as a list.
_KEYS = ("agent_servers", "acp.agents", "agents")
# What theirs and ours agree on; an agent in another client's file may have more, which is that client's.
_THEIRS = ("command", "args", "env")
_OURS = ("default_mode", "default_model")
_LIMIT_BYTES = 8_000_000
_TIMEOUT_S = 20.0
# A string, or a comment; and a comma with nothing after it in its object or list.
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')
_MACHINES = {"amd64": "x86_64", "x86_64": "x86_64", "arm64": "aarch64", "aarch64": "aarch64"}
_SYSTEMS = {"linux": "linux", "darwin": "darwin", "win32": "windows"}


class Found(NamedTuple):
    """What was read: the agents, and for each one left out a line that says why."""

    specs: list[AgentSpec]
    left_out: list[str]

    def only(self, names: list[str]) -> Found:
        """Return these of them.

        Raises:
            UsageError: One is not among them.
        """
        there = [spec.name for spec in self.specs]
        for name in names:
            if name not in there:
                close = difflib.get_close_matches(name.lower(), there, n=1)
                hint = f"; did you mean {close[0]}?" if close else ""
                raise UsageError(f"no agent {name!r} was found{hint}", advice=f"Found: {', '.join(there)}.")
        return Found([spec for spec in self.specs if spec.name in names], self.left_out)


def read_agents(file: Path) -> Found:
    """Read the agents in another client's file.

    Args:
        file: JSON, comments allowed, of ``{name: {command, args, env}}``, at its top or under
            ``agent_servers``, ``acp.agents`` or ``agents``; there also a list, with ``id`` or ``name``.

    Raises:
        UsageError: The file cannot be read, or there is no agent in it; the message says what is wrong.
    """
    try:
        table = _json(text_of(read_small(file)), str(file))
    except (OSError, ValueError) as error:  # ValueError: not UTF-8
        raise UsageError(f"cannot read {file}: {error}", advice="Give the path of a JSON file.") from error
    entries = _entries(table)
    if not entries:
        raise UsageError(
            f"no agent is in {file}",
            advice=f"Its shape: {{name: {{command, args, env}}}}, at its top or under {', '.join(_KEYS)}.",
        )
    return _found(_theirs(name, fields, str(file)) for name, fields in entries)


def read_registry(source: str) -> Found:
    """Read the agents of the public registry.

    Those that come as an npm or a PyPI package are started by ``npx`` and ``uvx``; those that come as a
    binary, by its name, once it is installed.

    Args:
        source: A file, or an address that begins with ``https://``.

    Raises:
        UsageError: It cannot be read, or is no registry.
    """
    table = _json(_text(source), source)
    agents = as_dict(table).get("agents")
    if not isinstance(agents, list):
        raise UsageError(f"{source} is not a registry", advice='Its shape: {"agents": [{id, distribution}]}.')
    return _found(_of_registry(entry, source) for entry in cast("list[Any]", agents))


def _found(entries: Iterable[AgentSpec | str]) -> Found:
    found = Found([], [])
    for entry in entries:
        if isinstance(entry, str):
            found.left_out.append(entry)
        else:
            found.specs.append(entry)
    return found


# --- other clients' files


def _entries(table: Any) -> list[tuple[str, Any]]:
    if not isinstance(table, dict):
        return []
    whole = cast("dict[str, Any]", table)
    inner: Any = next((whole[key] for key in _KEYS if isinstance(whole.get(key), (dict, list))), whole)
    if isinstance(inner, list):
        return [(_name(entry), entry) for entry in cast("list[Any]", inner)]
    entries = list(cast("dict[str, Any]", inner).items())
    # at the top of a file there may be anything
    return [entry for entry in entries if inner is not whole or _has_command(entry[1])]


def _has_command(entry: Any) -> bool:
    return isinstance(entry, dict) and ("command" in entry or "argv" in entry)


def _name(entry: Any) -> str:
    fields = as_dict(entry)
    return str(fields.get("id") or fields.get("name") or "?")


def _theirs(name: str, entry: Any, where: str) -> AgentSpec | str:
    if not isinstance(entry, dict):
        return f"{name}: not an object"
    fields = _with_command(cast("dict[str, Any]", entry))
    if "command" not in fields:
        kind = as_text(fields.get("type"))
        return f"{name}: it has no command" + (f"; we start none of type {kind}" if kind else "")
    kept = {key: fields[key] for key in (*_THEIRS, *_OURS) if fields.get(key) is not None}
    title = fields.get("label") or fields.get("title") or name
    try:
        return checked_spec({**kept, "name": plain_name(name), "title": title}, where)
    except UsageError as error:
        return error.message


def _with_command(fields: dict[str, Any]) -> dict[str, Any]:
    """Some clients keep the command and its arguments in one list."""
    argv = fields.get("argv")
    if "command" in fields or not isinstance(argv, list) or not argv:
        return fields
    command, *args = cast("list[Any]", argv)
    return {**fields, "command": command, "args": args}


def plain_name(name: str) -> str:
    """Return a name that can be typed after ``%%acp``: other clients allow any text."""
    return re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-._")


# --- the registry


def _of_registry(entry: Any, where: str) -> AgentSpec | str:
    fields, name = as_dict(entry), _name(entry)
    ways = as_dict(fields.get("distribution"))
    start = _by_package(ways) or _by_binary(as_dict(as_dict(ways.get("binary")).get(_platform())))
    if start is None:
        return f"{name}: no way to start it on {_platform()}"
    title: Any = fields.get("name") or name
    try:
        return checked_spec({**start, "name": name, "title": title}, where)
    except UsageError as error:
        return error.message


def _by_package(ways: dict[str, Any]) -> dict[str, Any] | None:
    """How to start it, in the fields of an `AgentSpec`."""
    for way, prefix, option in (("npx", ("-y",), "--package"), ("uvx", (), "--from")):
        fields = as_dict(ways.get(way))
        package, command = fields.get("package"), fields.get("cmd")
        if package:
            named = (option, package, command) if command else (package,)
            return {"command": way, "args": (*prefix, *named, *_args(fields)), "env": fields.get("env") or {}}
    return None


def _by_binary(fields: dict[str, Any]) -> dict[str, Any] | None:
    path = as_text(fields.get("cmd"))
    if path is None:
        return None
    # the path is the one in the archive: once that is unpacked and on PATH, the name is enough
    command = re.split(r"[\\/]", path)[-1]
    install = f"unpack {fields.get('archive')} and put {command} on PATH"
    return {"command": command, "args": _args(fields), "env": fields.get("env") or {}, "install": install}


def _args(fields: dict[str, Any]) -> tuple[Any, ...]:
    args = fields.get("args")
    return tuple(cast("list[Any]", args)) if isinstance(args, list) else ()


def _platform() -> str:
    machine = platform.machine().lower()
    return f"{_SYSTEMS.get(sys.platform, sys.platform)}-{_MACHINES.get(machine, machine)}"


# --- reading


def _text(source: str) -> str:
    parts = urlsplit(source)
    if parts.scheme in {"", "file"} or len(parts.scheme) == 1:  # one letter: a Windows drive
        path = Path(parts.path if parts.scheme == "file" else source).expanduser()
        try:
            return text_of(read_small(path))
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot read {source}: {error}", advice="Give a file or an address.") from error
    if parts.scheme != "https":
        raise UsageError(f"{source} is not read", advice="Give a file, or an address with https://.")
    return _fetched(source)


def _fetched(address: str) -> str:
    import urllib.request  # noqa: PLC0415  # few ask for it, and it takes its time

    request = urllib.request.Request(address, headers={"User-Agent": "acp_jupyter"})  # noqa: S310  # https alone comes here
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310  # as above
            data = answer.read(_LIMIT_BYTES + 1)
    except (OSError, ValueError) as error:  # URLError is an OSError
        raise UsageError(
            f"cannot read {address}: {error}", advice="Try again, or give a file that you have downloaded."
        ) from error
    if len(data) > _LIMIT_BYTES:
        raise UsageError(f"{address} has more than {_LIMIT_BYTES:,} bytes", advice="It is no registry.")
    return data.decode("utf-8", "replace")


def _json(text: str, where: str) -> Any:
    try:
        try:
            return json.loads(text)
        except ValueError:
            return json.loads(_LAST_COMMA.sub(r"\1", _COMMENT.sub(r"\1", text)))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"cannot read {where}: {error}", advice="It must be JSON.") from error
