"""A model that plays scenes: OpenAI's chat completions on loopback, as far as the agents under test need it.

A prompt names its scene, ``Play the scene: write.``. What the model says next follows from the conversation
that each request carries, so that retries and requests beside the turn (a title, say) cannot upset it.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

MODEL = "scripted"
CONTENT = "made by the agent\n"
COMMAND = "echo first; echo second >&2; exit 3"
ANSWER = "Hello from the scripted model."
DONE = "The scene is over."
_SLOW_WORDS, _SLOW_STEP_S = 2000, 0.05
_PROMPT = re.compile(r"Play the scene: (\w+)")
# What each agent calls its tools, and their arguments' names in the order of `_Call.values`.
_TOOLS = {
    "write": {
        "write": ("filePath", "content"),
        "write_text_file": ("path", "content"),
        "write_file": ("file_path", "content"),
    },
    "shell": {
        "bash": ("command", "description"),
        "execute": ("command",),
        "run_shell_command": ("command", "description"),
    },
}


class _Call(NamedTuple):
    intent: str
    values: tuple[str, ...]


class _Say(NamedTuple):
    text: str
    call: _Call | None = None
    step_s: float = 0.0


class ModelServer:
    """Serves until `close`; ``url`` is what an agent takes as its base URL.

    Args:
        workspace: Where the scene ``write`` makes its file, ``made.txt``.
    """

    def __init__(self, workspace: Path) -> None:
        call = _Call("write", (str(workspace / "made.txt"), CONTENT))
        self._scenes = {
            "text": [_Say(ANSWER)],
            "write": [_Say("I write the file.", call), _Say(DONE)],
            "shell": [_Say("I run the command.", _Call("shell", (COMMAND, "Say two words"))), _Say(DONE)],
            # Different words: fast-agent was seen to take a chunk equal to the last one for the same.
            "slow": [_Say(" ".join(f"word{n}" for n in range(_SLOW_WORDS)), step_s=_SLOW_STEP_S)],
        }
        self.closing = threading.Event()
        self.complaints: list[str] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._http.model = self  # type: ignore[attr-defined]  # what the handler, made by the library, reaches us by
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def close(self) -> None:
        """End, also in the middle of an answer."""
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def reply(self, request: dict[str, Any]) -> tuple[_Say, dict[str, Any] | None]:
        """Return what to say to a request, and the tool call that goes with it."""
        offered: list[dict[str, Any]] = request.get("tools") or []
        tools: set[str] = {tool["function"]["name"] for tool in offered}
        scene, calls_made = _where_we_are(request["messages"])
        if scene is None or not tools:
            return _Say("A title"), None
        steps = self._scenes[scene]
        say = steps[min(calls_made, len(steps) - 1)]
        return say, self._fit(say.call, tools) if say.call else None

    def _fit(self, call: _Call, tools: set[str]) -> dict[str, Any]:
        name = next((name for name in _TOOLS[call.intent] if name in tools), None)
        if name is None:
            raise LookupError(f"no tool for {call.intent} among {sorted(tools)}")
        arguments = dict(zip(_TOOLS[call.intent][name], call.values, strict=False))  # a tool may want fewer
        return {"name": name, "arguments": json.dumps(arguments)}


def _where_we_are(messages: list[dict[str, Any]]) -> tuple[str | None, int]:
    """Find the scene of the last prompt that names one, and how many tool calls were made since."""
    scene, calls_made = None, 0
    for message in messages:
        found = _PROMPT.search(json.dumps(message["content"])) if message["role"] == "user" else None
        if found:
            scene, calls_made = found[1], 0
        calls_made += len(message.get("tool_calls") or [])
    return scene, calls_made


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def model(self) -> ModelServer:
        return self.server.model  # type: ignore[attr-defined]  # set by `ModelServer`

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the library's signature
        """Say nothing: the agents' requests are no test's business."""

    def do_GET(self) -> None:
        self._answer(200, {"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            say, call = self.model.reply(request)
        except LookupError as error:
            self.model.complaints.append(str(error))
            self._answer(400, {"error": {"message": str(error)}})
            return
        try:
            if request.get("stream"):
                self._stream(say, call)
            else:
                self._whole(say, call)
        except ConnectionError:
            self.close_connection = True  # the agent has hung up: its turn was cancelled

    def _stream(self, say: _Say, call: dict[str, Any] | None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for delta in self._deltas(say, call):
            self._event(_chunk({"index": 0, "delta": delta, "finish_reason": None}))
        self._event(_chunk({"index": 0, "delta": {}, "finish_reason": _reason(call)}))
        self._event({**_chunk(), "usage": _USAGE})
        self._event("[DONE]")

    def _deltas(self, say: _Say, call: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
        yield {"role": "assistant", "content": ""}
        for word in re.findall(r"\S+\s*", say.text):
            yield {"content": word}
            if say.step_s and self.model.closing.wait(say.step_s):
                return
        if call:
            yield {"tool_calls": [{"index": 0, "id": _call_id(self), "type": "function", "function": call}]}

    def _whole(self, say: _Say, call: dict[str, Any] | None) -> None:
        message: dict[str, Any] = {"role": "assistant", "content": say.text}
        if call:
            message["tool_calls"] = [{"id": _call_id(self), "type": "function", "function": call}]
        choice = {"index": 0, "message": message, "finish_reason": _reason(call)}
        self._answer(200, {**_chunk(choice), "object": "chat.completion", "usage": _USAGE})

    def _event(self, data: Any) -> None:
        text = data if isinstance(data, str) else json.dumps(data)
        self.wfile.write(f"data: {text}\n\n".encode())
        self.wfile.flush()

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


_USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


def _chunk(*choices: dict[str, Any]) -> dict[str, Any]:
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": MODEL, "choices": choices}


def _reason(call: dict[str, Any] | None) -> str:
    return "tool_calls" if call else "stop"


def _call_id(handler: _Handler) -> str:
    return f"call_{handler.client_address[1]}"
