from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from acp_jupyter.errors import (
    AgentStartFailed,
    AuthenticationRequired,
    ConnectionClosed,
    RequestFailed,
    UsageError,
    VersionMismatch,
)
from acp_jupyter.wire.v1 import Connection

from .support import MemoryTransport

ALL = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
INFO = {"name": "test", "version": "0"}
PERMISSION = {
    "sessionId": "s1",
    "toolCall": {"toolCallId": "t1"},
    "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}],
}
ON_TERMINAL = {"sessionId": "s1", "terminalId": "x"}
GOOD_PARAMS = {
    "session/request_permission": PERMISSION,
    "fs/read_text_file": {"sessionId": "s1", "path": "/a", "line": 1, "limit": None},
    "fs/write_text_file": {"sessionId": "s1", "path": "/a", "content": ""},
    "terminal/create": {
        "sessionId": "s1",
        "command": "ls",
        "args": ["-l"],
        "env": [{"name": "A", "value": ""}],
    },
    "terminal/output": ON_TERMINAL,
    "terminal/wait_for_exit": ON_TERMINAL,
    "terminal/kill": ON_TERMINAL,
    "terminal/release": ON_TERMINAL,
}


class Recorder:
    """A client that writes down what it is asked, and answers little."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []
        self.outcome: dict[str, Any] = {"outcome": "selected", "optionId": "yes"}

    def session_update(self, session_id: str, update: dict[str, Any]) -> None:
        self.calls.append((session_id, update))

    async def request_permission(self, params: dict[str, Any]) -> dict[str, Any]:
        self.calls.append(("request_permission", params))
        return self.outcome

    async def read_text_file(self, params: dict[str, Any]) -> dict[str, Any]:
        self.calls.append(("read_text_file", params))
        return {"content": ""}

    async def write_text_file(self, params: dict[str, Any]) -> None:
        self.calls.append(("write_text_file", params))

    async def create_elicitation(self, params: dict[str, Any]) -> dict[str, Any]:
        self.calls.append(("create_elicitation", params))
        return {"action": "decline"}

    def complete_elicitation(self, elicitation_id: str) -> None:
        self.calls.append(("complete_elicitation", elicitation_id))

    async def create_terminal(self, params: dict[str, Any]) -> dict[str, Any]:
        self.calls.append(("create_terminal", params))
        return {"terminalId": "x"}

    async def terminal_output(self, params: dict[str, Any]) -> dict[str, Any]:
        self.calls.append(("terminal_output", params))
        return {"output": "", "truncated": False}

    async def wait_for_terminal_exit(self, params: dict[str, Any]) -> dict[str, Any]:
        self.calls.append(("wait_for_terminal_exit", params))
        return {"exitCode": 0, "signal": None}

    async def kill_terminal(self, params: dict[str, Any]) -> None:
        self.calls.append(("kill_terminal", params))

    async def release_terminal(self, params: dict[str, Any]) -> None:
        self.calls.append(("release_terminal", params))


class Rig:
    """A connection whose agent is the test."""

    def __init__(self, capabilities: dict[str, Any], client: Recorder | None = None) -> None:
        self.transport = MemoryTransport()
        self.client = client or Recorder()
        self.connection = Connection(self.transport, self.client, capabilities=capabilities, client_info=INFO)
        self._numbers = iter(range(100, 200))

    async def answered(self, call: Awaitable[Any], **answer: Any) -> tuple[Any, dict[str, Any]]:
        """Answer the request that a call of ours makes; give the call's result and the request."""
        task = asyncio.ensure_future(call)
        request = await self.transport.sent()
        self.transport.give({"jsonrpc": "2.0", "id": request["id"], **answer})
        return await task, request

    async def initialized(self, **result: Any) -> dict[str, Any]:
        answer = {"protocolVersion": 1, **result}
        _, request = await self.answered(self.connection.initialize(5), result=answer)
        return request

    async def ask(self, method: str, params: Any) -> dict[str, Any]:
        """Send a request of the agent's, and give our answer."""
        number = next(self._numbers)
        self.transport.give({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        answer = await self.transport.sent()
        assert answer["id"] == number
        return answer


def run(
    test: Callable[[Rig], Awaitable[None]],
    capabilities: dict[str, Any] | None = None,
    client: Recorder | None = None,
) -> None:
    async def main() -> None:
        rig = Rig(ALL if capabilities is None else capabilities, client)
        try:
            await test(rig)
        finally:
            await rig.connection.close()

    asyncio.run(main())


def test_i1_and_i2_initialize() -> None:
    async def test(rig: Rig) -> None:
        request = await rig.initialized(
            agentInfo={"name": "a"}, agentCapabilities={"loadSession": True}, authMethods=[{"id": "key"}]
        )
        assert request["method"] == "initialize"
        assert request["params"] == {"protocolVersion": 1, "clientCapabilities": ALL, "clientInfo": INFO}
        assert type(request["id"]) is int
        assert rig.connection.agent_info == {"name": "a"}
        assert rig.connection.agent_capabilities == {"loadSession": True}
        assert rig.connection.auth_methods == [{"id": "key"}]

    run(test)


def test_i4_null_capabilities_are_none() -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized(agentInfo=None, agentCapabilities=None, authMethods=None)
        assert rig.connection.agent_info == {}
        assert rig.connection.agent_capabilities == {}
        assert rig.connection.auth_methods == []

    run(test)


@pytest.mark.parametrize("version", [99, 0, "2025-01-01", "1", True, 1.0, None])
def test_i3_and_r27_another_version_closes_the_connection(version: Any) -> None:
    async def test(rig: Rig) -> None:
        with pytest.raises(VersionMismatch, match="speaks version"):
            await rig.initialized(protocolVersion=version)
        with pytest.raises(ConnectionClosed):
            await rig.connection.new_session("/")

    run(test)


def test_a4_new_session_always_sends_mcp_servers() -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized()
        session, request = await rig.answered(rig.connection.new_session("/w"), result={"sessionId": "s1"})
        assert request["params"] == {"cwd": "/w", "mcpServers": []}
        assert session == {"sessionId": "s1"}

    run(test)


def test_s1_and_s3_new_session_sends_what_the_agent_can_take() -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized(
            agentCapabilities={
                "sessionCapabilities": {"additionalDirectories": {}},
                "mcpCapabilities": {"http": True},
            }
        )
        server = {"type": "http", "name": "m", "url": "http://x", "headers": []}
        call = rig.connection.new_session("/w", ["/d"], [server])
        _, request = await rig.answered(call, result={"sessionId": "s1"})
        assert request["params"] == {"cwd": "/w", "mcpServers": [server], "additionalDirectories": ["/d"]}

    run(test)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        pytest.param(("w",), "not an absolute path: 'w'", id="T14-relative-cwd"),
        pytest.param(("/w", ["d"]), "not an absolute path: 'd'", id="T14-relative-directory"),
        pytest.param(("/w", ["/d"]), "sessionCapabilities.additionalDirectories", id="S1-no-capability"),
        pytest.param(("/w", [], [{"type": "sse"}]), "mcpCapabilities.sse", id="S3-no-sse"),
    ],
)
def test_t14_s1_s3_new_session_refuses(arguments: tuple[Any, ...], named: str) -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized(agentCapabilities={"mcpCapabilities": {"sse": False}})
        with pytest.raises(UsageError, match=named):
            await rig.connection.new_session(*arguments)
        assert rig.transport.nothing_more_sent() or (await rig.transport.sent())["method"] == "initialize"

    run(test)


