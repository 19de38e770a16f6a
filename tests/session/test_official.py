"""A session says every kind of message that a turn needs; every test's end checks that each is valid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .bench import ask, begun

if TYPE_CHECKING:
    from .bench import Bench


def test_a_session_says_every_kind_of_message_of_a_turn(bench: Bench) -> None:
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
    sent = [frame.message for frame in session.frames if frame.direction == "out"]
    assert {message["method"] for message in sent if "method" in message} == {
        "initialize",
        "session/new",
        "session/prompt",
        "session/cancel",
    }
    assert sum("result" in message for message in sent) == 9
    assert sum("error" in message for message in sent) == 1
