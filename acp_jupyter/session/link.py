"""A running agent: its process and our connection to it. Made anew when it has died."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_jupyter import errors
from acp_jupyter.session.agents import not_found
from acp_jupyter.wire.process import AgentProcess
from acp_jupyter.wire.v1 import Connection

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_jupyter.session.agents import AgentSpec
    from acp_jupyter.wire.v1 import Client
    from acp_jupyter.wire.watcher import Watcher


def capabilities(spec: AgentSpec) -> dict[str, Any]:
    """Return what we offer an agent: only what is built, and what its entry does not switch off."""
    return {
        "fs": {"readTextFile": spec.client_fs, "writeTextFile": spec.client_fs},
        "terminal": spec.client_terminal,
        "session": {"notices": {}, "compaction": {}, "configOptions": {"boolean": {}}},
        "auth": {"terminal": True},
        "elicitation": {"form": {}, "url": {}},
        "_meta": {"terminal_output": True, "terminal_output_delta": True},  # see model.terminals
    }


def client_info() -> dict[str, Any]:
    """Return who we are, as `initialize` wants it."""
    try:
        number = version("acp_jupyter")
    except PackageNotFoundError:  # run from a checkout that was never installed
        number = "0"
    return {"name": "acp_jupyter", "title": "acp_jupyter", "version": number}


class Offer(NamedTuple):
    """What we say of ourselves in `initialize`: ``clientCapabilities``, ``clientInfo`` and ``_meta``."""

    capabilities: dict[str, Any]
    client_info: dict[str, Any]
    meta: dict[str, Any] | None = None


def offer_to(spec: AgentSpec) -> Offer:
    """Return what we say to an agent where nobody wants it otherwise."""
    return Offer(capabilities(spec), client_info())


class Link:
    """An agent that runs, and our connection to it.

    Args:
        process: The agent.
        connection_client: Serves what the agent asks.
        offer: What it is told of us.
        on_frame: Sees every message, both ways: its direction, its line, and what that says.
        on_lost: Called where the agent ended the connection, and not we.
    """

    def __init__(  # one place makes it
        self,
        process: AgentProcess,
        connection_client: Client,
        offer: Offer,
        on_frame: Callable[[str, bytes, Any], None],
        on_lost: Callable[[], None],
    ) -> None:
        self.process = process
        self._on_lost = on_lost
        self.lost = False
        self.connection = Connection(
            process,
            connection_client,
            capabilities=offer.capabilities,
            client_info=offer.client_info,
            meta=offer.meta,
            on_frame=on_frame,
            on_closed=self._closed,
        )

    @property
    def alive(self) -> bool:
        """Whether prompts can still reach the agent."""
        return self.process.returncode is None and not self.lost

    async def close(self) -> None:
        """End the connection and the whole process tree, within 5 s."""
        await self.connection.close()
        await self.process.stop()

    def give_up(self) -> None:
        """Use it no more: the agent cannot be reached."""
        if not self.lost:
            self.lost = True
            self._on_lost()

    def _closed(self, reason: errors.AcpError) -> None:
        if isinstance(reason, errors.ConnectionClosed):
            self.lost = True
        else:
            self.give_up()


async def start_agent(spec: AgentSpec, cwd: str, watcher: Watcher | None) -> AgentProcess:
    """Start an agent's process in ``cwd``.

    Raises:
        AgentNotFound: Its command is not found; the advice says how to install it, where that is known.
        UsageError: A variable that it needs is not set.
    """
    env = spec.environment()
    try:
        return await AgentProcess.spawn(
            spec.command, spec.args, cwd=cwd, env=env, inherit=False, watcher=watcher
        )
    except errors.AgentNotFound as error:
        raise not_found(spec, error) from error
