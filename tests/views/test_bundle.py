from __future__ import annotations

import json
from typing import TYPE_CHECKING

from acp_jupyter.model.transcript import from_json
from acp_jupyter.views import bundle as views_bundle
from acp_jupyter.views.bundle import MIME, WIDGET_MIME, saved_bundle, widget_view
from acp_jupyter.views.html import turn_html
from acp_jupyter.views.text import turn_text
from tests.model.play import Play

if TYPE_CHECKING:
    import pytest

    from acp_jupyter.model.turn import Turn


def test_a_saved_bundle_holds_document_html_and_text() -> None:
    play = Play()
    play.say("Hello")
    bundle = saved_bundle(play.turn)
    assert list(bundle) == [MIME, "text/html", "text/plain"]
    assert from_json(bundle[MIME]) == play.turn
    assert bundle["text/html"] == turn_html(play.turn)
    assert bundle["text/plain"] == turn_text(play.turn)


def test_where_the_html_fails_the_document_and_the_text_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_turn: Turn) -> str:
        raise RecursionError

    play = Play()
    play.say("Hello <b>")
    monkeypatch.setattr(views_bundle, "turn_html", broken)
    bundle = saved_bundle(play.turn)
    assert from_json(bundle[MIME]) == play.turn
    assert "Hello &lt;b&gt;" in bundle["text/html"]
    assert "Hello <b>" in bundle["text/plain"]


def test_a_live_bundle_names_its_widget_besides() -> None:
    play = Play()
    bundle = {**widget_view("m1", play.turn.turn_id), **saved_bundle(play.turn)}
    named = {"model_id": "m1", "turn_id": play.turn.turn_id}
    assert bundle.pop(WIDGET_MIME) == {"version_major": 2, "version_minor": 0, **named}
    assert bundle == saved_bundle(play.turn)


def test_f11_a_saved_bundle_is_strict_json() -> None:
    play = Play()
    nan, infinite = float("nan"), float("inf")
    play.turn.prompt.append({"type": "odd", "v": nan})
    play.update("agent_message_chunk", content={"type": "odd", "deep": [{"v": infinite, "w": -infinite}]})
    play.update("usage_update", used=1, size=2, cost={"amount": nan, "currency": "USD"})
    play.update("tool_call", toolCallId="c", rawInput={"v": nan, "w": infinite})
    document = json.loads(json.dumps(saved_bundle(play.turn), allow_nan=False))[MIME]
    assert document["prompt"][1] == {"type": "odd", "v": "NaN"}
    assert document["items"][0]["block"] == {"type": "odd", "deep": [{"v": "Infinity", "w": "-Infinity"}]}
    assert document["usage"]["cost"]["amount"] == "NaN"
    assert document["tool_calls"]["c"]["raw_input"] == '{"v":NaN,"w":Infinity}'
    assert play.turn.tool_calls["c"].raw_input["w"] == infinite


def test_f10_a_lone_surrogate_does_not_poison_the_notebook() -> None:
    play = Play()
    play.say("x\ud83dy")
    play.update("tool_call", toolCallId="c\udc00", title="\ud83d", rawInput={"\ud83d": "\ude00"})
    bundle = saved_bundle(play.turn)
    json.dumps(bundle, ensure_ascii=False).encode()
    assert bundle[MIME]["items"][0]["text"] == "x\ufffdy"
    assert bundle[MIME]["tool_calls"]["c\ufffd"]["raw_input"] == '{"\ufffd":"\ufffd"}'
    assert "x<U+D83D>y" in bundle["text/plain"]
