"""What is odd about a request, seen in JupyterLab before the click that answers it."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from acp_jupyter.testing import script_command

from ..notebook.front_end import heard_by  # noqa: TID252  # tests are no installed package
from .test_scene import card_in, wait_for_request

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Locator

    from .lab import Notebook

pytestmark = pytest.mark.browser

ONCE = {"optionId": "once", "name": "Allow", "kind": "allow_once"}
NO = {"optionId": "no", "name": "Reject", "kind": "reject_once"}


def ask(call: dict[str, Any], options: list[Any] | None = None) -> dict[str, Any]:
    params = {"toolCall": {"toolCallId": "c", **call}, "options": [ONCE, NO] if options is None else options}
    return {"request": "session/request_permission", "params": params, "save": "answer"}


def begun(
    open_notebook: Callable[..., Notebook], folder: Path, *script: dict[str, Any], **how: Any
) -> tuple[Notebook, Locator]:
    """A notebook in whose second cell a scripted agent is asked something."""
    command = [*script_command(list(script), folder / "liar.json"), "--record", str(folder / "liar.jsonl")]
    added = shlex.join([sys.executable, *command[1:]])
    notebook = open_notebook(
        [f"%load_ext acp_jupyter\n%acp add liar -- {added}", "%%acp liar\nGo on."], **how
    )
    (notebook.folder / "a.py").write_text("what is there\n")
    notebook.run(0)
    notebook.ended(0)
    return notebook, notebook.run(1)


def warned(box: Locator) -> list[tuple[str | None, str]]:
    return [(one.get_attribute("data-reason"), one.inner_text()) for one in box.locator(".acp-warning").all()]


def answers(folder: Path) -> list[Any]:
    return [m["result"]["outcome"] for m in heard_by("liar", folder) if "outcome" in m.get("result", {})]


def test_a_diff_that_is_not_of_the_file_is_warned_of_before_the_click(
    open_notebook: Callable[..., Notebook], tmp_path: Path
) -> None:
    diff = {"type": "diff", "path": "${cwd}/a.py", "oldText": "what was told\n", "newText": "new\n"}
    notebook, output = begun(open_notebook, tmp_path, ask({"kind": "edit", "content": [diff]}))
    request = wait_for_request(card_in(output))
    allow = request.get_by_role("button", name="Allow")
    expect(allow).not_to_have_attribute("aria-disabled", "true")
    ((reason, text),) = warned(request)
    assert reason == "mismatch"
    assert text.endswith("a.py does not hold the old text that the agent shows: another one may be lost.")
    allow.click()
    notebook.ended(1)
    decided = card_in(output).locator(".acp-permission")
    expect(decided).to_contain_text("Allowed once by you")
    assert warned(decided) == [("mismatch", text)], "the saved card tells it too"
    assert decided.locator("button, a, [tabindex='0']").count() == 0, "nothing looks clickable any more"
    assert answers(tmp_path) == [{"outcome": "selected", "optionId": "once"}]


@pytest.mark.more
@pytest.mark.parametrize("ui", ["lab", "notebook"])
def test_u05_where_the_agent_offers_no_way_to_say_no_the_card_has_one(
    open_notebook: Callable[..., Notebook], tmp_path: Path, ui: str
) -> None:
    steps = [ask({"kind": "execute", "rawInput": {"command": f"ls{' ' * 400}; rm -rf ~"}}, [])]
    notebook, output = begun(open_notebook, tmp_path, *steps, ui=ui)
    request = wait_for_request(card_in(output))
    assert [reason for reason, _ in warned(request)] == ["padding", "options"]
    expect(request.locator(".acp-command .acp-hidden")).to_have_text("↦ 400 spaces")
    none = request.get_by_role("button", name="None of these")
    expect(none).not_to_have_attribute("aria-disabled", "true")
    none.click()
    notebook.ended(1)
    expect(card_in(output).locator(".acp-permission")).to_contain_text("Cancelled by you")
    assert answers(tmp_path) == [{"outcome": "cancelled"}]


@pytest.mark.more
def test_p10_an_agent_that_changes_its_own_mode_is_warned_of(
    open_notebook: Callable[..., Notebook], tmp_path: Path
) -> None:
    update = {"update": {"sessionUpdate": "current_mode_update", "currentModeId": "yolo"}}
    notebook, output = begun(open_notebook, tmp_path, update)
    notebook.ended(1)
    warning = card_in(output).locator(".acp-mode-change .acp-warning[data-reason=oversight]")
    expect(warning).to_contain_text("you may be asked less from here on")
