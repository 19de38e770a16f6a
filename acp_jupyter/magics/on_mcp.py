"""``%acp mcp``: the MCP servers that the session's agent is to use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_jupyter.errors import UsageError
from acp_jupyter.kernel.sessions import sessions
from acp_jupyter.session.mcp import read_servers, remote_server, stdio_server, variables, variables_of

if TYPE_CHECKING:
    import argparse


def mcp(options: argparse.Namespace) -> str:
    """Add, list or remove servers; they count from the next session on."""
    session = sessions().get()
    servers = session.mcp_servers
    action = options.action or ("add" if options.file is not None else "list")
    if action != "add" and _given(options):
        raise UsageError(
            f"%acp mcp {action} takes no {_given(options)[0]}: nothing was changed",
            advice="To add a server: %acp mcp add NAME -- COMMAND ARG..., or --url URL, or --from FILE.",
        )
    if action == "list":
        if not servers:
            return f"No MCP server is set for {session.name}."
        lines = [f"MCP servers of {session.name}, of no other agent:", *map(_line, servers)]
        return session.redactor.text("\n".join(lines))
    if action == "remove":
        kept = [server for server in servers if server["name"] != options.name]
        if len(kept) == len(servers):
            raise UsageError(f"no MCP server is called {options.name!r}", advice="See `%acp mcp list`.")
        servers[:] = kept
        return f"{options.name} is removed for {session.name}, {_when(session)}."
    added = _added(options)
    names = {server["name"] for server in added}
    servers[:] = [server for server in servers if server["name"] not in names] + added
    head = f"{', '.join(sorted(names)) or 'Nothing'} is added for {session.name}, {_when(session)}."
    if options.file is None:
        return head
    given = variables_of(options.file)
    lines = [_line(one) + _gets(given.get(one["name"])) for one in added]
    return session.redactor.text("\n".join([head, *lines]))


def _gets(names: list[str] | None) -> str:
    """Say which variables a file takes for a server: their values go to its command, or to its address."""
    return f"  gets the value of {', '.join(names)}" if names else ""


def _given(options: argparse.Namespace) -> list[str]:
    """What only `add` takes."""
    given = {
        "--from": options.file,
        "--url": options.url,
        "--sse": options.sse,
        "--header": options.header,
        "--env": options.env,
        "command": options.argv,
    }
    return [name for name, value in given.items() if value]


def _added(options: argparse.Namespace) -> list[dict[str, Any]]:
    if options.file is not None:
        if options.name is not None or _given(options) != ["--from"]:
            raise UsageError(
                "--from takes over every server of the file, and nothing beside it: nothing was added",
                advice="%acp mcp add --from FILE",
            )
        return read_servers(options.file)
    if options.name is None:
        raise UsageError(
            "the server needs a name", advice="%acp mcp add NAME -- COMMAND ARG..., or --url URL"
        )
    values = variables(options.env)
    if options.url is not None:
        looked_up = {name: variables([variable])[variable] for name, variable in options.header}
        return [remote_server(options.name, options.url, "sse" if options.sse else "http", looked_up)]
    if not options.argv:
        raise UsageError("no command was given", advice="%acp mcp add NAME -- COMMAND ARG..., or --url URL")
    command, *args = options.argv
    return [stdio_server(options.name, command, args, values)]


def _line(server: dict[str, Any]) -> str:
    """Say what it is, and nothing that may be secret: headers and variables by name only."""
    if "url" in server:
        what = f"{server['type']} {server['url']}"
        names = [header["name"] for header in server["headers"]]
    else:
        what = " ".join([server["command"], *server["args"]])
        names = [variable["name"] for variable in server["env"]]
    return f"{server['name']:16} {what}" + (f"  ({', '.join(names)})" if names else "")


def _when(session: Any) -> str:
    return (
        "from the next session on (%acp new)"
        if session.session_id is not None
        else "from its first prompt on"
    )
