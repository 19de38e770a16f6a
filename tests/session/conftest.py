from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .bench import Bench
from .official import SCHEMA, faults


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """At the end: nothing that we sent was against the agent's rules, nor against the official schema."""
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
        if SCHEMA.exists():  # tests of the schema itself say where it is not
            for session in bench.sessions:
                assert faults([(frame.direction, frame.message) for frame in session.frames]) == []
    finally:
        bench.close()
