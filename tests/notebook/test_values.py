"""Values of ours as a cell's value, in a real kernel where the magics were never loaded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from .front_end import FrontEnd
from .kernels import answers, kernel_python, running_kernel
from .test_magic import MIME, WIDGET_MIME

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.notebook

SECRET = "planted-secret-0123456789"  # noqa: S105  # planted, to be found
DIFF = {"type": "diff", "path": "/nowhere/a.py", "oldText": "x = 1\n", "newText": f"x = '{SECRET}'\n"}
PLAN = [{"content": f"Mend {SECRET}", "priority": "medium", "status": "completed"}]
STEPS: list[dict[str, Any]] = [
    {"update": {"sessionUpdate": "plan", "entries": PLAN}},
    {"request": "terminal/create", "params": {"command": "echo", "args": [SECRET]}, "save": "made"},
    {"request": "terminal/wait_for_exit", "params": {"terminalId": "${made.terminalId}"}},
    {
        "update": {
            "sessionUpdate": "tool_call",
            "toolCallId": "c1",
            "title": "Edit it",
            "kind": "edit",
            "status": "completed",
            "content": [DIFF, {"type": "terminal", "terminalId": "${made.terminalId}"}],
        }
    },
    {"text": f"It has {SECRET}."},
]
VALUES = {
    "turn": "It has [redacted].",
    "turn.tool_calls": "[0] Edit",
    "turn.tool_calls[0]": "[redacted]",
    "turn.tool_calls[0].diffs[0]": "x = '[redacted]'",
    "next(iter(turn.terminals.values()))": "[redacted]",
    "turn.plan": "✓ Mend [redacted]",
    "session": "1. Use [redacted] · done",
    "session.log": "[redacted]",
}


@pytest.fixture
def notebook(tmp_path: Path) -> Iterator[FrontEnd]:
    with running_kernel(kernel_python(), tmp_path) as kernel:
        front_end = FrontEnd(kernel)
        front_end.run(f"%env MY_API_KEY={SECRET}\n%env ACP_JUPYTER_POLICY=allow-once-all")
        yield front_end


def result(notebook: FrontEnd, cell: str) -> dict[str, Any]:
    """The one output of a cell, which is its value."""
    (output,) = notebook.outputs(cell)
    assert [m["msg_type"] for m in answers(notebook.heard, cell) if "data" in m["content"]] == [
        "execute_result"
    ]
    return output


def test_each_shows_itself_without_the_magics_and_without_a_widget(
    notebook: FrontEnd, tmp_path: Path
) -> None:
    notebook.add_agent("worker", STEPS, tmp_path)
    notebook.run(
        f"import acp_jupyter\nsession = acp_jupyter.get_session('worker')\nturn = session.run('Use {SECRET}')"
    )
    for value, words in VALUES.items():
        cell = notebook.finished(value)
        output = result(notebook, cell)
        assert SECRET not in json.dumps(output), value
        assert words in output["text/plain"], value
        assert "text/html" in output, value
        assert WIDGET_MIME not in output
        assert (MIME in output) == (value == "turn")
    assert notebook.value("[SECRET in turn.text for SECRET in [__import__('os').environ['MY_API_KEY']]]") == [
        True
    ]


def test_one_card_in_the_cell_that_ran_it_without_the_magics(notebook: FrontEnd, tmp_path: Path) -> None:
    notebook.add_agent("worker", [{"text": "Done."}], tmp_path)
    cell = notebook.finished("import acp_jupyter\nacp_jupyter.get_session('worker').run('Go')")
    (output,) = notebook.outputs(cell)
    assert output[MIME]["state"] == "done"
    again = notebook.finished("_")
    assert result(notebook, again)[MIME] == output[MIME]


def test_a_saved_turn_shows_itself_where_no_session_ever_was(notebook: FrontEnd, tmp_path: Path) -> None:
    notebook.add_agent("worker", STEPS, tmp_path)
    cell = notebook.finished("import acp_jupyter\nacp_jupyter.get_session('worker').run('Go')")
    (tmp_path / "turn.json").write_text(json.dumps(notebook.outputs(cell)[0][MIME]), encoding="utf-8")
    notebook.control("shutdown_request", {"restart": True})
    (tmp_path / "again").mkdir()
    with running_kernel(kernel_python(), tmp_path / "again") as kernel:
        fresh = FrontEnd(kernel)
        fresh.run(
            "import json\nfrom acp_jupyter.model.transcript import from_json\n"
            f"turn = from_json(json.load(open({str(tmp_path / 'turn.json')!r})))"
        )
        call = result(fresh, fresh.finished("turn.tool_calls[0]"))
        assert "x = '[redacted]'" in call["text/plain"]
        assert "exit 0" in call["text/plain"], "its terminal is its turn's"
        assert "It has [redacted]." in result(fresh, fresh.finished("turn"))["text/html"]


def test_a_wrong_setting_is_told_and_no_value_is(notebook: FrontEnd, tmp_path: Path) -> None:
    notebook.add_agent("worker", STEPS, tmp_path)
    notebook.run("import acp_jupyter\nturn = acp_jupyter.get_session('worker').run('Go')")
    notebook.run("%env ACP_JUPYTER_SAVE=loudly")
    for value in ("turn", "turn.tool_calls[0]", "turn.plan", "acp_jupyter.get_session()"):
        output = result(notebook, notebook.finished(value))
        assert set(output) == {"text/plain"}
        assert "ACP_JUPYTER_SAVE" in output["text/plain"]
        assert SECRET not in output["text/plain"]
