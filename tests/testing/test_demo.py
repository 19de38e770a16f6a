from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ALLOW_ONCE = {"outcome": {"outcome": "selected", "optionId": "allow-once"}}
REJECT = {"outcome": {"outcome": "selected", "optionId": "reject"}}
CANCELLED = {"outcome": {"outcome": "cancelled"}}
PERMISSION = "session/request_permission"


class Host:
    """A client's files and terminals, plain; it answers permission requests by `decide`."""

    def __init__(self, client: Any, decide: Callable[[dict[str, Any]], Any] = lambda _: ALLOW_ONCE) -> None:
        self.client = client
        self.terminals: dict[str, subprocess.Popen[str]] = {}
        self.created: list[dict[str, Any]] = []
        self.released: list[str] = []
        self.written: list[str] = []
        client.handlers |= {
            PERMISSION: decide,
            "fs/read_text_file": lambda params: {"content": Path(params["path"]).read_text()},
            "fs/write_text_file": self.write,
            "terminal/create": self.create,
            "terminal/wait_for_exit": lambda params: {
                "exitCode": self.terminals[params["terminalId"]].wait(60)
            },
            "terminal/output": self.output,
            "terminal/release": self.release,
        }

    def write(self, params: dict[str, Any]) -> Any:
        self.written.append(params["path"])
        Path(params["path"]).write_text(params["content"])
        return {}

    def create(self, params: dict[str, Any]) -> Any:
        self.created.append(params)
        terminal_id = f"terminal-{len(self.created)}"
        self.terminals[terminal_id] = subprocess.Popen(
            [params["command"], *params["args"]],
            cwd=params["cwd"],
            env={**os.environ, **{each["name"]: each["value"] for each in params["env"]}},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return {"terminalId": terminal_id}

    def output(self, params: dict[str, Any]) -> Any:
        stdout = self.terminals[params["terminalId"]].stdout
        assert stdout
        with stdout:
            return {"output": stdout.read(), "truncated": False}

    def release(self, params: dict[str, Any]) -> dict[str, Any]:
        self.released.append(params["terminalId"])
        return {}


def option(option_id: str) -> Any:
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


def repaired(client: Any) -> bool:
    command = [sys.executable, "-B", "-m", "unittest"]
    run = subprocess.run(command, cwd=client.cwd / "acp-demo", capture_output=True, check=False)
    return run.returncode == 0


def call(client: Any, tool_call_id: str) -> dict[str, Any]:
    """A tool call as its updates made it."""
    merged: dict[str, Any] = {}
    for update in client.updates():
        if update.get("toolCallId") == tool_call_id:
            merged |= {key: value for key, value in update.items() if value is not None}
    return merged


def statuses(client: Any, tool_call_id: str) -> list[str]:
    return [each["status"] for each in client.updates() if each.get("toolCallId") == tool_call_id]


def test_it_says_who_it_is_and_claims_nothing_more(demo: Any) -> None:
    answer = demo.initialize()
    assert answer["agentInfo"]["name"] == "demo"
    assert answer["agentInfo"]["title"] == "Demo agent"
    assert answer["agentInfo"]["version"]
    assert answer["protocolVersion"] == 1
    assert answer["agentCapabilities"] == {"loadSession": False}
    demo.new_session()
    demo.until(lambda _: demo.updates("available_commands_update"))
    commands = demo.updates("available_commands_update")[0]["availableCommands"]
    assert [each["name"] for each in commands] == ["reset"]
    with pytest.raises(Exception, match="-32601"):
        demo.call("session/load", {"sessionId": demo.session_id, "cwd": str(demo.cwd), "mcpServers": []})


def test_the_whole_scene_when_all_is_allowed(demo: Any) -> None:
    seen: list[str] = []
    stats = demo.cwd / "acp-demo" / "stats.py"

    def decide(_: Any) -> Any:
        seen.append(stats.read_text())
        return ALLOW_ONCE

    host = Host(demo.begin(), decide)
    assert demo.prompt("Make the failing test pass.") == "end_turn"

    assert repaired(demo)
    before, after = seen
    assert after == stats.read_text() != before  # unchanged until the answer
    assert demo.text().startswith("I am a **scripted demonstration**")
    assert len(demo.updates("agent_message_chunk")) > 50
    assert "`median`" in demo.text()
    assert "| `[4, 1, 3, 2]` | `3` | `2.5` |" in demo.text()
    assert demo.text("agent_thought_chunk")
    plans = [[entry["status"] for entry in each["entries"]] for each in demo.updates("plan")]
    assert plans[0] == ["in_progress", "pending", "pending"]
    assert plans[-1] == ["completed"] * 3
    assert len(plans) == 4

    read, edit, run = (call(demo, f"{what}-1") for what in ("read", "edit", "run"))
    assert [each["name"] for each in (read, edit, run)] == ["read_file", "edit_file", "run_command"]
    assert [each["kind"] for each in (read, edit, run)] == ["read", "edit", "execute"]
    assert read["locations"] == [{"path": str(stats), "line": 9}]
    assert read["rawInput"] == {"path": str(stats)}
    assert read["rawOutput"]["content"] == before
    assert statuses(demo, "edit-1") == ["pending", "in_progress", "completed"]
    assert edit["content"] == [{"type": "diff", "path": str(stats), "oldText": before, "newText": after}]
    assert edit["locations"] == [{"path": str(stats), "line": 12}]
    assert edit["rawInput"]["path"] == str(stats)
    assert before.replace(edit["rawInput"]["old"], edit["rawInput"]["new"]) == after
    assert edit["rawOutput"] == {"path": str(stats), "replacements": 1}
    assert host.written == [str(stats)]

    command = shlex.join([sys.executable, "-m", "unittest", "-v"])
    assert run["rawInput"] == {"command": command, "cwd": str(demo.cwd / "acp-demo")}
    assert run["status"] == "completed"
    assert run["content"] == [{"type": "terminal", "terminalId": "terminal-1"}]
    assert run["rawOutput"]["exitCode"] == 0
    assert "test_even_count" in run["rawOutput"]["output"]
    assert host.created[0]["env"] == [{"name": "PYTHONDONTWRITEBYTECODE", "value": "1"}]
    assert host.released == ["terminal-1"]

    usage = demo.updates("usage_update")[0]
    assert 0 < usage["used"] < usage["size"]
    assert usage["cost"] == {"amount": 0.0, "currency": "USD"}
    assert demo.complaints() == []


def test_its_permission_requests_say_their_scope(demo: Any) -> None:
    Host(demo.begin())
    demo.prompt()
    edit, run = demo.asked()
    assert [(each["optionId"], each["name"], each["kind"]) for each in edit["options"]] == [
        ("allow-once", "Allow once", "allow_once"),
        ("allow-edits", "Always allow edits in acp-demo/", "allow_always"),
        ("reject", "Reject", "reject_once"),
    ]
    assert run["options"][1] == {
        "optionId": "allow-command",
        "name": "Always allow this command in acp-demo/",
        "kind": "allow_always",
    }
    assert edit["toolCall"]["content"][0]["type"] == "diff"
    assert edit["toolCall"]["status"] == "pending"


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (REJECT, "Rejected."),
        (option("never-offered"), "Rejected: the answer was not one that I offered."),
        ({"outcome": {"outcome": "approved", "optionId": "allow-once"}}, "Rejected: the answer"),
        ({"outcome": "allow-once"}, "Rejected: the answer"),
        ({}, "Rejected: the answer"),
        (None, "Rejected: the answer"),
        (CANCELLED, "Not approved: the question was cancelled."),
    ],
)
def test_whatever_is_no_approval_is_a_no(demo: Any, answer: Any, word: str) -> None:
    host = Host(demo.begin(), lambda _: answer)
    assert demo.prompt() == "end_turn"
    edit = call(demo, "edit-1")
    assert edit["status"] == "failed"
    assert [each["type"] for each in edit["content"]] == ["diff", "content"]
    assert edit["content"][1]["content"]["text"].startswith(word)
    assert f"{word}" in demo.text()
    assert call(demo, "run-1") == {}
    assert host.written == []
    assert not repaired(demo)


