"""A `DfReport` as text and as HTML."""

from __future__ import annotations

import html
import math
import textwrap

__all__ = ["as_html", "as_text", "page_of"]

_WIDTH = 78
_BASIS = {
    "gaussian": "Gaussian noise, sigma {sigma:.4g}",
    "bernoulli": "classes",
    "poisson": "counts",
}
_ROUNDING = 1e-12
_HARD = "\N{NO-BREAK SPACE}"
_HEAD = ("", "naive", "honest")


def as_text(report) -> str:
    """The report in lines of at most 78 characters."""
    lines = textwrap.wrap(f"Degrees of freedom of {report.title}", _WIDTH, subsequent_indent="  ")
    lines += ["", *_table([_HEAD, *_rows(report)])]
    if report.prices:
        lines += ["", "What the choices cost, each with that of the data held:"]
        rows = [(f"{step}:", price, what) for step, price, what in _prices(report)]
        first, second = (max(len(row[k]) for row in rows) for k in (0, 1))
        lines += [f"  {a:<{first}}  {b:<{second}}  {c}" for a, b, c in rows]
    lines += ["", *textwrap.wrap(_basis(report), _WIDTH)]
    for note in report.notes:
        lines += textwrap.wrap(note, _WIDTH, initial_indent="- ", subsequent_indent="  ")
    return "\n".join(lines).replace(_HARD, " ")


def as_html(report) -> str:
    """The report as a piece of HTML; it takes colours and fonts from the page, dark or light."""
    parts = [
        '<div class="pyearthdof-df-report" style="max-width:52em;color:inherit">',
        '<p style="margin:0 0 .6em"><strong>Degrees of freedom of</strong> '
        f"<code>{_escape(report.title)}</code></p>",
        _html_table(_HEAD, _rows(report), numbers=(1, 2)),
    ]
    if report.prices:
        rows = _prices(report)
        parts.append(
            _html_table(
                ("What the choices cost", "df", "held: the choice of the data"), rows, numbers=(1,)
            )
        )
    parts.append(f'<p style="margin:.6em 0 0;opacity:.8">{_escape(_basis(report))}</p>')
    if report.notes:
        items = "".join(f"<li>{_escape(note)}</li>" for note in report.notes)
        parts.append(f'<ul style="margin:.4em 0 0;padding-left:1.2em;opacity:.8">{items}</ul>')
    return "\n".join([*parts, "</div>"])


def page_of(report) -> str:
    """The report as a page of its own, dark or light as its reader has it."""
    style = "body{font:16px/1.45 system-ui,sans-serif;margin:2em}:root{color-scheme:light dark}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Degrees of freedom</title>'
        f'<meta name="viewport" content="width=device-width"><style>{style}</style></head>\n'
        f"<body>\n{as_html(report)}\n</body></html>\n"
    )


def _rows(report) -> list[tuple[str, str, str]]:
    rows = [("degrees of freedom", _number(report.naive_df), _pm(report.df, report.se))]
    rows += [(m.name, _number(m.naive), _pm(m.honest, m.se)) for m in report.measures]
    return rows


def _prices(report) -> list[tuple[str, str, str]]:
    rows = [(price.step, _pm(price.price, price.se), price.what) for price in report.prices]
    if report.fixed_df is not None:
        rows.append(("left", _number(report.fixed_df), "the fit with all of this held"))
    return rows


def _basis(report) -> str:
    noise = _BASIS[report.family].format(sigma=report.sigma)
    size = f"{report.n} rows, {report.p} columns; {noise}"
    if not report.n_rep:
        return f"{size}. The fit is linear in y: its df are exact."
    return (
        f"{size}; {report.n_rep} responses drawn around the fit, {report.n_fits} fits. "
        f"95{_HARD}% interval of the df: {report.lower:.4g} to {report.upper:.4g}."
    )


def _number(value) -> str:
    if value is None:
        return "-"
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    return f"{value:.4g}"


def _pm(value, se) -> str:
    """As many digits as the error has; without an error that is rounding alone."""
    if value is None or not math.isfinite(value) or not se or not math.isfinite(se):
        return _number(value)
    if se < _ROUNDING * abs(value):
        return _number(value)
    digits = max(0, 1 - math.floor(math.log10(se)))
    return f"{value:.{digits}f} ± {se:.{digits}f}"


def _table(rows) -> list[str]:
    widths = [max(len(row[k]) for row in rows) for k in range(3)]
    return [f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}".rstrip() for a, b, c in rows]


_CELL = "padding:.2em .9em .2em 0;border-bottom:1px solid currentColor;border-color:rgba(128,128,128,.35)"


def _html_table(head, rows, numbers: tuple[int, ...]) -> str:
    """A table with the columns of numbers to the right."""

    def cell(tag, text, k):
        side = "right" if k in numbers else "left"
        return f'<{tag} style="{_CELL};text-align:{side};background:none">{_escape(text)}</{tag}>'

    lines = [
        '<tr style="background:none">'
        + "".join(cell(tag, text, k) for k, text in enumerate(row))
        + "</tr>"
        for tag, row in [("th", head), *(("td", row) for row in rows)]
    ]
    style = "border-collapse:collapse;margin:.4em 0;font-variant-numeric:tabular-nums;color:inherit"
    return f'<table style="{style}"><thead>{lines[0]}</thead><tbody>{"".join(lines[1:])}</tbody></table>'


def _escape(text: str) -> str:
    return html.escape(str(text), quote=True)
