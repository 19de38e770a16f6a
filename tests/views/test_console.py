from __future__ import annotations

import re
import sys
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from acp_jupyter.model import events
from acp_jupyter.model.turn import AgentInfo, Message, Turn, TurnError
from acp_jupyter.views import words
from acp_jupyter.views.console import Console
from tests.model.play import CWD, Play


def told(console: Console, *steps: Any) -> list[str]:
    """Do the steps and return what was told after each."""
    return [[step(), console.new()][1] for step in steps]


def test_the_words_stream_and_a_call_is_told_when_it_begins_and_when_it_has_ended() -> None:
    play = Play()
    console = Console(play.turn)
    call = {"toolCallId": "c1", "title": "Look", "kind": "read", "locations": [{"path": f"{CWD}/a.py"}]}
    steps = told(
        console,
        lambda: play.say("I will "),
        lambda: play.say("look."),
        lambda: play.say("Hm.", "agent_thought_chunk"),
        lambda: play.update("tool_call", **call),
        lambda: play.update("plan", entries=[{"content": "Look", "priority": "high", "status": "pending"}]),
        lambda: play.update("tool_call_update", toolCallId="c1", status="completed", rawOutput=[1]),
        lambda: play.say("Done."),
        play.end,
        lambda: None,
    )
    assert steps[0].endswith("\n\nI will ")
    assert steps[1:3] == ["look.", ""], "a thought is told when it has ended"
    assert re.fullmatch(r"\n\n▸ Read a.py …\n\nThought for 1.0 s: Hm.", steps[3])
    assert steps[4].startswith("\n\nplan:\n")
    assert "▸ Read a.py · ✓ done" in steps[5]
    assert "raw output: [1]" in steps[5]
    assert steps[6] == "\n\nDone."
    assert steps[7].endswith("\n\nFake 1.0 · done · 1 tool call\n")
    assert steps[8] == ""


def test_parallel_calls_and_their_requests_stay_apart() -> None:
    play = Play()
    console = Console(play.turn)
    for name in ("a", "b"):
        play.update("tool_call", toolCallId=name, title=f"Do {name}", kind="other")
    play.ask("p1", {"toolCallId": "a"}, "allow_once", "reject_once")
    assert console.new().count("▸") == 2
    play.apply(events.PermissionClosed("p1", "selected", "you", "reject_once"))
    play.update("tool_call_update", toolCallId="b", status="completed")
    assert "Do a" not in console.new()
    play.end()
    rest = console.new()
    assert rest.count("▸ Do a" if "▸ Do a" in rest else "Do a") == 1
    assert "Rejected" in rest, "what never ended is told at the end of the turn"


def test_what_ends_while_the_agent_speaks_is_told_after_its_words() -> None:
    play = Play()
    console = Console(play.turn)
    play.update("tool_call", toolCallId="c1", title="Look", kind="read")
    play.say("All ")
    console.new()
    play.update("tool_call_update", toolCallId="c1", status="completed")
    assert console.new() == ""
    play.say("is well.")
    assert console.new() == "is well."
    play.end()
    assert console.new().startswith("\n\n▸ Read Look · ✓ done")


def test_a_turn_that_never_ran_says_why() -> None:
    play = Play()
    play.end()
    turn = Turn("t2", 2, AgentInfo("fake", "Fake", None), CWD, [{"type": "text", "text": "Go"}])
    play.apply(events.TurnStarted(turn))
    console = Console(turn)
    assert console.new() == ""
    play.apply(events.TurnFailed(TurnError("AgentNotFound", "not found", "Install it.")))
    text = console.new()
    assert "error: not found\nInstall it." in text
    assert console.new() == ""


def test_u11_what_an_agent_says_cannot_move_the_cursor() -> None:
    play = Play()
    console = Console(play.turn)
    play.say("rm -rf x\r\x1b[2Kls\x08")
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", console.new())


PIECES = st.text(alphabet="ab \n", min_size=1, max_size=4)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("agent_message_chunk"), PIECES, st.sampled_from([None, "m1", "m2"])),
        st.tuples(st.just("agent_thought_chunk"), PIECES, st.none()),
        st.tuples(st.just("tool_call"), st.sampled_from(["c1", "c2"]), st.booleans()),
        st.tuples(st.just("look"), st.none(), st.none()),
    ),
    max_size=30,
)


@given(STEPS)
def test_every_word_is_told_exactly_once_whenever_one_looks(steps: list[tuple[str, Any, Any]]) -> None:
    play = Play()
    console = Console(play.turn)
    text, number = "", 0
    spoken: list[str] = []
    for kind, what, more in steps:
        if kind == "look":
            text += console.new()
        elif kind == "tool_call":
            status = "completed" if more else "in_progress"
            play.update("tool_call", toolCallId=what, title="", kind="read", status=status)
        else:
            number += 1
            chunk = f"{what}<{number}>"
            fields = {"messageId": more} if more else {}
            play.say(chunk, kind, **fields)
            spoken += [chunk] if kind == "agent_message_chunk" else []
    play.end()
    text += console.new()
    assert [chunk for chunk in spoken if chunk not in text] == []
    numbers = re.findall(r"<(\d+)>", re.sub(r"\nThought for .*", "", text))
    assert sorted(numbers, key=int) == [chunk.partition("<")[2][:-1] for chunk in spoken], "each exactly once"
    for item in play.turn.items:
        if isinstance(item, Message):
            own = re.findall(r"<(\d+)>", str(item.text))
            assert [number for number in numbers if number in own] == own, "a message's words are in order"
    assert "".join(console.new() for _ in range(3)) == ""


@given(
    st.lists(st.tuples(st.text(alphabet="a\r\n\u202e", min_size=1, max_size=3), st.booleans()), min_size=1)
)
def test_how_words_are_chunked_makes_no_difference(chunks: list[tuple[str, bool]]) -> None:
    play = Play()
    console = Console(play.turn)
    head = console.new()
    text = ""
    for chunk, look in chunks:
        play.say(chunk)
        text += console.new() if look else ""
    play.end()
    text += console.new()
    whole = words.prose("".join(chunk for chunk, _ in chunks))
    assert head
    assert text.startswith(f"\n\n{whole}\n\nFake 1.0 · done")


def test_the_work_of_a_look_is_that_of_what_is_new() -> None:
    def looked(count: int) -> int:
        """How many lines of Python one look at ``count`` messages and as many calls runs."""
        play = Play()
        for n in range(count):
            play.say("word ", messageId=f"m{n}")
            play.update("tool_call", toolCallId=f"c{n}", title="x", kind="read", status="completed")
        lines = 0

        def trace(_frame: Any, event: str, _arg: Any) -> Any:
            nonlocal lines
            lines += event == "line"
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            Console(play.turn).new()
        finally:
            sys.settrace(before)
        return lines

    assert looked(400) <= 2.5 * looked(200)
