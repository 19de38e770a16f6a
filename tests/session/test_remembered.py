"""Sessions that last: over an agent's restart, over a kernel's, and those that the agent lists."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import platformdirs
import pytest

from acp_jupyter.errors import AgentUnknown, UsageError
from acp_jupyter.model.transcript import MIME
from acp_jupyter.model.turn import ModeChange
from acp_jupyter.session.choices import Choices
from acp_jupyter.session.memory import Memory, Remembered, in_notebook
from acp_jupyter.session.sessions import Sessions
from acp_jupyter.testing import script_command


def test_s9_a_session_is_remembered_by_notebook_and_agent(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "state" / "sessions.json")
    memory.keep("/home/user/a.ipynb", "fake", Remembered("s1", "/home/user"))
    memory.keep("/home/user/b.ipynb", "fake", Remembered("s2", "/home/user"))
    memory.keep("/home/user/a.ipynb", "other", Remembered("s3", "/home/user"))
    later = Memory(memory.file)
    assert later.find("/home/user/a.ipynb", "fake") == Remembered("s1", "/home/user")
    assert later.find("/home/user/b.ipynb", "fake") == Remembered("s2", "/home/user")
    assert later.find("/home/user/c.ipynb", "fake") is None


def test_s9_two_kernels_on_one_notebook_the_latest_is_remembered(tmp_path: Path) -> None:
    one, other = Memory(tmp_path / "sessions.json"), Memory(tmp_path / "sessions.json")
    one.keep("/home/user/a.ipynb", "fake", Remembered("s1", "/home/user"))
    other.keep("/home/user/a.ipynb", "fake", Remembered("s2", "/home/user"))
    assert one.find("/home/user/a.ipynb", "fake") == Remembered("s2", "/home/user")


def turn(session_id: str | None, agent: str = "fake") -> dict[str, Any]:
    document = {"session_id": session_id, "cwd": "/home/user", "agent": {"name": agent}}
    return {"output_type": "display_data", "data": {MIME: document}}


def test_s9_a_notebook_that_was_moved_is_known_by_its_own_transcripts(tmp_path: Path) -> None:
    notebook = tmp_path / "moved.ipynb"
    outputs = [turn("s1"), turn("s2"), turn("s9", "other"), turn(None), {"output_type": "stream"}, "odd"]
    notebook.write_text(json.dumps({"cells": [{"outputs": outputs}, {"cell_type": "markdown"}, 3]}))
    assert in_notebook(notebook, "fake") == Remembered("s2", "/home/user")
    assert Memory(tmp_path / "none.json").find(str(notebook), "fake") == Remembered("s2", "/home/user")


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"cells": 3}', "[" * 100_000])
def test_a_damaged_file_is_no_memory_and_no_error(tmp_path: Path, text: str) -> None:
    for name in ("sessions.json", "x.ipynb"):
        (tmp_path / name).write_text(text)
    memory = Memory(tmp_path / "sessions.json")
    assert memory.find(str(tmp_path / "x.ipynb"), "fake") is None
    memory.keep("/home/user/a.ipynb", "fake", Remembered("s1", "/home/user"))
    assert memory.find("/home/user/a.ipynb", "fake") == Remembered("s1", "/home/user")


def test_a_file_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    memory = Memory(tmp_path / "file" / "sessions.json")
    with pytest.raises(UsageError, match="cannot write"):
        memory.keep("/home/user/a.ipynb", "fake", Remembered("s1", "/home/user"))
    assert memory.find("/home/user/a.ipynb", "fake") is None


def test_s9_earlier_sessions_stay_known_and_so_does_what_was_chosen(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "sessions.json")
    first = Remembered("s1", "/home/user", ((None, "plan"), ("fast", True)))
    memory.keep("/home/user", "fake", first)
    memory.keep("/home/user", "fake", Remembered("s2", "/home/user"))
    memory.keep("/home/user", "other", Remembered("o1", "/home/user"))
    assert memory.find_all("/home/user", "fake") == [Remembered("s2", "/home/user"), first]
    memory.keep("/home/user", "fake", first)
    assert memory.find_all("/home/user", "fake") == [first, Remembered("s2", "/home/user")]
    assert memory.agents("/home/user") == ["fake", "other"]


def test_s9_a_notebook_chooses_nothing(tmp_path: Path) -> None:
    notebook = tmp_path / "cloned.ipynb"
    told = turn("s1")
    told["data"][MIME] |= {"chosen": [[None, "yolo"]], "earlier": [{"session_id": "s0", "cwd": "/"}]}
    notebook.write_text(json.dumps({"cells": [{"outputs": [told, turn("o1", "other")]}]}))
    memory = Memory(tmp_path / "none.json")
    assert memory.find_all(str(notebook), "fake") == [Remembered("s1", "/home/user")]
    assert memory.agents(str(notebook)) == ["other", "fake"]
    memory.keep(str(notebook), "fake", Remembered("s2", "/home/user"))
    assert memory.find_all(str(notebook), "fake")[1:] == [Remembered("s1", "/home/user")]


# --- a later kernel

MODES = {
    "currentModeId": "ask",
    "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "plan", "name": "Plan only"}],
}


class Kernels:
    """Kernels one after the other on one notebook."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.all: list[Sessions] = []
        self.commands: dict[str, list[str]] = {}

    def agent(self, name: str, *, remembers: bool = True) -> None:
        offers = {"sessionCapabilities": {"resume": {}}} if remembers else {}
        script = {
            "turns": [[{"text": "ok"}]],
            "initialize": {"agentCapabilities": offers},
            "new_session": {"modes": MODES},
            "methods": {"session/resume": {"result": {"modes": MODES}}, "session/set_mode": {"result": {}}},
        }
        self.commands[name] = script_command(script, self.folder / f"{name}.json")

    def restart(self, *names: str) -> Sessions:
        """Begin a kernel in which these agents are known."""
        kernel = Sessions(notebook=lambda: str(self.folder / "a.ipynb"))
        for name in names:
            command, *args = self.commands[name]
            kernel.agents.add(name, command, args)
        self.all.append(kernel)
        return kernel


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kernels]:
    monkeypatch.setattr(platformdirs, "user_state_path", lambda _name: tmp_path / "state")
    monkeypatch.setattr(platformdirs, "user_config_path", lambda _name: tmp_path / "config")
    monkeypatch.chdir(tmp_path)
    made = Kernels(tmp_path)
    yield made
    for kernel in made.all:
        kernel.close()


