"""The card in a real browser: 10,000 chunks flat out reach the page, all of them and in order."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import expect, sync_playwright

from acp_jupyter.testing import script_command
from benchmarks.card import FLOOD, WORDS, most_in_a_second
from benchmarks.support import Report, alone
from tests.browser.lab import CHROMIUM_FLAGS, Notebook, Server

if TYPE_CHECKING:
    from playwright.sync_api import Locator

_SETUP = """%load_ext acp_jupyter
import sys
from acp_jupyter.kernel.sessions import sessions
sessions().agents.add("flood", sys.executable, {args!r})"""
_WATCH = """() => {
  const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  window.benchTimes = [];
  kernel.anyMessage.connect((_kernel, {msg, direction}) => {
    const told = msg.header.msg_type === "comm_msg" && msg.content.data.method === "custom";
    const shown = ["display_data", "update_display_data"].includes(msg.header.msg_type);
    if (direction === "recv" && (told || shown)) window.benchTimes.push(performance.now() / 1000);
  });
}"""
_TIMEOUT_MS = 60_000


def _words(card: Locator) -> list[str]:
    """Return the agent's answer as it stands on the page."""
    return " ".join(card.locator(".acp-message").all_text_contents()).split()


def _flood(notebook: Notebook, go: Path, report: Report) -> None:
    notebook.run(0)
    notebook.ended(0)
    notebook.page.evaluate(_WATCH)
    output = notebook.run(1)
    card = output.locator(".acp-turn")
    expect(card.locator(".acp-message").first).to_contain_text("Begun.")  # the live card is there
    begun = time.monotonic()
    go.with_suffix(".flood").touch()
    expect(card).to_contain_text(WORDS[-1], timeout=_TIMEOUT_MS)
    took = time.monotonic() - begun
    assert notebook.prompt(1) == "[*]:", "the turn has ended: this is not the live card"
    assert _words(card) == ["Begun.", *WORDS], "chunks are missing on the page, or out of order"
    go.touch()
    notebook.ended(1)
    expect(output.locator(".acp-turn")).to_have_attribute("data-state", "done")
    assert _words(output.locator(".acp-turn")) == ["Begun.", *WORDS], "the saved card is another"
    assert notebook.errors == [], notebook.errors
    times: list[float] = notebook.page.evaluate("() => window.benchTimes")
    report.note(f"all {len(WORDS):,} chunks on the page, in order, {took:.2f} s after the agent began")
    report.at_most("in Chromium: messages to the card in the fullest second", most_in_a_second(times), 30)


def main(report: Report) -> None:
    """Measure, once."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        report.miss("in Chromium: none is here; set CHROMIUM to its path, or install it")
        return
    with tempfile.TemporaryDirectory(prefix="lab-", ignore_cleanup_errors=True) as name:
        go = Path(name, "go")
        script = [
            {"text": "Begun. "},
            {"until_file": str(go.with_suffix(".flood"))},
            FLOOD,
            {"until_file": str(go)},
        ]
        args = script_command(script, Path(name, "flood.json"))[1:]
        cells = [_SETUP.format(args=args), "%%acp flood\nGo."]
        with Server(Path(name)) as server, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
            notebook = Notebook(browser, server, "flood", cells, size=(1280, 1000))
            try:
                _flood(notebook, go, report)
            finally:
                notebook.close()
                browser.close()


if __name__ == "__main__":
    alone(main)
