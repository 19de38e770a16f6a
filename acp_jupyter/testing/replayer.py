"""A recorded log played as an agent: a real subprocess, so that a bug report is a test.

    python -m acp_jupyter.testing.replayer LOG.jsonl [--connection N]

A log is what `%acp log --save` and `Session.frames.save` write, or what a fake agent's `--record` does. What
the agent said next is said when the client has said what it said before that: requests and notifications in
the recorded order, answers by their ids, for a client may answer two requests in either order. Where the
client differs, that is said on stderr, and what is open is answered by an error that says where.

Ids, the working directory, terminals' ids and what was redacted may differ. So may what the client offers at
the start, and what its files and terminals answer: that is said on stderr, and the log is played on. A path
that the agent told in two chunks stays as it was. After a gap in the log it goes on with the next prompt.

Nothing is played at a remove: the client does what the recorded agent asked it for, so files are written and
commands run. Play only a log that you have looked through, in an empty directory.

Spec: https://agentclientprotocol.com/protocol/overview
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_jupyter.testing.stdio import INTERNAL_ERROR, Connection
from acp_jupyter.testing.strict import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Message = dict[str, Any]

VERSION = 1
REDACTED = "[redacted]"
_OVER = "Nothing more is played; to begin the log again: %acp new, then %acp restart"
_LONGEST = 200  # characters of a value that is told of
_BY_CLIENT = {"out": True, "c2a": True, "in": False, "a2c": False}
_BEGINNINGS = frozenset({"initialize", "session/prompt"})  # where a log can go on after a gap
_OPENING = frozenset({"initialize", "session/new", "session/load", "session/resume", "session/fork"})
# A person's answers: the agent went on by them.
_DECISIONS = frozenset({"session/request_permission", "elicitation/create"})


class LogError(ValueError):
    """The file is no log that can be played; the text says why."""


class Said(NamedTuple):
    """A recorded message: whether the client sent it, its line in the log (from 1), and itself."""

    by_client: bool
    line: int
    message: Message


def read_log(lines: Iterable[str]) -> list[list[Said]]:
    """Return the recorded messages of each connection, from its `initialize` on.

    Args:
        lines: The file's.

    Raises:
        LogError: It is no such log, or has no beginning of a connection.
    """
    connections: list[list[Said]] = []
    lost = True  # whether this is the rest of something whose beginning is lost
    for number, line in enumerate(lines, 1):
        entry = _entry(line, number)
        said = _said(entry, number)
        method = said.message.get("method") if said is not None and said.by_client else None
        if method == "initialize":
            connections.append([])
        lost = "dropped" in entry or (lost and method not in _BEGINNINGS)
        if said is not None and connections and not lost:
            connections[-1].append(said)
    if not connections:
        raise LogError("the beginning of a connection is missing: no `initialize` of the client's is in it")
    return [without_strays(connection) for connection in connections]


def _entry(line: str, number: int) -> dict[str, Any]:
    try:
        entry: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise LogError(f"line {number} is not JSON: {error}") from None
    if not is_object(entry):
        raise LogError(f"line {number} is not an object")
    if entry.get("acp_jupyter_log", VERSION) != VERSION:
        raise LogError(f"its version is {entry['acp_jupyter_log']!r}, and not {VERSION}")
    return entry


def _said(entry: dict[str, Any], number: int) -> Said | None:
    by_client = _BY_CLIENT.get(str(entry.get("direction", entry.get("dir"))))
    message = entry.get("message", entry.get("msg"))
    return Said(by_client, number, message) if by_client is not None and is_object(message) else None


class Requests:
    """What one side has asked and the other has not answered yet."""

    def __init__(self) -> None:
        self.open: list[tuple[Any, str]] = []  # id, method

    def see(self, message: Message) -> None:
        """Take note of a message of the side that asks."""
        if "method" in message and "id" in message:
            self.open.append((message["id"], message["method"]))

    def answered(self, message: Message) -> bool:
        """Whether a message of the other side answers one; then that is no longer open."""
        found = next((each for each in self.open if each[0] == message.get("id")), None)
        if "method" in message or found is None:
            return False
        self.open.remove(found)
        return True

    def withdrawn_too_late(self, message: Message) -> bool:
        """Whether a message cancels what is over already: that it was sent is a matter of chance."""
        if message.get("method") == "session/cancel":
            return all(method != "session/prompt" for _, method in self.open)
        if message.get("method") == "$/cancel_request":
            return all(request_id != _member(message, "params", "requestId") for request_id, _ in self.open)
        return False


def without_strays(recorded: list[Said]) -> list[Said]:
    """Return a connection without what the client said too late: cancels of what was over, stray answers."""
    asked, asking = Requests(), Requests()  # by the agent; by the client
    kept: list[Said] = []
    for said in recorded:
        mine, others = (asking, asked) if said.by_client else (asked, asking)
        mine.see(said.message)
        is_answer = others.answered(said.message)
        stray = asking.withdrawn_too_late(said.message) or not (is_answer or "method" in said.message)
        if not (said.by_client and stray):
            kept.append(said)
    return kept


class Names:
    """What goes under another name now: the ids of requests and terminals, the working directory."""

    def __init__(self) -> None:
        self.requests: list[tuple[Any, Any]] = []  # the client's: as recorded, as now
        self._terminals: dict[str, str] = {}
        self._folders: dict[str, str] = {}

    def learn(self, was: Message, now: Message) -> None:
        """Take note of the names in a message of the client's, as recorded and as it came."""
        if "method" in was and "id" in was:
            self.requests.append((was["id"], now.get("id")))
        pair = [_member(each, "result", "terminalId") for each in (was, now)]
        if all(isinstance(each, str) for each in pair):
            self._terminals[pair[0]] = pair[1]
        pair = [_member(each, "params", "cwd") for each in (was, now)]
        if was.get("method") in _OPENING and all(isinstance(each, str) for each in pair) and pair[0] != "/":
            self._folders[pair[0]] = pair[1]

    def request_now(self, was: Any) -> Any:
        """The id that a request of the client's has now; the latest of that id is meant."""
        return next((now for before, now in reversed(self.requests) if before == was), was)

    def now(self, value: Any) -> Any:
        """A recorded value with the names of now."""
        if isinstance(value, str):
            return self._terminals.get(value) or self._moved(value)
        if is_array(value):
            return [self.now(each) for each in value]
        return {key: self.now(each) for key, each in value.items()} if is_object(value) else value

    def _moved(self, text: str) -> str:
        for before, after in self._folders.items():
            if before in text:
                text = re.sub(rf"(?<![\w.-]){re.escape(before)}(?![\w-])", lambda _, to=after: to, text)
        return text


