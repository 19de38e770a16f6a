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
        self._met: set[str] = set()  # names of agents with which a session was open
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
        if agent is not None:
            self._current = self.look_up(agent)
        elif self._current is None:
            self._current = self._chosen_elsewhere()
        else:
            with contextlib.suppress(AgentUnknown):  # removed meanwhile: its session goes on as it was
                self._current.use(self.agents.get(self._current.name))
        return self._current

    def _chosen_elsewhere(self) -> Session:
        """Return the session with the agent of the settings, else with the one that this notebook had."""
        standing = settings()
        if standing.agent is not None:
            try:
                return self.look_up(standing.agent)
            except AgentUnknown as error:
                error.message += f" (agent, by {standing.by('agent')})"
                raise
        names = self.remembered_agents()
        if len(names) == 1:
            try:
                return self.look_up(names[0])
            except AgentUnknown as error:
                error.message = f"this notebook had a session with {names[0]}, which is not known any more"
                error.advice = (
                    "An agent that was added without --save is gone with its kernel. Add it again: "
                    f"%acp add {names[0]} -- COMMAND ARG..."
                )
                raise
        if names:
            listed = f"This notebook had sessions with {', '.join(names)}"
        else:
            listed = f"Found here: {', '.join(spec.name for spec in self.agents.available())}"
        raise UsageError("no agent was chosen yet", advice=f"{listed}. Name one: %acp use NAME")

    def look_up(self, agent: str) -> Session:
        """Return the session with ``agent`` as `get` does, without making it current."""
        return self._session_with(self.agents.get(agent))

    def _session_with(self, spec: AgentSpec) -> Session:
        session = self._by_name.get(spec.name)
        if session is None:
            standing = settings()
            session = Session(
                spec,
                loop=self.loop,
                watcher=self._watcher,
                present=self._present,
                limits=Limits(start_s=standing.start_timeout_s),
                chosen=self.memory.choices(spec.name) if standing.remember_choices else (),
                keep=lambda remembered: self._keep(spec.name, remembered),
                recall=lambda session_id: self._recall(spec.name, session_id),
            )
            self._by_name[spec.name] = session
        session.use(spec)
        return session

    def remembered(self, agent: str) -> Remembered | None:
        """Return the session that this notebook last had with an agent before those begun in this kernel.

        Where there is none, it is the last of this kernel.
        """
        found = self.memory.find_all(self._place(), agent)
        begun = self._by_name[agent].begun if agent in self._by_name else set[str]()
        earlier = [one for one in found if one.session_id not in begun]
        return next(iter([*earlier, *found]), None)

    def remembered_agents(self) -> list[str]:
        """Return the names of the agents that this notebook had sessions with, the latest first."""
        return self.memory.agents(self._place())

    def _recall(self, agent: str, session_id: str) -> Remembered | None:
        found = self.memory.find_all(self._place(), agent)
        return next((one for one in found if one.session_id == session_id), None)

    def _place(self) -> str:
        return self._notebook() or self.here()

    @staticmethod
    def here() -> str:
        """Return the kernel's directory; empty where it is gone."""
        try:
            return os.getcwd()  # noqa: PTH109  # as the session's roots have it
        except FileNotFoundError:
            return ""

    def _keep(self, agent: str, remembered: Remembered) -> str | None:
        """Remember a session; returns what to say where it is not the one that the notebook had before."""
        place, session = self._notebook() or remembered.cwd, self._by_name[agent]
        first = agent not in self._met and remembered.session_id in session.begun
        before = self.memory.find(place, agent) if first else None
        self._met.add(agent)
        try:
            self.memory.keep(place, agent, remembered)
            if settings().remember_choices:
                self.memory.keep_choices(agent, remembered.chosen)
        except UsageError as error:  # a convenience: it costs no turn
            _log.warning("the session is not remembered: %s", error)
        if before is None or session.way_back is None:
            return None
        return (
            f"This notebook had a session with {agent} before ({before.session_id}); this is a new one. "
            f"%acp {session.way_back} goes back to it."
        )

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
