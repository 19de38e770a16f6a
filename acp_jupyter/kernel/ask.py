"""Asks by text, where no card can: a permission request, the values of a form, a visit to an address.

In a kernel all of it stands in the cell's output, and so without secrets.
"""

from __future__ import annotations

import contextlib
import getpass
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from IPython.core.error import StdinNotImplementedError

from acp_jupyter.errors import ElicitationClosed, PermissionClosed, ValuesRefused
from acp_jupyter.kernel.front_end import in_kernel, input_allowed
from acp_jupyter.kernel.page import tell_page
from acp_jupyter.model.form import Form, faults, value_of
from acp_jupyter.model.redact import REDACTED
from acp_jupyter.views.elicitation import field_text, question_text, unlinked, value_text
from acp_jupyter.views.text import permission_text
from acp_jupyter.views.words import agent, visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_jupyter.model.form import Field
    from acp_jupyter.model.turn import Turn
    from acp_jupyter.session.elicitation import PendingElicitation
    from acp_jupyter.session.permissions import PendingPermission
    from acp_jupyter.session.run import TurnRun
    from acp_jupyter.session.session import Session

_NO_INPUT = (EOFError, OSError, StdinNotImplementedError)
_SETTLED = "The question was settled meanwhile."
_FIELD = "Where its field still stands, press Enter in it: JupyterLab runs no other cell before."
_HIDDEN = (
    "  [redacted] stands for what looks like a secret, {count:,} characters in all: this text is saved with "
    "the notebook. Where you need to see it, say no, and ask again with a live card."
)


def ask(run: TurnRun, pending: PendingPermission) -> bool:
    """Put the question and carry out the answer.

    Returns:
        False where there is no input: the front end allows none, or it has ended.
    """
    if not input_allowed():
        return False
    reader = _Input(run.session, run.turn, lambda: pending.permission.state == "open")
    reader.ask(permission_text(run.turn, pending.permission))
    count = len(pending.permission.offered)
    prompt = f"1 to {count}, or c for none of them: " if count else "c to go on: "
    while True:
        try:
            answer = reader.read(prompt).strip().lower()
        except _Ended:
            with contextlib.suppress(PermissionClosed):
                pending.reject()
            reader.say("The input was ended (Ctrl-D): rejected.")
            return True
        except _NO_INPUT:
            return False
        except _Settled:
            reader.say_settled()  # so that nobody waits for it
            return True
        if answer == "c" or (answer.isdecimal() and 1 <= int(answer) <= count):
            _answer(reader, pending, answer)
            return True
        reader.say(f"{answer!r} is none of the answers.")


def elicit(session: Session, pending: PendingElicitation) -> bool:
    """Ask for a form's values, or for consent to an address, and send the answer; otherwise as `ask`."""
    if not input_allowed():
        return False
    node = pending.elicitation
    reader = _Input(session, pending.turn, lambda: node.state == "open")
    reader.ask(question_text(asker(session, pending), node))
    try:
        if node.mode == "form":
            _fill_in(reader, pending)
        else:
            _visit(reader, pending)
    except _Ended:
        with contextlib.suppress(ElicitationClosed):
            pending.cancel()
        reader.say("The input was ended (Ctrl-D): cancelled.")
    except _NO_INPUT:
        return False
    except _Settled:
        reader.say_settled()  # so that nobody waits for it
    except ElicitationClosed as error:
        reader.say(str(error))  # the person is to know that it was too late
    return True


def elicit_all(session: Session) -> None:
    """Ask for all that waits, and decline what nobody can be asked for."""
    for pending in session.pending_elicitations:
        if not elicit(session, pending):
            session.decline_unasked(pending.key)


def asker(session: Session, pending: PendingElicitation) -> str:
    """Return the name of the agent that asks, with its version where it is known."""
    return agent(pending.turn) if pending.turn else visible(session.name)


def told(session: Session, question: str) -> str:
    """Return a question as a cell's output may hold it: where something is hidden in it, it says so."""
    if not in_kernel():
        return question
    shown = session.redactor.text(question)
    marks = shown.count(REDACTED) - question.count(REDACTED)
    hidden = len(question) - len(shown) + marks * len(REDACTED)
    return f"{shown}\n{_HIDDEN.format(count=hidden)}" if hidden else shown


class _Settled(Exception):
    """The question needs no answer any more."""


class _Ended(Exception):
    """Somebody has ended the input instead of answering."""


