from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_jupyter.testing import script_command

OPTIONS = [
    {"optionId": "yes", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]
ASK = {"toolCall": {"toolCallId": "t1"}, "options": OPTIONS}
ALLOWED = {"outcome": {"outcome": "selected", "optionId": "yes"}}
CANCELLED = {"outcome": {"outcome": "cancelled"}}


@pytest.fixture
def play(launch: Any, tmp_path: Path) -> Callable[..., Any]:
    def start(script: Any, *arguments: str, env: dict[str, str] | None = None) -> Any:
        return launch([*script_command(script, tmp_path / "script.json"), *arguments], env)

    return start


def one_prompt(client: Any) -> str:
    client.begin()
    return client.prompt()


def test_a_list_of_steps_is_one_turn_for_every_prompt(play: Any) -> None:
    client = play([{"text": "hello"}, {"thought": "hm"}, {"update": {"sessionUpdate": "odd", "x": 1}}])
    client.begin()
    assert [client.prompt(), client.prompt()] == ["end_turn", "end_turn"]
    assert client.text() == "hellohello"
    assert client.text("agent_thought_chunk") == "hmhm"
    assert client.updates("odd")[0] == {"sessionUpdate": "odd", "x": 1}
    assert client.complaints() == []


def test_turns_are_played_in_order_the_last_again_and_each_session_from_the_start(play: Any) -> None:
    client = play({"turns": [[{"text": "a"}], [{"text": "b"}]]})
    client.begin()
    for _ in range(3):
        client.prompt()
    client.new_session()
    client.prompt()
    assert client.text() == "abba"


@pytest.mark.parametrize(("chunks", "count"), [(4, 4), ("words", 3)])
def test_text_is_streamed_in_pieces(play: Any, chunks: Any, count: int) -> None:
    client = play([{"text": "one two  three\n", "chunks": chunks, "delay_s": 0.001, "message_id": "m"}])
    one_prompt(client)
    assert client.text() == "one two  three\n"
    assert [each["messageId"] for each in client.updates()] == ["m"] * count


def test_requests_are_saved_awaited_and_looked_at(play: Any) -> None:
    client = play(
        [
            {"request": "session/request_permission", "params": ASK, "save": "first", "wait": False},
            {"request": "session/request_permission", "params": ASK, "save": "second", "wait": False},
            {"text": "both open; "},
            {"await": "second"},
            {"text": "${second.outcome.optionId} in ${cwd}; "},
            {"await": "first"},
            {
                "if": {"first.outcome.optionId": "yes"},
                "then": [{"text": "allowed"}],
                "else": [{"text": "not"}],
            },
            {"update": {"sessionUpdate": "x", "raw": {"$": "first.outcome"}}},
        ]
    )
    client.begin()
    prompt = client.start_prompt()
    client.until_text("both open; ")
    first, second = client.open
    client.answer(second, ALLOWED)
    client.answer(first, {"outcome": {"outcome": "perhaps"}})
    assert client.wait(prompt) == {"stopReason": "end_turn"}
    assert client.text() == f"both open; yes in {client.cwd}; not"
    assert client.updates("x")[0]["raw"] == {"outcome": "perhaps"}
    assert client.complaints() == [
        "the answer to session/request_permission: `outcome` is `selected` or `cancelled`, not 'perhaps'"
    ]


def test_an_error_answer_is_saved_and_its_id_is_the_scripts(play: Any) -> None:
    read = {"request": "fs/read_text_file", "params": {"path": "/x"}, "save": "r", "id": "text id"}
    client = play([read, {"text": "${r.error.code}"}])
    client.begin()
    prompt = client.start_prompt()
    asked = client.until_request("fs/read_text_file")
    assert asked["id"] == "text id"
    client.send({"jsonrpc": "2.0", "id": "text id", "error": {"code": -32002, "message": "no such file"}})
    client.wait(prompt)
    assert client.text() == "-32002"


def test_a_request_is_withdrawn_and_still_answered(play: Any) -> None:
    ask = {"request": "session/request_permission", "params": ASK, "save": "p", "wait": False}
    client = play([ask, {"withdraw": "p"}, {"await": "p"}, {"text": "${p.outcome.outcome}"}])
    client.begin()
    prompt = client.start_prompt()
    withdrawn = client.until(lambda frame: frame.get("method") == "$/cancel_request")
    assert withdrawn["params"]["requestId"] == client.open[0]["id"]
    client.answer(client.open[0], CANCELLED)
    client.wait(prompt)
    assert client.text() == "cancelled"


@pytest.mark.parametrize(
    ("step", "stop"),
    [({"end": {"stopReason": "refusal"}}, "refusal"), ({"repeat": 0, "steps": []}, "end_turn")],
)
def test_stop_reasons(play: Any, step: Any, stop: str) -> None:
    assert one_prompt(play([step])) == stop


def test_steps_after_the_end_are_played_outside_the_turn(play: Any) -> None:
    client = play([{"end": {"_meta": {"a": 1}}}, {"text": "late"}])
    client.begin()
    assert client.wait(client.start_prompt()) == {"stopReason": "end_turn", "_meta": {"a": 1}}
    client.until_text("late")
    assert "result" in client.received[-2]


def test_a_prompt_may_end_in_an_error(play: Any) -> None:
    client = play([{"end_error": {"code": -32000, "message": "log in", "data": {"why": 1}}}])
    with pytest.raises(Exception, match="log in") as raised:
        one_prompt(client)
    assert raised.value.error == {"code": -32000, "message": "log in", "data": {"why": 1}}


def test_a_script_that_names_nothing_saved_fails_the_prompt(play: Any) -> None:
    with pytest.raises(Exception, match=r"nothing is saved as 'nowhere\.at'"):
        one_prompt(play([{"text": "${nowhere.at}"}]))


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ([{"txt": "x"}], "a step has one of"),
        ([{"text": "x", "speed": 1}], "has no option speed"),
        ({"trns": []}, "a script has no trns"),
        ([{"if": {}, "then": [{"nothing": 1}]}], "a step has one of"),
        ("text", "a script is a list"),
    ],
)
def test_a_wrong_script_is_refused_before_it_plays(play: Any, script: Any, complaint: str) -> None:
    client = play(script)
    assert client.close() == 2
    assert complaint in client.stderr


