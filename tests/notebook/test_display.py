"""What stands in the cell's output while a turn runs, with a live card and without one, in a real kernel."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from .front_end import FrontEnd
from .kernels import Message, answers, kernel_python, running_kernel
from .test_magic import MIME, WIDGET_MIME, ask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.notebook

TOOL = [
    {"update": {"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "Look", "kind": "read"}},
    {"update": {"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed"}},
]


@pytest.fixture
def notebook(tmp_path: Path) -> Iterator[FrontEnd]:
    with running_kernel(kernel_python(), tmp_path) as kernel:
        front_end = FrontEnd(kernel)
        front_end.run("%load_ext acp_jupyter")
        yield front_end


class Deaf(FrontEnd):
    """A front end without widgets: no card of its ever says that it is ready."""

    def tell(self, card: Any, content: dict[str, Any]) -> str:
        return "" if content["type"] == "ready" else super().tell(card, content)

    def answer(self, question: str) -> None:
        """Wait for a question by ``input()`` and answer it."""
        request = self.client.get_stdin_msg(timeout=30)
        assert request["msg_type"] == "input_request"
        self.client.input(question)


@pytest.fixture
def deaf(tmp_path: Path) -> Iterator[Deaf]:
    with running_kernel(kernel_python(), tmp_path) as kernel:
        front_end = Deaf(kernel)
        front_end.run("%load_ext acp_jupyter")
        yield front_end


def shown(notebook: FrontEnd, cell: str) -> list[dict[str, Any]]:
    """Every bundle that was published for a cell, in order."""
    kinds = {"display_data", "update_display_data"}
    return [m["content"]["data"] for m in answers(notebook.heard, cell) if m["msg_type"] in kinds]


def opened_widgets(notebook: FrontEnd, cell: str) -> list[Message]:
    return [m for m in answers(notebook.heard, cell) if m["msg_type"] == "comm_open"]


def test_a_file_saved_in_mid_turn_holds_what_was_received(notebook: FrontEnd, tmp_path: Path) -> None:
    notebook.add_agent("worker", [{"text": "Looking."}, *TOOL, {"sleep_s": 1.2}, ask("call-1")], tmp_path)
    cell = notebook.execute("%%acp worker\nWork.")
    card = notebook.card_of(cell)
    request = notebook.asked(card)

    def written(seen: Callable[[dict[str, Any]], object]) -> None:
        notebook.see(lambda: any(seen(bundle[MIME]) for bundle in shown(notebook, cell)))

    written(lambda turn: "t1" in turn["tool_calls"] and turn["tool_calls"]["t1"]["status"] == "completed")
    written(lambda turn: [one["state"] for one in turn["permissions"].values()] == ["open"])
    notebook.click(card, request, "yes")
    assert notebook.status(cell) == "ok"
    *running, saved = shown(notebook, cell)
    assert all(bundle[WIDGET_MIME]["model_id"] == card.comm_id for bundle in running)
    assert all("Looking." in bundle["text/html"] for bundle in running[1:])
    assert WIDGET_MIME not in saved
    assert len(notebook.outputs(cell)) == 1


def test_a_flood_of_tool_calls_is_written_at_most_once_a_second(notebook: FrontEnd, tmp_path: Path) -> None:
    def call(n: int) -> list[dict[str, Any]]:
        known = {"sessionUpdate": "tool_call", "toolCallId": f"t{n}", "title": "Look"}
        return [{"update": known}, {"update": {**known, "status": "completed"}}, {"sleep_s": 0.005}]

    notebook.add_agent("busy", [step for n in range(300) for step in call(n)], tmp_path)
    cell = notebook.execute("%%acp busy -o turn\nWork.")
    assert notebook.status(cell) == "ok"
    took_s = notebook.value("turn.ended_at - turn.started_at")
    assert len(shown(notebook, cell)) <= 2 + took_s


def test_a_view_that_has_everything_is_sent_nothing_again(notebook: FrontEnd, tmp_path: Path) -> None:
    notebook.add_agent("asker", [{"text": "Before."}, ask("call-1")], tmp_path)
    cell = notebook.execute("%%acp asker\nAsk me.")
    card = notebook.card_of(cell)
    request = notebook.asked(card)

    def snapshots() -> int:
        contents = [m["content"] for m in notebook.heard if m["msg_type"] == "comm_msg"]
        return sum(content["data"].get("content", {}).get("type") == "snapshot" for content in contents)

    before = snapshots()
    notebook.tell(card, {"type": "ready", "seq": card.seq})
    notebook.tell(card, {"type": "ready", "seq": card.seq - 1})
    notebook.see(lambda: snapshots() > before)
    notebook.click(card, request, "yes")
    assert notebook.status(cell) == "ok"
    assert snapshots() == before + 1


def test_an_output_cleared_while_a_request_waits_comes_back(notebook: FrontEnd, tmp_path: Path) -> None:
    notebook.add_agent("asker", [ask("call-1")], tmp_path)
    cell = notebook.execute("%%acp asker\nAsk me.")
    card = notebook.card_of(cell)
    request = notebook.asked(card)

    def displayed() -> list[dict[str, Any]]:
        return [m["content"] for m in answers(notebook.heard, cell) if m["msg_type"] == "display_data"]

    notebook.tell(card, {"type": "cleared"})
    notebook.see(lambda: len(displayed()) == 2)
    notebook.tell(card, {"type": "cleared"})  # another view of the same card went too
    first, again = displayed()
    assert again["transient"] == first["transient"]
    assert again["data"][WIDGET_MIME] == first["data"][WIDGET_MIME]
    notebook.tell(card, {"type": "ready", "seq": card.seq})
    notebook.click(card, request, "yes")
    assert notebook.status(cell) == "ok"
    assert len(displayed()) == 2, "shown once more, and not twice"


def displays(notebook: FrontEnd, cell: str) -> list[dict[str, Any]]:
    """What was displayed for a cell, without what was written anew in place."""
    return [m["content"]["data"] for m in answers(notebook.heard, cell) if m["msg_type"] == "display_data"]


def test_n19_a_view_that_comes_up_as_another_goes_is_the_card(notebook: FrontEnd, tmp_path: Path) -> None:
    """As where a cell is moved, or deleted and brought back."""
    notebook.add_agent("asker", [ask("call-1")], tmp_path)
    cell = notebook.execute("%%acp asker\nAsk me.")
    card = notebook.card_of(cell)
    request = notebook.asked(card)
    notebook.tell(card, {"type": "cleared"})
    notebook.tell(card, {"type": "ready", "seq": card.seq})
    notebook.tell(card, {"type": "resync"})
    notebook.click(card, request, "yes")
    assert notebook.status(cell) == "ok"
    assert len(displays(notebook, cell)) == 1


def test_n19_a_card_that_has_answered_is_waited_for(notebook: FrontEnd, tmp_path: Path) -> None:
    """A cell that was deleted may come back, and a question by text would go nowhere."""
    notebook.add_agent("asker", [ask("call-1")], tmp_path)
    cell = notebook.execute("%%acp asker -o turn\nAsk me.")
    card = notebook.card_of(cell)
    request = notebook.asked(card)
    notebook.tell(card, {"type": "cleared"})
    threading.Event().wait(9)  # longer than a card is waited for that has never answered
    notebook.tell(card, {"type": "ready", "seq": card.seq})
    notebook.click(card, request, "yes")
    assert notebook.status(cell) == "ok"
    assert notebook.printed(cell) == ""
    assert WIDGET_MIME in displays(notebook, cell)[-1]
    assert notebook.value("[p.option_id for p in turn.permissions.values()]") == ["yes"]


def test_n15_the_page_is_told_that_a_question_by_text_is_settled(deaf: Deaf, tmp_path: Path) -> None:
    script = [{**ask("call-1"), "wait": False}, {"sleep_s": 1}, {"withdraw": "call-1"}, {"await": "call-1"}]
    deaf.add_agent("hasty", script, tmp_path)
    deaf.run("%acp ask text")
    cell = deaf.execute("%%acp hasty\nAsk me.")
    request = deaf.client.get_stdin_msg(timeout=30)
    assert deaf.status(cell) == "ok"
    (opened,) = [m["content"] for m in opened_widgets(deaf, cell)]
    assert opened["target_name"] == "acp_jupyter.input"
    assert opened["data"]["settled_at"] > request["header"]["date"].timestamp()
    assert "press Enter in it" in deaf.printed(cell)


def test_a_card_that_stands_above_a_question_by_text_says_so(deaf: Deaf, tmp_path: Path) -> None:
    deaf.add_agent("asker", [ask("call-1")], tmp_path)
    deaf.run("%acp ask text")
    cell = deaf.execute("%%acp asker\nAsk me.")
    deaf.answer("1")
    assert deaf.status(cell) == "ok"
    documents = [bundle[MIME] for bundle in shown(deaf, cell)]
    waiting = [one for one in documents if one["state"] == "waiting"]
    assert waiting
    assert waiting[-1]["by_text"]
    assert "by_text" not in documents[-1]


def test_what_the_files_of_a_request_tell_reaches_the_card_and_the_file(
    notebook: FrontEnd, tmp_path: Path
) -> None:
    (tmp_path / "a.py").write_text("there\n")
    diff = {"type": "diff", "path": str(tmp_path / "a.py"), "oldText": "told\n", "newText": "new\n"}
    step = ask("call-1")
    step["params"]["toolCall"] |= {"kind": "edit", "content": [diff]}
    notebook.add_agent("liar", [step], tmp_path)
    cell = notebook.execute("%%acp liar\nGo on.")
    card = notebook.card_of(cell)
    request = notebook.asked(card)
    notebook.see(lambda: not card.open_requests[0]["checking"])
    assert [one["reason"] for one in card.open_requests[0]["warnings"]] == ["mismatch"]
    notebook.tell(card, {"type": "decide", "key": request["key"], "option_id": None})
    assert notebook.status(cell) == "ok"
    document = shown(notebook, cell)[-1][MIME]
    (decided,) = document["permissions"].values()
    assert (decided["state"], decided["decided_by"]) == ("cancelled", "you")
    assert [one["reason"] for one in decided["warnings"]] == ["mismatch"]


def test_a_reloaded_page_is_given_what_its_file_is_to_hold(notebook: FrontEnd, tmp_path: Path) -> None:
    """Once it has asked for it, each time that the output is written anew."""
    notebook.add_agent("talker", [{"text": "Hello."}, ask("call-1")], tmp_path)
    cell = notebook.execute("%%acp talker\nTalk.")
    card = notebook.card_of(cell)
    request = notebook.asked(card)

    def bundles() -> list[dict[str, Any]]:
        contents = [
            m["content"]["data"].get("content", {}) for m in notebook.heard if "comm_msg" in m["msg_type"]
        ]
        return [content["data"] for content in contents if content.get("type") == "bundle"]

    assert bundles() == [], "nobody has asked"
    notebook.tell(card, {"type": "bundle"})
    notebook.see(bundles)
    assert bundles()[0][WIDGET_MIME]["model_id"] == card.comm_id
    assert [one["state"] for one in bundles()[0][MIME]["permissions"].values()] == ["open"]
    notebook.click(card, request, "yes")
    assert notebook.status(cell) == "ok"
    assert bundles()[-1] == notebook.outputs(cell)[0]
    assert WIDGET_MIME not in bundles()[-1]


def test_without_widgets_the_display_goes_on_and_questions_come_by_text(deaf: Deaf, tmp_path: Path) -> None:
    words = {"text": "word " * 40, "chunks": "words", "delay_s": 0.1}
    deaf.add_agent(
        "slow", {"turns": [[{"text": "First."}, {"sleep_s": 7.5}, words, ask("call-1")]] * 2}, tmp_path
    )
    cell = deaf.execute("%%acp slow -o turn\nBe slow.")
    deaf.see(lambda: shown(deaf, cell) and WIDGET_MIME not in shown(deaf, cell)[-1], timeout_s=12)
    deaf.see(lambda: len({b["text/html"] for b in shown(deaf, cell) if WIDGET_MIME not in b}) > 2)
    deaf.see(lambda: "1. Allow once" in deaf.printed(cell))
    deaf.answer("1")
    assert deaf.status(cell) == "ok"
    assert deaf.printed(cell).count("pip install anywidget") == 1
    assert "reload the page" in deaf.printed(cell)
    assert "jupyter console: it shows no changes), `%%acp -q` prints it" in deaf.printed(cell)
    assert deaf.value("[p.decided_by for p in turn.permissions.values()]") == ["you"]

    again = deaf.execute("%%acp slow -o turn\nBe slow again.")
    deaf.see(lambda: shown(deaf, again) and WIDGET_MIME not in shown(deaf, again)[-1], timeout_s=5)
    deaf.answer("2")
    assert deaf.status(again) == "ok"
    assert "pip install" not in deaf.printed(again), "said once a kernel"


@pytest.mark.parametrize("how", ["the environment", "%acp ask"])
def test_ask_text_makes_no_card(deaf: Deaf, tmp_path: Path, how: str) -> None:
    deaf.add_agent("asker", [ask("call-1")], tmp_path)
    deaf.run("%acp ask text" if how == "%acp ask" else "%env ACP_JUPYTER_ASK=text")
    cell = deaf.execute("%%acp asker -o turn\nAsk me.")
    deaf.answer("1")
    assert deaf.status(cell) == "ok"
    assert opened_widgets(deaf, cell) == []
    assert "pip install" not in deaf.printed(cell)
    assert deaf.value("[p.option_id for p in turn.permissions.values()]") == ["yes"]
    assert "text" in deaf.run("%acp ask")


def test_ask_buttons_waits_for_the_card_however_long(deaf: Deaf, tmp_path: Path) -> None:
    deaf.add_agent("asker", [ask("call-1")], tmp_path)
    deaf.run("%acp ask buttons")
    cell = deaf.execute("%%acp asker -o turn\nAsk me.")
    deaf.see(lambda: deaf.cards)
    threading.Event().wait(9)  # longer than a card is waited for otherwise
    FrontEnd.tell(deaf, deaf.cards[0], {"type": "ready", "seq": 0})
    deaf.see(lambda: deaf.cards[0].open_requests)
    deaf.click(deaf.cards[0], deaf.cards[0].open_requests[0], "yes")
    assert deaf.status(cell) == "ok"


def test_where_a_cell_takes_no_input_no_card_is_made(notebook: FrontEnd, tmp_path: Path) -> None:
    notebook.add_agent("asker", [*TOOL, ask("call-1")], tmp_path)
    cell = notebook.client.execute("%%acp asker -o turn\nAsk me.", allow_stdin=False)
    assert notebook.status(cell, timeout_s=7) == "ok", "nothing waits for a card"
    assert opened_widgets(notebook, cell) == []
    assert notebook.value("[p.decided_by for p in turn.permissions.values()]") == ["nobody"]


def test_ask_buttons_makes_no_card_where_nobody_is_there(notebook: FrontEnd, tmp_path: Path) -> None:
    notebook.add_agent("asker", [ask("call-1")], tmp_path)
    notebook.run("%acp ask buttons")
    cell = notebook.client.execute("%%acp asker -o turn\nAsk me.", allow_stdin=False)
    assert notebook.status(cell) == "ok"
    assert opened_widgets(notebook, cell) == []
    assert notebook.value("[p.decided_by for p in turn.permissions.values()]") == ["nobody"]


@pytest.mark.parametrize("module", ["ipywidgets", "anywidget"])
def test_a_kernel_without_widgets_says_once_what_to_install(deaf: Deaf, tmp_path: Path, module: str) -> None:
    deaf.run(f"import sys; sys.modules[{module!r}] = None")
    deaf.add_agent("asker", {"turns": [[ask("call-1")]] * 2}, tmp_path)
    for told in (1, 0):
        cell = deaf.execute("%%acp asker\nAsk me.")
        deaf.answer("1")
        assert deaf.status(cell) == "ok"
        said = deaf.printed(cell)
        assert "Traceback" not in said
        assert said.count("%pip install ipywidgets anywidget") == told
        assert said.count(f"has no {module}") == told


def test_the_environment_names_the_policy(notebook: FrontEnd, tmp_path: Path) -> None:
    notebook.add_agent("asker", {"turns": [[ask("call-1")]] * 2}, tmp_path)
    notebook.run("%env ACP_JUPYTER_POLICY=allow-once-all")
    notebook.run("%%acp asker -o turn\nAsk me.")
    assert notebook.value("[[p.option_id, p.decided_by] for p in turn.permissions.values()]") == [
        ["yes", "policy"]
    ]
    notebook.run("%%acp asker -o turn --approve reject\nAsk me.")
    assert notebook.value("[p.option_id for p in turn.permissions.values()]") == ["no"], "the line is nearer"


@pytest.mark.parametrize(("name", "value"), [("POLICY", "everything"), ("ASK", "loudly")])
def test_a_wrong_setting_is_named_and_starts_nothing(
    notebook: FrontEnd, tmp_path: Path, name: str, value: str
) -> None:
    notebook.add_agent("talker", [{"text": "Hello."}], tmp_path)
    notebook.run(f"%env ACP_JUPYTER_{name}={value}")
    cell = notebook.execute("%%acp talker\nTalk.")
    assert notebook.status(cell) == "error"
    assert f"ACP_JUPYTER_{name}" in notebook.error(cell)
    assert not (tmp_path / "talker.jsonl").exists(), "no agent was started"


@pytest.mark.parametrize(
    ("save", "keeps"),
    [("full", {MIME, "text/html", "text/plain"}), ("text", {"text/plain"}), ("none", {"text/plain"})],
)
def test_what_is_kept_is_a_setting_and_no_secret_is(
    notebook: FrontEnd, tmp_path: Path, save: str, keeps: set[str]
) -> None:
    notebook.run(f"%env ACP_JUPYTER_SAVE={save}")
    notebook.run("%env MY_API_KEY=a-planted-secret")
    notebook.add_agent("talker", [{"text": "I have a-planted"}, {"text": "-secret here."}, *TOOL], tmp_path)
    cell = notebook.execute("%%acp talker -o turn\nTalk.")
    assert notebook.status(cell) == "ok"
    (bundle,) = notebook.outputs(cell)
    assert set(bundle) == keeps
    assert "a-planted-secret" not in str(bundle)
    assert ("[redacted] here." in bundle["text/plain"]) == (save != "none")
    assert "a-planted-secret" in notebook.value("turn.text"), "in Python it is whole"
    log = notebook.execute("%acp log")
    assert notebook.status(log) == "ok"
    assert "[redacted]" in str(notebook.outputs(log))
    assert "a-planted-secret" not in str(notebook.outputs(log))


def test_a_card_lets_go_of_its_widget_when_twenty_later_ones_have_ended(
    notebook: FrontEnd, tmp_path: Path
) -> None:
    notebook.add_agent("worker", [{"text": "Done."}], tmp_path)

    def closed() -> list[str]:
        return [m["content"]["comm_id"] for m in notebook.heard if m["msg_type"] == "comm_close"]

    for _ in range(20):
        notebook.run("%%acp worker\nWork.")
    notebook.look()
    assert closed() == []
    notebook.run("%%acp worker\nWork.")
    assert notebook.cards[0].comm_id in closed()
    assert notebook.cards[1].comm_id not in closed()


def test_a_card_stops_one_command_and_not_the_turn(notebook: FrontEnd, tmp_path: Path) -> None:
    create = {"command": "sh", "args": ["-c", "echo begun; sleep 600"]}
    steps = [
        {"request": "terminal/create", "params": create, "save": "t"},
        {"request": "terminal/wait_for_exit", "params": {"terminalId": "${t.terminalId}"}, "save": "exit"},
        {"text": "${exit}"},
    ]
    notebook.add_agent("runner", steps, tmp_path)
    cell = notebook.execute("%%acp runner -o turn\nRun.")
    card = notebook.card_of(cell)

    def output() -> str:
        return "".join(one["output"] for one in card.turn["terminals"].values())

    notebook.see(lambda: output() == "begun\n")
    notebook.tell(card, {"type": "stop_terminal", "terminal_id": ["no", "id"]})
    notebook.tell(card, {"type": "stop_terminal", "terminal_id": next(iter(card.turn["terminals"]))})
    assert notebook.status(cell) == "ok"
    assert notebook.value("[turn.state, turn.text]") == ["done", '{"exitCode": null, "signal": "SIGTERM"}']
    (saved,) = notebook.outputs(cell)
    assert [one["stopped_by"] for one in saved[MIME]["terminals"].values()] == ["you"]
    assert "killed by SIGTERM, stopped by you" in saved["text/plain"]


def test_a_card_asks_for_the_updates_of_a_call(notebook: FrontEnd, tmp_path: Path) -> None:
    notebook.add_agent("worker", [*TOOL, ask("call-1")], tmp_path)
    cell = notebook.execute("%%acp worker -o turn\nWork.")
    card = notebook.card_of(cell)
    request = notebook.asked(card)
    assert card.turn["tool_calls"]["t1"]["updates_count"] == 2
    assert "updates" not in card.turn["tool_calls"]["t1"]
    for wrong in ("t9", None, ["t1"]):
        notebook.tell(card, {"type": "updates", "tool_call_id": wrong})
    notebook.tell(card, {"type": "updates", "tool_call_id": "t1"})

    def told() -> list[dict[str, Any]]:
        contents = [
            m["content"]["data"].get("content", {}) for m in notebook.heard if m["msg_type"] == "comm_msg"
        ]
        return [content for content in contents if content.get("type") == "updates"]

    notebook.see(told)
    notebook.click(card, request, "yes")
    assert notebook.status(cell) == "ok"
    (message,) = told()
    assert (message["tool_call_id"], message["updates_count"]) == ("t1", 2)
    assert [json.loads(text) for text in message["updates"]] == [step["update"] for step in TOOL]
    (saved,) = notebook.outputs(cell)
    assert saved[MIME]["tool_calls"]["t1"]["updates"] == message["updates"]
    assert notebook.value("turn.tool_calls['t1'].updates") == [step["update"] for step in TOOL]
