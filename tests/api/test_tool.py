"""A coding agent as a tool, without a kernel."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from acp_jupyter import errors
from acp_jupyter.api import execution
from acp_jupyter.api.decisions import first_option
from acp_jupyter.api.errors import NotSuspended, PermissionCallbackFailed, PermissionSuspended
from acp_jupyter.api.tool import create_acp_tool
from acp_jupyter.testing import script_command
from tests.session.bench import OPTIONS, ask, descriptors, gone, soon

if TYPE_CHECKING:
    from tests.api.conftest import Tools

ASKS = [ask({"kind": "edit"}), {"text": "${answer.outcome.outcome}"}]


def test_output_is_the_answer_without_thoughts(tools: Tools) -> None:
    tool = tools.tool([{"thought": "hm"}, {"text": "It is "}, {"text": "the path."}])
    result = tools.run(tool("Why does the import fail?"))
    assert (result.output, result.stop_reason) == ("It is the path.", "end_turn")
    assert result.session_id == result.turn.session_id is not None


@pytest.mark.parametrize("reason", ["max_tokens", "max_turn_requests", "refusal", "cancelled"])
def test_a_stop_reason_other_than_end_turn_neither_crashes_nor_hangs(tools: Tools, reason: str) -> None:
    tool = tools.tool([{"text": "part"}, {"end": {"stopReason": reason}}])
    result = tools.run(tool("Go."))
    assert (result.output, result.stop_reason) == ("part", reason)


def test_fifty_calls_with_a_process_each_leave_nothing(tools: Tools) -> None:
    tool = tools.tool([{"report": "pid"}, {"text": " ${session_id}"}], persist_session=False)

    async def calls() -> list[Any]:
        await tool("Warm up: the loop and the watcher stay.")
        before = descriptors()
        results = await asyncio.gather(*(tool("Go.") for _ in range(50)))
        assert descriptors() == before
        return results

    results = tools.run(calls())
    pids = {int(result.output.split()[0]) for result in results}
    assert len(pids) == 50
    assert all(result.output.split()[1] == result.session_id for result in results)
    assert all(gone(pid) for pid in pids)


def test_twenty_calls_share_one_process_in_sessions_of_their_own(tools: Tools) -> None:
    tool = tools.tool([{"report": "pid"}, {"text": " ${session_id}"}])

    async def calls() -> list[Any]:
        return await asyncio.gather(*(tool("Go.") for _ in range(20)))

    results = tools.run(calls())
    said = [result.output.split() for result in results]
    assert len({pid for pid, _ in said}) == 1
    assert len({session for _, session in said}) == 20
    assert [session for _, session in said] == [result.session_id for result in results]
    assert gone(int(said[0][0]))


def test_a_dead_agent_is_not_used_again(tools: Tools) -> None:
    marker = tools.folder / "died"
    script = {"turns": [[{"report": "pid"}, {"until_file": str(marker)}, {"exit": 3}]]}
    tool = tools.tool(script)

    async def calls() -> list[Any]:
        marker.touch()
        with pytest.raises(errors.AgentExited):
            await tool("Die.")
        with pytest.raises(errors.AgentExited):
            await tool("Die again.")
        return [frame for frame in tools.frames() if frame.get("method") == "initialize"]

    assert len(tools.run(calls())) == 2


def test_suspend_and_resume_go_on_with_the_same_turn(tools: Tools) -> None:
    tool = tools.tool([*ASKS, *ASKS, {"text": "done"}])

    async def calls() -> Any:
        with pytest.raises(PermissionSuspended) as first:
            await tool("Edit.")
        shown = first.value.payload.model_dump(mode="json", by_alias=True)
        assert shown["permissionRequest"] == {
            "title": "harmless",
            "options": [{"optionId": one["optionId"], "name": one["name"]} for one in OPTIONS],
        }
        assert shown["request"]["toolCall"]["kind"] == "edit"
        assert [one["kind"] for one in shown["request"]["options"]] == [one["kind"] for one in OPTIONS]
        with pytest.raises(PermissionSuspended) as second:
            await asyncio.create_task(tool.resume(first.value.run_id, option_id="yes"))
        with pytest.raises(NotSuspended):
            await tool.resume(first.value.run_id, option_id="yes")
        return await tool.resume(second.value.run_id, outcome="cancelled")

    result = tools.run(calls())
    assert tools.outcomes() == ["selected", "cancelled"]
    assert result.output.endswith("done")
    assert len([one for one in tools.frames() if one.get("method") == "session/prompt"]) == 1


def test_resume_from_another_loop(tools: Tools) -> None:
    tool = tools.tool(ASKS)
    with pytest.raises(PermissionSuspended) as held:
        asyncio.run(tool("Edit."))
    result = tools.run(tool.resume(held.value.run_id, option_id="no"))
    assert result.output == "selected"


def test_a_wrong_decision_leaves_the_call_waiting(tools: Tools) -> None:
    tool = tools.tool(ASKS)

    async def calls() -> Any:
        with pytest.raises(PermissionSuspended) as held:
            await tool("Edit.")
        for wrong in ({"option_id": "maybe"}, {}, {"outcome": "allowed", "option_id": "yes"}):
            with pytest.raises(errors.UsageError):
                await tool.resume(held.value.run_id, **wrong)
        return await tool.resume(held.value.run_id, option_id="yes")

    assert tools.run(calls()).output == "selected"


def test_a_resume_after_expiry_is_an_error_and_the_turn_is_cancelled(tools: Tools) -> None:
    tool = tools.tool(ASKS, persist_session=False, permission_timeout_s=0.05)

    async def calls() -> None:
        with pytest.raises(PermissionSuspended) as held:
            await tool("Edit.")
        await asyncio.to_thread(soon, lambda: tools.outcomes() == ["cancelled"])
        with pytest.raises(NotSuspended):
            await tool.resume(held.value.run_id, option_id="yes")

    tools.run(calls())
    assert "session/cancel" in [one.get("method") for one in tools.frames()]


def test_no_option_at_all_is_cancelled(tools: Tools) -> None:
    tool = tools.tool(
        [ask({}, []), {"text": "${answer.outcome.outcome}"}], on_permission_request=first_option
    )
    assert tools.run(tool("Edit.")).output == "cancelled"


def test_an_async_callback_runs_on_the_callers_loop(tools: Tools) -> None:
    loops: list[Any] = []

    async def by_kind(request: Any) -> dict[str, Any]:
        loops.append(asyncio.get_running_loop())
        allowed = next(one for one in request.options if one["kind"] == "allow_once")
        return {"outcome": {"outcome": "selected", "optionId": allowed["optionId"]}}

    tool = tools.tool([ask({}), {"text": "${answer.outcome.optionId}"}], on_permission_request=by_kind)

    async def call() -> Any:
        result = await tool("Edit.")
        assert loops == [asyncio.get_running_loop()]
        return result

    assert tools.run(call()).output == "yes"


def _raises(_request: Any) -> Any:
    raise ValueError("no such policy")


async def _hangs(_request: Any) -> Any:
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("callback", "told"),
    [
        (_raises, "ValueError: no such policy"),
        (_hangs, "no answer within"),
        (lambda _request: {"outcome": "selected", "optionId": "maybe"}, "did not offer 'maybe'"),
        (lambda _request: {"outcome": "selected"}, "optionId is missing"),
        (lambda _request: None, "not a decision"),
    ],
)
def test_a_callback_that_fails_approves_nothing(tools: Tools, callback: Any, told: str) -> None:
    tool = tools.tool(ASKS, on_permission_request=callback, permission_timeout_s=0.2)
    with pytest.raises(PermissionCallbackFailed, match=told):
        tools.run(tool("Edit."))
    assert tools.outcomes() == ["cancelled"]


def test_cancelling_the_task_cancels_the_turn_on_the_wire(tools: Tools) -> None:
    begun = tools.folder / "begun"
    script = [{"spawn": ["touch", str(begun)]}, {"text": "working"}, {"until_cancel": True}]
    tool = tools.tool(script)

    async def calls() -> None:
        task = asyncio.create_task(tool("Go."))
        await asyncio.to_thread(soon, begun.exists)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    tools.run(calls())
    assert "session/cancel" in [one.get("method") for one in tools.frames()]


@pytest.mark.parametrize("persist", [True, False])
def test_abort_while_the_agent_ignores_it(
    tools: Tools,
    monkeypatch: pytest.MonkeyPatch,
    persist: bool,  # noqa: FBT001  # a parameter of the test
) -> None:
    monkeypatch.setattr(execution, "CANCEL_S", 0.2)
    begun = tools.folder / "begun"
    deaf = [{"ignore_cancel": True}, {"spawn": ["touch", str(begun)]}, {"until_file": "/never/there"}]
    tool = tools.tool({"turns": [deaf]}, persist_session=persist)

    async def calls() -> None:
        task = asyncio.create_task(tool("Go."))
        await asyncio.to_thread(soon, begun.exists)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    tools.run(calls())
    assert "session/cancel" in [one.get("method") for one in tools.frames()]


def test_a_deaf_agent_is_used_for_no_other_call_and_ended_with_the_last_one_on_it(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "CANCEL_S", 0.2)
    begun, go = tools.folder / "begun", tools.folder / "go"
    wait = {"if": {"prompt.0.text": "deaf"}, "then": [{"spawn": ["touch", str(begun)]}, {"sleep_s": 60}]}
    other = {"until_file": str(go)}
    tool = tools.tool([{"ignore_cancel": True}, {"report": "pid"}, {**wait, "else": [other]}])

    async def calls() -> tuple[Any, Any]:
        deaf = asyncio.create_task(tool("deaf"))
        beside = asyncio.create_task(tool("beside"))
        await asyncio.to_thread(soon, begun.exists)
        deaf.cancel()
        with pytest.raises(asyncio.CancelledError):
            await deaf
        go.touch()  # the call beside it goes on to its own end
        ended = await beside
        assert await asyncio.to_thread(gone, int(ended.output))
        return ended, await tool("next")

    beside, after = tools.run(calls())
    assert beside.stop_reason == after.stop_reason == "end_turn"
    assert beside.output != after.output


def test_tool_arguments_that_came_before_the_request_are_in_the_payload(tools: Tools) -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Run", "kind": "execute"}
    later = {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "rawInput": {"command": "rm -r build"}}
    script = [{"update": call}, {"update": later}, ask({"toolCallId": "c1", "title": "Run"})]
    tool = tools.tool(script)

    async def calls() -> Any:
        with pytest.raises(PermissionSuspended) as held:
            await tool("Clean.")
        return held.value.payload.request["toolCall"]

    told = tools.run(calls())
    assert (told["kind"], told["rawInput"]) == ("execute", {"command": "rm -r build"})
    assert tools.outcomes() == ["cancelled"]  # closed while it waited


LEFT = """
import asyncio, sys
from acp_jupyter.api.errors import PermissionSuspended
from acp_jupyter.api.tool import create_acp_tool
tool = create_acp_tool(id="a", description="", command=sys.argv[1], args=sys.argv[2:])
try:
    print(asyncio.run(tool("Go.")).output)
