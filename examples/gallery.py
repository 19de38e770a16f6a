"""Every kind of card in every state, without an agent: what one could have sent, played into turns.

``gallery.ipynb`` shows them; ``python gallery.py`` prints their documents, for the front end's own gallery.
"""

from __future__ import annotations

import base64
import json
import struct
import sys
import zlib
from typing import TYPE_CHECKING, Any

from acp_jupyter.model import events
from acp_jupyter.model.reduce import reduce
from acp_jupyter.model.request_warnings import RequestWarning
from acp_jupyter.model.state import SessionState
from acp_jupyter.model.transcript import to_json
from acp_jupyter.model.turn import AgentInfo, Turn, TurnError

if TYPE_CHECKING:
    from collections.abc import Callable

CWD = "/home/user/project"
_BEGUN = 1_795_000_000.0
_KINDS = {
    "allow_once": "Yes",
    "allow_always": "Yes, and do not ask again",
    "reject_once": "No",
    "reject_always": "No, never",
}
_MODES = {
    "currentModeId": "ask",
    "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "yolo", "name": "Bypass permissions"}],
}


class Stage:
    """A session in which one turn runs, with a clock of its own.

    Args:
        name: Names the exhibit and its turn.
        policy: The permission policy in force.
    """

    def __init__(self, name: str, policy: str = "ask") -> None:
        self._state = SessionState()
        self.now = _BEGUN
        agent = AgentInfo("claude", "Claude Code", "2.1.0")
        prompt = [{"type": "text", "text": "Make `load` faster and keep its signature."}]
        self.turn = Turn(f"gallery-{name}", 1, agent, CWD, prompt, policy=policy, session_id="s1")
        self.apply(events.TurnStarted(self.turn))

    def apply(self, event: events.Event, seconds: float = 0.7) -> None:
        """Let ``event`` happen, so many seconds after the last one."""
        self.now += seconds
        reduce(self._state, event, self.now)

    def begin(self) -> None:
        """Open the session and send the prompt."""
        self.apply(events.SessionOpened("s1", {"modes": _MODES}))
        self.apply(events.PromptSent())

    def update(self, kind: str, /, **fields: Any) -> None:
        """Let the agent send an update."""
        self.apply(events.SessionUpdate({"sessionUpdate": kind, **fields}))

    def say(self, text: str, kind: str = "agent_message_chunk") -> None:
        """Let the agent say something."""
        self.update(kind, content={"type": "text", "text": text})

    def call(self, call_id: str, **fields: Any) -> None:
        """Let the agent tell of a tool call, and again where ``done`` says how it ended."""
        done = fields.pop("done", None)
        fields.setdefault("title", call_id.replace("-", " ").capitalize())
        self.update("tool_call", toolCallId=call_id, **fields)
        if done:
            self.update("tool_call_update", toolCallId=call_id, status=done)

    def terminal(
        self, command: str, output: str, exit_code: int | None = 0, signal: str | None = None
    ) -> str:
        """Run a command for the agent; with neither code nor signal it runs on."""
        key = f"t{len(self.turn.terminals) + 1}"
        self.apply(events.TerminalStarted(key, command, CWD))
        self.apply(events.TerminalOutput(key, output))
        if exit_code is not None or signal is not None:
            self.apply(events.TerminalExited(key, exit_code, signal))
        return key

    def ask(self, key: str, call: dict[str, Any], options: list[dict[str, str]] | None = None) -> None:
        """Let the agent ask whether it may."""
        usual = [{"optionId": kind, "name": name, "kind": kind} for kind, name in _KINDS.items()]
        given = usual if options is None else options
        self.apply(events.PermissionAsked(key, {"toolCall": call, "options": given}))

    def end(self, stop_reason: str = "end_turn") -> None:
        """Let the agent answer the prompt."""
        self.apply(events.TurnEnded({"stopReason": stop_reason}))


def _diff(name: str, old: str | None, new: str) -> dict[str, Any]:
    return {"type": "diff", "path": f"{CWD}/{name}", "oldText": old, "newText": new}


