"""What the tests of the Python API share: tools of scripted agents, without a kernel."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from acp_jupyter.api.tool import AcpTool, create_acp_tool
from acp_jupyter.testing import script_command


class Tools:
    """Makes tools of scripted agents, and runs what is async."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.record = folder / "record.jsonl"
        self.made: list[AcpTool] = []

    def tool(self, script: Any, **more: Any) -> AcpTool:
        command = script_command(script, self.folder / f"script-{len(self.made)}.json")
        args = [*command[1:], "--record", str(self.record)]
        given = {"id": "code-agent", "description": "Edit.", "cwd": str(self.folder), **more}
        tool = create_acp_tool(command=command[0], args=args, **given)
        self.made.append(tool)
        return tool

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        async def all_of_it() -> Any:
            try:
                return await asyncio.wait_for(coroutine, 60)
            finally:
                for tool in self.made:
                    await tool.aclose()

        return asyncio.run(all_of_it())

    def frames(self, direction: str = "c2a") -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.record.read_text().splitlines()]
        return [line["msg"] for line in lines if line["dir"] == direction]

    def outcomes(self) -> list[str]:
        asked = {one["id"] for one in self.frames("a2c") if one.get("method") == "session/request_permission"}
        answers = [one for one in self.frames() if "method" not in one and one.get("id") in asked]
        return [one["result"]["outcome"]["outcome"] for one in answers]


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tools:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Tools(tmp_path)
