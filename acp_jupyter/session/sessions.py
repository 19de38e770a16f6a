"""The sessions of a process: one per agent name, one of them current; and what they share."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import os
from typing import TYPE_CHECKING

from acp_jupyter.errors import AgentUnknown, UsageError
from acp_jupyter.session.agents import Agents
from acp_jupyter.session.loop import LoopThread
from acp_jupyter.session.memory import Memory, Remembered
from acp_jupyter.session.run import Limits
from acp_jupyter.session.session import Session
from acp_jupyter.session.settings import settings
from acp_jupyter.wire.watcher import Watcher

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_jupyter.model.turn import Turn
    from acp_jupyter.session.agents import AgentSpec
    from acp_jupyter.session.run import TurnRun


_log = logging.getLogger(__name__)


class Sessions:
    """Owns the loop thread, the watcher process and every session; none starts before it is needed.

    Args:
        present: Shows a turn while it runs, asks what is to be asked, and returns it at its end.
        notebook: Gives the path of the notebook, where it is known; sessions are remembered by it.
    """

    def __init__(
        self,
        present: Callable[[TurnRun], Turn] | None = None,
        notebook: Callable[[], str | None] = lambda: None,
    ) -> None:
        self.agents = Agents()
        self.memory = Memory()
        self._notebook = notebook
        self.loop = LoopThread()
        self._watcher = Watcher()
        self._present = present
        self._by_name: dict[str, Session] = {}
        self._current: Session | None = None
        self._owner = os.getpid()
        atexit.register(self.close)

    @property
    def current(self) -> Session | None:
        """The session that the next prompt goes to, where one was chosen."""
        return self._current

    @current.setter
    def current(self, session: Session | None) -> None:
        self._current = session

    def all(self) -> list[Session]:
        """Return every session so far."""
        return list(self._by_name.values())

    def get(self, agent: str | None = None) -> Session:
        """Return the session with ``agent``, made if it is new, and make it current.

        Args:
            agent: Its name; by default the current session's.

        Raises:
            AgentUnknown: There is no agent of that name.
            UsageError: None was named, and none is current.
        """
        if agent is None and self._current is None:
            agent = settings().agent
        if agent is None and self._current is None:
            names = ", ".join(spec.name for spec in self.agents.available())
            raise UsageError("no agent was chosen yet", advice=f"Found here: {names}. Name one: %%acp demo")
        if agent is not None:
            self._current = self.look_up(agent)
        elif self._current is not None:
            with contextlib.suppress(AgentUnknown):  # removed meanwhile: its session goes on as it was
                self._current.use(self.agents.get(self._current.name))
        assert self._current is not None  # noqa: S101  # one of the two branches above set it
        return self._current

    def look_up(self, agent: str) -> Session:
        """Return the session with ``agent`` as `get` does, without making it current."""
        return self._session_with(self.agents.get(agent))

    def _session_with(self, spec: AgentSpec) -> Session:
        session = self._by_name.get(spec.name)
        if session is None:
            session = Session(
                spec,
                loop=self.loop,
                watcher=self._watcher,
                present=self._present,
                limits=Limits(start_s=settings().start_timeout_s),
                keep=lambda session_id, cwd: self._keep(spec.name, Remembered(session_id, cwd)),
            )
            self._by_name[spec.name] = session
        session.use(spec)
        return session

    def remembered(self, agent: str) -> Remembered | None:
        """Return the session that this notebook last had with an agent, in this kernel or an earlier one."""
        return self.memory.find(self._notebook() or self.here(), agent)

    @staticmethod
    def here() -> str:
        """Return the kernel's directory; empty where it is gone."""
        try:
            return os.getcwd()  # noqa: PTH109  # as the session's roots have it
        except FileNotFoundError:
            return ""

    def _keep(self, agent: str, session: Remembered) -> None:
        place = self._notebook() or session.cwd
        try:
            self.memory.keep(place, agent, session)
        except UsageError as error:  # a convenience: it costs no turn
            _log.warning("the session is not remembered: %s", error)

    def stop_all(self) -> None:
        """End every agent, what any has left behind, and the watcher; the next prompt starts afresh."""

        async def end_all() -> None:
            await asyncio.gather(*(session.end() for session in self.all()))

        try:
            if any(session.pid is not None for session in self.all()):
                self.loop.run(end_all(), timeout_s=15)
        finally:
            self._watcher.close()

    def close(self) -> None:
        """End every agent, the watcher and the loop; does nothing in a child that the kernel forked."""
        if os.getpid() != self._owner:
            return
        try:
            self.stop_all()
        finally:
            self.loop.close()
