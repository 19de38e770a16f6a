"""What is odd about a request: told once, in the document, the HTML and the text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acp_jupyter.model import events
from acp_jupyter.model.redact import REDACTED, Redactor, kept
from acp_jupyter.model.transcript import from_json, to_json
from acp_jupyter.views.html import turn_html
from acp_jupyter.views.text import permission_text, turn_text
from tests.model.play import CWD, Play, seen, words_of

ONCE = {"optionId": "once", "name": "Yes", "kind": "allow_once"}
NO = {"optionId": "no", "name": "No", "kind": "reject_once"}


def asked(call: dict[str, Any], options: list[Any] | None = None) -> Play:
    play = Play()
    told = {"toolCallId": "c", **call}
    request = {"toolCall": told, "options": [ONCE, NO] if options is None else options}
    play.apply(events.PermissionAsked("k", request))
    return play


def warned(play: Play) -> dict[str, str]:
    """The warnings by their reasons, as they stand in the document; HTML and text tell them too."""
    told = to_json(play.turn)["permissions"]["k"]["warnings"]
    html = turn_html(play.turn)
    for one in told:
        assert f'class="acp-warning" data-reason="{one["reason"]}"' in html
        assert one["text"] in words_of(html)
        assert one["text"] in turn_text(play.turn)
        assert one["text"] in permission_text(play.turn, play.turn.permissions["k"])
    reasons = [one["reason"] for one in told]
    assert len(set(reasons)) == len(reasons) or reasons.count("options") > 1
    return {one["reason"]: one["text"] for one in told}


def run(command: Any, **more: Any) -> dict[str, Any]:
    return {"kind": "execute", "rawInput": {"command": command}, **more}


@pytest.mark.parametrize(
    "call",
    [
        run("make clean", title="Clean up 👩\u200d💻 ⚠\ufe0f"),
        {"kind": "edit", "rawInput": {"content": " " * 200, "old_string": "\u202e"}},
        {"kind": "read", "locations": [{"path": f"{CWD}/a"}, {"path": CWD}]},
        {
            "kind": "edit",
            "content": [{"type": "diff", "path": f"{CWD}/a", "oldText": "\u202e", "newText": "\u202e"}],
        },
    ],
)
def test_what_is_plain_is_not_warned_of(call: dict[str, Any]) -> None:
    assert warned(asked(call)) == {}


def test_u09_a_padded_command_is_warned_of_and_marked_in_place() -> None:
    play = asked(run("echo ok" + " " * 5000 + "; rm -rf build" + "\n" * 40 + "rm -rf ~"))
    assert warned(play) == {
        "padding": "The command holds a run of 5000 spaces and a run of 39 empty lines, "
        "which may push its end out of sight."
    }
    seen(play, "echo ok <↦ 5000 spaces> ; rm -rf build <↵ 39 empty lines>\n", "rm -rf ~")


def test_u09_a_padded_path_and_title_are_marked_in_place() -> None:
    path = f"{CWD}/a{' ' * 40}.py"
    play = asked({"kind": "edit", "title": f"Fix{' ' * 50}all", "locations": [{"path": path}]})
    assert set(warned(play)) == {"padding"}
    seen(play, "a <↦ 40 spaces> .py", "Fix <↦ 50 spaces> all")


def test_u10_the_command_of_the_raw_input_is_asked_about() -> None:
    play = asked(run("make clean", title="bash"))
    assert "  command: make clean\n" in permission_text(play.turn, play.turn.permissions["k"])
    seen(play, "make clean")


def test_u11_what_rewrites_a_line_is_shown_and_warned_of() -> None:
    play = asked(run("ls", title="rm -rf x\r\x1b[2Kls"))
    assert warned(play) == {"control": "The title holds a carriage return and an escape character."}
    seen(play, "rm -rf x<U+000D><U+001B>[2Kls")


def test_u12_what_hides_the_order_is_shown_and_warned_of() -> None:
    play = asked(run("cat zero\u200bwidth", locations=[{"path": f"{CWD}/a\u202egnp.exe"}]))
    assert warned(play) == {
        "invisible": "The command holds a zero-width space.",
        "bidi": "A path holds a right-to-left override.",
    }
    seen(play, "a<U+202E>gnp.exe", "zero<U+200B>width")


@pytest.mark.parametrize(
    ("call", "where"),
    [
        ({"rawInput": {"args": {"deep": ["\u202e"]}}}, "Its raw input"),
        ({"rawInput": {"k\u202eey": 1}}, "Its raw input"),
        ({"rawInput": {"new_string": "\u202e"}}, "The new text of a file"),
        (
            {"content": [{"type": "diff", "path": f"{CWD}/a", "oldText": "", "newText": "\u202e"}]},
            "The new text of a file",
        ),
        ({"rawInput": {"cwd": "\u202e"}}, "Its directory"),
        ({"rawInput": {"url": "\u202e"}}, "Its address"),
        ({"name": "\u202e"}, "The name of its tool"),
        ({"kind": "\u202e"}, "Its kind"),
    ],
)
def test_u12_wherever_it_stands(call: dict[str, Any], where: str) -> None:
    told = warned(asked(call))["bidi"]
    assert told.startswith((f"{where} holds", "The command holds")), told


def test_many_kinds_of_controls_are_counted() -> None:
    told = warned(asked(run("".join(map(chr, range(0x2066, 0x206A))) + "\u202a\u202b\u202d")))["bidi"]
    assert told.endswith("and a further 3.")


def test_a_text_that_is_too_long_is_not_looked_through_and_said() -> None:
    told = warned(asked(run("x" * 2_000_001 + "\u202e")))
    assert told == {"unchecked": "The command holds a text too long to be looked through."}


@pytest.mark.parametrize("text", ["a\x7fb", "a\rb", "é\x00", "\x1b"])
def test_u11_a_control_among_plain_or_other_letters(text: str) -> None:
    assert set(warned(asked(run(text)))) == {"control"}


def test_u09_tabs_push_as_spaces_do() -> None:
    assert set(warned(asked(run("a" + " \t" * 16 + "b")))) == {"padding"}


def test_u14_warnings_are_inert() -> None:
    evil = "<img src=x onerror=window.PWN=1><script>PWN()</script></pre>"
    options = [{"optionId": "x", "name": evil, "kind": "odd"}, ONCE, {**ONCE, "name": evil}]
    play = asked({"locations": [{"path": f"/etc/{evil}"}]}, options)
    assert set(warned(play)) == {"path", "options", "duplicate-id"}
    assert "<img" not in turn_html(play.turn)
    assert "<script" not in turn_html(play.turn)


# --- where it leads


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/etc/passwd", "Outside the session's directories: /etc/passwd."),
        (f"{CWD}/../.ssh/id", f"Outside the session's directories: {CWD}/../.ssh/id."),
        (f"{CWD}2/a", f"Outside the session's directories: {CWD}2/a."),
        ("a.py", "Not an absolute path: a.py."),
        ("file:///a.py", "Not an absolute path: file:///a.py."),
    ],
)
def test_a_path_that_leads_elsewhere(path: str, told: str) -> None:
    assert warned(asked({"kind": "read", "locations": [{"path": path}]})) == {"path": told}


def test_many_paths_are_counted() -> None:
    places = [{"path": f"/etc/{n}"} for n in range(9)]
    told = warned(asked({"kind": "read", "locations": places}))
    assert told == {"path": "Outside the session's directories: /etc/0, /etc/1, /etc/2 and 6 more."}


def test_reading_that_holds_a_change() -> None:
    diff = {"type": "diff", "path": f"{CWD}/a", "oldText": "x", "newText": "y"}
    assert set(warned(asked({"kind": "read", "content": [diff]}))) == {"kind"}


# --- what it offers


def test_u07_of_options_with_one_id_only_the_safest_can_be_chosen() -> None:
    always = {"optionId": "once", "name": "Always", "kind": "allow_always"}
    play = asked(run("ls"), [always, ONCE, NO])
    assert warned(play) == {
        "duplicate-id": "Two options share one id; only the safest of them can be chosen. Left out: “Always”."
    }
    permission = play.turn.permissions["k"]
    assert [one.name for one in permission.offered] == ["Yes", "No"]
    document = to_json(play.turn)["permissions"]["k"]["options"]
    assert [one.get("left_out") for one in document] == [True, None, None]
    text = permission_text(play.turn, permission)
    assert "1. Yes  (allow · once)\n  2. No  (reject · once)" in text
    play.apply(events.PermissionClosed("k", "selected", "you", "once"))
    seen(play, "Allowed once by you")


def test_u07_twice_the_same_is_offered_once() -> None:
    play = asked(run("ls"), [ONCE, dict(ONCE)])
    assert set(warned(play)) == {"duplicate-id"}
    assert len(play.turn.permissions["k"].offered) == 1


@pytest.mark.parametrize("state", ["open", "decided"])
def test_u06_an_unknown_kind_is_told(state: str) -> None:
    play = asked(run("ls"), [{"optionId": "x", "name": "Keep", "kind": "allow_persistent"}, NO])
    assert warned(play) == {"options": "What “Keep” does is not known: its kind is none of the protocol's."}
    if state == "decided":
        play.apply(events.PermissionClosed("k", "selected", "you", "x"))
    seen(play, "Keep", "unknown kind: allow_persistent")


def test_u05_no_options() -> None:
    assert warned(asked(run("ls"), [])) == {"options": "The agent offers no answer to choose from."}


@pytest.mark.parametrize(
    ("name", "kind", "lies"),
    [
        ("No, reject this", "allow_always", "is named like a no, but allows it"),
        ("Deny", "allow_once", "is named like a no, but allows it"),
        ("Allow", "reject_once", "is named like a yes, but rejects it"),
        ("Yes, just once", "allow_always", "is named as if for once, but the agent will remember it"),
        ("Don't ask again", "allow_always", None),
        ("None of your business, allow", "allow_once", None),
        ("Notify me, allow", "allow_once", None),
        ("No, and never again", "reject_always", None),
        ("Allow once", "allow_once", None),
        ("\u041d\u0435\u0442", "allow_once", None),
    ],
)
def test_a_name_that_contradicts_its_kind(name: str, kind: str, lies: str | None) -> None:
    told = warned(asked(run("ls"), [{"optionId": "x", "name": name, "kind": kind}]))
    assert told == ({"options": f"“{name}” {lies}."} if lies else {})


# --- what becomes of them


def test_a_call_that_changes_is_warned_of_after_the_decision_too() -> None:
    play = asked(run("ls"))
    play.update("tool_call_update", toolCallId="c", rawInput={"command": "rm -rf /"})
    assert set(warned(play)) == {"changed"}
    assert "shows" not in warned(play)["changed"]
    play.apply(events.PermissionClosed("k", "selected", "you", "once"))
    assert warned(play)["changed"].endswith("this is what was allowed.")
    seen(play, "command: ls")


def test_they_are_saved_and_read_again() -> None:
    play = asked(run("ls\u202e"))
    play.apply(events.PermissionClosed("k", "selected", "you", "once"))
    play.update("tool_call_update", toolCallId="c", rawInput={"command": "rm -rf /"})
    document = json.loads(json.dumps(to_json(play.turn)))
    again = from_json(document)
    assert to_json(again) == document
    assert [one.reason for one in again.permissions["k"].warnings] == ["bidi"]
    del document["permissions"]["k"]["warnings"]
    assert from_json(document).permissions["k"].warnings == ()


def test_secrets_are_taken_out_of_them() -> None:
    play = asked({"locations": [{"path": "/etc/hunter2hunter2"}]})
    copy = kept(play.turn, Redactor(["hunter2hunter2"]), None)
    assert warned(play)["path"].endswith("/etc/hunter2hunter2.")
    assert copy.permissions["k"].warnings[0].text == f"Outside the session's directories: /etc/{REDACTED}."


def test_what_is_found_in_files_is_added_once_while_it_waits() -> None:
    play = Play()
    told = {"toolCallId": "c", "kind": "read", "locations": [{"path": "/etc/x"}]}
    request = {"toolCall": told, "options": [ONCE]}
    play.apply(events.PermissionAsked("k", request, check=True))
    permission = play.turn.permissions["k"]
    before = permission.warnings
    assert permission.checking
    assert to_json(play.turn)["permissions"]["k"]["checking"] is True
    play.apply(events.PermissionChecked("k", before))
    assert (permission.checking, permission.warnings) == (False, before)
    assert play.apply(events.PermissionChecked("k", before * 2)) == []
    play.apply(events.PermissionAsked("k2", request, check=True))
    play.apply(events.PermissionClosed("k2", "selected", "policy", "once"))
    assert not play.turn.permissions["k2"].checking
    play.apply(events.PermissionAsked("k3", {"toolCall": {"toolCallId": "d"}, "options": []}, check=True))
    assert not play.turn.permissions["k3"].checking, "it has no files"


# --- how it is headed when it is over


@pytest.mark.parametrize(
    ("closed", "status", "told"),
    [
        (("cancelled", "agent", None), "withdrawn", "the agent withdrew its request"),
        (("cancelled", "turn", None), "unanswered", "not answered"),
        (("cancelled", "time_limit", None), "unanswered", "not answered"),
        (("cancelled", "you", None), "rejected", "rejected"),
        (("cancelled", "nobody", None), "rejected", "rejected"),
        (("selected", "you", "no"), "rejected", "rejected"),
        (("selected", "time_limit", "no"), "rejected", "rejected"),
        (("selected", "you", "once"), "not_told", "the agent did not tell its end"),
    ],
)
def test_u02_a_call_is_headed_by_what_became_of_its_request(
    closed: tuple[Any, ...], status: str, told: str
) -> None:
    play = asked(run("ls"))
    play.apply(events.PermissionClosed("k", *closed))
    play.end()
    assert play.turn.tool_calls["c"].local_status == status
    seen(play, told)


# --- oversight


@pytest.mark.parametrize(
    ("before", "changed", "warns"),
    [
        ({"category": "mode"}, "b", True),
        ({}, "b", True),
        ({"category": "model"}, "b", False),
        ({"category": "thought_level"}, "b", False),
        ({"category": "mode"}, "a", False),
    ],
)
def test_p10_an_option_that_the_agent_changes_itself(
    before: dict[str, Any], changed: str, *, warns: bool
) -> None:
    play = Play()
    option = {"id": "o", "name": "Option", "type": "select", "currentValue": "a", "options": [], **before}
    play.update("config_option_update", configOptions=[option])
    play.update("config_option_update", configOptions=[{**option, "currentValue": changed}])
    assert ("you may be asked less" in turn_text(play.turn)) is warns
    assert ('data-reason="oversight"' in turn_html(play.turn)) is warns
    items = [item for item in to_json(play.turn)["items"] if item["type"] == "option"]
    assert [("oversight" in item) for item in items] == ([warns] if changed == "b" else [])


def test_p10_a_change_that_the_user_asked_for_is_no_warning() -> None:
    play = Play()
    option = {"id": "o", "name": "Option", "type": "select", "currentValue": "a", "category": "mode"}
    play.update("config_option_update", configOptions=[option])
    play.apply(events.ChoiceAsked("o", "b"))
    play.update("config_option_update", configOptions=[{**option, "currentValue": "b"}])
    assert "asked less" not in turn_text(play.turn)
    assert from_json(json.loads(json.dumps(to_json(play.turn)))) == play.turn
