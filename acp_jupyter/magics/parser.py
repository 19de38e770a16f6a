"""The grammar of ``%%acp`` and ``%acp``: what is parsed, helped with and completed comes from here alone."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from typing import NoReturn, cast

from acp_jupyter.errors import UsageError

BLOCKED = (
    "A running cell blocks those after it: while a turn waits in one, answer on its card, or interrupt the "
    "kernel; %acp cancel, pending, approve and reject cannot help then."
)
_POLICY_HELP = "who answers permission requests in this turn: ask, reject, read, edits, allow-once-all"


class _Parser(argparse.ArgumentParser):
    """Raises our own error instead of leaving the interpreter."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog}: {message}", advice=self.format_usage().strip())

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:  # noqa: ARG002  # argparse's signature
        raise HelpShown(message or "")


_Command = Callable[[str, str], argparse.ArgumentParser]


class HelpShown(Exception):
    """``--help`` was given."""


def cell_parser() -> argparse.ArgumentParser:
    """Return the parser of the ``%%acp`` line."""
    parser = _Parser(
        prog="%%acp", description="Run the cell's body as a task for a coding agent, and show it live."
    )
    add = parser.add_argument
    add("agent", nargs="?", metavar="AGENT", help="its name; by default the current session's")
    add("-o", "--output", metavar="NAME", help="bind the turn to a variable")
    add("-q", "--quiet", action="store_true", help="no card, the answer alone; questions come by input()")
    add("--cwd", metavar="DIR", help="working directory; by default the kernel's when the session starts")
    add("--add-dir", metavar="DIR", action="append", default=[], help="a further directory (repeatable)")
    add("--approve", metavar="POLICY", help=_POLICY_HELP)
    add(
        "--new",
        action="store_true",
        help="begin the session afresh first, in a new process: a log-in that it held in memory is gone",
    )
    add("--mode", metavar="MODE", help="set the agent's mode before the prompt; it stays set")
    add("--model", metavar="MODEL", help="set the agent's model before the prompt; it stays set")
    add(
        "--set",
        metavar="ID=VALUE",
        action="append",
        default=[],
        type=pair,
        help="set another of the agent's options before the prompt (repeatable)",
    )
    add("--timeout", metavar="S", type=seconds, help="cancel the turn after S seconds")
    add("--check", action="store_true", help="raise unless the turn ends by itself with nothing rejected")
    return parser