def test_an_error_answer_is_a_no(demo: Any) -> None:
    demo.begin()
    host = Host(demo)
    del demo.handlers[PERMISSION]
    prompt = demo.start_prompt()
    asked = demo.until_request(PERMISSION)
    demo.send({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32800, "message": "withdrawn"}})
    assert demo.wait(prompt) == {"stopReason": "end_turn"}
    assert call(demo, "edit-1")["status"] == "failed"
    assert host.written == []


def test_the_edit_stands_when_the_run_is_rejected(demo: Any) -> None:
    answers = iter([ALLOW_ONCE, REJECT])
    host = Host(demo.begin(), lambda _: next(answers))
    assert demo.prompt() == "end_turn"
    assert call(demo, "edit-1")["status"] == "completed"
    assert call(demo, "run-1")["status"] == "failed"
    assert host.created == []
    assert "The edit stands" in demo.text()
    assert repaired(demo)


def test_a_second_turn_starts_over_and_asks_again(demo: Any) -> None:
    Host(demo.begin())
    assert [demo.prompt(), demo.prompt()] == ["end_turn", "end_turn"]
    assert "I have just made the copy." in demo.text()
    assert "Its tests pass already, from an earlier turn" in demo.text()
    assert len(demo.asked()) == 4
    assert call(demo, "run-2")["status"] == "completed"


