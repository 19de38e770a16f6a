"""A session played event by event, with a clock of its own."""

from __future__ import annotations

import html
import re
from typing import Any

from acp_jupyter.model import events
from acp_jupyter.model.reduce import reduce
from acp_jupyter.model.state import Change, SessionState
from acp_jupyter.model.turn import AgentInfo, Turn
from acp_jupyter.views.html import turn_html
from acp_jupyter.views.text import turn_text

CWD = "/home/user/project"


class Play:
    """A session in which one turn runs; ``update`` is what the agent sends."""

    def __init__(self, *, policy: str = "ask", prompt: str = "Go") -> None:
        self.state = SessionState()
        self.now = 1000.0
        self.start(policy=policy, prompt=prompt)
        self.apply(events.SessionOpened("s1", {}))
        self.apply(events.PromptSent())

    @property
    def turn(self) -> Turn:
        assert self.state.turn is not None
        return self.state.turn

    def start(self, *, policy: str = "ask", prompt: str = "Go") -> Turn:
        number = len(self.state.turns) + 1
        blocks = [{"type": "text", "text": prompt}]
        turn = Turn(f"t{number}", number, AgentInfo("fake", "Fake", "1.0"), CWD, blocks, policy=policy)
        self.apply(events.TurnStarted(turn))
        return turn

    def apply(self, event: events.Event, seconds: float = 1.0) -> list[Change]:
        self.now += seconds
        return reduce(self.state, event, self.now)

    def update(self, kind: str, /, **fields: Any) -> list[Change]:
        return self.apply(events.SessionUpdate({"sessionUpdate": kind, **fields}))

    def say(self, text: str, kind: str = "agent_message_chunk", **fields: Any) -> list[Change]:
        return self.update(kind, content={"type": "text", "text": text}, **fields)

    def ask(self, key: str, tool_call: dict[str, Any], *kinds: str) -> list[Change]:
        options = [{"optionId": kind, "name": f"Do {kind}", "kind": kind} for kind in kinds]
        return self.apply(events.PermissionAsked(key, {"toolCall": tool_call, "options": options}))

    def end(self, stop_reason: str = "end_turn") -> list[Change]:
        return self.apply(events.TurnEnded({"stopReason": stop_reason}))

    def shown(self) -> tuple[str, str]:
        """Return the turn as text, and the words of its HTML."""
        return turn_text(self.turn), words_of(turn_html(self.turn))


def words_of(page: str) -> str:
    """Return what a person reads in ``page``."""
    return html.unescape(re.sub(r"<[^>]*>", "", page))


def seen(play: Play, *expected: str) -> None:
    """Assert that text and HTML both say what is expected."""
    for where, shown in zip(("text", "html"), play.shown(), strict=True):
        for words in expected:
            assert words in shown, f"{words!r} is not in the {where}:\n{shown}"
