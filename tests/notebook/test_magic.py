"""The magics in a real kernel: the scene of the README, told by the messages that a front end sees."""

from __future__ import annotations

import json
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from acp_jupyter.testing import script_command

from .front_end import FrontEnd, heard_by
from .kernels import kernel_python, running_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.notebook

MIME = "application/vnd.acp-jupyter.turn.v1+json"
WIDGET_MIME = "application/vnd.jupyter.widget-view+json"
OPTIONS = [
    {"optionId": "yes", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]


def ask(tool_call_id: str, **extra: Any) -> dict[str, Any]:
    call = {"toolCallId": tool_call_id, "title": "Touch it", "kind": "edit", "rawInput": {"n": 1}}
    params = {"toolCall": call, "options": OPTIONS}
    return {"request": "session/request_permission", "params": params, "save": tool_call_id, **extra}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def notebook(home: Path) -> Iterator[FrontEnd]:
    with running_kernel(kernel_python(), home) as kernel:
        front_end = FrontEnd(kernel)
        front_end.run("import os; os.environ['ACP_DEMO_SPEED'] = '0.2'\n%load_ext acp_jupyter")
        yield front_end


def test_the_scene_allowed(notebook: FrontEnd, home: Path) -> None:
    cell = notebook.execute("%%acp demo\nMake the failing test pass.")
    card = notebook.card_of(cell)
    request = notebook.asked(card)
    edit = card.turn["tool_calls"][request["tool_call_id"]]
    assert edit["kind"] == "edit"
    assert edit["content"][0]["type"] == "diff"
    grown = [len(text) for text in card.texts]
    assert len(set(grown)) > 3, "the text did not grow while the turn ran"
    before = (home / "acp-demo" / "stats.py").read_text()

    notebook.click(card, request, "allow-once")
    notebook.see(lambda: [one for one in card.open_requests if one["key"] != request["key"]])
    (run,) = card.open_requests
    assert (home / "acp-demo" / "stats.py").read_text() != before
    assert not notebook.idle(cell), "the clicks were served while the cell ran"
    notebook.click(card, run, run["options"][0]["option_id"])

    assert notebook.status(cell) == "ok"
    notebook.look()
    assert card.turn["state"] == "done"
    assert [one["decided_by"] for one in card.turn["permissions"].values()] == ["you", "you"]
    (bundle,) = notebook.outputs(cell)
    assert set(bundle) == {MIME, "text/html", "text/plain"}
    # a live card asks for a call's updates, a file holds them
    updates = [call.pop("updates") for call in bundle[MIME]["tool_calls"].values()]
    assert all(json.loads(one)["toolCallId"] for call in updates for one in call)
    assert bundle[MIME] == card.turn
    assert notebook.run("print(type(_).__name__, _ is Out[max(Out)])") == "Turn True\n"
    calls = notebook.value("[[c.raw_input, c.raw_output] for c in Out[max(Out)].tool_calls]")
    assert all(isinstance(raw_input, dict) for raw_input, _ in calls)
    assert calls[-1][1]["exitCode"] == 0


def test_the_scene_rejected_and_then_the_same_session(notebook: FrontEnd, home: Path) -> None:
    cell = notebook.execute("%%acp demo -o first\nMake the failing test pass.")
    card = notebook.card_of(cell)
    request = notebook.asked(card)
    before = (home / "acp-demo" / "stats.py").read_text()
    notebook.click(card, request, "reject")
    assert notebook.status(cell) == "ok"
    assert (home / "acp-demo" / "stats.py").read_text() == before

    again = notebook.execute("%%acp -o second --approve allow-once-all\nOnce more.")
    assert notebook.status(again) == "ok"
    assert notebook.value("[first.rejected[0].option_id, first.state, second.state]") == [
        "reject",
        "done",
        "done",
    ]
    assert notebook.value("first.session_id == second.session_id")
    assert notebook.value("[first.number, second.number]") == [1, 2]


def test_twenty_clicks_while_one_cell_blocks_and_queued_cells_run_once_in_order(
    notebook: FrontEnd, home: Path
) -> None:
    notebook.add_agent("asker", [ask(f"call-{n}") for n in range(20)], home)
    cell = notebook.execute("%%acp asker\nAsk me.")
    queued = [notebook.execute(f"print({n})") for n in range(3)]
    card = notebook.card_of(cell)
    for n in range(20):
        notebook.see(lambda n=n: [r for r in card.open_requests if r["tool_call_id"] == f"call-{n}"])
        notebook.click(card, card.open_requests[0], "yes")
    assert notebook.status(cell) == "ok"
    assert [notebook.status(one) for one in queued] == ["ok"] * 3
    assert [notebook.printed(one) for one in queued] == ["0\n", "1\n", "2\n"]
    assert [notebook.times_run(one) for one in queued] == [1, 1, 1]


def test_several_requests_open_at_once_are_answered_in_any_order(notebook: FrontEnd, home: Path) -> None:
    waiting = [ask(f"call-{n}", wait=False) for n in range(3)]
    notebook.add_agent("asker", [*waiting, *({"await": f"call-{n}"} for n in range(3))], home)
    cell = notebook.execute("%%acp asker -o turn\nAsk me.")
    card = notebook.card_of(cell)
    notebook.see(lambda: len(card.open_requests) == 3)
    for request in reversed(card.open_requests):
        notebook.click(card, request, "no" if request["tool_call_id"] == "call-1" else "yes")
    assert notebook.status(cell) == "ok"
    assert notebook.value("[p.option_id for p in turn.permissions.values()]") == ["yes", "no", "yes"]


def interrupt(notebook: FrontEnd, cell: str) -> float:
    begun = time.monotonic()
    notebook.manager.interrupt_kernel()
    assert notebook.status(cell, timeout_s=10) == "error"
    return time.monotonic() - begun


@pytest.mark.parametrize("waiting", [False, True], ids=["streaming", "a permission waits"])
def test_interrupt_cancels_the_turn_and_the_session_goes_on(
    notebook: FrontEnd, home: Path, *, waiting: bool
) -> None:
    busy = ask("call-1") if waiting else {"text": "word " * 2000, "chunks": "words", "delay_s": 0.02}
    notebook.add_agent("slow", {"turns": [[busy], [{"report": "pid"}]]}, home)
    cell = notebook.execute("%%acp slow -o turn\nBe slow.")
    queued = notebook.execute("print('never')")
    card = notebook.card_of(cell)
    notebook.see(lambda: card.open_requests if waiting else card.text)
    pid = notebook.manager.provisioner.pid

    assert interrupt(notebook, cell) < 2
    assert "KeyboardInterrupt" in notebook.error(cell)
    assert notebook.status(queued) == "aborted"
    said = heard_by("slow", home)
    assert "session/cancel" in [message.get("method") for message in said]
    if waiting:
        assert {"outcome": {"outcome": "cancelled"}} in [message.get("result") for message in said]

    after = notebook.execute("%%acp\nWho are you?")
    assert notebook.status(after) == "ok"
    assert notebook.manager.provisioner.pid == pid
    texts = notebook.value("[t.state for t in __import__('acp_jupyter').get_session().turns]")
    assert texts == ["cancelled", "done"]
    agent_pid = notebook.value("__import__('acp_jupyter').get_session().turns[1].text")
    assert int(agent_pid) == notebook.value("__import__('acp_jupyter').get_session().pid")
    assert notebook.value("len({t.session_id for t in __import__('acp_jupyter').get_session().turns})") == 1


def test_the_cards_stop_is_a_keyboard_interrupt(notebook: FrontEnd, home: Path) -> None:
    notebook.add_agent("slow", [{"text": "word " * 2000, "chunks": "words", "delay_s": 0.02}], home)
    cell = notebook.execute("%%acp slow\nBe slow.")
    card = notebook.card_of(cell)
    notebook.see(lambda: card.text)
    notebook.tell(card, {"type": "cancel"})
    assert notebook.status(cell) == "error"
    assert "KeyboardInterrupt" in notebook.error(cell)
    assert notebook.outputs(cell)[0][MIME]["state"] == "cancelled"


def test_r14_an_agent_that_ignores_the_cancel_does_not_hold_the_cell(notebook: FrontEnd, home: Path) -> None:
    deaf = [{"ignore_cancel": True}, {"text": "still here"}, {"sleep_s": 60}]
    notebook.add_agent("deaf", deaf, home)
    cell = notebook.execute("%%acp deaf\nIgnore me.")
    card = notebook.card_of(cell)
    notebook.see(lambda: card.text)
    assert interrupt(notebook, cell) < 2
    assert "%acp restart" in notebook.run("%acp restart\nprint('%acp restart done')")


def test_a_page_reload_in_mid_turn_gets_everything_again(notebook: FrontEnd, home: Path) -> None:
    notebook.add_agent("asker", [{"text": "Before. "}, ask("call-1")], home)
    cell = notebook.execute("%%acp asker\nAsk me.")
    card = notebook.card_of(cell)
    notebook.asked(card)
    before, card.turn, card.seq = card.turn, {}, -1
    notebook.tell(card, {"type": "ready"})
    notebook.see(lambda: card.turn)
    assert card.turn == before
    notebook.click(card, card.open_requests[0], "yes")
    assert notebook.status(cell) == "ok"


def test_two_tabs_the_first_click_wins(notebook: FrontEnd, home: Path) -> None:
    notebook.add_agent("asker", [ask("call-1"), ask("call-2")], home)
    cell = notebook.execute("%%acp asker -o turn\nAsk me.")
    card = notebook.card_of(cell)
    request = notebook.asked(card)
    for option in ("no", "yes", "no"):
        notebook.click(card, request, option)
    notebook.see(lambda: card.open_requests and card.open_requests[0]["tool_call_id"] == "call-2")
    notebook.click(card, card.open_requests[0], "yes")
    assert notebook.status(cell) == "ok"
    assert notebook.value("[p.option_id for p in turn.permissions.values()]") == ["no", "yes"]
    assert len([m for m in heard_by("asker", home) if "outcome" in m.get("result", {})]) == 2


def test_session_run_as_the_last_line_gives_exactly_one_card(notebook: FrontEnd, home: Path) -> None:
    notebook.add_agent("talker", [{"text": "Hello."}], home)
    cell = notebook.execute("import acp_jupyter\nacp_jupyter.get_session('talker').run('Talk.')")
    assert notebook.status(cell) == "ok"
    assert len(notebook.outputs(cell)) == 1
    shown_again = notebook.execute("_")
    assert notebook.status(shown_again) == "ok"
    (bundle,) = notebook.outputs(shown_again)
    assert "Hello." in bundle["text/plain"]
    assert notebook.run("print(_.text)") == "Hello.\n"


def test_n05_what_comes_after_the_end_is_shown_in_the_card_of_its_turn(
    notebook: FrontEnd, home: Path
) -> None:
    late = {"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Late."}}}
    notebook.add_agent(
        "late", [{"text": "In time."}, {"end": {"stopReason": "end_turn"}}, {"sleep_s": 0.3}, late], home
    )
    cell = notebook.execute("%%acp late\nBe late.")
    assert notebook.status(cell) == "ok"
    notebook.see(lambda: "Late." in notebook.outputs(cell)[0]["text/plain"])
    assert len(notebook.outputs(cell)) == 1


