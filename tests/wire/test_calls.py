"""Every method that we can ask an agent for, by its row of the protocol."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_jupyter.errors import AgentStartFailed, AgentTimeout, RequestFailed, UsageError

from .test_v1 import ALL, GOOD_PARAMS, Recorder, Rig, run

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
        assert gate in caught.value.message
        assert rig.transport.nothing_more_sent()

    run(test)


@pytest.mark.parametrize(
    ("offers", "advice"),
    [
        ({"sessionCapabilities": {"resume": {}}}, "%acp resume goes on with the one"),
        ({"loadSession": True}, "%acp load goes on with the one"),
        ({}, "each of its sessions is new"),
    ],
)
def test_a8_without_a_list_there_is_a_way_on(offers: dict[str, Any], advice: str) -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized(agentCapabilities=offers)
        with pytest.raises(UsageError) as caught:
            await rig.connection.list_sessions()
        assert advice in caught.value.advice

    run(test)


def test_i4_a_server_that_the_agent_cannot_reach_is_named_with_what_to_do() -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized(agentCapabilities={"mcpCapabilities": {"http": True}})
        web = {"type": "sse", "name": "web2", "url": "http://localhost:1/", "headers": []}
        with pytest.raises(UsageError, match="MCP servers over sse") as caught:
            await rig.connection.new_session("/", [], [web])
        assert caught.value.advice == "Go on without: %acp mcp remove web2"

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
            rig.connection.list_sessions(cursor="é=="), result={"sessions": None, "nextCursor": 7}
        )
        assert request["params"] == {"cursor": "é=="}
        assert page == {"sessions": []}

    run(test)


def test_a16_a_fork_without_an_id_and_an_answer_that_is_no_object() -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized(agentCapabilities=EVERYTHING)
        for answer in ({}, {"sessionId": ""}, {"sessionId": 1}):
            with pytest.raises(AgentStartFailed, match="without a sessionId"):
                await rig.answered(rig.connection.fork_session("s1", "/"), result=answer)
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
        (
            {"type": "resource", "resource": {"uri": "a:b", "text": "", "mimeType": 1}},
            "mimeType of a resource",
        ),
        ({"type": ["text"], "text": "x"}, "of type"),
        ({"type": "text", "text": "x", "annotations": []}, "annotations"),
        ({"type": "resource_link", "uri": "a:b", "name": "a", "size": True}, "size"),
        ({"type": "resource_link", "uri": "a:b", "name": "a", "title": 1}, "title"),
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
        assert rig.connection.ignored == 2

    run(test)


def test_e8_an_elicitation_belongs_to_a_session_or_to_an_open_request_of_ours() -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized(authMethods=[{"id": "key"}])
        form = {key: value for key, value in FORM.items() if key != "sessionId"}
        login = asyncio.ensure_future(rig.connection.authenticate("key"))
        request_id = (await rig.transport.sent())["id"]
        assert rig.connection.open_requests == {request_id: "authenticate"}
        for good in (request_id, str(request_id)):
            assert "result" in await rig.ask("elicitation/create", {**form, "requestId": good})
        for bad in (request_id + 1, "odd", None, True, [request_id]):
            answer = await rig.ask("elicitation/create", {**form, "requestId": bad})
            assert answer["error"]["code"] == -32602
        rig.transport.give({"jsonrpc": "2.0", "id": request_id, "result": {}})
        await login
        assert rig.connection.open_requests == {}
        answer = await rig.ask("elicitation/create", {**form, "requestId": request_id})
        assert answer["error"]["code"] == -32602

    run(test, {"elicitation": {"form": {}}})


@pytest.mark.parametrize("kind", ["env_var", "carrier_pigeon", 7])
def test_au1_a_log_in_of_an_unknown_kind_is_not_called(kind: Any) -> None:
    more = {"vars": [{"name": "FAKE_KEY"}, "odd"]} if kind == "env_var" else {}

    async def test(rig: Rig) -> None:
        odd = {"id": "odd", "type": kind, **more}
        await rig.initialized(authMethods=[odd, {"id": "own", "type": "agent"}])
        with pytest.raises(UsageError, match="a kind that we do not know") as caught:
            await rig.connection.authenticate("odd")
        assert ("It is by FAKE_KEY: set" if more else "%acp login --done") in caught.value.advice
        assert rig.transport.nothing_more_sent()
        await rig.answered(rig.connection.authenticate("own"), result={})

    run(test)


OURS: dict[str, tuple[Any, ...]] = {
    "authenticate": ("key",),
    "new_session": ("/work",),
    "list_sessions": (),
    **{name: CALLS[test][1] for test in CALLS for name in METHODS if CALLS[test][0] == name},
}


@pytest.mark.parametrize("call", OURS)
@pytest.mark.parametrize("given_up", ["cancelled", "late"])
def test_a14_every_request_of_ours_can_be_withdrawn(call: str, given_up: str) -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized(agentCapabilities=EVERYTHING, authMethods=[{"id": "key"}])
        limit = None if given_up == "cancelled" else 0.01
        asking = asyncio.ensure_future(getattr(rig.connection, call)(*OURS[call], timeout_s=limit))
        request = await rig.transport.sent()
        if given_up == "cancelled":
            asking.cancel()
            await asyncio.wait([asking])
        else:
            with pytest.raises(AgentTimeout, match=request["method"]):
                await asking
        withdrawal = {"method": "$/cancel_request", "params": {"requestId": request["id"]}}
        assert await rig.transport.sent() == {"jsonrpc": "2.0", **withdrawal}
        assert rig.connection.open_requests == {}

    run(test)


HIS = {**GOOD_PARAMS, "elicitation/create": FORM}


class Patient(Recorder):
    """A client that never answers by itself."""

    async def _wait(self, _params: Any) -> Any:
        await asyncio.Event().wait()

    request_permission = read_text_file = write_text_file = create_elicitation = _wait
    create_terminal = terminal_output = wait_for_terminal_exit = kill_terminal = release_terminal = _wait


@pytest.mark.parametrize("method", HIS)
def test_c12_every_request_of_the_agents_can_be_withdrawn(method: str) -> None:
    async def test(rig: Rig) -> None:
        await rig.initialized()
        withdrawal = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": "p1"}}
        request = {"jsonrpc": "2.0", "id": "p1", "method": method, "params": HIS[method]}
        rig.transport.give(request, withdrawal)
        answer = await rig.transport.sent()
        assert (answer["id"], answer["error"]["code"]) == ("p1", -32800)
        assert (await rig.ask("session/nothing", {}))["error"]["code"] == -32601

    run(test, {**ALL, "elicitation": {"form": {}}}, client=Patient())
