from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .bench import Bench


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
