"""Writes ``docs/help.md`` from the code: `python -m tests.docs.help`."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

FILE = Path(__file__).resolve().parents[2] / "docs" / "help.md"
TESTING = FILE.with_name("testing.md")


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


def steps_markdown() -> str:
    """Return the table of a script's steps, out of the docstrings."""
    from acp_jupyter.testing.player import VERBS  # noqa: PLC0415  # as above

    import_module("acp_jupyter.testing.steps")  # it fills the table

    rows = ["| step | options | |", "|---|---|---|"]
    for name, verb in VERBS.items():
        options = ", ".join(f"`{option}`" for option in sorted(verb.options))
        told = " ".join((verb.play.__doc__ or "").split()).replace("|", "\\|")
        rows.append(f"| `{name}` | {options} | {told} |")
    return "\n".join(rows) + "\n"


def with_steps(page: str) -> str:
    """Return the page about testing with its table, which is its end, written anew."""
    return page.partition("| step |")[0] + steps_markdown()


if __name__ == "__main__":
    FILE.write_text(help_markdown(), "utf-8")
    TESTING.write_text(with_steps(TESTING.read_text("utf-8")), "utf-8")
