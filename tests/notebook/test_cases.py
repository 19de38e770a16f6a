"""Faults of notebooks in the wild, met in a real kernel; each test is named after its case."""

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
# https://jupyter-server.readthedocs.io/en/latest/other/full-config.html: a second's worth, by default
MESSAGES_A_SECOND = 1000
BYTES_A_SECOND = 1_000_000


@pytest.fixture
def notebook(tmp_path: Path) -> Iterator[FrontEnd]:
    with running_kernel(kernel_python(), tmp_path) as kernel:
        front_end = FrontEnd(kernel)
        front_end.run("%load_ext acp_jupyter")
        yield front_end


def test_n16_m06_a_flood_and_a_giant_value_stay_below_what_a_server_lets_pass(
    notebook: FrontEnd, tmp_path: Path
) -> None:
    call = {"toolCallId": "big", "title": "Dump", "kind": "read", "status": "completed"}
    giant = {"update": {"sessionUpdate": "tool_call", **call, "rawOutput": "x" * 5_000_000}}
    flood: dict[str, Any] = {"text": "word " * 10_000, "chunks": "words"}
    notebook.add_agent("flood", [giant, flood, {"text": "The end."}], tmp_path)
    cell = notebook.execute("%%acp flood -o turn\nBe loud.")
    assert notebook.status(cell) == "ok"
    sent = [message for message in notebook.heard if message["parent_header"].get("msg_id") == cell]
    assert len(sent) < MESSAGES_A_SECOND
    document = notebook.outputs(cell)[0][MIME]
    assert document["items"][-1]["text"] == "word " * 10_000 + "The end."
    assert sum(len(json.dumps(message["content"])) for message in sent) < BYTES_A_SECOND
    assert notebook.value("len(turn.tool_calls[0].raw_output)") == 5_000_000


def test_m04_a_picture_of_10_mb_is_whole_in_python_and_named_on_the_card(
    notebook: FrontEnd, tmp_path: Path
) -> None:
    block = {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo" + "A" * 10_000_001}
    update = {"sessionUpdate": "agent_message_chunk", "content": block}
    notebook.add_agent("painter", [{"update": update}, {"text": "Done."}], tmp_path)
    cell = notebook.execute("%%acp painter -o turn\nDraw.")
    assert notebook.status(cell) == "ok"
    sent = [message for message in notebook.heard if message["parent_header"].get("msg_id") == cell]
    assert sum(len(json.dumps(message["content"])) for message in sent) < BYTES_A_SECOND
    assert "[image" in notebook.outputs(cell)[0]["text/plain"]
    assert notebook.value("len(turn.items[0].block['data'])") == len(block["data"])


@pytest.mark.parametrize("waiting", [False, True], ids=["streaming", "a permission waits"])
def test_n17_three_fast_interrupts_are_one_and_the_next_cell_works(
    notebook: FrontEnd, tmp_path: Path, *, waiting: bool
) -> None:
    option = {"optionId": "yes", "name": "Allow", "kind": "allow_once"}
    params = {"toolCall": {"toolCallId": "a", "title": "Touch", "kind": "edit"}, "options": [option]}
    ask = {"request": "session/request_permission", "params": params}
    slow = {"text": "word " * 2000, "chunks": "words", "delay_s": 0.02}
    notebook.add_agent("slow", {"turns": [[ask if waiting else slow], [{"text": "Here."}]]}, tmp_path)
    cell = notebook.execute("%%acp slow\nBe slow.")
    card = notebook.card_of(cell)
    notebook.see(lambda: card.open_requests if waiting else card.text)
    for _ in range(3):
        notebook.manager.interrupt_kernel()
    assert notebook.status(cell, timeout_s=15) == "error"
    assert notebook.error(cell).count("KeyboardInterrupt") >= 1
    after = notebook.finished("%%acp -o turn\nStill there?")
    assert notebook.value("turn.text") == "Here."
    assert notebook.times_run(after) == 1
    assert [m["method"] for m in heard_by("slow", tmp_path) if "method" in m].count("session/cancel") == 1


def test_n20_two_kernels_in_one_folder_have_a_process_each(tmp_path: Path) -> None:
    homes = [tmp_path / name for name in ("one", "two", "shared")]
    for home in homes:
        home.mkdir()
    with running_kernel(kernel_python(), homes[0]) as one, running_kernel(kernel_python(), homes[1]) as two:
        first, second = FrontEnd(one), FrontEnd(two)
        for front_end in (first, second):
            front_end.run(f"%cd -q {homes[2]}\n%load_ext acp_jupyter")
            front_end.add_agent("same", {"turns": [[{"report": "pid"}]] * 3}, homes[2])
            front_end.finished("%%acp same -o turn\nWho are you?")
        pid, other = first.value("turn.text"), second.value("turn.text")
        assert pid != other
        assert first.value("turn.cwd") == second.value("turn.cwd") == str(homes[2])
        first.run("%acp restart")
        second.finished("%%acp -o turn\nAnd now?")
        assert second.value("turn.text") == other


def test_n22_what_an_agents_child_writes_reaches_no_cell(notebook: FrontEnd, tmp_path: Path) -> None:
    create = {"command": "sh", "args": ["-c", "echo to-the-terminal; echo to-its-error >&2"]}
    script = [
        {"stderr": "to-the-agents-error\n"},
        {"request": "terminal/create", "params": create, "save": "t"},
        {"request": "terminal/wait_for_exit", "params": {"terminalId": {"$": "t.terminalId"}}},
        {"text": "Done."},
    ]
    notebook.add_agent("noisy", script, tmp_path)
    cell = notebook.finished("%%acp noisy --approve allow-once-all\nMake noise.")
    following = notebook.finished("print('mine')")
    assert notebook.printed(cell) == ""
    assert notebook.printed(following) == "mine\n"
    (terminal,) = notebook.outputs(cell)[0][MIME]["terminals"].values()
    assert sorted(terminal["output"].split()) == ["to-its-error", "to-the-terminal"]
