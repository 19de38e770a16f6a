"""Settings that go wrong while a turn runs, in a real kernel: they cost neither the turn nor its record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .front_end import FrontEnd
from .kernels import kernel_python, running_kernel
from .test_display import TOOL, Deaf, shown
from .test_magic import MIME, WIDGET_MIME, ask

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.notebook

FILES = {
    "half-done": ("pyproject.toml", "[tool.acp-jupyter\nx = \n<<<<<<< HEAD", "pyproject.toml"),
    "in-conflict": ("pyproject.toml", 'dependencies = ["acp-jupyter"]\n<<<<<<< HEAD\n', "pyproject.toml"),
    "disallowed": ("pyproject.toml", '[tool.acp-jupyter]\npolicy = "allow-once-all"\n', "policy"),
    "unknown": ("pyproject.toml", "[tool.acp-jupyter]\nfoo = 1\n", "'foo'"),
    "the-users": ("config/acp-jupyter/settings.json", '{"save": "bogus"}', "save"),
}


@pytest.fixture
def notebook(by: type[FrontEnd], tmp_path: Path) -> Iterator[FrontEnd]:
    with running_kernel(kernel_python(), tmp_path) as kernel:
        front_end = by(kernel)
        front_end.run("%load_ext acp_jupyter")
        if by is Deaf:
            front_end.run("%env ACP_JUPYTER_ASK=text")
        yield front_end


def answered(notebook: FrontEnd, cell: str) -> None:
    """Say yes, on the card or by text."""
    if isinstance(notebook, Deaf):
        notebook.answer("1")
        return
    card = notebook.card_of(cell)
    notebook.click(card, notebook.asked(card), "yes")


@pytest.mark.parametrize(("which", "by"), [*((which, FrontEnd) for which in FILES), ("unknown", Deaf)])
def test_a_file_that_goes_wrong_in_mid_turn_costs_nothing(
    notebook: FrontEnd, tmp_path: Path, which: str
) -> None:
    name, text, told = FILES[which]
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    write = f"import sys; open(sys.argv[1], 'w').write({text!r})"
    run = {"request": "terminal/create", "params": {"command": "python", "args": ["-c", write, str(file)]}}
    wait = {"request": "terminal/wait_for_exit", "params": {"terminalId": "${made.terminalId}"}}
    steps = [{"text": "one "}, {**run, "save": "made"}, wait, *TOOL, ask("call-1"), {"text": "two"}]
    notebook.add_agent("worker", {"turns": [steps, steps]}, tmp_path)
    cell = notebook.execute("%%acp worker -o turn\nWork.")
    answered(notebook, cell)
    assert notebook.status(cell) == "ok", notebook.error(cell)
    assert file.exists()
    (saved,) = notebook.outputs(cell)
    assert WIDGET_MIME not in saved
    assert saved[MIME]["state"] == "done"
    assert [item["text"] for item in saved[MIME]["items"] if item["type"] == "message"] == ["one ", "two"]
    warned = [note["text"] for note in saved[MIME]["notes"] if note["severity"] == "warning"]
    assert len(warned) == 1
    assert told in warned[0]

    again = notebook.finished("%%acp worker\nAgain.", "error")
    assert told in notebook.error(again)
    shown = notebook.finished("turn")
    assert "one " not in json.dumps(notebook.outputs(shown)), "what may be kept is not known now"
    assert told in json.dumps(notebook.outputs(shown))
    (line,) = [one for one in notebook.run("%acp doctor").splitlines() if one.startswith("! settings")]
    assert told in line

    file.unlink()
    cell = notebook.execute("%%acp worker\nAgain.")
    answered(notebook, cell)
    assert notebook.status(cell) == "ok"


def test_a_turn_that_cannot_be_written_leaves_what_can_be_said(tmp_path: Path) -> None:
    with running_kernel(kernel_python(), tmp_path) as kernel:
        notebook = FrontEnd(kernel)
        notebook.run("%load_ext acp_jupyter")
        notebook.run("%env MY_API_KEY=planted-secret-0123456789")
        notebook.add_agent("talker", [{"text": "It is planted-secret-0123456789, found."}], tmp_path)
        notebook.run(
            "from acp_jupyter.kernel import keep\n"
            "def broken(turn):\n"
            "    if turn.ended: raise RecursionError\n"
            "    return made(turn)\n"
            "made, keep.saved_bundle = keep.saved_bundle, broken"
        )
        cell = notebook.finished("%%acp talker\nTalk.")
        (saved,) = notebook.outputs(cell)
        assert "RecursionError" in saved["text/plain"]
        assert "It is [redacted], found." in saved["text/plain"]


def test_a_card_that_cannot_be_told_costs_neither_the_turn_nor_its_record(tmp_path: Path) -> None:
    with running_kernel(kernel_python(), tmp_path) as kernel:
        notebook = FrontEnd(kernel)
        notebook.run("%load_ext acp_jupyter")
        notebook.add_agent("asker", [{"text": "one"}, ask("call-1"), {"text": "two"}], tmp_path)
        notebook.run(
            "from acp_jupyter.views import widget\n"
            "def broken(self, message): raise OSError('the comm is gone')\n"
            "widget.CardWidget.tell = broken"
        )
        cell = notebook.execute("%%acp asker\nAsk me.")
        notebook.see(lambda: notebook.cards)  # it says that it is ready

        def open_in(bundle: dict[str, Any]) -> bool:
            return any(one["state"] == "open" for one in bundle[MIME]["permissions"].values())

        notebook.see(lambda: any(map(open_in, shown(notebook, cell))))
        notebook.tell(notebook.cards[0], {"type": "decide", "key": "p1", "option_id": "yes"})
        assert notebook.status(cell) == "ok"
        (saved,) = notebook.outputs(cell)
        assert saved[MIME]["state"] == "done"
        assert [item["text"] for item in saved[MIME]["items"] if item["type"] == "message"] == ["one", "two"]


@pytest.mark.parametrize("by", [FrontEnd])
def test_the_doctor_tells_a_wrong_setting_once(notebook: FrontEnd) -> None:
    checked = notebook.run("%env ACP_JUPYTER_POLICY=yolo\n%acp doctor").splitlines()
    (line,) = [one for one in checked if one.startswith("!") and "yolo" in one]
    assert line.startswith("! settings")
