"""Where notebooks live, in JupyterLab and Notebook 7: reopened, reloaded, in two tabs, cleared, cut off."""

from __future__ import annotations

import json
import os
import re
import signal
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Locator, Page, expect

from .test_scene import card_in, wait_for_request

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .lab import Notebook, Server

pytestmark = pytest.mark.browser

MIME = "application/vnd.acp-jupyter.turn.v1+json"
WIDGET_MIME = "application/vnd.jupyter.widget-view+json"
SETUP = "import os; os.environ['ACP_DEMO_SPEED'] = '0.2'\n%load_ext acp_jupyter"
TASK = "%%acp demo\nMake the failing test pass."
ALLOW = "button[data-kind=allow_once]"


@pytest.fixture(params=["lab", pytest.param("notebook", marks=pytest.mark.more)])
def ui(request: pytest.FixtureRequest) -> str:
    return request.param


def begun(
    open_notebook: Callable[..., Notebook], ui: str, *cells: str, **how: Any
) -> tuple[Notebook, Locator, Locator]:
    """A notebook whose second cell runs the demo, and waits for an answer: its output, its request."""
    notebook = open_notebook([SETUP, TASK, *cells], ui=ui, **how)
    notebook.run(0)
    notebook.ended(0)
    output = notebook.run(1)
    return notebook, output, wait_for_request(card_in(output))


def allow_all(page: Page | Locator) -> None:
    """Allow the edit, and then the command."""
    page.locator(f".acp-tool-call[data-kind=edit] {ALLOW}").click()
    page.locator(f".acp-tool-call[data-kind=execute] {ALLOW}").click()


def output_of(saved: Any) -> dict[str, Any]:
    """The one output of the second cell, as the file has it."""
    (output,) = saved.cells[1].outputs
    return output["data"]


def finished(open_notebook: Callable[..., Notebook], ui: str, **how: Any) -> Notebook:
    notebook, output, _ = begun(open_notebook, ui, **how)
    allow_all(output)
    notebook.ended(1)
    expect(card_in(output)).to_contain_text("nothing else was touched")
    saved = notebook.save()
    assert WIDGET_MIME not in output_of(saved)
    assert "widgets" not in saved.metadata
    return notebook


def reopened(notebook: Notebook) -> Locator:
    """Open the notebook anew with a fresh kernel, and return the card's place."""
    notebook.end_kernel()
    notebook.open()
    assert notebook.prompt(1) != "[*]:"
    return notebook.cell(1).locator(".jp-OutputArea").first


def tells_all(card: Locator) -> None:
    for words in ("All three tests pass", "Correct", "Ran 3 tests", "stats.py"):
        expect(card).to_contain_text(words)
    assert card.locator(".acp-decision").count() == 2


def test_n08_saved_and_reopened_with_a_fresh_kernel(
    open_notebook: Callable[..., Notebook], ui: str, pictures: Path
) -> None:
    notebook = finished(open_notebook, ui)
    card = card_in(reopened(notebook))
    tells_all(card)
    card.screenshot(path=pictures / f"saved-{ui}.png")
    assert card.locator(f"{ALLOW}, .acp-stop").count() == 0
    assert card.page.locator("text=model not found").count() == 0
    card.get_by_text("Raw input", exact=True).first.click()
    expect(card).to_contain_text('"path"')
    assert notebook.errors == []


def test_n08_untrusted(open_notebook: Callable[..., Notebook], ui: str) -> None:
    notebook = finished(open_notebook, ui)
    document = json.loads(notebook.path.read_text("utf-8"))
    document["metadata"]["note"] = "changed elsewhere: no signature fits any more"
    notebook.path.write_text(json.dumps(document), "utf-8")
    tells_all(card_in(reopened(notebook)))


def test_n08_without_our_labextension(
    open_notebook: Callable[..., Notebook], server_without: Callable[[str], Server], ui: str, pictures: Path
) -> None:
    notebook = finished(open_notebook, ui, on=server_without("acp-jupyter"))
    output = reopened(notebook)
    static = output.locator("div.acp-turn")
    expect(static).to_be_visible()
    for words in ("All three tests pass", "Correct", "Allowed once by you"):
        expect(static).to_contain_text(words)
    assert output.locator("text=/Javascript error|model not found/i").count() == 0
    static.screenshot(path=pictures / f"static-{ui}.png")
    static.locator("summary", has_text=re.compile("raw input")).first.click()
    expect(static.locator("details[open]", has_text="raw input").first).to_be_visible()


