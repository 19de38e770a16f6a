"""``%acp``: the sessions' and agents' house-keeping, one small function a command."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

from acp_jupyter.errors import UsageError
from acp_jupyter.kernel.front_end import front_end
from acp_jupyter.kernel.sessions import redacted, redactor, sessions
from acp_jupyter.magics import on_sessions
from acp_jupyter.magics.doctor import doctor
from acp_jupyter.magics.listing import agents_text, status_text, taken_text
from acp_jupyter.magics.on_log import log
from acp_jupyter.magics.on_mcp import mcp
from acp_jupyter.magics.parser import HelpShown, line_parser, split
from acp_jupyter.session.agent_spec import PLAYED_FOR_REAL
from acp_jupyter.session.settings import settings

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from acp_jupyter.model.log import Log
    from acp_jupyter.model.turn import Turn
    from acp_jupyter.session.agent_spec import AgentSpec
    from acp_jupyter.session.elicitation import PendingElicitation
    from acp_jupyter.session.permissions import PendingPermission
    from acp_jupyter.session.session import Session


def run_line(_shell: Any, line: str) -> Log | None:
    """Run the magic and print what it has to say, or return what is more than a text.

    Raises:
        UsageError: The line is wrong.
        AcpError: The command could not be carried out.
    """
    try:
        own, argv = _before_and_after_dashes(split(line))
        options = line_parser().parse_args(own)
        options.argv = argv
    except HelpShown:
        return None
    with redacted():
        said = COMMANDS[options.command or "status"](options)
    if not isinstance(said, str):
        return said
    if said:
        print(redactor().text(said))  # noqa: T201  # a magic's output
    return None


def _before_and_after_dashes(words: list[str]) -> tuple[list[str], list[str]]:
    """What stands after `--` is a command of its own, and no option of ours."""
    if "--" not in words:
        return words, []
    at = words.index("--")
    return words[:at], words[at + 1 :]


def _session() -> Session:
    return sessions().get()


def _status(_options: argparse.Namespace) -> str:
    if sessions().current is None and settings().agent is None:
        return agents_text(sessions())
    return status_text(_session())


def _agents(options: argparse.Namespace) -> str:
    agents, source = sessions().agents, options.file or options.registry
    if options.file is not None:
        found = agents.find_file(options.file)
    elif options.registry is not None:
        found = agents.find_registry(source or None)
    elif options.take or options.save:
        raise UsageError("--take and --save need --from or --registry", advice="%acp agents --from FILE")
    else:
        return agents_text(sessions())
    # a file of the user's own is taken over whole; of the public list, what is named
    named = found.only(options.take) if options.take or options.file is None else found
    return taken_text(
        found, agents.take(named.specs, save=options.save), agents.file if options.save else None
    )


def _use(options: argparse.Namespace) -> str:
    return f"{sessions().get(options.name).name} is the current agent."


def _add(options: argparse.Namespace) -> str:
    if not options.argv:
        raise UsageError("no command was given", advice="%acp add NAME -- COMMAND ARG...")
    command, *args = options.argv
    before = next((one for one in sessions().agents.all() if one.name == options.name), None)
    spec = sessions().agents.add(options.name, command, args, needs=options.env, save=options.save)
    where = f" and saved in {sessions().agents.file}" if options.save else ""
    found = "" if spec.on_path else f" Its command {spec.command} is not on PATH."
    played = f"\n{PLAYED_FOR_REAL}" if spec.plays_a_log else ""
    gone = "" if options.save else " It is gone with this kernel; --save keeps it."
    return f"{spec.name} is known{where}.{gone}{found}{_replaced(before, spec)}{played}"


def _replaced(before: AgentSpec | None, spec: AgentSpec) -> str:
    if before is None or before == spec:
        return ""
    command = shlex.join([before.command, *before.args])
    return f"\nIt takes the place of the {spec.name} that was known before: {command}"


def _remove(options: argparse.Namespace) -> str:
    sessions().agents.remove(options.name)
    return f"{options.name} is forgotten."


def _new(_options: argparse.Namespace) -> str:
    _session().new()
    return "The next prompt begins a new session."


def _restart(_options: argparse.Namespace) -> str:
    _session().restart()
    return "The agent's process has ended; the next prompt starts another."


def _stop(_options: argparse.Namespace) -> str:
    session = _session()
    if session.pid is None:
        return "No process is running."
    session.stop()
    return "The agent's process has ended."


def _cancel(_options: argparse.Namespace) -> str:
    session = _session()
    if not session.running:
        return "No turn is running."
    session.cancel()
    return "The turn is being cancelled."


def _pending(_options: argparse.Namespace) -> str:
    from acp_jupyter.kernel.ask import told  # noqa: PLC0415  # only this command needs it
    from acp_jupyter.views.text import permission_text  # noqa: PLC0415  # as above

    session = _session()
    texts = [
        told(session, f"{number}. {permission_text(_turn_of(session, one), one.permission)}")
        for number, one in enumerate(session.pending, 1)
    ]
    texts += [_elicitation_text(session, one) for one in session.pending_elicitations]
    return "\n\n".join(texts) or "Nothing is waiting for an answer."


def _elicitation_text(session: Session, pending: PendingElicitation) -> str:
    from acp_jupyter.kernel.ask import asker  # noqa: PLC0415  # only this command needs it
    from acp_jupyter.views.elicitation import field_text, question_text  # noqa: PLC0415  # as above

    fields = [f"- {field_text(field)}" for field in pending.form.fields]
    question = question_text(asker(session, pending), pending.elicitation)
    return "\n".join([f"{pending.key}. {question}", *fields, f"%acp answer {pending.key}"])


def _answer(options: argparse.Namespace) -> str:
    from acp_jupyter.kernel.ask import elicit  # noqa: PLC0415  # only this command needs it

    session = _session()
    waiting = session.pending_elicitations
    chosen = [one for one in waiting if options.key in {None, one.key}][:1]
    if not chosen:
        keys = ", ".join(one.key for one in waiting) or "none"
        raise UsageError(f"no form or address {options.key or ''} is waiting", advice=f"Waiting: {keys}.")
    if not elicit(session, chosen[0]):
        raise UsageError(
            "nobody can be asked here",
            advice="In Python: from acp_jupyter import get_session; get_session().pending_elicitations",
        )
    return f"{chosen[0].key} is {chosen[0].elicitation.state}."


def _turn_of(session: Session, pending: PendingPermission) -> Turn:
    return next(turn for turn in session.turns if pending.key in turn.permissions)


def _numbered(number: int) -> PendingPermission:
    pending = _session().pending
    if not 1 <= number <= len(pending):
        raise UsageError(
            f"no request {number} is waiting", advice=f"Waiting: {len(pending)}; see `%acp pending`."
        )
    return pending[number - 1]


def _approve(options: argparse.Namespace) -> str:
    pending = _numbered(options.number)
    if options.option is None:
        pending.allow_once()
    else:
        pending.select(options.option)
    return f"Request {options.number} is answered."


def _reject(options: argparse.Namespace) -> str:
    _numbered(options.number).reject()
    return f"Request {options.number} is rejected."


def _ask(options: argparse.Namespace) -> str:
    if options.way is not None:
        front_end().ask = options.way
    return f"Permission is asked by: {front_end().ask}."


def _inspect(options: argparse.Namespace) -> str:
    session = _session()
    if not session.turns:
        return "There was no turn yet."
    turn_number, call_number = _parse_call(options.call, session.turns[-1].number)
    turn = next((turn for turn in session.turns if turn.number == turn_number), None)
    if turn is None:
        raise UsageError(f"there is no turn {turn_number}")
    calls = list(enumerate(turn.tool_calls, 1))
    chosen = [pair for pair in calls if call_number in {None, pair[0]}]
    if call_number is not None and not chosen:
        raise UsageError(f"turn {turn_number} has {len(calls)} tool calls", advice="They are counted from 1.")
    text = "\n\n".join(_call_text(turn_number, number, call) for number, call in chosen)
    return text or "No tool calls."


def _parse_call(text: str | None, last_turn: int) -> tuple[int, int | None]:
    if text is None:
        return last_turn, None
    turn, _, call = text.partition(".")
    try:
        return int(turn), int(call) if call else None
    except ValueError:
        raise UsageError(
            f"{text!r} is not TURN.CALL", advice="Such as 2.1: turn 2, its first tool call."
        ) from None


def _call_text(turn: int, number: int, call: Any) -> str:
    shown = {"raw_input": call.raw_input, "raw_output": call.raw_output}
    lines = [f"{turn}.{number}  {call.kind}  {call.shown_status}  {call.name or ''}  {call.title}"]
    lines += [f"{key}: {json.dumps(value, indent=2, ensure_ascii=False)}" for key, value in shown.items()]
    return "\n".join(lines)


def _stderr(_options: argparse.Namespace) -> str:
    return _session().stderr or "The agent has written nothing to its error output."


COMMANDS: dict[str, Callable[[argparse.Namespace], str | Log]] = {
    "status": _status,
    "agents": _agents,
    "use": _use,
    "add": _add,
    "remove": _remove,
    "new": _new,
    "restart": _restart,
    "stop": _stop,
    "cancel": _cancel,
    "pending": _pending,
    "answer": _answer,
    "approve": _approve,
    "reject": _reject,
    "ask": _ask,
    "inspect": _inspect,
    "log": log,
    "stderr": _stderr,
    "mcp": mcp,
    "doctor": doctor,
    **on_sessions.COMMANDS,
}
