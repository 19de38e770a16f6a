"""The order of the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come last: Playwright keeps an event loop running in the thread that other tests use."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)
