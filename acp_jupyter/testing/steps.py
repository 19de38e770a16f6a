"""The steps of a script: what the fake agent can be told to do. Each verb is one function.

A step is an object with one verb and its options. In every string `${name.path}`, and in place of any value
`{"$": "name.path"}`, stand for what was saved: the result of a request, `cwd`, `session_id`, `prompt` (its
blocks), `prompt_id`, `i` (in a `repeat`). An error answer is saved as `{"error": {...}}`.

Spec: https://agentclientprotocol.com/protocol/prompt-turn
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from acp_jupyter.testing.player import Player, ScriptError, check, verb
from acp_jupyter.testing.stdio import rpc_error

if TYPE_CHECKING:
    from acp_jupyter.testing.player import Step

__all__ = [
    "Player",
    "ScriptError",
    "check",
    "pieces",
]  # whoever plays a script needs this table of verbs filled

_POLL_S = 0.01


@verb("update")
async def _update(player: Player, step: Step) -> None:
    """A `session/update` of any shape."""
    player.update(step["update"])


@verb("text", "chunks", "delay_s", "message_id")
async def _text(player: Player, step: Step) -> None:
    """A message; `chunks`: into so many pieces, or `"words"`; `delay_s` after each."""
    await _stream(player, step, "agent_message_chunk")


@verb("thought", "chunks", "delay_s", "message_id")
async def _thought(player: Player, step: Step) -> None:
    """A thought, as `text`."""
    await _stream(player, step, "agent_thought_chunk")


@verb("line_of")
async def _line_of(player: Player, step: Step) -> None:
    """A message chunk of so many bytes, in one line."""
    player.say("x" * step["line_of"])


@verb("echo_prompt")
async def _echo_prompt(player: Player, _step: Step) -> None:
    """A message chunk with the JSON of the prompt as it came."""
    player.say(json.dumps(player.lookup("prompt"), ensure_ascii=False))


@verb("report")
async def _report(player: Player, step: Step) -> None:
    """A message chunk with a fact about this process: `env:NAME`, `cwd`, `pid`, `argv`."""
    what: str = step["report"]
    if what.startswith("env:"):
        player.say(os.environ.get(what[4:], "<not set>"))
        return
    facts = {"cwd": str(Path.cwd()), "pid": str(os.getpid()), "argv": json.dumps(sys.argv)}
    if what not in facts:
        raise ScriptError(f"cannot report {what!r}")
    player.say(facts[what])


@verb("request", "params", "save", "wait", "id")
async def _request(player: Player, step: Step) -> None:
    """A request to the client; `wait: false` goes on at once, `await` waits for it later."""
    params = {"sessionId": player.values.get("session_id"), **step.get("params", {})}
    name = step.get("save", "")
    player.requests[name] = player.agent.connection.open_request(step["request"], params, step.get("id", ...))
    if step.get("wait", True):
        await player.settle(name)


@verb("await")
async def _await(player: Player, step: Step) -> None:
    """Wait for the answer to a request sent with `wait: false`."""
    await player.settle(step["await"])


@verb("withdraw")
async def _withdraw(player: Player, step: Step) -> None:
    """`$/cancel_request` for an open request of that name; its answer still comes."""
    pending = player.requests[step["withdraw"]]
    player.agent.connection.notify("$/cancel_request", {"requestId": pending.request_id})


@verb("notify", "params")
async def _notify(player: Player, step: Step) -> None:
    """Any notification."""
    player.agent.connection.notify(step["notify"], step.get("params", {}))


@verb("send")
async def _send(player: Player, step: Step) -> None:
    """Any JSON as one line."""
    player.agent.connection.send(step["send"])


@verb("raw", literal=("raw",))
async def _raw(player: Player, step: Step) -> None:
    """Text on stdout as it is, and a newline."""
    player.agent.connection.write_raw(step["raw"].encode("utf-8", "surrogatepass") + b"\n")


@verb("raw_bytes_b64", literal=("raw_bytes_b64",))
async def _raw_bytes(player: Player, step: Step) -> None:
    """Bytes on stdout, no newline added."""
    player.agent.connection.write_raw(base64.b64decode(step["raw_bytes_b64"]))


@verb("stderr")
async def _stderr(_player: Player, step: Step) -> None:
    """A line on stderr."""
    _to_stderr(step["stderr"].encode() + b"\n")


@verb("stderr_bytes")
async def _stderr_bytes(_player: Player, step: Step) -> None:
    """So many bytes on stderr, in lines of 80."""
    line = b"." * 79 + b"\n"
    _to_stderr((line * (step["stderr_bytes"] // 80 + 1))[: step["stderr_bytes"]])


@verb("sleep_s")
async def _sleep(_player: Player, step: Step) -> None:
    """Wait; a cancel is heard meanwhile."""
    await asyncio.sleep(step["sleep_s"])


@verb("until_file")
async def _until_file(_player: Player, step: Step) -> None:
    """Wait until a file is there: how a test says go."""
    while not os.path.exists(step["until_file"]):  # noqa: ASYNC110, ASYNC240, PTH110 - the test is another process; a stat is instant
        await asyncio.sleep(_POLL_S)


@verb("until_cancel")
async def _until_cancel(player: Player, _step: Step) -> None:
    """Wait for `session/cancel`; what follows is played only after `ignore_cancel`."""
    await player.open_turn().cancelled.wait()
    await asyncio.sleep(0)  # the cancel of this task, if it comes, comes here


@verb("ignore_cancel")
async def _ignore_cancel(player: Player, step: Step) -> None:
    """From here on a cancel does not end the turn."""
    player.open_turn().ignore_cancel = bool(step["ignore_cancel"])


@verb("if", "then", "else", literal=("if", "then", "else"))
async def _if(player: Player, step: Step) -> None:
    """`then` where all of `{path: value}` hold, else `else`."""
    await player.play(step.get("then", []) if player.holds(step["if"]) else step.get("else", []))


@verb("repeat", "steps", literal=("steps",))
async def _repeat(player: Player, step: Step) -> None:
    """Play `steps` so many times; `${i}` counts from 0."""
    for i in range(step["repeat"]):
        player.values["i"] = i
        await player.play(step["steps"])


@verb("end")
async def _end(player: Player, step: Step) -> None:
    """Answer the prompt now, this over `end_turn`; `null`: never. What follows plays outside the turn."""
    answer = None if step["end"] is None else {**player.result, **step["end"]}
    player.agent.finish(player.open_turn(), answer)


@verb("end_error")
async def _end_error(player: Player, step: Step) -> None:
    """Answer the prompt with an error."""
    player.agent.finish(player.open_turn(), rpc_error(step["end_error"]))


@verb("exit")
async def _exit(_player: Player, step: Step) -> None:
    """End this process with that exit code."""
    os._exit(step["exit"])


@verb("kill_self")
async def _kill_self(_player: Player, _step: Step) -> None:
    """End this process by SIGKILL."""
    os.kill(os.getpid(), signal.SIGKILL)


@verb("close_stdin")
async def _close_stdin(player: Player, _step: Step) -> None:
    """Close our stdin and live on."""
    player.agent.connection.close_stdin()


@verb("close_stdout")
async def _close_stdout(player: Player, _step: Step) -> None:
    """Close our stdout and live on."""
    os.close(player.agent.connection.out_fd)


@verb("ignore_term")
async def _ignore_term(_player: Player, _step: Step) -> None:
    """From here on SIGTERM does not end this process."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


