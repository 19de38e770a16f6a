"""Notebooks among the client's files: the one that is being run stays its user's, others stay valid.

See https://agentclientprotocol.com/protocol/file-system. The running notebook's page holds it in memory: a
file written under its hands is either lost at the next save, or takes the user's work with it.
"""

from __future__ import annotations

import json
import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from acp_jupyter.session.files import refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_MAJOR = 4
_CELLS = ("code", "markdown", "raw")
_SHOWN = 300


def running_notebooks(told: str | None = None, environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return the paths under which the notebook of this kernel is known; none where it is no notebook's.

    Args:
        told: What the caller knows, such as VS Code's ``__vsc_ipynb_file__``.
        environ: Where Jupyter's server says it, as ``JPY_SESSION_NAME``.
    """
    names = [name for name in (environ.get("JPY_SESSION_NAME"), told) if name]
    return [os.path.abspath(name) for name in names if name.endswith(".ipynb")]  # noqa: PTH100  # not resolved: links are followed where it is compared


def check_notebook(path: Path, content: str, running: Iterable[str]) -> None:
    """Let a notebook be written only where it is not the running one, and valid.

    Args:
        path: The real path of any file; nothing is said about those that are no notebooks.
        content: What is to be written.
        running: The running notebook, as `running_notebooks` returns it.

    Raises:
        RequestError: It is the running one, or ``content`` is no notebook; the message says what to do.
    """
    if any(_same(path, one) for one in running):
        raise refusal(
            "running_notebook",
            f"{path} is the notebook that this session runs in: its user has it open, and the file is not "
            "written under their hands. Write another notebook beside it, or show the cells in your answer "
            "for them to paste.",
        )
    fault = notebook_fault(content) if path.suffix == ".ipynb" else None
    if fault is not None:
        raise refusal("notebook", f"{path} would be no valid notebook: {fault}")


def _same(path: Path, other: str) -> bool:
    try:
        return os.path.samefile(path, other)  # noqa: PTH121  # a link, another spelling where case does not count
    except OSError:
        return path == Path(os.path.realpath(other))


def notebook_fault(content: str) -> str | None:
    """Say what keeps ``content`` from being a notebook of format 4; ``None`` where nothing does."""
    try:
        document: Any = json.loads(content)
    except (ValueError, RecursionError) as error:
        return f"it is not JSON ({error})"
    if not isinstance(document, dict):
        return "it is not a JSON object"
    notebook = cast("dict[str, Any]", document)
    return _plain_fault(notebook) or _schema_fault(notebook)


def _plain_fault(notebook: dict[str, Any]) -> str | None:
    """Say what a reader of any notebook would stumble over, and where."""
    if notebook.get("nbformat") != _MAJOR:
        return f"nbformat is {notebook.get('nbformat')!r:.40}, not {_MAJOR}"
    cells = notebook.get("cells")
    if not isinstance(cells, list):
        return "cells is not a list"
    for number, cell in enumerate(cast("list[Any]", cells)):
        if not isinstance(cell, dict):
            return f"cells[{number}] is not an object"
        entry = cast("dict[str, Any]", cell)
        if entry.get("cell_type") not in _CELLS:
            return (
                f"cells[{number}].cell_type is {entry.get('cell_type')!r:.40}, not one of {', '.join(_CELLS)}"
            )
        if not isinstance(entry.get("source"), str | list):
            return f"cells[{number}].source is neither a string nor a list of strings"
    return None


def _schema_fault(notebook: dict[str, Any]) -> str | None:
    """Say what the official schema says, where nbformat is installed."""
    try:
        validator = import_module("nbformat.validator")  # slow, untyped, and no dependency of ours
    except ImportError:
        return None
    minor: Any = notebook.get("nbformat_minor")
    if not isinstance(minor, int) or isinstance(minor, bool):
        return f"nbformat_minor is {minor!r:.40}, not a number"
    for error in validator.iter_validate(notebook, relax_add_props=True):
        told = " ".join(str(validator.better_validation_error(error, _MAJOR, minor)).split())
        return told if len(told) <= _SHOWN else told[:_SHOWN] + "…"
    return None
