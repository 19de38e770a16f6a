"""What no session may break on, at full size: each is tested smaller in `tests/wire` and `tests/session`."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

import pytest

from acp_jupyter.errors import AgentExited

from ..session.bench import alive, ask, asked, until  # noqa: TID252  # tests are no installed package

if TYPE_CHECKING:
    from ..session.bench import Bench  # noqa: TID252  # as above

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]

WITHIN_S = 1.0
CLOSED_S = 5.0


def test_a_line_of_60_mb_reaches_the_turn_and_the_next_prompt_goes_on(bench: Bench) -> None:
    size = 60 * 2**20
    session = bench.session({"turns": [[{"line_of": size}], [{"text": "small"}]]})
    run = session.start("go")
    assert len(run.result(300).text) == size
    assert session.run("again").text == "small"


def test_a_megabyte_of_stderr_holds_nothing_up(bench: Bench) -> None:
    session = bench.session([{"stderr_bytes": 2**20}, {"text": "said"}])
    assert session.run("go").text == "said"
    assert len(session.stderr) <= 64 * 1024


def test_kill_9_in_mid_turn_with_a_request_open(bench: Bench) -> None:
    session = bench.session([{"stderr": "last words"}, {"text": "half"}, ask({}), {"sleep_s": 600}])
    with session.attended():
        run = session.start("go")
        (permission,) = asked(session)
        killed = time.monotonic()
        os.kill(session.pid or 0, signal.SIGKILL)
        with pytest.raises(AgentExited, match="last words") as caught:
            run.result(60)
        assert time.monotonic() - killed < WITHIN_S
    assert caught.value.exit_code == -signal.SIGKILL
    assert run.turn.text == "half"
    assert permission.state == "cancelled"
    assert session.pending == []


def test_close_ends_a_stubborn_family(bench: Bench) -> None:
    spawn = {"spawn": ["sleep", "600"], "ignore_term": True, "hold_stdout": True}
    children = [{**spawn, "save": f"child{n}", "new_session": n % 2 == 1} for n in range(4)]
    pids = " ".join(f"${{child{n}.pid}}" for n in range(4))
    steps = [{"ignore_term": True}, *children, {"text": pids}, {"sleep_s": 600}]
    session = bench.session({"ignore_eof": True, "turns": [steps]})
    run = session.start("go")
    until(session, lambda: run.turn.text.count(" ") == 3)
    family = [session.pid or 0, *map(int, run.turn.text.split())]
    assert all(map(alive, family))
    begun = time.monotonic()
    session.stop()
    assert time.monotonic() - begun < CLOSED_S
    assert not any(map(alive, family))
