"""A session's own questions about what an agent asks of us, with an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
