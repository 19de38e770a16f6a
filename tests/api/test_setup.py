"""What a caller may want otherwise: requests, workspaces, sessions of before, log-ins, models."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_jupyter import errors
from acp_jupyter.api.tool import create_acp_tool
from acp_jupyter.api.workspace import LocalWorkspace, using_workspace
from acp_jupyter.session.agents import AgentSpec
from acp_jupyter.session.link import capabilities

if TYPE_CHECKING:
    from tests.api.conftest import Tools

OURS = capabilities(AgentSpec(name="any", command="any"))


def sent(tools: Tools, method: str) -> list[dict[str, Any]]:
    return [frame["params"] for frame in tools.frames() if frame.get("method") == method]


# --- partial requests


def test_session_is_merged_over_ours_in_either_spelling(tools: Tools) -> None:
    server = {"name": "docs", "command": "/bin/true", "env": {"KEY": "1"}}
    meta = {"some_agent": {"keep_this": 1}}
    for name in ("mcp_servers", "mcpServers"):
        tools.run(tools.tool([], session={name: [server], "_meta": meta})("Go."))
    whole = {"name": "docs", "command": "/bin/true", "args": [], "env": [{"name": "KEY", "value": "1"}]}
    expected = {"cwd": str(tools.folder), "mcpServers": [whole], "_meta": meta}
    assert sent(tools, "session/new") == [expected, expected]


def test_the_sessions_cwd_beats_cwd_and_the_file_roots_follow_it(tools: Tools) -> None:
    inner, outer = tools.folder / "inner", tools.folder / "outer"
    inner.mkdir()
    outer.mkdir()
    (inner / "a.txt").write_text("inner")
    (outer / "a.txt").write_text("outer")
    reads = [{"report": "cwd"}, read(str(inner / "a.txt")), read(str(outer / "a.txt"))]
    tool = tools.tool(reads, cwd=str(outer), session={"cwd": str(inner)})
    result = tools.run(tool("Read."))
    assert result.output == str(outer)
    assert [one.partition(":")[0] for one in told(tools)] == ["inner", "outside_roots"]
    assert sent(tools, "session/new")[0]["cwd"] == result.turn.cwd == str(inner)


def test_initialize_merges_dicts_and_replaces_the_rest(tools: Tools) -> None:
    initialize = {
        "client_capabilities": {"fs": {"write_text_file": False}, "terminal": False},
        "clientInfo": {"name": "supervisor"},
        "_meta": {"a_b": 1},
    }
    tools.run(tools.tool([], initialize=initialize)("Go."))
    told = sent(tools, "initialize")[0]
    assert told["clientCapabilities"] == {
        **OURS,
        "fs": {"readTextFile": True, "writeTextFile": False},
        "terminal": False,
    }
    assert told["clientInfo"]["name"] == "supervisor"
    assert told["clientInfo"]["title"] == "acp_jupyter"
    assert (told["protocolVersion"], told["_meta"]) == (1, {"a_b": 1})


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"initialize": {"clientCapabilities": {"fs": {"watch": True}}}}, "clientCapabilities.fs.watch"),
        ({"initialize": {"client_capabilities": {"terminal": {}}}}, "clientCapabilities.terminal"),
        ({"initialize": {"protocolVersion": 2}}, "version 2"),
        ({"initialize": {"protocolVersion": True}}, "initialize.protocolVersion"),
        ({"initialize": {"clientInfo": {"colour": "red"}}}, "colour"),
        ({"initialize": {"capabilities": {}}}, "initialize.capabilities"),
        ({"session": {"mcpServers": [{"name": "x"}]}}, "neither a command nor a url"),
        ({"session": {"directory": "/"}}, "session.directory"),
        ({"persist_session": "no"}, "persist_session"),
        ({"permission_timeout_s": 0}, "permission_timeout_s"),
        ({"on_permission_request": 7}, "on_permission_request"),
        ({"env": {"A": 1}}, "env.A"),
        ({"args": 7}, "args"),
        ({"workspace": object()}, "workspace"),
        ({"model": 7}, "model"),
    ],
)
def test_what_cannot_be_is_named(given: dict[str, Any], told: str) -> None:
    with pytest.raises(errors.UsageError, match=told):
        create_acp_tool(**{"id": "a", "description": "", "command": "c", **given})


def test_a_key_that_there_is_not_is_an_error() -> None:
    with pytest.raises(TypeError, match="persistent"):
        create_acp_tool(id="a", description="", command="c", persistent=True)  # type: ignore[call-arg]  # what is tested


def test_capabilities_that_are_switched_off_are_not_served(tools: Tools) -> None:
    tool = tools.tool([read("/a")], initialize={"clientCapabilities": {"fs": {"readTextFile": False}}})
    tools.run(tool("Go."))
    assert [one["error"]["code"] for one in tools.frames() if "error" in one] == [-32601]


# --- workspaces


class Memory:
    """Files that are on no disk."""

    def __init__(self, **files: str) -> None:
        self.files = {f"/project/{name}": text for name, text in files.items()}
        self.loops: list[Any] = []

    async def read_text(self, path: str) -> str:
        self.loops.append(asyncio.get_running_loop())
        return self.files[path]

    def write_text(self, path: str, text: str) -> None:
        if path.endswith("locked"):
            raise PermissionError("it is locked")
        self.files[path] = text

    def exists(self, path: str) -> bool:
        return path in self.files


def read(path: str, **more: Any) -> dict[str, Any]:
    return {"request": "fs/read_text_file", "params": {"path": path, **more}, "save": "r"}


def write(path: str) -> dict[str, Any]:
    return {"request": "fs/write_text_file", "params": {"path": path, "content": "new"}, "save": "w"}


def told(tools: Tools) -> list[str]:
    """What the agent got for each request of its own: the text, or why not."""
    asked = [one["id"] for one in tools.frames("a2c") if "method" in one and "id" in one]
    answers = {one["id"]: one for one in tools.frames() if "method" not in one}
    return [_told(answers[one]) for one in asked]


def _told(answer: dict[str, Any]) -> str:
    if "error" in answer:
        return f"{answer['error']['data']['reason']}: {answer['error']['message']}"
    return answer["result"].get("content", "done")


def test_a_given_workspace_is_honoured(tools: Tools) -> None:
    memory = Memory(a="1\n2\n3\n")
    script = [
        read("/project/a", line=2, limit=1),
        read("/project/b"),
        write("/project/b"),
        write("/project/locked"),
    ]
    tool = tools.tool(script, workspace=memory)

    async def call() -> None:
        await tool("Go.")
        assert memory.loops == [asyncio.get_running_loop()]

    tools.run(call())
    assert told(tools) == [
        "2\n",
        "not_found: Resource not found: /project/b",
        "done",
        "workspace: /project/locked: PermissionError: it is locked",
    ]
    assert memory.files == {"/project/a": "1\n2\n3\n", "/project/b": "new"}
    assert sent(tools, "initialize")[0]["clientCapabilities"]["terminal"] is False


def test_the_workspace_of_the_running_context_is_honoured_each_call(tools: Tools) -> None:
    file = tools.folder / "a"
    file.write_text("on the disk")
    one, other = Memory(), Memory()
    one.files[str(file)], other.files[str(file)] = "one", "other"
    tool = tools.tool([read(str(file)), {"text": "${r.content}"}])

    async def within(workspace: Memory) -> str:
        with using_workspace(workspace):
            return (await tool("Go.")).output

    async def calls() -> list[str]:
        return [*await asyncio.gather(within(one), within(other)), (await tool("Go.")).output]

    assert tools.run(calls()) == ["one", "other", "on the disk"]
    # two processes: one without our terminals, one with them
    offered = [one["clientCapabilities"]["terminal"] for one in sent(tools, "initialize")]
    assert sorted(offered) == [False, True]


def test_a_local_workspace_is_confined_and_leaves_terminals(tools: Tools) -> None:
    inside = tools.folder / "inside"
    inside.mkdir()
    (inside / "a").write_text("inside")
    (tools.folder / "b").write_text("outside")
    script = [read(str(inside / "a")), read(str(tools.folder / "b")), read(str(inside / "none"))]
    tools.run(tools.tool(script, workspace=LocalWorkspace(inside))("Go."))
    assert [one.partition(":")[0] for one in told(tools)] == ["inside", "outside_roots", "not_found"]
    assert sent(tools, "initialize")[0]["clientCapabilities"]["terminal"] is True


# --- sessions of before

LASTING = {"initialize": {"agentCapabilities": {"sessionCapabilities": {"resume": {}}}}}


def test_session_id_goes_on_with_a_session(tools: Tools) -> None:
    script = {
        **LASTING,
        "methods": {"session/resume": {"result": {}}},
        "turns": [[{"text": "${session_id}"}]],
    }
    tool = tools.tool(script)

    async def calls() -> Any:
        first = await tool("Go.")
        more = await asyncio.gather(*(tool("On.", session_id=first.session_id) for _ in range(3)))
        return [first, *more]

    results = tools.run(calls())
    assert {result.output for result in results} == {results[0].session_id}
    assert len(sent(tools, "session/new")) == 1
    assert [one["sessionId"] for one in sent(tools, "session/resume")] == [results[0].session_id] * 3


def test_a_session_that_cannot_be_had_again_is_an_error(tools: Tools) -> None:
    with pytest.raises(errors.UsageError, match="cannot go on with a session of before"):
        tools.run(tools.tool([])("On.", session_id="s-1"))
    unknown = {**LASTING, "methods": {"session/resume": {"error": {"code": -32002, "message": "no such"}}}}
    with pytest.raises(errors.RequestFailed, match="no such"):
        tools.run(tools.tool(unknown)("On.", session_id="s-1"))


# --- log-ins and models

METHODS = {"authMethods": [{"id": "key", "name": "A key"}, {"id": "shell", "name": "T", "type": "terminal"}]}


def test_the_log_in_comes_after_initialize_and_before_the_session(tools: Tools) -> None:
    tool = tools.tool({"initialize": METHODS}, auth_method_id="key")

    async def calls() -> None:
        await tool("Go.")
        await tool("Go.")

    tools.run(calls())
    called = [
        frame["method"] for frame in tools.frames() if frame.get("id") is not None and "method" in frame
    ]
    assert called[:4] == ["initialize", "authenticate", "session/new", "session/prompt"]
    assert called.count("authenticate") == 1


def test_a_log_in_that_is_not_offered_lists_those_that_are(tools: Tools) -> None:
    with pytest.raises(errors.UsageError, match=r"(?s)no log-in 'other'.*key \(A key\)"):
        tools.run(tools.tool({"initialize": METHODS}, auth_method_id="other")("Go."))
    with pytest.raises(errors.UsageError, match="runs in a terminal"):
        tools.run(tools.tool({"initialize": METHODS}, auth_method_id="shell")("Go."))
    assert sent(tools, "authenticate") == []
    assert sent(tools, "session/new") == []


def test_authentication_required_is_its_own_error(tools: Tools) -> None:
    wants = {"initialize": METHODS, "new_session": {"error": {"code": -32000, "message": "log in"}}}
    with pytest.raises(errors.AuthenticationRequired):
        tools.run(tools.tool(wants)("Go."))


def an_option(value: str = "small") -> dict[str, Any]:
    return {
        "id": "llm",
        "name": "Model",
        "category": "model",
        "type": "select",
        "currentValue": value,
        "options": [{"value": "small", "name": "Small"}, {"value": "big", "name": "Big"}],
    }


def test_model_sets_the_option_of_that_category(tools: Tools) -> None:
    script = {
        "new_session": {"configOptions": [an_option()]},
        "methods": {"session/set_config_option": {"result": {"configOptions": [an_option("big")]}}},
    }
    tools.run(tools.tool(script, model="Big")("Go."))
    assert [(one["configId"], one["value"]) for one in sent(tools, "session/set_config_option")] == [
        ("llm", "big")
    ]


@pytest.mark.unofficial("session/set_model left the protocol, agents still have it")
def test_model_uses_the_legacy_call_where_only_that_is_listed(tools: Tools) -> None:
    models = {"currentModelId": "a", "availableModels": [{"modelId": "a", "name": "A"}, {"modelId": "b"}]}
    script = {"new_session": {"models": models}, "methods": {"session/set_model": {"result": {}}}}
    tools.run(tools.tool(script, model="b")("Go."))
    assert [one["modelId"] for one in sent(tools, "session/set_model")] == ["b"]
    with pytest.raises(errors.UsageError, match=r"(?s)no model 'c'.*a \(A\), b"):
        tools.run(tools.tool(script, model="c")("Go."))


def test_an_unknown_model_lists_the_known_and_a_refusal_is_an_error(tools: Tools) -> None:
    script = {
        "new_session": {"configOptions": [an_option()]},
        "methods": {"session/set_config_option": {"error": {"code": -32602, "message": "not today"}}},
    }
    with pytest.raises(errors.UsageError, match=r"(?s)no model 'huge'.*small \(Small\), big \(Big\)"):
        tools.run(tools.tool(script, model="huge")("Go."))
    with pytest.raises(errors.RequestFailed, match="not today"):
        tools.run(tools.tool(script, model="big")("Go."))
    assert sent(tools, "session/prompt") == []


def test_cwd_is_by_default_the_current_directory_at_the_time_of_the_call(
    tools: Tools, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tool = tools.tool([], cwd=None)
    later = tmp_path / "later"
    later.mkdir()
    monkeypatch.chdir(later)
    tools.run(tool("Go."))
    assert sent(tools, "session/new")[0]["cwd"] == str(later)