def test_a_kernel_killed_in_mid_turn_leaves_what_was_received(
    open_notebook: Callable[..., Notebook], ui: str
) -> None:
    notebook = open_notebook([f"{SETUP}\nprint(os.getpid())", TASK], ui=ui)
    pid = int(notebook.printed(0))
    output = notebook.run(1)
    card = card_in(output)
    wait_for_request(card)
    notebook.page.wait_for_timeout(500)  # the output is written behind the card
    os.kill(pid, signal.SIGKILL)
    expect(card.locator(".acp-state")).to_contain_text("the kernel is gone", timeout=30_000)
    assert card.locator(f"{ALLOW}, .acp-stop").count() == 0
    dismiss = notebook.page.locator(".jp-Dialog button.jp-mod-accept")
    if dismiss.count():
        dismiss.first.click()
    turn = output_of(notebook.save())[MIME]
    assert {one["kind"]: one["status"] for one in turn["tool_calls"].values()} == {
        "read": "completed",
        "edit": "pending",
    }
    assert [one["state"] for one in turn["permissions"].values()] == ["open"]
    card = card_in(reopened(notebook))
    expect(card).to_contain_text("not finished when this was saved", timeout=15_000)
    expect(card).to_contain_text("scripted demonstration")
    assert notebook.page.locator("text=model not found").count() == 0
    assert card.locator(f"{ALLOW}, .acp-stop").count() == 0
    assert WIDGET_MIME not in output_of(notebook.save())


def test_n08_saved_in_mid_turn_with_the_widgets_state(
    open_notebook: Callable[..., Notebook], ui: str
) -> None:
    """Another notebook's kernel has no such widget, whatever state the file brings with it."""
    notebook, _, _ = begun(open_notebook, ui)
    notebook.command("@jupyter-widgets/jupyterlab-manager:saveWidgetState")
    try:
        notebook.until(lambda: output_of(notebook.save())[MIME]["permissions"])
        assert "widgets" in notebook.save().metadata
    finally:  # it is a setting of the server's, and toggles
        notebook.command("@jupyter-widgets/jupyterlab-manager:saveWidgetState")
    output = reopened(notebook)
    expect(card_in(output)).to_contain_text("not finished when this was saved", timeout=15_000)
    assert output.locator("text=/could not be drawn|model not found/").count() == 0


@pytest.mark.parametrize("save", ["text", pytest.param("none", marks=pytest.mark.more)])
def test_n08_reloaded_in_mid_turn_where_no_document_is_kept(
    open_notebook: Callable[..., Notebook], save: str
) -> None:
    notebook = open_notebook([f"{SETUP}\nos.environ['ACP_JUPYTER_SAVE'] = {save!r}", TASK])
    notebook.run(0)
    notebook.ended(0)
    wait_for_request(card_in(notebook.run(1)))
    notebook.save()
    notebook.open()
    output = notebook.cell(1).locator(".jp-OutputArea").first
    wait_for_request(card_in(output))
    allow_all(output)
    notebook.until(lambda: list(output_of(notebook.save())) == ["text/plain"])
    words = "done" if save == "text" else "keeps nothing of it"
    assert words in output_of(notebook.save())["text/plain"]
    expect(output).to_contain_text(words)


def test_a_page_reloaded_in_mid_turn(open_notebook: Callable[..., Notebook], ui: str) -> None:
    notebook, _, request = begun(open_notebook, ui, "print(_.stop_reason)")
    key = request.get_attribute("data-key")
    # the output is written a moment after the card has the request
    notebook.until(lambda: key in output_of(notebook.save())[MIME]["permissions"])
    data = output_of(notebook.save())
    assert WIDGET_MIME in data, "while it runs, the live card is in the file"
    assert data[MIME]["permissions"][key]["state"] == "open"
    notebook.open()
    output = notebook.cell(1).locator(".jp-OutputArea").first
    card = card_in(output)
    expect(card).to_have_attribute("data-state", "waiting", timeout=30_000)
    expect(card).to_contain_text("scripted demonstration")
    allow_all(card)
    expect(card).to_have_attribute("data-state", "done", timeout=30_000)
    notebook.until(lambda: WIDGET_MIME not in output_of(notebook.save()))
    data = output_of(notebook.save())
    assert data[MIME]["state"] == "done"
    assert "All three tests pass" in "".join(data["text/html"])
    tells_all(card_in(output))


