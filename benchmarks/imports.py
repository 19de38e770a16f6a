"""What loading the extension costs, against the import of ipywidgets, each in a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.support import Report, pairs

_TIMED = """
import time
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
begun = time.perf_counter()
{what}
print(time.perf_counter() - begun)
"""
OURS = "shell.run_line_magic('load_ext', 'acp_jupyter')"
THEIRS = "import ipywidgets"


def _once(what: str) -> float:
    ran = subprocess.run(
        [sys.executable, "-c", _TIMED.format(what=what)], capture_output=True, text=True, check=True
    )
    return float(ran.stdout.split()[-1])


def main(report: Report) -> None:
    """Measure."""
    mine, widgets = pairs(lambda: _once(OURS), lambda: _once(THEIRS))
    print(f"       %load_ext {mine * 1000:.1f} ms, import ipywidgets {widgets * 1000:.1f} ms")
    report.at_most("%load_ext acp_jupyter, times import ipywidgets", mine / widgets, 1.5)


if __name__ == "__main__":
    main(Report())
