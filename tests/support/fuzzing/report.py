"""docs/reliability.md from what tests/robustness and the soak run measured. Run by `make soak`.

python -m tests.support.fuzzing.report figures.jsonl soak.json data.json glm.json folds.json PAGE
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

PAGE = """# Reliability

What happens when something goes wrong, with figures. `make soak` makes this page: it runs the tests in
`tests/robustness`, the slow ones too, which inject the faults and write down what they measured, and then
random problems against R. {versions}.

## The same model as R, or the same refusal

{cases:,} made-up problems (seed {seed}): shapes from 2 rows on, ties, constant, duplicate and collinear
columns, tiny and huge scales, whole numbers, case weights, every option of the passes, and values that are
not allowed. Each is fitted by plain R in a process of its own, through the bridge, and by the native engine.
The bridge must agree to the last bit, the native engine in all terms and to 1e-8 in its numbers.

| | through the bridge | native engine |
|---|---|---|
{soak}

And {data_cases:,} problems as people have them (seed {data_seed}): ordered and unordered factors, values that
differ by rounding only, several responses and their weights, case weights, subsets, generalised linear models
and classes, each pruned again after the fit:

| | through the bridge | native engine |
|---|---|---|
{data}

{glm_cases:,} generalised linear models (seed {glm_seed}): every family and link, with weights, pairs of
successes and failures, classes, separation and few iterations. Where R converges, coefficients agree to 1e-8;
where it does not, the deviance of each iteration does. Iterations and warnings are R's in both cases.

| | through the bridge | native engine |
|---|---|---|
{glm}

{folds_cases:,} problems with cross-validation and variance models (seed {folds_seed}): R's folds, all of
its tables, `pmethod="cv"`, and the standard deviations of the variance models:

| | through the bridge | native engine |
|---|---|---|
{folds}

"Refused" is a problem that both refuse. "Stricter" is one that R fits and we refuse on purpose, "looser" one
that R fails on and the native engine fits; `tests/support/fuzzing/known.py` lists
every such kind with its reason.
"Tied": rounding alone decides between equal candidates, whose difference is shown to be nothing.
Coefficients and leverages of almost dependent terms are compared to what their condition number allows.

## When a process dies

A killed worker's part is computed again; the numbers come out the same to the last bit, or there is one clear
error, never a wrong number and never a wait without end.

{deaths}

## When the disk fails

A run keeps each finished cell in a file of its own, written whole or not at all. A damaged cell is computed
again, the others stay as they are.

{disk}

## Ctrl-C

Seconds from the signal until the program says that it stops, on two busy cores. One fault is known: a
signal that comes while rpy2 gives an R object back makes rpy2 print a traceback of its own first.

{interrupts}

## When R is missing, broken or somebody else's

{r}

## Memory

{memory}

## Files and text from strangers

{strangers}

Model files are JSON and run no code, whatever they hold. A pickle runs code when it is loaded: load only
those that you trust. The same holds for `.rds` files, which R reads. A formula is the only text that reaches
R as code: it is parsed, looked through and refused unless it holds nothing but known functions and the data's
columns.
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
