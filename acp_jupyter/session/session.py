"""A session with one agent: prompts in, turns out, from cell to cell.

See https://agentclientprotocol.com/protocol/overview. Everything here that touches the state runs on the loop
thread; what other threads call hands over to it. `Session.lock` is held while the state changes, so that a
reader who holds it sees the state at rest.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
import time
import uuid
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_jupyter import errors
from acp_jupyter.model import events
from acp_jupyter.model.reduce import reduce
from acp_jupyter.model.state import Change, SessionState
from acp_jupyter.model.tool_call import ToolCalls
from acp_jupyter.model.turn import AgentInfo, Turn, TurnError
from acp_jupyter.session.client import ClientSide
from acp_jupyter.session.link import Link, start_agent
from acp_jupyter.session.permissions import PendingPermission, PermissionBroker
from acp_jupyter.session.policy import check_policy
from acp_jupyter.session.roots import Roots
from acp_jupyter.session.terminals import Terminals

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Sequence
    from concurrent.futures import Future

    from acp_jupyter.session.agents import AgentSpec
    from acp_jupyter.session.loop import LoopThread
    from acp_jupyter.wire.process import AgentProcess
    from acp_jupyter.wire.watcher import Watcher

# How long a new prompt waits for a cancelled turn whose end the agent has not confirmed.
CANCEL_GRACE_S = 10.0
_LOG_FRAMES = 2000


class Frame(NamedTuple):
    """A message on the wire: when (Unix seconds), ``in`` or ``out``, and the message as it was."""

    at: float
    direction: str
    message: Any


class TurnRun:
    """A turn under way, for whoever shows it."""

    def __init__(self, session: Session, turn: Turn, future: Future[None]) -> None:
        self.session = session
        self.turn = turn
        self._future = future
        self._cancelled_at: float | None = None

    def done(self) -> bool:
        """Whether the turn is over, or its cancelled rest was given up."""
        return self._future.done()

    def on_done(self, callback: Callable[[], object]) -> None:
        """Call ``callback`` when the turn is over, from the loop's thread."""
        self._future.add_done_callback(lambda _future: callback())

    def cancel(self) -> None:
        """Ask the agent to end the turn; open requests are answered ``cancelled``. Safe from any thread."""
        self._cancelled_at = self._cancelled_at or time.monotonic()
        self.session.loop.call(self.session.cancel_turn, self.turn)

    def cancelled_for_s(self) -> float:
        """Return the seconds since `cancel` was first called; 0 where it was not."""
        return time.monotonic() - self._cancelled_at if self._cancelled_at else 0.0

    def result(self, timeout_s: float | None = None) -> Turn:
        """Wait for the end and return the turn.

        Raises:
            AcpError: Why it could not be brought to its end.
        """
        self._future.result(timeout_s)
        return self.turn


