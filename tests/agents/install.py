"""Install the real agents that `test_real_agents.py` drives into the git-ignored folder ``.agents``, pinned.

    python tests/agents/install.py

fast-agent wants Python 3.12 or newer: ``$AGENTS_PYTHON``, the interpreter that runs this, or one found on
PATH or in pyenv's folder, whichever is the first new enough. A second run with the same pins does nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

AGENTS = Path(__file__).parents[2] / ".agents"
PROGRAMS = AGENTS / "bin"
# Each agent by its name in acp_jupyter's own table: its package, and the version that the tests are made for.
PYTHON_PINS = {"fast-agent": ("fast-agent-mcp", "0.10.48"), "agentao": ("agentao[cli]", "0.5.17")}
NPM_PINS = {"opencode": ("opencode-ai", "1.18.33")}
PINS = PYTHON_PINS | NPM_PINS
VERSIONS = {agent: version for agent, (_, version) in PINS.items()}
NEEDED_PYTHON = (3, 12)
_STAMP = AGENTS / "installed.json"


def installed() -> bool:
    """Whether the pinned versions are there."""
    return _STAMP.is_file() and json.loads(_STAMP.read_text("utf-8")) == VERSIONS


def install() -> None:
    """Install every agent afresh.

    Raises:
        SystemExit: No npm, or no Python that is new enough.
    """
    npm, python = shutil.which("npm"), _python()
    if npm is None:
        sys.exit("npm is not on PATH: install Node.js 20 or newer.")
    shutil.rmtree(AGENTS, ignore_errors=True)
    PROGRAMS.mkdir(parents=True)
    (AGENTS / ".gitignore").write_text("*\n", "utf-8")
    _with_npm(npm)
    for agent, (package, version) in PYTHON_PINS.items():
        _with_pip(python, AGENTS / agent, f"{package}=={version}")
    for program in (AGENTS / "npm/node_modules/.bin/opencode", *AGENTS.glob("*/bin/fast-agent-acp")):
        _link(program)
    _link(AGENTS / "agentao/bin/agentao")
    _STAMP.write_text(json.dumps(VERSIONS), "utf-8")


def _with_npm(npm: str) -> None:
    folder = AGENTS / "npm"
    folder.mkdir()
    wanted = dict(NPM_PINS.values())
    # opencode's own install script puts its program for this platform into place.
    manifest = {"private": True, "dependencies": wanted, "allowScripts": dict.fromkeys(wanted, True)}
    (folder / "package.json").write_text(json.dumps(manifest), "utf-8")
    subprocess.run([npm, "install", "--no-audit", "--no-fund", "--loglevel=error"], cwd=folder, check=True)


def _with_pip(python: str, folder: Path, requirement: str) -> None:
    subprocess.run([python, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin/python", "-m", "pip", "install", "--quiet", requirement], check=True)


def _link(program: Path) -> None:
    """Put one program of an environment on the tests' PATH, without the rest of it."""
    (PROGRAMS / program.name).symlink_to(program.resolve(strict=True))


def _python() -> str:
    named = os.environ.get("AGENTS_PYTHON")
    on_path = [shutil.which(f"python3.{minor}") for minor in (14, 13, 12)]
    pyenv = sorted((Path.home() / ".pyenv/versions").glob("3.*/bin/python"))
    for candidate in filter(None, [named, sys.executable, *on_path, *map(str, pyenv)]):
        if _version(candidate) >= NEEDED_PYTHON:
            return candidate
    sys.exit("fast-agent wants Python 3.12 or newer: name one in $AGENTS_PYTHON.")


def _version(python: str) -> tuple[int, ...]:
    """Ask an interpreter; a launcher of a version that is not there answers with nothing."""
    script = "import sys; print(*sys.version_info[:2])"
    answer = subprocess.run([python, "-c", script], capture_output=True, text=True, check=False)
    return tuple(map(int, answer.stdout.split()))


if __name__ == "__main__":
    if installed():
        print(f"The agents are in {AGENTS} already.")  # noqa: T201  # a script's answer
    else:
        install()
