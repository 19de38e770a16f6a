from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from acp_jupyter.testing.replayer import LogError, Replay, Said, main, read_log, without_strays

HELLO = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}
NEW = {"id": 1, "method": "session/new", "params": {"cwd": "/was/here"}}
PROMPT = {"id": 2, "method": "session/prompt", "params": {"prompt": [{"type": "text", "text": "go"}]}}


class Played:
    """Plays a log: messages of the client's are strings such as ``> ...``, the agent's ``< ...``."""

    def __init__(self, *recorded: tuple[str, Any]) -> None:
        self.sent: list[Any] = []
        self.told: list[str] = []
        said = [Said(way == ">", line, message) for line, (way, message) in enumerate(recorded, 1)]
        self.replay = Replay(without_strays(said), self.sent.append, self.told.append)

    def take(self, *messages: Any) -> list[Any]:
        """What is said to messages of the client's."""
        before = len(self.sent)
        for message in messages:
            self.replay.take(message)
        return self.sent[before:]


def answer(request_id: Any, result: Any = None) -> Any:
    return {"id": request_id, "result": result}


def ask(request_id: Any, method: str = "session/request_permission", **params: Any) -> Any:
    return {"id": request_id, "method": method, "params": params}


def selected(request_id: Any, option: str) -> Any:
    return answer(request_id, {"outcome": {"outcome": "selected", "optionId": option}})


def chunk(text: str) -> Any:
    return {"method": "session/update", "params": {"text": text}}


def test_nothing_is_said_before_its_turn() -> None:
    played = Played((">", HELLO), ("<", answer(0)), ("<", chunk("a")), (">", PROMPT), ("<", answer(2, "x")))
    assert played.take(HELLO) == [answer(0), chunk("a")]
    assert played.take(PROMPT) == [answer(2, "x")]
    assert (played.told, played.replay.left) == ([], [])


def test_the_clients_ids_are_its_own() -> None:
    withdrawn = {"method": "$/cancel_request", "params": {"requestId": 2}}
    played = Played((">", PROMPT), (">", withdrawn), ("<", answer(2)))
    assert played.take({**PROMPT, "id": "mine"}) == []
    assert played.take({**withdrawn, "params": {"requestId": "mine"}}) == [answer("mine")]
    assert played.told == []


def test_an_id_that_was_used_twice() -> None:
    played = Played((">", PROMPT), ("<", answer(2, "a")), (">", PROMPT), ("<", answer(2, "b")))
    assert played.take({**PROMPT, "id": 7}, {**PROMPT, "id": 8}) == [answer(7, "a"), answer(8, "b")]


@pytest.mark.parametrize("order", list(itertools.permutations([selected(1, "a"), selected("x", "b")])))
def test_two_requests_may_be_answered_in_either_order(order: Any) -> None:
    asked = [(">", PROMPT), ("<", ask(1)), ("<", ask("x"))]
    answered = [(">", selected("x", "b")), ("<", chunk("!")), (">", selected(1, "a"))]
    played = Played(*asked, *answered, ("<", answer(2)))
    assert played.take(PROMPT) == [ask(1), ask("x")]
    assert played.take(*order) == [chunk("!"), answer(2)]
    assert played.told == []


def test_a_cancel_may_come_earlier_than_it_did() -> None:
    cancel = {"method": "session/cancel", "params": {}}
    asked = [(">", PROMPT), ("<", ask(1)), ("<", chunk("a"))]
    played = Played(*asked, (">", cancel), (">", selected(1, "a")), ("<", answer(2)))
    assert played.take(PROMPT, cancel, selected(1, "a")) == [ask(1), chunk("a"), answer(2)]


def test_directories_and_terminals_have_other_names_now() -> None:
    created = [("<", ask(1, "terminal/create")), (">", answer(1, {"terminalId": "7"}))]
    used = ask(2, "terminal/output", terminalId="7", text="7 of 77", path="/was/here/a")
    others = "see {0}, {0}/b, file://{0}; not /was/here-too, /x/was/here or /was/hereby"
    said = [("<", used), ("<", chunk(others.format("/was/here"))), (">", answer(2))]
    played = Played((">", NEW), ("<", answer(1, {})), *created, *said)
    played.take({**NEW, "params": {"cwd": "/is/there"}})
    assert played.take(answer(1, {"terminalId": "t"})) == [
        ask(2, "terminal/output", terminalId="t", text="7 of 77", path="/is/there/a"),
        chunk(others.format("/is/there")),
    ]


