"""Forms and addresses on the card in JupyterLab: filled in, refused, accepted, declined in mid-turn."""

from __future__ import annotations

import re
import shlex
import sys
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from acp_jupyter.testing import script_command

from ..notebook.front_end import heard_by  # noqa: TID252  # tests are no installed package
from .test_pictures import PAGE
from .test_scene import card_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Locator, Page

    from .lab import Notebook

pytestmark = pytest.mark.browser

FORM = {
    "mode": "form",
    "message": "Before I set the service up I need to know where, and for whom.",
    "requestedSchema": {
        "type": "object",
        "title": "Set up the service",
        "properties": {
            "name": {
                "type": "string",
                "title": "Name of the service",
                "description": "It becomes a part of its address.",
                "pattern": "^[a-z-]+$",
                "minLength": 3,
            },
            "mail": {"type": "string", "title": "Whom to tell", "format": "email"},
            "replicas": {"type": "integer", "title": "Replicas", "minimum": 1, "maximum": 9, "default": 2},
            "region": {
                "type": "string",
                "title": "Region",
                "oneOf": [
                    {"const": "eu-west-1", "title": "Europe"},
                    {"const": "us-east-1", "title": "America", "description": "cheaper, farther away"},
                ],
            },
            "parts": {
                "type": "array",
                "title": "Parts",
                "items": {"type": "string", "enum": ["api", "worker", "docs"]},
                "minItems": 1,
                "default": ["api"],
            },
            "public": {"type": "boolean", "title": "Open to the public"},
            "api_key": {"type": "string", "title": "API key", "format": "password"},
        },
        "required": ["name", "region", "parts"],
    },
}
URL = {
    "mode": "url",
    "message": "Log in, so that I may create it for you.",
    "url": "https://xn--80ak6aa92e.com/login?next=https://example.org/",
    "elicitationId": "e-7",
}
SHORT = {
    "mode": "form",
    "message": "One more.",
    "requestedSchema": {"properties": {"n": {"type": "integer"}}},
}


def ask(params: dict[str, Any]) -> dict[str, Any]:
    return {"request": "elicitation/create", "params": params, "save": "answer"}


def cells(folder: Path, *script: dict[str, Any]) -> list[str]:
    """Cells that make a scripted agent known, and give it a task."""
    command = [*script_command(list(script), folder / "asker.json"), "--record", str(folder / "asker.jsonl")]
    added = shlex.join([sys.executable, *command[1:]])
    return [
        f"%load_ext acp_jupyter\n%acp add asker -- {added}",
        "%%acp asker\nSet the service up.",
        "1 + 1",
    ]


def answers(folder: Path) -> list[Any]:
    return [m["result"] for m in heard_by("asker", folder) if "action" in m.get("result", {})]


def begun(
    open_notebook: Callable[..., Notebook], folder: Path, *script: dict[str, Any], **how: Any
) -> tuple[Notebook, Locator]:
    notebook = open_notebook(cells(folder, *script), **how)
    notebook.run(0)
    notebook.ended(0)
    return notebook, notebook.run(1)


def question(output: Locator, **expected: Any) -> Locator:
    """Wait for the open question, and until it can be answered."""
    box = output.locator(".acp-elicitation[data-state=open]")
    expect(box).to_be_visible(timeout=30_000)
    expect(box.get_by_role("button", name="Decline")).not_to_have_attribute("aria-disabled", "true")
    expect(box.locator("xpath=..")).to_contain_text("Needs your answer", **expected)
    return box