def test_an_always_is_remembered_in_its_session_alone(demo: Any) -> None:
    host = Host(demo.begin(), lambda params: option(params["options"][1]["optionId"]))
    demo.prompt()
    assert len(demo.asked()) == 2
    demo.prompt()
    assert len(demo.asked()) == 2
    assert statuses(demo, "edit-2") == ["pending", "in_progress", "completed"]
    assert len(host.written) == 2
    demo.new_session()
    demo.prompt()
    assert len(demo.asked()) == 4


def test_an_always_for_edits_is_none_for_commands(demo: Any) -> None:
    Host(demo.begin(), lambda _: option("allow-edits"))  # for the run, an option that it did not offer
    demo.prompt()
    assert call(demo, "edit-1")["status"] == "completed"
    assert call(demo, "run-1")["status"] == "failed"


def swap(stats: Path, elsewhere: Path) -> None:
    """Put a link to a file elsewhere in the place of the file."""
    elsewhere.write_text(stats.read_text())
    stats.unlink()
    stats.symlink_to(elsewhere)


def test_it_asks_again_when_its_target_changed_while_it_asked(demo: Any, tmp_path: Path) -> None:
    elsewhere = tmp_path / "mine.py"
    stats = demo.cwd / "acp-demo" / "stats.py"

    def decide(_: Any) -> Any:
        if elsewhere.exists():
            return REJECT
        swap(stats, elsewhere)
        return ALLOW_ONCE

    host = Host(demo.begin(), decide)
    assert demo.prompt() == "end_turn"
    first, second = demo.asked()
    assert first["toolCall"]["locations"][0]["path"] == str(stats)
    assert second["toolCall"]["locations"][0]["path"] == str(elsewhere)
    assert second["toolCall"]["content"][0]["path"] == str(elsewhere)
    assert "so I ask again" in demo.text()
    assert host.written == []


