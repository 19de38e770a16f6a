"""Sessions that last: loaded, resumed, forked, listed, closed, deleted; and what an agent lets be chosen."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

from acp_jupyter.errors import AcpError, AgentTimeout, AuthenticationRequired, RequestFailed, UsageError
from acp_jupyter.model.transcript import to_json
from acp_jupyter.model.turn import ModeChange, OptionChange
from acp_jupyter.session.choices import Choices
from acp_jupyter.session.memory import Remembered
from acp_jupyter.session.run import Limits

from .bench import ask, begun, finish, soon

if TYPE_CHECKING:
    from .bench import Bench

ALL = {
    "loadSession": True,
    "auth": {"logout": {}},
    "sessionCapabilities": {name: {} for name in ("resume", "fork", "list", "close", "delete")},
}


def said(kind: str, text: str) -> dict[str, Any]:
    return {"update": {"sessionUpdate": kind, "content": {"type": "text", "text": text}}}


HISTORY = [said("user_message_chunk", "Earlier?"), said("agent_message_chunk", "Yes.")]


def agent(bench: Bench, offers: Any = ALL, methods: Any = None, **script: Any) -> Any:
    """A session with an agent that remembers."""
    script = {"turns": [[{"text": "ok"}]], "initialize": {"agentCapabilities": offers}, **script}
    return bench.session({**script, "methods": methods or {}})


def sent(session: Any) -> list[str]:
    return [f.message["method"] for f in session.frames if f.direction == "out" and "method" in f.message]


# --- another session


def test_a5_and_r23_a_load_gives_the_history_and_prompts_go_on_in_that_session(bench: Bench) -> None:
    session = agent(bench, methods={"session/load": {"steps": HISTORY, "result": None}})
    history = session.load("old")
    assert [turn.text for turn in history] == ["Yes."]
    assert session.session_id == "old"
    assert session.turns == [], "nothing was live"
    assert session.run("On.").text == "ok"
    (prompt,) = [f.message for f in session.frames if f.message.get("method") == "session/prompt"]
    assert prompt["params"]["sessionId"] == "old"
    assert sent(session) == ["initialize", "session/load", "session/prompt"]


def test_r23_a_replayed_permission_request_asks_nobody(bench: Bench) -> None:
    steps = [*HISTORY, ask({"kind": "edit"})]
    session = agent(bench, methods={"session/load": {"steps": steps, "result": {}}})
    with session.attended():
        session.load("old")
    assert bench.answers("session/request_permission")[0]["result"] == {"outcome": {"outcome": "cancelled"}}
    assert session.pending == []


@pytest.mark.parametrize("how", ["load", "resume", "fork"])
def test_a5_a6_a16_i4_not_without_the_capability(bench: Bench, how: str) -> None:
    session = agent(bench, offers={})
    session.run("First.")
    before = session.session_id
    with pytest.raises(UsageError, match="does not take"):
        getattr(session, how)("old")
    assert session.run("Still here.").text == "ok"
    assert session.session_id == before or how != "load"
    assert f"session/{how}" not in sent(session)


def test_a5_a_session_that_the_agent_does_not_know(bench: Bench) -> None:
    unknown = {"error": {"code": -32002, "message": "no such session"}, "steps": HISTORY}
    session = agent(bench, methods={"session/load": unknown})
    with pytest.raises(RequestFailed, match="no such session"):
        session.load("old")
    assert session.history == []
    assert session.run("Anew.").text == "ok"


def test_a6_a_resume_tells_no_history(bench: Bench) -> None:
    session = agent(bench, methods={"session/resume": {"result": {}}})
    session.resume("old", str(bench.folder))
    assert (session.session_id, session.history, session.cwd) == ("old", [], str(bench.folder))
    assert session.run("On.").text == "ok"


def test_a16_a_fork_goes_on_under_a_new_id(bench: Bench) -> None:
    session = agent(bench, methods={"session/fork": {"result": {"sessionId": "copy"}}})
    session.run("First.")
    assert session.fork() == "copy"
    assert session.run("On.").session_id == "copy"


@pytest.mark.parametrize("how", ["resume", "fork"])
def test_r23_history_that_comes_unasked_is_history_too(bench: Bench, how: str) -> None:
    tells = {"steps": HISTORY, "result": {"sessionId": "copy"}}
    session = agent(bench, methods={f"session/{how}": tells})
    before = session.run("First.")
    items = to_json(before)["items"]
    getattr(session, how)(session.session_id)
    assert to_json(before)["items"] == items, "nothing was live"
    assert [turn.text for turn in session.history] == ["Yes."]
    assert session.run("On.").text == "ok"


def test_a_resume_that_tells_nothing_leaves_the_history_of_the_same_session(bench: Bench) -> None:
    methods = {"session/load": {"steps": HISTORY, "result": {}}, "session/resume": {"result": {}}}
    session = agent(bench, methods=methods)
    session.load("old")
    session.resume("old")
    assert [turn.text for turn in session.history] == ["Yes."]
    session.resume("other")
    assert session.history == []


def test_a8_the_list_is_gathered_over_its_pages(bench: Bench) -> None:
    page = {"sessions": [{"sessionId": "s1", "cwd": "/a", "title": "One"}]}
    session = agent(bench, methods={"session/list": {"result": page}})
    assert session.sessions("/a") == page["sessions"]
    assert session.session_id is None, "a list restores nothing"


def test_a7_and_a9_close_and_delete(bench: Bench) -> None:
    session = agent(bench, methods={"session/close": {"result": {}}, "session/delete": {"result": {}}})
    with pytest.raises(UsageError, match="no session is open"):
        session.close()
    first = session.run("First.").session_id
    session.close()
    assert session.session_id is None
    second = session.run("Second.").session_id
    assert second not in {None, first}
    session.delete(second)
    assert session.run("Third.").session_id not in {first, second}


def test_a_running_turn_keeps_its_session(bench: Bench) -> None:
    session = agent(bench, turns=[[{"text": "begun"}, {"until_cancel": True}]])
    run = session.start("Go.")
    begun(session, run)
    for call in (lambda: session.load("old"), session.close):
        with pytest.raises(UsageError, match="a turn is running"):
            call()
    run.cancel()
    finish(run)


# --- an agent that died


@pytest.mark.parametrize(
    ("offers", "way"),
    [
        (ALL, "session/resume"),
        ({"loadSession": True}, "session/load"),
        ({}, "session/new"),
    ],
)
def test_p03_an_agent_that_died_takes_its_session_up_again_where_it_can(
    bench: Bench, offers: Any, way: str
) -> None:
    methods = {"session/resume": {"result": {}}, "session/load": {"steps": HISTORY, "result": {}}}
    session = agent(bench, offers=offers, methods=methods)
    first = session.run("First.")
    assert session.pid is not None
    pid = session.pid
    os.kill(pid, signal.SIGKILL)
    soon(lambda: session.pid is None)
    second = session.run("Second.")
    assert second.text == "ok", "nothing of the history is in the live turn"
    assert way in sent(session)[3:]
    same = way != "session/new"
    assert (second.session_id == first.session_id) == same
    (note,) = second.notes
    assert ("taken up the session again" if same else "does not know what was said before") in note.text
    assert [turn.text for turn in session.history] == (["Yes."] if way == "session/load" else [])


def test_p03_a_session_that_cannot_be_had_again_is_new_and_says_so(bench: Bench) -> None:
    forgot = {"error": {"code": -32002, "message": "gone for good"}}
    session = agent(bench, methods={"session/resume": forgot})
    session.run("First.")
    session.restart()
    second = session.run("Second.")
    assert second.text == "ok"
    assert second.notes[0].severity == "warning"
    assert "gone for good" in second.notes[0].text


def test_s9_a_later_kernel_is_told_of_the_session(bench: Bench) -> None:
    session = agent(bench)
    kept: list[Remembered] = []
    session.keep = kept.append
    session.run("First.")
    session.run("Second.")
    assert kept == [Remembered(str(session.session_id), str(bench.work))]


# --- modes, models, options

MODES = {
    "currentModeId": "ask",
    "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "plan", "name": "Plan only"}],
}
GROUPED = [
    {"group": "g", "name": "G", "options": [{"value": "s", "name": "Small"}, {"value": "l", "name": "Large"}]}
]
OPTIONS = [
    {
        "id": "m",
        "name": "Model",
        "category": "model",
        "type": "select",
        "currentValue": "s",
        "options": GROUPED,
    },
    {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": False},
]


def changed(option_id: str, value: Any) -> list[dict[str, Any]]:
    return [{**option, "currentValue": value} if option["id"] == option_id else option for option in OPTIONS]


def asked_for(session: Any) -> list[tuple[str, Any]]:
    frames = [
        f.message for f in session.frames if f.direction == "out" and "/set_" in f.message.get("method", "")
    ]
    return [(one["method"], {k: v for k, v in one["params"].items() if k != "sessionId"}) for one in frames]


def test_a12_a_mode_is_in_force_before_the_first_prompt(bench: Bench) -> None:
    session = agent(bench, new_session={"modes": MODES}, methods={"session/set_mode": {"result": {}}})
    turn = session.run("Plan.", choices=Choices(mode="plan only"))
    assert sent(session) == ["initialize", "session/new", "session/set_mode", "session/prompt"]
    assert turn.mode == {"id": "plan", "name": "Plan only"}
    assert turn.items[0] == ModeChange("plan", "Plan only", "you")
    with pytest.raises(UsageError, match="no mode 'yolo'") as caught:
        session.choose(mode="yolo")
    assert "ask (Ask), plan (Plan only)" in caught.value.advice


def test_a12_a_mode_that_is_refused_sends_no_prompt(bench: Bench) -> None:
    refusal = {"error": {"code": -32601, "message": "method not found"}}
    session = agent(bench, new_session={"modes": MODES}, methods={"session/set_mode": refusal})
    bench.may_complain = True
    with pytest.raises(RequestFailed, match="method not found"):
        session.run("Plan.", choices=Choices(mode="plan"))
    assert "session/prompt" not in sent(session)
    assert session.run("Without.").text == "ok"


def test_a13_o3_o4_options_grouped_and_boolean_by_id_or_name(bench: Bench) -> None:
    both = [{**option, "currentValue": {"m": "l", "fast": True}[option["id"]]} for option in OPTIONS]
    answer = {"result": {"configOptions": both}}
    session = agent(
        bench, new_session={"configOptions": OPTIONS}, methods={"session/set_config_option": answer}
    )
    turn = session.run("Go.", choices=Choices(model="large", options={"Fast": "on"}))
    assert asked_for(session) == [
        ("session/set_config_option", {"configId": "fast", "value": True, "type": "boolean"}),
        ("session/set_config_option", {"configId": "m", "value": "l"}),
    ]
    assert (
        OptionChange("m", "Model", "Large", "agent") in turn.items
        or OptionChange("m", "Model", "Large", "you") in turn.items
    )
    assert session.options == both, "the complete list replaces"
    for wrong in ({"options": {"nope": 1}}, {"options": {"fast": "maybe"}}, {"model": "huge"}):
        with pytest.raises(UsageError):
            session.choose(**wrong)


def test_r37_an_answer_without_a_list_waits_for_the_notification(bench: Bench) -> None:
    told = {"update": {"sessionUpdate": "config_option_update", "configOptions": changed("m", "l")}}
    session = agent(
        bench,
        new_session={"configOptions": OPTIONS},
        methods={"session/set_config_option": {"steps": [told], "result": {}}},
    )
    turn = session.run("Go.", choices=Choices(model="l"))
    assert turn.items[0] == OptionChange("m", "Model", "Large", "you")


def test_o1_options_stand_for_the_modes(bench: Bench) -> None:
    mode = {
        "id": "mode",
        "name": "Mode",
        "category": "mode",
        "currentValue": "ask",
        "options": [{"value": "plan"}],
    }
    answer = {"result": {"configOptions": [{**mode, "currentValue": "plan"}]}}
    session = agent(
        bench,
        new_session={"modes": MODES, "configOptions": [mode]},
        methods={"session/set_config_option": answer},
    )
    session.choose(mode="plan")
    assert asked_for(session) == [("session/set_config_option", {"configId": "mode", "value": "plan"})]


@pytest.mark.parametrize("listed", [True, False])
def test_an_older_agents_model(bench: Bench, *, listed: bool) -> None:
    models = {"currentModelId": "s", "availableModels": [{"modelId": "s"}, {"modelId": "l", "name": "Large"}]}
    session = agent(
        bench,
        new_session={"models": models} if listed else {},
        methods={"session/set_model": {"result": {}}},
    )
    turn = session.run("Go.", choices=Choices(model="large" if listed else "l"))
    assert asked_for(session) == [("session/set_model", {"modelId": "l"})]
    if listed:
        assert turn.items[0] == OptionChange("_model", "Model", "Large", "you")
        with pytest.raises(UsageError, match="no model 'huge'"):
            session.choose(model="huge")


def test_an_agent_whose_model_cannot_be_chosen(bench: Bench) -> None:
    session = agent(bench)
    bench.may_complain = True
    with pytest.raises(UsageError, match="no model 'large'") as caught:
        session.choose(model="large")
    assert caught.value.advice == "It lets no model be chosen."
    assert session.run("Go.").text == "ok"


@pytest.mark.parametrize("category", ["mode", "model"])
def test_a13_an_option_that_the_agent_did_not_take(bench: Bench, category: str) -> None:
    option = {**OPTIONS[0], "category": category}
    kept, other = [option], [{**option, "currentValue": "l-2026"}]
    session = agent(
        bench,
        new_session={"configOptions": kept},
        methods={"session/set_config_option": {"result": {"configOptions": kept}}},
    )
    with pytest.raises(UsageError, match="did not take Model = l: it answered that it is s"):
        session.run("Go.", choices=Choices(**{category: "large"}))
    assert "session/prompt" not in sent(session)
    words = agent(
        bench,
        new_session={"configOptions": kept},
        methods={"session/set_config_option": {"result": {"configOptions": other}}},
    )
    if category == "mode":
        with pytest.raises(UsageError, match="it is l-2026"):
            words.choose(mode="l")
    else:
        words.choose(model="l")
        assert words.options == other, "its own word for it"


# --- what was chosen stays chosen


@pytest.mark.parametrize("how", ["died", "restart", "new", "load"])
@pytest.mark.parametrize("offers", [ALL, {}], ids=["resumed", "new session"])
def test_a12_a_mode_is_set_again_where_the_session_is_opened_again(
    bench: Bench, how: str, offers: Any
) -> None:
    opened = {"result": {"modes": MODES}}
    session = agent(
        bench,
        offers=ALL if how == "load" else offers,
        new_session={"modes": MODES},
        methods={"session/set_mode": {"result": {}}, "session/resume": opened, "session/load": opened},
    )
    session.run("Plan.", choices=Choices(mode="plan"))
    if how == "died":
        pid = session.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        soon(lambda: session.pid is None)
    elif how == "load":
        session.load("other")
    else:
        getattr(session, how)()
    turn = session.run("Go on.")
    assert turn.mode == {"id": "plan", "name": "Plan only"}
    assert asked_for(session) == [("session/set_mode", {"modeId": "plan"})] * 2
    assert sent(session)[-2:] == ["session/set_mode", "session/prompt"]
    assert how == "load" or turn.items[0] == ModeChange("plan", "Plan only", "you"), "it is told"
    session.run("And on.")
    assert len(asked_for(session)) == 2


def test_a13_options_are_set_again_also_where_the_agent_lists_nothing_this_time(bench: Bench) -> None:
    session = agent(
        bench,
        new_session={"configOptions": OPTIONS},
        methods={
            "session/set_config_option": {"result": {"configOptions": changed("fast", value=True)}},
            "session/resume": {"result": {}},
        },
    )
    session.run("Go.", choices=Choices(options={"fast": "on"}))
    session.restart()
    session.run("Go.")
    assert (
        asked_for(session)
        == [("session/set_config_option", {"configId": "fast", "value": True, "type": "boolean"})] * 2
    )


def test_a12_a_mode_that_cannot_be_set_again_sends_no_prompt_and_says_so(bench: Bench) -> None:
    session = agent(
        bench,
        new_session={"modes": MODES},
        methods={
            "session/set_mode": {"result": {}},
            "session/resume": {"result": {"modes": {**MODES, "availableModes": MODES["availableModes"][:1]}}},
        },
    )
    session.run("Plan.", choices=Choices(mode="plan"))
    session.restart()
    with pytest.raises(UsageError, match="could not be set again: the agent has no mode 'plan'") as caught:
        session.run("Go on.")
    assert "No prompt was sent" in caught.value.advice
    assert sent(session).count("session/prompt") == 1
    assert session.run("Without.").mode == {"id": "ask", "name": "Ask"}


def test_a12_the_mode_of_every_session_is_that_of_a_resumed_one_too(bench: Bench) -> None:
    session = bench.session(
        {
            "turns": [[{"text": "ok"}]],
            "initialize": {"agentCapabilities": ALL},
            "methods": {"session/resume": {"result": {"modes": MODES}}, "session/set_mode": {"result": {}}},
        },
        default_mode="plan",
    )
    session.resume("old")
    assert session.run("Go.").mode == {"id": "plan", "name": "Plan only"}


def test_r26_a_default_that_cannot_be_set_is_a_warning_but_not_a_mode(bench: Bench) -> None:
    session = bench.session({"turns": [[{"text": "ok"}]]}, default_options={"nope": "x"})
    turn = session.run("Go.")
    assert turn.text == "ok"
    assert "could not be set" in turn.notes[0].text
    strict = bench.session({"turns": [[{"text": "ok"}]]}, name="strict", default_mode="plan")
    with pytest.raises(UsageError, match="no mode 'plan'"):
        strict.run("Go.")
    assert "session/prompt" not in sent(strict)


def test_o7_a_mode_is_set_while_a_turn_runs(bench: Bench) -> None:
    session = agent(
        bench,
        turns=[[{"text": "begun"}, {"until_cancel": True}]],
        new_session={"modes": MODES},
        methods={"session/set_mode": {"result": {}}},
    )
    run = session.start("Go.")
    begun(session, run)
    session.choose(mode="plan")
    assert run.turn.mode == {"id": "plan", "name": "Plan only"}
    run.cancel()
    finish(run)


# --- log-in


def test_a2_and_au5_a_log_in_and_the_next_prompt_goes_on(bench: Bench) -> None:
    session = agent(
        bench,
        initialize={"agentCapabilities": ALL, "authMethods": [{"id": "key", "name": "API key"}]},
        new_session={"error": {"code": -32000, "message": "log in first"}, "until": "authenticate"},
        methods={"authenticate": {"result": {}}, "logout": {"result": {}}},
    )
    with pytest.raises(AuthenticationRequired) as caught:
        session.run("Go.")
    assert "key (API key). Log in with: %acp login key" in caught.value.advice
    pid = session.pid
    session.login("key")
    assert session.run("Go.").text == "ok"
    assert session.pid == pid
    session.logout()
    assert sent(session)[-1] == "logout"


def test_au3_a_log_in_in_a_terminal_is_never_called(bench: Bench) -> None:
    methods = [{"id": "tui", "name": "Terminal", "type": "terminal", "args": ["--login"]}]
    session = agent(bench, initialize={"authMethods": methods})
    assert session.auth_methods == methods
    for method, words in (("tui", "runs in a terminal"), ("nope", "no log-in 'nope'")):
        with pytest.raises(UsageError, match=words):
            session.login(method)
    assert "authenticate" not in sent(session)


def test_i7_a_load_that_is_never_answered(bench: Bench) -> None:
    script = {"initialize": {"agentCapabilities": ALL}, "methods": {"session/load": {"never": True}}}
    session = bench.session(script, limits=Limits(start_s=3))
    with pytest.raises(AgentTimeout, match="session/load"):
        session.load("old")
    assert session.history == []


@pytest.mark.parametrize("how", ["load", "resume", "fork"])
@pytest.mark.parametrize(
    "answer", [{"error": {"code": -32002, "message": "no such session"}}, {"never": True}]
)
def test_a_switch_that_fails_costs_the_session_nothing(bench: Bench, how: str, answer: Any) -> None:
    modes = {"currentModeId": "yolo", "availableModes": [{"id": "plan", "name": "Plan"}, {"id": "yolo"}]}
    option = {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": True}
    opened = {"modes": modes, "configOptions": [option]}
    methods = {f"session/{how}": answer, "session/set_mode": {"result": {}}}
    commands = {
        "sessionUpdate": "available_commands_update",
        "availableCommands": [{"name": "x", "description": ""}],
    }
    turn = [
        {"update": commands},
        {"update": {"sessionUpdate": "session_info_update", "title": "T"}},
        {"text": "x"},
    ]
    script = {
        "initialize": {"agentCapabilities": ALL},
        "new_session": opened,
        "methods": methods,
        "turns": [turn],
    }
    session = bench.session(script, limits=Limits(start_s=3))
    session.run("go")
    before = (session.session_id, session.modes, session.mode, session.options, session.commands)
    with pytest.raises(AcpError):
        getattr(session, how)("nope")
    assert (session.session_id, session.modes, session.mode, session.options, session.commands) == before
    session.choose(mode="plan")
    assert session.run("and on").state == "done"