def _run(call_id: str, command: str, **fields: Any) -> dict[str, Any]:
    told = {"toolCallId": call_id, "title": command, "kind": "execute", "rawInput": {"command": command}}
    return {**told, **fields}


_LOADER = """import csv
from pathlib import Path


def load(path):
    rows = []
    with Path(path).open() as file:
        for row in csv.reader(file):
            rows.append([float(cell) for cell in row])
    return rows


def save(path, rows):
    with Path(path).open("w") as file:
        csv.writer(file).writerows(rows)
"""
_FASTER = """import csv
from pathlib import Path

import numpy as np


def load(path):
    return np.loadtxt(path, delimiter=",", ndmin=2)


def save(path, rows):
    with Path(path).open("w", newline="") as file:
        csv.writer(file).writerows(rows)
"""


_ANSWER = """# What I found

The parser copies every row *twice*: see `load`, and [the docs](https://example.org/csv).

| rows | before | after |
|---:|---:|---:|
| 1,000 | 12 ms | 1 ms |
| 1,000,000 | 14 s | 0.9 s |

1. vectorise it,
2. keep the signature,
   - and the tests.

> It was slow, $O(n^2)$ at worst.

```python
def load(path: str) -> np.ndarray:
    return np.loadtxt(path, delimiter=",")  # fast
```

![a picture from elsewhere is only a link](https://example.org/chart.png)
"""


# --- what the agent says


def _words(stage: Stage) -> None:
    stage.begin()
    stage.say(
        "The loader iterates row by row; **that** is slow.\n\nA vectorised one keeps the signature.",
        "agent_thought_chunk",
    )
    stage.say(_ANSWER)
    stage.say("Use the *other* parser, please.", "user_message_chunk")
    stage.say("A fence that is never closed:\n\n```sh\nmake test")
    stage.end()


def _media(stage: Stage) -> None:
    stage.begin()
    blocks: list[dict[str, Any]] = [
        {"type": "image", "mimeType": "image/png", "data": _picture()},
        {"type": "image", "mimeType": "image/svg+xml", "data": "PHN2Zy8+"},
        {"type": "audio", "mimeType": "audio/wav", "data": _silence()},
        {
            "type": "resource_link",
            "name": "loader.py",
            "uri": f"file://{CWD}/loader.py",
            "mimeType": "text/x-python",
        },
        {
            "type": "resource",
            "resource": {
                "uri": f"file://{CWD}/notes.md",
                "mimeType": "text/markdown",
                "text": "# Notes\n\n- one\n",
            },
        },
        {
            "type": "resource",
            "resource": {
                "uri": f"file://{CWD}/data.bin",
                "mimeType": "application/octet-stream",
                "blob": "AAEC",
            },
        },
    ]
    for block in blocks:
        stage.update("agent_message_chunk", content=block)
    stage.end()


def _plan(stage: Stage) -> None:
    stage.begin()
    steps = [
        ("Find the slow part", "high", "completed"),
        ("Vectorise `load`", "high", "in_progress"),
        ("Run the tests", "medium", "pending"),
        ("Mention it in the changelog", "low", "pending"),
    ]
    stage.update(
        "plan", entries=[dict(zip(("content", "priority", "status"), step, strict=True)) for step in steps]
    )
    stage.end()


def _session(stage: Stage) -> None:
    stage.begin()
    option = {
        "id": "model",
        "name": "Model",
        "category": "model",
        "type": "select",
        "currentValue": "opus",
        "options": [{"value": "opus", "name": "Opus"}, {"value": "haiku", "name": "Haiku"}],
    }
    stage.update("session_info_update", title="Make load faster")
    stage.update("config_option_update", configOptions=[option])
    stage.update("config_option_update", configOptions=[{**option, "currentValue": "haiku"}])
    commands = [
        {"name": "review", "description": "Review the changes"},
        {"name": "compact", "description": "Shorten"},
    ]
    stage.update("available_commands_update", availableCommands=commands)
    for severity, title in (
        ("info", "A newer version is there"),
        ("warning", "The context is nearly full"),
        ("error", "A hook failed"),
    ):
        stage.update(
            "notice", severity=severity, title=title, description=f"This is {severity}, told in passing."
        )
    stage.update("compaction_update", compactionId="a", status="in_progress")
    summary = [{"type": "text", "text": "We are making `load` faster."}]
    stage.update("compaction_update", compactionId="b", status="completed", summary=summary)
    stage.update(
        "compaction_update", compactionId="c", status="failed", error="there was nothing to leave out"
    )
    stage.update("current_mode_update", currentModeId="yolo")
    stage.update("telemetry_pulse", beats=3)
    stage.update("usage_update", used=153_000, size=200_000, cost={"amount": 0.42, "currency": "USD"})
    stage.apply(events.Noted("3 of the agent's messages could not be used.", "warning"))
    stage.end()


