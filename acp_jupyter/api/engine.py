"""What all tools of a process share: the loop thread and the watcher. Made at the first use, ended at exit.

See https://agentclientprotocol.com/protocol/transports.
"""

from __future__ import annotations

import asyncio
import atexit
import os
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from acp_jupyter.session.host import Host
from acp_jupyter.session.loop import LoopThread
from acp_jupyter.wire.watcher import Watcher

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from acp_jupyter.session.agents import AgentSpec
    from acp_jupyter.session.link import Offer

T = TypeVar("T")
_CLOSE_S = 15.0


class Engine:
    """Owns the loop thread, the watcher process and the agents that run."""

    def __init__(self) -> None:
        self.loop = LoopThread()
        self.watcher = Watcher()
        self._hosts: set[Host] = set()
        self._owner = os.getpid()
        atexit.register(self.close)

    def host(self, spec: AgentSpec, start_s: float, *, offer: Offer, cwd: str | None) -> Host:
        """Return a host for an agent; `end` ends it, at the latest the interpreter's end does."""
        host = Host(spec, watcher=self.watcher, start_s=start_s, shared=True, offer=offer, cwd=cwd)
        self._hosts.add(host)
        return host

    async def end(self, host: Host) -> None:
        """End an agent; on the loop."""
        await host.close()
        self._hosts.discard(host)

    async def on_loop(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the engine's loop, and wait for it on the caller's."""
        return await asyncio.wrap_future(self.loop.submit(coroutine))

    def close(self) -> None:
        """End every agent, the watcher and the loop; does nothing in a forked child."""
        if os.getpid() != self._owner:
            return

        async def end_all() -> None:
            await asyncio.gather(*(self.end(host) for host in list(self._hosts)))

        try:
            if self._hosts:
                self.loop.run(end_all(), timeout_s=_CLOSE_S)
        finally:
            self.watcher.close()
            self.loop.close()


@cache
def engine() -> Engine:
    """Return the one engine of this process."""
    return Engine()
