from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

acp = pytest.importorskip("acp", reason="the official Python SDK (agent-client-protocol) is not installed")


class Client(acp.Client):
    """The SDK's client; its signatures change between its patch releases, hence the keywords."""

    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.asked: list[list[str]] = []
        self.terminals: dict[str, asyncio.subprocess.Process] = {}

    async def session_update(self, update: Any, **_: Any) -> None:
        self.kinds.append(update.session_update)

    async def request_permission(self, **request: Any) -> Any:
        self.asked.append([option.kind for option in request["options"]])
        outcome = {"outcome": "selected", "optionId": request["options"][0].option_id}
        return acp.RequestPermissionResponse.model_validate({"outcome": outcome})

    async def read_text_file(self, path: str, **_: Any) -> Any:
        return acp.ReadTextFileResponse(content=Path(path).read_text())  # noqa: ASYNC240 - a small local file

    async def write_text_file(self, path: str, content: str, **_: Any) -> Any:
        Path(path).write_text(content)  # noqa: ASYNC240 - a small local file
        return acp.WriteTextFileResponse()

    async def create_terminal(self, command: str, args: list[str], cwd: str, **_: Any) -> Any:
        self.terminals["t1"] = await asyncio.create_subprocess_exec(
            command, *args, cwd=cwd, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        return acp.CreateTerminalResponse(terminal_id="t1")

    async def wait_for_terminal_exit(self, terminal_id: str, **_: Any) -> Any:
        return acp.WaitForTerminalExitResponse(exit_code=await self.terminals[terminal_id].wait())

    async def terminal_output(self, terminal_id: str, **_: Any) -> Any:
        stdout = self.terminals[terminal_id].stdout
        assert stdout
        return acp.TerminalOutputResponse(output=(await stdout.read()).decode(), truncated=False)

    async def release_terminal(self, **_: Any) -> Any:
        return acp.ReleaseTerminalResponse()

    async def kill_terminal(self, **_: Any) -> Any:
        return acp.KillTerminalResponse()


def test_the_demo_with_the_official_python_client(tmp_path: Path) -> None:
    client = Client()

    async def scene() -> Any:
        root = str(Path(__file__).parents[2])
        env = {**os.environ, "PYTHONPATH": root, "ACP_DEMO_SPEED": "0"}
        command = (sys.executable, "-m", "acp_jupyter.testing.demo")
        async with acp.spawn_agent_process(client, *command, env=env, cwd=tmp_path) as (agent, _):
            files = acp.schema.FileSystemCapabilities(read_text_file=True, write_text_file=True)
            capabilities = acp.schema.ClientCapabilities(fs=files, terminal=True)
            started = await agent.initialize(protocol_version=1, client_capabilities=capabilities)
            assert started.agent_info.name == "demo"
            session = await agent.new_session(cwd=str(tmp_path), mcp_servers=[])
            return await agent.prompt(
                session_id=session.session_id, prompt=[acp.text_block("Make the failing test pass.")]
            )

    answer = asyncio.run(asyncio.wait_for(scene(), 60))
    assert answer.stop_reason == "end_turn"
    assert client.asked == [["allow_once", "allow_always", "reject_once"]] * 2
    assert {"agent_message_chunk", "plan", "tool_call", "tool_call_update", "usage_update"} <= set(
        client.kinds
    )
    assert "middle - 1" in (tmp_path / "acp-demo" / "stats.py").read_text()
    shutil.rmtree(tmp_path / "acp-demo")
