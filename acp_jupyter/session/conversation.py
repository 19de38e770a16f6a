"""The half of a session that lives on the loop: it plays turns, starts and ends the agent, changes the state.

See https://agentclientprotocol.com/protocol/prompt-turn. Everything here is called on the loop's thread, but
for what only reads. `Conversation.lock` is held while the state changes, so that a reader who holds it sees
the state at rest.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from typing import TYPE_CHECKING, Any

from acp_jupyter import errors
from acp_jupyter.model import events
from acp_jupyter.model.reduce import reduce
from acp_jupyter.model.state import Change, SessionState
from acp_jupyter.model.turn import TurnError
from acp_jupyter.session.agent_side import AgentSide
from acp_jupyter.session.choices import Choices
from acp_jupyter.session.client import ClientSide
from acp_jupyter.session.client_files import ClientFiles
from acp_jupyter.session.elicitation import ElicitationBroker
from acp_jupyter.session.frames import Frames
from acp_jupyter.session.gate import ClientRequest, Gate, Rules
from acp_jupyter.session.host import Host
from acp_jupyter.session.line import Line, NotConfirmed
from acp_jupyter.session.permissions import PermissionBroker
from acp_jupyter.session.secret_files import SECRET_PATTERNS
from acp_jupyter.session.settings import Settings, settings
from acp_jupyter.session.store import StoreFiles
from acp_jupyter.session.terminals import Terminals
from acp_jupyter.wire.answers import INVALID_REQUEST, RequestError

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_jupyter.model.turn import Turn
    from acp_jupyter.session.agents import AgentSpec
    from acp_jupyter.session.opening import How
    from acp_jupyter.session.roots import Roots
    from acp_jupyter.session.run import Limits
    from acp_jupyter.session.store import TextStore
    from acp_jupyter.wire.watcher import Watcher

    Listener = Callable[[list[Change]], None]

_log = logging.getLogger(__name__)

_REFUSALS_TOLD = 20


class Conversation:
    """What is said between us and one agent, and the state that comes of it.

    Args:
        spec: The agent.
        watcher: Ends the agent when the kernel dies.
        limits: How long to wait for the agent.
        attended: Whether somebody can be asked now about what a turn wants.
        on_opened: Called when a session has been opened.
        host: A running agent that it shares with others; by default it has one for itself.
        store: Where the agent's files are; by default on the disk, in the session's directories.
    """

    def __init__(  # noqa: PLR0913  # one place makes it
        self,
        spec: AgentSpec,
        watcher: Watcher | None,
        limits: Limits,
        attended: Callable[[Turn], bool],
        on_opened: Callable[[], None],
        *,
        host: Host | None = None,
        store: TextStore | None = None,
    ) -> None:
        self.lock = threading.RLock()
        self.state = SessionState()
        self._standing = Settings()
        self._redact: set[str] = set()
        self._listeners: dict[str | None, list[Listener]] = {}
        self._limits = limits
        self._playing: asyncio.Task[None] | None = None
        self._ignored_told = 0
        self.to_tell: list[str] = []  # on the card of the next prompt
        self._ending: asyncio.Future[None] | None = None  # the loop itself holds tasks weakly
        self._line = Line(limits.cancel_grace_s)
        self._tasks: dict[str, asyncio.Task[Any] | None] = {}
        self.agent = AgentSide(
            host or Host(spec, watcher=watcher, start_s=limits.start_s),
            self.state,
            self._apply,
            client=lambda: self._client,
            on_frame=self._log,
            on_lost=self._lost,
            on_opened=on_opened,
            redact=self._names_to_redact,
        )
        self.frames = Frames(lambda: self.agent.redactor, lambda: self.agent.info)
        roots = self.agent.the_roots
        self.broker = PermissionBroker(
            self.state,
            self._apply,
            roots,
            attended,
            answer_s=lambda: self._in_force().answer_timeout_s,
            cancel=lambda turn: self.cancel(turn, "time_limit"),
        )
        self.elicitations = ElicitationBroker(self.state, self._apply, attended)
        gate = Gate(
            lambda: self.state.turn, self.broker.consent, rules=self._rules, on_unasked=self._done_unasked
        )
        self._terminals = Terminals(
            self._apply, roots, self._check_prompted, watcher, gate=gate, taken=self._has_terminal
        )
        files = (
            StoreFiles(store, roots, self._check_prompted, gate)
            if store is not None
            else ClientFiles(roots, self._check_prompted, gate)
        )
        self._client = ClientSide(
            self._apply,
            self.broker,
            self._terminals,
            roots,
            self._check_prompted,
            elicitations=self.elicitations,
            client_files=files,
            on_refused=self._refused,
        )

    async def play(
        self,
        turn: Turn,
        standing: Settings,
        timeout_s: float | None,
        choices: Choices = Choices(),  # noqa: B008  # it never changes
    ) -> None:
        """Play a turn to its end, when those before it are over.

        Args:
            turn: The turn.
            standing: The settings that hold for it, whatever becomes of their files meanwhile.
            timeout_s: After so many seconds it is cancelled.
            choices: What is to be in force before the prompt is sent.

        Raises:
            AcpError: It could not be brought to its end.
        """
        if turn.cancel_requested:  # before this was reached
            self._withdraw(turn, "cancelled")
            return
        self._tasks[turn.turn_id] = asyncio.current_task()
        try:
            async with self._line.turn():
                self._standing = standing
                await self._play_now(turn, timeout_s, choices)
        except NotConfirmed:
            busy = errors.SessionBusy(
                f"{self.agent.spec.name} has not confirmed the end of the cancelled turn",
                advice="`%acp restart` ends its process; or wait and run the cell again.",
            )
            self._withdraw(turn, "failed", _turn_error(busy))
            raise busy from None
        except asyncio.CancelledError:
            self._withdraw(turn, "cancelled")
        finally:
            del self._tasks[turn.turn_id]

    async def _play_now(self, turn: Turn, timeout_s: float | None, choices: Choices) -> None:
        self._apply(events.TurnStarted(turn))
        self._playing = asyncio.ensure_future(self._converse(turn, choices))
        try:
            await self._until_end(turn, self._playing, timeout_s)
        except asyncio.CancelledError:
            # Ended before there was a session: by the person, or because the process was stopped.
            if not turn.cancel_requested:
                error = errors.ConnectionClosed("the agent was stopped before it was ready")
                self._fail(turn, error)
                raise error from None
            self._apply(events.TurnEnded(None))
        except Exception as error:
            self._fail(turn, error)
            raise
        finally:
            self.broker.close_all("the turn is over")
            self.elicitations.close_all("the turn is over")
            self._tell_of_ignored()
            self._playing = None
            self._tell_of_wrong_settings()

    def _tell_of_wrong_settings(self) -> None:
        """The agent may have left a file that the next prompt will refuse."""
        try:
            settings(self.agent.the_roots().cwd)
        except errors.UsageError as error:
            text = (
                f"This turn kept the settings of its start; the next prompt will be refused: {error.message}"
            )
            self._apply(events.Noted(text, "warning"))

    def _names_to_redact(self) -> set[str]:
        """The variables that the settings name as secrets, now or ever: a wrong file takes none away."""
        with contextlib.suppress(errors.UsageError):
            self._redact |= {*settings().redact}
        return self._redact | {*self._standing.redact}

    def _in_force(self) -> Settings:
        """The settings of the turn that runs; where none does, those of now."""
        turn = self.state.turn
        return self._standing if turn is not None and not turn.ended else settings()

    def _rules(self) -> Rules:
        now = self._in_force()
        return Rules(now.ask_client_requests, (*SECRET_PATTERNS, *now.secret_patterns))

    def _withdraw(self, turn: Turn, phase: str, error: TurnError | None = None) -> None:
        """End a turn that never began."""
        with self.lock:
            turn.phase, turn.error, turn.ended_at = phase, error, time.time()
            turn.cancel_requested = phase == "cancelled"
            self._tell([Change(turn, ())])

    async def _until_end(self, turn: Turn, playing: asyncio.Task[None], timeout_s: float | None) -> None:
        done, _ = await asyncio.wait([playing], timeout=timeout_s)
        if done:
            return playing.result()
        self._apply(events.Noted(f"The turn took longer than {timeout_s:g} s and was cancelled.", "warning"))
        self.cancel(turn, "time_limit")
        done, _ = await asyncio.wait([playing], timeout=self._limits.cancel_grace_s)
        if not done:
            await self.end()
        with contextlib.suppress(errors.AcpError, asyncio.CancelledError):
            await playing
        raise errors.AgentTimeout(
            f"the turn took longer than {timeout_s:g} s and was cancelled",
            advice="Give it more time: --timeout S, or timeout_s in Python.",
            stderr=self.agent.stderr,
        )

    async def _converse(self, turn: Turn, choices: Choices) -> None:
        telling = asyncio.ensure_future(self._tell_of_a_slow_start())
        try:
            link = await self.agent.opened()
        finally:
            telling.cancel()
        turn.agent = self.agent.info
        while self.to_tell:
            self._apply(events.Noted(self.to_tell.pop(0), "info"))
        await self.agent.choose(choices)
        self._apply(events.PromptSent())
        try:
            await link.connection.prompt(
                str(self.state.session_id), turn.prompt, on_end=lambda response: self._ended(turn, response)
            )
        except errors.AgentExited:  # also where it lives and no longer reads
            link.give_up()
            raise
        except (errors.RequestFailed, errors.ConnectionClosed):
            if turn.ended:  # by an answer that is no object: it ended all the same
                return
            # A cancelled prompt may be answered with an error just as well, or its process was stopped.
            if not turn.cancel_requested:
                raise
            self._apply(events.TurnEnded(None))

    def _ended(self, turn: Turn, response: dict[str, Any]) -> None:
        """Called in wire order: what comes after this is late."""
        if "error" not in response and not turn.ended:
            self._apply(events.TurnEnded(response.get("result")))

    def _check_idle(self) -> None:
        turn = self.state.turn
        if turn is not None and not turn.ended:
            raise errors.UsageError("a turn is running", advice="Wait for its end, or cancel it.")

    async def switch(self, how: How, session_id: str, roots: Roots | None = None) -> None:
        """Leave the session, and go on with another one that the agent remembers.

        Raises:
            UsageError: The agent cannot do that, or a turn is running.
            RequestFailed: It does not know the session, or refuses.
        """
        self._check_idle()
        await self.agent.switch(how, session_id, roots)
        await self._terminals.release_all()

    async def leave(self) -> None:
        """Let the agent close the session; the next prompt begins another.

        Raises:
            UsageError: It cannot close sessions, none is open, or a turn is running.
        """
        self._check_idle()
        await self.agent.leave()
        await self._terminals.release_all()

    def cancel(self, turn: Turn, by: str = "you") -> None:
        """Ask the agent to end ``turn``; open requests are answered ``cancelled``."""
        if turn.ended or turn.cancel_requested:
            return
        if turn is not self.state.turn:  # it still waits for the one before it
            self._cancel_waiting(turn)
            return
        self._apply(events.CancelRequested(by))
        self._line.head_was_cancelled()
        self.broker.close_all("the turn was cancelled")
        self.elicitations.close_all("the turn was cancelled")
        if turn.phase == "running" and self.agent.link is not None:
            self.agent.link.connection.cancel(str(self.state.session_id))
            loop = asyncio.get_running_loop()
            loop.call_later(self._limits.cancel_grace_s / 5, self._warn_unconfirmed, turn)
        elif self._playing is not None:
            self._playing.cancel()

    async def choose_at_card(self, option_id: str | None, value: str) -> None:
        """Choose for the person at the card, who is told there what comes of it."""
        choices = Choices(mode=value) if option_id is None else Choices(options={option_id: value})
        try:
            await self.agent.choose(choices)
        except errors.AcpError as error:
            self._apply(events.Noted(f"Not chosen: {error.message}", "warning"))

    def stop_terminal(self, terminal_id: str) -> None:
        """Kill a command of ours, and nothing else."""
        self._terminals.stop(terminal_id)

    def _has_terminal(self, terminal_id: str) -> bool:
        return any(terminal_id in turn.terminals for turn in self.state.turns)

    def _refused(self, text: str) -> None:
        """Tell what an agent was refused, each once and not without end: it may try a thousand paths."""
        turn = self.state.turn
        if turn is None or turn.ended:
            return
        told = [note.text for note in turn.notes if note.text.startswith("Refused: ")]
        if len(told) == _REFUSALS_TOLD:
            text = "more than is told here, see %acp log."
        if f"Refused: {text}" not in told and len(told) <= _REFUSALS_TOLD:
            self._apply(events.Noted(f"Refused: {text}", "warning"))

    def _done_unasked(self, request: ClientRequest) -> None:
        self._apply(events.Noted(f"Without asking: {request.title}", "info"))

    def _check_prompted(self) -> None:
        """Refuse what changes anything unless a prompt is under way: nobody expects it then.

        Raises:
            RequestError: None is, or its turn was cancelled.
        """
        turn = self.state.turn
        if turn is None or turn.phase != "running" or turn.cancel_requested:
            was_cancelled = turn is not None and turn.cancel_requested
            why = "the turn was cancelled" if was_cancelled else "no prompt is under way"
            raise RequestError(INVALID_REQUEST, f"refused until the next prompt: {why}")

    def _cancel_waiting(self, turn: Turn) -> None:
        task = self._tasks.get(turn.turn_id)
        if task is not None:
            task.cancel()
        else:  # its task has not begun yet
            turn.cancel_requested = True

    def _warn_unconfirmed(self, turn: Turn) -> None:
        if turn is self.state.turn and not turn.ended:
            text = "The agent has not confirmed the cancel. `%acp restart` ends its process."
            self._apply(events.Noted(text, "warning"))

    async def _tell_of_a_slow_start(self) -> None:
        """Tell after 10, 20, 40... seconds what the agent, or its launcher, has said last."""
        begun, wait_s = time.monotonic(), self._limits.slow_s
        while True:
            await asyncio.sleep(wait_s)
            wait_s = time.monotonic() - begun
            last = self.agent.stderr.rstrip().rpartition("\n")[2].strip()
            words = f" Its last words: {last}" if last else ""
            self._apply(events.Noted(f"The agent is still starting after {wait_s:.1f} s.{words}", "info"))

    def _tell_of_ignored(self) -> None:
        count = self.agent.ignored - self._ignored_told
        self._ignored_told = self.agent.ignored
        if count:
            text = f"{count} of the agent's lines and messages could not be used: ignored. See `%acp log`."
            self._apply(events.Noted(text, "info"))

    def _fail(self, turn: Turn, error: Exception) -> None:
        gone = isinstance(error, errors.AgentExited | errors.ConnectionClosed)
        if not turn.ended:
            self._apply(events.TurnFailed(_turn_error(error), agent_gone=gone))

    async def end(self) -> None:
        """End the agent's process and all that it started, within 5 s; a running turn fails.

        Where the agent is shared, only the session ends, and a running turn is cancelled.
        """
        playing, turn = self._playing, self.state.turn
        if self.agent.host.shared and turn is not None:
            self.cancel(turn)
        if not await self.agent.disconnect() and playing is not None:  # it is still starting
            playing.cancel()
            await asyncio.wait([playing])
        await self._end_processes()

    def _lost(self) -> None:
        """The agent is gone, or deaf: what it has started goes too, now and not at the next prompt."""
        self._ending = asyncio.ensure_future(self._end_processes())

    async def _end_processes(self) -> None:
        await asyncio.gather(self.agent.end_process(), self._terminals.release_all())

    def _log(self, direction: str, line: bytes, message: Any) -> None:
        self.frames.append(time.time(), direction, line)
        self.elicitations.see(direction, message)

    def _apply(self, event: events.Event) -> None:
        with self.lock:
            self._tell(reduce(self.state, event, time.time()))

    def listen(self, listener: Listener, turn: Turn | None) -> Callable[[], None]:
        """Call ``listener`` with what changes of ``turn``, or of every one; returns how to end that."""
        key = turn.turn_id if turn else None
        self._listeners.setdefault(key, []).append(listener)

        def stop() -> None:
            self._listeners[key].remove(listener)
            if not self._listeners[key]:
                del self._listeners[key]

        return stop

    def _tell(self, changes: list[Change]) -> None:
        for listener in list(self._listeners.get(None, ())):
            _guarded(listener, changes)
        for turn_id in {change.turn.turn_id for change in changes}:
            for listener in list(self._listeners.get(turn_id, ())):
                _guarded(listener, [change for change in changes if change.turn.turn_id == turn_id])


def _guarded(listener: Callable[[list[Change]], None], changes: list[Change]) -> None:
    try:
        listener(changes)
    except Exception:  # noqa: BLE001  # the edge: what a view cannot show must not end the agent's turn
        _log.exception("a listener failed")


def _turn_error(error: Exception) -> TurnError:
    kind = type(error).__name__
    if not isinstance(error, errors.AcpError):
        return TurnError(kind, str(error))
    stderr = error.stderr if isinstance(error, errors.AgentError) else ""
    return TurnError(kind, error.message, error.advice, stderr)
