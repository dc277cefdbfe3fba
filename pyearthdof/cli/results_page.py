"""All results of a folder as one HTML page that needs nothing beside it."""

from __future__ import annotations

import base64
import html
import re
from pathlib import Path

from .._utils.files import write_whole
from .._version import __version__
from ..exceptions import InvalidInputError
from .report_input import read_results

__all__ = ["PAGE", "write_report"]

PAGE = "report.html"
PAPER = (
    "Lijun Wang, Hongyu Zhao and Xiaodan Fan, Degrees of Freedom: Search Cost and Self-consistency"
)

STYLE = """
:root { color-scheme: light dark; --ink: #1c1e21; --soft: #5b6068; --page: #ffffff; --card: #f4f5f7;
  --line: #d5d8dd; --link: #1f5fa8; --good: #1b6e4f; --bad: #a8400c; --shade: #00000066; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e7ea; --soft: #a2a7b0; --page: #16181c;
  --card: #1f2227; --line: #383c44; --link: #7fb2ea; --good: #6fcaa3; --bad: #f0a071;
  --shade: #ffffff66; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-behavior: smooth; }
body { margin: 0 auto; padding: 1rem 1rem 4rem; max-width: 90rem; background: var(--page);
  color: var(--ink); font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0; }
h2 { font-size: 1.2rem; line-height: 1.3; margin: 0 0 .5rem; }
h2 small { color: var(--soft); font-weight: normal; }
a { color: var(--link); }
p { max-width: 60rem; }
section { border-top: 1px solid var(--line); padding-top: 1.5rem; margin-top: 2rem; }
nav ol { padding-left: 0; list-style: none; }
nav li { padding: .25rem 0 .25rem 8.5rem; text-indent: -8.5rem; }
nav a { text-decoration: none; }
nav a:hover, nav a:focus { text-decoration: underline; }
nav b { display: inline-block; min-width: 8.5rem; margin-right: -.3em; text-indent: 0; }
nav .good, nav .bad { white-space: nowrap; }
nav .how { margin-left: .4rem; }
/* A table and its figure, side by side where both have room. */
.pair { display: flex; flex-wrap: wrap; gap: 0 2rem; align-items: flex-start; }
.pair > * { max-width: 100%; }
/* What goes on beyond an edge has a shadow there; the covers move with the content and hide it at the end. */
.scroll, figure { --cover: var(--page); overflow-x: auto; margin: 1rem 0; scrollbar-width: thin; background:
  linear-gradient(to right, var(--cover) 40%, transparent) 0 / 3rem 100% no-repeat local,
  linear-gradient(to left, var(--cover) 40%, transparent) 100% / 3rem 100% no-repeat local,
  linear-gradient(to right, var(--shade), transparent) 0 / 1.2rem 100% no-repeat scroll,
  linear-gradient(to left, var(--shade), transparent) 100% / 1.2rem 100% no-repeat scroll, var(--cover); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .3rem .8rem .3rem 0; text-align: left; border-bottom: 1px solid var(--line);
  vertical-align: top; }
td { white-space: nowrap; }
td.wrap { white-space: normal; min-width: 9rem; }
th { color: var(--soft); font-weight: 600; }
figure { --cover: #ffffff; --shade: #00000066; flex: 1 1 calc(.6 * var(--drawn) + 1rem);
  border: 1px solid var(--line); border-radius: .5rem; padding: .5rem; isolation: isolate; }
figure img { display: block; margin: 0 auto; width: 100%; min-width: calc(.6 * var(--drawn));
  max-width: calc(1.2 * var(--drawn)); mix-blend-mode: multiply; }
.good { color: var(--good); } .bad { color: var(--bad); font-weight: 600; }
.how { color: var(--soft); font-size: .85rem; }
details summary { cursor: pointer; color: var(--link); }
@media (min-width: 75rem) { .top { display: grid; grid-template-columns: 1fr 1fr; gap: 3rem; } }
@media (max-width: 40rem) { nav li { padding-left: 0; text-indent: 0; } nav b { display: block; } }
"""


def write_report(folder: Path) -> Path:
    """Write the page of all results in the folder and return its file.

    Parameters
    ----------
    folder : path
        Where `pyearthdof reproduce` wrote.

    Raises
    ------
    InvalidInputError
        There are no results in it.
    """
    folder = Path(folder)
    results = _read(folder)
    if not results:
        raise InvalidInputError(
            f"there are no results in {str(folder)!r}; run `pyearthdof reproduce --out {folder}` first"
        )
    write_whole(folder / PAGE, _page(folder, results))
    return folder / PAGE


