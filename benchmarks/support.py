"""What the benchmarks share: pairs, medians, and a line for each bound."""

from __future__ import annotations

import gc
import statistics
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PAIRS = 5


class Report:
    """Prints a line for each bound, and remembers whether all were kept."""

    def __init__(self) -> None:
        self.missed: list[str] = []

    def at_most(self, what: str, value: float, bound: float, unit: str = "") -> None:
        """Tell a value that is to be at most ``bound``."""
        self._tell(what, value, f"at most {bound:g}", unit, kept=value <= bound)

    def at_least(self, what: str, value: float, bound: float, unit: str = "") -> None:
        """Tell a value that is to be at least ``bound``."""
        self._tell(what, value, f"at least {bound:g}", unit, kept=value >= bound)

    def note(self, text: str) -> None:
        """Tell what stands behind a ratio."""
        print(f"       {text}", flush=True)

    def miss(self, what: str) -> None:
        """Tell what could not be measured, and so is not known to be kept."""
        print(f"MISSED {what}", flush=True)
        self.missed.append(what)

    def verdict(self) -> int:
        """Tell whether all bounds were kept, and return the exit code that says so."""
        print(f"\n{len(self.missed)} missed" if self.missed else "\nevery bound is kept")
        return 1 if self.missed else 0

    def _tell(self, what: str, value: float, bound: str, unit: str, *, kept: bool) -> None:
        mark = "ok    " if kept else "MISSED"
        print(f"{mark} {what:66} {value:8.2f} {unit:6} ({bound})", flush=True)
        if not kept:
            self.missed.append(what)


def alone(measure: Callable[[Report], None]) -> None:
    """Run one subject's benchmark as a program."""
    report = Report()
    measure(report)
    sys.exit(report.verdict())


def pairs(
    one: Callable[[], float], other: Callable[[], float], count: int = PAIRS
) -> tuple[float, float, float]:
    """Take two measurements in turn, so that a noisy machine is noisy to both.

    Returns:
        The median of each, and the median of the pairs' ratios, one to the other.
    """
    taken: list[tuple[float, float]] = []
    for _ in range(count):
        gc.collect()  # what the one left behind must not slow the other
        first = one()
        gc.collect()
        taken.append((first, other()))
    ones, others = zip(*taken, strict=True)
    ratios = [first / second for first, second in taken]
    return statistics.median(ones), statistics.median(others), statistics.median(ratios)
