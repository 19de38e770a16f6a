"""IPython in a terminal: the scene of the README by text, in a pseudo-terminal, with no widget in sight."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pexpect
import pytest

from acp_jupyter.testing import script_command

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.notebook

TIMEOUT_S = 30


def environment(tmp_path: Path, **more: str) -> dict[str, str]:
    home = {"IPYTHONDIR": str(tmp_path / "ipython"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    return os.environ | home | {"ACP_DEMO_SPEED": "0.2", "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"} | more


class Terminal:
    """IPython as a person has it before them."""

    def __init__(self, tmp_path: Path) -> None:
        words = ["-m", "IPython", "--colors=NoColor", "--no-banner"]
        self.child: pexpect.spawn[str] = pexpect.spawn(
            sys.executable,
            words,
            cwd=str(tmp_path),
            env=environment(tmp_path),  # pyright: ignore[reportArgumentType]  # its stub wants os._Environ
            encoding="utf-8",
            dimensions=(50, 200),
            timeout=TIMEOUT_S,
        )
        self.number = 0
        self.prompt()

    def prompt(self) -> str:
        """Wait for the next prompt and return what came before it."""
        self.number += 1
        return self.see(rf"In \[{self.number}\]:.*?\x1b\[\?25h")  # drawn, and ready for keys

    def see(self, pattern: str) -> str:
        """Wait for a pattern and return what came before and with it."""
        self.child.expect(pattern)
        after = self.child.after
        assert isinstance(after, str)
        return (self.child.before or "") + after

    def run(self, line: str) -> str:
        self.child.send(line + "\r")
        return self.prompt()

    def cell(self, first: str, task: str) -> None:
        """Run a cell magic; empty lines end its body."""
        self.child.send(f"{first}\r{task}\r\r\r")


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal(tmp_path)
    terminal.run("%load_ext acp_jupyter")
    yield terminal
    terminal.child.close(force=True)


def test_the_scene_by_text(terminal: Terminal, tmp_path: Path) -> None:
    terminal.cell("%%acp demo", "Make the failing test pass.")
    terminal.see("scripted demonstration")  # it is told while the turn runs: the question is yet to come
    asked = terminal.see(r"1 to 3, or c for none of them: ")
    assert "asks for permission: Edit" in asked
    assert re.search(r"path: .*acp-demo/stats.py", asked)
    assert "+    middle = len(ordered) // 2" in asked
    assert "1. Allow once" in asked
    file = tmp_path / "acp-demo" / "stats.py"
    before = file.read_text()
    terminal.child.sendline("9")
    terminal.see("'9' is none of the answers")
    terminal.see("none of them: ")
    assert file.read_text() == before
    terminal.child.sendline("1")
    terminal.see("asks for permission: Run")
    terminal.see("none of them: ")
    assert file.read_text() != before
    terminal.child.sendline("1")
    rest = terminal.prompt()
    assert "Ran 3 tests" in rest
    assert "All three tests pass." in rest
    assert "<Turn 1" not in rest, "the turn is told once"
    assert "dict" in terminal.run("print(type(_.tool_calls[0].raw_input))")
    assert "[]" in terminal.run(
        "import sys; print([m for m in ('ipywidgets', 'anywidget') if m in sys.modules])"
    )


def test_reject_and_then_interrupt_and_the_session_goes_on(terminal: Terminal, tmp_path: Path) -> None:
    terminal.cell("%%acp demo", "Make the failing test pass.")
    terminal.see("none of them: ")
    before = (tmp_path / "acp-demo" / "stats.py").read_text()
    terminal.child.sendline("3")
    assert "Rejected by you" in terminal.prompt()
    assert (tmp_path / "acp-demo" / "stats.py").read_text() == before
    terminal.cell("%%acp", "Once more.")
    terminal.see("none of them: ")
    terminal.child.sendintr()
    assert "KeyboardInterrupt" in terminal.prompt()
    states = "print([t.state for t in __import__('acp_jupyter').get_session().turns])"
    assert "['done', 'cancelled']" in terminal.run(states)
    terminal.cell("%%acp --approve reject", "And again.")
    assert "policy reject" in terminal.prompt()
    assert "1\r\n" in terminal.run(
        "print(len({t.session_id for t in __import__('acp_jupyter').get_session().turns}))"
    )


def test_a_question_stands_on_its_own_line_and_ctrl_d_is_told_as_what_it_is(
    terminal: Terminal, tmp_path: Path
) -> None:
    call = {"toolCallId": "c1", "title": "x", "kind": "edit"}
    options = [
        {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
        {"optionId": "no", "name": "Reject", "kind": "reject_once"},
    ]
    ask = {"request": "session/request_permission", "params": {"toolCall": call, "options": options}}
    command = script_command([{"text": "half a sentence"}, {**ask, "save": "answer"}], tmp_path / "ask.json")
    terminal.run("from acp_jupyter.kernel.sessions import sessions")
    terminal.run(f"sessions().agents.add('asker', {command[0]!r}, {command[1:]!r})")
    terminal.cell("%%acp asker", "Go.")
    asked = terminal.see("none of them: ")
    assert re.search(r"half a sentence\r\n(.*\n)*Fake agent 1\.0\.0 asks for permission", asked)
    terminal.child.sendeof()
    rest = terminal.prompt()
    assert "Ctrl-D" in rest
    assert "Rejected by you" in rest
    assert "nobody" not in rest


def test_n13_a_script_without_a_terminal_is_not_asked_and_says_how(tmp_path: Path) -> None:
    code = "%load_ext acp_jupyter\nget_ipython().run_cell_magic('acp', 'demo', 'Make the failing test pass.')"
    ran = subprocess.run(
        [sys.executable, "-m", "IPython", "--colors=NoColor", "-c", code],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "nobody could be asked" in ran.stdout
    assert "--approve edits" in ran.stdout
    assert "Warning: Edit" in ran.stderr
