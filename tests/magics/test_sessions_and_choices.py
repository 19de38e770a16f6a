"""``%acp`` about sessions, options and commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acp_jupyter.errors import UsageError
from acp_jupyter.kernel.sessions import sessions
from acp_jupyter.views.text import turn_text

if TYPE_CHECKING:
    from .conftest import Typist


@pytest.fixture
def forgetful(typist: Typist) -> Typist:
    """With an agent that deletes sessions, and has begun one."""
    typist.add(
        "forgetful",
        {
            "initialize": {"agentCapabilities": {"sessionCapabilities": {"delete": {}}}},
            "methods": {
                "session/delete": {"result": {}},
            },
            "turns": [[{"text": "done"}]],
        },
    )
    typist.cell("forgetful")
    return typist


def deleted() -> bool:
    """Whether the agent was told to."""
    return "session/delete" in [row.method for row in sessions().get().log]


@pytest.mark.parametrize(("typed", "gone"), [("yes", 1), ("y", 1), ("no", 0), ("", 0)])
def test_a9_a_session_is_deleted_after_a_yes_alone(
    forgetful: Typist, monkeypatch: pytest.MonkeyPatch, typed: str, gone: int
) -> None:
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return typed

    monkeypatch.setattr("builtins.input", answer)
    told = forgetful.line("delete some-id")
    assert asked == ["forgetful forgets the session some-id for good. Type yes to do it: "]
    assert (told == "The agent has forgotten some-id.\n", told == "Nothing was deleted.\n") == (
        gone,
        not gone,
    )
    assert deleted() == gone


def test_a9_where_nobody_can_be_asked_nothing_is_deleted_but_with_yes(
    forgetful: Typist, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody(_prompt: str) -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", nobody)
    with pytest.raises(UsageError, match="nobody can be asked, so nothing was done"):
        forgetful.line("delete some-id")
    assert not deleted()
    assert forgetful.line("delete some-id --yes") == "The agent has forgotten some-id.\n"
    assert deleted()


def test_u7_commands_are_told_with_the_hint_for_what_follows(typist: Typist) -> None:
    commands = [
        {"name": "web", "description": "Search the web", "input": {"hint": "query"}},
        {"name": "reset", "description": "Begin anew"},
    ]
    known = {"sessionUpdate": "available_commands_update", "availableCommands": commands}
    typist.add("worker", [{"update": known}])
    turn, _, _ = typist.cell("worker")
    lines = typist.line("commands").splitlines()
    assert [line.split(maxsplit=2) for line in lines] == [
        ["/web", "[query]", "Search the web"],
        ["/reset", "Begin", "anew"],
    ]
    assert "/web [query] (Search the web), /reset (Begin anew)" in turn_text(turn)


def test_o5_a_switch_is_listed_as_on_and_off(typist: Typist) -> None:
    option = {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": True}
    typist.add("worker", {"new_session": {"configOptions": [option]}, "turns": [[{"text": "done"}]]})
    typist.cell("worker")
    assert typist.line("set") == "Fast  (fast)\n* on\n  off\n"


def test_t1_the_text_has_the_numbers_that_inspect_takes(typist: Typist) -> None:
    calls = [
        {"update": {"sessionUpdate": "tool_call", "toolCallId": one, "title": one}} for one in ("a", "b")
    ]
    typist.add("worker", {"turns": [[{"text": "one"}], calls]})
    typist.cell("worker")
    turn, _, _ = typist.cell("worker")
    lines = turn_text(turn).splitlines()
    assert lines[0].endswith("· turn 2")
    assert [line for line in lines if "call 2." in line] == ["    call 2.1", "    call 2.2"]
    assert typist.line("inspect 2.2").startswith("2.2 ")
