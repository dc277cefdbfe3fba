"""Rivals on the same work, run in turns, so that each sees the same machine; results as ratios."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

__all__ = ["Comparison", "Rival", "Row", "measure", "timed"]


@dataclass(frozen=True)
class Rival:
    """One way to do the work: `seconds()` does it once and tells how long it took."""

    name: str
    seconds: Callable[[], float]
    note: str = ""


@dataclass(frozen=True)
class Comparison:
    """The same work by several rivals; the first is the yardstick.

    `fits` is the number of fits of one run, if a time for each is wanted. Work of minutes has fewer runs.
    """

    topic: str
    work: str
    rivals: tuple[Rival, ...]
    fits: int = 1
    most_runs: int | None = None


@dataclass(frozen=True)
class Row:
    """A rival's result: `ratio` is how many times faster than the yardstick, median of paired runs."""

    topic: str
    work: str
    rival: str
    runs: int
    ms_per_fit: float
    ratio: float
    ratio_low: float
    ratio_high: float
    note: str


def timed(work: Callable[[], object]) -> Callable[[], float]:
    """Make a function that runs the work and returns its seconds."""

    def seconds() -> float:
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    return seconds


def measure(comparison: Comparison, runs: int) -> list[Row]:
    """Run all rivals in turns, after one turn that warms up."""
    if comparison.most_runs is not None:
        runs = min(runs, comparison.most_runs)
    for rival in comparison.rivals:
        rival.seconds()
    times = {rival.name: [] for rival in comparison.rivals}
    for _ in range(runs):
        for rival in comparison.rivals:
            times[rival.name].append(rival.seconds())
    yardstick = times[comparison.rivals[0].name]
    return [_row(comparison, rival, times[rival.name], yardstick) for rival in comparison.rivals]


def _row(comparison: Comparison, rival: Rival, times: list[float], yardstick: list[float]) -> Row:
    ratios = [theirs / ours for ours, theirs in zip(times, yardstick, strict=True)]
    return Row(
        topic=comparison.topic,
        work=comparison.work,
        rival=rival.name,
        runs=len(times),
        ms_per_fit=1e3 * statistics.median(times) / comparison.fits,
        ratio=statistics.median(ratios),
        ratio_low=min(ratios),
        ratio_high=max(ratios),
        note=rival.note,
    )


def topics(rows: Iterable[Row]) -> list[str]:
    """Topics in the order in which they come."""
    return list(dict.fromkeys(row.topic for row in rows))
