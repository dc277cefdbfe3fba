"""Self-contained HTML page of all results in a folder."""

from __future__ import annotations

import base64
import html
import json
import re
import warnings
from pathlib import Path
from string import Template
from typing import Any

from .._utils.files import write_whole
from .._version import __version__
from ..exceptions import InvalidInputError
from . import experiments
from .base import comparison_table
from .output import read_left_out
from .verdict import Comparison, tally

PAGE = "report.html"
PAPER = (
    "Lijun Wang, Hongyu Zhao and Xiaodan Fan, Degrees of Freedom: Search Cost and Self-consistency"
)

HERE = Path(__file__)


def write_report(folder: Path) -> Path:
    """Write the page of all results of `reproduce` in the folder and return its file."""
    folder = Path(folder)
    order = {name: e.order for name, e in experiments().items()}
    results = sorted(read_results(folder), key=lambda r: (order.get(r["name"], 1000), r["name"]))
    if not results:
        raise InvalidInputError(
            f"there are no results in {str(folder)!r}; run `pyearthdof reproduce --out {folder}` first"
        )
    write_whole(folder / PAGE, _page(folder, results))
    return folder / PAGE


def _page(folder: Path, results: list[dict]) -> str:
    counts = tally([c for about in results for c in about["comparisons"]])
    agreement = ", ".join(count.agree_with(judge) for judge, count in counts.items())
    body = "\n".join(_section(folder, about) for about in results)
    entries = "\n".join(_entries(results, read_left_out(folder)))
    return Template(HERE.with_suffix(".html").read_text("utf-8")).substitute(
        style=HERE.with_suffix(".css").read_text("utf-8"),
        paper=html.escape(PAPER),
        version=__version__,
        agreement=agreement,
        entries=entries,
        body=body,
    )


def _entries(results: list[dict], left_out: dict[str, str]) -> list[str]:
    """Return the contents: experiments in the paper's order, with their count or the reason for absence."""
    here = {about["name"]: _entry(about, left_out.get(about["name"])) for about in results}
    lines = []
    for name, e in experiments().items():
        why = f"left out: {left_out[name]}" if name in left_out else "not run"
        absent = f"<li><b>{html.escape(name)}</b> {html.escape(e.title)}{_note(why)}</li>"
        lines.append(here.pop(name, absent))
    return [*lines, *here.values()]


def _entry(about: dict, left_out: str | None) -> str:
    counts = tally(about["comparisons"])
    agree = all(count.agreed == count.judged for count in counts.values())
    shown = "; ".join(
        str(count) if len(counts) == 1 else f"{judge} {count}" for judge, count in counts.items()
    )
    notes = [] if about.get("seed") is None else [f"seed {about['seed']}"]
    if left_out is not None:
        notes.append(f"left out of the last run, so these numbers are older: {left_out}")
    return (
        f'<li><a href="#{html.escape(about["name"])}"><b>{html.escape(about["name"])}</b> '
        f'{html.escape(about["title"])}</a> <span class="{"good" if agree else "bad"}">{shown}</span>'
        f"{_note('; '.join(notes))}</li>"
    )


def _note(text: str) -> str:
    return f' <span class="how">{html.escape(text)}</span>' if text else ""


def _section(folder: Path, about: dict) -> str:
    name = html.escape(about["name"])
    beside = _beside(about["comparisons"])
    marks = [c["agrees"] for c in about["comparisons"]]
    compared = _table(beside, marks)
    if about["table"] == beside:
        table, verdicts = compared, ""
    else:
        table = _table(about["table"])
        verdicts = f"<details><summary>Each number and its verdict</summary>{compared}</details>\n"
    return f"""<section id="{name}">
<h2>{name} <small>{html.escape(about["title"])}</small></h2>
<p>{html.escape(about["question"])}</p>
<div class="pair">
{table}{_figure(folder, about)}</div>
{verdicts}<p class="how">{_how(about)}</p>
</section>"""


def _beside(comparisons: list[dict]) -> dict:
    """Return each number beside the paper's; R's have a separate column."""
    lines = [
        Comparison(**{name: c[name] for name in COMPARED}, reference=c.get("reference") or "")
        for c in comparisons
    ]
    table = comparison_table(lines)
    return {"columns": list(table.columns), "rows": table.to_numpy().tolist()}


