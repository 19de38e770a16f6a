"""A scripted agent: a real subprocess that plays a script over stdio.

    python -m acp_jupyter.testing.fake_agent SCRIPT.json [--record FILE]

A script is a list of steps (one turn, played for each prompt) or an object whose members are optional:

- `initialize`: merged over the response; `{"error": {...}}` and `{"never": true}` answer so instead.
- `new_session`: the same for `session/new`; a list holds one answer for each session, the last one for all
  that follow. `"until": "authenticate"` in it: only until the client has authenticated.
- `turns`: a list of lists of steps, one for each prompt of a session; the last one is played again and again.
- `start`: steps played before anything is read; `before_new_session`, `after_new_session`: around it.
- `methods`: other requests: `{"session/set_mode": {"steps": [...], "result": ...}}`, or `error`, or `never`.
  A request that the client withdraws (`$/cancel_request`) is answered by the error for that.
- `ignore_eof`: true: lives on after the client has closed our stdin.

The steps are in `acp_jupyter.testing.steps`. A client's mistake is a line `complaint: ...` on stderr.

Spec: https://agentclientprotocol.com/protocol/overview
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_jupyter.testing.server import Agent, Session, Turn
from acp_jupyter.testing.stdio import rpc_error
from acp_jupyter.testing.steps import Player, ScriptError, check
from acp_jupyter.testing.strict import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Sequence

_KEYS = frozenset(
    "initialize new_session turns start before_new_session after_new_session methods ignore_eof".split()
)
_INITIALIZE: dict[str, Any] = {
    "protocolVersion": 1,
    "agentInfo": {"name": "fake", "title": "Fake agent", "version": "1.0.0"},
    "agentCapabilities": {"loadSession": False},
    "authMethods": [],
}


class FakeAgent(Agent):
    """Plays a script.

    Args:
        script: As `load_script` returns it.
        record: A file that gets every frame.
    """

    def __init__(self, script: dict[str, Any], record: str | None = None) -> None:
        super().__init__(record)
        self._script = script
        self._players: dict[str, Player] = {}
        self._authenticated = False

    async def run(self) -> None:
        """Play `start`, then serve."""
        await Player(self).play(self._script.get("start", []))
        await super().run()
        if self._script.get("ignore_eof"):
            await _never()

    async def on_initialize(self, _params: dict[str, Any]) -> dict[str, Any]:
        """Answer as the script says."""
        return await _answer(_INITIALIZE, self._script.get("initialize", {}))

    async def on_new_session(self, session: Session) -> dict[str, Any]:
        """Answer as the script says for this session."""
        result = await _answer({"sessionId": session.session_id}, self._new_session_answer())
        player = Player(self)
        player.values |= {"cwd": session.cwd, "session_id": result["sessionId"], "session": session.params}
        self._players[result["sessionId"]] = player
        await player.play(self._script.get("before_new_session", []))
        return result

    async def after_new_session(self, session: Session) -> None:
        """Play the steps that follow the answer."""
        await self._players[session.session_id].play(self._script.get("after_new_session", []))

    async def on_restore(self, method: str, session: Session) -> Any:
        """Play the steps of `methods` for it, the history, and answer as it says."""
        answer = self._script.get("methods", {}).get(method)
        if answer is None:
            return await super().on_restore(method, session)
        player = Player(self)
        player.values |= {"cwd": session.cwd, "session_id": session.session_id, "session": session.params}
        await player.play(answer.get("steps", []))
        result = await _answer(None, answer)
        new_id = result["sessionId"] if method == "session/fork" else session.session_id
        player.values["session_id"] = new_id
        self._players[new_id] = player
        return result

    async def on_prompt(self, turn: Turn) -> dict[str, Any]:
        """Play the turn of this prompt's number."""
        player = self._players[turn.session.session_id]
        player.turn = turn
        player.values |= {"prompt": turn.prompt, "prompt_id": turn.request_id}
        turns: list[list[Any]] = self._script.get("turns") or [[]]
        await player.play(turns[min(turn.number, len(turns) - 1)])
        return player.result

    async def on_other(self, method: str, params: dict[str, Any]) -> Any:
        """Answer from `methods`; `authenticate` also without."""
        answer = self._script.get("methods", {}).get(method, {} if method == "authenticate" else None)
        if answer is None:
            return await super().on_other(method, params)
        player = self._players.get(params.get("sessionId", ""), Player(self))
        await player.play(answer.get("steps", []))
        result = await _answer(None, answer)
        self._authenticated = self._authenticated or method == "authenticate"
        return result

    def _new_session_answer(self) -> dict[str, Any]:
        answers = self._script.get("new_session", {})
        if is_array(answers):
            answers = answers[min(len(self.sessions), len(answers) - 1)]
        if answers.get("until") == "authenticate" and self._authenticated:
            return {}
        return {key: value for key, value in answers.items() if key != "until"}


async def _answer(base: Any, scripted: dict[str, Any]) -> Any:
    """A response of the script: an error, silence, a result, or a change of ours."""
    if scripted.get("never"):
        await _never()
    if "error" in scripted:
        raise rpc_error(scripted["error"])
    return scripted.get("result", {}) if base is None else _merge(base, scripted)


def _merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        under = base.get(key)
        merged[key] = _merge(under, value) if is_object(under) and is_object(value) else value
    return merged


async def _never() -> None:
    await asyncio.Event().wait()


def load_script(source: Any) -> dict[str, Any]:
    """A script in its full form, checked.

    Args:
        source: A list of steps, or an object; see this module's docstring.

    Raises:
        ScriptError: It cannot be played.
    """
    script: Any = {"turns": [source]} if is_array(source) else source
    if not is_object(script):
        raise ScriptError("a script is a list of steps, or an object")
    if unknown := script.keys() - _KEYS:
        raise ScriptError(f"a script has no {', '.join(sorted(unknown))}; it has {', '.join(sorted(_KEYS))}")
    for turn in script.get("turns", []):
        check(turn)
    for name in ("start", "before_new_session", "after_new_session"):
        check(script.get(name, []))
    for answer in script.get("methods", {}).values():
        check(answer.get("steps", []))
    return script


async def _serve(script: dict[str, Any], record: str | None) -> None:
    await FakeAgent(script, record).run()


def main(arguments: Sequence[str] | None = None) -> int:
    """The program: plays a script until stdin ends; returns its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m acp_jupyter.testing.fake_agent", description="A scripted ACP agent over stdio."
    )
    parser.add_argument("script", type=Path, help="a JSON file: a list of steps, or an object")
    parser.add_argument("--record", metavar="FILE", help="write every frame to FILE, one JSON object a line")
    chosen = parser.parse_args(arguments)
    try:
        script = load_script(json.loads(chosen.script.read_text("utf-8")))
        asyncio.run(_serve(script, chosen.record))
    except (OSError, ValueError, ScriptError) as error:
        print(f"{chosen.script}: {error}", file=sys.stderr)  # noqa: T201 - a program's last word
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