def test_cancel_ends_a_sleeping_turn(play: Any) -> None:
    client = play([{"text": "on it"}, {"sleep_s": 600}])
    client.begin()
    prompt = client.start_prompt()
    client.until_text("on it")
    client.cancel()
    client.cancel()
    assert client.wait(prompt) == {"stopReason": "cancelled"}
    assert client.complaints() == []


def test_a_cancelled_turn_ends_after_its_requests_were_answered(play: Any) -> None:
    client = play([{"request": "session/request_permission", "params": ASK}])
    client.begin()
    prompt = client.start_prompt()
    asked = client.until_request("session/request_permission")
    client.cancel()
    for _ in range(2):  # by the second answer the cancel has had all its effects
        client.new_session()
    assert all(frame.get("id") != prompt for frame in client.received if "method" not in frame)
    client.answer(asked, CANCELLED)
    assert client.wait(prompt) == {"stopReason": "cancelled"}
    assert client.complaints() == []
    assert "Traceback" not in client.stderr


def test_a_selection_after_a_cancel_is_complained_about(play: Any) -> None:
    client = play([{"request": "session/request_permission", "params": ASK}])
    client.begin()
    prompt = client.start_prompt()
    asked = client.until_request("session/request_permission")
    client.cancel()
    client.answer(asked, ALLOWED)
    assert client.wait(prompt) == {"stopReason": "cancelled"}
    assert "after session/cancel" in client.complaints()[0]


def test_a_cancel_may_be_ignored(play: Any) -> None:
    steps = [{"ignore_cancel": True}, {"text": "a"}, {"until_cancel": True}, {"text": "b"}, {"end": {}}]
    client = play(steps)
    client.begin()
    prompt = client.start_prompt()
    client.until_text("a")
    client.cancel()
    assert client.wait(prompt) == {"stopReason": "end_turn"}
    assert client.text() == "ab"


def test_until_cancel_ends_cancelled(play: Any) -> None:
    client = play([{"text": "a"}, {"until_cancel": True}, {"text": "b"}])
    client.begin()
    prompt = client.start_prompt()
    client.until_text("a")
    client.cancel()
    assert client.wait(prompt) == {"stopReason": "cancelled"}
    assert client.text() == "a"


def test_a_prompt_may_never_be_answered(play: Any) -> None:
    client = play([{"end": None}, {"text": "silence"}])
    client.begin()
    client.start_prompt()
    client.until_text("silence")
    assert client.close() == 0
    assert [frame["id"] for frame in client.received if "method" not in frame] == [1, 2]


