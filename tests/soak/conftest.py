"""The bench of the session's tests."""

from ..session.conftest import bench  # noqa: F401, TID252  # a fixture; tests are no installed package
