from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .bench import Bench


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test remembers of sessions is no other test's, nor its user's."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """At the end: nothing that we sent was against the agent's rules."""
    bench = Bench(tmp_path)
    try:
        yield bench
        complaints = [
            line
            for session in bench.sessions
            for line in session.stderr.splitlines()
            if "complaint: " in line
        ]
        assert bench.may_complain or not complaints
    finally:
        bench.close()