# --- what it does


def _tools(stage: Stage) -> None:
    stage.begin()
    place = [{"path": f"{CWD}/loader.py", "line": 5}]
    for kind in (
        "read",
        "edit",
        "delete",
        "move",
        "search",
        "think",
        "fetch",
        "switch_mode",
        "other",
        "teleport",
    ):
        stage.call(
            kind,
            kind=kind,
            name=f"{kind}_tool",
            locations=place if kind in {"read", "edit", "delete"} else [],
            done="completed",
        )
    stage.call(
        "run-the-tests",
        kind="execute",
        rawInput={"command": "python -m pytest -q tests/test_loader.py"},
        done="completed",
    )
    for status in ("pending", "in_progress", "failed", "thinking_hard"):
        stage.call(f"a-call-that-is-{status}", kind="search", status=status)
    far = [
        {"path": "/etc/hosts"},
        {"path": f"{CWD}/a/rather/long/way/down/to/the/file/that/is/meant.py", "line": 120},
    ]
    stage.call("read-elsewhere", kind="read", locations=far, done="completed")
    raw = {"query": "select 1", "limit": 2**63 + 1, "nested": {"a": [1, 2.5, None, True], "empty": {}}}
    stage.call(
        "query",
        kind="other",
        name="mcp__db__query",
        rawInput=raw,
        rawOutput=[{"id": n, "name": f"row {n}"} for n in range(40)],
        done="completed",
    )
    content = [
        {"type": "content", "content": {"type": "text", "text": "\n".join(f"line {n}" for n in range(40))}},
        {"type": "hologram", "x": 1},
    ]
    stage.call("content", kind="read", content=content, done="completed")
    stage.end()


def _diffs(stage: Stage) -> None:
    stage.begin()
    huge = [f"    rows[{n}] = scale * compute(table[{n}], offset=0.5)  # line {n}" for n in range(4_000)]
    hidden = "access = 'user\u202e # only for admins\u202c'\nzero\u200bwidth = 1\n"
    exhibits: dict[str, list[dict[str, Any]]] = {
        "changes within lines": [_diff("loader.py", _LOADER, _FASTER)],
        "several files": [_diff("a.py", "x = 1\n", "x = 2\n"), _diff("b.py", "y = 1\n", "y = 2\n")],
        "a new file": [_diff("new.py", None, "def f():\n    return 1\n")],
        "a new file that is empty": [_diff("__init__.py", None, "")],
        "an emptied file": [_diff("old.py", "def g():\n    return 2\n", "")],
        "no change": [_diff("same.py", "x = 1\n", "x = 1\n")],
        "white space alone": [_diff("space.py", "if x:\n\treturn 1  \n", "if x:\n    return 1\n")],
        "line ends": [_diff("ends.txt", "one\r\ntwo\r\n", "one\ntwo\n")],
        "no newline at the end": [_diff("end.txt", "one\ntwo\n", "one\ntwo")],
        "invisible characters": [_diff("access.py", "access = 'user'\nzerowidth = 1\n", hidden)],
        "four thousand lines": [
            _diff("huge.py", "\n".join(huge), "\n".join(line.replace("[1", "[start + 1") for line in huge))
        ],
    }
    for name, content in exhibits.items():
        stage.call(name, title=name, kind="edit", content=content, done="completed")
    stage.end()


