"""What the JupyterLab extension adds: commands, the status bar, a notification of what waits."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Locator, Page, expect

from .test_living import ALLOW, MIME, SETUP, TASK, ui
from .test_scene import card_in, wait_for_request

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .lab import Notebook

pytestmark = pytest.mark.browser

__all__ = ["ui"]  # the fixture

LONG = ["# more\n" * 40] * 2
FOCUSED = "node => node.contains(document.activeElement)"
TOAST = ".Toastify__toast"


def asked(
    open_notebook: Callable[..., Notebook], ui: str, *cells: str, height: int = 700
) -> tuple[Notebook, Locator]:
    """A notebook in which the demo asks for its edit; the request has rested."""
    notebook = open_notebook([SETUP, TASK, *cells], ui=ui, height=height)
    notebook.run(0)
    notebook.ended(0)
    request = wait_for_request(card_in(notebook.run(1)))
    expect(request.locator(ALLOW)).not_to_have_attribute("aria-disabled", "true")
    return notebook, request


def by_palette(page: Page, words: str) -> None:
    page.keyboard.press("Control+Shift+C")
    page.locator(".lm-CommandPalette-input").fill(words)
    page.locator(".lm-CommandPalette-item", has_text=words).first.click()


def rested(notebook: Notebook) -> None:
    """What a command has shown is at rest for as long as the card's own boxes."""
    notebook.page.wait_for_function("from => performance.now() - from > 500", arg=now(notebook))


def now(notebook: Notebook) -> float:
    return notebook.page.evaluate("performance.now()")


def test_the_shortcuts_show_first_and_answer_then(open_notebook: Callable[..., Notebook], ui: str) -> None:
    notebook, request = asked(open_notebook, ui)
    page = notebook.page
    edit = notebook.cell(1).locator(".acp-tool-call[data-kind=edit] .acp-permission")
    page.keyboard.press("Alt+Shift+A")
    expect(request).to_be_focused()
    rested(notebook)
    assert edit.get_attribute("data-state") == "open", "one press only shows what waits"
    page.keyboard.press("Alt+Shift+A")
    expect(edit).to_contain_text("Allowed once by you")

    run = notebook.cell(1).locator(".acp-tool-call[data-kind=execute] .acp-permission")
    expect(run).to_have_attribute("data-state", "open")
    page.keyboard.press("Alt+Shift+N")
    expect(run).to_be_focused()
    rested(notebook)
    page.keyboard.press("Alt+Shift+R")
    expect(run).to_contain_text("Rejected")
    notebook.ended(1)
    assert notebook.errors == []


def test_a_key_held_down_approves_nothing(open_notebook: Callable[..., Notebook]) -> None:
    notebook, request = asked(open_notebook, "lab")
    page = notebook.page
    page.keyboard.down("Alt")
    page.keyboard.down("Shift")
    for _ in range(3):
        page.keyboard.down("A")  # from the second on, the browser says that it repeats
        expect(request).to_be_focused()
        rested(notebook)
    page.keyboard.up("A")
    assert request.get_attribute("data-state") == "open"
    page.keyboard.press("A")
    expect(notebook.cell(1).locator(".acp-decision")).to_contain_text("Allowed once by you")
    page.keyboard.up("Shift")
    page.keyboard.up("Alt")


def test_what_was_scrolled_out_of_sight_is_shown_again_and_not_approved(
    open_notebook: Callable[..., Notebook],
) -> None:
    notebook, request = asked(open_notebook, "lab", *LONG)
    page = notebook.page
    page.keyboard.press("Alt+Shift+A")
    expect(request).to_be_focused()
    rested(notebook)
    notebook.cell(3).scroll_into_view_if_needed()
    expect(request.locator(ALLOW)).not_to_be_in_viewport()
    page.keyboard.press("Alt+Shift+A")
    expect(request.locator(ALLOW)).to_be_in_viewport(ratio=1)
    rested(notebook)
    assert request.get_attribute("data-state") == "open"


def test_the_palette_approves_in_two_steps_and_stops(
    open_notebook: Callable[..., Notebook], pictures: Path
) -> None:
    notebook, request = asked(open_notebook, "lab", *LONG)
    page = notebook.page
    page.keyboard.press("Control+Shift+C")
    page.locator(".lm-CommandPalette-input").fill("ACP")
    expect(page.locator(".lm-CommandPalette-item", has_text="ACP:")).to_have_count(4)
    page.screenshot(path=pictures / "palette.png")
    page.keyboard.press("Escape")
    by_palette(page, "ACP: Approve the request")
    expect(request).to_be_in_viewport()
    rested(notebook)
    assert request.get_attribute("data-state") == "open"
    by_palette(page, "ACP: Approve the request")
    decided = notebook.cell(1).locator(".acp-decision")
    expect(decided).to_contain_text("Allowed once by you")
    wait_for_request(notebook.cell(1))
    by_palette(page, "ACP: Stop the agent")
    notebook.ended(1)
    expect(card_in(notebook.cell(1))).to_have_attribute("data-state", "cancelled")


