"""Run every benchmark: ``python -m benchmarks [NAME...]``; exit code 1 where a bound was missed."""

from __future__ import annotations

import sys

from benchmarks import card, imports, memory, wire
from benchmarks.support import Report

ALL = {"imports": imports.main, "wire": wire.main, "memory": memory.main, "card": card.main}


def main() -> int:
    """Run those that are named, or all."""
    report = Report()
    for name in sys.argv[1:] or ALL:
        print(f"{name}:", flush=True)
        ALL[name](report)
    print(f"\n{len(report.missed)} bounds missed" if report.missed else "\nevery bound is kept")
    return 1 if report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
