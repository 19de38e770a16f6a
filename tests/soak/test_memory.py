"""A kernel that has run a thousand turns needs no more memory than after the first ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psutil
import pytest

from ..notebook.front_end import FrontEnd  # noqa: TID252  # tests are no installed package
from ..notebook.kernels import kernel_python, running_kernel  # noqa: TID252  # as above

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

TURNS = 1_000
WARM = 100
ROUND = 20

# all that a turn has: words, a plan, a diff, an allowed request, a client's terminal, raw values
CALL = {
    "toolCallId": "edit",
    "title": "Edit",
    "kind": "edit",
    "rawInput": {"path": "a.py", "size": [1, 2, 3]},
}
DIFF = {"type": "diff", "path": "/tmp/a.py", "oldText": "a\n" * 50, "newText": "a\nb\n" * 50}
RUN = {"toolCallId": "run", "title": "Run", "kind": "execute", "status": "in_progress"}
OPTIONS = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
TERMINAL = {"command": "seq", "args": ["1", "200"]}
STEPS: list[dict[str, Any]] = [
    {"text": "I look at the file, and then at its tests. " * 10, "chunks": 20},
    {
        "update": {
            "sessionUpdate": "plan",
            "entries": [{"content": "x", "priority": "high", "status": "pending"}],
        }
    },
    {"update": {"sessionUpdate": "tool_call", **CALL}},
    {
        "request": "session/request_permission",
        "params": {"toolCall": CALL, "options": OPTIONS},
        "save": "answer",
    },
    {
        "update": {
            "sessionUpdate": "tool_call_update",
            "toolCallId": "edit",
            "status": "completed",
            "content": [DIFF],
        }
    },
    {"request": "terminal/create", "params": TERMINAL, "save": "terminal"},
    {
        "update": {
            "sessionUpdate": "tool_call",
            **RUN,
            "content": [{"type": "terminal", "terminalId": "${terminal.terminalId}"}],
        }
    },
    {"request": "terminal/wait_for_exit", "params": {"terminalId": "${terminal.terminalId}"}},
    {"request": "terminal/release", "params": {"terminalId": "${terminal.terminalId}"}},
    {
        "update": {
            "sessionUpdate": "tool_call_update",
            "toolCallId": "run",
            "status": "completed",
            "rawOutput": {"output": "ok\n" * 500},
        }
    },
    {"text": "Done."},
]


def test_a_thousand_turns_leave_the_kernels_memory_flat(tmp_path: Path) -> None:
    with running_kernel(kernel_python(), tmp_path) as kernel:
        notebook = FrontEnd(kernel)
        pid = int(notebook.run("import os; print(os.getpid())\n%load_ext acp_jupyter"))
        notebook.add_agent("worker", STEPS, tmp_path)
        sizes: list[int] = []
        for turn in range(1, TURNS + 1):
            cell = notebook.execute("%%acp worker --approve allow-once-all\nWork.")
            notebook.see(lambda cell=cell: notebook.idle(cell))
            assert not notebook.error(cell)
            (bundle,) = notebook.outputs(cell)
            assert "Done." in bundle["text/plain"]
            if turn % ROUND == 0:
                sizes.append(psutil.Process(pid).memory_info().rss)
                notebook.forget()
                notebook.run("%reset -f out")  # what cells have as their value is the user's to keep
    warm = sizes[WARM // ROUND - 1]
    grown = max(sizes) / warm - 1
    shown = " ".join(f"{size / 1e6:.0f}" for size in sizes)
    print(f"\nRSS of the kernel in MB, each {ROUND} turns: {shown}; {grown:+.1%} after the first {WARM}")  # noqa: T201
    assert grown <= 0.10