def notes(turn: Any) -> list[str]:
    return [note.text for note in turn.notes]


def test_s9_after_a_kernel_restart_the_agent_of_this_notebook_is_taken(kernels: Kernels) -> None:
    kernels.agent("rich")
    kernels.agent("other")
    first = kernels.restart("rich").get("rich").run("Go.").session_id
    later = kernels.restart("rich", "other")
    assert later.get().name == "rich"
    remembered = later.remembered("rich")
    assert remembered is not None
    assert remembered.session_id == first
    later.get("other").run("Go.")
    with pytest.raises(UsageError, match="no agent was chosen yet") as caught:
        kernels.restart("rich", "other").get()
    assert "had sessions with other, rich. Name one: %acp use NAME" in caught.value.advice


def test_s9_an_agent_that_was_not_saved_is_gone_and_that_is_said(kernels: Kernels) -> None:
    kernels.agent("rich")
    kernels.restart("rich").get("rich").run("Go.")
    with pytest.raises(AgentUnknown, match="a session with rich, which is not known any more") as caught:
        kernels.restart().get()
    assert "without --save is gone" in caught.value.advice


def test_s9_a_new_session_where_there_was_one_is_told_and_the_earlier_one_can_be_had(
    kernels: Kernels,
) -> None:
    kernels.agent("rich")
    first = kernels.restart("rich").get("rich").run("Go.")
    assert notes(first) == []
    later = kernels.restart("rich")
    session = later.get("rich")
    second = session.run("Go.")
    assert second.session_id != first.session_id
    (note,) = notes(second)
    assert f"had a session with rich before ({first.session_id}); this is a new one. %acp resume" in note
    session.new()
    assert notes(session.run("Afresh, as was wanted.")) == []
    for _again in range(2):
        remembered = later.remembered("rich")
        assert remembered is not None
        assert remembered.session_id == first.session_id
        session.resume(remembered.session_id, remembered.cwd)
    assert notes(session.run("On.")) == []
    assert session.session_id == first.session_id
    third = kernels.restart("rich").remembered("rich")
    assert third is not None
    assert third.session_id == first.session_id


