"""The client's files for a session: in order, through the gate, and never the notebook that is being run.

See https://agentclientprotocol.com/protocol/file-system; what a file is and how it is written is in
`acp_jupyter.session.files`.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from acp_jupyter.session import files
from acp_jupyter.session.gate import Gate
from acp_jupyter.session.notebook import check_notebook, running_notebooks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from acp_jupyter.session.roots import Roots


class ClientFiles:
    """Serves ``fs/*``.

    Args:
        roots: The session's directories now.
        check_prompted: Raises where no prompt is under way.
        gate: What stands before files; by default one that asks nobody.
        notebooks: The paths of the notebook that is being run; by default as the environment tells.
    """

    def __init__(
        self,
        roots: Callable[[], Roots],
        check_prompted: Callable[[], None],
        gate: Gate | None = None,
        notebooks: Callable[[], Iterable[str]] = running_notebooks,
    ) -> None:
        self._roots = roots
        self._check_prompted = check_prompted
        self._gate = gate or Gate()
        self._notebooks = notebooks
        self._writing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def read_text_file(self, params: dict[str, Any]) -> dict[str, Any]:
        """Answer ``fs/read_text_file``.

        Raises:
            RequestError: It cannot or may not be read; ``data.reason`` is one of `files.REASONS`.
        """
        named: str = params["path"]
        real = await asyncio.to_thread(files.resolve, named, self._roots())
        if await asyncio.to_thread(files.look, real) is None:  # before anybody is asked
            raise files.not_found(real)
        await self._gate.reading(named, real)
        return await asyncio.to_thread(files.read_text_file, {**params, "path": str(real)}, self._roots())

    async def write_text_file(self, params: dict[str, Any]) -> dict[str, Any]:
        """Answer ``fs/write_text_file``, while a prompt is under way.

        Raises:
            RequestError: It cannot or may not be written; ``data.reason`` is one of `files.REASONS`.
        """
        # Two writes of one file end in the order in which they came; a question about one holds no other up.
        async with self._writing.setdefault(params["path"], asyncio.Lock()):
            return await self._write(params)

    async def _write(self, params: dict[str, Any]) -> dict[str, Any]:
        named, content = params["path"], params["content"]
        self._check_prompted()
        real = await asyncio.to_thread(files.resolve, named, self._roots())
        await asyncio.to_thread(check_notebook, real, content, list(self._notebooks()))
        done = await self._gate.editing(named, real, content)
        self._check_prompted()  # the turn may be over by now
        if await asyncio.to_thread(files.resolve, named, self._roots()) != real:
            raise files.refusal("changed", f"{named} leads elsewhere than when it was looked at")
        answer = await asyncio.to_thread(files.write_text_file, params, self._roots())
        done()
        return answer
