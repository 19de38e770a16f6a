"""The messages on the wire: how many are kept, as a table, in a file, and without secrets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from acp_jupyter.errors import UsageError
from acp_jupyter.model.redact import Redactor
from acp_jupyter.model.turn import AgentInfo
from acp_jupyter.session.frames import Frames
from acp_jupyter.views.log import log_html, log_text
from acp_jupyter.wire.frames import encode

from .bench import Bench, ask

if TYPE_CHECKING:
    from pathlib import Path

SECRET = 'planted-in-the-"environment"\\'  # noqa: S105  # it is planted
GIVEN = ["planted-in-a-header", "planted-in-the-env", "planted-user:planted-word", "planted-authorization"]


def frames(*messages: Any, **limits: int) -> Frames:
    """What is kept of messages that came one a second."""
    kept = Frames(Redactor, lambda: AgentInfo("a", "A"), **limits)
    for at, message in enumerate(messages):
        kept.append(float(at), "in", json.dumps(message).encode())
    return kept


def numbers(kept: Frames) -> list[int]:
    return [frame.message["n"] for frame in kept]


def test_the_latest_are_kept_and_the_number_of_the_others() -> None:
    kept = frames(*({"n": n} for n in range(5)), limit_count=3)
    assert (numbers(kept), len(kept), kept.dropped) == ([2, 3, 4], 3, 2)
    assert kept[-1].message == {"n": 4}
    assert [frame.at for frame in kept[:2]] == [2.0, 3.0]
    assert kept.log().notes == ("2 earlier messages are no longer kept.",)


def test_they_are_bounded_by_their_size() -> None:
    kept = frames(*({"n": n, "text": "x" * 1000} for n in range(5)), limit_bytes=2_500)
    assert (numbers(kept), kept.dropped) == ([3, 4], 3)


def test_one_that_is_too_large_is_kept_until_the_next_one_comes() -> None:
    kept = frames({"n": 0}, {"n": 1, "text": "x" * 1000}, limit_bytes=500)
    assert numbers(kept) == [1]
    kept.append(2.0, "out", b'{"n":2}\n')
    assert (numbers(kept), kept.dropped) == ([2], 2)


def saved(kept: Frames, folder: Path) -> list[Any]:
    _header, *entries = map(json.loads, kept.save(folder / "log.jsonl").read_text("utf-8").splitlines())
    return [entry.get("message", entry) for entry in entries]


def test_a_connections_opening_is_saved_too_and_where_messages_are_missing(tmp_path: Path) -> None:
    kept = frames(limit_count=2)
    hello, new, prompt = ({"jsonrpc": "2.0", "id": n, "method": m} for n, m in enumerate(OPENING))
    says = [hello, {"id": 0, "result": {}}, new, {"id": 1, "result": {}}, prompt]
    for number, message in enumerate([*says, {"n": 1}, {"n": 2}, prompt]):
        kept.append(float(number), "out" if "method" in message else "in", encode(message))
        assert [one for one in saved(kept, tmp_path) if "dropped" not in one][:2] == says[
            : min(number + 1, 2)
        ]
    assert saved(kept, tmp_path) == [*says[:4], {"dropped": 2}, {"n": 2}, prompt]
    for message in (hello, prompt, {"n": 3}, {"n": 4}):
        kept.append(9.0, "out" if "method" in message else "in", encode(message))
    assert saved(kept, tmp_path) == [hello, {"dropped": 9}, {"n": 3}, {"n": 4}], "that of the latest one"
    assert len(kept) == 2


def test_an_opening_that_is_too_long_is_not_kept(tmp_path: Path) -> None:
    kept = frames(limit_count=1)
    kept.append(0.0, "out", encode({"id": 0, "method": "initialize"}))
    for n in range(300):
        kept.append(1.0, "in", encode({"n": n}))
    assert saved(kept, tmp_path) == [{"dropped": 300}, {"n": 299}]


OPENING = ("initialize", "session/new", "session/prompt")


def test_what_a_session_keeps_is_what_went_over_the_wire(bench: Bench) -> None:
    session = bench.session([{"raw": '\x1b[0m{"jsonrpc":"2.0","method":"_odd","params":{"v":1e999}}'}])
    session.run("go")
    kept = [(frame.direction, frame.message) for frame in session.frames]
    assert [message for direction, message in kept if direction == "out"] == bench.recorded()
    came = [message for direction, message in kept if direction == "in"]
    odd = [message for message in came if message.get("method") == "_odd"]
    assert odd == [{"jsonrpc": "2.0", "method": "_odd", "params": {"v": float("inf")}}]
    assert [message for message in came if message not in odd] == [
        message for message in bench.recorded(direction="a2c") if message is not None
    ]


def test_a_batch_is_as_many_messages(bench: Bench) -> None:
    batch = [{"jsonrpc": "2.0", "method": "_one"}, {"jsonrpc": "2.0", "method": "_two"}]
    session = bench.session([{"raw": json.dumps(batch)}])
    session.run("go")
    assert [frame.message for frame in session.frames if "_" in frame.message.get("method", "")[:1]] == batch


def planted(bench: Bench) -> Any:
    """A session with a secret in every place that a message has."""
    half = len(SECRET) // 2
    env = [{"name": "OTHER_TOKEN", "value": GIVEN[1]}]
    running = {"command": "true", "args": [], "env": env}
    session = bench.session(
        {
            "initialize": {"agentCapabilities": {"mcpCapabilities": {"http": True}}},
            "turns": [
                [
                    {"text": f"I have {SECRET[:half]}"},
                    {"text": f"{SECRET[half:]} here, and harmless words."},
                    {"thought": f"curl -H 'Authorization: Basic {GIVEN[3]}' https://{GIVEN[2]}@example.org"},
                    {"update": _tells(SECRET[:5])},
                    {"update": _tells(SECRET[5:])},
                    ask({"title": f"Use {SECRET}", "rawInput": {"deep": [{SECRET: SECRET}]}}),
                    {"request": "terminal/create", "params": running, "save": "t"},
                    {"notify": f"_{SECRET}", "params": {"password": "planted-password"}},
                    {"end_error": {"code": -1, "message": f"no {SECRET}", "data": SECRET}},
                ]
            ],
        },
        env={"MY_API_KEY": SECRET},
    )
    servers = [
        {
            "type": "http",
            "name": "one",
            "url": f"https://{GIVEN[2]}@example.org/mcp",
            "headers": [{"name": "X-Plain", "value": GIVEN[0]}],
        },
        {"name": "two", "command": "/bin/true", "args": [], "env": [{"name": "PLAIN", "value": GIVEN[1]}]},
    ]
    session.mcp_servers.extend(servers)
    return session


def _tells(data: str) -> dict[str, Any]:
    output = {"terminal_id": "own", "data": data}
    return {"sessionUpdate": "tool_call_update", "toolCallId": "c0", "_meta": {"terminal_output": output}}


def test_planted_secrets_are_in_none_of_its_forms(bench: Bench) -> None:
    session = planted(bench)
    with pytest.raises(Exception, match=r"no \[redacted\]"):
        session.run(f"Use {SECRET}.")
    file = session.frames.save(bench.folder / "log.jsonl")
    messages = [json.loads(line).get("message") for line in file.read_text("utf-8").splitlines()]
    log = session.log.last(1000)
    forms = {
        "rows": repr(list(log)),
        "table": log.to_dataframe().to_csv(),
        "shown": log.to_dataframe().to_string(max_colwidth=None),
        "text": log_text(log),
        "html": log_html(log),
        "one": log_text(log[4:5]) + repr(log.filter(text="here")[0]),
        "file": file.read_text("utf-8"),
        "told in pieces": "".join(map(_piece, messages)) + "".join(_piece(row.message) for row in log),
    }
    raw = "".join(frame.line.decode() for frame in session.frames)
    for secret in (*GIVEN, "planted-password", "planted-"):
        assert secret in raw, "else this shows nothing"
        assert [name for name, form in forms.items() if secret in form] == []
    for name in ("rows", "table", "file", "html", "text"):
        assert "[redacted]" in forms[name]
        assert "harmless words" in forms[name]


def _piece(message: Any) -> str:
    update = ((message or {}).get("params") or {}).get("update") or {}
    output = (update.get("_meta") or {}).get("terminal_output") or {}
    return (update.get("content") or {}).get("text", "") + output.get("data", "")


def test_the_table(bench: Bench) -> None:
    session = bench.session([{"text": "hello"}, ask({"title": "Remove it"}), {"end": {"_meta": {"x": 1}}}])
    session.run("go")
    log = session.log
    opening = [(row.direction, row.kind, row.method, row.id) for row in log[:6]]
    assert opening == [
        ("out", "request", "initialize", 0),
        ("in", "response", "initialize", 0),
        ("out", "request", "session/new", 1),
        ("in", "response", "session/new", 1),
        ("out", "request", "session/prompt", 2),
        ("in", "notification", "session/update", None),
    ]
    assert [row.summary for row in log[4:]] == [
        "go",
        "agent_message_chunk: hello",
        "c1 Remove it",
        '{"outcome":{"outcome":"selected","optionId":"no"}}',
        "end_turn",
    ]
    assert {row.session_id for row in log[3:7]} == {session.session_id}
    assert [row.message for row in log] == [frame.message for frame in session.frames]
    assert [row.size for row in log] == [len(frame.line.rstrip()) for frame in session.frames]


def test_it_is_filtered(bench: Bench) -> None:
    session = bench.session([{"text": "Hello"}, ask({"title": "Remove it"})])
    session.run("go")
    log = session.log
    assert [row.direction for row in log.filter(method="permission")] == ["in", "out"]
    assert [row.kind for row in log.filter(method="permission", direction="out")] == ["response"]
    assert [row.summary for row in log.filter(text="hello")] == ["agent_message_chunk: Hello"]
    assert [row.summary for row in log.last(1)] == ["end_turn"]
    assert len(log.filter(text="nowhere")) == 0
    with pytest.raises(UsageError, match="sideways"):
        log.filter(direction="sideways")


def test_as_a_dataframe(bench: Bench) -> None:
    session = bench.session([{"text": "hello"}])
    session.run("go")
    table = session.log.to_dataframe()
    assert list(table.columns) == "at direction kind method id session_id size summary message".split()
    assert list(table[table.direction == "in"].method) == [
        "initialize",
        "session/new",
        "session/update",
        "session/prompt",
    ]
    assert [one.timestamp() for one in table["at"]] == pytest.approx([one.at for one in session.frames])
    assert len(session.log[:0].to_dataframe()) == 0


def test_a_file_says_what_it_is(bench: Bench, tmp_path: Path) -> None:
    session = bench.session([{"text": "lone \ud800 half"}])
    session.run("go")
    header, *entries = map(json.loads, session.frames.save(tmp_path / "log.jsonl").read_text().splitlines())
    assert header["acp_jupyter_log"] == 1
    assert header["agent"] == {"name": "fake", "title": "Fake agent", "version": "1.0.0"}
    assert [entry["message"] for entry in entries] == [frame.message for frame in session.frames]
    assert [(entry["at"], entry["direction"]) for entry in entries] == [
        (frame.at, frame.direction) for frame in session.frames
    ]
    with pytest.raises(UsageError, match=r"cannot write .*No such file"):
        session.frames.save(tmp_path / "nowhere" / "log.jsonl")
