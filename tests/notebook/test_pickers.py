"""Choosing at the card: what it is told may be chosen, and what becomes of a choice in mid-turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from .front_end import FrontEnd, heard_by
from .kernels import kernel_python, running_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .front_end import Card

pytestmark = pytest.mark.notebook

MODES = {
    "currentModeId": "ask",
    "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}],
}
MODEL: dict[str, Any] = {
    "id": "model",
    "name": "Model",
    "category": "model",
    "type": "select",
    "currentValue": "small",
    "options": [
        {"group": "g", "name": "House", "options": [{"value": "small", "name": "Small"}]},
        {"group": "h", "name": "Other", "options": [{"value": "large", "name": "Large"}]},
    ],
}
BOOLEAN = {"id": "web", "name": "Web", "type": "boolean", "currentValue": False}
ONE = {
    "id": "one",
    "name": "One",
    "type": "select",
    "currentValue": "a",
    "options": [{"value": "a", "name": "A"}],
}


@pytest.fixture
def notebook(tmp_path: Path) -> Iterator[FrontEnd]:
    with running_kernel(kernel_python(), tmp_path) as kernel:
        front_end = FrontEnd(kernel)
        front_end.run("%load_ext acp_jupyter")
        yield front_end


def offers(notebook: FrontEnd, card: Card) -> list[dict[str, Any]]:
    """Ask as the card does, and return the answer."""
    before = len(notebook.heard)
    notebook.tell(card, {"type": "offers"})
    told: list[dict[str, Any]] = []

    def heard() -> bool:
        for message in notebook.heard[before:]:
            content = message["content"].get("data", {}).get("content", {})
            if message["msg_type"] == "comm_msg" and content.get("type") == "offers":
                told[:] = content["offers"]
        return bool(told)

    notebook.see(heard)
    return told


def running(notebook: FrontEnd, folder: Path, new_session: dict[str, Any]) -> tuple[str, Card, Path]:
    go = folder / "go"
    steps = [{"text": "Begun."}, {"until_file": str(go)}]
    script = {"new_session": new_session, "methods": {"session/set_mode": {"result": {}}}, "turns": [steps]}
    notebook.add_agent("chooser", script, folder)
    cell = notebook.execute("%%acp chooser -o turn\nGo.")
    card = notebook.card_of(cell)
    notebook.see(lambda: card.text)
    return cell, card, go


def test_a_mode_is_chosen_in_mid_turn(notebook: FrontEnd, tmp_path: Path) -> None:
    cell, card, go = running(notebook, tmp_path, {"modes": MODES})
    (offer,) = offers(notebook, card)
    assert offer == {
        "option_id": None,
        "name": "Mode",
        "category": "mode",
        "value": "ask",
        "groups": [
            {"name": None, "values": [{"value": "ask", "name": "Ask"}, {"value": "code", "name": "Code"}]}
        ],
    }
    notebook.tell(card, {"type": "choose", "option_id": None, "value": "code"})
    notebook.see(lambda: card.turn["mode"] == {"id": "code", "name": "Code"})
    assert offers(notebook, card)[0]["value"] == "code"
    go.touch()
    assert notebook.status(cell) == "ok"
    asked = [
        m["params"]["modeId"] for m in heard_by("chooser", tmp_path) if m.get("method") == "session/set_mode"
    ]
    assert asked == ["code"]


def test_what_is_offered_and_a_choice_that_is_none(notebook: FrontEnd, tmp_path: Path) -> None:
    cell, card, go = running(notebook, tmp_path, {"configOptions": [MODEL, BOOLEAN, ONE]})
    model, web = offers(notebook, card)  # of one value there is nothing to choose
    assert [group["name"] for group in model["groups"]] == ["House", "Other"]
    assert (web["value"], [one["value"] for one in web["groups"][0]["values"]]) == ("off", ["on", "off"])
    for wrong in (
        {"option_id": "model", "value": "huge"},
        {"option_id": "model", "value": 5},
        {"option_id": 5, "value": "small"},
        {"value": "small"},
    ):
        notebook.tell(card, {"type": "choose", **wrong})
    notebook.see(lambda: card.turn["notes"])
    assert [note["text"] for note in card.turn["notes"]] == ["Not chosen: the agent has no Model 'huge'"]
    go.touch()
    assert notebook.status(cell) == "ok"
    assert not [m for m in heard_by("chooser", tmp_path) if "set_" in m.get("method", "")]
