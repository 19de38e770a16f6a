"""Each built-in agent's command is in the package that its entry names; needs npm, pip and a network.

Run with ``pytest -m agents tests/agents/test_packages.py``; the day goes into `agent_table.py`.
"""

from __future__ import annotations

import configparser
import json
import re
import shlex
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from acp_jupyter.session.agent_table import BUILT_IN

from .outcomes import TABLE

if TYPE_CHECKING:
    from pathlib import Path

    from acp_jupyter.session.agent_spec import AgentSpec

TIMEOUT_S = 120
PYTHON = "3.12"  # one that all of them support, whichever runs this
PACKAGED = [spec for spec in BUILT_IN if spec.checked]


@pytest.mark.agents
@pytest.mark.timeout(TIMEOUT_S + 10)
@pytest.mark.parametrize("spec", PACKAGED, ids=lambda spec: spec.name)
def test_build5_the_command_is_in_its_package(spec: AgentSpec, tmp_path: Path) -> None:
    tool, packages = _packages(spec)
    commands = [
        command
        for package in packages
        for command in (_of_npm(package) if tool == "npm" else _of_pypi(package, tmp_path))
    ]
    assert spec.command in commands


def test_build5_every_entry_with_a_package_was_checked() -> None:
    assert len(PACKAGED) >= 15
    for spec in BUILT_IN:
        tool, packages = _packages(spec)
        assert bool(packages) == bool(spec.checked), spec.name
        assert tool in {"npm", "pip", "uv", ""}
        assert re.fullmatch(r"(20\d\d-\d\d-\d\d)?", spec.checked)


def test_build5_every_agent_says_how_to_install_it_and_how_to_log_in() -> None:
    for spec in BUILT_IN:
        assert spec.install
        assert spec.title
        assert spec.auth or spec.name == "demo"
        assert not spec.env or spec.name == "demo"


def test_build5_the_page_lists_every_agent_as_it_is() -> None:
    page = TABLE.read_text("utf-8")
    for spec in BUILT_IN:
        if spec.name == "demo":
            continue
        row = next(line for line in page.splitlines() if line.startswith(f"| {spec.name} | `"))
        shown = [
            " ".join((spec.command, *spec.args)),
            spec.install.removeprefix("see "),
            spec.auth,
            spec.checked,
        ]
        assert all(part in row for part in (*shown, *spec.keys))


def _packages(spec: AgentSpec) -> tuple[str, list[str]]:
    """The tool and the packages: `npm install -g A B`, `pip install "A[x]"`, `uv tool install A`."""
    words = shlex.split(spec.install) if " install " in spec.install else []
    names = [word.partition("[")[0] for word in words[words.index("install") + 1 :]] if words else []
    if "--python" in names:
        del names[names.index("--python") : names.index("--python") + 2]
    return (words[0] if words else "", [name for name in names if not name.startswith("-")])


def _of_npm(package: str) -> list[str]:
    answer = _run("npm", "view", package, "bin", "--json")
    bins: dict[str, Any] = json.loads(answer)
    return list(bins)


def _of_pypi(package: str, folder: Path) -> list[str]:
    pip = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:")
    _run(*pip, f"--python-version={PYTHON}", "--dest", str(folder), package)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (inner,) = [name for name in archive.namelist() if name.endswith("dist-info/entry_points.txt")]
        entries = configparser.ConfigParser()
        entries.read_string(archive.read(inner).decode())
    return list(entries["console_scripts"])


def _run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True).stdout
