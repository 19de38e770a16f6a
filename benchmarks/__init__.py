"""Measurements in ratios, side by side in one run; see ``docs/benchmarks.md``."""