def _read(folder: Path) -> list[dict]:
    """What the results tell about themselves, in the paper's order."""
    from ..experiments import experiments

    order = {name: e.order for name, e in experiments().items()}
    results = read_results(folder)
    return sorted(results, key=lambda about: (order.get(about["name"], 1000), about["name"]))


def _page(folder: Path, results: list[dict]) -> str:
    from ..experiments.output import read_left_out
    from ..experiments.verdict import tally

    counts = tally([c for about in results for c in about["comparisons"]])
    agreement = ", ".join(count.agree_with(judge) for judge, count in counts.items())
    body = "\n".join(_section(folder, about) for about in results)
    entries = "\n".join(_entries(results, read_left_out(folder)))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Degrees of freedom: the paper's tables and figures again</title>
<style>{STYLE}</style>
</head>
<body>
<div class="top">
<header>
<h1>Degrees of freedom: the paper's tables and figures again</h1>
<p>The tables and figures of {html.escape(PAPER)}, computed by pyearthdof {__version__} and set
beside the paper's numbers, or R's where the paper has none. Of the comparisons {agreement}.</p>
<p class="how"><b>exact</b>: the digits that the paper prints, <b>(rounded)</b> or, where ours rounds to
others, <b>(cut)</b> there. <b>within error</b>: no farther away than chance takes one number of one table in
a thousand, about four combined standard errors, more where an error comes from few repetitions.
<b>holds</b>: what the paper says in words is so, beyond that error; <b>open</b>: the error is too large to
tell. Standard errors are in parentheses. How it is judged is told in full in the documentation,
"Reproduce the paper".</p>
</header>
<nav aria-label="Contents"><ol>
{entries}
</ol></nav>
</div>
<main>
{body}
</main>
</body>
</html>
"""


def _entries(results: list[dict], left_out: dict[str, str]) -> list[str]:
    """The contents: every experiment in the paper's order, with its count or why it is not here."""
    from ..experiments import experiments

    here = {about["name"]: _entry(about, left_out.get(about["name"])) for about in results}
    absent = {name: e for name, e in experiments().items() if name not in here}
    lines = {name: _absent(name, e.title, left_out.get(name)) for name, e in absent.items()}
    order = [*experiments(), *(name for name in here if name not in experiments())]
    return [(here | lines)[name] for name in order]


def _entry(about: dict, left_out: str | None) -> str:
    from ..experiments.verdict import tally

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


def _absent(name: str, title: str, left_out: str | None) -> str:
    why = "not run" if left_out is None else f"left out: {left_out}"
    return f"<li><b>{html.escape(name)}</b> {html.escape(title)}{_note(why)}</li>"


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
    """Each number beside the paper's; R's have a column of their own."""
    from ..experiments.verdict import R_COLUMN

    columns = ["quantity", "ours", "paper", R_COLUMN, "verdict"]
    rows = [
        [c["quantity"], c["ours"], c["paper"], c.get("reference") or "-", c["verdict"]]
        for c in comparisons
    ]
    if any(c.get("reference") for c in comparisons):
        return {"columns": columns, "rows": rows}
    return {"columns": columns[:3] + columns[4:], "rows": [row[:3] + row[4:] for row in rows]}


def _table(table: dict, marks: list | None = None) -> str:
    head = "".join(f"<th>{html.escape(str(c))}</th>" for c in table["columns"])
    lines = []
    for number, row in enumerate(table["rows"]):
        cells = [f"<td{_wrap(c)}>{html.escape(str(c))}</td>" for c in row]
        if marks is not None and marks[number] is not None:
            kind = "good" if marks[number] else "bad"
            cells[-1] = f'<td class="{kind}">{html.escape(str(row[-1]))}</td>'
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>\n"
    )


def _wrap(cell) -> str:
    """Long words may wrap, numbers may not."""
    return ' class="wrap"' if len(str(cell)) > 24 else ""


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
    """The width that the figure was drawn for, in pixels; matplotlib writes points."""
    points = re.search(rb'<svg[^>]*\swidth="([0-9]+(?:\.[0-9]+)?)pt"', svg)
    return round(float(points[1]) / 0.75) if points else 640


def _how(about: dict) -> str:
    settings = ", ".join(f"{k} = {_short(v)}" for k, v in about["settings"].items())
    versions = ", ".join(f"{k} {v}" for k, v in about["versions"].items())
    return html.escape(
        f"{about['size'].capitalize()} size ({settings}); {_duration(about['seconds'])} of "
        f"computing in {about['cells']} cells; engine {about['engine']}; {versions}."
    )


def _short(value) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:18]} ... {text[-12:]}"


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