def test_a_file_says_go(play: Any, tmp_path: Path) -> None:
    go = tmp_path / "go"
    client = play([{"text": "a"}, {"until_file": str(go)}, {"text": "b"}])
    client.begin()
    prompt = client.start_prompt()
    client.until_text("a")
    go.touch()
    client.wait(prompt)
    assert client.text() == "ab"


def test_junk_on_stdout_and_noise_on_stderr(play: Any) -> None:
    client = play(
        [
            {"raw": "npm banner ${HOME}"},
            {"raw": "null"},
            {"raw_bytes_b64": base64.b64encode(b'\xff\xfe"\n').decode()},
            {"stderr": "a word"},
            {"stderr_bytes": 1_000_000},
            {"send": {"jsonrpc": "2.0", "method": "_vendor/x", "params": {"of": {"$": "prompt_id"}}}},
            {"notify": "elicitation/complete", "params": {"elicitationId": "e"}},
        ]
    )
    assert one_prompt(client) == "end_turn"
    assert client.junk == ["npm banner ${HOME}\n", "null\n", '\ufffd\ufffd"\n']
    assert client.received[-3]["params"] == {"of": 3}
    assert client.received[-2]["method"] == "elicitation/complete"
    client.close()
    assert len(client.stderr) == 1_000_000 + len("a word\n")


def test_a_line_of_60_mb(play: Any) -> None:
    client = play([{"line_of": 60_000_000}])
    assert one_prompt(client) == "end_turn"
    assert len(client.text()) == 60_000_000


def test_reports(play: Any) -> None:
    steps = [{"report": "env:WORD"}, {"text": "|"}, {"report": "cwd"}, {"text": "|"}, {"report": "pid"}]
    client = play([*steps, {"text": "|"}, {"echo_prompt": True}], env={"WORD": "here"})
    one_prompt(client)
    word, cwd, pid, prompt = client.text().split("|")
    assert (word, Path(cwd), int(pid)) == ("here", client.cwd, client.process.pid)
    assert json.loads(prompt) == [{"type": "text", "text": "go"}]


@pytest.mark.parametrize(("step", "code"), [({"exit": 7}, 7), ({"kill_self": True}, -signal.SIGKILL)])
def test_it_dies_in_mid_turn(play: Any, step: Any, code: int) -> None:
    client = play([{"text": "partial"}, step])
    client.begin()
    client.start_prompt()
    while client.step() is not None:
        pass
    assert client.text() == "partial"
    assert client.finish() == code


def test_it_exits_at_once_with_a_word(play: Any) -> None:
    client = play({"start": [{"stderr": "no licence"}, {"exit": 3}]})
    assert client.step() is None
    assert client.finish() == 3
    assert client.stderr == "no licence\n"


def test_it_closes_its_stdin_and_lives(play: Any) -> None:
    client = play([{"close_stdin": True}, {"text": "deaf"}])
    assert one_prompt(client) == "end_turn"
    with pytest.raises(BrokenPipeError):
        client.start_prompt()
    assert client.process.poll() is None


def test_it_closes_its_stdout_and_lives(play: Any) -> None:
    client = play([{"text": "last"}, {"close_stdout": True}, {"sleep_s": 600}])
    client.begin()
    client.start_prompt()
    while client.step() is not None:
        pass
    assert client.text() == "last"
    assert client.process.poll() is None


def test_it_lives_on_without_stdin_and_ignores_term(play: Any) -> None:
    client = play({"ignore_eof": True, "start": [{"ignore_term": True}]})
    client.begin()
    client.process.stdin.close()
    client.process.terminate()
    with pytest.raises(subprocess.TimeoutExpired):
        client.process.wait(0.3)


def test_a_grandchild_outlives_it_ignores_term_and_has_its_own_session(play: Any) -> None:
    sleeper = ["python", "-c", "import time; time.sleep(60)"]
    spawn = {"spawn": sleeper, "ignore_term": True, "new_session": True, "save": "g"}
    client = play([spawn, {"text": "${g.pid}"}])
    one_prompt(client)
    pid = int(client.text())
    try:
        assert client.close() == 0
        assert os.getsid(pid) == pid
        os.kill(pid, signal.SIGTERM)
        os.kill(pid, 0)  # still there
        ignored = int(Path(f"/proc/{pid}/status").read_text().split("SigIgn:\t")[1].split()[0], 16)
        assert ignored >> (signal.SIGTERM - 1) & 1
    finally:
        os.kill(pid, signal.SIGKILL)


