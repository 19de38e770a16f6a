"""What the benchmarks share: pairs, medians, and a line for each bound."""

from __future__ import annotations

import statistics
import time
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
        self._tell(what, value, "at most", bound, unit, kept=value <= bound)

    def at_least(self, what: str, value: float, bound: float, unit: str = "") -> None:
        """Tell a value that is to be at least ``bound``."""
        self._tell(what, value, "at least", bound, unit, kept=value >= bound)

    def _tell(  # noqa: PLR0913  # each is named at the call
        self, what: str, value: float, how: str, bound: float, unit: str, *, kept: bool
    ) -> None:
        mark = "ok    " if kept else "MISSED"
        print(f"{mark} {what:66} {value:8.2f} {unit:6} ({how} {bound:g})", flush=True)
        if not kept:
            self.missed.append(what)


def pairs(ours: Callable[[], float], theirs: Callable[[], float], count: int = PAIRS) -> tuple[float, float]:
    """Return the medians of two measurements, taken in turn so that a noisy machine is noisy to both."""
    taken = [(ours(), theirs()) for _ in range(count)]
    return statistics.median(one for one, _ in taken), statistics.median(other for _, other in taken)


def seconds(work: Callable[[], object]) -> float:
    """Return how long a call takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun
