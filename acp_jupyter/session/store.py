"""Serves the client's files from another place than the disk: what the caller gave as a workspace.

See https://agentclientprotocol.com/protocol/file-system.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from acp_jupyter.session import files
from acp_jupyter.session.client_files import ClientFiles
from acp_jupyter.wire.answers import RequestError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from acp_jupyter.session.gate import Gate
    from acp_jupyter.session.roots import Roots


class TextStore(Protocol):
    """Texts by path; the paths are absolute, as the agent named them."""

    async def read_text(self, path: str) -> str:
        """Return a text; `FileNotFoundError` where there is none."""
        ...

    async def write_text(self, path: str, text: str) -> None:
        """Keep a text."""
        ...

    async def exists(self, path: str) -> bool:
        """Whether there is such a text."""
        ...


class StoreFiles(ClientFiles):
    """Serves ``fs/*`` from a store, which decides alone which paths it takes.

    Args:
        store: The texts.
        roots: The session's directories now.
        check_prompted: Raises where no prompt is under way.
        gate: What stands before files.
    """

    def __init__(
        self, store: TextStore, roots: Callable[[], Roots], check_prompted: Callable[[], None], gate: Gate
    ) -> None:
        super().__init__(roots, check_prompted, gate)
        self._store = store

    async def read_text_file(self, params: dict[str, Any]) -> dict[str, Any]:
        """Answer ``fs/read_text_file``; otherwise as `ClientFiles`."""
        path: str = params["path"]
        if not await _asked(path, self._store.exists(path)):  # before anybody is asked
            raise files.not_found(Path(path))
        await self._gate.reading(path, Path(path))
        text = await _asked(path, self._store.read_text(path))
        if not isinstance(text, str):
            raise files.refusal("workspace", f"{path}: the workspace gave no text")
        return {"content": files.part_of(text, params.get("line"), params.get("limit"))}

    async def _write(self, params: dict[str, Any]) -> dict[str, Any]:
        path, content = params["path"], params["content"]
        self._check_prompted()
        done = await self._gate.editing(path, Path(path), content)
        self._check_prompted()  # the turn may be over by now
        await _asked(path, self._store.write_text(path, content))
        done()
        return {}


async def _asked(path: str, answer: Awaitable[Any]) -> Any:
    try:
        return await answer
    except RequestError:
        raise
    except FileNotFoundError as error:
        raise files.not_found(Path(path)) from error
    except Exception as error:
        raise files.refusal("workspace", f"{path}: {type(error).__name__}: {error}") from error
