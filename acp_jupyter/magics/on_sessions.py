"""The ``%acp`` commands about what an agent remembers, what it lets be chosen, and log-in."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from IPython.display import (
    publish_display_data,  # pyright: ignore[reportUnknownVariableType]  # IPython types it loosely
)

from acp_jupyter.errors import UsageError
from acp_jupyter.kernel.agreed import agreed
from acp_jupyter.kernel.sessions import redactor, sessions
from acp_jupyter.kernel.terminal import type_into_terminal
from acp_jupyter.model.content import as_dict
from acp_jupyter.model.secrets import is_secret_name
from acp_jupyter.session.choices import offered
from acp_jupyter.session.settings import settings

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from acp_jupyter.model.turn import Turn
    from acp_jupyter.session.session import Session
    from acp_jupyter.session.settings import Settings


def _session() -> Session:
    return sessions().get()


# --- what the agent remembers


def _sessions(options: argparse.Namespace) -> str:
    session = _session()
    listed = session.sessions(None if options.all else session.cwd or sessions().here())
    lines = [_listed(one, session, where=options.all) for one in listed]
    return (
        "\n".join(lines)
        or f"{session.name} remembers no session here; %acp sessions --all lists every directory's."
    )


def _listed(one: dict[str, Any], session: Session, *, where: bool) -> str:
    mark = "*" if one.get("sessionId") == session.session_id else " "
    words = [
        str(one.get("updatedAt") or "").ljust(24),
        one.get("title") or "",
        one.get("cwd") if where else "",
    ]
    return "  ".join([f"{mark} {one.get('sessionId')}", *filter(None, words)]).rstrip()


def _wanted(options: argparse.Namespace, session: Session) -> tuple[str, str | None]:
    """Return the session's id and directory: that of the line, else the one this notebook had."""
    remembered = sessions().remembered(session.name)
    if options.id is not None:
        same = remembered is not None and remembered.session_id == options.id
        return options.id, options.cwd or (remembered.cwd if same and remembered else None)
    if remembered is None:
        raise UsageError(
            f"this notebook had no session with {session.name} yet",
            advice="Name one: %acp load ID. Where the agent keeps a list, %acp sessions shows it.",
        )
    return remembered.session_id, options.cwd or remembered.cwd


def _load(options: argparse.Namespace) -> str:
    session, wanted = _session(), settings()
    history = session.load(*_wanted(options, session))
    if not history:
        return f"The session goes on: {session.session_id}. The agent told no history."
    _show_history(history, wanted)
    return (
        f"The session goes on: {session.session_id}. Above is what the agent told of it; "
        "in Python, as turns: from acp_jupyter import get_session; get_session().history"
    )


def _show_history(history: list[Turn], wanted: Settings) -> None:
    from acp_jupyter.kernel.keep import history_to_keep  # noqa: PLC0415  # only this command needs it

    publish_display_data(history_to_keep(history, redactor(), wanted))


def _resume(options: argparse.Namespace) -> str:
    session = _session()
    session.resume(*_wanted(options, session))
    return f"The session goes on: {session.session_id}."


def _fork(options: argparse.Namespace) -> str:
    return f"A copy goes on: {_session().fork(options.id, options.cwd)}."


def _close(_options: argparse.Namespace) -> str:
    _session().close()
    return "The session is closed; the next prompt begins another."


def _delete(options: argparse.Namespace) -> str:
    session = _session()
    if not options.yes and not agreed(f"{session.name} forgets the session {options.id} for good."):
        return "Nothing was deleted."
    session.delete(options.id)
    return f"The agent has forgotten {options.id}."


# --- what it lets be chosen


def _mode(options: argparse.Namespace) -> str:
    session = _session()
    if options.value is not None:
        session.choose(mode=options.value)
    option = _of_category(session, "mode")
    if option is not None:
        return _option_text(option)
    current = (session.mode or {}).get("id")
    lines = [f"{'*' if one == current else ' '} {one:16} {name}" for one, name in session.modes.items()]
    return "\n".join(lines) or _nothing(session, "modes")


