"""``%%acp``: one prompt turn on the kernel's session."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

from acp_jupyter.errors import AgentNotFound, TurnNotClean, UsageError
from acp_jupyter.kernel.sessions import redacted, redactor, sessions
from acp_jupyter.kernel.show import show
from acp_jupyter.magics.listing import agents_text
from acp_jupyter.magics.parser import HelpShown, cell_parser, split
from acp_jupyter.session.agent_spec import PLAYED_FOR_REAL
from acp_jupyter.session.choices import Choices
from acp_jupyter.session.settings import settings
from acp_jupyter.views import words

if TYPE_CHECKING:
    import argparse

    from acp_jupyter.model.turn import Turn


def run_cell(shell: Any, line: str, cell: str) -> Turn | None:
    """Run the magic.

    Raises:
        UsageError: The line or the body is wrong; nothing was started.
        AcpError: The turn could not be brought to its end.
        KeyboardInterrupt: It was cancelled.
    """
    try:
        options = cell_parser().parse_args(split(line))
    except HelpShown:
        return None
    task = _typed_body(shell, line, cell)
    if not task.strip():
        raise UsageError("the cell has no task", advice="Write the task below the %%acp line.")
    if options.output is not None and not options.output.isidentifier():
        raise UsageError(f"--output {options.output!r} is not a variable's name")
    if options.agent is None and sessions().current is None and settings().agent is None:
        print(redactor().text(agents_text(sessions())))  # noqa: T201  # nothing is started before an agent was chosen
        raise UsageError("no agent was chosen yet", advice="Name one of those above: %%acp demo")
    with redacted():
        turn = _run_or_stay(task, options)
        if options.output is not None:
            shell.user_ns[options.output] = turn
        _judge(turn, check=options.check)
    return turn


def _run_or_stay(task: str, options: argparse.Namespace) -> Turn:
    current = sessions().current
    try:
        return _run(task, options)
    except AgentNotFound:
        sessions().current = current  # the next cell is not for one that is not there
        raise


def _run(task: str, options: argparse.Namespace) -> Turn:
    session = sessions().get(options.agent)
    if options.new:
        session.new()
    if options.cwd is not None or options.add_dir:
        session.set_roots(options.cwd, options.add_dir)
    if session.spec.plays_a_log and not session.turns:
        _warn(PLAYED_FOR_REAL)
    # Somebody can be asked from before the first request on: a fast agent asks at once.
    with session.attended():
        choices = Choices(options.mode, options.model, dict(options.set))
        run = session.start(task, policy=options.approve, timeout_s=options.timeout, choices=choices)
        turn = show(run, quiet=options.quiet)
    if options.quiet and turn.policy == "allow-once-all":
        _warn("without asking: the policy allow-once-all allowed whatever the agent asked for")
    return turn


def _judge(turn: Turn, *, check: bool) -> None:
    """What the turn's end does to the cell, beyond the errors that it raised."""
    unasked = [permission for permission in turn.permissions.values() if permission.decided_by == "nobody"]
    clean = turn.stop_reason == "end_turn" and not turn.rejected
    if check and not clean:
        what = f"{len(turn.rejected)} rejected" if turn.rejected else f"stop reason {turn.stop_reason}"
        raise TurnNotClean(
            f"turn {turn.number} did not end clean: {what}",
            advice=unasked[0].reason or "" if unasked else "The card shows what happened.",
        )
    for permission in unasked:
        verb, what = words.heading(turn, turn.asked_about(permission))
        _warn(f"{verb} {what}: rejected, because nobody could be asked; {permission.reason}")


def _warn(text: str) -> None:
    print(f"Warning: {redactor().text(text)}", file=sys.stderr)  # noqa: T201  # not `warnings`, which shows a text only once


def _typed_body(shell: Any, line: str, cell: str) -> str:
    """Return the body as it was typed.

    IPython adds a newline at its end, and takes ``>>>`` and ``In [1]:`` for prompts to be stripped; the
    request that runs the cell has it as it stands. That request is asked only if it is this very call: a
    thread or a hook may call the magic with another task meanwhile.
    """
    request: dict[str, Any] = {}
    with contextlib.suppress(AttributeError, LookupError):  # no kernel; a thread, on ipykernel 7.0
        request = shell.get_parent() or {}
    typed = request.get("content", {}).get("code")
    if isinstance(typed, str) and shell.transform_cell(typed) == _call_of(line, cell):
        return typed.lstrip("\n").partition("\n")[2]
    return cell.removesuffix("\n")


def _call_of(line: str, cell: str) -> str:
    """What IPython makes of a cell that is this call."""
    return f"get_ipython().run_cell_magic('acp', {line!r}, {cell!r})\n"
