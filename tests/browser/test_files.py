"""Files that a card names are opened from it: beside the notebook, in Notebook 7 in a tab of their own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Locator, expect

from .accessible import violations
from .test_living import SETUP, TASK, allow_all, begun, finished
from .test_scene import card_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .lab import Notebook

pytestmark = [pytest.mark.browser, pytest.mark.more]

EDITOR = ".jp-FileEditor .cm-content"
CURSOR_LINE = """() => {
  const {editor} = window.jupyterapp.shell.currentWidget.content;
  return editor.getLine(editor.getCursorPosition().line);
}"""


def edited(card: Locator) -> Locator:
    return card.locator(".acp-tool-call[data-kind=edit] .acp-tool-head .acp-file")


def changed_line(card: Locator) -> str:
    return card.locator(".acp-diff tr.acp-add .acp-line").first.inner_text()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_click_opens_the_file_beside_the_notebook_at_its_line(
    open_notebook: Callable[..., Notebook], pictures: Path, *, dark: bool
) -> None:
    notebook, output, _ = begun(open_notebook, "lab", dark=dark)
    page = notebook.page
    card = card_in(output)
    expect(edited(card)).to_have_text(re.compile(r"acp-demo/stats\.py"))
    assert violations(output) == []
    edited(card).focus()
    page.keyboard.press("Enter")
    expect(page.locator(EDITOR)).to_be_focused()
    expect(card).to_be_visible()
    page.screenshot(path=pictures / f"file-{'dark' if dark else 'light'}.png")

    allow_all(output)
    notebook.ended(1)
    saved = card_in(output)
    expect(saved).to_have_attribute("data-state", "done")
    edited(saved).click()
    expect(page.locator(EDITOR)).to_be_focused()
    notebook.until(lambda: page.evaluate(CURSOR_LINE) == changed_line(saved))
    expect(page.locator(".jp-FileEditor")).to_have_count(1)
    assert notebook.errors == []


def test_in_notebook_7_it_opens_in_a_tab_of_its_own(open_notebook: Callable[..., Notebook]) -> None:
    notebook = finished(open_notebook, "notebook")
    card = card_in(notebook.cell(1))
    with notebook.page.context.expect_page() as opened:
        edited(card).click()
    expect(opened.value.locator(EDITOR)).to_be_visible()
    assert opened.value.url.endswith("acp-demo/stats.py")
    opened.value.close()


def test_a_file_that_is_gone_is_told(open_notebook: Callable[..., Notebook]) -> None:
    notebook = finished(open_notebook, "lab")
    card = card_in(notebook.cell(1))
    (notebook.folder / "acp-demo" / "stats.py").unlink()
    edited(card).click()
    told = card.locator(".acp-tool-call[data-kind=edit] .acp-tool-head [role=status]")
    expect(told).to_contain_text("The server does not open it")
    expect(notebook.page.locator(EDITOR)).to_have_count(0)


def test_without_the_extension_a_path_is_text(
    open_notebook: Callable[..., Notebook], server_without: Callable[[str], object]
) -> None:
    notebook = open_notebook([SETUP, TASK], on=server_without("acp-jupyter"))
    notebook.run(0)
    notebook.ended(0)
    card = card_in(notebook.run(1))
    allow_all(card)
    expect(card.locator(".acp-tool-call[data-kind=edit] .acp-tool-head")).to_contain_text("stats.py")
    expect(card.locator(".acp-file")).to_have_count(0)
    notebook.ended(1)
