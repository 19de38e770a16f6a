"""A JupyterLab server, and a notebook in a browser's page, driven as a person drives it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from playwright.sync_api import expect

from ..notebook.kernels import REPOSITORY, kernel_python  # noqa: TID252  # tests are no installed package

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Browser, Locator, Page
    from typing_extensions import Self

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
_TOKEN = "for-the-tests"  # noqa: S105  # it guards a server on loopback that lives for one test run
_START_S = 60
_KERNEL_READY = """async () => {
  const context = window.jupyterapp.shell.currentWidget.sessionContext;
  await context.ready;
  await context.session.kernel.info;
}"""
_WAIT_MS = 30_000
# errors of Notebook 7.6's own, on every page, also without our extension
_OWN = ("reading 'schema'", "Command 'filebrowser:open-path' not registered")


class Server:
    """A JupyterLab server, started in a folder that holds its notebooks and settings.

    Args:
        folder: An empty folder.
        disabled: Names of JupyterLab extensions that it does not serve.
    """

    def __init__(self, folder: Path, disabled: tuple[str, ...] = ()) -> None:
        self._disabled = disabled
        self.root = folder / "notebooks"
        self.root.mkdir()
        self._home = folder
        self._process: subprocess.Popen[bytes] | None = None
        self.port = _free_port()

    def __enter__(self) -> Self:
        settings = {
            "JUPYTER_CONFIG_DIR": str(self._home / "config"),
            "JUPYTER_DATA_DIR": str(self._home / "data"),
            "JUPYTERLAB_SETTINGS_DIR": str(self._home / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(self._home / "workspaces"),
            "IPYTHONDIR": str(self._home / "ipython"),
            "ACP_DEMO_SPEED": os.environ.get("ACP_DEMO_SPEED", "1"),
        }
        options = [
            "--no-browser",
            "--ip=127.0.0.1",
            f"--port={self.port}",
            "--ServerApp.port_retries=0",
            f"--IdentityProvider.token={_TOKEN}",
            f"--ServerApp.root_dir={self.root}",
            "--LabApp.expose_app_in_browser=True",  # for the commands that a test executes
            "--JupyterNotebookApp.expose_app_in_browser=True",
            "--allow-root",
        ]
        quiet = self._home / "settings" / "@jupyterlab" / "apputils-extension"
        quiet.mkdir(parents=True)
        (quiet / "notification.jupyterlab-settings").write_text(
            '{"fetchNews": "false", "checkForUpdates": false}'
        )
        page = self._home / "config" / "labconfig"
        page.mkdir(parents=True)
        (page / "page_config.json").write_text(
            json.dumps({"disabledExtensions": dict.fromkeys(self._disabled, True)})
        )
        self._write_kernel()
        log = (self._home / "server.log").open("wb")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options],
            env=os.environ | settings,
            stdout=log,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        log.close()
        self._wait_until_up()
        return self

    def __exit__(self, *_exc: object) -> None:
        assert self._process is not None
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(10)

    def _write_kernel(self) -> None:
        """The tested interpreter's kernel, which finds the package in this checkout."""
        spec = {
            "argv": [kernel_python(), "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            "display_name": "Python 3",
            "language": "python",
            "env": {"PYTHONPATH": str(REPOSITORY)},
        }
        folder = self._home / "data" / "kernels" / "python3"
        folder.mkdir(parents=True)
        (folder / "kernel.json").write_text(json.dumps(spec))

    def url(self, path: str) -> str:
        """Return the address of a page of the server."""
        return f"http://127.0.0.1:{self.port}/{path}?token={_TOKEN}"

    def api(self, path: str, method: str = "GET") -> Any:
        """Call the server's own interface."""
        request = urllib.request.Request(self.url(f"api/{path}"), method=method)  # noqa: S310  # loopback
        request.add_header("Authorization", f"token {_TOKEN}")
        with urllib.request.urlopen(request, timeout=10) as response:  # noqa: S310  # as above
            body = response.read()
        return json.loads(body) if body else None

    def _wait_until_up(self) -> None:
        end = time.monotonic() + _START_S
        while True:
            with contextlib.suppress(OSError):
                self.api("status")
                return
            assert self._process is not None
            died = self._process.poll() is not None
            if died or time.monotonic() > end:
                raise RuntimeError((self._home / "server.log").read_text()[-4000:])
            self._pause()

    def _pause(self) -> None:
        assert self._process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.2)