class _Input:
    """``input()`` that ends when its question is settled otherwise: by a time-out, or a dead agent."""

    def __init__(self, session: Session, turn: Turn | None, is_open: Callable[[], bool]) -> None:
        self._session = session
        self._turn = turn
        self._is_open = is_open
        self._lock = threading.Lock()
        self._reading = False
        self._settled = False

    def ask(self, question: str) -> None:
        """Print a question, on lines of its own."""
        if not in_kernel():
            question = f"\n{question}"  # the turn's own words may have stopped within a line
        print(told(self._session, question))  # noqa: T201  # the question

    def hides(self, text: str) -> bool:
        """Whether `say` leaves something out."""
        return self._clean(text) != text

    def say(self, text: str) -> None:
        """Print a line."""
        print(self._clean(text))  # noqa: T201  # to the person who is asked

    def say_settled(self) -> None:
        """Tell that nobody waits for the answer any more."""
        self.say(f"{_SETTLED} {_FIELD}" if in_kernel() else _SETTLED)

    def _clean(self, text: str) -> str:
        return self._session.redactor.text(text) if in_kernel() else text

    def read(self, prompt: str, *, hidden: bool = False) -> str:
        """Return what was typed, ``hidden`` while it is.

        Raises:
            _Settled: No answer is needed any more.
            _Ended: Somebody has pressed Ctrl-D.
        """
        prompt = self._clean(prompt)
        stop = self._session.listen(self._look, self._turn)
        # Python's own handler meanwhile: the pump's would bring back the interrupt that ends `input()`.
        in_main = threading.current_thread() is threading.main_thread()
        before = signal.signal(signal.SIGINT, signal.default_int_handler) if in_main else None
        try:
            with self._lock:
                self._reading = self._is_open()
            if not self._reading:
                raise _Settled
            typed = getpass.getpass(prompt) if hidden else input(prompt)
            with self._lock:
                self._reading = False
        except KeyboardInterrupt:
            # its field goes: what is typed there would answer the next question
            tell_page("input", {"settled_at": time.time()})
            if not self._settled:
                raise
            raise _Settled from None
        except EOFError:
            if in_kernel() or sys.stdin.isatty():
                raise _Ended from None
            raise
        else:
            return typed
        finally:
            stop()
            if before is not None:
                signal.signal(signal.SIGINT, before)

    def _look(self, _changes: list[Any]) -> None:
        """Called on the loop's thread: only a signal ends ``input()`` in the main one."""
        with self._lock:
            if not self._reading or self._is_open():
                return
            self._reading, self._settled = False, True
            ident = threading.main_thread().ident
            if ident is not None and hasattr(signal, "pthread_kill"):
                signal.pthread_kill(ident, signal.SIGINT)


def _answer(reader: _Input, pending: PendingPermission, answer: str) -> None:
    try:
        if answer == "c":
            pending.cancel()
        else:
            pending.select(pending.permission.offered[int(answer) - 1].option_id)
    except PermissionClosed as error:
        reader.say(str(error))  # the person is to know that it was too late


# --- forms and addresses


def _fill_in(reader: _Input, pending: PendingElicitation) -> None:
    form = pending.form
    values = form.defaults
    reader.say("Nothing is sent before you have seen it all: then y, edit, decline or cancel.")
    while True:
        for field in form.fields:
            _ask_field(reader, field, values)
        for field in form.fields:
            reader.say(f"  {_name(field)}: {_shown(field, values)}")
        answer = _choose(reader, "Send these values? y, e to edit, d to decline, c to cancel: ", "yednc")
        if answer == "e":
            continue
        try:
            _carry_out(pending, answer, values)
        except ValuesRefused as error:
            reader.say(error.message)
        else:
            return


def _ask_field(reader: _Input, field: Field, values: dict[str, Any]) -> None:
    """Ask for one value until it is a good one, or none; an empty answer keeps what stands there."""
    reader.say(field_text(field))
    before = _shown(field, values) if field.name in values else ""
    clear = ", - for none" if before and not field.required else ""
    prompt = f"{_name(field)}{f' [{before}{clear}]' if before else ''}: "
    while True:
        typed = reader.read(prompt, hidden=field.secret)
        try:
            _take(field, typed, values, may_clear=bool(clear))
        except ValueError as error:
            reader.say(visible(str(error)))
        else:
            return


def _take(field: Field, typed: str, values: dict[str, Any], *, may_clear: bool) -> None:
    if may_clear and typed.strip() == "-":
        del values[field.name]
        return
    value = values.get(field.name)
    if typed if field.kind == "text" else typed.strip():
        value = value_of(field, typed if field.kind == "text" else typed.strip())
    found = faults(Form((field,)), {field.name: value})
    if found:
        raise ValueError(found[field.name])
    if value is not None:
        values[field.name] = value


def _name(field: Field) -> str:
    return unlinked(visible(field.label)).replace("\n", " ")


def _shown(field: Field, values: dict[str, Any]) -> str:
    if field.name not in values:
        return "(nothing)"
    return "(hidden)" if field.secret else value_text(values[field.name]).replace("\n", " ")


def _visit(reader: _Input, pending: PendingElicitation) -> None:
    """Get a person's consent; then the address is theirs to open."""
    answer = _choose(reader, "Open this address? y, d to decline, c to cancel: ", "ydnc")
    _carry_out(pending, answer, {})
    if answer == "y":
        reader.say(f"Open it in your browser:\n{pending.url}")  # to be clicked or copied
        if reader.hides(str(pending.url)):
            reader.say(
                "It is not whole here; in Python: from acp_jupyter import get_session; "
                "get_session().turn.elicitations"
            )


def _choose(reader: _Input, prompt: str, letters: str) -> str:
    """Return the first letter of the answer: it is one of ``letters``."""
    while True:
        answer = reader.read(prompt).strip().lower()
        if (
            answer[:1]
            and answer[0] in letters
            and answer in {answer[0], "yes", "no", "edit", "decline", "cancel"}
        ):
            return answer[0]
        reader.say(f"{answer!r} is none of the answers.")


def _carry_out(pending: PendingElicitation, answer: str, values: dict[str, Any]) -> None:
    if answer == "y":
        pending.accept(values)
    elif answer == "c":
        pending.cancel()
    else:
        pending.decline()
