"""``%acp log --save`` and what is said of a log that is played."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from acp_jupyter.errors import RequestFailed, UsageError

if TYPE_CHECKING:
    from .conftest import Typist

WRITE = {"request": "fs/write_text_file", "params": {"path": "${cwd}/new.txt", "content": "x"}, "save": "w"}


@pytest.mark.parametrize("choice", ["--text hello", "--method prompt", "--direction in", "--last 2"])
def test_build6_a_choice_of_messages_is_not_saved_as_if_it_were_all(typist: Typist, choice: str) -> None:
    typist.add("talker", [{"text": "hello"}])
    typist.cell("talker")
    with pytest.raises(UsageError, match="no choice of them: nothing was written"):
        typist.line(f"log {choice} --save part.jsonl")
    assert not (typist.folder / "part.jsonl").exists()


def test_build6_a_file_that_is_there_is_not_written_over(typist: Typist) -> None:
    typist.add("talker", [{"text": "hello"}])
    typist.cell("talker")
    (typist.folder / "mine.txt").write_text("mine")
    (typist.folder / "link").symlink_to("nowhere")
    for name in ("mine.txt", "link"):
        with pytest.raises(UsageError, match="is there already: nothing was written"):
            typist.line(f"log --save {name}")
    assert (typist.folder / "mine.txt").read_text() == "mine"
    assert not (typist.folder / "nowhere").exists()


def test_build6_whoever_plays_a_log_is_told_that_it_is_done_for_real_and_how_to_begin_again(
    typist: Typist,
) -> None:
    typist.add("writer", [WRITE, {"text": "done"}])
    typist.cell("writer", "Write.")
    typist.line("restart")
    typist.cell("writer", "Write.")
    saved = typist.line("log --save bug.jsonl")
    assert "does for real what it holds" in saved
    assert "It holds 2 connections" in saved
    command = next(line for line in saved.splitlines() if "%acp add" in line).partition("%acp add ")[2]
    added = typist.line(f"add {shlex.join(shlex.split(command.partition(' It holds')[0]))}")
    assert "does for real what it holds" in added
    (typist.folder / "new.txt").unlink()

    with pytest.raises(RequestFailed, match=r"Nothing more is played; to begin the log again: %acp new"):
        typist.cell("recorded", "Something else.")
    with pytest.raises(RequestFailed, match="it stopped before this, where it differed"):
        typist.cell("recorded", "Write.")
    typist.line("new")
    typist.line("restart")
    turn, _, _ = typist.cell("recorded", "Write.")
    assert turn.text == "done"
    assert (typist.folder / "new.txt").read_text() == "x"


def test_build6_the_warning_stands_at_the_first_turn_alone(typist: Typist) -> None:
    typist.add("talker", {"turns": [[{"text": "one"}], [{"text": "two"}]]})
    assert typist.cell("talker", "One.")[2] == ""
    typist.cell("talker", "Two.")
    command = typist.line("log --save bug.jsonl").partition("%acp add ")[2].splitlines()[0]
    typist.line(f"add {command}")
    told = [typist.cell("recorded", task)[2] for task in ("One.", "Two.")]
    assert "ACP_JUPYTER_ASK_CLIENT_REQUESTS=1" in told[0]
    assert told[1] == ""
