"""A session with one agent: prompts in, turns out, from cell to cell.

See https://agentclientprotocol.com/protocol/overview. Everything here that touches the state runs on the loop
thread; what other threads call hands over to it. `Session.lock` is held while the state changes, so that a
reader who holds it sees the state at rest.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import threading
import time
import uuid
from collections import deque
from typing import TYPE_CHECKING, Any

from acp_jupyter import errors
from acp_jupyter.model import events
from acp_jupyter.model.reduce import reduce
from acp_jupyter.model.state import Change, SessionState
from acp_jupyter.model.tool_call import ToolCalls
from acp_jupyter.model.turn import AgentInfo, Turn, TurnError
from acp_jupyter.session.client import ClientSide
from acp_jupyter.session.line import Line, NotConfirmed
from acp_jupyter.session.link import Link, start_agent
from acp_jupyter.session.permissions import PendingPermission, PermissionBroker
from acp_jupyter.session.policy import check_policy
from acp_jupyter.session.roots import Roots
from acp_jupyter.session.run import Frame, Limits, TurnRun
from acp_jupyter.session.terminals import Terminals

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from acp_jupyter.session.agents import AgentSpec
    from acp_jupyter.session.loop import LoopThread
    from acp_jupyter.wire.process import AgentProcess
    from acp_jupyter.wire.watcher import Watcher

_LOG_FRAMES = 2000
_log = logging.getLogger(__name__)


class Session:
    """A session with an agent. Its process starts at the first prompt and stays until it is stopped.

    Args:
        spec: The agent.
        loop: Where everything asynchronous runs.
        watcher: Ends the agent when the kernel dies.
        present: Shows a turn while it runs, asks what is to be asked, and returns it at its end.
        limits: How long it waits for the agent.
    """

    def __init__(
        self,
        spec: AgentSpec,
        *,
        loop: LoopThread,
        watcher: Watcher | None = None,
        present: Callable[[TurnRun], Turn] = TurnRun.result,
        limits: Limits = Limits(),  # noqa: B008  # it never changes
    ) -> None:
        self.spec = spec
        self.loop = loop
        self.lock = threading.RLock()
        self.roots: Roots | None = None
        self.policy = "ask"
        self.frames: deque[Frame] = deque(maxlen=_LOG_FRAMES)
        self._watcher = watcher
        self._present = present
        self._limits = limits
        self._state = SessionState()
        self._listeners: list[Callable[[list[Change]], None]] = []
        self._numbers = itertools.count(1)
        self._attended = 0
        self._link: Link | None = None
        self._process: AgentProcess | None = None
        self._playing: asyncio.Task[None] | None = None
        self._ending: asyncio.Future[None] | None = None  # the loop itself holds tasks weakly
        self._line = Line(limits.cancel_grace_s)
        self._tasks: dict[str, asyncio.Task[Any] | None] = {}
        self._terminals = Terminals(self._apply, self._the_roots, watcher)
        self._broker = PermissionBroker(self._state, self._apply, self._the_roots, lambda: self._attended > 0)
        self._client = ClientSide(self._apply, self._broker, self._terminals, self._the_roots)

    # --- what it looks like from outside

    @property
    def name(self) -> str:
        """The agent's name, as its user calls it."""
        return self.spec.name

    @property
    def session_id(self) -> str | None:
        """The agent's own id of the session; ``None`` before the first prompt."""
        return self._state.session_id

    @property
    def cwd(self) -> str | None:
        """The directory it works in; ``None`` before the first prompt."""
        return self.roots.cwd if self.roots else None

    @property
    def turns(self) -> list[Turn]:
        """Every turn so far."""
        return list(self._state.turns)

    @property
    def turn(self) -> Turn | None:
        """The latest turn."""
        return self._state.turn

    @property
    def tool_calls(self) -> ToolCalls:
        """The tool calls of all turns: ids are unique within the session."""
        return ToolCalls(call for turn in self.turns for call in turn.tool_calls)

    @property
    def pending(self) -> list[PendingPermission]:
        """The permission requests that wait for an answer."""
        return [
            PendingPermission(permission, turn.tool_calls[permission.tool_call_id], self._broker, self.loop)
            for turn in self.turns
            for permission in turn.pending
        ]

    @property
    def pid(self) -> int | None:
        """The agent's process id, while it runs."""
        return self._process.pid if self._process is not None and self._process.returncode is None else None

    @property
    def running(self) -> bool:
        """Whether a turn is under way."""
        return self.turn is not None and not self.turn.ended

    @property
    def stderr(self) -> str:
        """The last lines of the agent's error output."""
        return self._process.stderr_tail() if self._process else ""

    def __repr__(self) -> str:
        where = f" in {self.cwd}" if self.cwd else ""
        return f"<Session with {self.name}{where}: {len(self._state.turns)} turns, id {self.session_id}>"

    # --- prompts

    def run(self, task: str, *, policy: str | None = None, timeout_s: float | None = None) -> Turn:
        """Run one turn with ``task``, show it, and return it at its end.

        Args:
            task: The prompt, Markdown, sent as it stands.
            policy: The permission policy of this turn only; by default the session's.
            timeout_s: Cancel the turn after so many seconds.

        Raises:
            AcpError: The turn could not be brought to its end; what was received stays in `turn`.
        """
        return self._present(self.start(task, policy=policy, timeout_s=timeout_s))

    def start(self, task: str, *, policy: str | None = None, timeout_s: float | None = None) -> TurnRun:
        """Start a turn and return at once. One turn runs at a time; others wait for theirs.

        Raises:
            UsageError: The task is empty, or there is no such policy.
        """
        if not task.strip():
            raise errors.UsageError("the task is empty", advice="Write what the agent is to do.")
        policy = check_policy(policy or self.policy)
        self.roots = self.roots or Roots.of()
        turn = Turn(
            turn_id=uuid.uuid4().hex,
            number=next(self._numbers),
            agent=self._agent_info(),
            cwd=self.roots.cwd,
            additional_directories=list(self.roots.additional),
            prompt=[{"type": "text", "text": task}],
            policy=policy,
            session_id=self.session_id,
        )
        return TurnRun(self, turn, self.loop.submit(self._play(turn, timeout_s)))

    @contextlib.contextmanager
    def attended(self) -> Generator[None]:
        """While this lasts somebody can be asked; otherwise a request that no policy answers is rejected."""
        self._attended += 1
        try:
            yield
        finally:
            self._attended -= 1

    def listen(self, listener: Callable[[list[Change]], None]) -> Callable[[], None]:
        """Call ``listener`` with every change, on the loop with `lock` held; returns how to end that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def decide(self, key: str, option_id: str) -> None:
        """Answer a request for the person at the card; safe from any thread, a late one is ignored."""
        self.loop.call(self._decide, key, option_id)

    def reject_unasked(self, key: str) -> None:
        """Reject a request because nobody can be asked; safe from any thread."""

        def on_loop() -> None:
            with contextlib.suppress(errors.PermissionClosed):
                self._broker.reject_unasked(key)

        self.loop.call(on_loop)

    def _decide(self, key: str, option_id: str) -> None:
        with contextlib.suppress(errors.PermissionClosed, errors.UsageError):
            self._broker.decide(key, option_id)

    # --- life

    def set_roots(self, cwd: str | None, additional: Sequence[str]) -> None:
        """Set the session's directories, before its agent is started.

        Raises:
            UsageError: It runs already, in other directories.
        """
        roots = Roots.of(cwd or self.cwd, additional or (self.roots.additional if self.roots else ()))
        if self.session_id is not None and roots != self.roots:
            raise errors.UsageError(
                f"the session with {self.name} runs in {self.cwd} already",
                advice="`%acp new` begins a session that may have other directories.",
            )
        self.roots = roots

    def cancel(self) -> None:
        """Cancel the running turn, if any."""
        if self.turn is not None and not self.turn.ended:
            self.loop.call(self.cancel_turn, self.turn)

    def new(self) -> None:
        """Forget the agent-side session: the next prompt begins one afresh, in the kernel's directory."""
        self.stop()
        with self.lock:
            self._state.session_id = None
            self.roots = None

    def restart(self) -> None:
        """End the agent's process; the next prompt starts another, in the same directories."""
        self.stop()

    def stop(self) -> None:
        """End the agent's process and all that it started, within 5 s; a running turn fails."""
        self.loop.run(self._close_link(), timeout_s=15)

    # --- on the loop

    async def _play(self, turn: Turn, timeout_s: float | None) -> None:
        if turn.cancel_requested:  # before this was reached
            self._withdraw(turn, "cancelled")
            return
        self._tasks[turn.turn_id] = asyncio.current_task()
        try:
            async with self._line.turn():
                await self._play_now(turn, timeout_s)
        except NotConfirmed:
            busy = errors.SessionBusy(
                f"{self.name} has not confirmed the end of the cancelled turn",
                advice="`%acp restart` ends its process; or wait and run the cell again.",
            )
            self._withdraw(turn, "failed", _turn_error(busy))
            raise busy from None
        except asyncio.CancelledError:
            self._withdraw(turn, "cancelled")
        finally:
            del self._tasks[turn.turn_id]

    async def _play_now(self, turn: Turn, timeout_s: float | None) -> None:
        self._apply(events.TurnStarted(turn))
        self._playing = asyncio.ensure_future(self._converse(turn))
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
            self._broker.close_all("the turn is over")
            self._playing = None

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
        self.cancel_turn(turn)
        done, _ = await asyncio.wait([playing], timeout=self._limits.cancel_grace_s)
        if not done:
            await self._close_link()
        with contextlib.suppress(errors.AcpError, asyncio.CancelledError):
            await playing
        raise errors.AgentTimeout(
            f"the turn took longer than {timeout_s:g} s and was cancelled",
            advice="Give it more time with --timeout.",
            stderr=self.stderr,
        )

    async def _converse(self, turn: Turn) -> None:
        link = await self._linked(turn)
        self._apply(events.PromptSent())
        try:
            await link.connection.prompt(
                str(self.session_id), turn.prompt, on_end=lambda response: self._ended(turn, response)
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

    async def _linked(self, turn: Turn) -> Link:
        if self._link is not None and self._link.alive:
            return self._link
        if self._link is not None:
            code = self._link.process.returncode
            await self._close_link()
            self._note_restart(f"the agent's process had ended (exit code {code})")
        elif self._state.session_id is not None:
            self._note_restart("the agent's process was stopped")
        self._forget_the_agents_session()
        roots = self._the_roots()
        self._process = await start_agent(self.spec, roots, self._watcher)
        link = Link(self._process, self._client, self.spec, self._log, self._lost)
        try:
            await link.open_session(
                roots, self._limits.start_s, on_opened=lambda answer: self._opened(turn, link, answer)
            )
        except BaseException:
            await link.close()
            raise
        self._link = link
        return link

    def _opened(self, turn: Turn, link: Link, answer: dict[str, Any]) -> None:
        """Called in wire order: an update that comes right behind the answer finds the session."""
        turn.agent = self._agent_info(link)
        self._apply(events.SessionOpened(str(answer["sessionId"]), answer))

    def _forget_the_agents_session(self) -> None:
        """What the process before this one has told about itself is over."""
        state = self._state
        with self.lock:
            state.title = state.updated_at = state.mode_id = None
            state.modes, state.config_options, state.commands = {}, [], []

    def _note_restart(self, why: str) -> None:
        text = f"A new process was started, because {why}: it does not know what was said before."
        self._apply(events.Noted(text, "warning"))

    def cancel_turn(self, turn: Turn) -> None:
        """Cancel ``turn``; on the loop only."""
        if turn.ended or turn.cancel_requested:
            return
        if turn is not self.turn:  # it still waits for the one before it
            self._cancel_waiting(turn)
            return
        self._apply(events.CancelRequested())
        self._line.head_was_cancelled()
        self._broker.close_all("the turn was cancelled")
        if turn.phase == "running" and self._link is not None:
            self._link.connection.cancel(str(self.session_id))
            loop = asyncio.get_running_loop()
            loop.call_later(self._limits.cancel_grace_s / 5, self._warn_unconfirmed, turn)
        elif self._playing is not None:
            self._playing.cancel()

    def _cancel_waiting(self, turn: Turn) -> None:
        task = self._tasks.get(turn.turn_id)
        if task is not None:
            task.cancel()
        else:  # its task has not begun yet
            turn.cancel_requested = True

    def _warn_unconfirmed(self, turn: Turn) -> None:
        if turn is self.turn and not turn.ended:
            text = "The agent has not confirmed the cancel. `%acp restart` ends its process."
            self._apply(events.Noted(text, "warning"))

    def _fail(self, turn: Turn, error: Exception) -> None:
        gone = isinstance(error, errors.AgentExited | errors.ConnectionClosed)
        if not turn.ended:
            self._apply(events.TurnFailed(_turn_error(error), agent_gone=gone))

    async def _close_link(self) -> None:
        link, self._link = self._link, None
        playing = self._playing
        if link is not None:
            await link.connection.close()  # first: nothing more is asked of us
        elif playing is not None:  # it is still starting
            playing.cancel()
            await asyncio.wait([playing])
        await self._end_processes()

    def _lost(self) -> None:
        """The agent is gone, or deaf: what it has started goes too, now and not at the next prompt."""
        self._ending = asyncio.ensure_future(self._end_processes())

    async def _end_processes(self) -> None:
        agent = [self._process.stop()] if self._process is not None else []
        await asyncio.gather(*agent, self._terminals.release_all())

    def _the_roots(self) -> Roots:
        if self.roots is None:
            self.roots = Roots.of()
        return self.roots

    def _agent_info(self, link: Link | None = None) -> AgentInfo:
        link = link or self._link
        told = link.connection.agent_info if link else {}
        title = told.get("title") or self.spec.title or told.get("name") or self.name
        version = told.get("version")
        return AgentInfo(self.name, str(title), str(version) if version is not None else None)

    def _log(self, direction: str, message: Any) -> None:
        self.frames.append(Frame(time.time(), direction, message))

    def _apply(self, event: events.Event) -> None:
        with self.lock:
            self._tell(reduce(self._state, event, time.time()))

    def _tell(self, changes: list[Change]) -> None:
        for listener in list(self._listeners):
            _guarded(listener, changes)


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