def _terminals(stage: Stage) -> None:
    stage.begin()
    colours = (
        "".join(f"\x1b[3{n}m colour {n} \x1b[0m" for n in range(8))
        + "\n\x1b[1mbold\x1b[0m \x1b[4munder\x1b[0m \x1b[7mback\x1b[0m\n"
    )
    bar = "".join(f"\rdownloading [{'#' * n:<20}] {n * 5}%" for n in range(21)) + "\ndone\n"
    erased = "first\x1b[2K\rsecond\n"
    link = "see \x1b]8;;https://example.org/report\x07the report\x1b]8;;\x07\n"
    runs: list[tuple[str, str, int | None, str | None]] = [
        ("pytest -q --color=yes", f"{colours}\x1b[32m.......\x1b[0m\n7 passed in 0.2 s\n", 0, None),
        ("pip download numpy", bar, 0, None),
        ("ls --hyperlink", erased + link, 0, None),
        ("make", "make: *** No rule to make target 'all'.  Stop.\n", 2, None),
        ("sleep 1000", "", None, "SIGKILL"),
        ("seq 400", "".join(f"{n}\n" for n in range(400)), 0, None),
        ("npm run dev", "listening on http://127.0.0.1:5173\n", None, None),
    ]
    for command, output, code, signal in runs:
        key = stage.terminal(command, output, code, signal)
        content = [{"type": "terminal", "terminalId": key}]
        running = code is None and signal is None
        stage.call(
            f"run {key}",
            **_run_fields(command),
            content=content,
            done=None if running else "failed" if code or signal else "completed",
        )
    stage.call(
        "gone",
        **_run_fields("true"),
        content=[{"type": "terminal", "terminalId": "nobody-knows"}],
        done="completed",
    )
    stage.terminal("git status --short", " M loader.py\n")


def _run_fields(command: str) -> dict[str, Any]:
    return {"title": command, "kind": "execute", "status": "in_progress", "rawInput": {"command": command}}


# --- what it asks


def _asking(stage: Stage) -> None:
    stage.begin()
    stage.say("I will vectorise `load`, then run the tests.")
    change = {
        "toolCallId": "edit",
        "title": "Edit loader.py",
        "kind": "edit",
        "content": [_diff("loader.py", _LOADER, _FASTER)],
        "locations": [{"path": f"{CWD}/loader.py"}],
    }
    stage.ask("p1", change)
    stage.ask("p2", _run("run", "python -m pytest -q tests && git push --force origin main"))


def _decided(stage: Stage) -> None:
    stage.begin()
    answers: list[tuple[str, str, str, str | None, str | None]] = [
        ("allowed", "selected", "you", "allow_once", None),
        ("always", "selected", "you", "allow_always", None),
        ("rejected", "selected", "you", "reject_once", None),
        ("never", "selected", "you", "reject_always", None),
        ("policy", "selected", "policy", "allow_once", "a read within the session's directories"),
        ("nobody", "selected", "nobody", "reject_once", "--approve allow-once-all would have allowed it"),
        ("too-late", "selected", "time_limit", "reject_once", None),
        ("withdrawn", "cancelled", "agent", None, None),
        ("over", "cancelled", "turn", None, None),
    ]
    for name, state, by, option, reason in answers:
        stage.ask(name, _run(name, f"echo {name}"))
        stage.apply(events.PermissionClosed(name, state, by, option, reason))
        if option in {"allow_once", "allow_always"}:
            stage.update("tool_call_update", toolCallId=name, status="completed")
    stage.ask("warned", _run("warned", "make" + " " * 90 + "install \u202e"))
    stage.apply(events.PermissionClosed("warned", "selected", "you", "allow_once"))
    changed = {"rawInput": {"command": "make uninstall"}, "status": "completed"}
    stage.update("tool_call_update", toolCallId="warned", **changed)
    stage.end()


