"""Where an agent's files are: on the disk, or in a workspace that the caller gives.

See https://agentclientprotocol.com/protocol/file-system.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from acp_jupyter.session import files
from acp_jupyter.session.roots import Roots

if TYPE_CHECKING:
    import os
    from collections.abc import Awaitable, Callable, Generator


@runtime_checkable
class Workspace(Protocol):
    """Texts by path, for an agent's ``fs/*`` requests; each method may be async.

    The paths are absolute, as the agent named them; which of them it takes is the workspace's own affair. One
    that has ``local = True`` is this machine's disk: for any other the agent gets no terminals of ours.
    """

    def read_text(self, path: str, /) -> str | Awaitable[str]:
        """Return a text; raise `FileNotFoundError` where there is none."""
        ...

    def write_text(self, path: str, text: str, /) -> object:
        """Keep a text; what it raises is told to the agent."""
        ...

    def exists(self, path: str, /) -> bool | Awaitable[bool]:
        """Whether there is such a text."""
        ...


class LocalWorkspace:
    """A directory on the disk, and nothing outside it, by real path.

    Args:
        root: The directory.

    Raises:
        UsageError: It is none.
    """

    local = True

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self._roots = Roots.of(str(root))

    def read_text(self, path: str, /) -> str:
        """Return a file's text."""
        return files.read_text_file({"path": path}, self._roots)["content"]

    def write_text(self, path: str, text: str, /) -> None:
        """Write a file, made with its folders where it is missing."""
        files.write_text_file({"path": path, "content": text}, self._roots)

    def exists(self, path: str, /) -> bool:
        """Whether there is such a file."""
        return Path(files.resolve(path, self._roots)).exists()


_CURRENT: ContextVar[Workspace | None] = ContextVar("workspace", default=None)


def current_workspace() -> Workspace | None:
    """Return the workspace of the running context, where one was set."""
    return _CURRENT.get()


@contextlib.contextmanager
def using_workspace(workspace: Workspace) -> Generator[None]:
    """While this lasts, calls in this thread or task that name no workspace use this one."""
    token = _CURRENT.set(workspace)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def is_local(workspace: Workspace | None) -> bool:
    """Whether commands can be run where the agent's files are; by default they are on the disk."""
    return workspace is None or getattr(workspace, "local", False) is True


class CallersStore:
    """A workspace as the session's store: what is async runs on the caller's loop, all else in a thread.

    Args:
        workspace: What was given.
        loop: The caller's.
    """

    def __init__(self, workspace: Workspace, loop: asyncio.AbstractEventLoop) -> None:
        self.workspace = workspace
        self.loop = loop

    async def read_text(self, path: str) -> str:
        """Return a text."""
        return await self._call(self.workspace.read_text, path)

    async def write_text(self, path: str, text: str) -> None:
        """Keep a text."""
        await self._call(self.workspace.write_text, path, text)

    async def exists(self, path: str) -> bool:
        """Whether there is such a text."""
        return await self._call(self.workspace.exists, path)

    async def _call(self, method: Callable[..., Any], *args: str) -> Any:
        if inspect.iscoroutinefunction(method):
            return await self._on_its_loop(method(*args))
        answer = await asyncio.to_thread(method, *args)
        return await self._on_its_loop(answer) if inspect.isawaitable(answer) else answer

    async def _on_its_loop(self, answer: Awaitable[Any]) -> Any:
        async def awaited() -> Any:
            return await answer

        waiting = awaited()
        if not self.loop.is_running():
            waiting.close()
            raise RuntimeError("the loop that the workspace was given on runs no longer")
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(waiting, self.loop))
