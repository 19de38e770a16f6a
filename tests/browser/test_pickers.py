"""The pickers of a live card: a mode is chosen in mid-turn by the keyboard, and the agent hears of it."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from acp_jupyter.testing import script_command

from ..notebook.front_end import heard_by  # noqa: TID252  # tests are no installed package
from ..notebook.test_pickers import MODEL, MODES  # noqa: TID252  # as above
from .accessible import violations
from .test_scene import card_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .lab import Notebook

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("ui", ["lab", pytest.param("notebook", marks=pytest.mark.more)])
def test_a_mode_is_picked_in_mid_turn(
    open_notebook: Callable[..., Notebook], tmp_path: Path, pictures: Path, ui: str
) -> None:
    go = tmp_path / "go"
    script = {
        "new_session": {"modes": MODES, "configOptions": [MODEL]},
        "methods": {"session/set_mode": {"result": {}}},
        "turns": [[{"text": "Begun."}, {"until_file": str(go)}]],
    }
    command = script_command(script, tmp_path / "chooser.json")
    command = [sys.executable, *command[1:], "--record", str(tmp_path / "chooser.jsonl")]
    cells = [f"%load_ext acp_jupyter\n%acp add chooser -- {shlex.join(command)}", "%%acp chooser\nGo."]
    notebook = open_notebook(cells, ui=ui)
    notebook.run(0)
    notebook.ended(0)
    output = notebook.run(1)
    card = card_in(output)
    mode = card.get_by_role("combobox", name="Mode", exact=True)
    expect(mode).to_have_value("ask")
    expect(card.get_by_role("combobox", name="Model")).to_have_value("small")
    card.screenshot(path=pictures / f"pickers-{ui}.png")
    assert violations(output) == []
    mode.focus()
    notebook.page.keyboard.press("ArrowDown")
    expect(mode).to_have_value("code")
    notebook.until(
        lambda: [m for m in heard_by("chooser", tmp_path) if m.get("method") == "session/set_mode"]
    )
    expect(card.locator(".acp-body")).to_contain_text("Code")
    go.touch()
    notebook.ended(1)
    expect(card.locator("select")).to_have_count(0)
    expect(card.locator(".acp-mode")).to_have_text("Code")