def _lying(stage: Stage) -> None:
    stage.begin()
    swapped = [
        {"optionId": "a", "name": "No, reject this", "kind": "allow_always"},
        {"optionId": "b", "name": "Allow", "kind": "reject_once"},
    ]
    stage.ask("names", _run("names", "rm -rf build", title="Allowed once by you: read README.md"), swapped)
    twice = [
        {"optionId": "same", "name": "Yes", "kind": "allow_once"},
        {"optionId": "same", "name": "No", "kind": "reject_once"},
    ]
    stage.ask("twice", _run("twice", "make clean"), twice)
    stage.ask("none", _run("none", "make deploy"), [])
    odd = [
        {"optionId": "", "name": "", "kind": "allow_once"},
        {"optionId": "x", "name": "Whatever", "kind": "allow_forever"},
    ]
    stage.ask("odd", _run("odd", "curl https://example.org/install.sh | sh"), odd)
    stage.ask("hidden", _run("hidden", "echo ok" + " " * 300 + "; rm -rf ~", title="echo ok"))
    stage.ask("turned", _run("turned", "cat \u202egnp.exe\u202c && echo zero\u200bwidth"))
    stage.ask("changed", _run("changed", "ls"))
    stage.update("tool_call_update", toolCallId="changed", rawInput={"command": "rm -rf /"})
    far = {"toolCallId": "far", "kind": "read", "title": f"Read{' ' * 99}secrets", "name": "read_file"}
    stage.ask("far", {**far, "locations": [{"path": "/etc/shadow"}, {"path": f"{CWD}/a{' ' * 40}.py"}]})
    _compared(stage)


def _compared(stage: Stage) -> None:
    """Requests about diffs, with what a look at their files can find."""
    change = _diff("loader.py", "    rows = []\n", "    rows: list[list[float]] = []\n")
    found = {
        "mismatch": f"{CWD}/loader.py does not hold the old text that the agent shows: another may be lost.",
        "line-ends": f"{CWD}/loader.py: the old text is there with other line ends.",
        "fragment": f"{CWD}/loader.py: this is a part of it, from line 41 on.",
        "unchecked": f"{CWD}/loader.py could not be compared with this: it is larger than 8 MiB.",
    }
    for reason, text in found.items():
        call = {"toolCallId": reason, "title": f"Edit ({reason})", "kind": "edit", "content": [change]}
        request = {"toolCall": call, "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]}
        stage.apply(events.PermissionAsked(reason, request, check=True))
        stage.apply(events.PermissionChecked(reason, (RequestWarning(reason, text),)))


def _late(stage: Stage) -> None:
    stage.begin()
    stage.ask("p1", _run("run", "make test"))
    stage.apply(events.PermissionClosed("p1", "cancelled", "turn"))
    stage.apply(events.CancelRequested())
    stage.ask("p2", _run("again", "make install"))
    stage.apply(events.PermissionClosed("p2", "cancelled", "turn"))
    stage.end("cancelled")
    stage.say("This came after the end.")


def _forms(stage: Stage) -> None:
    stage.begin()
    schema = {
        "type": "object",
        "title": "Where to",
        "description": "The service needs a few facts.",
        "properties": {
            "region": {"type": "string", "title": "Region", "enum": ["eu", "us"], "default": "eu"},
            "mail": {"type": "string", "format": "email", "title": "Your address"},
            "count": {"type": "integer", "minimum": 1, "maximum": 9, "default": 2},
            "ratio": {"type": "number"},
            "sure": {"type": "boolean", "title": "Are you sure?"},
            "days": {"type": "array", "items": {"type": "string", "enum": ["Monday", "Friday"]}},
            "api_key": {"type": "string", "title": "Key"},
        },
        "required": ["region", "mail"],
    }
    form = {"sessionId": "s1", "mode": "form", "message": "Please fill this in.", "requestedSchema": schema}
    url = {"sessionId": "s1", "mode": "url", "message": "Log in, please."}
    for key, request in (
        ("open", form),
        ("accepted", form),
        ("declined", form),
        ("link", {**url, "url": "https://example.org/login?state=abc", "elicitationId": "e1"}),
        ("odd-link", {**url, "url": "http://xn--pple-43d.com@198.51.100.7/login", "elicitationId": "e2"}),
    ):
        stage.apply(events.ElicitationAsked(key, request))
    stage.apply(events.ElicitationFaulted("open", {"mail": "This is no e-mail address."}))
    values = {"region": "us", "mail": "me@example.org", "count": 3, "sure": True, "api_key": "not shown"}
    stage.apply(events.ElicitationClosed("accepted", "accepted", "you", values))
    stage.apply(events.ElicitationClosed("declined", "declined", "you"))
    stage.apply(events.ElicitationClosed("link", "accepted", "you"))
    stage.apply(events.ElicitationCompleted("e1"))


# --- how it stands, and how it ends


def _starting(_stage: Stage) -> None:
    """Nothing has come yet."""


def _running(stage: Stage) -> None:
    stage.begin()
    stage.say("Reading the loader.")
    stage.call("read", kind="read", status="in_progress", locations=[{"path": f"{CWD}/loader.py"}])


def _cancelled(stage: Stage) -> None:
    _running(stage)
    stage.apply(events.CancelRequested())
    stage.end("cancelled")


def _cut_off(stage: Stage) -> None:
    _running(stage)
    message = "the agent's process ended in mid-turn, with exit code 137"
    stderr = "loading\n\x1b[31mFatal:\x1b[0m out of memory\n"
    stage.apply(
        events.TurnFailed(
            TurnError("AgentExited", message, "The next prompt starts it again.", stderr), agent_gone=True
        )
    )


def _refused(stage: Stage) -> None:
    stage.begin()
    error = TurnError(
        "AuthenticationRequired", "the agent wants a log-in first", "`%acp login` lists the ways."
    )
    stage.apply(events.TurnFailed(error))


def _stopped(stop_reason: str) -> Callable[[Stage], None]:
    def play(stage: Stage) -> None:
        stage.begin()
        stage.say("So far I have read the loader, and")
        stage.end(stop_reason)

    return play


def _nothing(stage: Stage) -> None:
    stage.begin()
    stage.end()


def _unasked(stage: Stage) -> None:
    stage.begin()
    stage.ask("p1", _run("run", "make test"))
    stage.apply(events.PermissionClosed("p1", "selected", "policy", "allow_once"))
    stage.update("tool_call_update", toolCallId="run", status="completed")
    stage.end()


def _picture() -> str:
    """A small PNG, base64: a gradient."""
    size = 48
    rows = b"".join(
        b"\0" + bytes(value for x in range(size) for value in (x * 5, y * 5, 160)) for y in range(size)
    )

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    png = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )
    return base64.b64encode(png).decode()


