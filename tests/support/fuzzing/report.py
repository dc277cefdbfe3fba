"""docs/reliability.md from what tests/robustness and the soak run measured. Run by `make soak`.

python -m tests.support.fuzzing.report figures.jsonl soak.json data.json glm.json folds.json PAGE
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

PAGE = """# Reliability

Results of random comparisons with R and of fault injection. `make soak` writes this page: it runs all
tests in `tests/robustness`, which inject faults and record measurements, and then compares random
problems with R. {versions}.

## Random comparisons with R

Each problem is fitted by plain R in a separate process, through the bridge, and by the native engine.
The bridge must agree to the last bit, the native engine in all terms and to 1e-8 in its numbers.

- agreed: same model
- refused: both raise an error
- stricter: R fits, pyearthdof raises an error by design
- looser: R fails, the native engine fits
- tied: rounding decides between candidates that are equal

`tests/support/fuzzing/known.py` lists every kind of "stricter" and "looser" with its reason.
Coefficients and leverages of nearly dependent terms are compared to the accuracy that their condition
number allows.

{cases:,} problems with options (seed {seed}): from 2 rows; ties; constant, duplicate and collinear
columns; tiny and huge scales; integers; case weights; every option of the passes; invalid values.

| | through the bridge | native engine |
|---|---|---|
{soak}

{data_cases:,} realistic tables (seed {data_seed}): ordered and unordered factors, values that differ
only by rounding, several responses and their weights, case weights, subsets, generalised linear models
and classes, each pruned again after the fit:

| | through the bridge | native engine |
|---|---|---|
{data}

{glm_cases:,} generalised linear models (seed {glm_seed}): every family and link, weights, pairs of
successes and failures, classes, separation, few iterations. If R converges, coefficients agree to 1e-8,
otherwise the deviance of each iteration does. Iterations and warnings always agree.

| | through the bridge | native engine |
|---|---|---|
{glm}

{folds_cases:,} problems with cross-validation and variance models (seed {folds_seed}): folds, all
tables, `pmethod="cv"`, and the standard deviations of the variance models:

| | through the bridge | native engine |
|---|---|---|
{folds}

## Killed processes

The work of a killed worker is computed again with bit-identical results, or the run ends with one
error. Runs never return wrong numbers or wait indefinitely.

{deaths}

## Disk failures

Each finished cell is written to its own file, atomically. A damaged cell is computed again; the others
are kept.

{disk}

## Ctrl-C

Seconds from the signal until the program reports that it stops, on two busy cores. Known problem: if
the signal arrives while rpy2 releases an R object, rpy2 first prints its own traceback.

{interrupts}

## R missing, broken or shared

{r}

## Memory

{memory}

## Untrusted files and text

{strangers}

Model files are JSON and cannot run code. Pickles and `.rds` files can: load only files from trusted sources.
A formula is the only text that reaches R as code. It is parsed and rejected unless it contains only
known functions and columns of the data.
"""


def main() -> None:
    """Read the files, write the page."""
    figures, *soaks, page = map(Path, sys.argv[1:])
    records = [json.loads(line) for line in figures.read_text(encoding="utf-8").splitlines()]
    numbers, *others = (json.loads(f.read_text(encoding="utf-8")) for f in soaks)
    tables = {}
    for name, found in zip(("data", "glm", "folds"), others, strict=True):
        tables |= {f"{name}_cases": found["cases"], f"{name}_seed": found["seed"]}
        tables[name] = soak_table(found)
    versions = ", ".join(f"{name} {v}" for name, v in numbers["versions"].items())
    text = PAGE.format(
        versions=versions,
        cases=numbers["cases"],
        seed=numbers["seed"],
        soak=soak_table(numbers),
        **tables,
        deaths=table(records, ("loky", "dask", "main process", "process of")),
        disk=table(records, ("disk", "folder", "stored cell")),
        interrupts=table(records, ("Ctrl-C",)),
        r=table(records, ("faults injected", "an R of", "habits", "ends of a process")),
        memory=table(records, ("memory",)),
        strangers=table(records, ("mutated", "names that", "places", "formula")),
    )
    page.write_text(text, encoding="utf-8")


def soak_table(numbers: dict) -> str:
    """A line for each kind of verdict."""
    kinds = dict.fromkeys(
        key.partition(" ")[2] for key in numbers if key.startswith(("r ", "native "))
    )
    rows = [
        f"| {kind} | {numbers.get(f'r {kind}', 0):,} | {numbers.get(f'native {kind}', 0):,} |"
        for kind in kinds
    ]
    if "native different" not in numbers and "r different" not in numbers:
        rows.append("| different | 0 | 0 |")
    return "\n".join(rows)


def table(records: list[dict], prefixes: tuple[str, ...]) -> str:
    """A line for each name: how often, and its figures, added up or at their worst."""
    groups = defaultdict(list)
    for record in records:
        if record["name"].startswith(prefixes):
            groups[record["name"]].append(record)
    rows = ["| fault or check | times | measured |", "|---|---|---|"]
    for name, group in groups.items():
        rows.append(f"| {name} | {len(group)} | {summary(group)} |")
    return "\n".join(rows)


def summary(group: list[dict]) -> str:
    """Counts are added up; seconds, megabytes and shares are the largest."""
    parts = []
    for key in dict.fromkeys(key for record in group for key in record if key != "name"):
        values = [record[key] for record in group if record.get(key) is not None]
        if not values:
            continue
        label = key.replace("_", " ")
        if isinstance(values[0], bool):
            parts.append(f"{label}: {'yes' if all(values) else 'no'}")
        elif isinstance(values[0], str):
            parts.append(", ".join(dict.fromkeys(values)))
        elif key.startswith(("seconds", "mb", "growth", "kinds")):
            parts.append(f"{label} {max(values):.3g}")
        else:
            parts.append(f"{label} {sum(values):,}")
    return "; ".join(parts)


if __name__ == "__main__":
    main()
