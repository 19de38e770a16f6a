"""Plays a script's steps: saved values, placeholders, and the table of verbs.

Spec: https://agentclientprotocol.com/protocol/prompt-turn
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_jupyter.testing.stdio import INTERNAL_ERROR, Pending, RpcError
from acp_jupyter.testing.strict import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from acp_jupyter.testing.server import Agent, Turn

_PLACEHOLDER = re.compile(r"\$\{([a-z_][a-zA-Z0-9_.]*)\}")  # lower case first: `${HOME}` is the shell's


class ScriptError(RpcError):
    """The script asks for something that does not exist.

    Args:
        fault: What is wrong with it.
    """

    def __init__(self, fault: str) -> None:
        super().__init__(INTERNAL_ERROR, f"script error: {fault}")


@dataclass
class Player:
    """Plays steps for a session, or before there is one (then only what needs none)."""

    agent: Agent
    turn: Turn | None = None
    values: dict[str, Any] = field(default_factory=dict[str, Any])
    requests: dict[str, Pending] = field(default_factory=dict[str, Pending])
    result: dict[str, Any] = field(default_factory=lambda: {"stopReason": "end_turn"})

    async def play(self, steps: list[Any]) -> None:
        """Play steps in order.

        Raises:
            ScriptError: A placeholder names nothing.
        """
        for step in steps:
            verb = VERBS[verb_of(step)]
            raw = verb.literal
            await verb.play(
                self, {key: value if key in raw else self.fill(value) for key, value in step.items()}
            )

    def update(self, update: Any) -> None:
        """Send a `session/update`."""
        self.agent.update(self.lookup("session_id"), update)

    def say(self, text: str, kind: str = "agent_message_chunk", message_id: str | None = None) -> None:
        """Send a chunk of text."""
        more = {"messageId": message_id} if message_id else {}
        self.update({"sessionUpdate": kind, "content": {"type": "text", "text": text}, **more})

    def lookup(self, path: str) -> Any:
        """The saved value at a dotted path.

        Raises:
            ScriptError: There is none.
        """
        value: Any = self.values
        for key in path.split("."):
            try:
                value = value[int(key)] if is_array(value) else value[key]
            except (KeyError, IndexError, TypeError, ValueError):  # noqa: PERF203 - a path has few parts
                raise ScriptError(f"nothing is saved as {path!r}") from None
        return value

    def fill(self, value: Any) -> Any:
        """A value of the script with its placeholders replaced."""
        if isinstance(value, str):
            return _PLACEHOLDER.sub(lambda match: _as_text(self.lookup(match[1])), value)
        if is_array(value):
            return [self.fill(item) for item in value]
        if is_object(value):
            if value.keys() == {"$"}:
                return self.lookup(value["$"])
            return {key: self.fill(item) for key, item in value.items()}
        return value

    def holds(self, conditions: dict[str, Any]) -> bool:
        """Whether every path has its expected value; a path that leads nowhere is a no."""
        for path, expected in conditions.items():
            try:
                if self.lookup(path) != expected:
                    return False
            except ScriptError:  # noqa: PERF203 - as above
                return False
        return True

    def open_turn(self) -> Turn:
        """The turn that is being played.

        Raises:
            ScriptError: There is none.
        """
        if self.turn is None:
            raise ScriptError("this step needs a turn")
        return self.turn

    async def settle(self, name: str) -> None:
        """Wait for a request that was sent without waiting."""
        if name not in self.requests:
            raise ScriptError(f"no request was saved as {name!r}")
        try:
            self.values[name] = await self.requests[name].answer()
        except RpcError as error:
            self.values[name] = {"error": error.to_json()}


Step = dict[str, Any]


class Verb(NamedTuple):
    """What a verb does, its options, and which of its members are left as they are (nested steps, paths)."""

    play: Callable[[Player, Step], Coroutine[Any, Any, None]]
    options: frozenset[str]
    literal: frozenset[str]


VERBS: dict[str, Verb] = {}


def verb(name: str, *options: str, literal: tuple[str, ...] = ()) -> Callable[[Any], Any]:
    """Register a coroutine function as what a verb does; see `Verb`."""

    def register(function: Any) -> Any:
        VERBS[name] = Verb(function, frozenset(options), frozenset(literal))
        return function

    return register


def verb_of(step: Any) -> str:
    """The one verb of a step.

    Raises:
        ScriptError: It has none, or two, or an option that the verb does not know.
    """
    if not is_object(step):
        raise ScriptError(f"a step is an object, not {step!r}"[:200])
    named = [key for key in step if key in VERBS]
    # `ignore_term` is a verb, and an option of `spawn`
    verbs = [key for key in named if not any(key in VERBS[other].options for other in named)]
    shown = json.dumps(step)[:200]
    if len(verbs) != 1:
        raise ScriptError(f"a step has one of {', '.join(sorted(VERBS))}: {shown}")
    if unknown := step.keys() - VERBS[verbs[0]].options - {verbs[0]}:
        raise ScriptError(f"`{verbs[0]}` has no option {', '.join(sorted(unknown))}: {shown}")
    return verbs[0]


def check(steps: Any) -> None:
    """See that steps can be played, also the nested ones.

    Raises:
        ScriptError: They cannot.
    """
    if not is_array(steps):
        raise ScriptError(f"steps are an array, not {steps!r}"[:200])
    for step in steps:
        verb_of(step)
        for nested in ("then", "else", "steps"):
            if nested in step:
                check(step[nested])


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
