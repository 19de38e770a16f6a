"""JupyterLab in Chromium: a real server, a real kernel, a real browser."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import sync_playwright

from .lab import CHROMIUM_FLAGS, Notebook, Server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium from `$CHROMIUM` or PATH; none is ever downloaded."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not found:
        pytest.fail("no Chromium: set CHROMIUM to its path, or install it (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=CHROMIUM_FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A JupyterLab server on loopback, in a folder of its own, whose short name is fit for pictures."""
    folder = tempfile.TemporaryDirectory(prefix="lab-", ignore_cleanup_errors=True)
    with folder as path, Server(Path(path)) as running:
        yield running


@pytest.fixture(scope="session")
def server_without() -> Iterator[Callable[[str], Server]]:
    """Return a function that gives a server on which a JupyterLab extension is disabled."""
    with contextlib.ExitStack() as stack:

        @cache
        def without(extension: str) -> Server:
            folder = tempfile.TemporaryDirectory(prefix="lab-", ignore_cleanup_errors=True)
            return stack.enter_context(Server(Path(stack.enter_context(folder)), (extension,)))

        yield without


@pytest.fixture
def open_notebook(
    browser: Browser, server: Server, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Notebook]]:
    """Return a function that opens a notebook of the given cells in a page of its own."""
    opened: list[Notebook] = []

    def open_one(
        cells: list[str], *, width: int = 1280, height: int = 1000, on: Server | None = None, **how: Any
    ) -> Notebook:
        name = f"{request.node.name.replace('[', '-').rstrip(']').removeprefix('test_')}-{len(opened)}"
        name = re.sub(r"[^\w-]+", "-", name)
        notebook = Notebook(browser, on or server, name, cells, size=(width, height), **how)
        opened.append(notebook)
        return notebook

    yield open_one
    for notebook in opened:
        notebook.close()


@pytest.fixture
def pictures() -> Path:
    """The folder for screenshots that a person looks at."""
    folder = Path(__file__).resolve().parents[2] / "build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
