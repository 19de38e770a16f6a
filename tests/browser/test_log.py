"""The messages on the wire, as a table in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable

    from .lab import Notebook

pytestmark = pytest.mark.browser

CELLS = ["%load_ext acp_jupyter", "%%acp demo --approve reject\nHello.", "%acp log --last 8"]


def test_a_row_opens_to_its_whole_message(open_notebook: Callable[..., Notebook]) -> None:
    notebook = open_notebook(CELLS)
    for number in range(3):
        output = notebook.run(number)
        notebook.ended(number)
    rows = output.locator("tbody tr")
    expect(rows).to_have_count(8)
    last = rows.last
    expect(last).to_contain_text("answer to session/prompt")
    expect(last.locator("pre")).to_be_hidden()
    last.locator("summary").click()
    expect(last.locator("pre")).to_contain_text('"stopReason": "end_turn"')