def _silence() -> str:
    """A tenth of a second of a WAV file, base64."""
    data = b"\x80" * 800
    head = (
        b"RIFF"
        + struct.pack("<I", 36 + len(data))
        + b"WAVEfmt "
        + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8)
    )
    return base64.b64encode(head + b"data" + struct.pack("<I", len(data)) + data).decode()


_PLAYS: dict[str, Callable[[Stage], None]] = {
    "words": _words,
    "media": _media,
    "plan": _plan,
    "session": _session,
    "tools": _tools,
    "diffs": _diffs,
    "terminals": _terminals,
    "asking": _asking,
    "decided": _decided,
    "lying": _lying,
    "late": _late,
    "forms": _forms,
    "starting": _starting,
    "running": _running,
    "cancelled": _cancelled,
    "cut off": _cut_off,
    "refused": _refused,
    "token limit": _stopped("max_tokens"),
    "request limit": _stopped("max_turn_requests"),
    "refusal": _stopped("refusal"),
    "nothing": _nothing,
    "unasked": _unasked,
}
NAMES = tuple(_PLAYS)
_POLICIES = {"unasked": "allow-once-all"}


def staged(name: str) -> Stage:
    """Return the exhibit of that name, played, with the clock where it ended."""
    stage = Stage(name, _POLICIES.get(name, "ask"))
    _PLAYS[name](stage)
    return stage


def turn(name: str) -> Turn:
    """Return the exhibit of that name."""
    return staged(name).turn


def documents() -> list[dict[str, Any]]:
    """Return every exhibit as ``{name, now, turn}``; ``now`` is the time at which a live one is looked at."""
    stages = {name: staged(name) for name in NAMES}
    return [{"name": name, "now": stage.now, "turn": to_json(stage.turn)} for name, stage in stages.items()]


if __name__ == "__main__":
    json.dump(documents(), sys.stdout)