def _model(options: argparse.Namespace) -> str:
    session = _session()
    if options.value is not None:
        session.choose(model=options.value)
    option = _of_category(session, "model")
    return _option_text(option) if option is not None else _nothing(session, "models")


def _set(options: argparse.Namespace) -> str:
    session = _session()
    if options.id is not None and options.value is None:
        raise UsageError("no value was given", advice="%acp set ID VALUE")
    if options.id is not None:
        session.choose(options={options.id: options.value})
    return "\n".join(map(_option_text, session.options)) or _nothing(session, "options")


def _commands(_options: argparse.Namespace) -> str:
    session = _session()
    lines = [f"{_typed(one):21} {one['description']}" for one in session.commands]
    return "\n".join(lines) or _nothing(session, "commands")


def _typed(command: dict[str, Any]) -> str:
    """A slash command as one types it, with the agent's hint for what comes after it."""
    return f"/{command['name']}" + (f" [{command['hint']}]" if "hint" in command else "")


def _of_category(session: Session, category: str) -> dict[str, Any] | None:
    return next((option for option in session.options if option.get("category") == category), None)


def _option_text(option: dict[str, Any]) -> str:
    current = option.get("currentValue")
    if isinstance(current, bool):
        current = "on" if current else "off"
    values = offered(option) or {"on": "", "off": ""}
    head = f"{option.get('name') or option.get('id')}  ({option.get('id')})"
    return "\n".join(
        [
            head,
            *(
                f"{'*' if value == str(current) else ' '} {value:16} {name}".rstrip()
                for value, name in values.items()
            ),
        ]
    )


def _nothing(session: Session, what: str) -> str:
    if session.session_id is None:
        return f"{session.name} tells its {what} when its session has begun: with the first prompt."
    return f"{session.name} offers no {what}."


# --- log-in


def _login(options: argparse.Namespace) -> str:
    session = _session()
    if options.done:
        session.restart()
        return "The next prompt starts the agent again, with the log-in that you have done."
    methods = session.auth_methods
    if options.method is None and len(methods) != 1:
        listed = "\n".join(
            f"  {one.get('id')}  {one.get('name') or ''}  {one.get('description') or ''}" for one in methods
        )
        return (
            f"Choose one: %acp login METHOD\n{listed}"
            if methods
            else f"{session.name} offers no log-in; see its own documentation."
        )
    method = next((one for one in methods if options.method in {None, one.get("id")}), None)
    if method is not None and method.get("type") == "terminal":
        return _in_a_terminal(session, method)
    from acp_jupyter.kernel.log_in import log_in  # noqa: PLC0415  # only this command needs it

    log_in(session, options.method or str(methods[0].get("id")))
    return "Logged in."


def _in_a_terminal(session: Session, method: dict[str, Any]) -> str:
    """The agent's own command with what the log-in adds: never a command of its descriptor's."""
    spec = session.spec
    # what says where it keeps its log-in, but no key: this line is shown
    own = {name: value for name, value in spec.env.items() if "$" not in value and not is_secret_name(name)}
    env = [f"{name}={value}" for name, value in {**own, **as_dict(method.get("env"))}.items()]
    program = str(Path(shutil.which(spec.command) or spec.command).absolute())  # a terminal has its own PATH
    command = [program, *spec.args, *map(str, method.get("args") or [])]
    line = shlex.join([*(["env", *env] if env else []), *command])
    where = "Run this in a terminal"
    if type_into_terminal(line):
        where = (
            "This log-in runs in a terminal. JupyterLab opens one now, with the line below typed in: press "
            "Enter there. If none opens, run it in a terminal of your own"
        )
    return f"{where}:\n\n    {line}\n\nThen: %acp login --done"


def _logout(_options: argparse.Namespace) -> str:
    _session().logout()
    return "Logged out; the agent may ask for a log-in at the next prompt."


COMMANDS: dict[str, Callable[[argparse.Namespace], str]] = {
    "sessions": _sessions,
    "load": _load,
    "resume": _resume,
    "fork": _fork,
    "close": _close,
    "delete": _delete,
    "mode": _mode,
    "model": _model,
    "set": _set,
    "commands": _commands,
    "login": _login,
    "logout": _logout,
}
