from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from acp_jupyter.model import events
from acp_jupyter.model.turn import TurnError
from acp_jupyter.views.html import turn_html
from acp_jupyter.views.markdown import markdown_html
from tests.model.play import CWD, Play, words_of

EVIL = """<img src=x onerror=PWN=1><script>PWN()</script></pre></details>" onmouseover='PWN()' x="\u202e"""
TAGS = set(
    "div span p strong em s code pre details summary ol ul li br hr h1 h2 h3 h4 h5 h6 blockquote a img "
    "table thead tbody tr th td".split()
)
ATTRIBUTES = {"class", "style", "open", "href", "rel", "src", "alt", "start", "data-reason"}
VOID = {"br", "hr", "img"}


class Checker(HTMLParser):
    """Fails on anything that a sanitiser would have to take away, and on what is not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        for name, value in attrs:
            assert name in ATTRIBUTES, name
            if name == "href":
                assert (value or "").partition(":")[0].lower() in {"http", "https", "mailto"}, value
            if name == "src":
                assert (value or "").startswith("data:image/"), value
            if name == "style":
                assert "url(" not in (value or "")
                assert "var(" not in (value or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:  # `<br />` comes as both
            assert self.open.pop() == tag


def checked(page: str) -> str:
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert checker.open == []
    return page


def hostile() -> Play:
    play = Play(policy=EVIL)
    modes = {"currentModeId": "m", "availableModes": [{"id": "m", "name": EVIL}, {"id": "n", "name": EVIL}]}
    play.apply(events.SessionOpened("s", {"modes": modes}))
    play.apply(events.Noted(EVIL, EVIL))
    play.turn.additional_directories.append(EVIL)
    for kind in ("agent_message_chunk", "agent_thought_chunk", "user_message_chunk"):
        play.say(EVIL, kind)
        play.update(kind, content={"type": "image", "mimeType": EVIL, "data": EVIL, "uri": EVIL})
        play.update(kind, content={"type": "image", "mimeType": "image/png", "data": EVIL})
        play.update(kind, content={"type": "resource", "resource": {"uri": EVIL, "text": EVIL}})
        play.update(kind, content={"type": EVIL})
    play.update("plan", entries=[{"content": EVIL, "priority": EVIL, "status": EVIL}])
    play.update("available_commands_update", availableCommands=[{"name": EVIL, "description": EVIL}])
    play.update("config_option_update", configOptions=[{"id": "o", "name": EVIL, "currentValue": EVIL}])
    play.update("current_mode_update", currentModeId="n")
    play.update("session_info_update", title=EVIL)
    play.update("usage_update", used=1, size=2, cost={"amount": EVIL, "currency": EVIL})
    play.update("notice", severity=EVIL, title=EVIL, description=EVIL)
    summary = [{"type": "text", "text": EVIL}]
    play.update("compaction_update", compactionId="x", status=EVIL, summary=summary, error=EVIL)
    play.update(EVIL, x=EVIL)
    content = [
        {"type": "content", "content": {"type": "text", "text": EVIL}},
        {"type": "diff", "path": EVIL, "oldText": "a " + EVIL, "newText": "b " + EVIL},
        {"type": "terminal", "terminalId": "t"},
        {"type": "terminal", "terminalId": EVIL},
        {"type": EVIL},
    ]
    call = {"toolCallId": EVIL, "title": EVIL, "name": EVIL, "kind": EVIL, "status": EVIL, "content": content}
    raw = {"rawInput": {"command": EVIL, EVIL: EVIL}, "rawOutput": EVIL}
    play.update("tool_call", **call, **raw, locations=[{"path": EVIL}])
    options = [{"optionId": EVIL, "name": EVIL, "kind": EVIL}]
    for key in ("k", "l"):
        play.apply(events.PermissionAsked(key, {"toolCall": {"toolCallId": EVIL}, "options": options}))
    play.apply(events.PermissionClosed("k", "selected", EVIL, EVIL, EVIL))
    play.apply(events.TerminalStarted("t", EVIL, EVIL))
    play.apply(events.TerminalOutput("t", f"\x1b[31m{EVIL}\x1b[0m{EVIL}"))
    play.apply(events.TerminalExited("t", signal=EVIL))
    play.apply(events.TurnFailed(TurnError(EVIL, EVIL, EVIL, EVIL)))
    return play


def test_u14_whatever_an_agent_says_is_inert() -> None:
    page = checked(turn_html(hostile().turn))
    words = words_of(page)
    assert words.count("<script>PWN()</script>") > 30
    assert "\u202e" not in page


def test_u14_the_text_spells_out_what_hides() -> None:
    assert "\u202e" not in hostile().shown()[0]


@settings(max_examples=400, deadline=None)
@example("[]()")
@given(st.text("<>&\"'`*_[]()!#-|\\\n aé:/.1", max_size=60))
def test_markdown_is_always_well_formed_and_inert(text: str) -> None:
    checked(markdown_html(text))


@pytest.mark.parametrize(
    "link",
    [
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](data:text/html;base64,PHg+)",
        "[x](vbscript:x)",
        "[x](file:///etc/passwd)",
        "[x](//evil.example)",
        "[x](src/a.py)",
        "<javascript:alert(1)>",
        "[x][r]\n\n[r]: javascript:alert(1)",
    ],
)
def test_m03_links_lead_to_the_web_and_to_mail_only(link: str) -> None:
    assert "<a " not in checked(markdown_html(link))


def test_m03_good_links_are_links() -> None:
    page = checked(markdown_html("[docs](https://example.org/a?b=1&c=2) <mailto:a@example.org>"))
    assert 'href="https://example.org/a?b=1&amp;c=2"' in page
    assert 'href="mailto:a@example.org"' in page
    assert page.count('rel="noopener noreferrer"') == 2


def test_m03_a_picture_is_a_link_and_never_fetched() -> None:
    page = checked(
        markdown_html("![a chart](http://127.0.0.1:9/x.png) [![badge](https://e.org/b.svg)](https://e.org)")
    )
    assert "<img" not in page
    assert ">image: a chart</a>" in page
    assert page.count("<a ") == 2, "a badge is one link"


def test_m01_an_open_fence_ends_with_its_message() -> None:
    play = Play()
    play.say("```sh\necho $1 $2 <b>")
    play.update("tool_call", toolCallId="c", title="After")
    page = checked(turn_html(play.turn))
    fence, _, rest = page.partition("</code></pre>\n</div>")
    assert fence.endswith("echo $1 $2 &lt;b&gt;")
    assert '<code style="' in rest


def test_markdown_is_rendered() -> None:
    page = checked(markdown_html("# H\n\n**b** ~~s~~\n\n| a |\n|---|\n| 1 |\n\n1. one\n"))
    for part in ("<h1>H</h1>", "<strong>b</strong>", "<s>s</s>", "<td>1</td>", "<li>one</li>"):
        assert part in page


def test_a_very_long_message_is_preformatted() -> None:
    page = checked(markdown_html("**x** " * 50_000))
    assert page.startswith("<pre")
    assert "<strong>" not in page


def test_thoughts_raw_values_and_long_outputs_are_folded() -> None:
    play = Play()
    play.say("Deep thought", "agent_thought_chunk")
    play.update("tool_call", toolCallId="c", rawInput={"n": 1})
    for key, count in (("short", 3), ("long", 40)):
        play.apply(events.TerminalStarted(key, key, CWD))
        play.apply(events.TerminalOutput(key, "line\n" * count))
    page = checked(turn_html(play.turn))
    folds = page.split("<details")[1:]
    opened = {
        words_of("<x" + fold).split("$ ")[-1].split(" ")[0].split("\n")[0]: fold.startswith(" open")
        for fold in folds
    }
    assert opened["short"]
    assert not opened["long"]
    assert not any(fold.startswith((" open", ' class="acp-thought" open')) for fold in folds[:2])
    assert "Deep thought" in page
    assert '"n": 1' in page


def test_a_diff_is_coloured_and_numbered() -> None:
    play = Play()
    diff = {
        "type": "diff",
        "path": f"{CWD}/a.py",
        "oldText": "k\nreturn old_name(x)\n",
        "newText": "k\nreturn new_name(x)\n",
    }
    play.update("tool_call", toolCallId="c", kind="edit", content=[diff])
    page = checked(turn_html(play.turn))
    assert (
        '<div style="background:rgba(248,81,73,0.16)"><span style="opacity:0.6">    2      - </span>return '
        in page
    )
    assert '<span style="background:rgba(46,160,67,0.38)">new_name</span>(x)</div>' in page


def test_a_terminal_has_its_colours() -> None:
    play = Play()
    play.apply(events.TerminalStarted("t", "make", CWD))
    play.apply(events.TerminalOutput("t", "\x1b[1;31mFAILED\x1b[0m <x>\n\x1b[7mback\x1b[0m"))
    page = checked(turn_html(play.turn))
    assert '<span style="color:#e06c75;font-weight:bold">FAILED</span> &lt;x&gt;\n' in page
    assert '<span style="color:#1e2127;background:#d7dae0">back</span>' in page


@pytest.mark.parametrize(
    ("block", "drawn"),
    [
        ({"mimeType": "image/png", "data": "iVBORw0KGgo="}, True),
        ({"mimeType": "image/svg+xml", "data": "iVBORw0KGgo="}, False),
        ({"mimeType": "image/png", "data": "no base64!"}, False),
        ({"mimeType": "image/png", "data": "abcde"}, False),
        ({"mimeType": "image/png", "data": "A" * 400_000}, False),
        ({"mimeType": "image/png", "uri": "https://example.org/x.png"}, False),
    ],
)
def test_m04_s5_small_raster_images_are_drawn_others_named(block: dict[str, Any], *, drawn: bool) -> None:
    play = Play()
    play.update("agent_message_chunk", content={"type": "image", **block})
    page = checked(turn_html(play.turn))
    assert ("<img" in page) is drawn
    assert "[image" in page
    assert len(page) < 20_000


def test_the_page_stays_small_for_large_values() -> None:
    play = Play()
    play.update("tool_call", toolCallId="c", rawInput="x" * 5_000_000, rawOutput=["y" * 100] * 10_000)
    lines = "".join(f"{n}\n" for n in range(50_000))
    diff = {"type": "diff", "path": "/a", "oldText": None, "newText": lines}
    play.update("tool_call", toolCallId="d", content=[diff])
    play.apply(events.TerminalStarted("t", "yes", CWD))
    play.apply(events.TerminalOutput("t", "y\n" * 1_000_000))
    page = checked(turn_html(play.turn))
    assert len(page) < 400_000
    for note in ("more characters", "more lines of this diff", "999,500 earlier lines not shown"):
        assert note in page
