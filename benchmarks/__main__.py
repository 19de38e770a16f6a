"""Run every benchmark: ``python -m benchmarks [NAME...]``; exit code 1 where a bound was missed."""

from __future__ import annotations

import sys

from benchmarks import browser, browser_calls, card, imports, memory, wire
from benchmarks.support import Report

ALL = {
    "imports": imports.main,
    "wire": wire.main,
    "memory": memory.main,
    "card": card.main,
    "browser": browser.main,
    "calls": browser_calls.main,
}


def main() -> int:
    """Run those that are named, or all."""
    names = sys.argv[1:] or list(ALL)
    if unknown := set(names) - set(ALL):
        sys.exit(f"no such benchmark: {', '.join(sorted(unknown))}; there are {', '.join(ALL)}")
    report = Report()
    for name in names:
        print(f"{name}:", flush=True)
        ALL[name](report)
    return report.verdict()


if __name__ == "__main__":
    sys.exit(main())
