"""The results as pages: benchmarks.md, benchmarks-df.md, benchmarks.csv and two pictures."""

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

FITS = """# Benchmarks: fits and predictions

One MARS fit with the native engine is several times as fast as `earth()` in R. `make bench` writes this
page and [Monte Carlo and other procedures](benchmarks-df.md). All methods of a comparison run in turns,
{runs} times (large fits 3 times) after one warm-up turn, with one BLAS thread. The ratio is the speed
relative to the first row of the comparison: the median of the paired runs, with the smallest and the
largest in parentheses. Times are milliseconds per fit or prediction.

{versions}.

![Speed relative to the first row of each comparison](benchmarks.png)
"""
STUDIES = """# Benchmarks: Monte Carlo and other procedures

Monte Carlo studies, with many fits on the same design, gain the most over R. `make bench` writes this page
and [fits and predictions](benchmarks.md), which explains the columns. Times are milliseconds per fit.

{versions}.
"""
SCALING = """
## Scaling and memory

Time of the native engine, degree 2, one thread, around {base}. A slope of 1 means proportional growth.

![Time against n, p, nk and the number of repetitions](benchmarks-scaling.png)

| size | slope on log-log scales | times |
|---|---|---|
{scaling}

Peak resident memory of a process, including Python and its libraries:

| work | MB |
|---|---|
{memory}
"""
STUDY_TOPICS = {
    "Many MARS fits", "Corrected penalty", "Time to an error", "The nk path",
    "Other procedures, many responses",
}  # fmt: skip


def write_page(folder, rows: list[Row], scaling, memory: dict[str, float]) -> None:
    """Write both pages, the table and the pictures."""
    with open(folder / "benchmarks.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [f.name for f in fields(Row)])
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)
    base = ", ".join(f"{name} = {value}" for name, value in BASE.items())
    lines = [
        f"| {s.name} | {s.slope:.2f} | "
        + ", ".join(f"{v}: {t:.3g} ms" for v, t in zip(s.values, s.ms, strict=True))
        + " |"
        for s in scaling
    ]
    used = [f"| {work} | {megabytes:.0f} |" for work, megabytes in memory.items()]
    end = SCALING.format(base=base, scaling="\n".join(lines), memory="\n".join(used))
    write_texts(folder, rows, _versions(), end)
    draw(scaling, folder / "benchmarks-scaling.png")
    _draw_ratios(rows, folder / "benchmarks.png")


def write_texts(folder, rows: list[Row], versions: str, end: str) -> None:
    """Write the pages; `end` is the section on scaling and memory."""
    fits = [FITS.format(runs=rows[0].runs, versions=versions)]
    studies = [STUDIES.format(versions=versions)]
    for topic in topics(rows):
        page = studies if topic in STUDY_TOPICS else fits
        page.append(_table(topic, [row for row in rows if row.topic == topic]))
    (folder / "benchmarks.md").write_text("".join([*fits, end]), encoding="utf-8")
    (folder / "benchmarks-df.md").write_text("".join(studies), encoding="utf-8")


def _versions() -> str:
    names = ("numpy", "scikit-learn")
    parts = [f"Python {platform.python_version()}", *(f"{n} {version(n)}" for n in names)]
    parts.append(f"the core with {_core.instructions()} instructions")
    parts += [f"{name} {v}" for name, v in bridge.r_versions().items()]
    return ", ".join(parts)


def _table(topic: str, rows: list[Row]) -> str:
    """A table for each topic, with the work in the first row of each comparison."""
    note = any(row.note for row in rows)
    lines = [
        f"\n## {topic}\n\n| work | method | ms | ratio |{' note |' if note else ''}\n"
        f"|---|---|---:|---|{'---|' if note else ''}\n"
    ]
    last = None
    for row in rows:
        work = "" if row.work == last else row.work
        last = row.work
        spread = "" if work else f" ({row.ratio_low:.3g} to {row.ratio_high:.3g})"
        lines.append(
            f"| {work} | {row.rival} | {row.ms_per_fit:.3g} | {row.ratio:.3g}{spread} |"
            f"{f' {row.note} |' if note else ''}\n"
        )
    return "".join(lines)


def _draw_ratios(rows: list[Row], file) -> None:
    """Draw each method that is not the first of its comparison, on a log scale."""
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
    ax.set_xlabel("speed relative to the first row of the comparison")
    ticks = [0.001, 0.01, 0.1, 1, 10, 100, 1000]
    low, high = min(r.ratio_low for r in shown), max(r.ratio_high for r in shown)
    ticks = [t for t in ticks if low / 3 <= t <= 3 * high]
    ax.set_xticks(ticks, [f"{t:g}" for t in ticks])
    ax.grid(axis="x", alpha=0.3)
    figure.savefig(file, dpi=150)
