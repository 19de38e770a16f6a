"""Sequences of valid, changed and random lines: whatever an agent writes, every message costs only itself.

`Oracle` says in a few lines what each message must come to; it shares nothing with the code.
"""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import math
import os
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_jupyter.errors import AcpError
from acp_jupyter.wire.pipes import Pipes
from acp_jupyter.wire.v1 import Connection
from tests.wire.test_calls import FORM, URL
from tests.wire.test_v1 import GOOD_PARAMS, INFO, Recorder

SEQUENCES = int(os.environ.get("ACP_JUPYTER_FUZZ", "300"))
CAPABILITIES = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "elicitation": {"form": {}, "url": {}},
}
OURS = (1, 2, 3)  # the ids of our own requests, after `initialize`

# --- what an agent may write

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
keys = st.sampled_from(["id", "method", "params", "result", "error", "sessionId", "update", "_meta"]) | words
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=6,
)
ids = st.integers(-2, 5) | st.sampled_from(["0", "1", "x", "٣", 1.0, 2.5, math.nan, None]) | values
kinds = st.sampled_from(["agent_message_chunk", "tool_call", "plan", "usage_update", "kind_of_tomorrow"])
requests = st.sampled_from(
    [
        *GOOD_PARAMS.items(),
        ("elicitation/create", FORM),
        ("elicitation/create", URL),
        ("elicitation/create", {**FORM, "sessionId": None, "requestId": 1}),
        ("_vendor/x", {}),
        ("session/frobnicate", {}),
    ]
)


def message(**members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", **members}


def update(kind: str, value: Any) -> dict[str, Any]:
    told = {"sessionId": "s1", "update": {"sessionUpdate": kind, "content": value}}
    return message(method="session/update", params=told)


def request(request_id: Any, asked: tuple[str, Any]) -> dict[str, Any]:
    return message(id=request_id, method=asked[0], params=asked[1])


messages: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.builds(update, kinds, values),
    st.builds(request, ids, requests),
    st.builds(lambda i, result: message(id=i, result=result), ids, values),
    st.builds(lambda i, error: message(id=i, error=error), ids, values),
    st.builds(lambda i: message(method="$/cancel_request", params={"requestId": i}), ids),
    st.builds(lambda i: message(method="elicitation/complete", params={"elicitationId": i}), words | values),
    st.builds(lambda name, params: message(method=name, params=params), words, values),
)


@st.composite
def changed(draw: Callable[[Any], Any]) -> Any:
    """A message in which one thing is another, or gone."""
    whole = {"message": copy.deepcopy(draw(messages))}
    node: Any = whole
    while True:
        where = sorted(node) if isinstance(node, dict) else list(range(len(node)))
        key = draw(st.sampled_from(where))
        if isinstance(node[key], (dict, list)) and node[key] and draw(st.booleans()):
            node = node[key]
        else:
            break
    if node is not whole and draw(st.booleans()):
        del node[key]
    else:
        node[key] = draw(values)
    return whole["message"]


batches = st.lists(messages | changed(), max_size=3)
as_json = st.builds(
    lambda value, *, escaped: (json.dumps(value, ensure_ascii=escaped).encode(), value),
    messages | changed() | batches | values,
    escaped=st.booleans(),
)
JUNK = object()  # what can be no message, and is one thing ignored
DEEP = b"[" * 300 + b"]" * 300


class TooDeep(NamedTuple):
    """What is ignored, but for who asked or was asked."""

    outline: dict[str, Any]

    @property
    def line(self) -> bytes:
        """It, as it is written."""
        return json.dumps({**self.outline, "params": "DEEP"}).encode().replace(b'"DEEP"', DEEP)


TOO_DEEP = {
    "update": TooDeep({"method": "session/update"}),
    "request": TooDeep({"id": "deep", "method": "session/request_permission"}),
    "answer": TooDeep({"id": 2, "result": None}),
    "nothing": TooDeep({"jsonrpc": "2.0"}),
}


