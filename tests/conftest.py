"""The order of the tests, and the check of every message that we send in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from .protocol.official import SCHEMA, faults
from .protocol.recording import by_peer, recorded

if TYPE_CHECKING:
    from collections.abc import Iterator

settings.register_profile("ours", deadline=None)  # how fast a machine is shows no fault
settings.load_profile("ours")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come last: Playwright keeps an event loop running in the thread that other tests use."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


@pytest.fixture(autouse=True)
def official_messages(request: pytest.FixtureRequest) -> Iterator[None]:
    """At a test's end: what it had us send is valid by the official schema, unless it says why not."""
    if request.node.get_closest_marker("unofficial") or not SCHEMA.exists():
        yield
        return
    with recorded() as frames:
        yield
    assert [fault for messages in by_peer(frames) for fault in faults(messages)] == []
