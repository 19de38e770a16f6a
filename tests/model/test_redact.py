from __future__ import annotations

import json
from typing import Any

import pytest

from acp_jupyter.model import events
from acp_jupyter.model.redact import REDACTED, Redactor, kept
from acp_jupyter.model.transcript import from_json, to_json
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
    play.update("available_commands_update", availableCommands=[{"name": "go", "description": secret}])
    form = {"type": "object", "properties": {"a": {"type": "string", "title": secret}}}
    play.apply(
        events.ElicitationAsked(
            "e1", {"mode": "form", "message": secret, "requestedSchema": form}, outside=False
        )
    )
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


def test_all_values_of_a_turn_are_bounded_together_the_short_ones_whole() -> None:
    play = Play()
    play.say("A short answer.")
    for n in range(300):
        play.update("tool_call", toolCallId=f"c{n}", title="x", rawOutput="y" * 60_000)
    play.update("tool_call", toolCallId="small", title="x", rawOutput="z" * 5_000)
    copy = kept(play.turn, Redactor(), 64_000, 2_000_000)
    size = len(json.dumps(to_json(copy)))
    assert 1_800_000 < size < 2_300_000, "near the bound, and what the document needs besides"
    assert copy.text == "A short answer."
    assert copy.tool_calls["small"].raw_output == "z" * 5_000
    assert copy.kept == {"redacted": 0, "cut": 300}
    assert "in Python: turn.tool_calls['c0'].raw_output" in copy.tool_calls["c0"].raw_output
    assert len(play.turn.tool_calls["c0"].raw_output) == 60_000, "in Python it is whole"
    assert kept(play.turn, Redactor(), 64_000, 20_000_000) is play.turn
    assert len(kept(play.turn, Redactor(), 100, 200).tool_calls["c0"].raw_output) < 300
    assert len(kept(play.turn, Redactor(), 64_000, 200).tool_calls["c0"].raw_output) < 1_300


