"""Nobody there: papermill, `jupyter execute` and nbconvert run the first example, with and without policy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import nbformat
import pytest

pytestmark = pytest.mark.notebook

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MIME = "application/vnd.acp-jupyter.turn.v1+json"
WIDGET_MIME = "application/vnd.jupyter.widget-view+json"
RUNNERS = {
    "papermill": ["-m", "papermill", "in.ipynb", "out.ipynb", "--no-progress-bar"],
    "jupyter execute": ["-m", "jupyter", "execute", "--output=out", "in.ipynb"],
    "nbconvert": [
        "-m",
        "jupyter",
        "nbconvert",
        "--to",
        "notebook",
        "--execute",
        "--output",
        "out",
        "in.ipynb",
    ],
}
LONGEST_S = 90


@pytest.fixture(params=RUNNERS)
def runner(request: pytest.FixtureRequest) -> list[str]:
    return RUNNERS[request.param]


def run(runner: list[str], folder: Path, *, first_line: str = "%%acp demo", **env: str) -> Any:
    """Run the first example in a folder of its own; what it leaves, and its exit code."""
    notebook = nbformat.read(EXAMPLES / "01_first_task.ipynb", as_version=4)
    for cell in notebook.cells:
        cell.source = cell.source.replace("%%acp demo", first_line)
    nbformat.write(notebook, folder / "in.ipynb")
    settings = {"ACP_DEMO_SPEED": "0.2", "XDG_CONFIG_HOME": str(folder / "config"), "HOME": str(folder)}
    return subprocess.run(
        [sys.executable, *runner],
        cwd=folder,
        env=os.environ | settings | env,
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )


def left(folder: Path) -> tuple[dict[str, Any], str]:
    """The saved turn, and all that the notebook says."""
    text = (folder / "out.ipynb").read_text("utf-8")
    notebook = json.loads(text)
    assert WIDGET_MIME not in text, "no widget view"
    assert "widgets" not in notebook["metadata"], "no widget state"
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    (turn, *_) = [output["data"] for output in outputs if MIME in output.get("data", {})]
    streams = ["".join(output["text"]) for output in outputs if output["output_type"] == "stream"]
    return turn[MIME], "".join([*streams, *turn["text/plain"]])


def test_n12_with_a_policy_it_completes(runner: list[str], tmp_path: Path) -> None:
    ran = run(runner, tmp_path, ACP_JUPYTER_POLICY="allow-once-all")
    assert ran.returncode == 0, ran.stderr
    turn, said = left(tmp_path)
    assert turn["state"] == "done"
    assert [one["decided_by"] for one in turn["permissions"].values()] == ["policy", "policy"]
    assert "allow-once-all" in said
    tested = subprocess.run([sys.executable, "-m", "unittest", "-q"], cwd=tmp_path / "acp-demo", check=False)
    assert tested.returncode == 0


def test_n12_without_a_policy_it_finishes_rejected_and_says_how(runner: list[str], tmp_path: Path) -> None:
    begun = time.time()
    ran = run(runner, tmp_path)
    assert ran.returncode == 0, ran.stderr
    turn, said = left(tmp_path)
    (request,) = turn["permissions"].values()
    assert request["decided_by"] == "nobody"
    assert begun < request["opened_at"] < request["decided_at"] < request["opened_at"] + 5, "nothing waits"
    assert "--approve edits" in said
    assert "nobody could be asked" in said


def test_n12_with_check_the_exit_code_tells(runner: list[str], tmp_path: Path) -> None:
    ran = run(runner, tmp_path, first_line="%%acp demo --check")
    assert ran.returncode != 0
    assert "TurnNotClean" in ran.stderr


def test_a_policy_on_the_cell_is_nearer_than_the_environments(tmp_path: Path) -> None:
    ran = run(
        RUNNERS["papermill"],
        tmp_path,
        first_line="%%acp demo --approve allow-once-all",
        ACP_JUPYTER_POLICY="reject",
    )
    assert ran.returncode == 0, ran.stderr
    turn, _ = left(tmp_path)
    assert (turn["policy"], turn["state"]) == ("allow-once-all", "done")
    assert [one["state"] for one in turn["permissions"].values()] == ["selected", "selected"]
