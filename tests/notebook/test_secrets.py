"""What we write beside the card, or raise, has no secrets in it either; in Python everything is whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from .kernels import answers, kernel_python, running_kernel
from .test_display import Deaf
from .test_magic import ask

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .front_end import FrontEnd

pytestmark = pytest.mark.notebook

SECRET = "planted-secret-0123456789"  # noqa: S105  # planted, to be found


@pytest.fixture
def notebook(tmp_path: Path) -> Iterator[Deaf]:
    with running_kernel(kernel_python(), tmp_path) as kernel:
        front_end = Deaf(kernel)
        front_end.run(f"%load_ext acp_jupyter\n%env MY_API_KEY={SECRET}")
        front_end.run("%acp ask text")
        yield front_end


def written(notebook: FrontEnd, cell: str) -> str:
    """All that a cell has left: its streams, displays and errors, and the reply that nbclient shows."""
    replies = [reply for reply in notebook.replies if reply["parent_header"].get("msg_id") == cell]
    return json.dumps([message["content"] for message in [*answers(notebook.heard, cell), *replies]])


def clean(notebook: FrontEnd, cell: str) -> str:
    """See that a cell has left a mark where the secret was, and nothing of it, and return all it has left."""
    left = written(notebook, cell).replace(f"MY_API_KEY={SECRET}", "")
    assert SECRET not in left
    assert "[redacted]" in left
    return left


def asks_with_secret() -> dict[str, Any]:
    step = ask("call-1")
    step["params"]["toolCall"] |= {
        "kind": "execute",
        "rawInput": {"command": f"curl -H 'X-Key: {SECRET}' x.test"},
    }
    return step


def test_a_quiet_answer(notebook: Deaf, tmp_path: Path) -> None:
    script = {"turns": [[{"text": "The key is planted-"}, {"text": f"{SECRET[8:]}, found."}]] * 2}
    notebook.add_agent("talker", script, tmp_path)
    cell = notebook.finished("%%acp talker -q -o turn\nTalk.")
    assert "The key is [redacted], found." in clean(notebook, cell)
    assert notebook.value("turn.text") == f"The key is {SECRET}, found."
    notebook.run("%env ACP_JUPYTER_SAVE=none")
    cell = notebook.finished("%%acp -q\nTalk.")
    assert "found" not in written(notebook, cell)


def test_a_turn_shown_again_where_the_variable_is_gone(notebook: Deaf, tmp_path: Path) -> None:
    notebook.run("%env MY_LICENCE=another-planted-secret\n%env ACP_JUPYTER_REDACT=MY_LICENCE")
    notebook.add_agent("talker", [{"text": f"I have {SECRET} and another-planted-secret here."}], tmp_path)
    notebook.finished("%%acp talker -o turn\nTalk.")
    gone = ["MY_API_KEY", "MY_LICENCE", "ACP_JUPYTER_REDACT"]
    notebook.run(f"import os\nfor name in {gone}: del os.environ[name]")
    notebook.add_agent("other", [{"text": "x"}], tmp_path)
    notebook.finished("%%acp other\nIt is the current one now.")
    cell = notebook.finished("turn")
    assert "I have [redacted] and [redacted] here." in clean(notebook, cell)


@pytest.mark.parametrize(
    ("steps", "names"),
    [
        ([{"text": "x"}, {"stderr": f"boo {SECRET}"}, {"exit": 3}], "AgentExited"),
        (
            [{"end_error": {"code": -32603, "message": f"bad key {SECRET}", "data": {"k": SECRET}}}],
            "RequestFailed",
        ),
        ([{"end_error": {"code": -32000, "message": f"bad key {SECRET}"}}], "AuthenticationRequired"),
    ],
)
def test_an_error(notebook: Deaf, tmp_path: Path, steps: list[Any], names: str) -> None:
    notebook.add_agent("fails", {"turns": [steps, steps]}, tmp_path)
    cell = notebook.finished("%%acp fails\nTalk.", "error")
    assert names in clean(notebook, cell)
    code = (
        "from acp_jupyter import get_session\nfrom acp_jupyter.errors import AcpError\n"
        "try: get_session().run('Again.')\n"
        "except AcpError as error: kept = error\n"
        "print(str(kept))"
    )
    cell = notebook.finished(code)
    clean(notebook, cell)
    assert notebook.value(f"{SECRET!r} in kept.message + getattr(kept, 'stderr', '')") is True


def test_a_question_by_text(notebook: Deaf, tmp_path: Path) -> None:
    notebook.add_agent("asker", [asks_with_secret(), {"text": "done"}], tmp_path)
    cell = notebook.execute("%%acp asker -o turn\nTalk.")
    notebook.answer("yes")
    notebook.answer("1")
    assert notebook.status(cell) == "ok"
    left = clean(notebook, cell)
    assert "command: curl -H 'X-Key: [redacted]' x.test" in left
    assert f"{len(SECRET) * 1:,} characters in all" in left, "that something is hidden is said"
    assert notebook.value("turn.tool_calls[0].raw_input['command']") == f"curl -H 'X-Key: {SECRET}' x.test"


def test_the_end_of_the_input_is_a_persons_no(notebook: Deaf, tmp_path: Path) -> None:
    notebook.add_agent("asker", [ask("call-1")], tmp_path)
    cell = notebook.execute("%%acp asker -o turn\nTalk.")
    notebook.answer("\x04")
    assert notebook.status(cell) == "ok"
    assert "Ctrl-D" in notebook.printed(cell)
    assert "nobody" not in notebook.printed(cell)
    decided = "[[p.decided_by, p.option_id] for p in turn.permissions.values()]"
    assert notebook.value(decided) == [["you", "no"]]


def test_the_warning_of_what_nobody_was_asked(notebook: Deaf, tmp_path: Path) -> None:
    notebook.add_agent("asker", [asks_with_secret()], tmp_path)
    cell = notebook.client.execute("%%acp asker\nTalk.", allow_stdin=False)
    assert notebook.status(cell) == "ok"
    assert "Warning: Run curl -H 'X-Key: [redacted]'" in clean(notebook, cell)


COMMANDS = "inspect stderr commands mode set doctor sessions load".split()


def test_what_the_commands_print(notebook: Deaf, tmp_path: Path) -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "x", "rawInput": {"a": SECRET}}
    command = {"name": "x", "description": SECRET}
    known = {"sessionUpdate": "available_commands_update", "availableCommands": [command]}
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": SECRET}}
    choice = {"value": "a", "name": SECRET}
    option = {"id": "o", "name": SECRET, "type": "select", "currentValue": "a", "options": [choice]}
    session = {"sessionId": "s1", "cwd": str(tmp_path), "title": SECRET}
    script = {
        "initialize": {
            "agentCapabilities": {"loadSession": True, "sessionCapabilities": {"list": {}}},
            "agentInfo": {"name": "teller", "title": SECRET, "version": "1"},
        },
        "new_session": {
            "configOptions": [option],
            "modes": {"currentModeId": "m", "availableModes": [{"id": "m", "name": SECRET}]},
        },
        "methods": {
            "session/list": {"result": {"sessions": [session]}},
            "session/load": {"steps": [{"update": chunk}], "result": {}},
        },
        "turns": [[{"update": call}, {"update": known}, {"stderr": SECRET}]],
    }
    notebook.add_agent("teller", script, tmp_path)
    notebook.finished("%%acp teller\nTalk.")
    for name in COMMANDS:
        left = clean(notebook, notebook.finished(f"%acp {name}"))
        assert "[redacted]" in left, name
    assert SECRET in notebook.value("sessions().get().history[0].text")
