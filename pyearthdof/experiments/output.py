"""Output files of a finished experiment: CSV, Markdown, LaTeX, PNG, SVG and a JSON description."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pandas as pd

from .._utils.extras import load_extra
from .._utils.files import write_whole
from .base import comparison_table
from .runner import Result

LEFT_OUT = "left-out.json"


def write_result(result: Result, folder: Path) -> list[Path]:
    """Write all files of a result and return them, the CSV first.

    The CSV contains unrounded numbers that do not vary between runs; the JSON contains the computing
    time.
    """
    folder, name = Path(folder), result.experiment.name
    comparisons = result.experiment.compare(result.frame)
    table = result.experiment.table(result.frame)
    beside = comparison_table(comparisons)
    seed = "" if result.seed is None else f", seed {result.seed}"
    title = f"{name}. {result.experiment.title} ({result.size} size{seed})"
    files = {
        f"{name}.csv": result.frame.to_csv(index=False),
        f"{name}.md": f"# {title}\n\n{as_markdown(table)}\n\n{as_markdown(beside)}\n",
        f"{name}.tex": f"% {title}\n{as_latex(table)}\n",
        **_pictures(name, result.experiment.plot(result.frame)),
        about_file(name): json.dumps(_about(result, table, comparisons), indent=1),
    }
    for file, content in files.items():
        write_whole(folder / file, content)
    return [folder / file for file in files]


def about_file(name: str) -> str:
    """Return the JSON file with the settings of an experiment."""
    return f"{name}.json"


def write_left_out(folder: Path, wanted: list[str], reasons: dict[str, str]) -> None:
    """Record why experiments of this run were left out; keep the entries of experiments not requested."""
    known = read_left_out(folder)
    rest = {name: reason for name, reason in known.items() if name not in wanted}
    if rest | reasons != known:
        write_whole(Path(folder) / LEFT_OUT, json.dumps(rest | reasons, indent=1))


def read_left_out(folder: Path) -> dict[str, str]:
    """Return the reasons for left-out experiments by name; empty without any or without a valid file."""
    try:
        found = json.loads((Path(folder) / LEFT_OUT).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: reason for name, reason in found.items() if isinstance(reason, str)}


def _about(result: Result, table: pd.DataFrame, comparisons) -> dict:
    return {
        "name": result.experiment.name,
        "title": result.experiment.title,
        "question": result.experiment.explain(result.seed),
        "size": result.size,
        "seed": result.seed,
        "settings": result.experiment.settings(result.size, result.seed),
        "engine": result.engine,
        "versions": result.versions,
        "cells": result.n_cells,
        "seconds": result.seconds,
        "table": {"columns": list(table.columns), "rows": table.to_numpy().tolist()},
        "comparisons": [c.to_dict() for c in comparisons],
    }


def _pictures(name: str, figure) -> dict[str, bytes]:
    pictures = {}
    # A fixed salt and no date, so that equal figures give equal files.
    matplotlib = load_extra("matplotlib", "drawing")
    with matplotlib.rc_context({"svg.hashsalt": "pyearthdof"}):
        for kind, options in (("png", {"dpi": 150}), ("svg", {"metadata": {"Date": None}})):
            stream = io.BytesIO()
            figure.savefig(stream, format=kind, **options)
            pictures[f"{name}.{kind}"] = stream.getvalue()
    return pictures


def as_markdown(table: pd.DataFrame) -> str:
    """Return a table in Markdown."""
    lines = [table.columns, ["---"] * table.shape[1], *table.to_numpy().tolist()]
    rows = [
        "|".join(["", *(f" {str(c).replace('|', chr(92) + '|')} " for c in line), ""])
        for line in lines
    ]
    rows[1] = "|" + "---|" * table.shape[1]
    return "\n".join(rows)


_LATEX = {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "±": r"$\pm$",
          "->": r"$\to$", "<": "$<$", ">": "$>$", "|": r"$|$", "λ": r"$\lambda$", "δ": r"$\delta$",
          "≤": r"$\le$", "≥": r"$\ge$", "R²": "$R^2$", "✓": r"$\checkmark$", "✗": r"$\times$"}  # fmt: skip


def as_latex(table: pd.DataFrame) -> str:
    """Return a table in LaTeX, with the rules of the package booktabs."""
    lines = [[_latex(c) for c in line] for line in (table.columns, *table.to_numpy().tolist())]
    rows = [" & ".join(line) + r" \\" for line in lines]
    return "\n".join(
        [
            rf"\begin{{tabular}}{{l{'r' * (table.shape[1] - 1)}}}",
            r"\toprule",
            rows[0],
            r"\midrule",
            *rows[1:],
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def _latex(value) -> str:
    text, out = str(value), []
    while text:
        special = next((s for s in _LATEX if text.startswith(s)), text[0])
        out.append(_LATEX.get(special, special))
        text = text[len(special) :]
    return "".join(out)


def as_text(table: pd.DataFrame) -> str:
    """Return a table for the terminal with aligned columns."""
    lines = [[str(c) for c in line] for line in (table.columns, *table.to_numpy().tolist())]
    widths = [max(len(line[j]) for line in lines) for j in range(table.shape[1])]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