def test_e1_e2_and_e3_a_form_is_filled_in_and_refused_and_sent(
    open_notebook: Callable[..., Notebook], tmp_path: Path
) -> None:
    notebook, output = begun(open_notebook, tmp_path, ask(FORM), {"text": "Thanks."})
    form = question(output)
    expect(card_in(output).locator(".acp-state")).to_have_text("needs your answer")
    name = form.get_by_label("Name of the service")
    name.click()
    page = notebook.page
    page.keyboard.type("My service")
    page.keyboard.press("Enter")
    page.keyboard.press("Control+Enter")
    form.get_by_label("Replicas").fill("many")
    form.get_by_label("Whom to tell").fill("nobody")
    form.get_by_role("button", name="Accept").click()
    beside = form.get_by_role("alert")
    expect(beside).to_have_text(
        [
            "It matches the pattern ^[a-z-]+$",
            "It is an e-mail address, such as name@example.org.",
            "It is a whole number.",
            "It must be given.",
        ]
    )
    expect(name).to_be_focused()
    assert answers(tmp_path) == []

    page.keyboard.press("Control+A")
    page.keyboard.type("my-service")
    form.get_by_label("Whom to tell").fill("ada@example.org")
    form.get_by_label("Replicas").fill("3")
    form.get_by_label("Europe").check()
    form.get_by_label("docs").check()
    form.get_by_label("api", exact=True).uncheck()
    form.get_by_role("radio", name="No", exact=True).check()
    form.get_by_label("API key").fill("planted-key")
    expect(beside).to_have_count(0)
    assert answers(tmp_path) == []
    form.get_by_role("button", name="Accept").click()
    notebook.ended(1)
    content = {
        "name": "my-service",
        "mail": "ada@example.org",
        "replicas": 3,
        "region": "eu-west-1",
        "parts": ["docs"],
        "public": False,
        "api_key": "planted-key",
    }
    assert answers(tmp_path) == [{"action": "accept", "content": content}]
    saved = card_in(output).locator(".acp-elicitation[data-state=accepted]")
    expect(saved).to_contain_text("Replicas: 3")
    expect(saved).to_contain_text("API key: [not saved]")
    expect(saved).to_contain_text("Sent by you at")
    notebook.save()
    assert "planted-key" not in notebook.path.read_text()
    assert page.locator(".jp-Notebook .jp-CodeCell").count() == 3
    assert notebook.prompt(2) == "[ ]:"
    assert notebook.prompt(1) == "[2]:", "no key ran the cell again"
    assert notebook.errors == []


def tab_to(page: Page, selector: str) -> None:
    for _ in range(120):
        if page.evaluate("selector => document.activeElement?.matches(selector) === true", selector):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"Tab never reaches {selector}")


def test_e1_the_keyboard_alone_fills_in_and_accepts(
    open_notebook: Callable[..., Notebook], tmp_path: Path
) -> None:
    notebook, output = begun(open_notebook, tmp_path, ask(FORM))
    form = question(output)
    page = notebook.page
    assert not page.evaluate("document.activeElement?.closest('.acp-turn') !== null"), "it takes no focus"
    page.keyboard.press("Escape")
    tab_to(page, ".acp-elicitation input[type=text]")
    page.keyboard.type("addbax")  # plain letters are shortcuts of the notebook's
    tab_to(page, ".acp-elicitation input[type=radio]")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    expect(form.get_by_label("America")).to_be_checked()
    tab_to(page, ".acp-elicitation input[type=checkbox]")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    tab_to(page, ".acp-elicitation button[data-action=accept]")
    page.keyboard.press("Enter")
    notebook.ended(1)
    content = {"name": "addbax", "replicas": 2, "region": "us-east-1", "parts": ["api", "worker"]}
    assert answers(tmp_path) == [{"action": "accept", "content": content}]
    assert page.locator(".jp-Notebook .jp-CodeCell").count() == 3, "no shortcut of the notebook fired"


