"""Writes ``docs/help.md`` from the code: `python -m tests.docs.help`."""

from __future__ import annotations

import os
from pathlib import Path

FILE = Path(__file__).resolve().parents[2] / "docs" / "help.md"


def help_markdown() -> str:
    """Return the page: the help of both magics, at a fixed width."""
    os.environ["COLUMNS"] = "110"  # argparse folds at the terminal's width
    from acp_jupyter.magics import parser  # noqa: PLC0415  # after the width is set

    parts = [
        "# Help",
        "Generated from the code; `%%acp --help`, `%acp --help` and `%acp COMMAND --help` print the same.",
    ]
    parts += [f"## %%acp\n\n```\n{parser.cell_help().rstrip()}\n```"]
    parts += [f"## %acp\n\n```\n{parser.line_help().rstrip()}\n```"]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    FILE.write_text(help_markdown(), "utf-8")
