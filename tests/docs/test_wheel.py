"""The wheel: what it carries, and each thing once."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_wheel_carries_the_front_end_once_and_needs_no_node(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for needed in (
        "acp_jupyter/static/renderer.js",
        "acp_jupyter/static/loader.js",
        "acp_jupyter/py.typed",
        "acp_jupyter/testing/project/test_stats.py",
    ):
        assert names.count(needed) == 1, needed
    extension = [name for name in names if name.endswith("labextensions/acp-jupyter/package.json")]
    assert len(extension) == 1
    assert [name for name in names if name.startswith("acp_jupyter/labextension")] == []
