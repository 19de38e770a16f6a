"""What axe-core finds on a live card: while it asks, with raw values open, with a form, and afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from .accessible import violations
from .test_elicitation import FORM, URL, ask, cells
from .test_hands import asked
from .test_scene import CELLS, card_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .lab import Notebook

pytestmark = [pytest.mark.browser, pytest.mark.more]

THEMES = pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])


def test_axe_sees_a_fault(open_notebook: Callable[..., Notebook]) -> None:
    notebook = open_notebook([""])
    cell = notebook.cell(0)
    cell.evaluate("node => node.insertAdjacentHTML('beforeend', '<button></button>')")
    assert "button-name: <button></button>" in violations(cell)


@THEMES
def test_axe_finds_nothing_on_a_card_that_asks(open_notebook: Callable[..., Notebook], *, dark: bool) -> None:
    notebook = open_notebook(CELLS, dark=dark)
    output, request = asked(notebook)
    card = card_in(output)
    for tab in card.get_by_role("tab", name="Raw input").all():
        tab.click()
    assert violations(output) == []
    request.get_by_role("button", name="Allow once").click()
    run = output.locator(".acp-tool-call[data-kind=execute] .acp-permission[data-state=open]")
    expect(run).to_be_visible()
    assert violations(output) == []
    notebook.interrupt()
    notebook.ended(1)
    assert violations(output) == []


@THEMES
def test_axe_finds_nothing_on_forms_and_addresses(
    open_notebook: Callable[..., Notebook], tmp_path: Path, *, dark: bool
) -> None:
    notebook = open_notebook(cells(tmp_path, ask(FORM), ask(URL)), dark=dark)
    notebook.run(0)
    notebook.ended(0)
    output = notebook.run(1)
    card = card_in(output)
    expect(card.get_by_role("button", name="Accept")).to_be_enabled()
    card.get_by_role("button", name="Accept").click()
    expect(card.locator("[aria-invalid=true]").first).to_be_visible()
    assert violations(output) == []
    card.get_by_role("button", name="Decline").click()
    expect(card.get_by_role("button", name="Accept")).to_be_enabled()
    assert violations(output) == []
    notebook.interrupt()
    notebook.ended(1)