def test_a4_a_session_without_an_id_is_no_session() -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized()
        for answer in ({}, {"sessionId": ""}, {"sessionId": 1}):
            with pytest.raises(AgentStartFailed, match="without a sessionId"):
                await rig.answered(rig.connection.new_session("/w"), result=answer)
        with pytest.raises(RequestFailed, match="no object"):
            await rig.answered(rig.connection.new_session("/w"), result=None)

    run(test)


def test_au5_the_advice_names_the_log_ins() -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized(authMethods=[{"id": "key", "name": "API key"}])
        with pytest.raises(AuthenticationRequired, match=r"key \(API key\)"):
            await rig.answered(rig.connection.new_session("/w"), error={"code": -32000, "message": "log in"})

    run(test)


def test_a2_and_au3_authenticate() -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized(authMethods=[{"id": "key"}, {"id": "tty", "type": "terminal"}])
        _, request = await rig.answered(rig.connection.authenticate("key"), result={})
        assert (request["method"], request["params"]) == ("authenticate", {"methodId": "key"})
        for method_id, words in (("tty", "'tty' runs in a terminal"), ("other", "no log-in 'other'")):
            with pytest.raises(UsageError, match=words):
                await rig.connection.authenticate(method_id)

    run(test)


def test_t6_a10_and_a11_a_turn() -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized()
        blocks = [{"type": "text", "text": "hi"}]

        def on_end(message: dict[str, Any]) -> None:
            rig.client.calls.append(("end", message["result"]))

        turn = asyncio.ensure_future(rig.connection.prompt("s1", blocks, on_end=on_end))
        request = await rig.transport.sent()
        assert request["params"] == {"sessionId": "s1", "prompt": blocks}
        rig.connection.cancel("s1")
        cancel = await rig.transport.sent()
        assert cancel == {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s1"}}
        rig.transport.give(
            update("first"),
            {"jsonrpc": "2.0", "id": request["id"], "result": {"stopReason": "cancelled"}},
            update("late"),
        )
        assert await turn == {"stopReason": "cancelled"}
        await rig.ask("session/nothing", {})
        assert rig.client.calls == [
            ("s1", {"sessionUpdate": "first"}),
            ("end", {"stopReason": "cancelled"}),
            ("s1", {"sessionUpdate": "late"}),
        ]

    run(test)


def update(kind: str) -> dict[str, Any]:
    params = {"sessionId": "s1", "update": {"sessionUpdate": kind}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def test_a10_blocks_that_the_agent_does_not_take_are_not_sent() -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized(agentCapabilities={"promptCapabilities": {"image": True}})
        with pytest.raises(UsageError, match="embeddedContext"):
            await rig.connection.prompt("s1", [{"type": "resource"}], on_end=print)
        image = {"type": "image", "data": "", "mimeType": "image/png"}
        call = rig.connection.prompt("s1", [image], on_end=lambda _: None)
        await rig.answered(call, result={"stopReason": "end_turn"})

    run(test)


def test_c1_malformed_updates_cost_only_themselves() -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized()
        for params in (None, [], {}, {"sessionId": 7, "update": {}}, {"sessionId": "s1", "update": "x"}):
            rig.transport.give({"jsonrpc": "2.0", "method": "session/update", "params": params})
        rig.transport.give(update("kind_of_tomorrow"))
        await rig.ask("session/nothing", {})
        assert rig.client.calls == [("s1", {"sessionUpdate": "kind_of_tomorrow"})]
        assert rig.connection.ignored == 5
        assert {reason for reason, _ in rig.connection.noise} == {"a malformed session/update"}

    run(test)


def test_r35_and_t9_unknown_requests_are_refused_and_notifications_ignored() -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized()
        rig.transport.give({"jsonrpc": "2.0", "method": "_vendor/x", "params": {}})
        for method in ("session/frobnicate", "_vendor/y", "elicitation/create"):
            answer = await rig.ask(method, {})
            assert answer["error"] == {
                "code": -32601,
                "message": "method not found",
                "data": {"method": method},
            }
        assert rig.connection.ignored == 0

    run(test)


@pytest.mark.parametrize(
    ("method", "called", "answer"),
    [
        ("session/request_permission", "request_permission", {"outcome": Recorder().outcome}),
        ("fs/read_text_file", "read_text_file", {"content": ""}),
        ("fs/write_text_file", "write_text_file", {}),
        ("terminal/create", "create_terminal", {"terminalId": "x"}),
        ("terminal/output", "terminal_output", {"output": "", "truncated": False}),
        ("terminal/wait_for_exit", "wait_for_terminal_exit", {"exitCode": 0, "signal": None}),
        ("terminal/kill", "kill_terminal", {}),
        ("terminal/release", "release_terminal", {}),
    ],
)
def test_c2_to_c9_requests_reach_the_client(method: str, called: str, answer: dict[str, Any]) -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized()
        params = {**GOOD_PARAMS[method], "_meta": {"sessionId": "evil", "options": [], "path": "/evil"}}
        assert (await rig.ask(method, params))["result"] == answer
        assert rig.client.calls == [(called, params)]

    run(test)


@pytest.mark.parametrize(
    "method", [method for method in GOOD_PARAMS if method != "session/request_permission"]
)
@pytest.mark.parametrize(
    "capabilities", [{}, {"fs": {"readTextFile": False, "writeTextFile": None}, "terminal": 1}]
)
@pytest.mark.unofficial("none of our capabilities looks like that")
def test_i5_what_is_not_advertised_is_refused(method: str, capabilities: dict[str, Any]) -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized()
        assert (await rig.ask(method, GOOD_PARAMS[method]))["error"]["code"] == -32601
        assert rig.client.calls == []

    run(test, capabilities)


@pytest.mark.parametrize(
    ("method", "wrong"),
    [
        ("session/request_permission", {"options": None}),
        ("session/request_permission", {"options": [{"name": "Yes"}]}),
        ("session/request_permission", {"toolCall": "t1"}),
        ("session/request_permission", {"sessionId": 7}),
        ("fs/read_text_file", {"path": "a"}),
        ("fs/read_text_file", {"line": -1}),
        ("fs/read_text_file", {"limit": True}),
        ("fs/write_text_file", {"content": None}),
        ("terminal/create", {"command": ["ls"]}),
        ("terminal/create", {"args": "-l"}),
        ("terminal/create", {"args": [1]}),
        ("terminal/create", {"env": {"A": "1"}}),
        ("terminal/create", {"cwd": "."}),
        ("terminal/create", {"outputByteLimit": "9"}),
        ("terminal/kill", {"terminalId": 1}),
    ],
)
def test_t10_wrong_shapes_are_refused(method: str, wrong: dict[str, Any]) -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized()
        error = (await rig.ask(method, {**GOOD_PARAMS[method], **wrong}))["error"]
        assert error["code"] == -32602
        assert error["message"].startswith(next(iter(wrong)))
        assert (await rig.ask(method, [1]))["error"]["code"] == -32602
        assert rig.client.calls == []

    run(test)


def test_p8_only_an_offered_option_leaves_us() -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized()
        rig.client.outcome = {"outcome": "selected", "optionId": "not offered"}
        assert (await rig.ask("session/request_permission", PERMISSION))["error"]["code"] == -32603
        rig.client.outcome = {"outcome": "cancelled"}
        answer = await rig.ask("session/request_permission", PERMISSION)
        assert answer["result"] == {"outcome": {"outcome": "cancelled"}}

    run(test)
