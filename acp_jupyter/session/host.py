"""The agent's process and our one connection to it, for one session or for several.

See https://agentclientprotocol.com/protocol/initialization. It lives on the loop; `AgentSide` is one session.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from acp_jupyter import errors
from acp_jupyter.session.link import Link, Offer, offer_to, start_agent
from acp_jupyter.session.router import Router

if TYPE_CHECKING:
    from acp_jupyter.session.agents import AgentSpec
    from acp_jupyter.session.roots import Roots
    from acp_jupyter.session.router import Guest
    from acp_jupyter.wire.process import AgentProcess
    from acp_jupyter.wire.watcher import Watcher


class Host:
    """Starts the agent where it does not run, again after it has died, and ends it.

    Args:
        spec: The agent.
        watcher: Ends the agent when this process dies.
        start_s: How long each answer may take while it starts.
        shared: Whether several sessions may be on it. A session that stands alone ends it; shared, only its
            owner does, by `close`.
        offer: What the agent is told of us; by default all that we can do.
        cwd: Where its process is started; by default where the session works that has it started.
    """

    def __init__(  # noqa: PLR0913  # each is named at the call
        self,
        spec: AgentSpec,
        *,
        watcher: Watcher | None,
        start_s: float,
        shared: bool = False,
        offer: Offer | None = None,
        cwd: str | None = None,
    ) -> None:
        self.spec = spec
        self.start_s = start_s
        self.shared = shared
        self.cwd = cwd
        self._offer = offer
        self.process: AgentProcess | None = None
        self.link: Link | None = None
        self.router = Router(shared=shared, ignore=self._ignore)
        self._watcher = watcher
        self._ignored = 0
        self._starting = asyncio.Lock()
        self._logging_in = asyncio.Lock()
        self._logged_in: tuple[Link, str] | None = None
        self._taken_up: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def log_in(self, method_id: str, roots: Roots) -> None:
        """Log in by one of the agent's own methods, once for each process.

        Raises:
            UsageError: It has no such method, or one that runs in a terminal.
            RequestFailed: It refuses.
        """
        async with self._logging_in:
            link = await self.connected(roots)
            if self._logged_in == (link, method_id):
                return
            await link.connection.authenticate(method_id)
            self._logged_in = (link, method_id)

    def only_one_in(self, session_id: str | None) -> asyncio.Lock:
        """Return what is to be held while a session of before is gone on with; a new one is nobody else's."""
        return asyncio.Lock() if session_id is None else self._taken_up.setdefault(session_id, asyncio.Lock())

    @property
    def ignored(self) -> int:
        """How many messages and lines of its processes could not be used."""
        return self._ignored + (self.link.connection.ignored if self.link else 0)

    def join(self, guest: Guest) -> None:
        """Let a session be on it; one that is already stays."""
        if guest not in self.router.guests:
            self.router.guests.append(guest)

    def leave(self, guest: Guest) -> None:
        """Forget a session: nothing goes to it any more."""
        self.router.forget(guest)
        if guest in self.router.guests:
            self.router.guests.remove(guest)

    async def connected(self, roots: Roots) -> Link:
        """Return the running agent, initialized; it is started where it does not run.

        Raises:
            AgentError: It cannot start, ends, does not answer in time, or speaks another version.
        """
        async with self._starting:
            if self.link is not None and self.link.alive:
                return self.link
            await self.disconnect()
            await self.end_process()
            self.link = await self._started(roots)
            return self.link

    async def _started(self, roots: Roots) -> Link:
        self.process = await start_agent(self.spec, self.cwd or roots.cwd, self._watcher)
        self.router.begin_anew()
        offer = self._offer or offer_to(self.spec)
        link = Link(self.process, self.router, offer, self.router.frame, self.router.lost)
        try:
            await link.connection.initialize(self.start_s)
        except errors.AgentExited as error:
            await link.close()
            error.advice = (
                "Does this command speak the Agent Client Protocol? Some agents need a flag for it."
            )
            raise
        except BaseException:
            await link.close()
            raise
        return link

    async def disconnect(self) -> bool:
        """End the connection: nothing more is asked of us. Return whether there was one."""
        self._ignored = self.ignored
        link, self.link = self.link, None
        if link is not None:
            await link.connection.close()
        return link is not None

    async def end_process(self) -> None:
        """End the agent's process and its whole tree, within 5 s."""
        if self.process is not None:
            await self.process.stop()

    async def close(self) -> None:
        """End the connection and the process, whoever is still on it."""
        await self.disconnect()
        await self.end_process()

    async def give_up(self, link: Link) -> None:
        """End an agent that is of no use."""
        self.link = None
        await link.close()

    def _ignore(self, reason: str, message: Any) -> None:
        if self.link is not None:
            self.link.connection.ignore(reason, message)
