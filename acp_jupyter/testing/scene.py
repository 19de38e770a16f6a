"""The demo's one scene: thought, plan, read, edit (asked), run (asked), answer.

Spec: https://agentclientprotocol.com/protocol/tool-calls
"""

from __future__ import annotations

import asyncio
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_jupyter.testing.hands import Hands, HandsError
from acp_jupyter.testing.permissions import Operation, Permissions
from acp_jupyter.testing.scratch import FOLDER, RIGHT, TARGET, WRONG, Scratch, line_of
from acp_jupyter.testing.steps import pieces

if TYPE_CHECKING:
    from acp_jupyter.testing.server import Agent, Turn

_WORD_S = 0.025  # the whole scene takes 3 to 4 seconds, without the waiting for people
_PAUSE_S = 0.3
_PLAN = ("Read the code under test", "Correct `median`", "Run the tests")
_PRIORITIES = ("high", "high", "medium")
_CONTEXT_TOKENS = 200_000
_COMMAND = [sys.executable, "-m", "unittest", "-v"]

INTRODUCTION = f"""\
I am a **scripted demonstration**: no model, no key, no network. Whatever the task says, I repair the one \
failing test of a tiny project, in a scratch copy at `{FOLDER}/`, and ask before I edit or run anything."""
STATES = {
    "made": " I have just made the copy.",
    "reset": " Its tests pass already, from an earlier turn: I have put the bug back and start over.",
    "kept": " I go on with the copy as I found it.",
}
STRANGE = f"`{FOLDER}/{TARGET}` is not as I know it, so I change nothing. `/reset` puts it back."


class Voice:
    """Streams what the demo says in a turn, word by word.

    Args:
        agent: Whose client listens.
        turn: The turn.
        delay_factor: On every delay; 0 for none.
    """

    def __init__(self, agent: Agent, turn: Turn, delay_factor: float) -> None:
        self.agent = agent
        self.turn = turn
        self.session_id = turn.session.session_id
        self.said = 0
        self._delay_factor = delay_factor
        self._messages = 0

    def update(self, kind: str, /, **fields: Any) -> None:
        """Send a `session/update`."""
        self.agent.update(self.session_id, {"sessionUpdate": kind, **fields})

    async def say(self, text: str) -> None:
        """A message."""
        await self._stream("agent_message_chunk", text)

    async def think(self, text: str) -> None:
        """A thought."""
        await self._stream("agent_thought_chunk", text)

    async def pause(self, seconds: float = _PAUSE_S) -> None:
        """Give the reader time."""
        await asyncio.sleep(seconds * self._delay_factor)

    async def _stream(self, kind: str, text: str) -> None:
        self._messages += 1
        message_id = f"message-{self.turn.number + 1}-{self._messages}"
        for piece in pieces(text, "words"):
            self.update(kind, content={"type": "text", "text": piece}, messageId=message_id)
            self.said += len(piece)
            await self.pause(_WORD_S)


