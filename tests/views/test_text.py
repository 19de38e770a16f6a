from __future__ import annotations

import json
import re
from typing import Any

import pytest

from acp_jupyter.model import events
from acp_jupyter.model.turn import AgentInfo
from acp_jupyter.views.text import permission_text, turn_markdown, turn_text
from tests.model.play import CWD, Play

WHOLE = f"""\
Fake 1.0 · done · 9.0 s · in {CWD} · turn 1
permission policy: reject
warning: a later %cd does not move the agent

Thought for 1.0 s: Hm. …

I will look.

▸ Edit a.py · +1 \N{MINUS SIGN}1 · ✓ done · 1.0 s
    the agent calls it “Edit it”
    a.py · +1 \N{MINUS SIGN}1
    @@ -1,1 +1,1 @@
    -x = 1
    +x = 2
    raw input: {{"a":[1,2]}}
    raw output: "ok"
    call 1.1

Done.

1 tool call · 1 file changed +1 \N{MINUS SIGN}1"""


def test_the_whole_of_a_turn() -> None:
    play = Play(policy="reject")
    play.apply(events.Noted("a later %cd does not move the agent", "warning"))
    play.say("Hm.\nLong.", "agent_thought_chunk")
    play.say("I will look.")
    play.update("tool_call", toolCallId="c", title="Edit it", kind="edit", rawInput={"a": [1, 2]})
    diff = {"type": "diff", "path": f"{CWD}/a.py", "oldText": "x = 1\n", "newText": "x = 2\n"}
    play.update("tool_call_update", toolCallId="c", status="completed", content=[diff], rawOutput="ok")
    play.say("Done.")
    play.end()
    assert turn_text(play.turn) == WHOLE


def test_allow_once_all_is_loud() -> None:
    assert "*** WITHOUT ASKING: the policy allow-once-all" in turn_text(Play(policy="allow-once-all").turn)


def test_the_answer_alone() -> None:
    play = Play()
    play.say("thinking", "agent_thought_chunk")
    play.say("**One**\r\n")
    play.update("tool_call", toolCallId="c")
    play.say("two")
    assert turn_markdown(play.turn) == "**One**\n\ntwo"


@pytest.mark.parametrize("which", ["rawInput", "rawOutput"])
def test_raw_values_are_cut_in_display_only(which: str) -> None:
    play = Play()
    play.update("tool_call", toolCallId="c", **{which: "x" * 5_000})
    assert "x" * 1_999 + "… (3,002 more characters)" in turn_text(play.turn)
    attribute = {"rawInput": "raw_input", "rawOutput": "raw_output"}[which]
    assert getattr(play.turn.tool_calls["c"], attribute) == "x" * 5_000


@pytest.mark.parametrize("value", ["false", "0", '""', "[]"])
def test_tc4_falsy_raw_values_are_shown(value: str) -> None:
    play = Play()
    play.update("tool_call", toolCallId="c", rawInput={"false": False, "0": 0, '""': "", "[]": []}[value])
    assert f"raw input: {value}" in turn_text(play.turn)


def test_a_long_terminal_shows_its_last_lines() -> None:
    play = Play()
    play.apply(events.TerminalStarted("t", "seq 1000", CWD))
    play.apply(events.TerminalOutput("t", "".join(f"line {n}\n" for n in range(1000))))
    text = turn_text(play.turn)
    assert "$ seq 1000\n… (800 earlier lines)\nline 800\n" in text
    assert "line 999\n[running]" in text
    assert "line 799" not in text


# --- a request as a question


def test_p4_a_question_tells_the_operation_in_full_and_quotes_the_agent() -> None:
    play = Play()
    command = "echo ok" + " " * 100 + "; rm -rf build\nsecond line"
    described = {
        "toolCallId": "c",
        "title": "Say ok\n  1. Harmless",
        "kind": "execute",
        "name": "bash",
        "rawInput": {"command": command, "timeout": 5},
        "locations": [{"path": f"{CWD}/a.py"}, {"path": "/etc/x"}],
    }
    play.ask("k", described, "allow_once", "allow_always", "reject_once", "odd")
    assert permission_text(play.turn, play.turn.permissions["k"]).split("\n") == [
        "Fake 1.0 asks for permission: Run",
        "  command: echo ok <↦ 100 spaces> ; rm -rf build",
        "    | second line",
        f"  path: {CWD}/a.py",
        "  path: /etc/x (outside the session's directories)",
        f"  working directory: {CWD}",
        "  the agent calls it: “Say ok",
        "    |   1. Harmless”",
        "  tool: bash",
        '  raw input: {"command":"echo ok <↦ 100 spaces> ; rm -rf build\\nsecond line","timeout":5}',
        "  ! The command holds a run of 100 spaces, which may push its end out of sight.",
        "  ! Outside the session's directories: /etc/x.",
        "  ! What “Do odd” does is not known: its kind is none of the protocol's.",
        "  1. Do allow_once  (allow · once)",
        "  2. Do allow_always  (allow · remembered by the agent)",
        "  3. Do reject_once  (reject · once)",
        "  4. Do odd  (unknown kind: odd)",
    ]


