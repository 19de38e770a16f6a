"""MCP servers that an agent is to use, written as the protocol spells them.

See https://agentclientprotocol.com/protocol/session-setup#mcp-servers. Values of variables are looked up when
a server is added, so that no key stands in a notebook.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from acp_jupyter.errors import UsageError
from acp_jupyter.model.content import as_dict, as_list, as_text
from acp_jupyter.session.small_file import read_small, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


def stdio_server(
    name: str, command: str, args: Sequence[str], env: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return a server that the agent starts itself.

    Raises:
        UsageError: The command is not found: the protocol wants its absolute path.
    """
    found = shutil.which(command)
    if found is None:
        raise UsageError(
            f"the command of MCP server {name!r} was not found: {command!r}", advice="Give its full path."
        )
    return {
        "name": name,
        "command": str(Path(found).absolute()),
        "args": list(args),
        "env": [{"name": key, "value": value} for key, value in (env or {}).items()],
    }


def remote_server(
    name: str, url: str, kind: str = "http", headers: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return a server that the agent reaches over the network, by ``http`` or ``sse``.

    Raises:
        UsageError: No such address, or no such kind.
    """
    if urlsplit(url).scheme not in {"http", "https"} or kind not in {"http", "sse"}:
        raise UsageError(
            f"MCP server {name!r} has no usable address: {kind} {url}", advice="Give an http(s) address."
        )
    pairs = [{"name": key, "value": value} for key, value in (headers or {}).items()]
    return {"type": kind, "name": name, "url": url, "headers": pairs}


def variables(names: Sequence[str]) -> dict[str, str]:
    """Return the values of environment variables.

    Raises:
        UsageError: One is not set; the message names it.
    """
    missing = [name for name in names if name not in os.environ]
    if missing:
        raise UsageError(
            f"not set in the environment: {', '.join(missing)}",
            advice="Set it before the kernel starts, or with os.environ in a cell that is not saved. For a "
            "header the variable holds all of its value, such as `Bearer ...`.",
        )
    return {name: os.environ[name] for name in names}


def read_servers(path: str | Path) -> list[dict[str, Any]]:
    """Read a project's ``.mcp.json`` or a file of that shape: ``{mcpServers: {name: {command | url, ...}}}``.

    ``${NAME}`` and ``${NAME:-default}`` stand for variables of the environment.

    Raises:
        UsageError: It cannot be read, or an entry is not such a server; the message names it.
    """
    return [_server(name, entry, path) for name, entry in _entries(path).items()]


def variables_of(path: str | Path) -> dict[str, list[str]]:
    """Return the names of the variables that each server of such a file gets the value of.

    Raises:
        UsageError: It cannot be read.
    """
    found = {name: _VARIABLE.findall(json.dumps(entry)) for name, entry in _entries(path).items()}
    return {
        server: list(dict.fromkeys(name for name, _default in names if name in os.environ))
        for server, names in found.items()
    }


def _entries(path: str | Path) -> dict[str, Any]:
    try:
        table = as_dict(json.loads(text_of(read_small(path)))).get("mcpServers")
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    if not isinstance(table, dict):
        raise UsageError(
            f"{path} holds no mcpServers", advice='Its shape: {"mcpServers": {name: {command, args}}}.'
        )
    return cast("dict[str, Any]", table)


def _server(name: str, entry: Any, path: str | Path) -> dict[str, Any]:
    given = as_dict(_filled(entry, f"MCP server {name!r} in {path}"))
    url, command = as_text(given.get("url")), as_text(given.get("command"))
    if url is not None:
        kind = as_text(given.get("type")) or "http"
        return remote_server(name, url, "http" if "http" in kind else kind, _texts(given.get("headers")))
    if command is None:
        raise UsageError(f"MCP server {name!r} in {path} has neither a command nor a url")
    return stdio_server(
        name, command, [str(arg) for arg in as_list(given.get("args"))], _texts(given.get("env"))
    )


def _texts(value: Any) -> dict[str, str]:
    return {str(key): str(one) for key, one in as_dict(value).items()}


def _filled(value: Any, where: str) -> Any:
    if isinstance(value, str):
        return _VARIABLE.sub(lambda found: _variable(found, where), value)
    if isinstance(value, dict):
        return {key: _filled(one, where) for key, one in cast("dict[Any, Any]", value).items()}
    return [_filled(one, where) for one in cast("list[Any]", value)] if isinstance(value, list) else value


def _variable(found: re.Match[str], where: str) -> str:
    name, default = found[1], found[2] if found.lastindex == 2 else None  # noqa: PLR2004  # the second group
    value = os.environ.get(name, default)
    if value is None:
        raise UsageError(f"{where} needs {name} in the environment")
    return value