BODY = '>>> print("{x} $HOME %d")\n\n    indented\n%%acp not a magic\n!echo no\ttab  \n\n'


def test_the_body_goes_to_the_agent_byte_for_byte(notebook: FrontEnd, home: Path) -> None:
    notebook.add_agent("echo", [{"text": "ok"}], home)
    cell = notebook.execute("%%acp echo\n" + BODY)
    assert notebook.status(cell) == "ok"
    (prompt,) = [m["params"]["prompt"] for m in heard_by("echo", home) if m.get("method") == "session/prompt"]
    assert prompt == [{"type": "text", "text": BODY}]


def test_quiet_shows_the_answer_alone(notebook: FrontEnd, home: Path) -> None:
    notebook.add_agent("talker", [{"thought": "hm"}, {"text": "**Hello.** ![x](http://127.0.0.1:9/x)"}], home)
    cell = notebook.execute("%%acp talker -q\nTalk.")
    assert notebook.status(cell) == "ok"
    (bundle,) = notebook.outputs(cell)
    assert "<strong>Hello.</strong>" in bundle["text/html"]
    assert "<img" not in bundle["text/html"], "a picture from elsewhere is never fetched"
    assert bundle["text/plain"] == "**Hello.** ![x](http://127.0.0.1:9/x)"
    assert notebook.run("print(_.thoughts)") == "hm\n"


