"""Every message that we send is valid by the official schema.

`tests/conftest.py` checks what every test has us send; here every method is sent once, with all it may carry.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
from collections.abc import Iterator
from typing import Any

import pytest

from acp_jupyter.session import link
from acp_jupyter.session.agents import AgentSpec
from acp_jupyter.wire import calls, peer, v1
from tests.wire.test_calls import FORM
from tests.wire.test_v1 import GOOD_PARAMS, Recorder, Rig, run

from .official import LEGACY, SCHEMA, definitions, faults, names
from .recording import by_peer, recorded

pytestmark = pytest.mark.skipif(
    not SCHEMA.exists(), reason="the schema is an npm dev dependency: run `npm ci` in labextension/"
)

CAPABILITIES = link.capabilities(AgentSpec(name="any", command="any"))
EVERYTHING = {
    "loadSession": True,
    "auth": {"logout": {}},
    "sessionCapabilities": {
        name: {} for name in ("resume", "fork", "list", "close", "delete", "additionalDirectories")
    },
    "mcpCapabilities": {"http": True, "sse": True},
    "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
}
PLACE = (
    "/work",
    ["/more"],
    [
        {"name": "files", "command": "/bin/files", "args": ["-v"], "env": [{"name": "A", "value": "b"}]},
        {"type": "http", "name": "h", "url": "https://x.test/", "headers": [{"name": "A", "value": "b"}]},
        {"type": "sse", "name": "s", "url": "https://x.test/", "headers": []},
    ],
)
NOTES = {"annotations": {"audience": ["user"], "priority": 0.5, "lastModified": "2026-01-01T00:00:00Z"}}
BLOCKS = [
    {"type": "text", "text": "x", **NOTES, "_meta": {"any": 1}},
    {"type": "image", "data": "AA==", "mimeType": "image/png", "uri": "file:///a.png", **NOTES},
    {"type": "audio", "data": "AA==", "mimeType": "audio/wav", **NOTES},
    {"type": "resource", "resource": {"uri": "file:///a", "text": "x", "mimeType": "text/plain"}, **NOTES},
    {"type": "resource", "resource": {"uri": "file:///b", "blob": "AA==", "mimeType": "image/png"}},
    {
        "type": "resource_link",
        "uri": "file:///a",
        "name": "a",
        "title": "A",
        "description": "the a",
        "mimeType": "text/plain",
        "size": 3,
        **NOTES,
    },
]
# method by method: the call, its arguments, the agent's result
OURS: list[tuple[str, str, tuple[Any, ...], dict[str, Any], Any]] = [
    ("authenticate", "authenticate", ("key",), {}, {}),
    ("logout", "logout", (), {}, {}),
    ("session/new", "new_session", PLACE, {}, {"sessionId": "s1"}),
    ("session/load", "load_session", ("s1", *PLACE), {}, None),
    ("session/resume", "resume_session", ("s1", *PLACE), {}, {}),
    ("session/fork", "fork_session", ("s1", *PLACE), {}, {"sessionId": "s2"}),
    ("session/list", "list_sessions", (), {"cwd": "/work", "cursor": "next"}, {"sessions": []}),
    ("session/close", "close_session", ("s2",), {}, {}),
    ("session/delete", "delete_session", ("s2",), {}, {}),
    ("session/set_mode", "set_mode", ("s1", "ask"), {}, {}),
    ("session/set_config_option", "set_config_option", ("s1", "m", "large"), {}, {"configOptions": []}),
    ("session/set_config_option", "set_config_option", ("s1", "fast", True), {}, {"configOptions": []}),
    ("session/set_model", "set_model", ("s1", "large"), {}, {}),
    ("_vendor/x", "extension_request", ("_vendor/x", {"any": 1}), {}, 7),
    ("session/prompt", "prompt", ("s1", BLOCKS), {"on_end": lambda _: None}, {"stopReason": "end_turn"}),
]
NOT_SENT = {"systemPrompt"}  # a draft within the draft of session/fork
HIS = {**GOOD_PARAMS, "elicitation/create": FORM}
ANSWERS = {  # more than one may be right
    "session/request_permission": [{"outcome": "selected", "optionId": "yes"}, {"outcome": "cancelled"}],
    "elicitation/create": [
        {"action": "accept", "content": {"a": "x", "b": 1, "c": 1.5, "d": True, "e": ["x"]}},
        {"action": "accept"},
        {"action": "decline"},
        {"action": "cancel"},
    ],
    "terminal/output": [
        {"output": "x", "truncated": True, "exitStatus": {"exitCode": None, "signal": "SIGKILL"}},
        {"output": "", "truncated": False},
    ],
    "terminal/wait_for_exit": [{"exitCode": 0, "signal": None}, {"exitCode": None, "signal": "SIGTERM"}],
}


class Answering(Recorder):
    """A client that gives one answer after another."""

    def __init__(self, method: str) -> None:
        super().__init__()
        answers = iter(ANSWERS[method])

        async def answer(_params: Any) -> Any:
            return next(answers)

        self.request_permission = self.create_elicitation = answer
        self.terminal_output = self.wait_for_terminal_exit = answer


async def send_every_method(rig: Rig) -> None:
    await rig.initialized(agentCapabilities=EVERYTHING, authMethods=[{"id": "key"}])
    for method, call, args, more, result in OURS:
        calling = getattr(rig.connection, call)(*args, **more)
        _, request = await rig.answered(calling, result=result)
        assert request["method"] == method
    rig.connection.cancel("s1")
    rig.connection.extension_notification("_vendor/y", {"any": 1})
    listing = asyncio.ensure_future(rig.connection.list_sessions())
    for _ in range(3):
        await rig.transport.sent()
    listing.cancel()
    assert (await rig.transport.sent())["method"] == "$/cancel_request"


def test_every_method_of_ours_is_valid_and_carries_all_that_it_may() -> None:
    with recorded() as frames:
        run(send_every_method, CAPABILITIES)
    (messages,) = by_peer(frames)
    assert faults(messages) == []
    sent: dict[str, set[str]] = {}
    for direction, message in messages:
        if direction == "out":
            sent.setdefault(message["method"], set()).update(message["params"])
    agents = {name for name, each in definitions().items() if each.get("x-side") in ("agent", "protocol")}
    official = {method for (method, what), name in names().items() if what == "params" and name in agents}
    assert set(sent) - official == {*LEGACY, "_vendor/x", "_vendor/y"}
    for method in official:
        assert sent[method] == set(_properties(names()[method, "params"])) - {"_meta", *NOT_SENT}, method


def _properties(name: str) -> Iterator[str]:
    definition = definitions()[name]
    yield from definition["properties"]
    for variant in definition.get("anyOf", []):
        yield from variant.get("properties", {})


def test_every_method_that_the_code_names_is_sent_above() -> None:
    def named(module: Any) -> set[str]:
        """The first argument of each request and notification in the source, where it is a word."""
        found: set[str] = set()
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                first = node.args[0] if node.args else None
                if node.func.attr in {"_request", "_notify", "request", "notify"} and isinstance(
                    first, ast.Constant
                ):
                    found.add(first.value)
        return found

    code = named(calls) | named(v1) | {peer._CANCEL}
    above = {method for method, *_ in OURS if not method.startswith("_")}
    assert code == above | {"initialize", "session/cancel", "$/cancel_request"}


@pytest.mark.parametrize("method", HIS)
def test_every_answer_of_ours_is_valid(method: str) -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized()
        for _ in ANSWERS.get(method, [None]):
            assert "result" in await rig.ask(method, HIS[method])
        assert (await rig.ask(method, [1]))["error"]["code"] == -32602

    with recorded() as frames:
        capabilities = {**CAPABILITIES, "elicitation": {"form": {}, "url": {}}}
        run(test, capabilities, client=Answering(method) if method in ANSWERS else None)
    (messages,) = by_peer(frames)
    assert faults(messages) == []
    assert sum(direction == "out" for direction, _ in messages) == 2 + len(ANSWERS.get(method, [None]))


def test_every_method_of_the_agents_is_answered_above() -> None:
    stable = {name for name, each in definitions().items() if each.get("x-side") == "client"}
    requests = {method for (method, what), name in names().items() if what == "result" and name in stable}
    assert requests == set(HIS)


WRONG: dict[str, dict[str, Any]] = {
    "a required field": {"method": "session/new", "params": {"cwd": "/"}},
    "a field of our own": {"method": "session/close", "params": {"sessionId": "s", "why": 1}},
    "a nested field of our own": {
        "method": "session/prompt",
        "params": {"sessionId": "s", "prompt": [{"type": "text", "text": "x", "size": 1}]},
    },
    "a field of another type": {"method": "session/close", "params": {"sessionId": 7}},
    "a relative path": {"method": "session/new", "params": {"cwd": "work", "mcpServers": []}},
    "a relative directory": {
        "method": "session/new",
        "params": {"cwd": "/", "mcpServers": [], "additionalDirectories": ["a"]},
    },
    "a relative command": {
        "method": "session/new",
        "params": {"cwd": "/", "mcpServers": [{"name": "x", "command": "x", "args": [], "env": []}]},
    },
    "a server of no kind": {
        "method": "session/new",
        "params": {"cwd": "/", "mcpServers": [{"type": "tcp", "name": "x", "url": "x", "headers": []}]},
    },
    "a boolean without its type": {
        "method": "session/set_config_option",
        "params": {"sessionId": "s", "configId": "c", "value": True},
    },
    "a draft that we do not speak": {"method": "session/set_title", "params": {"sessionId": "s"}},
    "a fork without its directory": {"method": "session/fork", "params": {"sessionId": "s"}},
    "no params": {"method": "session/new"},
    "no version": {"jsonrpc": "1.0", "method": "session/close", "params": {"sessionId": "s"}},
    "a member of our own": {"method": "session/cancel", "params": {"sessionId": "s"}, "traceparent": "x"},
    "an error without a code": {"error": {"message": "x"}},
    "both result and error": {"result": {}, "error": {"code": 1, "message": "x"}},
    "an answer to nothing": {"id": "other", "result": {}},
    "null for nothing": {"result": None},
    "an answer to another method": {"result": {"content": "x"}},
}


@pytest.mark.parametrize("what", WRONG)
def test_the_check_fails_for(what: str) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "fs/write_text_file", "params": {}}
    wrong = {"jsonrpc": "2.0", "id": 1, **WRONG[what]}
    assert faults([("in", asked), ("out", wrong)])
    assert not faults([("in", asked), ("out", {"jsonrpc": "2.0", "id": 1, "result": {}})])


@pytest.mark.unofficial("that is what it is about")
def test_what_tests_have_us_send_is_seen() -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized()

    with recorded() as frames:
        run(test, {"terminal": "yes"})
    (messages,) = by_peer(frames)
    assert "'yes' is not of type 'boolean'" in faults(messages)[0]