class Replay:
    """What is left to say and to hear. It knows no pipe: it is told what came, and given what sends.

    Args:
        recorded: The messages of one connection.
        send: Sends a message to the client.
        say: Tells a person of a difference.
    """

    def __init__(
        self, recorded: list[Said], send: Callable[[Message], None], say: Callable[[str], None]
    ) -> None:
        self._recorded = recorded
        self._send = send
        self._say = say
        self._at = 0
        self._heard: set[int] = set()  # lines of the client's messages that have come
        self._names = Names()
        self._asking = Requests()  # the client's
        self._failed: str | None = None

    @property
    def left(self) -> list[Said]:
        """What has not been said or heard."""
        return [said for said in self._recorded[self._at :] if said.line not in self._heard]

    def take(self, message: Message) -> None:
        """Hear a message of the client's, and say what came after it."""
        self._asking.see(message)
        before = self._failed
        if before is None and not self._asking.withdrawn_too_late(message):
            self._hear(message)
        if self._failed is None:
            self._go_on()
        elif before is None:
            self._answer_all(f"{self._failed}. {_OVER}")
        else:
            self._answer_all(f"it stopped before this, where it differed: {before}. {_OVER}")

    def _hear(self, message: Message) -> None:
        expected = self._expected(message)
        if expected is None and "method" not in message:
            self._say(f"differs, played on: it was not answered: {_shown(message)}")
        elif expected is None:
            self._failed = f"the log has no more of this: {_shown(message)}"
        else:
            self._heard.add(expected.line)
            self._failed = self._compare(expected, message)
        if self._failed is not None:
            self._say(f"differs: {self._failed}")

    def _go_on(self) -> None:
        while self._at < len(self._recorded):
            said = self._recorded[self._at]
            if said.by_client and said.line not in self._heard:
                return
            self._at += 1
            if not said.by_client:
                self._say_again(said.message)
        self._answer_all("the log ends before this was answered")

    def _say_again(self, message: Message) -> None:
        message = self._names.now(message)
        if "method" not in message and "id" in message:
            message["id"] = self._names.request_now(message["id"])
            self._asking.answered(message)
        self._send(message)

    def _answer_all(self, why: str) -> None:
        for request_id, _ in self._asking.open:
            error = {"code": INTERNAL_ERROR, "message": f"replay: {why}"}
            self._send({"jsonrpc": "2.0", "id": request_id, "error": error})
        self._asking.open.clear()

    # --- what is expected, and where it differs

    def _expected(self, message: Message) -> Said | None:
        """What of the log a message must be: the answer with its id, else the next that is no answer."""
        ours = [said for said in self.left if said.by_client]
        if "method" in message:
            return next((said for said in ours if "method" in said.message), None)
        answers = (said for said in ours if "method" not in said.message)
        return next((said for said in answers if said.message.get("id") == message.get("id")), None)

    def _compare(self, expected: Said, message: Message) -> str | None:
        """What is wrong with a message, as a sentence; ``None`` where it will do."""
        was = expected.message
        self._names.learn(was, message)
        method = str(was.get("method") or self._asked(was))
        fault = self._difference(was, message)
        if fault is None:
            return None
        where = f"line {expected.line} of the log, {method}: {fault}"
        is_answer = "method" not in was
        if was.get("method") in _OPENING or (is_answer and method not in _DECISIONS):
            self._say(f"differs, played on: {where}")
            return None
        return where

    def _asked(self, answer: Message) -> str:
        """The method that the client answers."""
        asked = [said.message for said in self._recorded[: self._at] if not said.by_client]
        own = [each["method"] for each in asked if "method" in each and each.get("id") == answer.get("id")]
        return str(own[-1]) if own else "an answer"

    def _difference(self, was: Message, now: Message) -> str | None:
        kinds = [_kind(each) for each in (was, now)]
        if kinds[0] != kinds[1]:
            return f"it was {kinds[0]}, now it is {kinds[1]}"
        parts = ("params", "result", "error")
        return next(filter(None, (self._unlike(was.get(part), now.get(part), part) for part in parts)), None)

    def _unlike(self, was: Any, now: Any, path: str) -> str | None:
        """Where two values differ, else ``None``."""
        if path == "params.requestId" and (was, now) in self._names.requests:
            return None
        if is_object(was) and is_object(now):
            keys = dict.fromkeys([*was, *now])
            each = [(was.get(key), now.get(key), f"{path}.{key}") for key in keys]
        elif is_array(was) and is_array(now) and len(was) == len(now):
            each = [(a, b, f"{path}[{n}]") for n, (a, b) in enumerate(zip(was, now, strict=True))]
        else:
            return None if self._same(was, now) else f"{path} was {_shown(was)}, now it is {_shown(now)}"
        return next((fault for a, b, where in each if (fault := self._unlike(a, b, where))), None)

    def _same(self, was: Any, now: Any) -> bool:
        if isinstance(was, str) and isinstance(now, str):
            pattern = ".*".join(map(re.escape, self._names.now(was).split(REDACTED)))
            return re.fullmatch(pattern, now, re.DOTALL) is not None
        return was == now and isinstance(was, bool) == isinstance(now, bool)


