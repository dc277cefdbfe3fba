"""The results of this folder in notebooks: every number with its error, and what the error covers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._html import ACCENT, Html, ShowsItself, note, number, plus_minus, table
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

    penalty: float
    se: float
    default_penalty: float
    df: float
    df_se: float
    nominal_df: float
    n_terms: float
    n_terms_se: float
    interval: Any

    def _inches(self) -> tuple[float, float]:
        return _bar_inches(2)

    def _draw(self, ax) -> None:
        nominal = self.nominal_df
        names = ["actual df", f"nominal df, penalty {self.default_penalty:g}"]
        _draw_bars(ax, names, [self.df, nominal], [self.interval("df"), (nominal, nominal)])
        change = f"{self.default_penalty:g} → {plus_minus(self.penalty, self.se, 4)}"
        ax.set_title(f"penalty {change}", fontsize=11)

    def _html_title(self) -> str:
        return f"Penalty {self.default_penalty:g} → {plus_minus(self.penalty, self.se, 4)}"

    def _html_body(self) -> str:
        rows = [
            [
                "corrected penalty",
                plus_minus(self.penalty, self.se),
                _ends(self.interval("penalty")),
            ],
            ["actual df", plus_minus(self.df, self.df_se), _ends(self.interval("df"))],
            ["nominal df", number(self.nominal_df), ""],
            ["terms", plus_minus(self.n_terms, self.n_terms_se), _ends(self.interval("n_terms"))],
        ]
        return table(["", "estimate ± error", "95 % interval"], rows) + _what(self)


class ShownConsistency(ShowsItself, DrawnCurve):
    """A row for each nk, and nominal against actual df drawn small."""

    nk: np.ndarray
    n_terms: np.ndarray
    nominal_df: np.ndarray
    df: np.ndarray
    se: np.ndarray
    penalty: np.ndarray
    default_penalty: float

    def _html_title(self) -> str:
        return "Nominal and actual degrees of freedom"

    def _html_body(self) -> str:
        rows = [
            [f"{nk:g}", number(r, 4), plus_minus(df, se, 4), number(nominal, 4), number(penalty, 3)]
            for nk, r, df, se, nominal, penalty in zip(
                self.nk, self.n_terms, self.df, self.se, self.nominal_df, self.penalty, strict=True
            )
        ]
        columns = ["nk", "terms", "actual df ± error", "nominal df", "corrected penalty"]
        style = "display:flex;gap:24px;flex-wrap:wrap;align-items:flex-start"
        return f'<div style="{style}">{table(columns, rows)}{self._drawing()}</div>{_what(self)}'

    def _drawing(self) -> Html:
        """Nominal against actual df, and the line where they are equal."""
        top = float(max(self.df.max(), self.nominal_df.max(), 1.0))

        def place(x, y):
            inner = SIZE - 2 * EDGE
            return f"{EDGE + inner * x / top:.1f},{SIZE - EDGE - inner * y / top:.1f}"

        path = " ".join(place(x, y) for x, y in zip(self.df, self.nominal_df, strict=True))
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