class Session:
    """A session with an agent. Its process starts at the first prompt and stays until it is stopped.

    Args:
        spec: The agent.
        loop: Where everything asynchronous runs.
        watcher: Ends the agent when the kernel dies.
        present: Shows a turn while it runs, asks what is to be asked, and returns it at its end.
    """

    def __init__(
        self,
        spec: AgentSpec,
        *,
        loop: LoopThread,
        watcher: Watcher | None = None,
        present: Callable[[TurnRun], Turn] = TurnRun.result,
    ) -> None:
        self.spec = spec
        self.loop = loop
        self.lock = threading.RLock()
        self.roots: Roots | None = None
        self.policy = "ask"
        self.frames: deque[Frame] = deque(maxlen=_LOG_FRAMES)
        self._watcher = watcher
        self._present = present
        self._state = SessionState()
        self._listeners: list[Callable[[list[Change]], None]] = []
        self._numbers = itertools.count(1)
        self._attended = 0
        self._link: Link | None = None
        self._process: AgentProcess | None = None
        self._last_words = ""
        self._playing: asyncio.Task[None] | None = None
        self._one_turn = asyncio.Lock()
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
        return self._process.stderr_tail() if self._process else self._last_words

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
        self._tasks[turn.turn_id] = asyncio.current_task()
        try:
            async with self._my_turn():
                await self._play_now(turn, timeout_s)
        except errors.SessionBusy as error:
            self._withdraw(turn, "failed", _turn_error(error))
            raise
        except asyncio.CancelledError:
            self._withdraw(turn, "cancelled")
        finally:
            del self._tasks[turn.turn_id]

    async def _play_now(self, turn: Turn, timeout_s: float | None) -> None:
        self._apply(events.TurnStarted(turn))
        self._playing = asyncio.ensure_future(self._converse(turn))
        try:
            await self._until_end(turn, timeout_s)
        except errors.AcpError as error:
            self._fail(error)
            raise
        except asyncio.CancelledError:
            # Ended before there was a session: by the person, or because the process was stopped.
            if not turn.cancel_requested:
                error = errors.ConnectionClosed("the agent was stopped before it was ready")
                self._fail(error)
                raise error from None
            self._apply(events.TurnEnded(None))
        finally:
            self._broker.close_all("the turn is over")
            self._playing = None

    def _withdraw(self, turn: Turn, phase: str, error: TurnError | None = None) -> None:
        """End a turn that never began."""
        with self.lock:
            turn.phase, turn.error, turn.ended_at = phase, error, time.time()
            turn.cancel_requested = phase == "cancelled"
            self._tell([Change(turn, ())])

    @contextlib.asynccontextmanager
    async def _my_turn(self) -> AsyncGenerator[None]:
        before = self.turn
        given_up = before is not None and before.cancel_requested
        try:
            await asyncio.wait_for(self._one_turn.acquire(), CANCEL_GRACE_S if given_up else None)
        except asyncio.TimeoutError:
            raise errors.SessionBusy(
                f"{self.name} has not confirmed the end of the cancelled turn",
                advice="`%acp restart` ends its process; or wait and run the cell again.",
            ) from None
        try:
            yield
        finally:
            self._one_turn.release()

    async def _until_end(self, turn: Turn, timeout_s: float | None) -> None:
        playing = self._playing
        assert playing is not None  # noqa: S101  # set by the only caller
        done, _ = await asyncio.wait([playing], timeout=timeout_s)
        if done:
            return playing.result()
        self.cancel_turn(turn)
        done, _ = await asyncio.wait([playing], timeout=CANCEL_GRACE_S)
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
        except errors.RequestFailed:
            # A cancelled prompt may be answered with an error just as well.
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
        roots = self._the_roots()
        self._process = await start_agent(self.spec, roots, self._watcher)
        link = Link(self._process, self._client, self.spec, self._log)
        try:
            response = await link.open_session(roots)
        except BaseException:
            await link.close()
            raise
        self._link = link
        turn.agent = self._agent_info()
        self._apply(events.SessionOpened(str(response["sessionId"]), response))
        return link

    def _note_restart(self, why: str) -> None:
        text = f"A new process was started, because {why}: it does not know what was said before."
        self._apply(events.Noted(text, "warning"))

    def cancel_turn(self, turn: Turn) -> None:
        """Cancel ``turn``; on the loop only."""
        if turn.ended or turn.cancel_requested:
            return
        if turn is not self.turn:  # it still waits for the one before it
            task = self._tasks.get(turn.turn_id)
            if task is not None:
                task.cancel()
            return
        self._apply(events.CancelRequested())
        self._broker.close_all("the turn was cancelled")
        if turn.phase == "running" and self._link is not None:
            self._link.connection.cancel(str(self.session_id))
            self.loop.call(self._warn_unconfirmed_later, turn)
        elif self._playing is not None:
            self._playing.cancel()

    def _warn_unconfirmed_later(self, turn: Turn) -> None:
        def warn() -> None:
            if turn is self.turn and not turn.ended:
                text = "The agent has not confirmed the cancel. `%acp restart` ends its process."
                self._apply(events.Noted(text, "warning"))

        asyncio.get_running_loop().call_later(CANCEL_GRACE_S / 5, warn)

    def _fail(self, error: errors.AcpError) -> None:
        gone = isinstance(error, errors.AgentExited | errors.ConnectionClosed)
        if self.running:
            self._apply(events.TurnFailed(_turn_error(error), agent_gone=gone))

    async def _close_link(self) -> None:
        link, self._link = self._link, None
        playing = self._playing
        if link is not None:
            self._last_words = link.process.stderr_tail()
            await link.close()
        elif playing is not None:
            playing.cancel()
        await self._terminals.release_all()

    def _the_roots(self) -> Roots:
        if self.roots is None:
            self.roots = Roots.of()
        return self.roots

    def _agent_info(self) -> AgentInfo:
        told = self._link.connection.agent_info if self._link else None
        told = told or {}
        title = self.spec.title or told.get("title") or told.get("name") or self.name
        version = told.get("version")
        return AgentInfo(self.name, str(title), str(version) if version is not None else None)

    def _log(self, direction: str, message: Any) -> None:
        self.frames.append(Frame(time.time(), direction, message))

    def _apply(self, event: events.Event) -> None:
        with self.lock:
            self._tell(reduce(self._state, event, time.time()))

    def _tell(self, changes: list[Change]) -> None:
        for listener in list(self._listeners):
            listener(changes)


def _turn_error(error: errors.AcpError) -> TurnError:
    stderr = error.stderr if isinstance(error, errors.AgentError) else ""
    return TurnError(type(error).__name__, error.message, error.advice, stderr)
