"""A turn, a request and a diff as widgets of their own, in a box and a tab of the user's."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from acp_jupyter.testing import script_command

from ..notebook.test_widgets import ASKING  # noqa: TID252  # tests are no installed package
from .accessible import violations

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .lab import Notebook

pytestmark = [pytest.mark.browser, pytest.mark.more]

START = """\
from acp_jupyter import Diff, DiffWidget, PermissionWidget, TurnWidget, get_session
import asyncio, ipywidgets as w
session = get_session("asker")
run = session.start("Go.", attended=True)
while not session.pending:
    await asyncio.sleep(0.05)
"""
BOX = """\
turn, request = TurnWidget(run), PermissionWidget(session.pending[0])
diff = DiffWidget(Diff("/home/user/app.py", "a = 1\\nb = 2\\n", "a = 1\\nb = 3\\n"))
told = w.Label("waits")
request.observe(lambda change: setattr(told, "value", f"decided: {change.new}"), "option_id")
tab = w.Tab([diff, turn], titles=["Change", "Turn"])
w.VBox([told, request, tab])
"""


@pytest.mark.parametrize(("ui", "dark"), [("lab", False), ("lab", True), ("notebook", False)])
def test_they_nest_and_are_observed(
    open_notebook: Callable[..., Notebook], tmp_path: Path, pictures: Path, *, ui: str, dark: bool
) -> None:
    command = script_command(ASKING, tmp_path / "asker.json")
    add = f"%load_ext acp_jupyter\n%acp add asker -- {shlex.join([sys.executable, *command[1:]])}"
    notebook = open_notebook([add, START, BOX], ui=ui, dark=dark, width=900)
    for cell in range(3):
        output = notebook.run(cell)
        notebook.ended(cell)
    request = output.locator(".acp-alone .acp-permission")
    expect(request.get_by_role("button", name="Allow")).to_be_visible()
    expect(output.locator(".acp-alone .acp-diff-table").last).to_contain_text("b = 3")
    output.screenshot(path=pictures / f"widgets-{ui}-{'dark' if dark else 'light'}.png")
    assert violations(output) == []
    request.get_by_role("button", name="Allow").click()
    expect(output.locator(".widget-label, .jupyter-widget-label")).to_have_text("decided: yes")
    expect(request).to_contain_text("Allowed once by you")
    output.get_by_text("Turn", exact=True).click()
    turn = output.locator(".acp-turn")
    expect(turn).to_have_attribute("data-state", "done")
    expect(turn).to_contain_text("Thanks.")
    output.screenshot(path=pictures / f"widgets-turn-{ui}-{'dark' if dark else 'light'}.png")
