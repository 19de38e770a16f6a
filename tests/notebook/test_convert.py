"""What becomes of saved turns: in the file, and in what nbconvert makes of it."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from nbconvert import HTMLExporter, MarkdownExporter, PythonExporter

from acp_jupyter.model import events
from acp_jupyter.model.transcript import MIME, to_json
from acp_jupyter.views.bundle import saved_bundle
from tests.model.play import CWD, Play, words_of

if TYPE_CHECKING:
    from pathlib import Path


def call(play: Play, number: int, kind: str, **fields: Any) -> None:
    given = {"toolCallId": f"c{number}", "title": f"Call {number}", "kind": kind, "name": f"tool_{number}"}
    play.update("tool_call", **given, **fields)
    play.update("tool_call_update", toolCallId=f"c{number}", status="completed", rawOutput={"ok": number})


def prose(play: Play, number: int) -> None:
    play.say(
        f"# Answer {number}\n\n"
        + f"Some **bold** words and `code`, [a link](https://x.test/{number}).\n\n" * number
    )
    play.say("Thinking about it. " * number, "agent_thought_chunk")


def small_edits(play: Play, number: int) -> None:
    for n in range(number):
        old = "\n".join(f"line {m}" for m in range(60))
        content = [
            {
                "type": "diff",
                "path": f"{CWD}/f{n}.py",
                "oldText": old,
                "newText": old.replace("line 30", "changed"),
            }
        ]
        call(play, n, "edit", content=content, rawInput={"path": f"{CWD}/f{n}.py"})


def large_diff(play: Play, lines: int) -> None:
    old = "\n".join(f"old line number {n}" for n in range(lines))
    new = "\n".join(f"new line number {n}" for n in range(lines))
    call(play, 1, "edit", content=[{"type": "diff", "path": f"{CWD}/big.py", "oldText": old, "newText": new}])


def terminal(play: Play, lines: int) -> None:
    play.apply(events.TerminalStarted("t1", "make test", CWD))
    for n in range(lines):
        play.apply(events.TerminalOutput("t1", f"\x1b[32mok\x1b[0m {n} - a test with a name\r\n"))
    play.apply(events.TerminalExited("t1", 0))
    call(
        play,
        2,
        "execute",
        content=[{"type": "terminal", "terminalId": "t1"}],
        rawInput={"command": "make test"},
    )


def raw_output(play: Play, size: int) -> None:
    rows = [{"id": n, "name": f"row {n}", "values": [n, n / 2, None]} for n in range(size)]
    play.update("tool_call", toolCallId="c1", title="Query", kind="other", rawOutput=rows, status="completed")


def image(play: Play, size: int) -> None:
    data = base64.b64encode(bytes(range(256)) * size).decode()
    play.update("agent_message_chunk", content={"type": "image", "data": data, "mimeType": "image/png"})


def tiny(play: Play, _number: int) -> None:
    play.say("Yes.")


TURNS = [
    *((prose, n) for n in (1, 5, 40)),
    *((small_edits, n) for n in (1, 3, 12)),
    *((large_diff, n) for n in (100, 1_000, 5_000)),
    *((terminal, n) for n in (3, 50, 2_000)),
    *((raw_output, n) for n in (1, 40, 1_000)),
    *((image, n) for n in (1, 100)),
    *((tiny, n) for n in (1, 2, 3)),
]


def turn(make: Any, number: int) -> Play:
    play = Play()
    make(play, number)
    play.end()
    return play


def notebook_of(plays: list[Play]) -> Any:
    cells: list[Any] = []
    for play in plays:
        output = nbformat.v4.new_output("display_data", data=saved_bundle(play.turn))
        cells.append(nbformat.v4.new_code_cell("%%acp demo\nDo it.", outputs=[output]))
    return nbformat.v4.new_notebook(cells=cells)


def test_n09_the_file_is_at_most_three_times_the_transcripts(tmp_path: Path) -> None:
    plays = [turn(*one) for one in TURNS]
    assert len(plays) == 20
    file = tmp_path / "x.ipynb"
    nbformat.write(notebook_of(plays), file)
    transcripts = sum(len(json.dumps(to_json(play.turn), separators=(",", ":"))) for play in plays)
    ratio = file.stat().st_size / transcripts
    assert ratio <= 3, f"{ratio:.2f}"


@pytest.fixture(scope="module")
def told() -> tuple[Any, list[str]]:
    """A notebook with a turn that holds everything, and what must be found of it."""
    play = Play()
    play.say("**Found** it.")
    play.say("Let me think.", "agent_thought_chunk")
    play.update("plan", entries=[{"content": "Mend the parser", "priority": "high", "status": "in_progress"}])
    diff = {"type": "diff", "path": f"{CWD}/a.py", "oldText": "x = 1\n", "newText": "x = 2\n"}
    play.ask(
        "p1",
        {"toolCallId": "c1", "kind": "edit", "content": [diff], "rawInput": {"needle": "went in"}},
        "allow_once",
    )
    play.apply(events.PermissionClosed("p1", "selected", "you", "allow_once"))
    play.update("tool_call_update", toolCallId="c1", status="completed", rawOutput={"needle": "came out"})
    terminal(play, 3)
    play.end()
    words = [
        "Found",
        "Let me think.",
        "Mend the parser",
        "a.py",
        "x = 2",
        "Allowed once by you",
        "make test",
        "ok 2",
    ]
    return notebook_of([play]), [*words, "needle", "went in", "came out", "exit 0"]


@pytest.mark.parametrize("exporter", [HTMLExporter, MarkdownExporter])
def test_n11_the_exports_hold_the_transcript(told: tuple[Any, list[str]], exporter: Any) -> None:
    notebook, words = told
    text, _ = exporter().from_notebook_node(notebook)
    seen = words_of(text)
    assert [word for word in words if word not in seen] == []
    assert MIME not in text or exporter is HTMLExporter
    assert "model not found" not in text


def test_the_script_is_clean(told: tuple[Any, list[str]]) -> None:
    text, _ = PythonExporter().from_notebook_node(told[0])
    compile(text, "script.py", "exec")
    assert "run_cell_magic('acp', 'demo', 'Do it.\\n')" in text
    assert "Found" not in text