def test_what_the_client_says_of_its_directory_has_moved_too() -> None:
    was, now = ({**PROMPT, "params": {"path": f"{folder}/a"}} for folder in ("/was/here", "/is/there"))
    played = Played((">", NEW), ("<", answer(1)), (">", was), ("<", answer(2, "same")))
    assert played.take({**NEW, "params": {"cwd": "/is/there"}}, now) == [answer(1), answer(2, "same")]


def test_what_the_log_has_no_answer_to_is_an_error() -> None:
    played = Played((">", PROMPT), ("<", chunk("a")))
    assert played.take(PROMPT) == [chunk("a"), error(2, "the log ends before this was answered")]
    (last,) = played.take({**PROMPT, "id": 3})
    assert "the log has no more of this" in last["error"]["message"]


def error(request_id: Any, why: str) -> Any:
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": -32603, "message": f"replay: {why}"}}


@pytest.mark.parametrize(
    ("was", "now", "where"),
    [
        ({"a": 1}, {"a": 2}, "params.a was 1, now it is 2"),
        ({"a": 1}, {"a": True}, "params.a was 1, now it is true"),
        ({"a": [1, 2]}, {"a": [1, 3]}, "params.a[1] was 2, now it is 3"),
        ({"a": [1]}, {"a": []}, "params.a was [1], now it is []"),
        ({"a": {"b": None}}, {"a": {}, "c": 0}, "params.c was null, now it is 0"),
        ({"a": "x [redacted] y"}, {"a": "x y"}, 'params.a was "x [redacted] y", now it is "x y"'),
        ({"a": "x" * 500}, {"a": "y"}, f'params.a was "{"x" * 199}…, now it is "y"'),
    ],
)
def test_where_it_differs_is_told_and_what_is_open_is_an_error(was: Any, now: Any, where: str) -> None:
    played = Played((">", {**PROMPT, "params": was}), ("<", answer(2)))
    why = f"line 1 of the log, session/prompt: {where}"
    over = "Nothing more is played; to begin the log again: %acp new, then %acp restart"
    assert played.take({**PROMPT, "id": 5, "params": now}) == [error(5, f"{why}. {over}")]
    assert played.told == [f"differs: {why}"]
    later = f"it stopped before this, where it differed: {why}. {over}"
    assert played.take({**PROMPT, "id": 6, "params": was}, chunk("-")) == [error(6, later)]


def test_another_message_than_the_recorded_one() -> None:
    played = Played((">", PROMPT), ("<", answer(2)))
    assert played.take({"method": "session/set_mode", "id": 9})[0]["error"]["message"].startswith(
        "replay: line 1 of the log, session/prompt: it was the request session/prompt, "
        "now it is the request session/set_mode. "
    )


CANCEL = {"method": "session/cancel", "params": {}}
WITHDRAW = {"method": "$/cancel_request", "params": {"requestId": 2}}


@pytest.mark.parametrize("late", [CANCEL, WITHDRAW])
@pytest.mark.parametrize("sent", [True, False])
@pytest.mark.parametrize("recorded", [True, False])
def test_a_cancel_of_what_is_over_may_come_or_not(late: Any, *, sent: bool, recorded: bool) -> None:
    whole = [(">", PROMPT), ("<", answer(2)), *([(">", late)] * recorded), (">", {**PROMPT, "id": 3})]
    played = Played(*whole, ("<", answer(3)))
    assert played.take(PROMPT, *([late] * sent), {**PROMPT, "id": 3}) == [answer(2), answer(3)]
    assert played.told == []


@pytest.mark.parametrize("cancel", [CANCEL, WITHDRAW])
def test_a_cancel_in_time_is_no_matter_of_chance(cancel: Any) -> None:
    log = [(">", PROMPT), (">", cancel), ("<", answer(2)), (">", {**PROMPT, "id": 3})]
    assert Played(*log).take(PROMPT) == []
    assert Played(*log).take(PROMPT, cancel) == [answer(2)]
    (error,) = Played((">", PROMPT), ("<", ask(1)), (">", selected(1, "a"))).take(PROMPT, cancel)[1:]
    assert "error" in error


def test_answers_to_nobody_are_left_out_and_one_that_was_not_recorded_is_told() -> None:
    played = Played((">", selected(1, "a")), (">", PROMPT), ("<", ask(1)), ("<", answer(2)))
    assert played.take(PROMPT, selected(1, "b")) == [ask(1), answer(2)]
    (told,) = played.told
    assert told.startswith("differs, played on: it was not answered: ")


