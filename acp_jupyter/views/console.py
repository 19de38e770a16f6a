"""A turn told as plain text while it runs, for a terminal: what was printed cannot change any more.

See https://agentclientprotocol.com/protocol/prompt-turn. The agent's words are told as they stream; a tool
call when it begins and, whole, when it has ended; anything else when it is complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_jupyter.model.turn import (
    ElicitationMark,
    Message,
    PlanMark,
    TerminalMark,
    Thought,
    ToolCallMark,
)
from acp_jupyter.views import words
from acp_jupyter.views.text import call_text, error_text, head_text, item_text, nothing_text

if TYPE_CHECKING:
    from acp_jupyter.model.turn import Item, Turn


class Console:
    """Tells a turn, each thing once. Not safe across threads: the session's lock is held around `new`.

    Args:
        turn: The turn, from its beginning on.
    """

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._looked = 0  # items that were looked at
        self._growing: dict[int, int] = {}  # messages by index, and how many of their characters were told
        self._speaking: int | None = None  # the message whose words were printed last
        self._waiting: dict[int, Item] = {}  # what is told once it is complete
        self._plans: dict[str, str] = {}
        self._notes = 0
        self._begun = self._ended = False
        self._out: list[str] = []
        self._told_anything = False

    def new(self) -> str:
        """Return what has not been told yet; after the turn's end, all that is left and how it ended."""
        if not self._begun and self._turn.phase != "starting":
            self._begun = True
            self._notes = len(self._turn.notes)
            self._block(head_text(self._turn))
        if self._begun:
            self._look()
            self._tell_notes()
        if self._turn.ended and not self._ended:
            self._end()
        told, self._out = "".join(self._out), []
        return told

    def _look(self) -> None:
        items = self._turn.items
        for index in list(self._growing):
            self._speak(index)
        for index in range(self._looked, len(items)):
            if isinstance(items[index], Message):
                self._growing[index] = 0
                self._speak(index)
            else:
                self._begin(index, items[index])
        self._looked = len(items)
        if self._amid_words():
            return
        for index, item in list(self._waiting.items()):
            if self._complete(index, item):
                del self._waiting[index]
                self._block(self._whole(item))
        self._tell_plans()

    def _amid_words(self) -> bool:
        """Whether a message is on its way: what has ended meanwhile is told after it, not within."""
        last = len(self._turn.items) - 1
        return self._speaking is not None and self._speaking == last and not self._turn.ended

    def _speak(self, index: int) -> None:
        """Tell the new words of a message."""
        item = self._turn.items[index]
        if not isinstance(item, Message):
            return
        told = self._growing[index]
        last = index == len(self._turn.items) - 1
        grows = not self._turn.ended and (last or item.message_id is not None)
        fresh = item.text.since(told) if len(item.text) > told else ""
        if grows and fresh.endswith("\r"):
            fresh = fresh[:-1]  # half a line's end, maybe: the next chunk tells
        if fresh:
            self._growing[index] = told + len(fresh)
            self._words(index, item, fresh)
        if not grows:
            del self._growing[index]

    def _words(self, index: int, item: Message, fresh: str) -> None:
        if self._speaking != index:
            who = "" if item.role == "agent" else f"{words.visible(item.role)}: "
            self._gap()
            self._out.append(who)
            self._speaking = index
        self._out.append(words.prose(fresh))

    def _begin(self, index: int, item: Item) -> None:
        if isinstance(item, ToolCallMark):
            call = self._turn.tool_calls[item.tool_call_id]
            if not call.finished:
                self._block(f"▸ {' '.join(words.heading(self._turn, call))} …")
        if not isinstance(item, PlanMark):
            self._waiting[index] = item

    def _complete(self, index: int, item: Item) -> bool:
        if isinstance(item, ToolCallMark):
            call = self._turn.tool_calls[item.tool_call_id]
            terminals = [self._turn.terminals.get(terminal_id) for terminal_id in call.terminal_ids]
            return call.finished and all(one is None or one.ended_at is not None for one in terminals)
        if isinstance(item, TerminalMark):
            return self._turn.terminals[item.terminal_id].ended_at is not None
        if isinstance(item, ElicitationMark):  # while it is open the question itself is asked
            return self._turn.elicitations[item.key].state != "open"
        return not isinstance(item, Thought) or item.ended_at is not None or index < len(self._turn.items) - 1

    def _whole(self, item: Item) -> str:
        if isinstance(item, ToolCallMark):
            return call_text(self._turn, self._turn.tool_calls[item.tool_call_id])
        calls = self._turn.tool_calls if isinstance(item, TerminalMark) else ()
        return item_text(self._turn, item, {key for call in calls for key in call.terminal_ids})

    def _tell_plans(self) -> None:
        for plan_id in self._turn.plans:
            text = item_text(self._turn, PlanMark(plan_id), set())
            if self._plans.get(plan_id) != text:
                self._plans[plan_id] = text
                self._block(text)

    def _tell_notes(self) -> None:
        for note in self._turn.notes[self._notes :]:
            self._block(f"{words.visible(note.severity)}: {words.visible(note.text)}")
        self._notes = len(self._turn.notes)

    def _end(self) -> None:
        self._ended = True
        if not self._begun:  # it never got so far as to run
            self._begun = True
            self._block(head_text(self._turn))
            self._look()
        for item in self._waiting.values():
            self._block(self._whole(item))
        self._waiting.clear()
        if not self._turn.items:
            self._block(nothing_text(self._turn))
        self._block(error_text(self._turn))
        self._block(" · ".join([words.agent(self._turn), words.state(self._turn), *words.totals(self._turn)]))
        self._out.append("\n")

    def _block(self, text: str) -> None:
        if text:
            self._gap()
            self._out.append(text)
            self._speaking = None

    def _gap(self) -> None:
        """An empty line, but for the very first thing."""
        self._out.append("\n\n" if self._told_anything else "")
        self._told_anything = True
