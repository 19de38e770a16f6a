"""The main job in JupyterLab: the answer streams, the edit waits, a button is clicked while the cell runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Locator, expect

if TYPE_CHECKING:
    from collections.abc import Callable

    from .lab import Notebook

pytestmark = pytest.mark.browser

CELLS = [
    "%load_ext acp_jupyter",
    "%%acp demo\nMake the failing test pass.",
    "import json\nturn = _\nprint(json.dumps([[c.raw_input, c.raw_output] for c in turn.tool_calls]))",
    "%%acp -o second\nOnce more.",
    "print(turn.session_id == second.session_id, turn.number, second.number)",
]


def card_in(output: Locator) -> Locator:
    card = output.locator(".acp-turn")
    expect(card).to_be_visible()
    return card


def wait_for_request(card: Locator) -> Locator:
    request = card.locator(".acp-permission[data-state=open]")
    expect(request).to_be_visible(timeout=30_000)
    return request


def test_the_scene_allowed(open_notebook: Callable[..., Notebook]) -> None:
    notebook = open_notebook(CELLS)
    notebook.run(0)
    notebook.ended(0)
    output = notebook.run(1)
    card = card_in(output)
    lengths: set[int] = set()
    message = card.locator(".acp-message").first
    expect(message).to_be_visible()
    file = notebook.folder / "acp-demo" / "stats.py"
    request = card.locator(".acp-permission[data-state=open]")

    def asked() -> bool:
        lengths.add(len(message.inner_text()))
        return request.count() > 0

    notebook.until(asked)
    assert len(lengths) > 1, "the text did not grow"
    assert card.get_attribute("data-state") == "waiting"
    expect(card.locator(".acp-tool-call[data-kind=edit] .acp-diff")).to_be_visible()
    before = file.read_text()

    assert notebook.prompt(1) == "[*]:"
    request.get_by_role("button", name="Allow once").click()
    notebook.until(lambda: file.read_text() != before)
    assert notebook.prompt(1) == "[*]:"

    run = card.locator(".acp-tool-call[data-kind=execute] .acp-permission[data-state=open]")
    run.locator("button[data-kind=allow_once]").click()
    expect(card.locator(".acp-tool-call[data-kind=execute] .acp-terminal")).to_contain_text("OK")
    notebook.ended(1)
    expect(card_in(output)).to_have_attribute("data-state", "done")
    assert output.locator(".jp-OutputArea-child").count() == 1
    assert output.locator(".acp-permission[data-state=open], .acp-stop").count() == 0

    calls = json.loads(notebook.printed(2))
    assert all(isinstance(raw_input, dict) for raw_input, _ in calls)
    assert calls[-1][1]["exitCode"] == 0

    second = card_in(notebook.run(3))
    wait_for_request(second).locator("button[data-kind=allow_once]").click()
    second.locator(".acp-tool-call[data-kind=execute] .acp-permission button[data-kind=allow_once]").click()
    notebook.ended(3)
    assert notebook.printed(4).strip() == "True 1 2"
    assert notebook.errors == []


def test_the_scene_rejected(open_notebook: Callable[..., Notebook]) -> None:
    notebook = open_notebook(CELLS)
    notebook.run(0)
    notebook.ended(0)
    output = notebook.run(1)
    card = card_in(output)
    request = wait_for_request(card)
    file = notebook.folder / "acp-demo" / "stats.py"
    before = file.read_text()
    request.get_by_role("button", name="Reject").click()
    notebook.ended(1)
    assert file.read_text() == before
    expect(card_in(output)).to_have_attribute("data-state", "done")
    expect(card_in(output).locator(".acp-tool-call[data-kind=edit]")).to_have_attribute(
        "data-status", "failed"
    )
    assert output.locator(".jp-OutputArea-child").count() == 1
    assert len(json.loads(notebook.printed(2))) == 2
    assert notebook.errors == []
