"""Rows of the protocol that no other test of a session is about; the names are those of docs/protocol.md."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_jupyter.errors import AuthenticationRequired, UsageError
from acp_jupyter.session.agents import AgentSpec
from acp_jupyter.session.link import capabilities

from .bench import OPTIONS, ask, asked, finish, until

if TYPE_CHECKING:
    from .bench import Bench

COMMANDS = {
    "sessionUpdate": "available_commands_update",
    "availableCommands": [{"name": "web", "description": "Search"}],
}


def option(option_id: str, value: Any = "a", **more: Any) -> dict[str, Any]:
    choices = [{"value": one, "name": one.upper()} for one in ("a", "b")]
    return {
        "id": option_id,
        "name": option_id,
        "type": "select",
        "currentValue": value,
        "options": choices,
        **more,
    }


def test_i5_s8_what_is_offered_is_the_users_to_switch_off() -> None:
    offered = capabilities(AgentSpec(name="any", command="any"))
    assert offered["fs"] == {"readTextFile": True, "writeTextFile": True}
    assert offered["terminal"] is True
    assert offered["session"] == {"notices": {}, "compaction": {}, "configOptions": {"boolean": {}}}
    assert offered["_meta"]["terminal_output"] is True
    less = capabilities(AgentSpec(name="any", command="any", client_fs=False, client_terminal=False))
    assert less["fs"] == {"readTextFile": False, "writeTextFile": False}
    assert less["terminal"] is False


def test_a3_a_session_that_wants_a_log_in_again_goes_on_after_it(bench: Bench) -> None:
    script = {
        "initialize": {"authMethods": [{"id": "key", "name": "API key"}]},
        "turns": [[{"end_error": {"code": -32000, "message": "logged out"}}], [{"text": "on"}]],
    }
    session = bench.session(script)
    with pytest.raises(AuthenticationRequired, match="logged out") as caught:
        session.run("one")
    assert "key (API key)" in caught.value.advice
    pid, session_id = session.pid, session.session_id
    session.login("key")
    assert session.run("two").text == "on"
    assert (session.pid, session.session_id) == (pid, session_id)


def test_a4_updates_before_the_answer_to_session_new_count(bench: Bench) -> None:
    session = bench.session({"before_new_session": [{"update": COMMANDS}], "turns": [[{"text": "ok"}]]})
    turn = session.run("go")
    assert [command["name"] for command in turn.commands] == ["web"]


def test_c1_u7_an_update_outside_of_any_turn_changes_the_session(bench: Bench) -> None:
    go = str(bench.folder / "go")
    title = {"sessionUpdate": "session_info_update", "title": "A title"}
    session = bench.session([{"end": {}}, {"until_file": go}, {"update": COMMANDS}, {"update": title}])
    turn = session.run("go")
    assert (session.commands, turn.title) == ([], None)
    Path(go).touch()
    until(session, lambda: turn.title == "A title")
    assert [command["name"] for command in session.commands] == ["web"]


def test_o2_o3_options_keep_the_agents_order_whatever_their_category(bench: Bench) -> None:
    options = [
        option("z", category="_own"),
        option("effort", category="thought_level"),
        option("a"),
        option("m", category="model"),
    ]
    answer = {"result": {"configOptions": [{**one, "currentValue": "b"} for one in options]}}
    session = bench.session(
        {
            "new_session": {"configOptions": options},
            "methods": {"session/set_config_option": answer},
            "turns": [[]],
        }
    )
    turn = session.run("go")
    assert [one["id"] for one in session.options] == ["z", "effort", "a", "m"]
    assert [one["id"] for one in turn.options] == ["z", "effort", "a", "m"]
    session.choose(options={"z": "b"})
    assert {one["currentValue"] for one in session.options} == {"b"}


def test_o4_an_option_of_an_unknown_type_is_shown_and_never_set(bench: Bench) -> None:
    slider = {"id": "heat", "name": "Heat", "type": "slider", "currentValue": 0.5, "maximum": 1}
    session = bench.session({"new_session": {"configOptions": [slider, option("a")]}, "turns": [[]]})
    turn = session.run("go")
    assert [(one["name"], one["value"]) for one in turn.options] == [("Heat", "0.5"), ("a", "A")]
    with pytest.raises(UsageError, match="Heat"):
        session.choose(options={"heat": "0.7"})
    methods = [frame.message.get("method") for frame in session.frames]
    assert "session/set_config_option" not in methods


def test_p6_what_always_means_is_the_agents_to_remember(bench: Bench) -> None:
    session = bench.session([ask({}, save="one"), ask({}, save="two")])
    with session.attended():
        run = session.start("go")
        asked(session)
        session.pending[0].select("always")
        until(session, lambda: len(run.turn.permissions) == 2)
        (second,) = asked(session)
        assert [one.option_id for one in second.options] == [one["optionId"] for one in OPTIONS]
        session.pending[0].reject()
        turn = finish(run)
    assert [one.option_id for one in turn.permissions.values()] == ["always", "no"]


def test_tc10_a_location_grants_no_access(bench: Bench) -> None:
    outside = bench.folder / "outside.txt"
    outside.write_text("private")
    call = {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Read", "kind": "read"}
    read = {"request": "fs/read_text_file", "params": {"path": str(outside)}, "save": "r"}
    where = {"locations": [{"path": str(outside), "line": 1}]}
    session = bench.session([{"update": {**call, **where}}, read, {"text": "${r.error.data.reason}"}])
    turn = session.run("go", policy="allow-once-all")
    assert turn.text == "outside_roots"
    assert turn.tool_calls["c1"].locations[0].path == str(outside)
