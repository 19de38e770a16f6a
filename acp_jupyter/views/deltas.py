"""What a live card has not been told yet, as the operations of ``docs/turn-format.md``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_jupyter.model.received import told_texts
from acp_jupyter.model.transcript import node_json, to_json
from acp_jupyter.model.turn import Message, Thought

if TYPE_CHECKING:
    from acp_jupyter.model.text import Text
    from acp_jupyter.model.tool_call import ToolCall
    from acp_jupyter.model.turn import Turn

_GROWING = {"items": "text", "terminals": "output"}


def updates_message(call: ToolCall) -> dict[str, Any]:
    """Return the message that tells the updates of ``call``, as a document would."""
    return {
        "type": "updates",
        "tool_call_id": call.tool_call_id,
        "updates": told_texts(call),
        "updates_count": call.updates_count,
    }


class Deltas:
    """Collects the changed nodes of one turn and tells what is new about them, as little as possible.

    Growing texts are told by what was appended, other values where they differ from what was told before.
    Not safe across threads: the session's lock is held around every call.

    Args:
        turn: What is told of.
        turn_id: The name that it is told by; by default its own.
    """

    def __init__(self, turn: Turn, turn_id: str | None = None) -> None:
        self._turn = turn
        self._turn_id = turn_id or turn.turn_id
        self._changed: dict[tuple[Any, ...], None] = {}
        self._told: dict[tuple[Any, ...], dict[str, Any]] = {}
        self._texts: dict[tuple[Any, ...], tuple[Text, int]] = {}
        self.seq = 0

    def mark(self, node: tuple[Any, ...]) -> None:
        """Remember that ``node`` has changed."""
        self._changed[node] = None

    def snapshot(self, now: float) -> dict[str, Any]:
        """Return the message that holds the whole document; what comes after is told from here on."""
        # Whatever was marked is part of the snapshot, and so is told.
        self.drain()
        document = {**to_json(self._turn, updates=False), "turn_id": self._turn_id}
        return {"type": "snapshot", "seq": self.seq, "now": now, "turn": document}

    def drain(self) -> dict[str, Any] | None:
        """Return the message that tells what changed since the last one, or ``None``."""
        changed, self._changed = self._changed, {}
        ops = [op for node in changed for op in self._ops(node)]
        if not ops:
            return None
        self.seq += 1
        return {"type": "ops", "seq": self.seq, "ops": ops}

    def _ops(self, node: tuple[Any, ...]) -> list[dict[str, Any]]:
        path = list(node)
        text = self._growing(node)
        if text is not None and node in self._texts and self._texts[node][0] is text:
            offset = self._texts[node][1]
            self._texts[node] = (text, len(text))
            appended = text.since(offset)
            append = {"op": "append", "path": [*path, _GROWING[node[0]]], "value": appended}
            return [*self._merge(node, path, without=_GROWING[node[0]]), *([append] if appended else [])]
        if text is not None:
            self._texts[node] = (text, len(text))
        return self._merge(node, path)

    def _merge(
        self, node: tuple[Any, ...], path: list[Any], without: str | None = None
    ) -> list[dict[str, Any]]:
        now = node_json(self._turn, node, growing=without is None)
        if not node:
            now["turn_id"] = self._turn_id
        before = self._told.get(node, {})
        self._told[node] = {key: value for key, value in now.items() if key not in _GROWING.values()}
        value = {key: value for key, value in now.items() if key not in before or before[key] != value}
        return [{"op": "merge", "path": path, "value": value}] if value else []

    def _growing(self, node: tuple[Any, ...]) -> Text | None:
        if node[:1] == ("items",):
            item = self._turn.items[int(node[1])]
            return item.text if isinstance(item, Message | Thought) else None
        return self._turn.terminals[node[1]].output if node[:1] == ("terminals",) else None
