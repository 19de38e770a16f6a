from __future__ import annotations

import json
from typing import Any

import pytest

from acp_jupyter.model import events
from acp_jupyter.model.redact import REDACTED, Redactor, kept
from acp_jupyter.model.transcript import to_json
from acp_jupyter.model.turn import TurnError
from acp_jupyter.views.bundle import saved_bundle

from .play import CWD, Play

PLANTED = 's3cr3t"value\\with<marks>'
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\ndef\n-----END RSA PRIVATE KEY-----"
SHAPES = ["sk-" + "x1" * 12, "ghp_" + "a1" * 15, "AKIA" + "A1" * 8]


def planted(secret: str) -> Play:
    """A turn with the secret in every place that an agent can put it."""
    play = Play(prompt=f"Use {secret}.")
    half = len(secret) // 2
    play.say(f"I have {secret[:half]}")
    play.say(f"{secret[half:]} here.")
    play.say(f"Hm, {secret}.", "agent_thought_chunk")
    play.update("plan", entries=[{"content": f"Use {secret}", "priority": "high", "status": "pending"}])
    diff = {"type": "diff", "path": f"{CWD}/a", "oldText": f"a\n{secret}\nb\n", "newText": f"{secret}\nc\n"}
    play.update(
        "tool_call",
        toolCallId="c1",
        title=f"Use {secret}",
        kind="execute",
        locations=[{"path": f"/x/{secret}"}],
        rawInput={"command": f"login {secret}", secret: [secret]},
        content=[
            diff,
            {"type": "content", "content": {"type": "text", "text": secret}},
            {"type": "odd", "v": secret},
        ],
    )
    play.ask("p1", {"toolCallId": "c1", "rawInput": {"other": secret}}, "allow_once")
    play.apply(events.PermissionClosed("p1", "selected", "you", "allow_once", f"because {secret}"))
    play.apply(events.TerminalStarted("t1", f"echo {secret}", CWD))
    play.apply(events.TerminalOutput("t1", f"{secret}\r\n"))
    play.update("tool_call_update", toolCallId="c1", status="failed", rawOutput=secret)
    play.update("notice", severity="info", title=secret, description=secret)
    play.update("session_info_update", title=secret)
    play.update("surprise", value=secret)
    play.apply(events.Noted(f"note {secret}", "warning"))
    play.apply(events.TurnFailed(TurnError("X", f"message {secret}", f"advice {secret}", f"stderr {secret}")))
    return play


def forms_of(secret: str) -> list[str]:
    return [secret, json.dumps(secret)[1:-1], secret.replace("<", "&lt;").replace(">", "&gt;")]


@pytest.mark.parametrize("secret", [PLANTED, *SHAPES, KEY])
def test_a_planted_secret_is_nowhere_in_what_is_kept(secret: str) -> None:
    play = planted(secret)
    redactor = Redactor([secret] if secret == PLANTED else [])
    before = to_json(play.turn)
    bundle = saved_bundle(kept(play.turn, redactor, None))
    texts = [json.dumps(bundle, ensure_ascii=False), bundle["text/html"], bundle["text/plain"]]
    for text in texts:
        assert [form for form in forms_of(secret) if form in text] == []
        assert REDACTED in text
    if secret == KEY:
        assert all("MIIabc" not in text for text in texts)
    assert to_json(play.turn) == before, "in Python it is whole"


def test_a_turn_without_secrets_is_kept_as_it_is() -> None:
    play = Play()
    play.say("Hello")
    assert kept(play.turn, Redactor(["not in there"]), 64_000) is play.turn


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("Authorization: Bearer abc.def", f"Authorization: {REDACTED}"),
        ('{"Authorization": "Bearer abc"}', f'{{"Authorization": "{REDACTED}"}}'),
        ("git clone https://me:pass@x.test/r", f"git clone https://{REDACTED}@x.test/r"),
        ("set-cookie: a=b; c", f"set-cookie: {REDACTED}"),
        ("https://x.test:80/a@b", "https://x.test:80/a@b"),
        ("nothing here", "nothing here"),
    ],
)
def test_headers_and_addresses(text: str, redacted: str) -> None:
    assert Redactor().text(text) == redacted


def test_which_variables_are_secret() -> None:
    environment = {
        "MY_API_KEY": "a-long-value",
        "HOME": "/home/somebody",
        "PIN": "12345678",
        "X_TOKEN": "short",
    }
    redactor = Redactor.of(environment, names=["PIN"])
    assert (
        redactor.text("a-long-value /home/somebody 12345678 short")
        == f"{REDACTED} /home/somebody {REDACTED} short"
    )


def big(play: Play) -> Any:
    play.update("tool_call", toolCallId="c1", title="Big", rawOutput=[{"n": n} for n in range(5_000)])
    play.apply(events.TerminalStarted("t1", "yes", CWD))
    play.apply(events.TerminalOutput("t1", "y\n" * 50_000))
    play.say("word " * 20_000)
    return play.turn


def test_what_is_large_is_cut_in_its_place_and_whole_in_python() -> None:
    play = Play()
    turn = big(play)
    document = to_json(kept(turn, Redactor(), 1_000))
    assert len(json.dumps(document)) < 6_000
    assert "more characters are not kept here; in Python: turn.tool_calls['c1'].raw_output" in json.dumps(
        document
    )
    assert len(turn.tool_calls["c1"].raw_output) == 5_000
    assert len(turn.text) > 90_000