def test_p4_a_question_shows_the_diff_and_an_unfamiliar_raw_input_whole() -> None:
    play = Play()
    diff = {"type": "diff", "path": f"{CWD}/a.py", "oldText": "x\n", "newText": "y\n"}
    described = {"toolCallId": "c", "kind": "edit", "content": [diff], "rawInput": "z" * 9_000}
    play.ask("k", described, "allow_once")
    text = permission_text(play.turn, play.turn.permissions["k"])
    assert f"  path: {CWD}/a.py\n" in text
    assert "    -x\n    +y\n" in text
    assert "z" * 9_000 in text


def test_u05_a_question_without_options_still_stands() -> None:
    play = Play()
    play.ask("k", {"toolCallId": "c"})
    assert "asks for permission: Tool" in permission_text(play.turn, play.turn.permissions["k"])


FORGED = "x\n  1. Allow  (allow · once)\n  path: /forged\r\n  raw input: {}\u2028  2. No"


def test_no_word_of_the_agents_makes_a_line_of_ours() -> None:
    play = Play()
    play.turn.agent = AgentInfo("fake", FORGED, FORGED)
    play.turn.cwd = f"/home/user/{FORGED}"
    diff = {"type": "diff", "path": f"/d{FORGED}", "oldText": "x", "newText": FORGED}
    described = {
        "toolCallId": "c",
        "kind": FORGED,
        "title": FORGED,
        "name": FORGED,
        "locations": [{"path": f"/l{FORGED}"}],
        "rawInput": {"command": [FORGED], FORGED: FORGED},
        "content": [diff, {"type": "content", "content": {"type": "text", "text": FORGED}}],
    }
    options = [{"optionId": "o", "name": FORGED, "kind": FORGED}]
    play.apply(events.TerminalStarted("t", FORGED, CWD))
    described["content"].append({"type": "terminal", "terminalId": "t"})
    play.apply(events.PermissionAsked("k", {"toolCall": described, "options": options}))
    text = permission_text(play.turn, play.turn.permissions["k"])
    ours = [line.strip()[:9] for line in text.split("\n") if re.match(r" {0,3}\S", line)]
    assert ours[1:] == [
        "command: ",
        "path: /lx",
        "path: /dx",
        "working d",
        "the agent",
        "tool: x",
        "raw input",
        *["! Its raw", "! Its raw", "! Outside", "! What “x"],
        "1. x",
    ]
    assert "\r" not in text
    assert "\u2028" not in text


@pytest.mark.parametrize(
    "raw_input",
    [
        {"command": "git", "args": "push; rm"},
        {"command": "git", "args": {"0": "push"}},
        {"command": "git", "args": ["push", 7]},
        {"command": "git", "args": None},
        {"command": ["git", {"x": 1}]},
        {"command": ["git", None]},
        {"command": "git", "cwd": "/etc"},
        {"command": {"git": "push"}},
        {"command": "", "args": ["push"]},
        {"args": ["push"]},
        ["command"],
        "command",
        {},
        0,
    ],
)
def test_p4_a_raw_input_that_the_command_does_not_tell_is_shown_whole(raw_input: Any) -> None:
    play = Play()
    play.ask("k", {"toolCallId": "c", "kind": "execute", "rawInput": raw_input}, "allow_once")
    raw = json.dumps(raw_input, separators=(",", ":"))
    assert f"  raw input: {raw}\n" in permission_text(play.turn, play.turn.permissions["k"])


@pytest.mark.parametrize(
    "raw_input", [{"command": "git push"}, {"command": ["git", "push"]}, {"command": "git", "args": ["push"]}]
)
def test_p4_a_raw_input_that_is_just_the_command_is_said_once(raw_input: Any) -> None:
    play = Play()
    play.ask("k", {"toolCallId": "c", "kind": "execute", "rawInput": raw_input}, "allow_once")
    text = permission_text(play.turn, play.turn.permissions["k"])
    assert "  command: git push\n" in text
    assert "raw input" not in text
