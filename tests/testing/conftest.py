"""A client small enough to be obviously right: it drives an agent's process with nothing of acp_jupyter."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 20
FULL = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}


class AgentError(Exception):
    """The agent answered with an error."""

    def __init__(self, error: Any) -> None:
        super().__init__(json.dumps(error))
        self.error = error


class Client:
    """Sends requests, answers the agent's by `handlers`; a handler that raises KeyError leaves one open."""

    def __init__(self, command: list[str], cwd: Path, env: dict[str, str] | None = None) -> None:
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": path, "ACP_DEMO_SPEED": "0", **(env or {})},
        )
        self.cwd = cwd
        self.handlers: dict[str, Callable[[dict[str, Any]], Any]] = {}
        self.received: list[dict[str, Any]] = []
        self.junk: list[str] = []
        self.open: list[dict[str, Any]] = []  # requests of the agent that no handler answered
        self.session_id = ""
        self.stderr = ""
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._last_id = 0
        self._responses: dict[int, dict[str, Any]] = {}
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._read, self._drain)]
        for thread in self._threads:
            thread.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _drain(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.stderr += line.decode()

    def send(self, frame: Any) -> None:
        self.send_line(json.dumps(frame).encode())

    def send_line(self, line: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def step(self) -> dict[str, Any] | None:
        """Take one frame of the agent; None at the end of its stdout."""
        line = self._lines.get(timeout=TIMEOUT_S)
        if line is None:
            return None
        try:
            frame = json.loads(line)
        except ValueError:
            self.junk.append(line.decode("utf-8", "replace"))
            return {}
        if not isinstance(frame, dict):
            self.junk.append(line.decode())
            return {}
        self.received.append(frame)
        if "method" not in frame:
            self._responses[frame["id"]] = frame
        elif "id" in frame:
            self._serve(frame)
        return frame

    def _serve(self, frame: dict[str, Any]) -> None:
        try:
            result = self.handlers[frame["method"]](frame["params"])
        except KeyError:
            self.open.append(frame)
        except AgentError as error:
            self.send({"jsonrpc": "2.0", "id": frame["id"], "error": error.error})
        else:
            self.send({"jsonrpc": "2.0", "id": frame["id"], "result": result})

    def answer(self, frame: dict[str, Any], result: Any) -> None:
        self.send({"jsonrpc": "2.0", "id": frame["id"], "result": result})

    def start(self, method: str, params: Any) -> int:
        self._last_id += 1
        self.send({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        return self._last_id

    def wait(self, request_id: int) -> Any:
        while request_id not in self._responses:
            assert self.step() is not None, f"the agent's stdout ended; stderr: {self.stderr}"
        response = self._responses.pop(request_id)
        if "error" in response:
            raise AgentError(response["error"])
        return response["result"]

    def until(self, met: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Read on until a frame meets the condition; an error answer meets none."""
        while True:
            frame = self.step()
            assert frame is not None, f"the agent's stdout ended; stderr: {self.stderr}"
            if "error" in frame:
                raise AgentError(frame["error"])
            if frame and met(frame):
                return frame

    def until_text(self, text: str) -> None:
        self.until(lambda _: self.text() == text)

    def until_request(self, method: str) -> dict[str, Any]:
        return self.until(lambda frame: frame.get("method") == method and "id" in frame)

    def call(self, method: str, params: Any) -> Any:
        return self.wait(self.start(method, params))

    def initialize(self, capabilities: dict[str, Any] = FULL) -> Any:
        params = {
            "protocolVersion": 1,
            "clientCapabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        }
        return self.call("initialize", params)

    def new_session(self, **more: Any) -> str:
        result = self.call("session/new", {"cwd": str(self.cwd), "mcpServers": [], **more})
        self.session_id = result["sessionId"]
        return self.session_id

    def begin(self, capabilities: dict[str, Any] = FULL) -> Client:
        self.initialize(capabilities)
        self.new_session()
        return self

    def start_prompt(self, text: str = "go") -> int:
        prompt = [{"type": "text", "text": text}]
        return self.start("session/prompt", {"sessionId": self.session_id, "prompt": prompt})

    def prompt(self, text: str = "go") -> str:
        return self.wait(self.start_prompt(text))["stopReason"]

    def cancel(self) -> None:
        self.send({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": self.session_id}})

    def updates(self, kind: str | None = None) -> list[dict[str, Any]]:
        found = [each["params"]["update"] for each in self.received if each.get("method") == "session/update"]
        return [each for each in found if kind in (None, each["sessionUpdate"])]

    def text(self, kind: str = "agent_message_chunk") -> str:
        return "".join(each["content"]["text"] for each in self.updates(kind))

    def asked(self, method: str = "session/request_permission") -> list[dict[str, Any]]:
        return [each["params"] for each in self.received if each.get("method") == method]

    def close(self) -> int:
        """Close its stdin, read the rest, return the exit code."""
        if self.process.stdin and not self.process.stdin.closed:
            with contextlib.suppress(BrokenPipeError):  # it is gone already, or closed its end
                self.process.stdin.close()
        return self.finish()

    def finish(self) -> int:
        """Wait for its end."""
        code = self.process.wait(TIMEOUT_S)
        for thread in self._threads:
            thread.join(TIMEOUT_S)
        return code

    def complaints(self) -> list[str]:
        """End it; what it had to say about us."""
        self.close()
        return [line.split(": ", 1)[1] for line in self.stderr.splitlines() if line.startswith("complaint: ")]

    def end(self) -> None:
        self.process.kill()
        self.process.wait(TIMEOUT_S)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(BrokenPipeError):
                if stream:
                    stream.close()


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Callable[..., Client]]:
    """Start a program as an agent in `tmp_path/work`."""
    clients: list[Client] = []
    work = tmp_path / "work"
    work.mkdir()

    def start(command: list[str], env: dict[str, str] | None = None) -> Client:
        clients.append(Client(command, work, env))
        return clients[-1]

    yield start
    for client in clients:
        client.end()


@pytest.fixture
def demo(launch: Callable[..., Client]) -> Client:
    return launch([sys.executable, "-m", "acp_jupyter.testing.demo"])