def test_n14_two_tabs_the_first_decision_wins_and_the_other_shows_it(
    open_notebook: Callable[..., Notebook], ui: str
) -> None:
    notebook, output, request = begun(open_notebook, ui)
    notebook.save()
    first = notebook.page
    notebook.page = second = notebook.new_page()
    notebook.open()
    other = card_in(notebook.cell(1).locator(".jp-OutputArea").first)
    theirs = wait_for_request(other)
    theirs.locator("button[data-kind=reject_once]").click()
    expect(request).to_have_count(0, timeout=15_000)
    for card in (card_in(output), other):
        expect(card).to_contain_text("Rejected")
        assert card.locator(ALLOW).count() == 0
    notebook.page = first
    notebook.ended(1)
    second.close()
    turn = output_of(notebook.save())[MIME]
    assert [one["option_id"] for one in turn["permissions"].values()] == ["reject"]


def test_n19_an_output_cleared_while_a_request_waits(open_notebook: Callable[..., Notebook], ui: str) -> None:
    notebook, output, request = begun(open_notebook, ui)
    notebook.cell(1).locator(".jp-InputPrompt, .jp-InputArea-prompt").first.click()
    notebook.command("notebook:clear-cell-output")
    expect(request).to_have_count(1, timeout=15_000)
    assert notebook.prompt(1) in {"[*]:", "[ ]:"}
    allow_all(output)
    expect(card_in(output)).to_have_attribute("data-state", "done", timeout=30_000)
    assert output_of(notebook.save())[MIME]["state"] == "done"


def select(notebook: Notebook, index: int) -> None:
    notebook.cell(index).locator(".jp-InputArea-prompt").first.click()


def move(notebook: Notebook) -> None:
    """Move the cell down twice: it is drawn anew each time."""
    select(notebook, 1)
    notebook.command("notebook:move-cell-down")
    notebook.command("notebook:move-cell-down")
    notebook.command("notebook:move-cell-up")
    notebook.command("notebook:move-cell-up")


def delete_and_undo(notebook: Notebook) -> None:
    select(notebook, 1)
    notebook.command("notebook:delete-cell")
    notebook.until(lambda: notebook.page.locator(".acp-turn").count() == 0)
    notebook.page.wait_for_timeout(9000)  # longer than a card is waited for that has never answered
    notebook.command("notebook:undo-cell-action")


def clear_thrice(notebook: Notebook) -> None:
    for pause_ms in (0, 60, 0):
        notebook.command("notebook:clear-all-cell-outputs")
        notebook.page.wait_for_timeout(pause_ms)


@pytest.mark.parametrize("act", [move, delete_and_undo, clear_thrice])
@pytest.mark.parametrize(
    "reloaded", [False, pytest.param(True, marks=pytest.mark.more)], ids=["", "reloaded"]
)
def test_n19_the_card_stands_once_and_answers_after(
    open_notebook: Callable[..., Notebook], ui: str, act: Callable[[Notebook], None], *, reloaded: bool
) -> None:
    notebook, output, _ = begun(open_notebook, ui, "1", "2")
    if reloaded:
        notebook.save()
        notebook.open()
        wait_for_request(card_in(output))
    act(notebook)
    wait_for_request(card_in(output))
    allow_all(output)
    expect(card_in(output)).to_have_attribute("data-state", "done", timeout=30_000)
    notebook.until(lambda: WIDGET_MIME not in output_of(notebook.save()))
    assert output_of(notebook.save())[MIME]["state"] == "done"
    assert output.locator(".acp-turn").count() == 1
    assert notebook.errors == []


def test_n19_cleared_without_our_labextension(
    open_notebook: Callable[..., Notebook], server_without: Callable[[str], Server]
) -> None:
    notebook, output, _ = begun(open_notebook, "lab", on=server_without("acp-jupyter"))
    clear_thrice(notebook)
    wait_for_request(card_in(output))
    allow_all(output)
    notebook.ended(1)
    notebook.until(lambda: WIDGET_MIME not in output_of(notebook.save()))
    assert output_of(notebook.save())[MIME]["state"] == "done"


