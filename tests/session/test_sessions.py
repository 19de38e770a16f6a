from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from acp_jupyter.testing import script_command

if TYPE_CHECKING:
    from pathlib import Path

# the exit handlers and the finalisers of all that the child has a copy of run in the child as well
FORK = """
import os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads: the very thing that is tested
from acp_jupyter.session.sessions import Sessions
sessions = Sessions()
sessions.agents.add("agent", sys.argv[1], sys.argv[2:])
first = sessions.get("agent").run("Who are you?").text
child = os.fork()
if child == 0:
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
print(first, sessions.get().run("And now?").text)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_a_forked_child_that_exits_leaves_the_agent_to_the_kernel(tmp_path: Path) -> None:
    command = script_command([{"report": "pid"}], tmp_path / "script.json")
    done = subprocess.run(
        [sys.executable, "-c", FORK, *command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=12,  # the child would wait 15 s for a loop that it does not have
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    before, after = done.stdout.split()
    assert before == after
    with pytest.raises(ProcessLookupError):
        os.kill(int(after), 0)
