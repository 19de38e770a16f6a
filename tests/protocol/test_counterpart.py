"""Every method of the protocol, with an agent by the official SDK; what that lacks, with the fake agent.

`methods` says which method is run with which.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from acp_jupyter.errors import AgentTimeout
from acp_jupyter.model.turn import Compaction, Notice
from acp_jupyter.session.agents import AgentSpec
from acp_jupyter.testing import script_command
from acp_jupyter.wire.process import AgentProcess
from acp_jupyter.wire.v1 import Connection
from tests.session.bench import Bench, begun, finish
from tests.wire.test_v1 import INFO, Recorder

from .methods import (
    BY_THE_FAKE_AGENT,
    BY_THE_SDK,
    UPDATES_BY_THE_FAKE_AGENT,
    UPDATES_BY_THE_SDK,
)
from .official import SCHEMA, definitions
from .test_schema import BLOCKS, CAPABILITIES, EVERYTHING, PLACE

acp = pytest.importorskip("acp", reason="the official Python SDK (agent-client-protocol) is not installed")

AGENT = Path(__file__).with_name("sdk_agent.py")


class Client(Recorder):
    """A client that fills in what it is asked for, whose commands never end."""

    def __init__(self) -> None:
        super().__init__()
        self.updates: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    def session_update(self, session_id: str, update: dict[str, Any]) -> None:
        super().session_update(session_id, update)
        self.updates.put_nowait(update)

    async def said(self, text: str) -> None:
        """Wait until the agent has said something."""
        while (await self.updates.get())["content"]["text"] != text:
            pass

    async def wait_for_terminal_exit(self, _params: dict[str, Any]) -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    async def create_elicitation(self, params: dict[str, Any]) -> dict[str, Any]:
        await super().create_elicitation(params)
        content = {"content": {"name": "Ada", "again": True}} if params["mode"] == "form" else {}
        return {"action": "accept", **content}


@contextlib.asynccontextmanager
async def connected(*command: str, cwd: Path) -> AsyncIterator[tuple[Connection, Client]]:
    """A connection to a real subprocess that offers all that we know."""
    process = await AgentProcess.spawn(command[0], command[1:], cwd=str(cwd))
    client = Client()
    capabilities = {**CAPABILITIES, "elicitation": {"form": {}, "url": {}}}
    connection = Connection(process, client, capabilities=capabilities, client_info=INFO)
    try:
        await connection.initialize(60)
        yield connection, client
    finally:
        await connection.close()
        await process.stop()
    assert "complaint: " not in process.stderr_tail()


# --- with the SDK


def test_a1_to_a16_every_method_that_the_sdk_gives_an_agent(tmp_path: Path) -> None:
    async def main() -> list[Any]:
        async with connected(sys.executable, str(AGENT), cwd=tmp_path) as (connection, client):
            await connection.authenticate("key")
            await connection.new_session(*PLACE)
            assert await connection.load_session("old", *PLACE) != {}
            assert [update["content"]["text"] for _, update in client.calls] == ["Before?", "Yes, before."]
            await connection.resume_session("old", *PLACE)
            assert (await connection.fork_session("old", *PLACE))["sessionId"] == "copy"
            page = await connection.list_sessions(cwd="/")
            last = await connection.list_sessions(cwd="/", cursor=page["nextCursor"])
            ids = [[one["sessionId"] for one in each["sessions"]] for each in (page, last)]
            assert (ids, last.get("nextCursor")) == ([["first"], ["second"]], None)
            await connection.close_session("old")
            await connection.set_mode("new", "code")
            for option, value in (("model", "large"), ("fast", True)):
                options = await connection.set_config_option("new", option, value)
                assert {each["id"]: each["currentValue"] for each in options or []}[option] == value
            ended: list[Any] = []
            await connection.prompt("new", BLOCKS, on_end=ended.append)
            assert ended[0]["result"]["stopReason"] == "end_turn"
            waiting = asyncio.ensure_future(
                connection.prompt("new", [{"type": "text", "text": "wait"}], on_end=ended.append)
            )
            await client.said("waiting")
            connection.cancel("new")
            assert (await waiting)["stopReason"] == "cancelled"
            assert await connection.extension_request("_vendor/x", {"a": 1}) == {"got": {"a": 1}}
            connection.extension_notification("_vendor/y", {"b": 2})
            return (await connection.extension_request("_calls", {}))["calls"]

    calls = asyncio.run(main())
    assert [method for method, _ in calls] == [
        "initialize",
        "authenticate",
        "session/new",
        "session/load",
        "session/resume",
        "session/fork",
        "session/list",
        "session/list",
        "session/close",
        "session/set_mode",
        "session/set_config_option",
        "session/set_config_option",
        "session/prompt",
        "session/prompt",
        "session/cancel",
        "_vendor/x",
        "_vendor/y",
    ]
    took = dict(reversed(calls))  # the first of each
    assert took["initialize"]["client_info"]["name"] == INFO["name"]
    for method in ("session/new", "session/load", "session/resume", "session/fork"):
        cwd, directories, servers = PLACE
        assert (took[method]["cwd"], took[method]["additional_directories"]) == (cwd, directories)
        assert took[method]["mcp_servers"] == servers
    assert took["session/list"] == {"cwd": "/"}
    assert took["session/prompt"]["prompt"] == BLOCKS


def test_c10_c11_e8_elicitation_with_the_sdk(tmp_path: Path) -> None:
    async def main() -> tuple[Any, list[Any]]:
        async with connected(sys.executable, str(AGENT), cwd=tmp_path) as (connection, client):
            answers = await connection.extension_request("_elicit", {"requestId": 1})  # its own id
            return answers, client.calls

    answers, calls = asyncio.run(main())
    filled = {"action": "accept", "content": {"name": "Ada", "again": True}}
    assert answers == {
        "form": filled,
        "url": {"action": "accept"},
        "form of a request": filled,
        "url of a request": {"action": "accept"},
        "late": -32602,
    }
    assert [name for name, _ in calls] == ["create_elicitation"] * 4 + ["complete_elicitation"]
    assert calls[0][1]["requestedSchema"]["required"] == ["name"]
    assert calls[1][1]["toolCallId"] == "c1"
    assert calls[3][1]["requestId"] == 1


@pytest.fixture
def counterpart(bench: Bench) -> Any:
    return bench.of(AgentSpec(name="counterpart", command=sys.executable, args=(str(AGENT),)))


def test_c1_to_c13_every_method_that_the_sdk_asks_of_a_client(counterpart: Any) -> None:
    session = counterpart
    turn = session.run("everything", policy="allow-once-all")
    begin, _, told = turn.text.partition("{")
    answers = json.loads("{" + told)
    assert begin.split() == ["said"]
    assert answers == {
        "session/request_permission": {"outcome": {"outcome": "selected", "optionId": "yes"}},
        "fs/write_text_file": {},
        "fs/read_text_file": {"content": "2\n"},
        "terminal/wait_for_exit": {"exitCode": 0},
        "terminal/output": {"output": "oho", "truncated": True, "exitStatus": {"exitCode": 0}},
        "terminal/release": {},
        "terminal/kill": {},
        "killed": {"signal": "SIGTERM"},
        "_vendor/x": -32601,
        "missing": -32002,
    }
    assert (Path(session.cwd) / "a.txt").read_text() == "1\n2\n3\n"


def test_u1_to_u11_every_update_that_the_sdk_knows(counterpart: Any) -> None:
    session = counterpart
    turn = session.run("everything", policy="allow-once-all")
    assert turn.thoughts == "hm"
    call = turn.tool_calls["c1"]
    assert (call.kind, call.status, call.raw_input) == ("edit", "completed", {"path": "/a"})
    assert [(diff.path, diff.old_text, diff.new_text) for diff in call.content] == [("/a", "x", "y")]
    assert [entry.content for entry in turn.plan] == ["Do it"]
    assert [command["name"] for command in session.commands] == ["web"]
    assert [option["id"] for option in session.options] == ["model", "fast"]
    assert turn.title == "A title"
    assert (turn.usage.used, turn.usage.size, turn.cost) == (10, 100, {"amount": 0.5, "currency": "USD"})


def test_a5_to_a13_a_session_with_the_sdk_lasts(counterpart: Any) -> None:
    session = counterpart
    assert [method["id"] for method in session.auth_methods] == ["key"]
    session.login("key")
    assert [one["sessionId"] for one in session.sessions()] == ["first", "second"]
    assert [turn.text for turn in session.load("old")] == ["Yes, before."]
    session.choose(model="large", options={"fast": True})
    assert {one["id"]: one["currentValue"] for one in session.options} == {"model": "large", "fast": True}
    assert session.fork() == "copy"
    session.resume("old")
    session.choose(mode="Code")
    run = session.start("wait")
    begun(session, run)
    run.cancel()
    assert finish(run).state == "cancelled"
    session.close()
    sent = [f.message["method"] for f in session.frames if f.direction == "out" and "method" in f.message]
    assert sent == [
        "initialize",
        "authenticate",
        "session/list",
        "session/list",
        "session/load",
        "session/set_config_option",
        "session/set_config_option",
        "session/fork",
        "session/resume",
        "session/set_config_option",  # what was chosen, and is not so in that session
        "session/set_mode",
        "session/prompt",
        "session/cancel",
        "session/close",
    ]


# --- with the fake agent


def test_a3_a9_a14_c12_what_the_sdk_lacks_with_the_fake_agent(tmp_path: Path) -> None:
    ask = {"request": "terminal/wait_for_exit", "params": {"terminalId": "t"}, "save": "w", "wait": False}
    script = {
        "initialize": {"agentCapabilities": EVERYTHING},
        "methods": {
            "logout": {"result": {}},
            "session/delete": {"result": {}},
            "session/set_model": {"result": {}},
            "session/list": {"never": True},
        },
        "turns": [[ask, {"withdraw": "w"}, {"await": "w"}, {"text": "${w.error.code}"}]],
    }

    async def main() -> None:
        command = [
            *script_command(script, tmp_path / "script.json"),
            "--record",
            str(tmp_path / "record.jsonl"),
        ]
        async with connected(*command, cwd=tmp_path) as (connection, client):
            await connection.logout()
            await connection.delete_session("old")
            session_id = (await connection.new_session("/"))["sessionId"]
            await connection.set_model(session_id, "large")
            with pytest.raises(AgentTimeout):
                await connection.list_sessions(timeout_s=0.05)  # it is withdrawn
            await connection.prompt(session_id, BLOCKS, on_end=lambda _: None)
            assert client.calls[-1][1]["content"]["text"] == "-32800"
            assert connection.ignored == 0

    asyncio.run(main())
    lines = [json.loads(line) for line in (tmp_path / "record.jsonl").read_text().splitlines()]
    withdrawn = [each["msg"] for each in lines if each["msg"].get("method") == "session/list"]
    answered = [each["msg"] for each in lines if each["dir"] == "a2c" and "error" in each["msg"]]
    assert [each["id"] for each in answered] == [each["id"] for each in withdrawn]
    assert answered[0]["error"]["code"] == -32800


def test_u12_u13_u14_and_tc3_updates_that_the_sdk_lacks(bench: Bench) -> None:
    updates = [
        {"sessionUpdate": "notice", "severity": "warning", "title": "Slow today"},
        {"sessionUpdate": "compaction_update", "compactionId": "k", "status": "in_progress"},
        {
            "sessionUpdate": "compaction_summary_chunk",
            "compactionId": "k",
            "content": {"type": "text", "text": "short"},
        },
        {"sessionUpdate": "compaction_update", "compactionId": "k", "status": "completed"},
        {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Look", "name": "web_look"},
    ]
    assert {update["sessionUpdate"] for update in updates} >= UPDATES_BY_THE_FAKE_AGENT
    turn = bench.session([{"update": update} for update in updates]).run("go")
    notice, compaction, _ = turn.items
    assert notice == Notice("warning", "Slow today")
    assert compaction == Compaction("k", "completed", [{"type": "text", "text": "short"}])
    assert turn.tool_calls["c"].name == "web_look"


# --- which is run with which


def test_the_sdk_offers_these_methods() -> None:
    from acp.agent.router import build_agent_router  # noqa: PLC0415 - only where the SDK is installed
    from acp.client.router import build_client_router  # noqa: PLC0415 - as above

    sides = (build_agent_router(acp.Agent), build_client_router(acp.Client))
    offered = {method for side in sides for method in (*side._requests, *side._notifications)}
    assert offered == BY_THE_SDK


@pytest.mark.skipif(not SCHEMA.exists(), reason="the schema is an npm dev dependency")
def test_every_method_and_update_of_the_protocol_is_run_with_one_of_the_two() -> None:
    methods = {each["x-method"] for each in definitions().values() if "x-method" in each}
    assert methods | {"session/set_model"} == BY_THE_SDK | BY_THE_FAKE_AGENT
    kinds = {each["properties"]["sessionUpdate"]["const"] for each in definitions()["SessionUpdate"]["oneOf"]}
    assert kinds == (UPDATES_BY_THE_SDK | UPDATES_BY_THE_FAKE_AGENT) - {"plan_update", "plan_removed"}