@pytest.mark.parametrize("end", ["allowed", "interrupted"])
def test_n19_run_again_while_a_request_waits(
    open_notebook: Callable[..., Notebook], ui: str, end: str
) -> None:
    """The request stays where it can be answered; the next turn's card comes below."""
    notebook, output, request = begun(open_notebook, ui)
    key = request.get_attribute("data-key")
    notebook.cell(1).locator(".cm-content").click()
    notebook.page.keyboard.press("Control+Enter")
    notebook.page.wait_for_timeout(1000)
    first = output.locator(".acp-turn").first
    expect(first.locator(f".acp-permission[data-state=open][data-key={key!r}]")).to_have_count(1)
    if end == "interrupted":
        notebook.interrupt()
        expect(first).to_have_attribute("data-state", "cancelled", timeout=15_000)
        notebook.until(lambda: WIDGET_MIME not in output_of(notebook.save()))
        assert output_of(notebook.save())[MIME]["state"] == "cancelled"
        return
    allow_all(first)
    expect(output.locator(".acp-turn")).to_have_count(2, timeout=30_000)
    second = output.locator(".acp-turn").nth(1)
    allow_all(second)
    notebook.ended(1)
    notebook.until(lambda: all(WIDGET_MIME not in one["data"] for one in notebook.save().cells[1].outputs))
    states = [one["data"][MIME]["state"] for one in notebook.save().cells[1].outputs]
    assert states == ["done", "done"]


def test_n15_a_question_by_text_that_was_settled_leaves_no_field(
    open_notebook: Callable[..., Notebook], ui: str
) -> None:
    notebook = open_notebook(
        [f"{SETUP}\n%acp ask text", "%%acp demo --timeout 4\nGo.", "print('the next cell')"], ui=ui
    )
    notebook.run(0)
    notebook.ended(0)
    notebook.run(1)
    field = notebook.cell(1).locator(".jp-Stdin-input")
    field.wait_for()
    notebook.ended(1)
    expect(field).to_have_count(0)
    assert notebook.printed(2).strip() == "the next cell"
    assert notebook.page.locator(".jp-Dialog").count() == 0


def test_nothing_jumps_when_the_live_card_becomes_the_saved_one(
    open_notebook: Callable[..., Notebook], ui: str
) -> None:
    slowly = (
        "import time\nfrom acp_jupyter.kernel import card\nmake = card.bundle_to_keep\n"
        "def slowly(turn, *more):\n    time.sleep(3 if turn.ended else 0)\n"
        "    return make(turn, *more)\n"
        "card.bundle_to_keep = slowly"
    )
    notebook = open_notebook([SETUP + "\n" + slowly, TASK, *["# more\n" * 12] * 3], ui=ui, height=700)
    notebook.run(0)
    notebook.ended(0)
    output = notebook.run(1)
    live = card_in(output)
    wait_for_request(live)
    allow_all(output)
    expect(live).to_have_attribute("data-state", "done", timeout=30_000)
    live.evaluate("node => node.setAttribute('data-the-live-one', '')")
    raw = live.locator(".acp-tool-call[data-kind=read]").get_by_text("Raw input", exact=True)
    raw.click()
    live.locator(".acp-body").evaluate("node => { node.scrollTop = 40; }")
    look = """card => {
      const body = card.querySelector('.acp-body');
      const box = card.getBoundingClientRect();
      return {
        height: Math.round(box.height), top: Math.round(box.top), scroll: Math.round(body.scrollTop),
        content: body.scrollHeight,
        open: card.querySelectorAll('[aria-expanded=true], [aria-selected=true]').length,
        focus: document.activeElement?.textContent ?? null,
      };
    }"""
    before = live.evaluate(look)
    assert before["scroll"] == 40, "the card scrolls in itself"
    assert before["height"] < 700
    saved = output.locator(".acp-turn:not([data-the-live-one])")
    expect(saved).to_be_visible(timeout=15_000)
    notebook.page.wait_for_timeout(300)
    assert saved.evaluate(look) == before


