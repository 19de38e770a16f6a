"""What the tests with real agents share: a throw-away home, and waiting for what a session does."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import pytest

    from acp_jupyter.session.session import Session, TurnRun
    from acp_jupyter.session.sessions import Sessions

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 60
# The rest of the environment could hold keys, proxies and settings of agents.
_KEPT = {"PATH", "LANG", "LC_ALL", "TZ", "TERM", "TMPDIR"}
# Nothing listens there: a request to anywhere but loopback fails at once.
_NOWHERE = "http://127.0.0.1:9"

T = TypeVar("T")


def throw_away_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give this process, and the agents that it starts, an empty home and no way out but loopback."""
    home.mkdir()
    for name in set(os.environ) - _KEPT:
        monkeypatch.delenv(name)
    settings = {
        "HOME": str(home),
        "SHELL": "/bin/sh",
        "USER": "user",
        "HTTP_PROXY": _NOWHERE,
        "HTTPS_PROXY": _NOWHERE,
        "NO_PROXY": "127.0.0.1,localhost",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
        if name.endswith("PROXY"):
            monkeypatch.setenv(name.lower(), value)


@contextlib.contextmanager
def running(agent: str, workspace: Path, sessions: Sessions) -> Generator[Session]:
    """Give a session with ``agent`` in ``workspace``, whose requests wait for the test; ended at the end."""
    try:
        session = sessions.get(agent)
        session.set_roots(str(workspace), ())
        with session.attended():
            yield session
    finally:
        sessions.close()


def wait_for(run: TurnRun, what: str, seen: Callable[[], T]) -> T:
    """Return what ``seen`` returns as soon as it is true; it is called at each change of the session."""
    ready = threading.Event()

    def look(_changes: object = None) -> None:
        if seen():
            ready.set()

    stop = run.session.listen(look)
    run.on_done(ready.set)
    try:
        with run.session.lock:
            look()
        assert ready.wait(TIMEOUT_S), f"no {what} within {TIMEOUT_S} s: {run.turn!r}, {run.session.stderr}"
    finally:
        stop()
    result = seen()
    assert result, f"the turn was over before {what}: {run.turn!r}, {run.turn.error}"
    return result


def called(session: Session, method: str) -> bool:
    """Whether the agent has called that client method."""
    return any(f.direction == "in" and f.message.get("method") == method for f in list(session.frames))


def sent(session: Session, method: str) -> int:
    """How often we have sent that method."""
    return sum(f.direction == "out" and f.message.get("method") == method for f in list(session.frames))
