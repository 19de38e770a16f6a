"""Files that a card names are opened from it: beside the notebook, in Notebook 7 in a tab of their own."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Locator, expect

from acp_jupyter.testing import script_command

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


SET_SOURCE = """([at, text]) => {
  window.jupyterapp.shell.currentWidget.content.widgets[at].model.sharedModel.setSource(text);
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


def script(folder: Path, root: Path) -> dict[str, Any]:
    """A turn that reads one file and edits another, each when the test has let it."""

    def call(name: str, kind: str, path: str, line: int, **more: Any) -> dict[str, Any]:
        located = {"locations": [{"path": str(root / path), "line": line}]}
        return {
            "update": {
                "sessionUpdate": "tool_call",
                "toolCallId": name,
                "kind": kind,
                "title": path,
                **located,
                **more,
            }
        }

    return {
        "turns": [
            [
                call("t1", "read", "one.py", 40),
                {"until_file": str(folder / "1")},
                call("t2", "edit", "deep/two.py", 2),
                {"until_file": str(folder / "2")},
            ]
        ]
    }


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_agent_is_followed_beside_the_notebook_while_somebody_types_in_it(
    open_notebook: Callable[..., Notebook], pictures: Path, tmp_path: Path, *, dark: bool
) -> None:
    notebook = open_notebook(["", "%%acp walker\nGo.", "# mine"], dark=dark)
    page = notebook.page
    (notebook.folder / "deep").mkdir()
    (notebook.folder / "one.py").write_text("".join(f"one = {n}\n" for n in range(1, 101)))
    (notebook.folder / "deep" / "two.py").write_text("two = 1\ntwo = 2\n")
    command = script_command(script(tmp_path, notebook.folder), tmp_path / "walker.json")
    add = f"%load_ext acp_jupyter\n%acp add walker -- {shlex.join(command)}"
    page.evaluate(SET_SOURCE, [0, add])
    notebook.run(0)
    notebook.ended(0)
    output = notebook.run(1)
    card = card_in(output)
    expect(card.locator(".acp-worked-on-file")).to_have_text("one.py:40")
    expect(page.locator(EDITOR)).to_have_count(0)
    card.get_by_role("button", name="Follow").click()
    line = page.locator(".jp-FileEditor .cm-activeLine")
    expect(line).to_have_text("one = 40")
    expect(line).to_be_in_viewport()
    expect(card.get_by_role("button", name="Follow")).to_have_attribute("aria-pressed", "true")
    assert violations(output) == []
    page.screenshot(path=pictures / f"follow-{'dark' if dark else 'light'}.png")

    notebook.cell(2).locator(".cm-content").click()
    page.keyboard.press("End")
    page.keyboard.type(" and")
    (tmp_path / "1").touch()
    expect(card.locator(".acp-worked-on-file")).to_have_text("deep/two.py:2")
    expect(line).to_have_text("two = 2")
    page.keyboard.type(" on")
    expect(notebook.cell(2).locator(".cm-content")).to_have_text("# mine and on")
    expect(page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab")).to_have_count(2)  # the notebook and a file
    (notebook.folder / "deep" / "two.py").write_text("two = 1\ntwo = 3\n")
    (tmp_path / "2").touch()
    notebook.ended(1)
    expect(line).to_have_text("two = 3")
    expect(card_in(output).locator(".acp-follow")).to_have_count(0)
    assert notebook.errors == []


def test_in_notebook_7_the_head_names_the_file_and_there_is_nothing_to_follow(
    open_notebook: Callable[..., Notebook],
) -> None:
    notebook, output, _ = begun(open_notebook, "notebook")
    expect(output.locator(".acp-worked-on-file")).to_have_text(re.compile(r"acp-demo/stats\.py:\d+"))
    expect(output.locator(".acp-follow")).to_have_count(0)
    notebook.interrupt()
    notebook.ended(1)