class Scene:
    """One turn of the demo.

    Args:
        voice: Speaks in the turn.
        scratch: The scratch copy.
        permissions: The session's.
    """

    def __init__(self, voice: Voice, scratch: Scratch, permissions: Permissions) -> None:
        agent = voice.agent
        self._voice = voice
        self._scratch = scratch
        self._permissions = permissions
        self._hands = Hands(agent.connection, voice.session_id, agent.client_capabilities)
        self._call: dict[str, Any] = {}  # the tool call at hand, while it is unfinished

    async def play(self) -> None:
        """Play it; ends early where something is refused."""
        voice = self._voice
        state = self._scratch.prepare()
        await voice.say(INTRODUCTION + STATES[state])
        self._plan(0)
        try:
            await self._read()
            self._plan(1)
            await voice.think(
                "With an even number of values there are two in the middle, and `median` takes one."
            )
            if await self._edit():
                self._plan(2)
                await self._run()
        except HandsError as error:
            if self._call:
                self._finish("failed", str(error))
            await voice.say(f"That did not work: {error}")
        tokens = (len(voice.turn.text) + voice.said) // 4  # the usual rule of thumb
        voice.update(
            "usage_update", used=tokens, size=_CONTEXT_TOKENS, cost={"amount": 0.0, "currency": "USD"}
        )

    async def _read(self) -> None:
        path = self._scratch.directory / TARGET
        await self._voice.think(f"The failing test is `test_even_count`. It tests `median`, in `{TARGET}`.")
        self._begin(
            toolCallId=self._call_id("read"),
            title=f"Read {FOLDER}/{TARGET}",
            name="read_file",
            kind="read",
            status="in_progress",
            locations=[{"path": str(path), "line": 1}],
            rawInput={"path": str(path)},
        )
        text = await self._hands.read(path)
        await self._voice.pause()
        self._finish(
            "completed",
            f"```python\n{text}```",
            locations=[{"path": str(path), "line": line_of(text, "def median")}],
            rawOutput={"lines": text.count("\n"), "content": text},
        )

    async def _edit(self) -> bool:
        operation = await self._permissions.permitted(self._describe_edit, self._changed)
        if isinstance(operation, str):
            self._finish("failed", operation)
            await self._voice.say(f"{operation} I change nothing, and stop here.")
            return False
        path, _, new = operation.identity
        self._progress(operation.call)
        await self._hands.write(Path(path), new)
        self._finish("completed", rawOutput={"path": path, "replacements": 1})
        return True

    async def _describe_edit(self) -> Operation:
        target = self._scratch.resolved(TARGET)
        old = await self._hands.read(target)
        if WRONG not in old:
            raise HandsError(STRANGE)
        new = old.replace(WRONG, RIGHT)
        inside = self._scratch.holds(target)
        self._call = {
            "toolCallId": self._call_id("edit"),
            "title": f"Edit {FOLDER}/{TARGET}: average the two middle values",
            "name": "edit_file",
            "kind": "edit",
            "status": "pending",
            "locations": [{"path": str(target), "line": line_of(old, WRONG)}],
            "content": [{"type": "diff", "path": str(target), "oldText": old, "newText": new}],
            "rawInput": {"path": str(target), "old": WRONG, "new": RIGHT},
        }
        return Operation(
            self._call,
            (str(target), old, new),
            ("edit", str(self._scratch.real_directory)) if inside else None,
            ("allow-edits", f"Always allow edits in {FOLDER}/"),
        )

    async def _run(self) -> None:
        operation = await self._permissions.permitted(self._describe_run, self._changed)
        if isinstance(operation, str):
            self._finish("failed", operation)
            await self._voice.say(f"{operation} The edit stands; its tests have not been run.")
            return
        self._progress(operation.call)
        ran = await self._hands.run(_COMMAND, self._scratch.directory, self._show_terminal)
        text = "" if self._hands.client_runs else f"```\n{ran.output}```"
        passed = ran.exit_code == 0
        raw_output = {"exitCode": ran.exit_code, "output": ran.output}
        self._finish("completed" if passed else "failed", text, rawOutput=raw_output)
        self._plan(3)
        await self._voice.say(_summary(passed=passed))

    async def _describe_run(self) -> Operation:
        directory = self._scratch.directory
        command = shlex.join(_COMMAND)
        identity = ("run", command, str(directory.resolve()))
        self._call = {
            "toolCallId": self._call_id("run"),
            "title": f"Run the tests in {FOLDER}/",
            "name": "run_command",
            "kind": "execute",
            "status": "pending",
            "locations": [{"path": str(directory)}],
            "rawInput": {"command": command, "cwd": str(directory)},
        }
        scope = identity if self._scratch.holds(directory) else None
        return Operation(
            self._call, identity, scope, ("allow-command", f"Always allow this command in {FOLDER}/")
        )

    async def _changed(self, operation: Operation) -> None:
        self._voice.update("tool_call_update", **operation.call)
        await self._voice.say("What I asked about has changed meanwhile, so I ask again.")

    def _show_terminal(self, terminal_id: str) -> None:
        self._progress({**self._call, "content": [{"type": "terminal", "terminalId": terminal_id}]})

    def _call_id(self, what: str) -> str:
        return f"{what}-{self._voice.turn.number + 1}"

    def _begin(self, **call: Any) -> None:
        self._call = call
        self._voice.update("tool_call", **call)

    def _progress(self, call: dict[str, Any]) -> None:
        self._call = {**call, "status": "in_progress"}
        self._voice.update("tool_call_update", **self._call)

    def _finish(self, status: str, text: str = "", **fields: Any) -> None:
        """End the tool call at hand; a text is added to its content, which an update replaces as a whole."""
        if text:
            block = {"type": "content", "content": {"type": "text", "text": text}}
            fields["content"] = [*self._call.get("content", []), block]
        self._voice.update("tool_call_update", toolCallId=self._call["toolCallId"], status=status, **fields)
        self._call = {}

    def _plan(self, done: int) -> None:
        statuses = [
            "completed" if i < done else "in_progress" if i == done else "pending" for i in range(len(_PLAN))
        ]
        entries = [
            {"content": content, "priority": priority, "status": status}
            for content, priority, status in zip(_PLAN, _PRIORITIES, statuses, strict=True)
        ]
        self._voice.update("plan", entries=entries)


def _summary(*, passed: bool) -> str:
    if not passed:
        return "The tests still fail: their output above says where. `/reset` starts from the beginning."
    return f"""\
All three tests pass. `median` now averages the two middle values:

| values | before | now |
|---|---|---|
| `[5, 1, 3]` | `3` | `3` |
| `[4, 1, 3, 2]` | `3` | `2.5` |

The change is in `{FOLDER}/{TARGET}`; nothing else was touched."""