class Notebook:
    """A notebook, open in a page of its own.

    Args:
        browser: Where the page is opened.
        server: Where the notebook is.
        name: Its file's name, without the ending; its folder has the same name.
        cells: The sources of its code cells.
        size: The page's width and height in pixels.
        dark: Whether JupyterLab's dark theme is used.
        ui: ``lab``, or ``notebook`` for Notebook 7.
    """

    def __init__(  # noqa: PLR0913  # each is named at the call
        self,
        browser: Browser,
        server: Server,
        name: str,
        cells: list[str],
        *,
        size: tuple[int, int],
        dark: bool = False,
        ui: str = "lab",
    ) -> None:
        self._server = server
        self._ui = ui
        self._browser = browser
        self.folder = server.root / name
        self.folder.mkdir()
        self.path = self.folder / f"{name}.ipynb"
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        made = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(source) for source in cells], metadata=kernel
        )
        nbformat.write(made, self.path)
        self._size = size
        self.errors: list[str] = []
        self.page = self.new_page()
        self.open(dark=dark)

    def new_page(self) -> Page:
        """Make an empty page, a further tab."""
        page = self._browser.new_page(viewport={"width": self._size[0], "height": self._size[1]})
        page.set_default_timeout(_WAIT_MS)
        page.on("pageerror", lambda error: self._note(str(error)))
        page.on("dialog", lambda dialog: dialog.accept())  # the page is left as it stands
        return page

    def _note(self, error: str) -> None:
        if not any(words in error for words in _OWN):
            self.errors.append(error)

    def open(self, *, dark: bool = False) -> None:
        """Open the notebook alone, and wait for its kernel."""
        where = "lab/tree" if self._ui == "lab" else "notebooks"
        address = self._server.url(f"{where}/{self.folder.name}/{self.path.name}")
        self.page.goto(f"{address}&reset")  # without the notebooks that earlier pages had open
        expect(self.page.locator(".jp-Notebook .jp-CodeCell").first).to_be_visible(timeout=_WAIT_MS)
        self.command("apputils:change-theme", {"theme": f"JupyterLab {'Dark' if dark else 'Light'}"})
        light = "false" if dark else "true"
        expect(self.page.locator(f"body[data-jp-theme-light='{light}']")).to_be_attached()
        self.page.evaluate(_KERNEL_READY)
        if self._ui == "lab":
            self.page.evaluate(
                "() => { const {shell} = window.jupyterapp; shell.collapseLeft(); shell.collapseRight(); }"
            )

    def command(self, name: str, args: dict[str, Any] | None = None) -> None:
        """Execute one of JupyterLab's commands."""
        self.page.evaluate(
            "([name, args]) => window.jupyterapp.commands.execute(name, args)", [name, args or {}]
        )

    def cell(self, index: int) -> Locator:
        """Return a code cell, from 0."""
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(index)

    def prompt(self, index: int) -> str:
        """Return the execution prompt of a cell: ``[ ]:``, ``[*]:``, ``[3]:``."""
        return " ".join(self.cell(index).locator(".jp-InputArea-prompt").inner_text().split())

    def run(self, index: int) -> Locator:
        """Run a cell, without waiting for its end, and return its output area."""
        before = self.prompt(index)
        cell = self.cell(index)
        for _ in range(20):  # a key pressed right after the notebook has opened can be lost
            cell.locator(".cm-content").click()
            self.page.keyboard.press("Control+Enter")
            with contextlib.suppress(AssertionError):
                self.until(lambda: self.prompt(index) != before, timeout_s=1)
                return cell.locator(".jp-OutputArea").first
        raise AssertionError(f"cell {index} does not run; its prompt stays {before!r}")

    def ended(self, index: int, *, timeout_s: float = 60) -> None:
        """Wait until a cell has ended."""
        prompt = self.cell(index).locator(".jp-InputArea-prompt")
        expect(prompt).to_have_text(re.compile(r"\[\d+\]:"), timeout=timeout_s * 1000)

    def printed(self, index: int) -> str:
        """Run a cell to its end and return what it printed."""
        output = self.run(index)
        self.ended(index)
        return output.locator(".jp-OutputArea-output").first.inner_text()

    def kernel_id(self) -> str:
        """Return the id of the notebook's kernel."""
        sessions = self._server.api("sessions")
        return next(one["kernel"]["id"] for one in sessions if one["path"].startswith(self.folder.name))

    def end_kernel(self) -> None:
        """End the notebook's session: the next opening starts a fresh kernel."""
        for session in self._server.api("sessions"):
            if session["path"].startswith(self.folder.name):
                self._server.api(f"sessions/{session['id']}", "DELETE")

    def interrupt(self) -> None:
        """Interrupt the kernel, by the notebook's own command."""
        self.command("notebook:interrupt-kernel")

    def save(self) -> Any:
        """Save the notebook and return what the file holds."""
        before = self.path.stat().st_mtime_ns
        self.command("docmanager:save")
        self.until(lambda: self.path.stat().st_mtime_ns != before)
        return nbformat.read(self.path, as_version=4)

    def until(self, seen: Callable[[], object], timeout_s: float = 20) -> None:
        """Look, while the page lives on, until ``seen()`` is true."""
        end = time.monotonic() + timeout_s
        while not seen():
            assert time.monotonic() < end, f"not seen within {timeout_s} s"
            self.page.wait_for_timeout(20)

    def close(self) -> None:
        """Close the page and end its kernel."""
        self.page.close()
        self.end_kernel()
        shutil.rmtree(self.folder / "acp-demo", ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
