"""The gallery: executed with no agent, saved, reopened in JupyterLab without its kernel, and photographed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from playwright.sync_api import expect

from acp_jupyter.model.transcript import MIME
from tests.model.play import words_of

from .accessible import violations

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Locator

    from .lab import Notebook, Server

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
EXHIBIT = re.compile(r'gallery\.turn\("([^"]+)"\)$')
# JupyterLab draws only the cells that are in sight
_SCROLL = "index => void window.jupyterapp.shell.currentWidget.content.scrollToItem(index, 'start')"
_WRONG = "text=/Javascript error|model not found|cannot be drawn|Error displaying/i"


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The gallery's notebook, executed."""
    folder = tmp_path_factory.mktemp("gallery")
    shutil.copy(EXAMPLES / "gallery.py", folder)
    # a process of its own: Playwright's loop runs in this one
    command = [sys.executable, EXAMPLES / "run_headless.py", EXAMPLES / "gallery.ipynb", folder]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return nbformat.read(folder / "gallery.ipynb", as_version=4)


def exhibits(notebook: Any) -> dict[int, Any]:
    """The cells that show something, by their place in the notebook."""
    return {n: cell for n, cell in enumerate(notebook.cells) if cell.get("outputs")}


def name_of(cell: Any) -> str:
    return re.sub(r"\W+", "-", cell.source.rpartition("\n")[2]).strip("-")


def reading(text: str) -> list[str]:
    """The words of a text, but for formulas: JupyterLab sets them."""
    return [word for word in text.split() if "O(n" not in word]


def value(cell: Any) -> dict[str, Any]:
    """What a cell shows: its value, and nothing else."""
    (output,) = cell.outputs
    assert output["output_type"] == "execute_result"
    return output["data"]


def reopened(open_notebook: Callable[..., Notebook], executed: Any, **how: Any) -> Notebook:
    """The executed notebook as a file from elsewhere, with a kernel that has run nothing."""
    dark = how.pop("dark", False)
    notebook = open_notebook([""], width=1084, height=2400, **how)
    nbformat.write(executed, notebook.path)
    notebook.end_kernel()
    notebook.open(dark=dark)
    return notebook


def shown(notebook: Notebook, index: int) -> Locator:
    """What stands in the output of a cell."""
    notebook.page.evaluate(_SCROLL, index)
    output = notebook.page.locator(f"[data-windowed-list-index='{index}'] .jp-OutputArea-output").first
    expect(output).to_be_visible()
    return output


def test_every_exhibit_is_in_the_notebook(executed: Any) -> None:
    printed = subprocess.run(
        [sys.executable, EXAMPLES / "gallery.py"], capture_output=True, check=True
    ).stdout
    found = [match[1] for cell in executed.cells if (match := EXHIBIT.search(cell.source))]
    assert found == [exhibit["name"] for exhibit in json.loads(printed)]


def test_the_file_is_at_most_three_times_the_transcripts(executed: Any, tmp_path: Path) -> None:
    turns = [cell for cell in exhibits(executed).values() if MIME in value(cell)]
    assert len(turns) >= 20
    file = tmp_path / "turns.ipynb"
    nbformat.write(nbformat.from_dict({**executed, "cells": turns}), file)
    transcripts = sum(
        len(json.dumps(value(cell)[MIME], separators=(",", ":"), ensure_ascii=False).encode())
        for cell in turns
    )
    ratio = file.stat().st_size / transcripts
    assert ratio <= 3, f"{ratio:.2f}"


@pytest.mark.more
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_reopened_without_its_kernel(
    open_notebook: Callable[..., Notebook], executed: Any, pictures: Path, *, dark: bool
) -> None:
    notebook = reopened(open_notebook, executed, dark=dark)
    theme = "dark" if dark else "light"
    for index, cell in exhibits(executed).items():
        output = shown(notebook, index)
        document = value(cell).get(MIME)
        if document is not None:
            card = output.locator(".acp-turn")
            expect(card).to_be_visible()
            expect(card).to_have_attribute("data-state", document["state"])
            assert card.evaluate("node => node.scrollWidth <= node.clientWidth"), cell.source
        output.screenshot(path=pictures / f"{name_of(cell)}-{theme}.png")
    assert notebook.page.locator(_WRONG).count() == 0
    assert notebook.errors == []


@pytest.mark.more
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing(open_notebook: Callable[..., Notebook], executed: Any, *, dark: bool) -> None:
    notebook = reopened(open_notebook, executed, dark=dark)
    assert [
        f"{cell.source}: {found}"
        for index, cell in exhibits(executed).items()
        for found in violations(shown(notebook, index))
    ] == []


def test_reopened_without_our_labextension(
    open_notebook: Callable[..., Notebook],
    executed: Any,
    server_without: Callable[[str], Server],
    pictures: Path,
) -> None:
    notebook = reopened(open_notebook, executed, on=server_without("acp-jupyter"))
    for index, cell in exhibits(executed).items():
        output = shown(notebook, index)
        expect(output).to_have_class(re.compile("jp-RenderedHTML"))
        told = output.evaluate("node => node.textContent")
        written = words_of(value(cell)["text/html"])
        assert reading(told) == reading(written), "the sanitiser took words away"
        output.screenshot(path=pictures / f"{name_of(cell)}-static.png")
    assert notebook.page.locator(_WRONG).count() == 0
