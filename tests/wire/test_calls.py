"""Every method that we can ask an agent for, by its row of the protocol."""

from __future__ import annotations

from typing import Any

import pytest

from acp_jupyter.errors import AgentStartFailed, RequestFailed, UsageError

from .test_v1 import Rig, run

EVERYTHING = {
    "loadSession": True,
    "auth": {"logout": {}},
    "sessionCapabilities": {
        name: {} for name in ("resume", "fork", "list", "close", "delete", "additionalDirectories")
    },
    "mcpCapabilities": {"http": True},
    "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
}
SERVER = {"name": "files", "command": "/bin/files", "args": [], "env": []}
REMOTE = {"type": "http", "name": "web", "url": "https://x.test/", "headers": []}
PLACE = {"cwd": "/work", "mcpServers": [SERVER, REMOTE], "additionalDirectories": ["/more"]}
WHERE = ("/work", ["/more"], [SERVER, REMOTE])

# the call; the agent's result; what is sent; what comes back
CALLS: dict[str, tuple[str, tuple[Any, ...], Any, dict[str, Any], Any]] = {
    "test_a3_logout": ("logout", (), {}, {}, None),
    "test_a5_load": ("load_session", ("s1", *WHERE), {}, {"sessionId": "s1", **PLACE}, {}),
    "test_a5_load_null": ("load_session", ("s1", *WHERE), None, {"sessionId": "s1", **PLACE}, {}),
    "test_a6_resume": (
        "resume_session",
        ("s1", *WHERE),
        {"modes": None},
        {"sessionId": "s1", **PLACE},
        {"modes": None},
    ),
    "test_a16_fork": (
        "fork_session",
        ("s1", *WHERE),
        {"sessionId": "s2"},
        {"sessionId": "s1", **PLACE},
        {"sessionId": "s2"},
    ),
    "test_a7_close": ("close_session", ("s1",), {}, {"sessionId": "s1"}, None),
    "test_a9_delete": ("delete_session", ("s1",), {}, {"sessionId": "s1"}, None),
    "test_a12_set_mode": ("set_mode", ("s1", "ask"), {}, {"sessionId": "s1", "modeId": "ask"}, None),
    "test_a13_set_option": (
        "set_config_option",
        ("s1", "model", "large"),
        {"configOptions": [{"id": "model"}, "odd"]},
        {"sessionId": "s1", "configId": "model", "value": "large"},
        [{"id": "model"}],
    ),
    "test_o5_a_boolean": (
        "set_config_option",
        ("s1", "fast", True),
        {"configOptions": []},
        {"sessionId": "s1", "configId": "fast", "value": True, "type": "boolean"},
        [],
    ),
    "test_r37_an_answer_without_options": (
        "set_config_option",
        ("s1", "model", "large"),
        {},
        {"sessionId": "s1", "configId": "model", "value": "large"},
        None,
    ),
    "test_legacy_model": ("set_model", ("s1", "large"), {}, {"sessionId": "s1", "modelId": "large"}, None),
    "test_a15_extension": ("extension_request", ("_vendor/x", {"a": 1}), 7, {"a": 1}, 7),
}
METHODS = {
    "load_session": "session/load",
    "resume_session": "session/resume",
    "fork_session": "session/fork",
    "close_session": "session/close",
    "delete_session": "session/delete",
    "set_mode": "session/set_mode",
    "set_config_option": "session/set_config_option",
    "set_model": "session/set_model",
    "extension_request": "_vendor/x",
    "logout": "logout",
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call(name: str) -> None:
    call, args, result, params, returned = CALLS[name]

    async def test(rig: Rig) -> None:
        await rig.initialized(agentCapabilities=EVERYTHING)
        value, request = await rig.answered(getattr(rig.connection, call)(*args), result=result)
        assert (request["method"], request["params"]) == (METHODS[call], params)
        assert value == returned

    run(test)


@pytest.mark.parametrize(
    ("call", "args", "gate"),
    [
        ("logout", (), "auth.logout"),
        ("load_session", ("s1", "/"), "loadSession"),
        ("resume_session", ("s1", "/"), "sessionCapabilities.resume"),
        ("fork_session", ("s1", "/"), "sessionCapabilities.fork"),
        ("list_sessions", (), "sessionCapabilities.list"),
        ("close_session", ("s1",), "sessionCapabilities.close"),
        ("delete_session", ("s1",), "sessionCapabilities.delete"),
        ("new_session", ("/", ["/more"]), "sessionCapabilities.additionalDirectories"),
        ("new_session", ("/", [], [REMOTE]), "mcpCapabilities.http"),
    ],
)
@pytest.mark.parametrize("off", [None, False])
def test_i4_nothing_is_called_that_the_agent_did_not_offer(
    call: str, args: tuple[Any, ...], gate: str, *, off: Any
) -> None:
    async def test(rig: Rig) -> None:
        capabilities: dict[str, Any] = {
            "sessionCapabilities": off,
            "loadSession": off,
            "mcpCapabilities": {"http": off},
        }
        await rig.initialized(agentCapabilities=capabilities)
        with pytest.raises(UsageError, match=r"does not take") as caught:
            await getattr(rig.connection, call)(*args)
        assert gate in caught.value.advice
        assert rig.transport.nothing_more_sent()

    run(test)


@pytest.mark.parametrize("call", ["load_session", "resume_session", "fork_session", "new_session"])
def test_t14_paths_are_absolute(call: str) -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized(agentCapabilities=EVERYTHING)
        for where in (("work",), ("/work", ["more"])):
            args = where if call == "new_session" else ("s1", *where)
            with pytest.raises(UsageError, match="absolute"):
                await getattr(rig.connection, call)(*args)
        with pytest.raises(UsageError, match="absolute"):
            await rig.connection.list_sessions(cwd="work")
        assert rig.transport.nothing_more_sent()

    run(test)


def test_a8_a_list_comes_in_pages_and_the_cursor_goes_back_as_it_came() -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized(agentCapabilities=EVERYTHING)
        sessions = [{"sessionId": "s1", "cwd": "/"}, {"cwd": "/"}, "odd"]
        page, request = await rig.answered(
            rig.connection.list_sessions(cwd="/work"), result={"sessions": sessions, "nextCursor": "é=="}
        )
        assert request["params"] == {"cwd": "/work"}
        assert page == {"sessions": sessions[:1], "nextCursor": "é=="}
        page, request = await rig.answered(
            rig.connection.list_sessions(cursor="é=="), result={"sessions": None}
        )
        assert request["params"] == {"cursor": "é=="}
        assert page["sessions"] == []

    run(test)


def test_a16_a_fork_without_an_id_and_an_answer_that_is_no_object() -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized(agentCapabilities=EVERYTHING)
        with pytest.raises(AgentStartFailed, match="without a sessionId"):
            await rig.answered(rig.connection.fork_session("s1", "/"), result={})
        with pytest.raises(RequestFailed, match="no object"):
            await rig.answered(rig.connection.resume_session("s1", "/"), result=[1])

    run(test)


def test_a15_an_extension_has_an_underscore() -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized()
        with pytest.raises(UsageError, match="no extension"):
            await rig.connection.extension_request("vendor/x", {})
        with pytest.raises(UsageError, match="no extension"):
            rig.connection.extension_notification("vendor/x", {})
        rig.connection.extension_notification("_vendor/x", {"a": 1})
        assert await rig.transport.sent() == {"jsonrpc": "2.0", "method": "_vendor/x", "params": {"a": 1}}

    run(test)


@pytest.mark.parametrize(
    ("block", "fault"),
    [
        ({"type": "chart"}, "of type 'chart'"),
        ({}, "of type None"),
        ({"type": "text"}, "needs text"),
        ({"type": "image", "data": "", "mimeType": 3}, "mimeType"),
        ({"type": "resource_link", "uri": "file:///a"}, "name"),
        ({"type": "resource", "resource": {"uri": "file:///a"}}, "uri, and text or blob"),
        ({"type": "resource", "resource": None}, "uri, and text or blob"),
    ],
)
def test_s4_a_block_is_what_the_protocol_says_or_is_not_sent(block: dict[str, Any], fault: str) -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized(agentCapabilities=EVERYTHING)
        with pytest.raises(UsageError, match=fault):
            await rig.connection.prompt("s1", [block], on_end=print)
        assert rig.transport.nothing_more_sent()

    run(test)


FORM = {
    "mode": "form",
    "message": "Which?",
    "requestedSchema": {"type": "object", "properties": {}},
    "sessionId": "s1",
}
URL = {"mode": "url", "message": "Go", "url": "https://x.test/", "elicitationId": "e1", "sessionId": "s1"}


@pytest.mark.parametrize(
    ("advertised", "params", "served"),
    [
        ({"form": {}}, FORM, True),
        ({"form": {}}, URL, False),
        ({"form": {}, "url": {}}, URL, True),
        ({"form": {}, "url": {}}, {**FORM, "mode": "voice"}, False),
        ({"form": None, "url": {}}, FORM, False),
    ],
)
def test_c10_and_e7_an_elicitation_of_a_mode_that_was_not_offered(
    advertised: dict[str, Any], params: dict[str, Any], *, served: bool
) -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized()
        answer = await rig.ask("elicitation/create", params)
        if served:
            assert answer["result"] == {"action": "decline"}
            assert rig.client.calls == [("create_elicitation", params)]
        else:
            assert answer["error"]["code"] == -32602
            assert rig.client.calls == []

    run(test, {"elicitation": advertised})


def test_c11_an_elicitation_that_is_done() -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized()
        for params in ({"elicitationId": "e1"}, {"elicitationId": 7}, None):
            rig.transport.give({"jsonrpc": "2.0", "method": "elicitation/complete", "params": params})
        await rig.ask("session/nothing", {})
        assert rig.client.calls == [("complete_elicitation", "e1")]

    run(test)