def decorated(line: tuple[bytes, Any], how: str, noise: bytes) -> tuple[bytes, Any]:
    text, value = line
    return {
        "plain": (text, value),
        "CR": (text + b"\r", value),
        "mark": (b"\xef\xbb\xbf" + text, value),
        "title": (b"\x1b]0;proj: ready\x07" + text, value),
        "colours": (b"\x1b[1m" + text + b"\x1b[0m", value),
        "log": (b"INFO: " + text, JUNK),
        "noise": (b"~" + noise.replace(b"\n", b""), JUNK),
        "cut": (b"{" + text[: len(text) // 2], JUNK),
        "two": (text + b" " + text, JUNK),
        **{f"deep {name}": (one.line, one) for name, one in TOO_DEEP.items()},
    }[how]


HOW = ["plain"] * 14 + ["CR", "mark", "title", "colours", "log", "noise", "cut", "two"]
HOW += [f"deep {name}" for name in TOO_DEEP]
lines = st.builds(decorated, as_json, st.sampled_from(HOW), st.binary(max_size=20))


# --- what it must come to


class Oracle:
    """What the lines come to, by the protocol's rules."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.completed: list[str] = []
        self.replies: Counter[str] = Counter()
        self.ignored = 0
        self.open = set(OURS)

    def take(self, value: Any) -> None:
        if isinstance(value, list) and value:
            for one in value:
                self.take_one(one)
        else:
            self.take_one(value)

    def take_one(self, one: Any) -> None:
        if not isinstance(one, dict):
            self.ignored += 1
        elif isinstance(one.get("method"), str):
            self.take_call(one, one["method"], one.get("params"))
        elif one.get("method") is None and "id" in one:
            self.take_answer(one["id"])
        else:
            self.ignored += 1

    def take_call(self, one: dict[str, Any], method: str, params: Any) -> None:
        if "id" in one:
            good = isinstance(one["id"], (int, float, str, type(None))) and not isinstance(one["id"], bool)
            if isinstance(one["id"], float):
                good = math.isfinite(one["id"])
            self.replies[json.dumps(one["id"] if good else None)] += 1
            self.ignored += not good
            return
        given = params if isinstance(params, dict) else {}
        if method == "session/update":
            told = given.get("update")
            if isinstance(given.get("sessionId"), str) and isinstance(told, dict):
                self.updates.append(told)
            else:
                self.ignored += 1
        elif method == "elicitation/complete":
            if isinstance(given.get("elicitationId"), str):
                self.completed.append(given["elicitationId"])
            else:
                self.ignored += 1

    def take_outline(self, outline: dict[str, Any]) -> None:
        self.ignored += 1
        if "method" in outline and "id" in outline:
            self.replies[json.dumps(outline["id"])] += 1
        elif "id" in outline:
            self.open.discard(outline["id"])

    def take_answer(self, request_id: Any) -> None:
        if isinstance(request_id, str) and request_id.isdecimal():
            request_id = int(request_id)
        number = isinstance(request_id, (int, float)) and not isinstance(request_id, bool)
        if number and request_id in self.open:
            self.open.remove(int(request_id))
        else:
            self.ignored += 1


class Client(Recorder):
    """One that takes its time for some answers."""

    def __init__(self) -> None:
        super().__init__()
        self.updates: list[Any] = []

    def session_update(self, _session_id: str, update: dict[str, Any]) -> None:
        self.updates.append(update)

    async def create_terminal(self, params: dict[str, Any]) -> dict[str, Any]:
        for _ in range(5):
            await asyncio.sleep(0)
        return await super().create_terminal(params)


class Wire:
    """A transport over real pipes' code, fed by hand."""

    def __init__(self) -> None:
        self._pipes = Pipes()
        self.receive = self._pipes.receive
        self.sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def send(self, line: bytes) -> None:
        self.sent.put_nowait(json.loads(line))

    def arrive(self, data: bytes) -> None:
        self._pipes.pipe_data_received(1, data)

    async def next(self) -> dict[str, Any]:
        """Wait for the next message of ours; that it comes at all is what is asked."""
        return await asyncio.wait_for(self.sent.get(), 30)


async def play(written: list[tuple[bytes, Any]], cuts: list[int]) -> None:
    wire, client, oracle = Wire(), Client(), Oracle()
    connection = Connection(wire, client, capabilities=CAPABILITIES, client_info=INFO)
    faults: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context))
    begun = asyncio.ensure_future(connection.initialize(30))
    await wire.next()
    offer = {"protocolVersion": 1, "agentCapabilities": {"sessionCapabilities": {"list": {}}}}
    wire.arrive(json.dumps(message(id=0, result=offer)).encode() + b"\n")
    await begun
    ours = [asyncio.ensure_future(connection.list_sessions(timeout_s=None)) for _ in OURS]
    assert [(await wire.next())["id"] for _ in OURS] == list(OURS)

    for _, value in written:
        if value is JUNK:
            oracle.ignored += 1
        elif isinstance(value, TooDeep):
            oracle.take_outline(value.outline)
        else:
            oracle.take(value)
    data = b"".join(line + b"\n" for line, _ in written)
    for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
        wire.arrive(data[begin:end])
        await asyncio.sleep(0)

    replies = [await wire.next() for _ in range(sum(oracle.replies.values()))]
    assert Counter(json.dumps(reply["id"]) for reply in replies) == oracle.replies
    wire.arrive(json.dumps(message(id="end", method="_end")).encode() + b"\n")
    assert (await wire.next())["id"] == "end", "nothing is answered twice"
    assert json.dumps(client.updates) == json.dumps(oracle.updates), "each one, in the order of the wire"
    assert [call for name, call in client.calls if name == "complete_elicitation"] == oracle.completed
    assert connection.ignored == oracle.ignored
    assert set(connection.open_requests) == oracle.open
    for request_id in oracle.open:
        wire.arrive(json.dumps(message(id=request_id, result={"sessions": []})).encode() + b"\n")
    for answer in await asyncio.gather(*ours, return_exceptions=True):
        assert isinstance(answer, (dict, AcpError))
    await connection.close()
    assert faults == []


class Complaints(logging.Handler):
    """What our own code has to say about itself."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.records: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record.getMessage())


@settings(max_examples=SEQUENCES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), st.lists(lines, max_size=20))
def test_t4_t6_t9_t11_r01_whatever_arrives(data: st.DataObject, written: list[tuple[bytes, Any]]) -> None:
    size = sum(len(line) + 1 for line, _ in written)
    cuts = sorted(data.draw(st.lists(st.integers(0, size), max_size=4)))
    complaints = Complaints()
    logger = logging.getLogger("acp_jupyter")
    logger.addHandler(complaints)
    try:
        asyncio.run(play(written, cuts))
    finally:
        logger.removeHandler(complaints)
    assert complaints.records == []
