"""A log-in that runs in a terminal: JupyterLab's own one opens, and a person presses Enter in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from .lab import Notebook, Server

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif("os.name == 'nt'", reason="the agent is a shell script"),
]

AGENT = """#!/bin/sh
[ "$1" = --login ] || exec {python} -m acp_jupyter.testing.fake_agent {script}
echo "$STAGE" > {script}.done
"""
METHOD = {"id": "tui", "name": "Log in", "type": "terminal", "args": ["--login"], "env": {"STAGE": "a b"}}
# the screen is a canvas: what the terminal itself has in its lines, which wrap
SHOWN = """text => {
  const buffer = window.jupyterapp?.shell.currentWidget?.content?._term?.buffer.active;
  const lines = Array.from({length: buffer?.length ?? 0}, (_, at) => buffer.getLine(at).translateToString());
  return lines.join("").includes(text);
}"""
SETUP = """import json, sys
from pathlib import Path
script = Path("script.json").absolute()
script.write_text(json.dumps({script}))
agent = Path("agent.sh").absolute()
agent.write_text(json.loads({text}).format(python=sys.executable, script=script))
agent.chmod(0o755)
%load_ext acp_jupyter
%acp add scripted -- ./agent.sh
%acp use scripted
"""


@pytest.mark.parametrize("ui", ["lab", pytest.param("notebook", marks=pytest.mark.more)])
def test_au3_a_terminal_opens_with_the_log_in_typed_in(
    open_notebook: Callable[..., Notebook], server: Server, ui: str
) -> None:
    script = {"initialize": {"authMethods": [METHOD]}, "turns": [[{"text": "hello"}]]}
    setup = SETUP.replace("{script}", repr(script)).replace("{text}", repr(json.dumps(AGENT)))
    notebook = open_notebook([setup, "%acp login", "%acp login --done"], ui=ui)
    notebook.printed(0)
    before = {one["name"] for one in server.api("terminals")}
    if ui == "lab":
        told = notebook.printed(1)
        page = notebook.page
    else:  # Notebook 7 opens it in a tab of its own
        with notebook.page.context.expect_page() as opened:
            told = notebook.printed(1)
        page = opened.value
    assert "press Enter there" in told
    assert "agent.sh --login" in told

    page.wait_for_function(SHOWN, arg="agent.sh --login")
    (name,) = {one["name"] for one in server.api("terminals")} - before
    logged_in = notebook.folder / "script.json.done"
    assert not logged_in.exists()
    page.locator(".jp-Terminal textarea").press("Enter")
    notebook.until(logged_in.exists)
    assert logged_in.read_text() == "a b\n"
    server.api(f"terminals/{name}", "DELETE")