def _table(table: dict, marks: list | None = None) -> str:
    head = "".join(f"<th>{html.escape(str(c))}</th>" for c in table["columns"])
    lines = []
    for number, row in enumerate(table["rows"]):
        wrap = [' class="wrap"' if len(str(c)) > 24 else "" for c in row]  # long words, not numbers
        cells = [f"<td{how}>{html.escape(str(c))}</td>" for how, c in zip(wrap, row, strict=True)]
        if marks is not None and marks[number] is not None:
            kind = "good" if marks[number] else "bad"
            cells[-1] = f'<td class="{kind}">{html.escape(str(row[-1]))}</td>'
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>\n"
    )


def _figure(folder: Path, about: dict) -> str:
    file = folder / f"{about['name']}.svg"
    if not file.is_file():
        return ""
    picture = file.read_bytes()
    data = base64.b64encode(picture).decode()
    name, title = html.escape(about["name"]), html.escape(about["title"])
    # On a phone a figure of three panels scrolls sideways instead of shrinking.
    return (
        f'<figure tabindex="0" style="--drawn: {_drawn_width(picture)}px"><img alt="{name}: {title}" '
        f'src="data:image/svg+xml;base64,{data}"></figure>\n'
    )


def _drawn_width(svg: bytes) -> int:
    """Return the intended width of the figure in pixels; matplotlib writes points."""
    points = re.search(rb'<svg[^>]*\swidth="([0-9]+(?:\.[0-9]+)?)pt"', svg)
    return round(float(points[1]) / 0.75) if points else 640


def _how(about: dict) -> str:
    texts = {k: str(v) for k, v in about["settings"].items()}
    short = {k: v if len(v) <= 40 else f"{v[:18]} ... {v[-12:]}" for k, v in texts.items()}
    settings = ", ".join(f"{k} = {v}" for k, v in short.items())
    seconds = about["seconds"]
    time = f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
    versions = ", ".join(f"{k} {v}" for k, v in about["versions"].items())
    return html.escape(
        f"{about['size'].capitalize()} size ({settings}); {time} of "
        f"computing in {about['cells']} cells; engine {about['engine']}; {versions}."
    )


FIELDS: dict[str, tuple[Any, str]] = {
    **dict.fromkeys(("name", "title", "question", "size", "engine"), (str, "is not text")),
    **dict.fromkeys(("settings", "versions", "table"), (dict, "is not a mapping")),
    **dict.fromkeys(("seconds", "cells"), ((int, float), "is not a number")),
    "comparisons": (list, "is not a list"),
}
COMPARED = {"quantity", "ours", "paper", "verdict", "agrees"}


def read_results(folder: Path) -> list[dict]:
    """Return the descriptions of the results in a folder by name; ignore other JSON files.

    A file that claims to be a result but is malformed is left out, with a warning.
    """
    results = []
    for file in sorted(folder.glob("*.json")):
        try:
            about = json.loads(file.read_text(encoding="utf-8"))
        except (ValueError, OSError, RecursionError):
            continue
        if not isinstance(about, dict) or not {"name", "comparisons", "table"} <= about.keys():
            continue
        problem = _problem(about, file.stem)
        if problem is None:
            results.append(about)
        else:
            warnings.warn(
                f"{str(file)!r} is left out of the page: {problem}; `pyearthdof reproduce` writes it again",
                stacklevel=3,
            )
    return results


def _problem(about: dict, name: str) -> str | None:
    """Return why this is not a result of `reproduce`, or None."""
    if about["name"] != name:
        return "its name is not that of the file"
    for field, (kind, wrong) in FIELDS.items():
        if not isinstance(about.get(field), kind):
            return f"its {field} {wrong}"
    columns, rows = (about["table"].get(part) for part in ("columns", "rows"))
    if not isinstance(columns, list) or not isinstance(rows, list):
        return "its table has no columns or no rows"
    if not all(isinstance(row, list) and len(row) == len(columns) for row in rows):
        return "its table has rows of another length"
    if not all(isinstance(c, dict) and c.keys() >= COMPARED for c in about["comparisons"]):
        return "its comparisons are invalid"
    if not all(c["agrees"] is None or isinstance(c["agrees"], bool) for c in about["comparisons"]):
        return "its comparisons neither agree nor disagree"
    return None