@pytest.mark.parametrize(
    ("line", "body", "says"),
    [
        ("nobody", "Work.", ["AgentUnknown", "nobody", "demo", "%acp add"]),
        ("demo", "  \n", ["UsageError", "no task"]),
        ("demo --frobnicate", "Work.", ["UsageError", "--frobnicate", "usage"]),
        ("demo --approve everything", "Work.", ["UsageError", "everything", "allow-once-all"]),
        ("demo --timeout -1", "Work.", ["UsageError", "--timeout"]),
        ("demo --cwd /no/such/folder", "Work.", ["UsageError", "/no/such/folder"]),
        ("demo -o 1x", "Work.", ["UsageError", "1x"]),
        ("demo 'unclosed", "Work.", ["UsageError", "quote"]),
    ],
)
def test_a_wrong_line_is_told_and_starts_nothing(
    notebook: FrontEnd, line: str, body: str, says: list[str]
) -> None:
    cell = notebook.execute(f"%%acp {line}\n{body}")
    assert notebook.status(cell) == "error"
    assert [word for word in says if word not in notebook.error(cell)] == []
    assert "acp_jupyter/" not in notebook.error(cell), "our own frames are nobody's business"
    assert notebook.value(
        "[s.pid for s in __import__('acp_jupyter.kernel.sessions', fromlist=['x']).sessions().all()]"
    ) in ([], [None])