def test_initialize_is_merged_over(play: Any) -> None:
    capabilities = {"sessionCapabilities": {"additionalDirectories": {}}}
    client = play({"initialize": {"protocolVersion": 99, "agentCapabilities": capabilities}})
    answer = client.initialize()
    assert answer["protocolVersion"] == 99
    assert answer["agentCapabilities"] == {"loadSession": False, **capabilities}
    assert answer["agentInfo"]["name"] == "fake"
    client.new_session(additionalDirectories=["/tmp"])
    assert client.complaints() == []


def test_initialize_is_never_answered(play: Any) -> None:
    client = play({"initialize": {"never": True}, "start": [{"stderr": "thinking"}]})
    client.start("initialize", {"protocolVersion": 1})
    assert client.close() == 0
    assert client.received == []
    assert client.stderr == "thinking\n"


def test_a_log_in_is_required_until_authenticate(play: Any) -> None:
    required = {"error": {"code": -32000, "message": "authentication required"}, "until": "authenticate"}
    client = play({"new_session": required})
    client.initialize()
    with pytest.raises(Exception, match="-32000"):
        client.new_session()
    assert client.call("authenticate", {"methodId": "any"}) == {}
    assert client.new_session()


def test_each_session_has_its_answer(play: Any) -> None:
    modes = {"currentModeId": "code", "availableModes": []}
    refused = {"error": {"code": -32603, "message": "one is enough"}}
    client = play({"new_session": [{"sessionId": "s1", "modes": modes}, refused]})
    client.initialize()
    assert client.new_session() == "s1"
    with pytest.raises(Exception, match="one is enough"):
        client.new_session()


def test_updates_come_before_and_after_the_answer_to_session_new(play: Any) -> None:
    early, late = ({"update": {"sessionUpdate": word}} for word in ("early", "late"))
    client = play({"before_new_session": [early], "after_new_session": [late]})
    client.begin()
    client.until(lambda _: len(client.updates()) == 2)
    assert [each["sessionUpdate"] for each in client.updates()] == ["early", "late"]
    assert "result" in client.received[-2]
    assert {each["params"]["sessionId"] for each in client.received[-3::2]} == {client.session_id}


def test_other_methods_are_the_scripts(play: Any) -> None:
    mode = {"update": {"sessionUpdate": "current_mode_update", "currentModeId": "ask"}}
    client = play({"methods": {"session/set_mode": {"steps": [mode], "result": {}}}})
    client.begin()
    assert client.call("session/set_mode", {"sessionId": client.session_id, "modeId": "ask"}) == {}
    assert client.updates()[0]["currentModeId"] == "ask"
    with pytest.raises(Exception, match="-32601"):
        client.call("session/frobnicate", {})
    assert client.complaints() == ["no such method: session/frobnicate"]


