"""Nobody there: nbclient runs the notebook, with a policy and without."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

pytestmark = pytest.mark.notebook

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MIME = "application/vnd.acp-jupyter.turn.v1+json"


def execute(cells: list[str], folder: Path) -> Any:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    run(notebook, folder)
    return notebook


def run(notebook: Any, folder: Path) -> None:
    NotebookClient(notebook, timeout=100, resources={"metadata": {"path": str(folder)}}).execute()


def said(cell: Any) -> str:
    streams = [output["text"] for output in cell.outputs if output["output_type"] == "stream"]
    return "".join(streams) + "".join(o["data"]["text/plain"] for o in cell.outputs if "data" in o)


def test_without_a_policy_the_request_is_rejected_and_the_output_says_what_to_type(tmp_path: Path) -> None:
    begun = time.monotonic()
    notebook = execute(
        ["%load_ext acp_jupyter", "%%acp demo\nMake the failing test pass.", "1 + 1"], tmp_path
    )
    assert time.monotonic() - begun < 60
    assert notebook.cells[2].outputs[0]["data"]["text/plain"] == "2", "the notebook went on"
    displays = [output for output in notebook.cells[1].outputs if output["output_type"] == "display_data"]
    assert len(displays) == 1
    document = displays[0]["data"][MIME]
    assert [one["decided_by"] for one in document["permissions"].values()] == ["nobody"]
    for text in (
        said(notebook.cells[1]),
        displays[0]["data"]["text/html"],
        displays[0]["data"]["text/plain"],
    ):
        assert "acp-demo/stats.py" in text, "the operation"
        assert "--approve edits" in text, "what to type"
        assert "policy edits" in text, "the rule that would allow it"
        assert "nobody could be asked" in text
    assert "Warning: Edit" in said(notebook.cells[1])


def test_without_a_policy_but_with_check_the_notebook_fails(tmp_path: Path) -> None:
    with pytest.raises(CellExecutionError, match="TurnNotClean"):
        execute(["%load_ext acp_jupyter", "%%acp demo --check\nMake the failing test pass."], tmp_path)


def test_the_headless_example_names_the_policy_that_approved(tmp_path: Path) -> None:
    notebook = nbformat.read(EXAMPLES / "02_headless.ipynb", as_version=4)
    run(notebook, tmp_path)
    text = "".join(said(cell) for cell in notebook.cells if cell.cell_type == "code")
    assert "policy allow-once-all" in text
    assert "WITHOUT ASKING" in text
    assert "OK" in text
    again = subprocess.run([sys.executable, "-m", "unittest", "-q"], cwd=tmp_path / "acp-demo", check=False)
    assert again.returncode == 0, "the demo's test passes"


def test_the_first_example_runs_to_its_end_with_nobody_there(tmp_path: Path) -> None:
    notebook = nbformat.read(EXAMPLES / "01_first_task.ipynb", as_version=4)
    run(notebook, tmp_path)
    assert "demo" in said(notebook.cells[-1])