def test_e4_e5_and_e6_an_address_is_opened_by_a_click_alone_and_a_form_is_declined(
    open_notebook: Callable[..., Notebook], tmp_path: Path
) -> None:
    notebook, output = begun(open_notebook, tmp_path, ask(URL), ask(SHORT), {"text": "On."})
    page = notebook.page
    fetched: list[str] = []
    page.context.route(
        "**/*xn--80ak6aa92e*/**", lambda route: (fetched.append(route.request.url), route.abort())
    )
    box = question(output)
    expect(box.locator(".acp-address")).to_have_text(URL["url"])
    expect(box.locator(".acp-address b")).to_have_text("xn--80ak6aa92e.com")
    expect(box.locator(".acp-warning")).to_contain_text("Punycode: xn--80ak6aa92e stands for")
    link = box.get_by_role("link")
    expect(link).to_have_count(1)
    assert fetched == []
    with page.context.expect_page() as opened:
        link.click()
    notebook.until(lambda: fetched)
    assert fetched == [URL["url"]]
    assert opened.value.evaluate("window.opener") is None
    opened.value.close()
    assert answers(tmp_path) == [], "to open it is no answer yet"
    box.get_by_role("button", name="Accept").click()
    short = output.locator(".acp-elicitation[data-state=open]").filter(has_text="One more.")
    expect(short.get_by_role("button", name="Decline")).not_to_have_attribute("aria-disabled", "true")
    short.get_by_role("button", name="Decline").click()
    notebook.ended(1)
    assert answers(tmp_path) == [{"action": "accept"}, {"action": "decline"}]
    asked = card_in(output).locator(".acp-elicitation")
    expect(asked.first).to_contain_text("Agreed to open it by you at")
    expect(asked.last).to_contain_text("Declined by you at")
    expect(card_in(output).get_by_role("link")).to_have_count(0)


def test_n07_what_is_typed_outlives_an_output_that_is_written_anew_or_cleared(
    open_notebook: Callable[..., Notebook], tmp_path: Path
) -> None:
    done = {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "look", "status": "completed"}
    script = [
        {**ask(FORM), "wait": False},
        {"until_file": str(tmp_path / "more")},
        {"text": "Meanwhile I look around."},
        {"update": done},
        {"await": "answer"},
    ]
    notebook, output = begun(open_notebook, tmp_path, *script)
    page = notebook.page
    name = question(output).get_by_label("Name of the service")
    name.click()
    page.keyboard.type("My srvice")
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    page.evaluate("document.querySelector('.acp-root').ofBefore = true")
    (tmp_path / "more").touch()
    expect(card_in(output)).to_contain_text("Meanwhile I look around.")
    # a tool call has ended: the output is written anew
    notebook.until(lambda: page.evaluate("document.querySelector('.acp-root')?.ofBefore !== true"))
    expect(name).to_be_focused()
    page.keyboard.type("e")
    expect(name).to_have_value("My service")

    notebook.command("notebook:clear-cell-output")
    expect(question(output).get_by_label("Name of the service")).to_have_value("My service")
    question(output).get_by_role("button", name="Cancel").click()
    notebook.ended(1)
    assert answers(tmp_path) == [{"action": "cancel"}]


@pytest.mark.more
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [900, 400])
def test_pictures_of_questions(
    open_notebook: Callable[..., Notebook], pictures: Path, tmp_path: Path, width: int, *, dark: bool
) -> None:
    theme = "dark" if dark else "light"
    script = ({"text": "I need some values first."}, ask(FORM), ask(URL), {"text": "Thanks, it is set up."})
    notebook, output = begun(open_notebook, tmp_path, *script, width=PAGE[width], height=1600, dark=dark)

    def take(name: str) -> None:
        notebook.page.mouse.move(0, 0)
        card = card_in(output)
        assert card.evaluate("node => node.scrollWidth <= node.clientWidth")
        card.screenshot(path=pictures / f"{name}-{width}-{theme}.png")

    form = question(output)
    form.get_by_role("button", name="Accept").click()
    expect(form.get_by_role("alert")).to_have_count(2)
    take("form")
    form.get_by_label("Name of the service").fill("my-service")
    form.get_by_label("Europe").check()
    form.get_by_role("button", name="Accept").click()
    box = question(output).filter(has=output.page.locator(".acp-address"))
    expect(box.get_by_role("button", name="Accept")).not_to_have_attribute("aria-disabled", "true")
    take("address")
    box.get_by_role("button", name="Accept").click()
    notebook.ended(1)
    expect(card_in(output)).to_have_attribute("data-state", "done")
    expect(card_in(output)).to_contain_text(re.compile("Agreed to open it by you"))
    take("answered")
