"""A front end for tests: it keeps the documents of the cards that a kernel shows, and clicks on them."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from acp_jupyter.testing import script_command

from .kernels import Kernel, Message, answers

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Card:
    """One live card, as its messages describe it."""

    def __init__(self, comm_id: str) -> None:
        self.comm_id = comm_id
        self.turn: dict[str, Any] = {}
        self.seq = -1
        self.texts: list[str] = []

    def take(self, content: dict[str, Any]) -> None:
        """Take one custom message of the kernel's."""
        if content["type"] == "snapshot":
            self.turn, self.seq = content["turn"], content["seq"]
        elif content["type"] == "ops" and content["seq"] > self.seq >= 0:
            assert content["seq"] == self.seq + 1, "a gap"
            self.seq = content["seq"]
            for op in content["ops"]:
                _apply(self.turn, op)
        self.texts.append(self.text)

    @property
    def text(self) -> str:
        """The agent's messages so far."""
        return "".join(item["text"] for item in self.turn.get("items", []) if item["type"] == "message")

    @property
    def open_requests(self) -> list[dict[str, Any]]:
        """The permission requests that wait."""
        return [one for one in self.turn.get("permissions", {}).values() if one["state"] == "open"]


def _apply(document: dict[str, Any], op: dict[str, Any]) -> None:
    *way, last = op["path"] or [None]
    if last is None:
        document.update(op["value"])
        return
    node: Any = document
    for key in way:
        node = node[key]
    if op["op"] == "append":
        node[last] += op["value"]
    elif isinstance(node, list) and last == len(node):
        node.append(dict(op["value"]))
    elif isinstance(node, dict):
        node.setdefault(last, {}).update(op["value"])
    else:
        node[last].update(op["value"])


class FrontEnd(Kernel):
    """A kernel, the cards it shows, and a person's hands."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel.manager, kernel.client)
        self.cards: list[Card] = []
        self._seen = 0

    def status(self, msg_id: str, *, timeout_s: float = 30) -> str:
        """Wait for the reply to a message and return its status; after an error let the kernel settle."""
        status = super().status(msg_id, timeout_s=timeout_s)
        if status == "error":
            self.settle()
        return status

    def finished(self, code: str, status: str = "ok") -> str:
        """Run a cell that ends so, and return its id."""
        cell = self.execute(code)
        assert self.status(cell) == status, self.error(cell)
        return cell

    def look(self) -> None:
        """Take in what the kernel has published since the last look; a new card says that it is ready."""
        fresh, self._seen = self.heard[self._seen :], len(self.heard)
        for message in fresh:
            self._take(message)

    def forget(self) -> None:
        """Drop what was heard, and the cards, of cells that have ended."""
        self.heard.clear()
        self.replies.clear()
        self.cards.clear()
        self._seen = 0

    def _take(self, message: Message) -> None:
        content = message["content"]
        if message["msg_type"] == "comm_open" and "turn_id" in content["data"].get("state", {}):
            self.cards.append(Card(content["comm_id"]))
            self.tell(self.cards[-1], {"type": "ready"})
        elif message["msg_type"] == "comm_msg" and content["data"].get("method") == "custom":
            for card in self.cards:
                if card.comm_id == content["comm_id"]:
                    card.take(content["data"]["content"])

    def tell(self, card: Card, content: dict[str, Any]) -> str:
        """Send a message of the card's to the kernel."""
        return self.send(
            "comm_msg", {"comm_id": card.comm_id, "data": {"method": "custom", "content": content}}
        )

    def click(self, card: Card, request: dict[str, Any], option_id: str) -> str:
        """Click the button of an option."""
        return self.tell(card, {"type": "decide", "key": request["key"], "option_id": option_id})

    def see(self, seen: Callable[[], Any], *, timeout_s: float = 30) -> None:
        """Look until ``seen()`` is true."""

        def looked() -> bool:
            self.look()
            return bool(seen())

        self.until(looked, timeout_s=timeout_s)

    def card_of(self, cell: str) -> Card:
        """Wait for the card that the running cell shows."""
        before = len(self.cards)
        self.see(lambda: len(self.cards) > before or self.idle(cell))
        assert len(self.cards) > before, self.error(cell)
        card = self.cards[-1]
        self.see(lambda: card.turn)
        return card

    def asked(self, card: Card) -> dict[str, Any]:
        """Wait for an open request and return it."""
        self.see(lambda: card.open_requests)
        return card.open_requests[0]

    def error(self, cell: str) -> str:
        """Return the error that a cell ended with, as it was shown, or an empty text."""
        shown = [m["content"]["traceback"] for m in answers(self.heard, cell) if m["msg_type"] == "error"]
        return "\n".join(line for traceback in shown for line in traceback)

    def outputs(self, cell: str) -> list[dict[str, Any]]:
        """Return the bundles that stand in a cell's output, each updated by what came for its display id."""
        bundles: list[dict[str, Any]] = []
        ids: dict[str, int] = {}
        for message in self.heard:
            content, kind = message["content"], message["msg_type"]
            display_id = content.get("transient", {}).get("display_id") if isinstance(content, dict) else None
            if kind == "update_display_data" and display_id in ids:
                bundles[ids[display_id]] = content["data"]
            elif (
                kind in {"display_data", "execute_result"} and message["parent_header"].get("msg_id") == cell
            ):
                if display_id:
                    ids[display_id] = len(bundles)
                bundles.append(content["data"])
        return bundles

    def value(self, expression: str) -> Any:
        """Evaluate an expression in the kernel; it comes as JSON."""
        return json.loads(self.run(f"import json as _json; print(_json.dumps({expression}))"))

    def add_agent(self, name: str, script: list[Any] | dict[str, Any], folder: Path) -> None:
        """Make a scripted agent known in the kernel; what it hears and says is in ``folder/NAME.jsonl``."""
        command = script_command(script, folder / f"{name}.json")
        command[0] = "python-of-this-kernel"
        record = folder / f"{name}.jsonl"
        code = (
            "import sys; from acp_jupyter.kernel.sessions import sessions\n"
            f"sessions().agents.add({name!r}, sys.executable, {[*command[1:], '--record', str(record)]!r})"
        )
        self.run(code)


def heard_by(agent: str, folder: Path) -> list[dict[str, Any]]:
    """Return the messages that a scripted agent has received; none where it has not been started yet."""
    record = folder / f"{agent}.jsonl"
    lines = record.read_text("utf-8").splitlines() if record.exists() else []
    frames = [json.loads(line) for line in lines]
    return [frame["msg"] for frame in frames if frame["dir"] == "c2a"]


def python_spec(code: str) -> list[str]:
    """Return the command that runs ``code`` as an agent."""
    return [sys.executable, "-c", code]
