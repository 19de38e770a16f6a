"""Asks by text, where no card can: a permission request, the values of a form, a visit to an address."""

from __future__ import annotations

import getpass
import signal
import threading
from typing import TYPE_CHECKING, Any

from IPython.core.error import StdinNotImplementedError

from acp_jupyter.errors import ElicitationClosed, PermissionClosed, ValuesRefused
from acp_jupyter.kernel.front_end import input_allowed
from acp_jupyter.model.form import Form, faults, value_of
from acp_jupyter.views.elicitation import field_text, question_text, unlinked, value_text
from acp_jupyter.views.text import permission_text
from acp_jupyter.views.words import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_jupyter.model.form import Field
    from acp_jupyter.session.elicitation import PendingElicitation
    from acp_jupyter.session.permissions import PendingPermission
    from acp_jupyter.session.run import TurnRun

_NO_INPUT = (EOFError, OSError, StdinNotImplementedError)
_SETTLED = "The question was settled meanwhile."


def ask(run: TurnRun, pending: PendingPermission) -> bool:
    """Put the question and carry out the answer.

    Returns:
        False where there is no input: the front end allows none, or it has ended.
    """
    if not input_allowed():
        return False
    print(permission_text(run.turn, pending.permission))  # noqa: T201  # the question
    count = len(pending.options)
    prompt = f"1 to {count}, or c for none of them: " if count else "c to go on: "
    reader = _Input(run, lambda: pending.permission.state == "open")
    while True:
        try:
            answer = reader.read(prompt).strip().lower()
        except _NO_INPUT:
            return False
        except _Settled:
            print(_SETTLED)  # noqa: T201  # so that nobody waits for it
            return True
        if answer == "c" or (answer.isdecimal() and 1 <= int(answer) <= count):
            _answer(pending, answer)
            return True
        print(f"{answer!r} is none of the answers.")  # noqa: T201  # ask again


def elicit(run: TurnRun, pending: PendingElicitation) -> bool:
    """Ask for a form's values, or for consent to an address, and send the answer; otherwise as `ask`."""
    if not input_allowed():
        return False
    node = pending.elicitation
    print(question_text(run.turn, node))  # noqa: T201  # the question
    reader = _Input(run, lambda: node.state == "open")
    try:
        if node.mode == "form":
            _fill_in(reader, pending)
        else:
            _visit(reader, pending)
    except _NO_INPUT:
        return False
    except _Settled:
        print(_SETTLED)  # noqa: T201  # so that nobody waits for it
    except ElicitationClosed as error:
        print(error)  # noqa: T201  # the person is to know that it was too late
    return True


class _Settled(Exception):
    """The question needs no answer any more."""


class _Input:
    """``input()`` that ends when its question is settled otherwise: by a time-out, or a dead agent."""

    def __init__(self, run: TurnRun, is_open: Callable[[], bool]) -> None:
        self._run = run
        self._is_open = is_open
        self._lock = threading.Lock()
        self._reading = False
        self._settled = False

    def read(self, prompt: str, *, hidden: bool = False) -> str:
        """Return what was typed, ``hidden`` while it is.

        Raises:
            _Settled: No answer is needed any more.
        """
        stop = self._run.session.listen(self._look, self._run.turn)
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
            if not self._settled:
                raise
            raise _Settled from None
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


def _answer(pending: PendingPermission, answer: str) -> None:
    try:
        if answer == "c":
            pending.cancel()
        else:
            pending.select(pending.options[int(answer) - 1].option_id)
    except PermissionClosed as error:
        print(error)  # noqa: T201  # the person is to know that it was too late


# --- forms and addresses


def _fill_in(reader: _Input, pending: PendingElicitation) -> None:
    form = pending.form
    values = form.defaults
    print("Nothing is sent before you have seen it all: then y, edit, decline or cancel.")  # noqa: T201  # the way out
    while True:
        for field in form.fields:
            _ask_field(reader, field, values)
        for field in form.fields:
            print(f"  {_name(field)}: {_shown(field, values)}")  # noqa: T201  # the review
        answer = _choose(reader, "Send these values? y, e to edit, d to decline, c to cancel: ", "yednc")
        if answer == "e":
            continue
        try:
            _carry_out(pending, answer, values)
        except ValuesRefused as error:
            print(error.message)  # noqa: T201  # ask again
        else:
            return


def _ask_field(reader: _Input, field: Field, values: dict[str, Any]) -> None:
    """Ask for one value until it is a good one, or none; an empty answer keeps what stands there."""
    print(field_text(field))  # noqa: T201  # the question
    before = _shown(field, values) if field.name in values else ""
    clear = ", - for none" if before and not field.required else ""
    prompt = f"{_name(field)}{f' [{before}{clear}]' if before else ''}: "
    while True:
        typed = reader.read(prompt, hidden=field.secret)
        try:
            _take(field, typed, values, may_clear=bool(clear))
        except ValueError as error:
            print(visible(str(error)))  # noqa: T201  # ask again
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
        print(f"Open it in your browser:\n{pending.url}")  # noqa: T201  # whole, to be clicked or copied


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
        print(f"{answer!r} is none of the answers.")  # noqa: T201  # ask again


def _carry_out(pending: PendingElicitation, answer: str, values: dict[str, Any]) -> None:
    if answer == "y":
        pending.accept(values)
    elif answer == "c":
        pending.cancel()
    else:
        pending.decline()