def test_the_output_written_anew_in_mid_turn_is_not_seen(
    open_notebook: Callable[..., Notebook], ui: str
) -> None:
    """The view is drawn by another element, with the same content, open sections and focus."""
    notebook, output, request = begun(open_notebook, ui)
    card = card_in(output)
    card.locator(".acp-tool-call[data-kind=read]").get_by_text("Raw input", exact=True).click()
    request.focus()
    card.evaluate("node => node.setAttribute('data-the-first', '')")
    button = request.locator(ALLOW)
    expect(button).not_to_have_attribute("aria-disabled", "true")
    button.focus()
    notebook.page.keyboard.press("Enter")
    card.locator(".acp-tool-call[data-kind=execute] .acp-permission[data-state=open]").wait_for()
    notebook.until(lambda: output.locator(".acp-turn:not([data-the-first])").count() > 0)
    assert output.locator(".acp-turn").count() == 1, "the old view is taken down"
    expect(output.locator(".acp-tool-call[data-kind=read]")).to_contain_text('"path"')
    output.locator(f".acp-tool-call[data-kind=execute] {ALLOW}").click()
    notebook.ended(1)
    assert notebook.errors == []


@pytest.mark.parametrize("missing", ["anywidget", "@jupyter-widgets/jupyterlab-manager"])
def test_n15_without_widgets_it_is_asked_by_text(
    open_notebook: Callable[..., Notebook],
    server_without: Callable[[str], Server],
    missing: str,
    pictures: Path,
) -> None:
    notebook = open_notebook([SETUP, TASK], on=server_without(missing))
    notebook.run(0)
    notebook.ended(0)
    output = notebook.run(1)
    for verb in ("Edit", "Run"):
        expect(notebook.cell(1)).to_contain_text(f"asks for permission: {verb}", timeout=40_000)
        field = notebook.cell(1).locator(".jp-Stdin-input").last
        expect(output).not_to_contain_text("It was waiting for an answer")
        name = f"by-text-without-{missing.rpartition('/')[2]}.png"
        notebook.cell(1).screenshot(path=pictures / name)
        field.fill("1")
        field.press("Enter")
    expect(notebook.cell(1)).to_contain_text("pip install anywidget")
    expect(notebook.cell(1)).to_contain_text("reload the page")
    notebook.ended(1)
    expect(output.locator(".acp-turn").first).to_contain_text("All three tests pass")
    assert output.locator("text=/Javascript error/i").count() == 0
    saved = notebook.save()
    (shown,) = [one["data"] for one in saved.cells[1].outputs if MIME in one.get("data", {})]
    assert shown[MIME]["state"] == "done"
    assert WIDGET_MIME not in shown


EVIL = "<img src=x onerror='window.PWN=1'><script>window.PWN=1</script>"


def test_newer_damaged_and_edited_documents_are_readable_and_inert(
    open_notebook: Callable[..., Notebook], ui: str
) -> None:
    notebook = finished(open_notebook, ui)
    document = json.loads(notebook.path.read_text("utf-8"))
    whole = document["cells"][1]["outputs"][0]["data"]
    newer = {**whole, MIME: {**whole[MIME], "version": 99}}
    damaged = {**whole, MIME: {**whole[MIME], "items": "gone", "tool_calls": 7}}
    text = json.dumps(whole[MIME])
    edited = {
        **whole,
        MIME: json.loads(
            re.sub(r'"((?:[^"\\]|\\.)*median(?:[^"\\]|\\.)*)"', json.dumps(EVIL).replace("\\", "\\\\"), text)
        ),
    }
    edited[MIME]["agent"]["title"] = EVIL
    template = document["cells"][1]
    document["cells"] = [
        {**template, "id": f"c{n}", "outputs": [{**template["outputs"][0], "data": data}]}
        for n, data in enumerate((newer, damaged, edited))
    ]
    notebook.path.write_text(json.dumps(document), "utf-8")
    notebook.end_kernel()
    notebook.open()
    expect(notebook.cell(0)).to_contain_text("format 99")
    expect(notebook.cell(1)).to_contain_text("damaged")
    expect(notebook.cell(2).locator(".acp-turn")).to_contain_text("<script>")
    assert notebook.page.evaluate("window.PWN") is None
    assert notebook.errors == []


def test_n19_a_cell_deleted_while_a_request_waits(open_notebook: Callable[..., Notebook], ui: str) -> None:
    ask = "session = __import__('acp_jupyter').get_session()\nprint(session.turns[0].state, session.pending)"
    notebook, _, _ = begun(open_notebook, ui, ask)
    notebook.cell(1).locator(".jp-InputArea-prompt").first.click()
    notebook.command("notebook:delete-cell")
    notebook.until(lambda: notebook.page.locator(".acp-turn").count() == 0)
    notebook.interrupt()
    assert notebook.printed(1).strip() == "cancelled []"