def test_an_always_does_not_reach_beyond_its_scope(demo: Any, tmp_path: Path) -> None:
    elsewhere = tmp_path / "mine.py"
    stats = demo.cwd / "acp-demo" / "stats.py"
    host = Host(demo.begin(), lambda params: option(params["options"][1]["optionId"]))
    demo.prompt()
    assert len(demo.asked()) == 2

    def read(params: dict[str, Any]) -> Any:
        if not elsewhere.exists():
            swap(stats, elsewhere)
        return {"content": Path(params["path"]).read_text()}

    demo.handlers["fs/read_text_file"] = read
    demo.handlers[PERMISSION] = lambda _: REJECT
    demo.prompt()
    third = demo.asked()[2]
    assert third["toolCall"]["locations"][0]["path"] == str(elsewhere)
    assert [each["kind"] for each in third["options"]] == ["allow_once", "reject_once"]
    assert host.written == [str(stats)]


def test_a_changed_text_is_asked_about_again(demo: Any) -> None:
    stats = demo.cwd / "acp-demo" / "stats.py"
    remark = "# a remark of mine\n"

    def decide(_: Any) -> Any:
        if not stats.read_text().startswith(remark):
            stats.write_text(remark + stats.read_text())
        return ALLOW_ONCE

    Host(demo.begin(), decide)
    demo.prompt()
    edits = [each for each in demo.asked() if each["toolCall"]["toolCallId"] == "edit-1"]
    assert len(edits) == 2
    assert edits[1]["toolCall"]["content"][0]["oldText"].startswith(remark)
    assert stats.read_text().startswith(remark)
    assert repaired(demo)


def test_a_file_of_its_own_that_the_user_changed_is_left_alone(demo: Any) -> None:
    host = Host(demo.begin())
    demo.prompt()
    stats = demo.cwd / "acp-demo" / "stats.py"
    stats.write_text("# mine\n")
    demo.prompt()
    assert stats.read_text() == "# mine\n"
    assert "is not as I know it" in demo.text()
    assert call(demo, "read-2")["status"] == "completed"
    assert call(demo, "edit-2") == {}
    assert len(host.written) == 1
    demo.prompt("/reset now")
    assert "def median" in stats.read_text()
    assert demo.prompt() == "end_turn"
    assert repaired(demo)


def test_reset_puts_the_bug_back_and_forgets_what_was_allowed(demo: Any) -> None:
    Host(demo.begin(), lambda params: option(params["options"][1]["optionId"]))
    demo.prompt()
    assert repaired(demo)
    assert demo.prompt("/reset") == "end_turn"
    assert not repaired(demo)
    demo.prompt()
    assert len(demo.asked()) == 4


@pytest.mark.parametrize("kind", ["folder", "file", "link", "other marker"])
@pytest.mark.parametrize("task", ["go", "/reset"])
def test_somebody_elses_folder_is_left_alone(demo: Any, tmp_path: Path, kind: str, task: str) -> None:
    folder = demo.cwd / "acp-demo"
    real = tmp_path / "elsewhere" if kind == "link" else folder
    if kind == "file":
        folder.write_text("mine")
    else:
        real.mkdir()
        (real / "stats.py").write_text("mine")
    if kind == "link":
        folder.symlink_to(real)
    if kind == "other marker":
        (folder / ".acp-demo").write_text("a marker of mine")
    Host(demo.begin())
    assert demo.prompt(task) == "end_turn"
    assert "that I did not make" in demo.text()
    assert (folder if kind == "file" else real / "stats.py").read_text() == "mine"
    assert demo.asked() == []


def test_a_link_to_a_folder_of_its_own_is_left_alone(demo: Any, tmp_path: Path) -> None:
    Host(demo.begin())
    demo.prompt()
    folder = demo.cwd / "acp-demo"
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")
    asked = len(demo.asked())
    demo.prompt("/reset")
    demo.prompt()
    assert demo.text().count("that I did not make") == 2
    assert "middle - 1" in (tmp_path / "moved" / "stats.py").read_text()
    assert len(demo.asked()) == asked


def test_a_directory_that_cannot_be_written_is_said(demo: Any) -> None:
    demo.begin()
    shutil.rmtree(demo.cwd)
    assert demo.prompt() == "end_turn"
    assert "I cannot make my scratch copy" in demo.text()


