"""Pictures of the card for people to look at, and what must hold in each: nothing is cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from .test_scene import CELLS, card_in, wait_for_request

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .lab import Notebook

pytestmark = pytest.mark.browser

# card and page, in pixels: JupyterLab takes the rest of the page for itself
PAGE = {900: 1084, 400: 518}


@pytest.mark.more
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [900, 400])
def test_card(open_notebook: Callable[..., Notebook], pictures: Path, width: int, *, dark: bool) -> None:
    theme = "dark" if dark else "light"
    notebook = open_notebook(CELLS, width=PAGE[width], height=1600, dark=dark)
    notebook.run(0)
    notebook.ended(0)
    output = notebook.run(1)
    card = card_in(output)
    request = wait_for_request(card)
    notebook.page.mouse.move(0, 0)
    card.screenshot(path=pictures / f"waiting-{width}-{theme}.png")
    box = card.bounding_box()
    assert box is not None
    assert abs(box["width"] - width) < 40
    for button in request.get_by_role("button").all():
        inner = button.bounding_box()
        assert inner is not None
        assert inner["x"] >= box["x"]
        assert inner["x"] + inner["width"] <= box["x"] + box["width"]
    assert card.evaluate("node => node.scrollWidth <= node.clientWidth")

    request.get_by_role("button", name="Allow once").click()
    card.locator(".acp-tool-call[data-kind=execute] .acp-permission button[data-kind=allow_once]").click()
    notebook.ended(1)
    saved = card_in(output)
    expect(saved).to_have_attribute("data-state", "done")
    saved.screenshot(path=pictures / f"done-{width}-{theme}.png")