@pytest.mark.parametrize(
    ("method", "goes_on"), [("session/request_permission", False), ("fs/read_text_file", True)]
)
@pytest.mark.parametrize("other", [answer(1, {"outcome": 2}), {"id": 1, "error": {"code": -1}}])
def test_a_decision_may_not_differ_but_a_file_may(method: str, other: Any, *, goes_on: bool) -> None:
    played = Played((">", PROMPT), ("<", ask(1, method)), (">", answer(1, {"outcome": 1})), ("<", answer(2)))
    played.take(PROMPT)
    (last,) = played.take(other)
    assert ("error" in last) != goes_on
    (told,) = played.told
    assert told.startswith(f"differs{', played on' * goes_on}: line 3 of the log, {method}: ")


def test_what_is_offered_at_the_start_may_differ() -> None:
    played = Played((">", {**HELLO, "params": {"clientInfo": 1}}), ("<", answer(0)))
    assert played.take({**HELLO, "params": {"clientInfo": 2}}) == [answer(0)]
    where = "line 1 of the log, initialize: params.clientInfo was 1, now it is 2"
    assert played.told == [f"differs, played on: {where}"]


def test_what_is_left_is_known() -> None:
    played = Played((">", HELLO), ("<", answer(0)), (">", PROMPT), ("<", answer(2)))
    played.take(HELLO)
    assert [said.line for said in played.replay.left] == [3, 4]


# --- the file, and the program


def entry(direction: str, message: Any) -> str:
    return json.dumps({"at": 1.5, "direction": direction, "message": message})


def test_both_kinds_of_logs_are_read_and_notes_are_passed_over() -> None:
    header = json.dumps({"acp_jupyter_log": 1, "agent": None})
    ours = [header, entry("out", HELLO), entry("in", answer(0))]
    recorded = [
        json.dumps({"dir": "note", "msg": {"cmd": []}}),
        json.dumps({"dir": "c2a", "t": 0, "msg": HELLO}),
        json.dumps({"dir": "a2c", "t": 0, "msg": None, "raw": "junk"}),
        json.dumps({"dir": "a2c", "t": 0, "msg": answer(0)}),
    ]
    assert read_log(ours) == [[Said(True, 2, HELLO), Said(False, 3, answer(0))]]  # noqa: FBT003  # by the client
    assert read_log(recorded) == [[Said(True, 2, HELLO), Said(False, 4, answer(0))]]  # noqa: FBT003  # as above


def test_each_initialize_begins_a_connection_and_a_rest_is_passed_over() -> None:
    lines = [entry("in", chunk("rest")), entry("out", HELLO), entry("out", HELLO), entry("in", answer(0))]
    assert [[said.line for said in one] for one in read_log(lines)] == [[2], [3, 4]]


def test_after_a_gap_it_goes_on_with_the_next_prompt() -> None:
    gap = json.dumps({"dropped": 7})
    opening = [entry("out", HELLO), entry("in", answer(0))]
    rest = [
        entry("in", {**chunk("rest"), "dropped": 1}),
        entry("out", selected(1, "a")),
        entry("in", answer(2)),
    ]
    prompt = [entry("out", PROMPT), entry("in", answer(2))]
    (connection,) = read_log([*opening, gap, *rest, *prompt])
    assert [said.line for said in connection] == [1, 2, 7, 8]


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([], "the beginning of a connection is missing"),
        ([entry("in", chunk("rest"))], "the beginning of a connection is missing"),
        ([entry("out", HELLO), "{"], "line 2 is not JSON"),
        (["[]"], "line 1 is not an object"),
        (["[" * 100_000], "line 1 is not JSON"),
        ([json.dumps({"acp_jupyter_log": 2})], "its version is 2, and not 1"),
    ],
)
def test_a_file_that_cannot_be_played(
    lines: list[str], why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(LogError, match=why):
        read_log(lines)
    file = tmp_path / "log.jsonl"
    file.write_text("".join(f"{line}\n" for line in lines))
    assert main([str(file)]) == 2
    assert f"replay: {file}: {why}" in capsys.readouterr().err


def test_a_file_or_a_connection_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "log.jsonl"
    assert main([str(file)]) == 2
    assert "No such file" in capsys.readouterr().err
    file.write_bytes(b"\xff\n")
    assert main([str(file)]) == 2
    assert "can't decode" in capsys.readouterr().err
    file.write_text(entry("out", HELLO))
    assert main([str(file), "--connection", "2"]) == 2
    assert "it holds 1 connections, there is no 2" in capsys.readouterr().err
