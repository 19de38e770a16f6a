"""Execute a notebook without a browser; print what the agent did; leave the executed notebook and its HTML.

    python examples/run_headless.py NOTEBOOK FOLDER

The kernel runs in FOLDER, so that is where an agent works.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter

TURN = "application/vnd.acp-jupyter.turn.v1+json"


def main() -> None:
    """Do it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebook", type=Path)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    notebook = nbformat.read(options.notebook, as_version=4)
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(options.folder)}})
    try:
        client.execute()
    finally:
        executed = options.folder / options.notebook.name
        nbformat.write(notebook, executed)
        html, _ = HTMLExporter().from_notebook_node(notebook)
        executed.with_suffix(".html").write_text(html, "utf-8")
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    for output in outputs:
        if TURN in output.get("data", {}):
            sys.stdout.write(output["data"]["text/plain"] + "\n")
        elif output["output_type"] == "stream":
            sys.stdout.write(output["text"])
    sys.stdout.write(f"\nThe executed notebook: {executed}\nIts HTML: {executed.with_suffix('.html')}\n")


if __name__ == "__main__":
    main()
