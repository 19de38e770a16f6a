"""Every message that we send is valid by the official schema; the other tests' fixture checks theirs too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from .bench import ask, begun
from .official import SCHEMA, faults

if TYPE_CHECKING:
    from .bench import Bench

pytestmark = pytest.mark.skipif(
    not SCHEMA.exists(), reason="the schema is an npm dev dependency: run `npm ci` in labextension/"
)


def test_a_whole_session_is_valid_and_says_every_kind_of_message(bench: Bench) -> None:
    terminal = {"terminalId": "${t.terminalId}"}
    names = ["wait_for_exit", "output", "kill", "release", "output"]
    script = [
        ask({"kind": "execute"}),
        {"request": "fs/write_text_file", "params": {"path": f"{bench.work}/a", "content": "x"}, "save": "w"},
        {"request": "fs/read_text_file", "params": {"path": f"{bench.work}/a"}, "save": "r"},
        {"request": "terminal/create", "params": {"command": "sh", "args": ["-c", "kill $$"]}, "save": "t"},
        *({"request": f"terminal/{name}", "params": terminal, "save": name} for name in names),
        ask({}, wait=False, save="open"),
        {"withdraw": "open"},
        {"text": "begun"},
        {"until_cancel": True},
    ]
    session = bench.session(script)
    run = session.start("go", policy="allow-once-all")
    begun(session, run)
    run.cancel()
    run.result(20)
    frames = [(frame.direction, frame.message) for frame in session.frames]
    assert faults(frames) == []
    sent = [message for direction, message in frames if direction == "out"]
    assert {message["method"] for message in sent if "method" in message} == {
        "initialize",
        "session/new",
        "session/prompt",
        "session/cancel",
    }
    assert sum("result" in message for message in sent) == 9
    assert sum("error" in message for message in sent) == 1


@pytest.mark.parametrize(
    ("method", "result"),
    [
        ("fs/write_text_file", None),
        ("fs/read_text_file", {}),
        ("terminal/output", {"output": "x"}),
        ("session/request_permission", {"outcome": "cancelled"}),
    ],
)
def test_the_check_can_fail(method: str, result: Any) -> None:
    asked = {"jsonrpc": "2.0", "id": "x", "method": method, "params": {}}
    assert faults([("in", asked), ("out", {"jsonrpc": "2.0", "id": "x", "result": result})])
    assert faults([("out", {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/"}})])