@pytest.mark.parametrize(
    "capabilities", [{}, {"fs": None, "terminal": False}, {"fs": {"readTextFile": True}}, {"terminal": True}]
)
def test_it_uses_no_more_of_the_client_than_is_offered(demo: Any, capabilities: Any) -> None:
    host = Host(demo.begin(capabilities))
    assert demo.prompt() == "end_turn"
    assert repaired(demo)
    assert host.written == []
    assert bool(host.created) == capabilities.get("terminal", False)
    run = call(demo, "run-1")
    assert run["rawOutput"]["exitCode"] == 0
    if not host.created:
        assert "test_even_count" in run["content"][0]["content"]["text"]


def test_a_write_that_the_client_refuses_is_not_made_otherwise(demo: Any) -> None:
    Host(demo.begin())
    del demo.handlers["fs/write_text_file"]
    prompt = demo.start_prompt()
    asked = demo.until_request("fs/write_text_file")
    demo.send(
        {"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32603, "message": "outside the roots"}}
    )
    assert demo.wait(prompt) == {"stopReason": "end_turn"}
    assert call(demo, "edit-1")["status"] == "failed"
    assert "outside the roots" in demo.text()
    assert not repaired(demo)


def test_tests_that_fail_are_said_to_fail(demo: Any) -> None:
    host = Host(demo.begin())
    demo.handlers["fs/write_text_file"] = lambda _: {}  # a client that loses the write
    assert demo.prompt() == "end_turn"
    run = call(demo, "run-1")
    assert run["status"] == "failed"
    assert run["rawOutput"]["exitCode"] == 1
    assert "The tests still fail" in demo.text()
    assert host.released == ["terminal-1"]


@pytest.mark.parametrize("tool_call_id", ["edit-1", "run-1"])
def test_cancel_while_a_permission_waits(demo: Any, tool_call_id: str) -> None:
    Host(demo.begin())
    del demo.handlers[PERMISSION]
    prompt = demo.start_prompt()
    asked = demo.until_request(PERMISSION)
    if tool_call_id == "run-1":
        demo.answer(asked, ALLOW_ONCE)
        asked = demo.until_request(PERMISSION)
    assert asked["params"]["toolCall"]["toolCallId"] == tool_call_id
    demo.cancel()
    demo.answer(asked, CANCELLED)
    assert demo.wait(prompt) == {"stopReason": "cancelled"}
    assert statuses(demo, tool_call_id) == ["pending"]  # no status that nobody caused
    demo.handlers[PERMISSION] = lambda _: ALLOW_ONCE
    assert demo.prompt() == "end_turn"
    assert demo.complaints() == []


def test_cancel_while_it_speaks(launch: Any) -> None:
    client = launch([sys.executable, "-m", "acp_jupyter.testing.demo"], {"ACP_DEMO_SPEED": "1000"})
    client.begin()
    prompt = client.start_prompt()
    client.until(lambda _: client.text())
    started = time.monotonic()
    client.cancel()
    assert client.wait(prompt) == {"stopReason": "cancelled"}
    assert time.monotonic() - started < 2
    assert client.text() == "I"


@pytest.mark.parametrize("at", ["terminal/create", "terminal/wait_for_exit"])
def test_cancel_while_a_command_runs_releases_its_terminal(demo: Any, at: str) -> None:
    host = Host(demo.begin())
    handler = demo.handlers.pop(at)
    prompt = demo.start_prompt()
    asked = demo.until_request(at)
    demo.cancel()
    if at == "terminal/create":
        demo.answer(asked, handler(asked["params"]))
    assert demo.wait(prompt) == {"stopReason": "cancelled"}
    assert host.released == ["terminal-1"]
    process = host.terminals["terminal-1"]
    process.communicate(timeout=60)


def test_text_visibly_grows(launch: Any) -> None:
    client = launch([sys.executable, "-m", "acp_jupyter.testing.demo"], {"ACP_DEMO_SPEED": "1"})
    Host(client.begin())
    started = time.monotonic()
    prompt = client.start_prompt()
    times: list[float] = []
    while not times or "plan" not in {each["sessionUpdate"] for each in client.updates()}:
        client.step()
        times.append(time.monotonic() - started)
    assert times[-1] > 0.7
    client.wait(prompt)
    assert 2 < time.monotonic() - started < 20


def test_a_speed_that_is_no_number_is_said(launch: Any) -> None:
    client = launch([sys.executable, "-m", "acp_jupyter.testing.demo"], {"ACP_DEMO_SPEED": "fast"})
    client.initialize()
    client.close()
    assert "ACP_DEMO_SPEED is a number, not 'fast'" in client.stderr


def test_it_ends_with_its_client(demo: Any) -> None:
    Host(demo.begin())
    del demo.handlers[PERMISSION]
    demo.start_prompt()
    demo.until_request(PERMISSION)
    assert demo.close() == 0
    assert demo.stderr == ""


def test_the_shipped_project_has_one_failing_test(tmp_path: Path) -> None:
    import acp_jupyter.testing  # noqa: PLC0415 - where it is shipped

    project = tmp_path / "project"
    shutil.copytree(Path(acp_jupyter.testing.__file__).parent / "project", project)
    command = [sys.executable, "-B", "-m", "unittest", "-v"]
    run = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert "FAILED (failures=1)" in run.stderr
    assert "Ran 3 tests" in run.stderr


SCHEMA = Path(__file__).parents[2] / "labextension/node_modules/acp-sdk-schema/schema/v1/schema.json"


@pytest.mark.skipif(not SCHEMA.exists(), reason=f"no {SCHEMA}: run `npm ci` in labextension/")
@pytest.mark.parametrize(
    "capabilities", [{}, {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}]
)
def test_every_frame_is_valid_by_the_official_schema(demo: Any, capabilities: Any) -> None:
    answers = iter([ALLOW_ONCE, ALLOW_ONCE, REJECT])
    Host(demo.begin(capabilities), lambda _: next(answers))
    demo.prompt()
    demo.prompt()
    validate = validator()
    for frame in demo.received:
        validate(frame)
    kinds = {each["sessionUpdate"] for each in demo.updates()}
    assert kinds == {
        "agent_message_chunk",
        "agent_thought_chunk",
        "available_commands_update",
        "plan",
        "tool_call",
        "tool_call_update",
        "usage_update",
    }


def test_the_official_schema_refuses_what_is_wrong() -> None:
    if not SCHEMA.exists():
        pytest.skip(f"no {SCHEMA}: run `npm ci` in labextension/")
    import jsonschema  # noqa: PLC0415 - as below

    update = {"sessionUpdate": "tool_call", "toolCallId": "t"}  # no title
    frame = {"method": "session/update", "params": {"sessionId": "s", "update": update}}
    with pytest.raises(jsonschema.ValidationError):
        validator()(frame)


def validator() -> Callable[[dict[str, Any]], None]:
    """Validates what an agent sends: a request, a notification, or the response to what we sent."""
    import jsonschema  # noqa: PLC0415 - heavy, and only for these tests

    schema = json.loads(SCHEMA.read_text())
    definitions = schema["$defs"]
    by_method = {
        each["x-method"]: name
        for name, each in definitions.items()
        if "x-method" in each and name.endswith(("Request", "Notification"))
    }
    responses = {
        "protocolVersion": "InitializeResponse",
        "sessionId": "NewSessionResponse",
        "stopReason": "PromptResponse",
    }
    kind = jsonschema.validators.validator_for(schema)
    checks: dict[str, Any] = {}  # made once a definition: it takes longer than to use it

    def check(frame: dict[str, Any]) -> None:
        value = frame["params"] if "method" in frame else frame["result"]
        if "method" in frame:
            name = by_method[frame["method"]]
        else:
            name = next(known for key, known in responses.items() if key in value)
        if name not in checks:
            checks[name] = kind({"$ref": f"#/$defs/{name}", "$defs": definitions})
        checks[name].validate(value)

    return check