def _member(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if is_object(value) else None
    return value


def _kind(message: Message) -> str:
    if "method" in message:
        return f"the {'request' if 'id' in message else 'notification'} {message['method']}"
    return "an error" if "error" in message else "an answer"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


class _Line(Connection):
    """Hands on answers too, as they come: the log says what they answer."""

    def _settle(self, response: Message) -> None:
        self._on_frame(response)


def _complain(text: str) -> None:
    print(f"replay: {text}", file=sys.stderr, flush=True)  # noqa: T201 - stderr is a program's place for it


async def _serve(recorded: list[Said]) -> None:
    line = _Line(lambda message: replay.take(message))  # noqa: PLW0108 - it is made only now
    replay = Replay(recorded, line.send, _complain)
    await line.run()
    if left := replay.left:
        _complain(f"the client left {len(left)} messages before the end; the next is line {left[0].line}")


def main(arguments: Sequence[str] | None = None) -> int:
    """The program: plays a log until stdin ends; returns its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m acp_jupyter.testing.replayer", description="Plays a recorded log as an ACP agent."
    )
    parser.add_argument("log", type=Path, help="as `%%acp log --save` writes it")
    parser.add_argument("--connection", type=int, default=1, metavar="N", help="which one of the log, from 1")
    chosen = parser.parse_args(arguments)
    try:
        recorded = _connection(chosen.log, chosen.connection)
    except (OSError, ValueError) as error:
        _complain(f"{chosen.log}: {error}")
        return 2
    asyncio.run(_serve(recorded))
    return 0


def _connection(log: Path, number: int) -> list[Said]:
    with log.open(encoding="utf-8") as lines:
        connections = read_log(lines)
    if not 1 <= number <= len(connections):
        raise LogError(f"it holds {len(connections)} connections, there is no {number}")
    return connections[number - 1]


if __name__ == "__main__":
    sys.exit(main())
