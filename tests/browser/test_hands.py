"""What a person does besides clicking a button: the keyboard, Stop, the interrupt, a look into raw values."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from .test_elicitation import cells
from .test_scene import CELLS, card_in, wait_for_request

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Locator

    from .lab import Notebook

pytestmark = pytest.mark.browser

FOCUSED = "selector => document.activeElement?.closest(selector) !== null"


def asked(notebook: Notebook) -> tuple[Locator, Locator]:
    notebook.run(0)
    notebook.ended(0)
    output = notebook.run(1)
    request = wait_for_request(card_in(output))
    expect(request.get_by_role("button").last).to_be_enabled()  # a new request rests for a moment
    return output, request


def test_the_keyboard_alone_allows_and_rejects(open_notebook: Callable[..., Notebook]) -> None:
    notebook = open_notebook(CELLS)
    output, _ = asked(notebook)
    page = notebook.page
    assert not page.evaluate(FOCUSED, ".acp-turn"), "the card takes no focus by itself"
    page.keyboard.press("Escape")
    for _ in range(120):
        if page.evaluate(FOCUSED, ".acp-permission button[data-kind=allow_once]"):
            break
        page.keyboard.press("Tab")
    else:
        pytest.fail("Tab never reaches the button")
    page.keyboard.press("Enter")
    run = output.locator(".acp-tool-call[data-kind=execute] .acp-permission[data-state=open]")
    expect(run).to_be_visible()
    reject = run.get_by_role("button", name="Reject")
    expect(reject).to_be_enabled()
    page.wait_for_timeout(1500)  # the output is written anew meanwhile
    page.keyboard.press("a")  # out of habit: the focus is not on a request that nobody has looked at
    expect(run).to_be_visible()
    assert not page.evaluate(FOCUSED, ".acp-permission[data-state=open]")
    reject.focus()
    page.keyboard.press("r")
    notebook.ended(1)
    decided = output.locator(".acp-permission")
    expect(decided.first).to_contain_text("Allowed once by you")
    expect(decided.last).to_contain_text("Rejected")
    assert page.locator(".jp-Notebook .jp-CodeCell").count() == len(CELLS), (
        "no shortcut of the notebook fired"
    )


@pytest.mark.parametrize("by", ["Stop", "interrupt"])
def test_stopping_while_a_request_waits(open_notebook: Callable[..., Notebook], by: str) -> None:
    notebook = open_notebook(
        [
            *CELLS[:2],
            "import acp_jupyter\ns = acp_jupyter.get_session()\nprint(s.pid, s.turn.state)",
            "%%acp -o t --approve allow-once-all\nOnce more.",
            "print(s.pid, s.turn.state)",
        ]
    )
    output, _ = asked(notebook)
    begun = time.monotonic()
    if by == "Stop":
        output.locator(".acp-stop").click()
    else:
        notebook.interrupt()
    notebook.ended(1)
    assert time.monotonic() - begun < 3
    expect(output).to_contain_text("KeyboardInterrupt")
    expect(card_in(output)).to_have_attribute("data-state", "cancelled")
    assert output.locator(".acp-permission button").count() == 0
    pid, state = notebook.printed(2).split()
    assert state == "cancelled"
    notebook.run(3)
    notebook.ended(3)
    assert notebook.printed(4).split() == [pid, "done"]


def test_raw_input_opens_as_a_tree_with_the_expression_that_yields_it(
    open_notebook: Callable[..., Notebook],
) -> None:
    notebook = open_notebook(CELLS)
    output, request = asked(notebook)
    edit = output.locator(".acp-tool-call[data-kind=edit]")
    edit.get_by_role("tab", name="Raw input").click()
    expect(edit.locator(".acp-raw")).to_contain_text("turn.tool_calls[1].raw_input")
    expect(edit.locator(".acp-raw")).to_contain_text('"path"')
    request.get_by_role("button", name="Reject").click()
    notebook.ended(1)


def test_updates_are_looked_into_searched_and_copied_from(open_notebook: Callable[..., Notebook]) -> None:
    notebook = open_notebook(CELLS)
    notebook.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    output, request = asked(notebook)
    edit = output.locator(".acp-tool-call[data-kind=edit]")
    edit.get_by_role("tab", name="Updates").click()
    expression = edit.locator(".acp-expression")
    expect(expression).to_have_text("turn.tool_calls[1].updates")
    edit.get_by_role("searchbox", name="Find in keys and values").fill("kind")
    expect(edit.locator(".acp-json-key").first).to_have_text('[0]["kind"]: ')
    edit.locator("[data-path='[0][\"kind\"]']").click()
    expression.click()
    copied = notebook.page.evaluate("() => navigator.clipboard.readText()")
    assert copied == 'turn.tool_calls[1].updates[0]["kind"]'
    request.get_by_role("button", name="Reject").click()
    notebook.ended(1)
    expect(expression).to_have_text('turn.tool_calls[1].updates[0]["kind"]')


@pytest.mark.more
def test_one_command_is_stopped_and_the_turn_goes_on(
    open_notebook: Callable[..., Notebook], tmp_path: Path
) -> None:
    create = {"command": "sh", "args": ["-c", "echo begun; sleep 60"]}
    notebook = open_notebook(
        cells(
            tmp_path,
            {"request": "terminal/create", "params": create, "save": "t"},
            {
                "request": "terminal/wait_for_exit",
                "params": {"terminalId": {"$": "t.terminalId"}},
                "save": "end",
            },
            {"text": "It ended: ${end.signal}."},
        )
    )
    notebook.run(0)
    notebook.ended(0)
    card = card_in(notebook.run(1))
    expect(card.locator(".acp-terminal")).to_contain_text("begun")
    card.get_by_role("button", name="Stop this command").click()
    notebook.ended(1)
    expect(card.locator(".acp-message").last).to_have_text("It ended: SIGTERM.")
    expect(card.locator(".acp-terminal-exit")).to_have_text("killed by SIGTERM, stopped by you")


@pytest.mark.more
@pytest.mark.parametrize("ui", ["lab", "notebook"])
def test_a_diff_is_seen_side_by_side_and_stays_so(open_notebook: Callable[..., Notebook], ui: str) -> None:
    notebook = open_notebook(CELLS, ui=ui)
    output, request = asked(notebook)
    toggle = output.get_by_role("button", name="side by side")
    toggle.focus()
    notebook.page.keyboard.press("Enter")
    expect(toggle).to_have_attribute("aria-pressed", "true")
    expect(output.locator(".acp-split .hljs-keyword").first).to_be_visible()
    request.get_by_role("button", name="Reject").click()
    notebook.ended(1)
    expect(output.locator(".acp-split")).to_be_visible()
