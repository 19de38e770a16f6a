"""A session's own questions about what an agent asks of us, with an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_jupyter.session import settings

from .bench import ask, asked, finish

if TYPE_CHECKING:
    import pytest

    from .bench import Bench


def write(bench: Bench, name: str, save: str = "w") -> dict[str, Any]:
    params = {"path": str(bench.work / name), "content": "new"}
    return {"request": "fs/write_text_file", "params": params, "save": save}


COMMAND = {"request": "terminal/create", "params": {"command": "true"}, "save": "t"}


def test_u16_what_was_rejected_is_not_written(bench: Bench) -> None:
    question = ask({"kind": "edit", "locations": [{"path": str(bench.work / "a")}]})
    session = bench.session([question, write(bench, "a"), {"text": "${w.error.data.reason}"}])
    with session.attended():
        run = session.start("go")
        asked(session)
        session.pending[0].reject()
        assert finish(run).text == "rejected"
    assert not (bench.work / "a").exists()


def test_c4_c5_what_nobody_was_asked_about_is_marked(bench: Bench) -> None:
    session = bench.session([write(bench, "a"), COMMAND, {"text": "${w}"}])
    turn = session.run("go")
    assert [note.text for note in turn.notes] == [
        f"Without asking: Write {bench.work}/a",
        "Without asking: Run true",
    ]
    assert (bench.work / "a").read_text() == "new"


def test_c4_c5_with_ask_client_requests_they_are_asked(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACP_JUPYTER_ASK_CLIENT_REQUESTS", "true")
    steps = [write(bench, "a"), COMMAND, {"text": "${w.error.data.reason} ${t.error.data.reason}"}]
    turn = bench.session(steps).run("go")
    assert turn.text == "denied denied"  # nobody could be asked
    assert len(turn.rejected) == 2
    assert not (bench.work / "a").exists()


def test_s06_no_policy_gives_a_persons_yes(bench: Bench) -> None:
    session = bench.session([write(bench, ".env"), write(bench, ".env", "again"), {"text": "${w} ${again}"}])
    session.policy = "allow-once-all"
    with session.attended():
        run = session.start("go")
        asked(session)
        session.pending[0].allow_once()
        assert finish(run).text == "{} {}"  # asked once
    assert (bench.work / ".env").read_text() == "new"


def read(bench: Bench, name: str) -> dict[str, Any]:
    return {"request": "fs/read_text_file", "params": {"path": str(bench.work / name)}, "save": "read"}


def test_s06_the_settings_patterns_count_before_the_first_prompt_too(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACP_JUPYTER_SECRET_PATTERNS", "*.own")
    (bench.work / "a.own").write_text("the secret")
    step = read(bench, "a.own")
    step["params"]["sessionId"] = "none"
    listing = {"steps": [step], "result": {"sessions": []}}
    offers = {"agentCapabilities": {"sessionCapabilities": {"list": {}}}}
    session = bench.session({"initialize": offers, "methods": {"session/list": listing}})
    session.sessions()
    (answer,) = [frame.message for frame in session.frames if b"the secret" in frame.line or _is_error(frame)]
    assert answer["error"]["data"]["reason"] == "denied"


def _is_error(frame: Any) -> bool:
    return frame.direction == "out" and "error" in frame.message


def test_s06_a_turn_keeps_the_patterns_of_its_start(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    user_file = bench.folder / "settings.json"
    monkeypatch.setattr(settings, "user_file", lambda: user_file)
    user_file.write_text('{"secret_patterns": ["*.own"], "answer_timeout_s": 60}')
    (bench.work / "a.own").write_text("the secret")
    session = bench.session(
        [{"until_file": str(bench.work / "go")}, read(bench, "a.own"), {"text": "${read.content}"}]
    )
    with session.attended():
        run = session.start("go")
        user_file.write_text("{ half")
        (bench.work / "go").touch()
        asked(session)
        session.pending[0].allow_once()
        turn = finish(run)
    assert turn.text == "the secret"
    assert [note.severity for note in turn.notes if str(user_file) in note.text] == ["warning"]
