"""Sessions that last: over an agent's restart, over a kernel's, and those that the agent lists."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from acp_jupyter.errors import UsageError
from acp_jupyter.model.transcript import MIME
from acp_jupyter.session.memory import Memory, Remembered, in_notebook


def test_s9_a_session_is_remembered_by_notebook_and_agent(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "state" / "sessions.json")
    memory.keep("/work/a.ipynb", "fake", Remembered("s1", "/work"))
    memory.keep("/work/b.ipynb", "fake", Remembered("s2", "/work"))
    memory.keep("/work/a.ipynb", "other", Remembered("s3", "/work"))
    later = Memory(memory.file)
    assert later.find("/work/a.ipynb", "fake") == Remembered("s1", "/work")
    assert later.find("/work/b.ipynb", "fake") == Remembered("s2", "/work")
    assert later.find("/work/c.ipynb", "fake") is None


def test_s9_two_kernels_on_one_notebook_the_latest_is_remembered(tmp_path: Path) -> None:
    one, other = Memory(tmp_path / "sessions.json"), Memory(tmp_path / "sessions.json")
    one.keep("/work/a.ipynb", "fake", Remembered("s1", "/work"))
    other.keep("/work/a.ipynb", "fake", Remembered("s2", "/work"))
    assert one.find("/work/a.ipynb", "fake") == Remembered("s2", "/work")


def turn(session_id: str | None, agent: str = "fake") -> dict[str, Any]:
    document = {"session_id": session_id, "cwd": "/work", "agent": {"name": agent}}
    return {"output_type": "display_data", "data": {MIME: document}}


def test_s9_a_notebook_that_was_moved_is_known_by_its_own_transcripts(tmp_path: Path) -> None:
    notebook = tmp_path / "moved.ipynb"
    outputs = [turn("s1"), turn("s2"), turn("s9", "other"), turn(None), {"output_type": "stream"}, "odd"]
    notebook.write_text(json.dumps({"cells": [{"outputs": outputs}, {"cell_type": "markdown"}, 3]}))
    assert in_notebook(notebook, "fake") == Remembered("s2", "/work")
    assert Memory(tmp_path / "none.json").find(str(notebook), "fake") == Remembered("s2", "/work")


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"cells": 3}', "[" * 100_000])
def test_a_damaged_file_is_no_memory_and_no_error(tmp_path: Path, text: str) -> None:
    for name in ("sessions.json", "x.ipynb"):
        (tmp_path / name).write_text(text)
    memory = Memory(tmp_path / "sessions.json")
    assert memory.find(str(tmp_path / "x.ipynb"), "fake") is None
    memory.keep("/work/a.ipynb", "fake", Remembered("s1", "/work"))
    assert memory.find("/work/a.ipynb", "fake") == Remembered("s1", "/work")


def test_a_file_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    memory = Memory(tmp_path / "file" / "sessions.json")
    with pytest.raises(UsageError, match="cannot write"):
        memory.keep("/work/a.ipynb", "fake", Remembered("s1", "/work"))
    assert memory.find("/work/a.ipynb", "fake") is None