except PermissionSuspended as held:
    print(held.payload.permission_request.title)
"""


def test_the_interpreters_end_ends_the_process_also_while_a_call_is_held(tools: Tools) -> None:
    pid = tools.folder / "pid"
    tell = f"echo $PPID > {pid}.part && mv {pid}.part {pid}"
    told = [{"spawn": ["sh", "-c", tell]}, {"until_file": str(pid)}]
    for steps, word in ([{"text": "over"}], "over"), ([ask({"title": "held"})], "held"):
        command = script_command([*told, *steps], tools.folder / "left.json")
        done = subprocess.run(
            [sys.executable, "-c", LEFT, *command], capture_output=True, text=True, timeout=60, check=False
        )
        assert (done.returncode, done.stderr, done.stdout.strip()) == (0, "", word)
        assert gone(int(pid.read_text()))
        pid.unlink()


def test_wrong_input_names_the_field(tools: Tools) -> None:
    with pytest.raises(errors.UsageError, match="command"):
        create_acp_tool(id="a", description="", command="")
    with pytest.raises(errors.UsageError, match="task"):
        tools.run(tools.tool([])(7))  # type: ignore[arg-type]  # what is tested
    missing = create_acp_tool(id="a", description="", command="no-such-agent-anywhere")
    with pytest.raises(errors.AgentNotFound):
        asyncio.run(missing("Go."))


def test_importing_the_package_imports_nothing_of_the_api() -> None:
    code = "import sys, acp_jupyter; print({'IPython', 'ipywidgets', 'pydantic'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
