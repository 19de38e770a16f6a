"""The table of agents, the user's file, and the sessions of a process."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_jupyter.errors import AgentUnknown, UsageError
from acp_jupyter.session.agents import Agents, AgentSpec
from acp_jupyter.session.loop import LoopThread
from acp_jupyter.session.sessions import Sessions
from acp_jupyter.testing import script_command

from .bench import TIMEOUT_S, alive, gone, until

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def agents(tmp_path: Path) -> Agents:
    return Agents(tmp_path / "config" / "agents.json")


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[Sessions]:
    sessions = Sessions()
    sessions.agents = Agents(tmp_path / "agents.json")
    for name in ("one", "two"):
        command, *args = script_command([{"text": name}], tmp_path / f"{name}.json")
        sessions.agents.add(name, command, args)
    yield sessions
    sessions.close()


# --- the file


def test_the_built_in_agents_come_first_and_demo_is_always_there(agents: Agents) -> None:
    names = [spec.name for spec in agents.all()]
    assert names[:2] == ["demo", "claude"]
    assert agents.get("demo") in agents.available()
    assert agents.get("demo").command == sys.executable
    assert not agents.file.exists()


def test_an_unknown_agent_names_the_known_ones(agents: Agents) -> None:
    with pytest.raises(AgentUnknown, match=r"demo.*gemini.*%acp add"):
        agents.get("nobody")
    with pytest.raises(AgentUnknown):
        agents.remove("nobody")


def test_an_added_agent_is_this_kernels_and_a_saved_one_everybodys(agents: Agents) -> None:
    agents.add("mine", "prog", ["--acp"], needs=["KEY"])
    agents.add("ours", "prog", ["a b", "ü"], save=True)
    other = Agents(agents.file)
    assert agents.get("mine").needs == ("KEY",)
    assert other.get("ours").args == ("a b", "ü")
    with pytest.raises(AgentUnknown):
        other.get("mine")
    assert json.loads(agents.file.read_text("utf-8")) == {"ours": {"command": "prog", "args": ["a b", "ü"]}}
    other.add("third", "x", save=True)
    assert {"ours", "third"} <= {spec.name for spec in Agents(agents.file).all()}


def test_an_added_agent_takes_the_place_of_a_built_in_one_until_it_is_removed(agents: Agents) -> None:
    agents.add("claude", "mine", save=True)
    agents.add("claude", "now")
    assert agents.get("claude").command == "now"
    assert Agents(agents.file).get("claude").command == "mine"
    agents.remove("claude")
    assert agents.get("claude").command == "claude-agent-acp"
    assert Agents(agents.file).get("claude").command == "claude-agent-acp"
    with pytest.raises(UsageError, match="claude is built in"):
        agents.remove("claude")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "cannot read"),
        ("\xff", "cannot read"),
        ("[]", "not an object of objects"),
        ('{"x": 1}', "x.*not an object"),
        ("[" * 100_000, "cannot read"),
        ('{"x": {"command": "c", "arguments": []}}', "x.*arguments"),
        ('{"x": {"args": []}}', "x.*command"),
        ('{"x": {"command": ""}}', "x.*command"),
        ('{"x": {"command": "c", "args": "not a list"}}', "x.*args"),
        ('{"x": {"command": "c", "env": {"A": 1}}}', r"x.*env\.A"),
        ('{"a b": {"command": "c"}}', "a b.*name"),
    ],
)
def test_a_damaged_file_is_named_with_its_key_and_never_overwritten(
    agents: Agents, text: str, words: str
) -> None:
    agents.file.parent.mkdir()
    agents.file.write_bytes(text.encode("latin-1"))
    for action in (lambda: agents.add("n", "c", save=True), lambda: agents.remove("demo")):
        with pytest.raises(UsageError, match=words) as caught:
            action()
        assert str(agents.file) in caught.value.message
    assert agents.file.read_bytes() == text.encode("latin-1")


@pytest.mark.parametrize("text", ["{", "[]", '{"x": {"nope": 1}, "y": 2, "good": {"command": "g"}}'])
def test_a_damaged_file_stops_no_other_agent_and_is_told(agents: Agents, text: str) -> None:
    assert agents.problem is None
    agents.file.parent.mkdir()
    agents.file.write_text(text)
    agents.add("mine", "prog")
    assert (agents.get("demo").name, agents.get("mine").command) == ("demo", "prog")
    names = [spec.name for spec in agents.all()]
    assert ("good" in names, "x" in names) == ("good" in text, False)
    assert agents.problem is not None
    assert str(agents.file) in agents.problem
    assert ("'x'" in agents.problem and "nope" in agents.problem and "'y'" in agents.problem) == (
        "nope" in text
    )


def test_what_cannot_be_written_is_told_with_its_path_and_nothing_is_lost(
    agents: Agents, monkeypatch: pytest.MonkeyPatch
) -> None:
    agents.add("kept", "prog", save=True)
    before = agents.file.read_bytes()

    def full(*_args: Any, **_more: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr("acp_jupyter.session.files.os.replace", full)
        with pytest.raises(UsageError, match="No space left") as caught:
            agents.add("more", "prog", save=True)
    assert str(agents.file) in caught.value.message
    assert [file.read_bytes() for file in agents.file.parent.iterdir()] == [before]
    under_a_file = Agents(agents.file / "agents.json")
    with pytest.raises(UsageError, match="cannot"):
        under_a_file.add("more", "prog", save=True)


def test_the_file_keeps_its_mode_and_a_link_stays_one(agents: Agents, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    real.chmod(0o600)
    agents.file.parent.mkdir()
    agents.file.symlink_to(real)
    agents.add("mine", "prog", save=True)
    assert agents.file.is_symlink()
    assert (json.loads(real.read_text()), real.stat().st_mode & 0o777) == (
        {"mine": {"command": "prog"}},
        0o600,
    )


@pytest.mark.parametrize(
    ("name", "command"), [("", "c"), ("a b", "c"), ("-x", "c"), ("ok", ""), ("../x", "c")]
)
def test_what_cannot_be_an_agent_is_not_added(agents: Agents, name: str, command: str) -> None:
    with pytest.raises(UsageError, match="agent"):
        agents.add(name, command, save=True)
    assert not agents.file.exists()


def test_what_it_needs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = AgentSpec(name="a", command="c", needs=("HAVE", "MISS", "EMPTY"))
    monkeypatch.setenv("HAVE", "1")
    monkeypatch.setenv("EMPTY", "")
    monkeypatch.delenv("MISS", raising=False)
    with pytest.raises(UsageError, match="MISS, EMPTY"):
        spec.check_environment()


# --- sessions


def test_one_session_per_agent_and_the_last_named_is_current(sessions: Sessions) -> None:
    with pytest.raises(UsageError, match="no agent was chosen"):
        sessions.get()
    with pytest.raises(AgentUnknown):
        sessions.get("nobody")
    assert sessions.current is None
    one = sessions.get("one")
    two = sessions.get("two")
    assert (sessions.get(), sessions.get("one"), sessions.get()) == (two, one, one)
    assert sessions.all() == [one, two]
    assert (one.pid, two.pid) == (None, None)
    assert (one.run("go").text, two.run("go").text) == ("one", "two")


def test_an_agent_added_anew_counts_once_its_process_has_ended(sessions: Sessions, tmp_path: Path) -> None:
    one = sessions.get("one")
    one.run("go")
    command, *args = script_command([{"text": "other"}], tmp_path / "other.json")
    sessions.agents.add("one", command, args)
    assert sessions.get("one") is one
    one.stop()
    assert sessions.get("one").run("go").text == "other"
    assert sessions.get("one") is one
    assert [turn.text for turn in one.turns] == ["one", "other"]
    assert "new process" in one.turns[1].notes[0].text


def test_also_where_the_current_session_is_asked_for_and_not_by_name(
    sessions: Sessions, tmp_path: Path
) -> None:
    one = sessions.get("one")
    command, *args = script_command([{"text": "other"}], tmp_path / "other.json")
    sessions.agents.add("one", command, args)
    assert sessions.get() is one
    assert one.run("go").text == "other"
    one.stop()
    sessions.agents.remove("one")
    assert sessions.get() is one
    assert one.run("again").text == "other"


def test_close_ends_every_agent_also_one_that_starts(sessions: Sessions, tmp_path: Path) -> None:
    command, *args = script_command(
        {"initialize": {"never": True}, "ignore_eof": True}, tmp_path / "mute.json"
    )
    sessions.agents.add("mute", command, args)
    one, mute = sessions.get("one"), sessions.get("mute")
    one.run("go")
    run = mute.start("go")
    until(mute, lambda: mute.turns)
    pids = [one.pid or 0, mute.pid or 0]
    sessions.close()
    assert all(gone(pid) for pid in pids if pid)
    assert not any(alive(pid) for pid in pids if pid)
    assert run.done()
    sessions.close()


def test_a_forked_child_that_exits_leaves_the_agents_alone(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = sessions.get("one")
    one.run("go")
    with monkeypatch.context() as child:
        child.setattr("os.getpid", lambda: 1)
        sessions.close()
    assert alive(one.pid or 0)
    assert one.run("again").text == "one"


# --- the loop


def test_the_loop_runs_in_a_thread_of_its_own_and_ends() -> None:
    loop = LoopThread()

    async def thread() -> threading.Thread:
        return threading.current_thread()

    async def within() -> Any:
        return loop.run(thread())

    first = loop.run(thread(), 5)
    assert first is loop.run(thread(), 5)
    assert first is not threading.current_thread()
    with pytest.raises(RuntimeError, match="await it instead"):
        loop.run(within(), 5)
    loop.close()
    assert not first.is_alive()
    loop.close()


def test_nobody_waits_for_ever_for_what_a_closed_loop_dropped() -> None:
    import asyncio  # noqa: PLC0415  # only this test looks under the cover

    loop = LoopThread()
    started = threading.Event()
    ended = threading.Event()

    async def endless() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    future = loop.submit(endless())
    assert started.wait(TIMEOUT_S)
    loop.close()
    assert ended.is_set()
    assert future.cancelled()
