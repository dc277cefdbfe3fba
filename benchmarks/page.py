"""The results as a page: benchmarks.md, benchmarks.csv and two pictures."""

from __future__ import annotations

import csv
import platform
from dataclasses import asdict, fields
from importlib.metadata import version

from compare import Row, topics
from matplotlib.figure import Figure
from scaling import BASE, draw

from pyearthdof import _core, bridge

__all__ = ["write_page"]

INTRODUCTION = """# Benchmarks

`make bench` makes this page. Every comparison runs its rivals in turns, {runs} times (large fits 3 times)
after one turn that warms up, with one BLAS thread. A ratio says how many times faster than the first line
of its table; it is the median of the paired runs, with the smallest and the largest behind it. Times are
milliseconds for each fit, or each prediction.

{versions}.

![How many times faster than the first line of each comparison](benchmarks.png)
"""
SCALING = """
## Scaling and memory

Time of the native engine, degree 2, one thread, around {base}; a slope of 1 is in proportion.

![Time against n, p, nk and the number of repetitions](benchmarks-scaling.png)

| size | slope on log-log scales | times |
|---|---|---|
{scaling}

Peak resident memory of a process, Python and its libraries included:

| work | MB |
|---|---|
{memory}
"""


def write_page(folder, rows: list[Row], scaling, memory: dict[str, float]) -> None:
    """Write all four files."""
    with open(folder / "benchmarks.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [f.name for f in fields(Row)])
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)
    parts = [INTRODUCTION.format(runs=rows[0].runs, versions=_versions())]
    for topic in topics(rows):
        parts.append(f"\n## {topic}\n")
        chosen = [row for row in rows if row.topic == topic]
        parts += [_table(work, chosen) for work in dict.fromkeys(row.work for row in chosen)]
    base = ", ".join(f"{name} = {value}" for name, value in BASE.items())
    lines = [
        f"| {s.name} | {s.slope:.2f} | "
        + ", ".join(f"{v}: {t:.3g} ms" for v, t in zip(s.values, s.ms, strict=True))
        + " |"
        for s in scaling
    ]
    used = [f"| {work} | {megabytes:.0f} |" for work, megabytes in memory.items()]
    parts.append(SCALING.format(base=base, scaling="\n".join(lines), memory="\n".join(used)))
    (folder / "benchmarks.md").write_text("".join(parts), encoding="utf-8")
    draw(scaling, folder / "benchmarks-scaling.png")
    _draw_ratios(rows, folder / "benchmarks.png")


def _versions() -> str:
    names = ("numpy", "scikit-learn")
    parts = [f"Python {platform.python_version()}", *(f"{n} {version(n)}" for n in names)]
    parts.append(f"the core with {_core.instructions()} instructions")
    parts += [f"{name} {v}" for name, v in bridge.r_versions().items()]
    return ", ".join(parts)


def _table(work: str, rows: list[Row]) -> str:
    lines = [f"\n**{work}**\n\n| | ms | ratio | from | to | |\n|---|---|---|---|---|---|\n"]
    for row in rows:
        if row.work == work:
            lines.append(
                f"| {row.rival} | {row.ms_per_fit:.3g} | {row.ratio:.3g} | {row.ratio_low:.3g} | "
                f"{row.ratio_high:.3g} | {row.note} |\n"
            )
    return "".join(lines)


def _draw_ratios(rows: list[Row], file) -> None:
    """A line for each rival that is not the first of its comparison, on a log scale."""
    firsts, seen = set(), set()
    for index, row in enumerate(rows):
        if (row.topic, row.work) not in seen:
            seen.add((row.topic, row.work))
            firsts.add(index)
    shown = [row for index, row in enumerate(rows) if index not in firsts]
    figure = Figure(figsize=(9, 0.27 * len(shown) + 1.2), layout="constrained")
    ax = figure.subplots()
    positions = range(len(shown), 0, -1)
    for y, row in zip(positions, shown, strict=True):
        ours = not row.rival.startswith(("py-earth2", "mars-earth", "scikit-learn"))
        color = "#1f77b4" if ours else "#999999"
        ax.plot([row.ratio_low, row.ratio_high], [y, y], color=color, lw=2)
        ax.plot([row.ratio], [y], "o", color=color, ms=5)
    ax.axvline(1, color="black", lw=0.8)
    ax.set_xscale("log")
    ax.set_yticks(list(positions), [f"{row.work}: {row.rival}" for row in shown], fontsize=7)
    ax.set_ylim(0.3, len(shown) + 0.7)
    ax.set_xlabel("times faster than the first line of the comparison")
    ticks = [0.001, 0.01, 0.1, 1, 10, 100, 1000]
    low, high = min(r.ratio_low for r in shown), max(r.ratio_high for r in shown)
    ticks = [t for t in ticks if low / 3 <= t <= 3 * high]
    ax.set_xticks(ticks, [f"{t:g}" for t in ticks])
    ax.grid(axis="x", alpha=0.3)
    figure.savefig(file, dpi=150)