def test_a_joined_redactor_knows_what_each_knows() -> None:
    redactor = Redactor.joined([Redactor(["first-secret"]), Redactor(["second-secret"])])
    assert redactor.text("first-secret second-secret") == f"{REDACTED} {REDACTED}"


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("Authorization: Bearer abc.def", f"Authorization: {REDACTED}"),
        ('{"Authorization": "Bearer abc"}', f'{{"Authorization": "{REDACTED}"}}'),
        ("git clone https://me:pass@x.test/r", f"git clone https://{REDACTED}@x.test/r"),
        ("set-cookie: a=b; c=d", f"set-cookie: {REDACTED}"),
        ("https://x.test:80/a@b", "https://x.test:80/a@b"),
        ("https://a-long-token@x.test/r", f"https://{REDACTED}@x.test/r"),
        ("ssh://git@x.test/r", "ssh://git@x.test/r"),
        (
            json.dumps(json.dumps({"Authorization": "Bearer abc"})),
            json.dumps(json.dumps({"Authorization": REDACTED})),
        ),
        ("a cookie: with chocolate", "a cookie: with chocolate"),
        ("risk-management-and-what-comes-of-it", "risk-management-and-what-comes-of-it"),
        ("first\\nsk-" + "x1" * 12, f"first\\n{REDACTED}"),
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
        "GIT_AUTHOR_NAME": "Some Body",
    }
    redactor = Redactor.of(environment, names=["PIN"])
    assert (
        redactor.text("a-long-value /home/somebody 12345678 short Some Body")
        == f"{REDACTED} /home/somebody {REDACTED} short Some Body"
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


@pytest.mark.parametrize(
    ("value", "redacted"),
    [
        ({"headers": {"Authorization": "Bearer x"}}, {"headers": {"Authorization": REDACTED}}),
        ({"password": "short", "n": 1}, {"password": REDACTED, "n": 1}),
        ([{"name": "X_API_KEY", "value": "short"}], [{"name": "X_API_KEY", "value": REDACTED}]),
        ([{"name": "PAGER", "value": "cat"}], [{"name": "PAGER", "value": "cat"}]),
        (
            {"mcpServers": [{"name": "m", "env": [{"name": "A", "value": "b"}], "headers": []}]},
            {"mcpServers": [{"name": "m", "env": [{"name": "A", "value": REDACTED}], "headers": []}]},
        ),
    ],
)
def test_what_goes_under_a_secret_name_is_one_whatever_it_looks_like(value: Any, redacted: Any) -> None:
    assert Redactor().value(value) == redacted


@pytest.mark.parametrize("secret", ['quoted"and\\more', "two\nlines of it", "caf\u00e9-\u2603-word"])
def test_a_secret_that_json_spells_otherwise_is_found_where_it_is_the_only_one(secret: str) -> None:
    play = Play()
    play.update("tool_call", toolCallId="c1", title="T", rawInput={"deep": [f"x{secret}x"]})
    text = json.dumps(to_json(kept(play.turn, Redactor([secret]), None)), ensure_ascii=False)
    for form in (secret, json.dumps(secret)[1:-1], json.dumps(json.dumps(secret)[1:-1])[1:-1]):
        assert form not in text
    assert REDACTED in text


def test_a_key_that_only_the_deleted_lines_have_is_found() -> None:
    play = Play()
    diff = {"type": "diff", "path": f"{CWD}/key.pem", "oldText": f"a\n{KEY}\nb\n", "newText": "a\nb\n"}
    play.update("tool_call", toolCallId="c1", title="T", content=[diff])
    assert "MIIabc" not in json.dumps(to_json(kept(play.turn, Redactor(), None)))


@pytest.mark.parametrize(
    "pieces", [["s3", "cr3t-", "value and"], ["my s3cr3t-v", "", "alue", " s3cr3t-value"]]
)
def test_a_secret_that_goes_over_the_ends_of_pieces_is_taken_out_of_each(pieces: list[str]) -> None:
    clean = Redactor(["s3cr3t-value"]).texts(pieces)
    assert len(clean) == len(pieces)
    assert "".join(clean) == "".join(pieces).replace("s3cr3t-value", REDACTED)
    assert not any(piece in " ".join(clean) for piece in ("s3", "cr3t", "alue"))


def test_the_document_says_that_it_is_not_whole_and_remembers_it() -> None:
    play = Play(prompt="Use s3cr3t-value")
    assert "kept" not in to_json(play.turn)
    big(play)
    copy = kept(play.turn, Redactor(["s3cr3t-value"]), 1_000)
    assert copy.kept == {"redacted": 1, "cut": 3}
    assert from_json(to_json(copy)) == copy
    assert play.turn.kept is None


def test_a_large_picture_gives_way_to_a_line_and_a_small_one_stays() -> None:
    play = Play()
    pictures = [{"type": "image", "mimeType": "image/png", "data": "A" * size} for size in (100, 4_000)]
    for picture in pictures:
        play.update("agent_message_chunk", content=picture)
    content = [{"type": "content", "content": pictures[1]}]
    play.update("tool_call", toolCallId="c1", title="T", content=content)
    document = to_json(kept(play.turn, Redactor(), 1_000))
    small, large, _call = document["items"]
    assert small["block"] == pictures[0]
    assert large["block"]["text"] == "[image/png, 3,000 bytes: not kept here; in Python: turn.items]"
    assert "turn.tool_calls['c1'].content" in document["tool_calls"]["c1"]["content"][0]["block"]["text"]
    assert "AAAA" * 100 not in saved_bundle(kept(play.turn, Redactor(), 1_000))["text/html"]


@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_of_a_large_diff_the_changes_are_kept_wherever_they_are(ends: str) -> None:
    play = Play()
    old = [f"line {n}" for n in range(10_000)]
    new = [*old[:7_000], "CHANGED", *old[7_001:]]
    diff = {"type": "diff", "path": f"{CWD}/a", "oldText": ends.join(old), "newText": ends.join(new)}
    play.update("tool_call", toolCallId="c1", title="T", content=[diff])
    (shown,) = kept(play.turn, Redactor(), 1_000).tool_calls["c1"].diffs
    assert shown.totals == (1, 1)
    assert shown.old_text == shown.new_text.replace("CHANGED", "line 7000")
    assert ends.join(["line 6997", "line 6998", "line 6999", "CHANGED", "line 7001"]) in shown.new_text
    assert "… 6,997 unchanged lines are not kept here" in shown.new_text
    assert "… 2,996 unchanged lines are not kept here" in shown.new_text
    assert len(shown.new_text) < 500


def test_a_diff_whose_changes_are_themselves_too_large_is_cut() -> None:
    play = Play()
    diff = {"type": "diff", "path": f"{CWD}/a", "oldText": "a\n" * 5_000, "newText": "b\n" * 5_000}
    play.update("tool_call", toolCallId="c1", title="T", content=[diff])
    (shown,) = kept(play.turn, Redactor(), 1_000).tool_calls["c1"].diffs
    assert "9,000 more characters are not kept here" in shown.new_text
    assert len(str(shown.old_text)) < 1_300


def test_a_secret_may_be_a_number_a_list_or_deeper() -> None:
    redactor = Redactor(["8675309867530912345"])
    assert redactor.value({"n": 8675309867530912345, "m": 867}) == {"n": "[redacted]", "m": 867}
    assert redactor.value({"password": 1234567890123, "api_key": ["abc", 1, None]}) == {
        "password": "[redacted]",
        "api_key": ["[redacted]", "[redacted]", None],
    }
    assert redactor.value({"access_token": {"value": "hunter2", "fresh": True}}) == {
        "access_token": {"value": "[redacted]", "fresh": True}
    }
    schema = {"properties": {"password": {"type": "string", "title": "Your password"}}}
    assert redactor.value(schema) == schema


def test_an_agents_own_words_for_kind_and_status_are_texts_too() -> None:
    play = Play()
    play.update(
        "tool_call", toolCallId="c", title="x", kind="kind a-planted-one", status="status a-planted-one"
    )
    (call,) = kept(play.turn, Redactor(["a-planted-one"]), None).tool_calls
    assert (call.kind, call.status) == ("kind [redacted]", "status [redacted]")


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("curl -H 'Authorization: Bearer abc.def' x", "curl -H 'Authorization: [redacted]' x"),
        ("echo authorization: x; rm -rf ~", "echo authorization: [redacted]; rm -rf ~"),
        ("echo authorization: $(rm -rf ~)", "echo authorization: $(rm -rf ~)"),
        ("curl -b cookie: a=1; s=2 && rm -rf ~", "curl -b cookie: [redacted] && rm -rf ~"),
        ("Set-Cookie: sid=abc; Path=/; Secure", "Set-Cookie: [redacted]; Secure"),
        ('{"Authorization": "Basic dXNlcjpwdw=="}', '{"Authorization": "[redacted]"}'),
    ],
)
def test_a_headers_value_hides_no_command_behind_it(text: str, seen: str) -> None:
    assert Redactor().text(text) == seen