def test_a_request_that_the_client_withdraws_is_answered_with_an_error(play: Any) -> None:
    client = play({"methods": {"_slow": {"never": True}, "_quick": {"result": 1}}})
    client.begin()
    slow = client.start("_slow", {})
    for request_id in (slow, slow, 999):
        client.send({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": request_id}})
    with pytest.raises(Exception, match="-32800"):
        client.wait(slow)
    assert client.call("_quick", {}) == 1
    assert client.complaints() == []


@pytest.mark.parametrize(
    ("method", "params", "fault"),
    [
        ("session/new", {"cwd": "/tmp"}, "`mcpServers` is an array, also where there are none, not None"),
        ("session/new", {"cwd": "rel", "mcpServers": []}, "`cwd` is an absolute path, not 'rel'"),
        ("session/new", {"cwd": "/", "mcpServers": [{"name": "a", "command": "b", "args": []}]}, "`env`"),
        ("session/new", {"cwd": "/", "mcpServers": [{"name": "a", "url": "b", "type": "sse"}]}, "`headers`"),
        (
            "session/new",
            {"cwd": "/", "mcpServers": [], "additionalDirectories": ["x"]},
            "additional directory",
        ),
        ("session/new", {"cwd": "/", "mcpServers": [], "additionalDirectories": ["/x"]}, "the capability"),
        ("session/prompt", {"sessionId": "s", "prompt": []}, "not empty"),
        ("session/prompt", {"sessionId": "s", "prompt": [{"type": "text", "text": ""}]}, "no session 's'"),
        ("session/prompt", {"sessionId": "s", "prompt": [{"type": "smell"}]}, "no content block"),
        ("initialize", {"protocolVersion": "1"}, "an integer"),
        ("authenticate", {}, "`methodId` is a string"),
        ("$/cancel_request", {"requestId": [1]}, "`requestId` is a number or a string, not [1]"),
    ],
)
def test_wrong_parameters_are_refused_and_complained_about(
    play: Any, method: str, params: Any, fault: str
) -> None:
    client = play([])
    client.initialize()
    with pytest.raises(Exception, match="code"):
        client.call(method, params)
    assert any(fault in complaint for complaint in client.complaints())


@pytest.mark.parametrize(
    ("kind", "block"),
    [("image", {"data": "", "mimeType": "image/png"}), ("resource", {"resource": {"uri": "x", "text": ""}})],
)
def test_content_without_its_capability_is_refused(play: Any, kind: str, block: Any) -> None:
    client = play([])
    client.begin()
    with pytest.raises(Exception, match="without the capability"):
        client.call("session/prompt", {"sessionId": client.session_id, "prompt": [{"type": kind, **block}]})


def test_a_second_prompt_while_a_turn_runs_is_refused(play: Any) -> None:
    client = play([{"until_cancel": True}])
    client.begin()
    first = client.start_prompt()
    with pytest.raises(Exception, match="a turn is running"):
        client.prompt()
    client.cancel()
    assert client.wait(first)["stopReason"] == "cancelled"


@pytest.mark.parametrize(
    ("method", "result", "fault"),
    [
        ("fs/write_text_file", None, "is an object, not None"),
        ("terminal/kill", None, "is an object, not None"),
        ("fs/read_text_file", {}, "`content` is a string"),
        ("terminal/output", {"output": ""}, "`truncated` is a boolean"),
        ("terminal/wait_for_exit", {"exitCode": "0"}, "`exitCode` is a number or null"),
        ("session/request_permission", {"outcome": {"outcome": "selected", "optionId": "x"}}, "not offered"),
    ],
)
def test_wrong_answers_are_complained_about(play: Any, method: str, result: Any, fault: str) -> None:
    client = play([{"request": method, "params": ASK}])
    client.handlers[method] = lambda _: result
    one_prompt(client)
    assert fault in client.complaints()[0]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"{", "not JSON"),
        (b"[]", "a message is an object"),
        (b'{"jsonrpc":"2.0","id":4}', "a message is a request"),
        (b'{"id":1,"result":{}}', '"jsonrpc"'),
        (b'{"jsonrpc":"2.0","id":[1],"result":{}}', "`id` is"),
        (b'{"jsonrpc":"2.0","id":99,"result":{}}', "no open request"),
        (b'{"jsonrpc":"2.0","method":"session/frobnicate","params":{}}', "no such notification"),
        (b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}', "no session"),
        (
            b'{"jsonrpc":"2.0","id":9,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}',
            "before init",
        ),
    ],
)
def test_wrong_messages_are_complained_about(play: Any, line: bytes, fault: str) -> None:
    client = play([])
    client.send_line(line)
    assert fault in client.complaints()[0]


@pytest.mark.parametrize("by_variable", [True, False])
def test_every_frame_is_recorded(play: Any, tmp_path: Path, *, by_variable: bool) -> None:
    record = tmp_path / "record.jsonl"
    steps = [{"text": "a"}, {"raw": "junk"}]
    env = {"ACP_FAKE_RECORD": str(record)} if by_variable else None
    client = play(steps, *([] if by_variable else ["--record", str(record)]), env=env)
    one_prompt(client)
    client.send_line(b'{"jsonrpc":"2.0","id":99,"result":{}}')
    client.close()
    entries = [json.loads(line) for line in record.read_text().splitlines()]
    sent = [each["msg"] for each in entries if each["dir"] == "a2c" and each["msg"]]
    assert sent == client.received
    methods = [each["msg"].get("method") for each in entries if each["dir"] == "c2a"]
    assert methods == ["initialize", "session/new", "session/prompt", None]
    assert [each["raw"] for each in entries if "raw" in each] == ["junk\n"]
    assert "no open request" in entries[-1]["msg"]
    assert [each["t"] for each in entries] == sorted(each["t"] for each in entries)


def test_importing_the_package_is_cheap() -> None:
    code = "import sys, acp_jupyter.testing; print(sorted(sys.modules))"
    root = Path(__file__).parents[2]
    run = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert not {"'asyncio'", "'pydantic'", "'IPython'"} & set(run.stdout.strip("[]\n").split(", "))