def test_the_status_bar_says_what_runs_and_goes_to_what_waits(
    open_notebook: Callable[..., Notebook], pictures: Path
) -> None:
    notebook, request = asked(open_notebook, "lab", *LONG)
    item = notebook.page.locator(".acp-status-item")
    expect(item).to_have_text("ACP: waiting for you")
    notebook.cell(3).scroll_into_view_if_needed()
    expect(request.locator(ALLOW)).not_to_be_in_viewport()
    notebook.page.screenshot(path=pictures / "status-bar.png")
    item.get_by_role("button").click()
    expect(request).to_be_focused()
    expect(request.locator(ALLOW)).to_be_in_viewport(ratio=1)
    notebook.command("acp-jupyter:stop")
    notebook.ended(1)
    expect(item).to_have_text("ACP: idle")
    assert notebook.errors == []


def test_a_request_out_of_sight_is_told_with_a_way_to_it(
    open_notebook: Callable[..., Notebook], ui: str, pictures: Path
) -> None:
    notebook, request = asked(open_notebook, ui, *LONG, height=1000)
    toast = notebook.page.locator(TOAST)
    expect(request.locator(ALLOW)).to_be_in_viewport(ratio=1)
    rested(notebook)
    assert toast.count() == 0, "what is in sight needs no telling"
    # allowed by a button, and gone from there at once: the command is asked about out of sight
    away = "node => node.scrollIntoView({block: 'end'})"
    request.locator(ALLOW).click()
    notebook.cell(3).evaluate(away)
    run = notebook.cell(1).locator(".acp-tool-call[data-kind=execute] .acp-permission")
    expect(run).to_have_attribute("data-state", "open")
    expect(toast).to_contain_text(re.compile("An agent waits for your answer in .*ipynb"))
    notebook.page.screenshot(path=pictures / f"notice-{ui}.png")
    toast.get_by_role("button", name="Show").click()
    expect(run).to_be_focused()
    expect(run.locator(ALLOW)).to_be_in_viewport(ratio=1)
    run.locator(ALLOW).click()
    expect(toast).to_have_count(0)
    notebook.ended(1)
    assert notebook.errors == []


def language(notebook: Notebook, index: int) -> str:
    """Return what the editor of a cell takes for its language."""
    return notebook.page.evaluate(
        "at => window.jupyterapp.shell.currentWidget.content.widgets[at].model.mimeType", index
    )


def test_a_prompt_is_edited_as_markdown(
    open_notebook: Callable[..., Notebook], ui: str, pictures: Path
) -> None:
    prompt = "%%acp demo\n## What is wrong\nMake *the* failing test pass, **not** another, for all inputs."
    notebook = open_notebook([prompt, "for x in []:\n    pass"], ui=ui)
    editor = notebook.cell(0).locator(".cm-content")
    notebook.until(lambda: language(notebook, 0) == "text/x-ipythongfm")
    expect(editor.get_by_text("the", exact=True)).to_have_css("font-style", "italic")
    assert language(notebook, 1) == "text/x-ipython"
    notebook.cell(0).screenshot(path=pictures / f"prompt-{ui}.png")

    editor.click()
    notebook.page.keyboard.press("Control+Home")
    notebook.page.keyboard.type("1")  # 1%%acp: no prompt any more
    notebook.until(lambda: language(notebook, 0) == "text/x-ipython")
    notebook.page.keyboard.press("Backspace")
    notebook.until(lambda: language(notebook, 0) == "text/x-ipythongfm")
    assert "mimeType" not in notebook.save().cells[0].metadata
    assert notebook.errors == []


def test_commands_and_files_are_completed_in_a_prompt(
    open_notebook: Callable[..., Notebook], ui: str, pictures: Path
) -> None:
    notebook = open_notebook(["%%acp demo\nLook at @da", "%%acp\n/re"], ui=ui)
    (notebook.folder / "data").mkdir()
    (notebook.folder / "data" / "one.csv").write_text("a")
    (notebook.folder / "dates.txt").write_text("b")
    page = notebook.page
    items = page.locator(".jp-Completer .jp-Completer-item")  # the kernel's own proposals are there too

    def complete(index: int) -> None:
        notebook.cell(index).locator(".cm-content").click()
        page.keyboard.press("Control+End")
        page.keyboard.press("Tab")

    complete(0)
    expect(items.nth(0)).to_contain_text("@data/")
    expect(items.nth(1)).to_contain_text("@dates.txt")
    page.screenshot(path=pictures / f"completion-{ui}.png")
    page.keyboard.press("Enter")
    expect(notebook.cell(0).locator(".cm-content")).to_contain_text("Look at @data/")
    complete(0)
    expect(items.nth(0)).to_contain_text("@data/one.csv")
    page.keyboard.press("Enter")
    expect(notebook.cell(0).locator(".cm-content")).to_contain_text("Look at @data/one.csv")

    commands = [{"name": "review", "description": "look"}, {"name": "reset", "description": "begin anew"}]
    page.evaluate(
        """([mime, commands]) => window.jupyterapp.shell.currentWidget.content.model.cells.get(0).outputs.add(
            {output_type: 'display_data', metadata: {}, data: {'text/plain': '', [mime]: {commands}}})""",
        [MIME, commands],
    )
    complete(1)
    expect(items.filter(has_text="/review")).to_be_visible()
    expect(items.filter(has_text="/reset")).to_be_visible()
    page.keyboard.press("Escape")
    assert notebook.errors == []
