"""The results of this folder in notebooks: every number with its error, and what the error covers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .._utils.html import ACCENT, Html, ShowsItself, few_rows, note, number, plus_minus, table
from .drawn import Drawn, DrawnCurve

__all__ = ["ShownConsistency", "ShownCorrection", "ShownDegreesOfFreedom"]

WORDS = {
    "df": "degrees of freedom",
    "trace": "trace of the fit's matrix",
    "n_coef": "number of coefficients",
    "rank": "rank of the active columns",
    "msdf": "cost of the search (msdf)",
    "sdf": "search df (sdf)",
}
SIZE, EDGE = 180, 14


class ShownDegreesOfFreedom(ShowsItself, Drawn):
    """A row for each quantity that is known; the picture has bars with 95 % intervals."""

    df: float
    n_rep: int
    se_covers: str
    left_out: dict
    to_frame: Any

    def _inches(self) -> tuple[float, float]:
        return _bar_inches(len(self.left_out))

    def _draw(self, ax) -> None:
        rows = self.to_frame()
        names = [WORDS.get(name, name) for name in rows["quantity"]]
        ends = zip(rows["lower"], rows["upper"], strict=True)
        _draw_bars(ax, names, rows["estimate"].tolist(), list(ends))

    def _html_title(self) -> str:
        return "Degrees of freedom"

    def _html_body(self) -> str:
        rows = [
            [WORDS.get(row.quantity, row.quantity), plus_minus(row.estimate, row.se), _between(row)]
            for row in self.to_frame().itertuples()
        ]
        return table(["", "estimate ± error", "95 % interval"], rows) + _what(self)


class ShownCorrection(ShowsItself, Drawn):
    """The penalty before and after, and what it was computed from.

    The picture has nominal and actual df of the search, the latter with its 95 % interval.

    Examples
    --------
    >>> from pyearthdof import correct_penalty
    >>> found = correct_penalty((50, 2), n_rep=20, engine="native")
    >>> found.plot().get_title()
    'penalty 2 → 0.7969 ± 0.26'
    """

    to_dict: Any

    def _inches(self) -> tuple[float, float]:
        return _bar_inches(2)

    def _draw(self, ax) -> None:
        found = self.to_dict()
        actual, nominal = found["df"], found["nominal_df"]
        names = ["actual df", f"nominal df, penalty {found['default_penalty']:g}"]
        _draw_bars(ax, names, [actual, nominal], [found["intervals"]["df"], (nominal, nominal)])
        ax.set_title(self._change("penalty"), fontsize=11)

    def _change(self, word: str) -> str:
        found = self.to_dict()
        before, after = found["default_penalty"], plus_minus(found["penalty"], found["se"], 4)
        return f"{word} {before:g} → {after}"

    def _html_title(self) -> str:
        return self._change("Penalty")

    def _html_body(self) -> str:
        found = self.to_dict()
        ends = {name: _ends(pair) for name, pair in found["intervals"].items()}
        rows = [
            ["corrected penalty", plus_minus(found["penalty"], found["se"]), ends["penalty"]],
            ["actual df", plus_minus(found["df"], found["df_se"]), ends["df"]],
            ["nominal df", number(found["nominal_df"]), ""],
            ["terms", plus_minus(found["n_terms"], found["n_terms_se"]), ends["n_terms"]],
        ]
        return table(["", "estimate ± error", "95 % interval"], rows) + _what(self)


class ShownConsistency(DrawnCurve):
    """A row for each nk, and nominal against actual df drawn small."""

    def _html_title(self) -> str:
        return "Nominal and actual degrees of freedom"

    def _html_body(self) -> str:
        found = self.to_frame()
        rows = [
            [
                f"{at.nk:g}", number(at.n_terms, 4), plus_minus(at.df, at.se, 4),
                number(at.nominal_df, 4), number(at.penalty, 3),
            ]
            for at in few_rows(found).itertuples()
        ]  # fmt: skip
        columns = ["nk", "terms", "actual df ± error", "nominal df", "corrected penalty"]
        style = "display:flex;gap:24px;flex-wrap:wrap;align-items:flex-start"
        return f'<div style="{style}">{table(columns, rows)}{_drawing(found)}</div>{_what(self)}'


def _drawing(found: pd.DataFrame) -> Html:
    """Nominal against actual df, and the line where they are equal."""
    top = float(max(found["df"].max(), found["nominal_df"].max(), 1.0))

    def place(x, y):
        inner = SIZE - 2 * EDGE
        return f"{EDGE + inner * x / top:.1f},{SIZE - EDGE - inner * y / top:.1f}"

    path = " ".join(place(x, y) for x, y in zip(found["df"], found["nominal_df"], strict=True))
    said = "nominal against actual degrees of freedom; the thin line is where they are equal"
    return Html(
        f'<svg width="{SIZE}" height="{SIZE}" viewBox="0 0 {SIZE} {SIZE}" role="img" aria-label="{said}">'
        f'<title>{said}</title><polyline points="{place(0, 0)} {place(top, top)}" stroke="currentColor" '
        f'stroke-opacity=".4" fill="none"/><polyline points="{path}" stroke="{ACCENT}" stroke-width="2" '
        f'fill="none"/><text x="{SIZE / 2}" y="{SIZE - 1}" font-size="10" text-anchor="middle" '
        f'fill="currentColor">actual df</text><text x="9" y="{SIZE / 2}" font-size="10" '
        f'text-anchor="middle" fill="currentColor" transform="rotate(-90 9 {SIZE / 2})">nominal df</text>'
        "</svg>"
    )


def _bar_inches(n_bars: int) -> tuple[float, float]:
    return 6.0, 1.2 + 0.5 * n_bars


def _draw_bars(ax, names, values, ends) -> None:
    """Horizontal bars with intervals, the first on top."""
    places = np.arange(len(names))
    errors = [
        [max(0.0, v - low), max(0.0, high - v)] for v, (low, high) in zip(values, ends, strict=True)
    ]
    ax.barh(places, values, 0.55, color=ACCENT, alpha=0.8)
    ax.errorbar(values, places, xerr=np.transpose(errors), fmt="none", color="black", capsize=3)
    ax.set_yticks(places, names)
    ax.invert_yaxis()
    ax.set_xlabel("degrees of freedom, 95 % intervals")
    ax.grid(axis="x", alpha=0.25)
    ax.set_axisbelow(True)


def _what(result) -> Html:
    return note(f"{result.n_rep} repetitions; the error covers {result.se_covers}")


def _between(row) -> str:
    return _ends((row.lower, row.upper))


def _ends(ends) -> str:
    return f"{number(ends[0], 4)} to {number(ends[1], 4)}"