def test_without_an_agent_those_found_are_listed_and_nothing_is_started(notebook: FrontEnd) -> None:
    cell = notebook.execute("%%acp\nWork.")
    assert notebook.status(cell) == "error", "Run All does not go on as if the task had been done"
    assert "demo" in notebook.printed(cell)
    assert "no agent was chosen" in notebook.error(cell)
    assert notebook.outputs(cell) == []


@pytest.mark.parametrize("line", ["%%acp --help", "%%acp demo"])
def test_the_magic_alone_gets_our_own_words(notebook: FrontEnd, line: str) -> None:
    cell = notebook.execute(line)
    notebook.status(cell)
    said = notebook.printed(cell) + notebook.error(cell)
    assert ("usage: %%acp" if "help" in line else "no task") in said


def test_a_damaged_agents_file_costs_no_other_agent_and_is_told(notebook: FrontEnd, home: Path) -> None:
    file = home / "config" / "acp-jupyter" / "agents.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"mine": {"comand": "x"}}')
    listed = notebook.run("%acp agents")
    assert "demo" in listed
    assert f"agent 'mine' in {file}" in listed
    assert "comand" in listed


def test_options_of_add_stand_before_or_after_the_name(notebook: FrontEnd) -> None:
    notebook.run("%acp add mine --env SOME_KEY -- some-agent --acp --env=x")
    expected = ["some-agent", ["--acp", "--env=x"], ["SOME_KEY"]]
    spec = "__import__('acp_jupyter.kernel.sessions', fromlist=['x']).sessions().agents.get('mine')"
    assert notebook.value(f"[{spec}.command, {spec}.args, {spec}.needs]") == expected


