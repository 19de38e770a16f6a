"""`TurnWidget`, `DiffWidget` and `PermissionWidget` in a real kernel, answered by a front end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from .front_end import FrontEnd
from .kernels import kernel_python, running_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.notebook

WIDGET_MIME = "application/vnd.jupyter.widget-view+json"
OPTIONS = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]
CALL = {
    "toolCallId": "c1",
    "title": "Write",
    "kind": "edit",
    "content": [{"type": "diff", "path": "/tmp/a.py", "oldText": "a\n", "newText": "b\n"}],
}
ASKING: list[Any] = [
    {"text": "I ask."},
    {"request": "session/request_permission", "params": {"toolCall": CALL, "options": OPTIONS}},
    {"text": " Thanks."},
]

UNTIL = """
import asyncio
async def until():
    while not ({}):
        await asyncio.sleep(0.02)
await asyncio.wait_for(until(), 20)
"""


@pytest.fixture
def notebook(tmp_path: Path) -> Iterator[FrontEnd]:
    with running_kernel(kernel_python(), tmp_path) as kernel:
        front_end = FrontEnd(kernel)
        front_end.run("%load_ext acp_jupyter\nfrom acp_jupyter import *")
        front_end.add_agent("asker", ASKING, tmp_path)
        yield front_end


def start(notebook: FrontEnd) -> None:
    """Start a turn without waiting for it, and leave it waiting for an answer."""
    notebook.run("session = get_session('asker'); run = session.start('Go.', attended=True)")
    wait_for(notebook, "session.pending")


def wait_for(notebook: FrontEnd, expression: str) -> None:
    """Wait in the kernel, with its loop running, until an expression is true."""
    notebook.run(UNTIL.format(expression))


def test_a_turn_is_followed_and_answered_while_no_cell_runs(notebook: FrontEnd) -> None:
    start(notebook)
    cell = notebook.execute(
        "seen = []\nw = TurnWidget(run)\nw.observe(lambda c: seen.append([c.name, c.new]))\nw"
    )
    card = notebook.card_of(cell)
    assert notebook.value("[w.state, w.pending]") == ["waiting", 1]
    notebook.click(card, notebook.asked(card), "yes")
    notebook.see(lambda: card.turn["state"] == "done")
    assert card.text == "I ask. Thanks."
    wait_for(notebook, "w.state == 'done'")
    assert ["pending", 0] in notebook.value("seen")
    assert notebook.value(
        "[run.turn.permissions['p1'].option_id, run.turn.permissions['p1'].decided_by]"
    ) == [
        "yes",
        "you",
    ]


def test_a_request_by_itself(notebook: FrontEnd) -> None:
    start(notebook)
    code = "import ipywidgets\nw = PermissionWidget(session.pending[0])\nipywidgets.VBox([w])"
    cell = notebook.execute(code)
    card = notebook.card_of(cell)
    assert card.turn["items"] == [{"type": "tool_call", "tool_call_id": "c1"}]
    assert notebook.value("[w.part, w.state, w.option_id]") == ["permission", "open", None]
    notebook.click(card, notebook.asked(card), "no")
    wait_for(notebook, "w.state == 'selected'")
    assert notebook.value("w.option_id") == "no"
    notebook.see(lambda: card.turn["permissions"]["p1"]["state"] == "selected")
    assert notebook.value("run.result().text") == "I ask.\n\n Thanks."
    assert card.text == ""


def test_a_widget_follows_also_while_a_cell_blocks(notebook: FrontEnd) -> None:
    start(notebook)
    card = notebook.card_of(notebook.execute("w = TurnWidget(run); w"))
    cell = notebook.execute("session.run('Again.')")  # it waits for the turn before it
    again = notebook.card_of(cell)
    notebook.click(card, notebook.asked(card), "yes")
    notebook.see(lambda: card.turn["state"] == "done")
    notebook.click(again, notebook.asked(again), "yes")
    assert notebook.status(cell) == "ok"


def test_a_diff_by_itself(notebook: FrontEnd) -> None:
    cell = notebook.execute("w = DiffWidget(Diff('/tmp/a.py', 'a\\n', 'b\\n')); w")
    card = notebook.card_of(cell)
    (call,) = card.turn["tool_calls"].values()
    assert call["content"][0]["new_text"] == "b\n"
    bundle = notebook.outputs(cell)[0]
    assert bundle[WIDGET_MIME]["model_id"] == card.comm_id
    assert "-a\n+b" in bundle["text/plain"]


def test_what_stands_beside_it_and_what_is_left_when_it_is_closed(notebook: FrontEnd) -> None:
    start(notebook)
    cell = notebook.execute("w = TurnWidget(run.turn); w")
    card = notebook.card_of(cell)
    bundle = notebook.outputs(cell)[0]
    assert "I ask." in bundle["text/plain"]
    assert bundle["application/vnd.acp-jupyter.turn.v1+json"]["turn_id"] == card.turn["turn_id"]
    assert card.turn["turn_id"].startswith(notebook.value("run.turn.turn_id") + "#")
    notebook.run("w.close(); session.pending[0].select('yes')")
    assert notebook.value("run.result().state") == "done"
    assert notebook.value("[w.state, run.turn.state]") == ["waiting", "done"]


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("TurnWidget('x')", "this widget shows a Turn, not a str"),
        ("DiffWidget(3)", "this widget shows a Diff, not a int"),
        ("PermissionWidget(None)", "this widget shows a PendingPermission, not a NoneType"),
    ],
)
def test_what_is_none_is_refused(notebook: FrontEnd, made: str, told: str) -> None:
    cell = notebook.finished(made, "error")
    assert told in notebook.error(cell)
