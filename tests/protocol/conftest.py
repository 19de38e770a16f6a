from __future__ import annotations

from tests.session.conftest import bench

__all__ = ["bench"]  # the same fixture