def test_a_magic_called_by_a_thread_sends_its_own_task(notebook: FrontEnd, home: Path) -> None:
    notebook.add_agent("one", [{"text": "1"}], home)
    notebook.add_agent("two", [{"sleep_s": 1.0}, {"text": "2"}], home)
    notebook.run(
        "import threading\n"
        "def call(): get_ipython().run_cell_magic('acp', 'one', 'the task of one')\n"
        "threading.Timer(0.4, call).start()"
    )
    cell = notebook.execute("%%acp two\nthe task of two")
    assert notebook.status(cell) == "ok"
    for name in ("one", "two"):
        notebook.see(lambda name=name: any(m.get("method") == "session/prompt" for m in heard_by(name, home)))
        prompts = [
            m["params"]["prompt"][0]["text"] for m in heard_by(name, home) if "prompt" in m.get("method", "")
        ]
        assert prompts == [f"the task of {name}"]


@pytest.mark.parametrize("how", ["time-out", "death"])
def test_a_question_by_text_ends_with_its_turn(notebook: FrontEnd, home: Path, how: str) -> None:
    steps = [
        ask("call-1", wait=False),
        {"sleep_s": 1.0},
        {"kill_self": True} if how == "death" else {"sleep_s": 60},
    ]
    notebook.add_agent("asker", steps, home)
    cell = notebook.execute("%%acp asker -q --timeout 2\nAsk me.")
    assert notebook.status(cell, timeout_s=25) == "error"
    assert ("AgentExited" if how == "death" else "AgentTimeout") in notebook.error(cell)
    assert notebook.run("1; print('on')") == "on\n"


def test_an_interrupt_while_the_final_card_is_published_does_not_lose_it(
    notebook: FrontEnd, home: Path
) -> None:
    notebook.add_agent("talker", [{"text": "whole"}], home)
    notebook.run(
        "import os, signal\nfrom acp_jupyter.kernel import card\nmake = card.bundle_to_keep\n"
        "def interrupted(turn, *more):\n"
        "    if turn.ended: os.kill(os.getpid(), signal.SIGINT)\n    return make(turn, *more)\n"
        "card.bundle_to_keep = interrupted"
    )
    cell = notebook.execute("%%acp talker\nTalk.")
    assert notebook.status(cell) == "error", "the interrupt is not lost either"
    assert notebook.outputs(cell)[0][MIME]["state"] == "done"


def test_where_the_card_cannot_be_live_the_turn_goes_on_without(notebook: FrontEnd, home: Path) -> None:
    notebook.add_agent("talker", [{"text": "Hello."}], home)
    notebook.run(
        "from acp_jupyter.kernel.front_end import front_end\n"
        "def broken(*_): raise RuntimeError('no widgets here')\nfront_end().make = broken"
    )
    cell = notebook.execute("%%acp talker\nTalk.")
    assert notebook.status(cell) == "ok"
    assert "no widgets here" in notebook.printed(cell)
    (output,) = notebook.outputs(cell)
    assert "Hello." in output["text/plain"]
    assert WIDGET_MIME not in output


def test_n10_ended_cards_keep_few_widgets(notebook: FrontEnd, home: Path) -> None:
    notebook.add_agent("talker", [{"text": "Hello."}], home)
    notebook.run("for n in range(30): get_ipython().run_cell_magic('acp', 'talker', 'Talk.')")
    assert notebook.value("len(get_ipython().kernel.comm_manager.comms)") < 60


def test_an_agent_that_fails_gives_a_typed_error_with_its_last_words(notebook: FrontEnd, home: Path) -> None:
    notebook.add_agent("broken", {"start": [{"stderr": "boom: no key"}, {"exit": 3}]}, home)
    cell = notebook.execute("%%acp broken\nWork.")
    assert notebook.status(cell) == "error"
    assert [w for w in ("AgentExited", "3", "boom: no key") if w not in notebook.error(cell)] == []
    assert notebook.outputs(cell)[0][MIME]["state"] == "failed"
    missing = notebook.execute("%acp add gone -- no-such-agent-here --acp")
    assert notebook.status(missing) == "ok"
    cell = notebook.execute("%%acp gone\nWork.")
    assert notebook.status(cell) == "error"
    assert [w for w in ("AgentNotFound", "no-such-agent-here") if w not in notebook.error(cell)] == []


