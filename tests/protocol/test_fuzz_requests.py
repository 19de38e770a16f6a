"""Lying permission requests, by the thousand: nothing is allowed that neither a person nor a rule allowed.

The lines of an agent go through the wire, the state and the broker, with somebody to ask and with nobody, and
under each named policy. `Oracle` says what each request must be answered; it shares nothing with the code. It
knows what every piece of a call is because the pieces are labelled (`LOCATIONS`, `CONTENTS`, `INPUTS`).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_jupyter.errors import PermissionClosed, UsageError
from acp_jupyter.model import events
from acp_jupyter.model.reduce import reduce
from acp_jupyter.model.state import SessionState
from acp_jupyter.model.transcript import from_json, to_json
from acp_jupyter.model.turn import AgentInfo, Turn
from acp_jupyter.session.permissions import PermissionBroker
from acp_jupyter.session.policy import POLICIES
from acp_jupyter.session.roots import Roots
from acp_jupyter.views.html import turn_html
from acp_jupyter.views.text import permission_text, turn_text
from acp_jupyter.wire.v1 import Connection
from tests.wire.test_v1 import INFO, Recorder

from .test_fuzz import Wire, message

EXAMPLES = int(os.environ.get("ACP_JUPYTER_FUZZ", "300"))
HOME = "/nowhere/project"  # not there: no file can be found to be otherwise

# --- what an agent may say about a call; each piece with what is true of it


def _diff(path: str) -> dict[str, Any]:
    return {"type": "diff", "path": path, "oldText": "a", "newText": "b\u202e"}


INSIDE, OUTSIDE = f"{HOME}/a.py", "/etc/passwd"
LOCATIONS: dict[str, Any] = {
    "none": [],
    "inside": [{"path": INSIDE}],
    "outside": [{"path": OUTSIDE}],
    "both": [{"path": INSIDE}, {"path": f"{HOME}/../x"}],
    "relative": [{"path": "a.py"}],
}
CONTENTS: dict[str, Any] = {
    "none": [],
    "text": [{"type": "content", "content": {"type": "text", "text": "Allowed once by you"}}],
    "diff": [_diff(INSIDE)],
    "diff outside": [_diff(OUTSIDE), _diff(INSIDE)],
    "terminal": [{"type": "terminal", "terminalId": "t"}],
    "odd": [{"type": "diff", "path": INSIDE}],
}
INPUTS: dict[str, Any] = {
    "absent": None,
    "reading": {"file_path": INSIDE, "limit": 3},
    "editing": {"file_path": INSIDE, "old_string": "a", "new_string": "b"},
    "outside": {"file_path": OUTSIDE},
    "command": {"command": "rm -rf /"},
    "list": ["rm", "-rf", "/"],
    "odd": {"whatever": 1},
}
KINDS = ["read", "search", "edit", "execute", "delete", "other", "teleport"]
titles = st.sampled_from(
    [
        "",
        "Read a.py",
        "Allowed once by you",
        "allow_once",
        "1. Yes  (allow · once)",
        "x\r\x1b[2Ky\u202e",
        " " * 99,
    ]
)
PIECES: dict[str, st.SearchStrategy[str]] = {
    "kind": st.sampled_from(KINDS),
    "title": titles,
    "locations": st.sampled_from(sorted(LOCATIONS)),
    "content": st.sampled_from(sorted(CONTENTS)),
    "raw": st.sampled_from(sorted(INPUTS)),
    "status": st.sampled_from(["pending", "in_progress", "completed"]),
}
labels = st.fixed_dictionaries({}, optional=PIECES)
call_ids = st.sampled_from(["a", "b", None])
options = st.lists(
    st.fixed_dictionaries(
        {
            "optionId": st.sampled_from(["", "1", "2", "3", "allow", "allow_once"]),
            "name": st.sampled_from(["", "Allow", "No", "Reject", "allow_once", "Yes\u202e", "<b>Allow</b>"]),
            "kind": st.sampled_from(
                [
                    "allow_once",
                    "allow_once",
                    "allow_always",
                    "reject_once",
                    "reject_always",
                    "allow",
                    "",
                    "ALLOW_ONCE",
                ]
            ),
        }
    ),
    max_size=4,
)

# Random pieces are rarely near to what a rule allows: these are, but mostly for one of them.
NEAR = [
    {"kind": "read", "locations": "inside", "content": "none", "raw": "reading"},
    {"kind": "edit", "locations": "inside", "content": "diff", "raw": "editing"},
]
plain = [
    {"optionId": "1", "name": "No", "kind": "allow_once"},
    {"optionId": "2", "name": "Yes", "kind": "reject_once"},
]
one_piece = st.one_of(*(st.fixed_dictionaries({name: piece}) for name, piece in PIECES.items()))
near = st.builds(lambda good, other: {**good, **other}, st.sampled_from(NEAR), one_piece)

asks = st.tuples(st.just("ask"), call_ids, labels | near, options | st.just(plain))
whiches = st.integers(0, 5)
others = st.one_of(
    st.tuples(st.sampled_from(["tool_call", "tool_call_update"]), call_ids, labels),
    st.tuples(
        st.just("select"), whiches, st.sampled_from(["", "1", "2", "3", "allow", "allow_once", "bogus", None])
    ),
    st.tuples(st.just("reject"), whiches),
    st.tuples(st.just("withdraw"), whiches),
    st.tuples(st.sampled_from(["cancel", "end"])),
    st.tuples(st.just("turn"), st.sampled_from(sorted(POLICIES)), st.booleans()),
    st.tuples(st.just("flood"), st.integers(2, 12), call_ids, options),
)

steps = st.booleans().flatmap(lambda asks_now: asks if asks_now else others)


def told(call_id: str | None, given_: dict[str, Any]) -> dict[str, Any]:
    """The call as it goes over the wire."""
    call = {key: given_[key] for key in ("kind", "title", "status") if key in given_}
    for label, key, pieces in (
        ("locations", "locations", LOCATIONS),
        ("content", "content", CONTENTS),
        ("raw", "rawInput", INPUTS),
    ):
        if label in given_:
            call[key] = pieces[given_[label]]
    return call if call_id is None else {"toolCallId": call_id, **call}


# --- what each request must come to


@dataclass
class Call:
    """What is true of a call by now, and the turns in which it was shown."""

    pieces: dict[str, str] = field(default_factory=dict[str, str])
    turns: set[int] = field(default_factory=set[int])

    def hear(self, given_: dict[str, Any]) -> None:
        told_now = {key: value for key, value in given_.items() if key != "title"}
        if told_now.get("raw") == "absent":  # null: as it was
            del told_now["raw"]
        self.pieces |= told_now


@dataclass
class Asked:
    """A request: what it offers, and the answer that it has, or must get."""

    options: list[dict[str, Any]]
    answer: str | None = None  # an option's id; "cancelled" in `closed` says that none was
    closed: str = ""  # by whom


class Oracle:
    """Says what becomes of each request, by the rules as the documentation has them."""

    def __init__(self) -> None:
        self.calls: dict[str, Call] = {}
        self.asked: list[Asked] = []
        self.turn = 0
        self.over = True
        self.policy = "ask"
        self.attended = False

    def begin(self, policy: str, *, attended: bool) -> None:
        self.turn, self.over, self.policy, self.attended = self.turn + 1, False, policy, attended

    def call(self, call_id: str, *, announced: bool) -> Call:
        known = self.calls.get(call_id)
        if known is None or (announced and self.turn not in known.turns):
            known = self.calls[call_id] = Call(turns={self.turn})
        return known

    def ask(self, call_id: str | None, given_: dict[str, Any], offered: list[dict[str, Any]]) -> None:
        call = self.call(call_id or f"own {len(self.asked)}", announced=False)
        call.hear(given_)
        call.turns.add(self.turn)
        asked = Asked(offered)
        self.asked.append(asked)
        if self.over:
            asked.closed = "turn"
        elif self.policy == "reject":
            self.say_no(asked, "policy")
        elif self.rule_allows(call) and (yes := self.the_only(asked, "allow_once")) is not None:
            asked.answer, asked.closed = yes, "policy"
        elif not self.attended:
            self.say_no(asked, "nobody")

    def rule_allows(self, call: Call) -> bool:
        if call.turns != {self.turn}:
            return False
        kind, places = call.pieces.get("kind", "other"), call.pieces.get("locations", "none")
        content, raw = call.pieces.get("content", "none"), call.pieces.get("raw", "absent")
        within = (places == "inside" or (places == "none" and content == "diff")) and content in {
            "none",
            "text",
            "diff",
        }
        reads = kind in {"read", "search"} and within and content != "diff" and raw in {"absent", "reading"}
        edits = kind == "edit" and within and content == "diff" and raw in {"absent", "reading", "editing"}
        return {
            "allow-once-all": True,
            "read": reads,
            "edits": reads or edits,
        }.get(self.policy, False)

    @staticmethod
    def the_only(asked: Asked, kind: str) -> str | None:
        """The id of the only option of a kind, which no other option shares."""
        of_kind = [one["optionId"] for one in asked.options if one["kind"] == kind]
        ids = Counter(one["optionId"] for one in asked.options)
        return of_kind[0] if len(of_kind) == 1 and ids[of_kind[0]] == 1 else None

    @staticmethod
    def say_no(asked: Asked, by: str) -> None:
        ids = Counter(one["optionId"] for one in asked.options)
        no = (one["optionId"] for one in asked.options if one["kind"] == "reject_once")
        asked.answer, asked.closed = next((one for one in no if ids[one] == 1), None), by

    def waiting(self, which: int) -> Asked | None:
        asked = self.asked[which] if which < len(self.asked) else None
        return asked if asked is not None and not asked.closed else None

    def select(self, which: int, option_id: str | None) -> None:
        asked = self.waiting(which)
        if asked and (option_id is None or any(one["optionId"] == option_id for one in asked.options)):
            asked.answer, asked.closed = option_id, "you"

    def finish(self, by: str = "turn") -> None:
        self.over = True
        for asked in self.asked:
            asked.closed = asked.closed or by


# --- the client's side, without an agent's process and without a kernel


class Client(Recorder):
    """Updates and requests go where a session would take them."""

    def __init__(self) -> None:
        super().__init__()
        self.state = SessionState()
        self.now = 1000.0
        self.attended = False
        self.broker = PermissionBroker(
            self.state,
            self.apply,
            lambda: Roots(HOME),
            lambda _turn: self.attended,
            answer_s=lambda: None,
            cancel=lambda _turn: None,
        )

    def apply(self, event: events.Event) -> None:
        self.now += 1
        reduce(self.state, event, self.now)

    def session_update(self, _session_id: str, update: dict[str, Any]) -> None:
        self.apply(events.SessionUpdate(update))

    async def request_permission(self, params: dict[str, Any]) -> dict[str, Any]:
        return await self.broker.ask(params)

    def begin(self, policy: str, *, attended: bool) -> None:
        number = len(self.state.turns) + 1
        self.attended = attended
        turn = Turn(f"t{number}", number, AgentInfo("x", "X"), HOME, [], policy=policy)
        self.apply(events.TurnStarted(turn))
        self.apply(events.SessionOpened("s1", {}))
        self.apply(events.PromptSent())

    def decide(self, which: int, option_id: str | None) -> None:
        with contextlib.suppress(PermissionClosed, UsageError):
            self.broker.decide(f"p{which + 1}", option_id)

    def reject(self, which: int) -> None:
        with contextlib.suppress(PermissionClosed):
            self.broker.reject(f"p{which + 1}")


class Game:
    """Plays steps against the client, and tells the oracle of each."""

    def __init__(self) -> None:
        self.wire, self.client, self.oracle = Wire(), Client(), Oracle()
        self.connection = Connection(self.wire, self.client, capabilities={}, client_info=INFO)
        self.replies: list[dict[str, Any]] = []
        self._markers = 0

    async def open(self) -> None:
        begun = asyncio.ensure_future(self.connection.initialize(30))
        await self.wire.next()
        self.wire.arrive(json.dumps(message(id=0, result={"protocolVersion": 1})).encode() + b"\n")
        await begun

    async def write(self, *lines: dict[str, Any]) -> None:
        """Let lines arrive, and wait until all that can be answered at once is answered."""
        self._markers += 1
        marker = f"marker {self._markers}"
        every = [*lines, message(id=marker, method="_marker")]
        self.wire.arrive(b"".join(json.dumps(line).encode() + b"\n" for line in every))
        while (reply := await self.wire.next())["id"] != marker:
            self.replies.append(reply)
        for _ in range(20):  # answers that the last lines have brought about
            await asyncio.sleep(0)

    def request(self, call_id: str | None, given_: dict[str, Any], offered: list[Any]) -> dict[str, Any]:
        self.oracle.ask(call_id, given_, offered)
        params = {"sessionId": "s1", "toolCall": told(call_id, given_), "options": offered}
        number = 100 + len(self.oracle.asked) - 1
        return message(id=number, method="session/request_permission", params=params)

    async def step(self, name: str, *args: Any) -> None:
        oracle, client = self.oracle, self.client
        if name == "ask":
            await self.write(self.request(*args))
        elif name == "flood":
            count, call_id, offered = args
            await self.write(*(self.request(call_id, {"title": str(n)}, offered) for n in range(count)))
        elif name in {"tool_call", "tool_call_update"}:
            await self.update(name, *args)
        elif name == "withdraw":
            (which,) = args
            if asked := oracle.waiting(which):
                asked.closed = "agent"
            await self.write(message(method="$/cancel_request", params={"requestId": 100 + which}))
        elif name == "select":
            oracle.select(*args)
            client.decide(*args)
        elif name == "reject":
            (which,) = args
            if asked := oracle.waiting(which):
                oracle.say_no(asked, "you")
            client.reject(which)
        elif name == "turn":
            policy, attended = args
            self.close(events.TurnEnded({"stopReason": "end_turn"}))
            oracle.begin(policy, attended=attended)
            client.begin(policy, attended=attended)
        else:
            self.close(events.CancelRequested() if name == "cancel" else events.TurnEnded({}))
        await self.write()

    async def update(self, name: str, call_id: str | None, given_: dict[str, Any]) -> None:
        if call_id is not None:  # without an id it is kept raw
            self.oracle.call(call_id, announced=name == "tool_call").hear(given_)
        update = {"sessionUpdate": name, **told(call_id, given_)}
        await self.write(message(method="session/update", params={"sessionId": "s1", "update": update}))

    def close(self, event: events.Event) -> None:
        self.client.apply(event)
        self.client.broker.close_all("it is over")
        self.oracle.finish()


async def play(policy: str, *, attended: bool, played: list[tuple[Any, ...]]) -> None:
    faults: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context))
    game = Game()
    await game.open()
    game.oracle.begin(policy, attended=attended)
    game.client.begin(policy, attended=attended)
    for name, *args in played:
        await game.step(name, *args)
        check_shown(game)
    game.close(events.TurnEnded({"stopReason": "end_turn"}))
    await game.write()
    check(game)
    await game.connection.close()
    assert faults == []


def check(game: Game) -> None:
    asked = game.oracle.asked
    answers = Counter(reply["id"] for reply in game.replies)
    assert answers == Counter({100 + n: 1 for n in range(len(asked))}), "each once"
    outcomes = {reply["id"] - 100: reply["result"]["outcome"] for reply in game.replies}
    for n, one in enumerate(asked):
        expected = {"outcome": "cancelled"}
        if one.answer is not None:
            expected = {"outcome": "selected", "optionId": one.answer}
        assert outcomes[n] == expected, (n, one)
        found = game.client.state.find_permission(f"p{n + 1}")
        assert found is not None
        assert found[1].decided_by == one.closed, (n, one)
        allows = any(o["optionId"] == one.answer and o["kind"].startswith("allow") for o in one.options)
        assert not allows or one.closed in {"you", "policy"}


def check_shown(game: Game) -> None:
    """Whatever was said, the card, the HTML and the text can be drawn, and say what waits."""
    turn = game.client.state.turns[-1]
    document = json.loads(json.dumps(to_json(turn)))
    assert to_json(from_json(document))["permissions"].keys() == document["permissions"].keys()
    assert turn_text(turn)
    assert "<script" not in turn_html(turn)
    for permission in turn.pending:
        text = permission_text(turn, permission)
        for warning in permission.warnings:
            assert warning.text.partition("\n")[0] in text
    waits = sum(not one.closed for one in game.oracle.asked)
    assert len(turn.pending) == waits


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(sorted(POLICIES)), st.booleans(), st.lists(steps, max_size=15))
def test_p3_p5_p8_no_lie_is_allowed(policy: str, attended: bool, played: list[tuple[Any, ...]]) -> None:  # noqa: FBT001  # given by hypothesis
    asyncio.run(play(policy, attended=attended, played=played))