@verb("spawn", "ignore_term", "new_session", "hold_stdout", "save", literal=("spawn",))
async def _spawn(player: Player, step: Step) -> None:
    """Start a child that outlives us (`"python"` is this one); saved as `{"pid": n}`."""
    command: list[str] = step["spawn"]
    kept = signal.getsignal(signal.SIGTERM)
    if step.get("ignore_term"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # an ignored signal stays ignored in a child
    child = subprocess.Popen(  # noqa: ASYNC220 - it is meant to outlive us
        [sys.executable if command[0] == "python" else command[0], *command[1:]],
        stdin=subprocess.DEVNULL,
        stdout=player.agent.connection.out_fd if step.get("hold_stdout") else subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=bool(step.get("new_session")),
    )
    signal.signal(signal.SIGTERM, kept)
    player.values[step.get("save", "child")] = {"pid": child.pid}


async def _stream(player: Player, step: Step, kind: str) -> None:
    text: str = step["text" if kind == "agent_message_chunk" else "thought"]
    for piece in pieces(text, step.get("chunks", 1)):
        player.say(piece, kind, step.get("message_id"))
        if "delay_s" in step:
            await asyncio.sleep(step["delay_s"])


def pieces(text: str, chunks: int | str) -> list[str]:
    """A text in so many pieces, or in `"words"`; joined, they are the text."""
    if chunks == "words":
        return re.findall(r"\s*\S+\s*$|\s*\S+", text) or [text]
    count = int(chunks)
    cuts = [len(text) * i // count for i in range(count + 1)]
    return [text[start:end] for start, end in itertools.pairwise(cuts)]


def _to_stderr(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(2, view) :]