def test_an_agent_that_dies_in_mid_turn_loses_nothing_and_the_next_cell_starts_another(
    notebook: FrontEnd, home: Path
) -> None:
    call = {
        "update": {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Run", "status": "in_progress"}
    }
    notebook.add_agent(
        "mortal", {"turns": [[{"text": "Half a"}, call, {"kill_self": True}], [{"text": "Hello."}]]}, home
    )
    cell = notebook.execute("%%acp mortal\nLive.")
    assert notebook.status(cell) == "error"
    assert "AgentExited" in notebook.error(cell)
    document = notebook.outputs(cell)[0][MIME]
    assert "Half a" in notebook.outputs(cell)[0]["text/plain"]
    assert document["tool_calls"]["c"]["local_status"] == "cut_off"
    again = notebook.execute("%%acp mortal\nAgain.")
    assert notebook.status(again) == "error", "a fresh process plays its first turn"
    assert "new process" in notebook.outputs(again)[0]["text/plain"]


@pytest.mark.parametrize(
    ("steps", "clean"),
    [
        ([{"text": "ok"}], True),
        ([{"text": "no"}, {"end": {"stopReason": "refusal"}}], False),
        ([{"text": "long"}, {"end": {"stopReason": "max_tokens"}}], False),
        ([{"text": "odd"}, {"end": {"stopReason": "tired"}}], False),
        ([ask("call-1")], False),
    ],
    ids=["end_turn", "refusal", "max_tokens", "unknown", "rejected by policy"],
)
def test_check_raises_unless_the_turn_ended_clean(
    notebook: FrontEnd, home: Path, steps: list[Any], *, clean: bool
) -> None:
    notebook.add_agent("agent", steps, home)
    cell = notebook.execute("%%acp agent --approve reject\nWork.")
    assert notebook.status(cell) == "ok", "without --check these are normal results"
    cell = notebook.execute("%%acp agent --approve reject --check -o turn\nWork.")
    assert notebook.status(cell) == ("ok" if clean else "error")
    assert ("TurnNotClean" in notebook.error(cell)) is not clean
    assert notebook.value("turn.number") == 2


def test_timeout_cancels_and_raises(notebook: FrontEnd, home: Path) -> None:
    notebook.add_agent("slow", [{"text": "word " * 2000, "chunks": "words", "delay_s": 0.02}], home)
    cell = notebook.execute("%%acp slow --timeout 0.5\nBe slow.")
    assert notebook.status(cell) == "error"
    assert "AgentTimeout" in notebook.error(cell)
    assert "session/cancel" in [message.get("method") for message in heard_by("slow", home)]


def test_loading_costs_nothing_and_unloading_takes_all_back(notebook: FrontEnd, home: Path) -> None:
    heavy = ["pydantic", "ipywidgets", "anywidget", "acp_jupyter.session"]
    assert notebook.value(f"[m for m in {heavy!r} if m in __import__('sys').modules]") == []
    notebook.add_agent("talker", [{"text": "Hello."}], home)
    notebook.status(notebook.execute("%%acp talker\nTalk."))
    pid = notebook.value("__import__('acp_jupyter').get_session().pid")
    notebook.run("%unload_ext acp_jupyter")
    assert notebook.value("__import__('acp_jupyter').get_session().pid") is None
    with pytest.raises(ProcessLookupError):
        __import__("os").kill(pid, 0)
    cell = notebook.execute("%%acp talker\nTalk.")
    assert notebook.status(cell) == "error"


def test_cd_changes_nothing_and_status_says_so(notebook: FrontEnd, home: Path) -> None:
    notebook.add_agent("where", [{"report": "cwd"}], home)
    notebook.status(notebook.execute("%%acp where -o first\nWhere?"))
    (home / "elsewhere").mkdir()
    notebook.run("%cd elsewhere")
    notebook.status(notebook.execute("%%acp -o second\nWhere?"))
    assert notebook.value("[first.text, second.text]") == [str(home)] * 2
    status = notebook.run("%acp status")
    assert str(home / "elsewhere") in status
    assert "stays where it started" in status
    notebook.run("%acp new")
    notebook.status(notebook.execute("%%acp -o third\nWhere?"))
    assert notebook.value("third.text") == str(home / "elsewhere")


def test_every_command_helps_and_completes(notebook: FrontEnd) -> None:
    for command in ("status", "add", "approve", "inspect", "log"):
        assert f"usage: %acp {command}" in notebook.run(f"%acp {command} --help")
    matches = notebook.client.complete("%acp st", 7, reply=True, timeout=20)["content"]["matches"]
    assert {"status", "stop", "stderr"} <= set(matches)
    matches = notebook.client.complete("%%acp demo --app", 16, reply=True, timeout=20)["content"]["matches"]
    assert "--approve" in matches


def test_inspect_and_stderr_show_what_came(notebook: FrontEnd, home: Path) -> None:
    call = {
        "sessionUpdate": "tool_call",
        "toolCallId": "c",
        "title": "T",
        "rawInput": {"deep": [1, {"x": None}]},
        "rawOutput": False,
    }
    notebook.add_agent("talker", [{"stderr": "a word"}, {"update": call}], home)
    notebook.status(notebook.execute("%%acp talker\nTalk."))
    shown = notebook.run("%acp inspect 1.1")
    assert '"deep": [' in shown
    assert "raw_output: false" in shown
    notebook.see(lambda: "a word" in notebook.run("%acp stderr"))


def test_the_log_is_a_table_that_is_filtered_kept_and_saved(notebook: FrontEnd, home: Path) -> None:
    notebook.add_agent("talker", [{"text": "Hello."}, {"text": "Goodbye."}], home)
    notebook.status(notebook.execute("%%acp talker\nTalk."))
    (bundle,) = notebook.outputs(notebook.finished("%acp log"))
    assert bundle.keys() == {"text/html", "text/plain"}
    assert "answer to session/prompt" in bundle["text/html"]
    lines = bundle["text/plain"].splitlines()
    assert [line.split()[1:3] for line in lines[:2]] == [["->", "initialize"], ["<-", "answer"]]
    assert len(lines) == notebook.value("len(_)")
    (bundle,) = notebook.outputs(notebook.finished("%acp log --direction in --text bye --method update"))
    assert "Goodbye." in bundle["text/plain"]
    assert "Hello." not in bundle["text/plain"]
    notebook.run("log = %acp log --last 1")
    assert notebook.value("[row.method for row in log]") == ["session/prompt"]
    said = notebook.run("%acp log --save log.jsonl")
    assert f"{len(lines)} messages are in {home / 'log.jsonl'}, without secrets" in said
    assert len((home / "log.jsonl").read_text().splitlines()) == len(lines) + 1
    for wrong in ("--last 0", "--direction up"):
        assert "UsageError" in notebook.error(notebook.finished(f"%acp log {wrong}", "error"))


def test_p09_sigint_to_the_kernel_does_not_reach_the_agent(notebook: FrontEnd, home: Path) -> None:
    notebook.add_agent("talker", [{"report": "pid"}], home)
    notebook.status(notebook.execute("%%acp talker\nTalk."))
    pid = notebook.value("__import__('acp_jupyter').get_session().pid")
    notebook.manager.signal_kernel(signal.SIGINT)
    notebook.status(notebook.execute("%%acp talker -o turn\nTalk."))
    assert notebook.value("int(turn.text)") == pid


def test_au3_a_log_in_in_a_terminal_asks_the_page_for_one(notebook: FrontEnd, home: Path) -> None:
    method = {"id": "tui", "name": "Log in", "type": "terminal", "args": ["--login"], "env": {"STAGE": "a b"}}
    script_command({"initialize": {"authMethods": [method]}, "turns": []}, home / "script.json")
    fake = f"{sys.executable} -m acp_jupyter.testing.fake_agent {home / 'script.json'}"
    notebook.run(f"%acp add scripted -- {fake}\n%acp use scripted")
    told = notebook.run("%acp login")
    line = f"env 'STAGE=a b' {fake} --login"
    assert "press Enter there" in told
    assert line in told
    (opened,) = [one["content"] for one in notebook.heard if one["msg_type"] == "comm_open"]
    assert (opened["target_name"], opened["data"]) == ("acp_jupyter.terminal", {"line": line})

    cell = notebook.client.execute("%acp login", allow_stdin=False)  # nobody is there to press Enter
    assert notebook.status(cell) == "ok"
    assert notebook.printed(cell).startswith("Run this in a terminal")
    assert [one["msg_type"] for one in notebook.heard].count("comm_open") == 1


def test_an_agent_that_is_not_there_does_not_become_the_current_one(notebook: FrontEnd, home: Path) -> None:
    notebook.add_agent("worker", [{"text": "Done."}], home)
    notebook.run("%acp add gone -- no-such-agent-here --acp")
    notebook.run("%%acp worker\nWork.")
    missing = notebook.execute("%%acp gone\nWork.")
    assert notebook.status(missing) == "error"
    assert "no-such-agent-here" in notebook.error(missing)
    assert notebook.run("%acp status").startswith("agent       worker")
    doctored = notebook.run("%acp doctor gone")
    assert "! command     no-such-agent-here not found" in doctored
    assert notebook.run("%acp status").startswith("agent       worker")


def test_the_doctor_shakes_hands_and_says_what_is_there(notebook: FrontEnd, home: Path) -> None:
    offers = {"loadSession": True, "sessionCapabilities": {"list": {}}}
    script = {"initialize": {"agentCapabilities": offers, "authMethods": [{"id": "key", "name": "Key"}]}}
    notebook.add_agent("worker", {**script, "turns": [[{"text": "Done."}]]}, home)
    told = notebook.run("%acp doctor worker")
    rows = {line[2:13].strip(): line[14:] for line in told.splitlines()}
    assert rows["handshake"] == "Fake agent 1.0.0"
    assert rows["it offers"] == "loadSession, sessionCapabilities.list"
    assert rows["log-ins"] == "key"
    assert "ipykernel" in rows["packages"]
    assert rows["card"].startswith("no live card has answered yet")
    assert not [line for line in told.splitlines() if line.startswith("!")]
    notebook.add_agent("broken", {"start": [{"stderr": "no key"}, {"exit": 3}]}, home)
    told = notebook.run("%acp doctor broken")
    assert "! handshake   the agent exited with code 3" in told
    assert told.rstrip().endswith("no key")


def test_mcp_servers_are_added_told_to_the_agent_and_removed(notebook: FrontEnd, home: Path) -> None:
    notebook.add_agent("worker", {"turns": [[{"text": "Done."}]]}, home)
    notebook.run("import os; os.environ['FILES_TOKEN'] = 'a-planted-secret'\n%acp use worker")
    notebook.run("%acp mcp add files --env FILES_TOKEN -- sh --root /tmp")
    assert "files" in notebook.run("%acp mcp list")
    assert "a-planted-secret" not in notebook.run("%acp mcp list")
    notebook.run("%%acp\nWork.")
    (opened,) = [m["params"] for m in heard_by("worker", home) if m.get("method") == "session/new"]
    (server,) = opened["mcpServers"]
    assert (server["name"], server["args"]) == ("files", ["--root", "/tmp"])
    assert server["env"] == [{"name": "FILES_TOKEN", "value": "a-planted-secret"}]
    notebook.run("%acp mcp remove files")
    assert "No MCP server" in notebook.run("%acp mcp")
