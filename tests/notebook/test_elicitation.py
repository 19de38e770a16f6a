"""Forms and addresses in a real kernel: asked for by text, or answered by a card's message."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from .front_end import FrontEnd, heard_by
from .kernels import kernel_python, running_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.notebook

MIME = "application/vnd.acp-jupyter.turn.v1+json"
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name", "minLength": 2},
        "count": {"type": "integer", "minimum": 1, "default": 3},
        "region": {
            "type": "string",
            "oneOf": [{"const": "eu", "title": "Europe"}, {"const": "us", "title": "America"}],
        },
        "sure": {"type": "boolean", "default": True},
        "api_key": {"type": "string", "format": "password"},
    },
    "required": ["name"],
}
FORM = {"mode": "form", "message": "Fill it in.", "requestedSchema": SCHEMA}
SHORT = {"mode": "form", "message": "Short.", "requestedSchema": {"properties": {"n": {"type": "integer"}}}}
URL = {"mode": "url", "message": "Log in.", "url": "https://xn--80ak6aa92e.com/login", "elicitationId": "e-7"}


def elicit(params: dict[str, Any]) -> dict[str, Any]:
    return {"request": "elicitation/create", "params": params, "save": "answer"}


class Typist(FrontEnd):
    """A person who types."""

    def type(self, *answers: str) -> list[dict[str, Any]]:
        """Answer questions by ``input()``, one after the other; return them."""
        questions: list[dict[str, Any]] = []
        for answer in answers:
            questions.append(self.question())
            self.client.input(answer)
        return questions

    def question(self) -> dict[str, Any]:
        """Wait for a question by ``input()``."""
        return self.client.get_stdin_msg(timeout=30)["content"]

    def sent(self, folder: Path) -> Any:
        """What the agent was answered."""
        return [m["result"] for m in heard_by("asker", folder) if "action" in m.get("result", {})]


@pytest.fixture
def typist(tmp_path: Path) -> Iterator[Typist]:
    with running_kernel(kernel_python(), tmp_path) as kernel:
        front_end = Typist(kernel)
        front_end.run("%load_ext acp_jupyter\n%acp ask text")
        yield front_end


def begin(typist: Typist, folder: Path, *requests: dict[str, Any]) -> str:
    typist.add_agent("asker", [*map(elicit, requests), {"text": "Thanks."}], folder)
    return typist.execute("%%acp asker -o turn\nAsk me.")


def test_e1_and_e2_a_form_is_filled_in_by_text_reviewed_and_sent(typist: Typist, tmp_path: Path) -> None:
    cell = begin(typist, tmp_path, FORM)
    asked = typist.type("A", "Ada", "zero", "0", "", "America", "", "planted-key", "y")
    assert typist.status(cell) == "ok"
    assert [one["prompt"] for one in asked] == [
        "Your name: ",
        "Your name: ",
        "count [3, - for none]: ",
        "count [3, - for none]: ",
        "count [3, - for none]: ",
        "region: ",
        "sure [yes, - for none]: ",
        "api_key: ",
        "Send these values? y, e to edit, d to decline, c to cancel: ",
    ]
    assert [one["password"] for one in asked] == [False] * 7 + [True, False]
    values = {"name": "Ada", "count": 3, "region": "us", "sure": True, "api_key": "planted-key"}
    assert typist.sent(tmp_path) == [{"action": "accept", "content": values}]
    printed = typist.printed(cell)
    for words in (
        "asks for values",
        "Fill it in.",
        "Your name [name] (length at least 2, required)",
        "Its length is at least 2.",
        "It is a whole number.",
        "It is at least 1.",
        "1. Europe [eu]",
        "Your name: Ada",
        "api_key: (hidden)",
    ):
        assert words in printed
    (bundle,) = typist.outputs(cell)
    (node,) = bundle[MIME]["elicitations"].values()
    assert (node["state"], node["decided_by"]) == ("accepted", "you")
    assert json.loads(node["content"]) == {**values, "api_key": "[not saved]"}
    assert "planted-key" not in json.dumps(bundle) + printed


def test_e1_values_can_be_edited_cleared_and_left_out_before_they_are_sent(
    typist: Typist, tmp_path: Path
) -> None:
    cell = begin(typist, tmp_path, FORM)
    first = ["Ada", "5", "2", "n", "key", "maybe", "e"]
    again = ["Bob", "-", "", "", "", "y"]
    asked = typist.type(*first, *again)
    assert typist.status(cell) == "ok"
    assert asked[7]["prompt"] == "Your name [Ada]: "
    assert asked[11]["prompt"] == "api_key [(hidden), - for none]: "
    values = {"name": "Bob", "region": "us", "sure": False, "api_key": "key"}
    assert typist.sent(tmp_path) == [{"action": "accept", "content": values}]
    assert "'maybe' is none of the answers." in typist.printed(cell)


@pytest.mark.parametrize(("typed", "action"), [("d", "decline"), ("n", "decline"), ("c", "cancel")])
def test_e1_and_e6_there_is_a_way_to_decline_and_to_cancel(
    typist: Typist, tmp_path: Path, typed: str, action: str
) -> None:
    cell = begin(typist, tmp_path, SHORT, URL)
    typist.type("7", typed, typed)
    assert typist.status(cell) == "ok"
    assert typist.sent(tmp_path) == [{"action": action}] * 2
    assert "Open it in your browser" not in typist.printed(cell)


def test_e4_and_e5_an_address_is_shown_whole_warned_of_and_opened_by_the_person_alone(
    typist: Typist, tmp_path: Path
) -> None:
    cell = begin(typist, tmp_path, URL)
    question = typist.question()
    assert question["prompt"] == "Open this address? y, d to decline, c to cancel: "
    typist.see(lambda: "warning: Punycode" in typist.printed(cell))
    before = typist.printed(cell)
    assert "address: https:// «xn--80ak6aa92e.com» /login" in before
    assert URL["url"] not in before, "nothing to click on before there is consent"
    typist.client.input("y")
    assert typist.status(cell) == "ok"
    assert f"Open it in your browser:\n{URL['url']}\n" in typist.printed(cell)
    assert typist.sent(tmp_path) == [{"action": "accept"}]


def test_e9_an_interrupt_answers_cancel(typist: Typist, tmp_path: Path) -> None:
    cell = begin(typist, tmp_path, FORM)
    typist.question()
    typist.manager.interrupt_kernel()
    assert typist.status(cell) == "error"
    typist.see(lambda: typist.sent(tmp_path) == [{"action": "cancel"}])
    turn = "__import__('acp_jupyter').get_session().turn"
    ends = f"[[e.state, e.decided_by] for e in {turn}.elicitations.values()]"
    assert typist.value(ends) == [["cancelled", "turn"]]


def test_e9_a_question_ends_with_its_agent(typist: Typist, tmp_path: Path) -> None:
    script = [{**elicit(FORM), "wait": False}, {"until_file": str(tmp_path / "go")}, {"exit": 3}]
    typist.add_agent("asker", script, tmp_path)
    cell = typist.execute("%%acp asker\nAsk me.")
    typist.question()
    (tmp_path / "go").touch()
    assert typist.status(cell) == "error"
    assert "The question was settled meanwhile." in typist.printed(cell)
    assert "AgentExited" in typist.error(cell)


def test_e6_where_a_cell_takes_no_input_it_is_declined(typist: Typist, tmp_path: Path) -> None:
    typist.add_agent("asker", [elicit(FORM), elicit(URL)], tmp_path)
    cell = typist.client.execute("%%acp asker --approve allow-once-all -o turn\nAsk me.", allow_stdin=False)
    assert typist.status(cell) == "ok"
    assert typist.sent(tmp_path) == [{"action": "decline"}] * 2
    assert typist.value("[e.decided_by for e in turn.elicitations.values()]") == ["nobody"] * 2
    assert typist.value("[n.severity for n in turn.notes]") == ["warning"] * 2


def test_c10_a_card_answers_by_its_message(typist: Typist, tmp_path: Path) -> None:
    typist.run("%acp ask auto")
    cell = begin(typist, tmp_path, FORM, URL, SHORT)
    # it is asked before the page says that it draws the card
    typist.until(lambda: any(out[MIME]["elicitations"] for out in typist.outputs(cell)))
    assert not typist.cards
    card = typist.card_of(cell)

    def open_one() -> dict[str, Any]:
        nodes = card.turn["elicitations"].values()
        return next((node for node in nodes if node["state"] == "open"), {})

    typist.see(open_one)
    key = open_one()["key"]
    assert card.turn["state"] == "waiting"
    assert [field["name"] for field in open_one()["fields"]] == list(SCHEMA["properties"])
    for bad in (
        {"key": None, "action": "accept", "content": {"name": "Ada"}},
        {"key": "e99", "action": "accept", "content": {"name": "Ada"}},
        {"key": key, "action": "allow", "content": {"name": "Ada"}},
        {"key": key, "action": "accept", "content": ["Ada"]},
        {"key": key, "action": "accept", "content": {"name": "A", "count": "few"}},
    ):
        typist.tell(card, {"type": "elicit", **bad})
    few = {"count": "It is a whole number."}
    typist.see(lambda: open_one()["faults"] == {"name": "Its length is at least 2.", **few})
    typist.tell(card, {"type": "elicit", "key": key, "action": "check", "content": {"count": "few"}})
    typist.see(lambda: open_one()["faults"] == few)
    values = {"name": "Ada", "count": "9007199254740993", "region": "", "api_key": "key"}
    typist.tell(card, {"type": "elicit", "key": key, "action": "accept", "content": values})
    typist.see(lambda: open_one().get("mode") == "url")
    assert open_one()["address"]["host"] == "xn--80ak6aa92e.com"
    typist.tell(card, {"type": "elicit", "key": open_one()["key"], "action": "accept"})
    typist.see(lambda: open_one().get("message") == "Short.")
    typist.tell(card, {"type": "elicit", "key": open_one()["key"], "action": "cancel"})
    assert typist.status(cell) == "ok"
    first = next(iter(card.turn["elicitations"].values()))
    assert json.loads(first["content"]) == {"name": "Ada", "count": 2**53 + 1, "api_key": "[not saved]"}
    assert typist.sent(tmp_path) == [
        {"action": "accept", "content": {"name": "Ada", "count": 2**53 + 1, "api_key": "key"}},
        {"action": "accept"},
        {"action": "cancel"},
    ]
    assert not typist.client.stdin_channel.msg_ready(), "nothing was asked by text"


def test_e1_what_waits_is_listed_and_can_be_answered_by_a_command(typist: Typist, tmp_path: Path) -> None:
    typist.add_agent("asker", [elicit(SHORT), elicit(URL), {"text": "Thanks."}], tmp_path)
    typist.run(
        "%acp use asker\n"
        "import acp_jupyter, contextlib, threading\n"
        "session = acp_jupyter.get_session()\n"
        "asked = threading.Event()\n"
        "stack = contextlib.ExitStack(); stack.enter_context(session.attended())\n"
        "run = session.start('Ask me.')\n"
        "session.listen(lambda _changes: asked.set() if run.turn.pending_elicitations else None)\n"
        "assert session.pending_elicitations or asked.wait(30)"
    )
    listed = typist.run("%acp pending")
    for words in ("e1. ", "asks for values", "- n (optional)", "%acp answer e1"):
        assert words in listed
    assert "0 requests, 1 forms, addresses" in typist.run("%acp status")
    cell = typist.execute("%acp answer e1")
    typist.type("few", "7", "y")
    assert typist.status(cell) == "ok"
    assert "e1 is accepted." in typist.printed(cell)
    typist.run("asked.clear(); assert session.pending_elicitations or asked.wait(30)")
    refused = typist.client.execute("%acp answer", allow_stdin=False)
    assert typist.status(refused) == "error"
    assert "nobody can be asked here" in typist.error(refused)
    unknown = typist.execute("%acp answer e9")
    assert typist.status(unknown) == "error"
    assert "Waiting: e2." in typist.error(unknown)
    cell = typist.execute("%acp answer")
    typist.type("d")
    assert typist.status(cell) == "ok"
    typist.run("run.result()")
    assert "Nothing is waiting for an answer." in typist.run("%acp pending")
    assert typist.sent(tmp_path) == [{"action": "accept", "content": {"n": 7}}, {"action": "decline"}]


# An agent that asks for a visit to an address before it lets one log in.
LOGS_IN = """
import json, sys
def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "authenticate":
        asked = {**json.loads(sys.argv[1]), "requestId": message["id"]}
        send({"id": "ask", "method": "elicitation/create", "params": asked})
        action = json.loads(sys.stdin.readline())["result"]["action"]
        answer = {"result": {}} if action == "accept" else {"error": {"code": -32000, "message": action}}
        send({"id": message["id"], **answer})
    elif "id" in message and "method" in message:
        methods = [{"id": "web", "name": "Web"}]
        send({"id": message["id"], "result": {"protocolVersion": 1, "authMethods": methods}})
"""


def test_e8_a_log_in_asks_by_text_outside_of_any_turn(typist: Typist) -> None:
    typist.run(
        "import sys; from acp_jupyter.kernel.sessions import sessions\n"
        f"sessions().agents.add('web', sys.executable, {['-c', LOGS_IN, json.dumps(URL)]!r})\n"
        "%acp use web"
    )
    cell = typist.execute("%acp login web")
    assert typist.type("y")[0]["prompt"].startswith("Open this address?")
    assert typist.status(cell) == "ok"
    printed = typist.printed(cell)
    assert "web asks you to open an address" in printed
    assert f"Open it in your browser:\n{URL['url']}\n" in printed
    assert "Logged in." in printed
    refused = typist.execute("%acp login web")
    typist.type("d")
    assert typist.status(refused) == "error"
    assert "decline" in typist.error(refused)
    given_up = typist.execute("%acp login web")
    typist.question()
    typist.manager.interrupt_kernel()
    assert typist.status(given_up) == "error"
    assert "KeyboardInterrupt" in typist.error(given_up)
    assert typist.value("sessions().get().pending_elicitations") == []
