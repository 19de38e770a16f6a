"""What loading the extension costs, against the import of ipywidgets, each in a fresh interpreter."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from benchmarks.support import Report, alone, pairs

_TIMED = """
import json, sys, time
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
before = set(sys.modules)
begun = time.perf_counter()
{what}
took = time.perf_counter() - begun
print(json.dumps({{"took": took, "imported": sorted(set(sys.modules) - before)}}))
"""
_OURS = "shell.run_line_magic('load_ext', 'acp_jupyter')"
_THEIRS = "import ipywidgets"


def _once(what: str) -> dict[str, Any]:
    ran = subprocess.run(
        [sys.executable, "-c", _TIMED.format(what=what)], capture_output=True, text=True, check=True
    )
    return json.loads(ran.stdout.splitlines()[-1])


def main(report: Report) -> None:
    """Measure."""
    mine, widgets, ratio = pairs(lambda: _once(_OURS)["took"], lambda: _once(_THEIRS)["took"])
    report.note(f"%load_ext {mine * 1000:.1f} ms, import ipywidgets {widgets * 1000:.1f} ms")
    beyond = [name for name in _once(_OURS)["imported"] if not name.startswith("acp_jupyter.magics")]
    report.note(f"beyond the magics it imports: {', '.join(beyond)}")
    report.at_most("%load_ext acp_jupyter, times import ipywidgets", ratio, 1.5)


if __name__ == "__main__":
    alone(main)