def line_parser() -> argparse.ArgumentParser:
    """Return the parser of ``%acp``."""
    parser = _Parser(prog="%acp", description=f"Look after the sessions with coding agents. {BLOCKED}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)

    def command(name: str, text: str) -> argparse.ArgumentParser:
        # argparse fills in the one and takes the other as it stands
        return commands.add_parser(name, help=text.replace("%", "%%"), description=text)

    for add_to in (
        _about_agents,
        _about_the_process,
        _about_sessions,
        _about_choices,
        _about_requests,
        _about_the_wire,
    ):
        add_to(command)
    return parser


def _about_agents(command: _Command) -> None:
    command("status", "the session: agent, process, directories, turns (also without a command)")
    agents = command("agents", "the agents that are known, and which are found here; or add some from a file")
    agents.add_argument(
        "--from", dest="file", metavar="FILE", help="take over the agents in another client's settings (JSON)"
    )
    agents.add_argument(
        "--registry",
        nargs="?",
        const="",
        metavar="FILE_OR_URL",
        help="list the public registry's; by default it is fetched from the address in the settings",
    )
    agents.add_argument("--take", metavar="NAME", action="append", default=[], help="add this one of them")
    agents.add_argument(
        "--save", action="store_true", help="for later kernels too, in the user's agents file"
    )
    command("use", "make an agent the current one").add_argument("name", metavar="NAME")
    add = command("add", "make an agent known: %acp add NAME -- COMMAND ARG...")
    add.add_argument("name", metavar="NAME")
    add.add_argument(
        "--env",
        metavar="NAME",
        action="append",
        default=[],
        help="an environment variable it needs (its name only)",
    )
    add.add_argument("--save", action="store_true", help="for later kernels too, in the user's agents file")
    add.usage = "%(prog)s [-h] [--env NAME] [--save] NAME -- COMMAND ARG..."
    command("remove", "forget an agent that was added").add_argument("name", metavar="NAME")
    doctor = command("doctor", "look at the whole set-up, and say what to mend")
    doctor.add_argument("agent", nargs="?", metavar="AGENT", help="by default the current one")


def _about_the_process(command: _Command) -> None:
    command(
        "new",
        "begin the session afresh at the next prompt, in a new process, in the kernel's directory by then",
    )
    command("restart", "end the agent's process; the next prompt starts another")
    command("stop", "end the agent's process and all that it started")


def _about_sessions(command: _Command) -> None:
    listed = command("sessions", "the sessions that the agent remembers of this directory")
    listed.add_argument("--all", action="store_true", help="of every directory")
    for name, text in (
        ("load", "go on with a session that the agent remembers, and show its history"),
        ("resume", "go on with a session that the agent remembers, without its history"),
        ("fork", "go on with a copy of a session"),
    ):
        again = command(name, text)
        which = "the current one" if name == "fork" else "the one this notebook had"
        again.add_argument("id", nargs="?", metavar="ID", help=f"its id; by default {which}")
        again.add_argument(
            "--cwd", metavar="DIR", help="its directory; by default the one it had, where that is known"
        )
    command("close", "let the agent close the session; the next prompt begins another")
    delete = command("delete", "let the agent forget a session, for good; you are asked first")
    delete.add_argument("id", metavar="ID", help="as listed by sessions")
    delete.add_argument("--yes", action="store_true", help="do not ask")


def _about_choices(command: _Command) -> None:
    command("mode", "the agent's modes; with X, set it").add_argument("value", nargs="?", metavar="X")
    command("model", "the agent's models; with X, set it").add_argument("value", nargs="?", metavar="X")
    chosen = command("set", "the agent's options; with ID VALUE, set one")
    chosen.add_argument("id", nargs="?", metavar="ID", help="the option's id or name")
    chosen.add_argument(
        "value", nargs="?", metavar="VALUE", help="the value's id or name; on or off where it is a switch"
    )
    command("commands", "the agent's slash commands; type one in the cell's body")
    login = command("login", "log in to the agent, by one of the ways that it offers")
    login.add_argument("method", nargs="?", metavar="METHOD")
    login.add_argument(
        "--done", action="store_true", help="you have logged in elsewhere: start the agent again"
    )
    command("logout", "log out of the agent")
    servers = command(
        "mcp",
        "MCP servers for the current agent, and no other: add NAME -- COMMAND ARG..., list, remove NAME",
    )
    servers.add_argument(
        "action",
        choices=("add", "list", "remove"),
        nargs="?",
        help="by default list, and add where there is --from",
    )
    servers.add_argument("name", nargs="?", metavar="NAME", help="what the server is to be called")
    servers.add_argument("--url", metavar="URL", help="a server over http")
    servers.add_argument("--sse", action="store_true", help="over server-sent events instead")
    servers.add_argument(
        "--header",
        metavar="NAME=VARIABLE",
        action="append",
        default=[],
        type=pair,
        help="a header, and the variable of the environment that holds all of its value, also `Bearer ...`",
    )
    servers.add_argument(
        "--env", metavar="NAME", action="append", default=[], help="a variable to hand on (its name only)"
    )
    servers.add_argument("--from", dest="file", metavar="FILE", help="take over those of a .mcp.json")
    servers.usage = (
        "%(prog)s [-h] [--url URL [--sse] [--header NAME=VARIABLE]] [--env NAME] [--from FILE]\n"
        "                [{add,list,remove}] [NAME] [-- COMMAND ARG...]"
    )


def _about_requests(command: _Command) -> None:
    command("cancel", "cancel the running turn (cannot help while a cell blocks)")
    command(
        "pending", "what waits for an answer: requests, forms, addresses (cannot help while a cell blocks)"
    )
    approve = command(
        "approve", "allow a waiting request once, or select OPTION (cannot help while a cell blocks)"
    )
    approve.add_argument(
        "number", nargs="?", type=int, default=1, metavar="N", help="from 1, as listed by pending"
    )
    approve.add_argument("option", nargs="?", metavar="OPTION", help="the id of one of its options")
    reject = command("reject", "reject a waiting request this time (cannot help while a cell blocks)")
    reject.add_argument(
        "number", nargs="?", type=int, default=1, metavar="N", help="from 1, as listed by pending"
    )
    answer = command("answer", "fill in a form that waits, or agree to an address, by input()")
    answer.add_argument("key", nargs="?", metavar="KEY", help="such as e1, as listed by pending; the oldest")
    asking = command("ask", "where permission is asked: on the card, or by input()")
    asking.add_argument(
        "way",
        nargs="?",
        metavar="WAY",
        help="buttons; text, where clicks never arrive; auto (the card where one works)",
    )


def _about_the_wire(command: _Command) -> None:
    inspect = command("inspect", "raw input and output of a tool call")
    inspect.add_argument(
        "call", nargs="?", metavar="TURN.CALL", help="such as 2.1, from 1; by default all of the last turn"
    )
    log = command("log", "the messages on the wire, both ways, without secrets")
    log.add_argument("--method", metavar="M", help="those whose method holds M, and the answers to them")
    log.add_argument("--direction", choices=("in", "out"), help="from the agent, or to it")
    log.add_argument("--text", metavar="T", help="those that hold this text")
    log.add_argument("--last", metavar="N", type=count, help="the last N of them")
    log.add_argument(
        "--save",
        metavar="FILE",
        help="write all that are kept to a new file, which can be played (playing it writes files and runs "
        "commands for real)",
    )
    command("stderr", "the last lines of the agent's error output")


def commands() -> list[str]:
    """Return the names of ``%acp``'s subcommands."""
    return list(_subparsers(line_parser()))


def options(command: str | None) -> list[str]:
    """Return the long options of a subcommand, or of ``%%acp`` where it is ``None``."""
    parser = cell_parser() if command is None else _subparsers(line_parser()).get(command)
    actions = parser._actions if parser else []  # noqa: SLF001  # argparse has no public list of them
    return [name for action in actions for name in action.option_strings if name.startswith("--")]


def _subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in parser._actions:  # noqa: SLF001  # as above
        if isinstance(action.choices, dict):  # only the subcommands' are
            return cast("dict[str, argparse.ArgumentParser]", action.choices)  # pyright: ignore[reportUnknownMemberType]  # argparse types it loosely
    return {}


def split(line: str) -> list[str]:
    """Split a magic's line as a shell would.

    Raises:
        UsageError: A quote is not closed.
    """
    try:
        return shlex.split(line)
    except ValueError as error:
        raise UsageError(f"cannot read the line: {error}", advice="Close the quote.") from error


def cell_help() -> str:
    """Return the help of ``%%acp``."""
    return cell_parser().format_help()


def line_help() -> str:
    """Return the help of ``%acp``, with each of its commands."""
    parser = line_parser()
    parts = [parser.format_help(), *(sub.format_help() for sub in _subparsers(parser).values())]
    return "\n".join(parts)


def pair(text: str) -> tuple[str, str]:
    """Read ``ID=VALUE``."""
    name, found, value = text.partition("=")
    if not found or not name:
        raise argparse.ArgumentTypeError(f"{text} is not ID=VALUE")
    return name, value


def count(text: str) -> int:
    """Read a whole number, at least 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return value


def seconds(text: str) -> float:
    """Read a number of seconds above 0."""
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text} is not a number of seconds above 0")
    return value