def test_s9_a_new_session_is_nothing_to_tell_where_none_can_be_had_again(kernels: Kernels) -> None:
    kernels.agent("poor", remembers=False)
    kernels.restart("poor").get("poor").run("Go.")
    assert notes(kernels.restart("poor").get("poor").run("Go.")) == []


def test_a12_what_was_chosen_holds_in_a_later_kernel_too(kernels: Kernels) -> None:
    kernels.agent("rich")
    first = kernels.restart("rich").get("rich").run("Go.", choices=Choices(mode="plan"))
    session = kernels.restart("rich").get("rich")
    session.resume(str(first.session_id))
    assert session.run("On.").mode == {"id": "plan", "name": "Plan only"}
    other = kernels.restart("rich").get("rich")
    other.choose(mode="ask")
    told = other.run("Afresh.")
    assert len(notes(told)) == 1, "also where the session was opened before the prompt"
    other.resume(str(first.session_id))
    turn = other.run("On.")
    assert turn.mode == {"id": "ask", "name": "Ask"}, "what was chosen in this kernel counts"
    assert ModeChange("plan", "Plan only", "you") not in turn.items


def test_the_last_choice_with_an_agent_is_remembered_where_the_user_says_so(
    kernels: Kernels, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kernels.agent("rich")
    kernels.agent("other")
    monkeypatch.setenv("ACP_JUPYTER_REMEMBER_CHOICES", "true")
    kernels.restart("rich").get("rich").run("Go.", choices=Choices(mode="plan"))
    later = kernels.restart("rich", "other")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    turn = later.get("rich").run("Go.")
    assert turn.mode == {"id": "plan", "name": "Plan only"}
    assert "As you last chose with rich: mode = plan." in notes(turn)
    assert later.get("other").run("Go.").mode == {"id": "ask", "name": "Ask"}
    monkeypatch.setenv("ACP_JUPYTER_REMEMBER_CHOICES", "false")
    plain = kernels.restart("rich").get("rich")
    assert plain.run("Go.").mode == {"id": "ask", "name": "Ask"}
    plain.choose(mode="ask")
    assert Memory().choices("rich") == ((None, "plan"),)


def test_a_remembered_choice_that_is_no_longer_offered_is_told_once_and_forgotten(
    kernels: Kernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels.agent("rich")
    monkeypatch.setenv("ACP_JUPYTER_REMEMBER_CHOICES", "true")
    Memory().keep_choices("rich", ((None, "gone"),))
    session = kernels.restart("rich").get("rich")
    with pytest.raises(UsageError, match=r"could not be set again: the agent has no mode 'gone'"):
        session.run("Go.")
    assert session.run("Go.").state == "done"
    assert Memory().choices("rich") == ()
    assert kernels.restart("rich").get("rich").run("Go.").state == "done"


@pytest.mark.parametrize("text", ["[", "[]", '{"rich": 3}', '{"rich": [[null, "plan", 1], "x", [1, "a"]]}'])
def test_damaged_choices_are_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "choices.json").write_text(text)
    assert Memory(tmp_path / "sessions.json").choices("rich") == ()


def test_an_agent_of_the_settings_that_is_not_known_names_its_place(
    kernels: Kernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACP_JUPYTER_AGENT", "nonesuch")
    with pytest.raises(AgentUnknown, match=r"'nonesuch'.*\(agent, by ACP_JUPYTER_AGENT\)"):
        kernels.restart().get()
