"""500 tool calls in JupyterLab in Chromium, beside the same cards composed of stock ipywidgets."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import sync_playwright

from acp_jupyter.testing import script_command
from benchmarks.support import Report, alone
from tests.browser.lab import CHROMIUM_FLAGS, Notebook, Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CALLS = 500
_ROUNDS = 3
_ADD = """%load_ext acp_jupyter
import sys
from acp_jupyter.kernel.sessions import sessions
sessions().agents.add("calls", sys.executable, {args!r})"""
# What a notebook's author would write: a box that is opened for each call, and its status in the title.
_STOCK = """import html, json, pathlib, time
import ipywidgets as W
from IPython.display import display
calls = json.loads(pathlib.Path({calls!r}).read_text())
class Turn:
    def __init__(self):
        self.body, self.shown = W.VBox([]), {{}}
        display(W.VBox([W.HTML("<b>calls</b> running"), self.body]))
    def tell(self, update):
        box = self.shown.get(update["toolCallId"])
        if box is None:
            raw = html.escape(json.dumps(update["rawInput"], indent=1))
            inner = W.VBox([W.HTML(f"<pre>{{raw}}</pre>")])
            box = self.shown[update["toolCallId"]] = W.Accordion([inner])
            box.set_title(0, f"{{update['title']}} ({{update['status']}})")
            self.body.children += (box,)
        else:
            text = update["content"][0]["content"]["text"]
            box.children[0].children += (W.HTML(f"<pre>{{html.escape(text)}}</pre>"),)
            box.set_title(0, f"{{box.get_title(0).rpartition(' (')[0]}} ({{update['status']}})")"""
# Without its rests so many messages go out that some are dropped on the way; the page takes longer than they.
_TELL = """turn = Turn()
while not pathlib.Path({go!r}).exists():
    time.sleep(0.005)
for n, update in enumerate(calls):
    turn.tell(update)
    if n % 20 == 0:
        time.sleep(0.1)"""
# the titles that say that a call is done
_STOCK_DONE = ".jp-OutputArea .jupyter-widget-Collapse-header"
_WATCH = """([selector, count, word]) => new Promise((done, failed) => {
  const begun = performance.now();
  const look = () => {
    const shown = document.querySelectorAll(selector);
    const whole = shown.length === count && [...shown].slice(-9).every(one => one.textContent.includes(word));
    document.body.offsetHeight; // laid out
    const took = performance.now() - begun;
    if (whole) done(took);
    else if (took > 60000) failed(new Error(`${shown.length} of ${count} are shown`));
    else setTimeout(look, 10);
  };
  look();
})"""
_COUNT = """() => {
  const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  window.benchBytes = {};
  kernel.anyMessage.connect((_kernel, {msg, direction}) => {
    const kind = msg.header.msg_type.startsWith('comm') ? 'widgets' : 'output';
    const bytes = new TextEncoder().encode(JSON.stringify(msg.content)).length;
    if (direction === 'recv') window.benchBytes[kind] = (window.benchBytes[kind] ?? 0) + bytes;
  });
}"""


def updates() -> list[dict[str, Any]]:
    """Return the updates of the calls: each is begun, and told of a second time at its end."""
    told: list[dict[str, Any]] = []
    for n in range(CALLS):
        path = f"/work/project/src/module_{n}.py"
        begun = {"title": f"Read module_{n}.py", "kind": "read", "status": "in_progress"}
        at = {"rawInput": {"path": path, "limit": 200}, "locations": [{"path": path, "line": n + 1}]}
        text = {
            "type": "content",
            "content": {"type": "text", "text": f"def function_{n}():\n    return {n}"},
        }
        told.append({"sessionUpdate": "tool_call", "toolCallId": f"call-{n}", **begun, **at})
        done = {"status": "completed", "content": [text], "rawOutput": {"lines": 2}}
        told.append({"sessionUpdate": "tool_call_update", "toolCallId": f"call-{n}", **done})
    return told


class _Lab:
    """A server and a browser; each measurement has a notebook of its own."""

    def __init__(self, browser: Browser, server: Server, folder: Path) -> None:
        self._browser, self._server, self._folder = browser, server, folder
        self._number = 0

    def measure(self, cells: list[str], selector: str, word: str, go: Path) -> tuple[float, dict[str, int]]:
        """Return the seconds until all stands on the page, and the bytes that came, by kind of message."""
        self._number += 1
        notebook = Notebook(self._browser, self._server, f"calls{self._number}", cells, size=(1280, 1000))
        try:
            notebook.run(0)
            notebook.ended(0)
            notebook.run(1)
            notebook.page.wait_for_timeout(1500)  # the empty card, and its script, are there
            notebook.page.evaluate(_COUNT)
            go.touch()
            took: float = notebook.page.evaluate(_WATCH, [selector, CALLS, word])
            notebook.ended(1)
            assert notebook.page.locator(selector).count() == CALLS
            return took / 1000, notebook.page.evaluate("() => window.benchBytes")
        finally:
            notebook.close()
            go.unlink(missing_ok=True)

    def ours(self) -> tuple[float, dict[str, int]]:
        """The card."""
        go = self._folder / "go"
        steps = [{"text": "Begun."}, {"until_file": str(go)}, *({"update": one} for one in updates())]
        args = script_command(steps, self._folder / "calls.script.json")[1:]
        done = ".acp-turn .acp-tool-call[data-status=completed]"
        return self.measure([_ADD.format(args=args), "%%acp calls\nGo."], done, "", go)

    def stock(self) -> tuple[float, dict[str, int]]:
        """The same of stock ipywidgets."""
        go, calls = self._folder / "go", self._folder / "calls.json"
        calls.write_text(json.dumps(updates()))
        cells = [_STOCK.format(calls=str(calls)), _TELL.format(go=str(go))]
        return self.measure(cells, _STOCK_DONE, "completed", go)


def main(report: Report) -> None:
    """Measure in pairs."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        report.miss("in Chromium: none is here; set CHROMIUM to its path, or install it")
        return
    with (
        tempfile.TemporaryDirectory(prefix="lab-", ignore_cleanup_errors=True) as name,
        Server(Path(name)) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        lab = _Lab(browser, server, Path(name))
        taken = [(lab.ours(), lab.stock()) for _ in range(_ROUNDS)]
        browser.close()
    for (ours, sent), (stock, stock_sent) in taken:
        report.note(
            f"card {ours:.2f} s, {_mb(sent, 'widgets'):.2f} MB and {_mb(sent, 'output'):.2f} MB to be saved; "
            f"ipywidgets {stock:.2f} s, {_mb(stock_sent, 'widgets'):.2f} MB and nothing to be saved"
        )
    ratio = statistics.median(stock / ours for (ours, _), (stock, _) in taken)
    report.at_least(f"{CALLS} tool calls, times as fast as of stock ipywidgets", ratio, 12)
    wire = statistics.median(_mb(sent, "widgets") for (_, sent), _ in taken)
    report.at_most(f"{CALLS} tool calls: on the wire to the card", wire, 1, "MB")


def _mb(sent: dict[str, int], kind: str) -> float:
    return sent.get(kind, 0) / 1e6


if __name__ == "__main__":
    alone(main)
