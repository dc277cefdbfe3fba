"""What an estimate of degrees of freedom is: the numbers, their errors, and what made them.

What the results of this folder have in common: a picture, the rows of a curve, plain values.

The results of this folder in notebooks: every number with its error, and what the error covers.

The versions behind a number.
"""

from __future__ import annotations

import functools
import importlib.metadata
import platform
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import pandas as pd

from .._utils.checks import check_choice, check_level, refusal
from .._utils.html import (
    ACCENT,
    Html,
    ShowsItself,
    ShowsTable,
    few_rows,
    note,
    number,
    plus_minus,
    table,
)
from .._version import __version__
from .montecarlo.designs import in_words
from .montecarlo.errors import Jackknife

__all__ = [
    "QUANTITIES",
    "DegreesOfFreedom",
    "Drawn",
    "DrawnCurve",
    "DrawnSizes",
    "FromTable",
    "ShownConsistency",
    "ShownCorrection",
    "ShownDegreesOfFreedom",
    "as_fields",
    "package_versions",
    "plain_fields",
]


@functools.cache
def package_versions() -> dict[str, str]:
    """Versions of Python and of the packages that compute here."""
    names = ("numpy", "scipy", "scikit-learn")
    versions = {"pyearthdof": __version__, "python": platform.python_version()}
    return versions | {name: importlib.metadata.version(name) for name in names}


def plain_fields(result, *without: str) -> dict:
    """The fields of a result as plain Python values, ready for JSON."""
    return {
        f.name: _plain(getattr(result, f.name)) for f in fields(result) if f.name not in without
    }


def _plain(value):
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, pd.DataFrame):
        return value.to_dict("list")
    return value.to_dict() if hasattr(value, "to_dict") else value


class FromTable(ShowsTable):
    """What was chosen, or arrived at, by the rows of a table."""

    _TABLE = "table"

    def to_frame(self) -> pd.DataFrame:
        """The table: a row for each candidate, or each step on the way."""
        return getattr(self, self._TABLE).copy()

    def to_dict(self) -> dict:
        """Everything as plain Python values, ready for JSON."""
        return plain_fields(self)


class Drawn(ABC):
    """A result with a picture, which `_draw` makes."""

    def plot(self, ax=None):
        """Draw the result; the class says what is drawn.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        Axes
        """
        from ..plots.style import one_axis

        ax = one_axis(ax, *self._inches())
        self._draw(ax)
        return ax

    def _inches(self) -> tuple[float, float]:
        return 6.4, 4.8

    @abstractmethod
    def _draw(self, ax) -> None:
        """Draw into the axes."""


class DrawnSizes(Drawn):
    """The df of each size of a model, drawn by `pyearthdof.plots.plot_sizes`."""

    def _inches(self) -> tuple[float, float]:
        return 6.0, 4.0

    def _draw(self, ax) -> None:
        from ..plots import plot_sizes

        plot_sizes(self, ax)


class DrawnCurve(ShowsTable, Drawn):
    """The df at several points: `_COLUMNS` have a value for each point, `_REST` one for all."""

    df: np.ndarray
    nominal_df: Any
    left_out: Any
    _COLUMNS: tuple[str, ...]
    _REST: tuple[str, ...]

    def interval(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends of intervals for the df at each point, each with this probability.

        As in `DegreesOfFreedom.interval`. One draw serves all points, so neighbours err together.

        Parameters
        ----------
        level : float
            Between 0 and 1.
        """
        level = check_level(level)
        pairs = [
            Jackknife(float(df), left).interval(level)
            for df, left in zip(self.df, self.left_out, strict=True)
        ]
        lower, upper = np.array(pairs).T
        return lower, upper

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """One row for each point; `lower` and `upper` are intervals of that level for the df."""
        frame = pd.DataFrame(self._columns())
        after_se = frame.columns.get_loc("se") + 1
        for k, ends in enumerate(self.interval(level)):
            frame.insert(after_se + k, ("lower", "upper")[k], ends)
        return frame

    def _spread(self) -> list[np.ndarray]:
        """How far the intervals go below and above the df."""
        lower, upper = self.interval()
        return [np.maximum(self.df - lower, 0), np.maximum(upper - self.df, 0)]

    def _draw_nominal(self, ax, label: str, **style) -> None:
        """Nominal against actual df, and the line where they are equal."""
        top = 1.05 * max(self.df.max(), self.nominal_df.max())
        ax.plot([0, top], [0, top], "--", color="grey", label="self-consistent")
        label = f"{label}, 95 % intervals"
        ax.errorbar(self.df, self.nominal_df, xerr=self._spread(), label=label, **style)
        ax.set(xlabel="actual df", ylabel="nominal df", xlim=(0, top), ylim=(0, top))

    def _columns(self) -> dict:
        return {name: getattr(self, name) for name in self._COLUMNS}

    def to_dict(self) -> dict:
        """Everything as plain Python values, ready for JSON; intervals of 95 % in place of `left_out`."""
        columns = {name: values.tolist() for name, values in self.to_frame().items()}
        return columns | {name: getattr(self, name) for name in self._REST}


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


QUANTITIES = ("df", "trace", "n_coef", "rank", "msdf", "sdf")


@dataclass(frozen=True, eq=False)
class DegreesOfFreedom(ShownDegreesOfFreedom):
    """The degrees of freedom of a procedure and what they are made of.

    Each estimate has its standard error beside it, the number after ± where it is printed; it is 0.0
    where the estimate is exact. None stands for what the procedure cannot tell.

    Attributes
    ----------
    df, se : float
        Degrees of freedom, sum of Cov(muhat_i, y_i)/sigma_i^2.
    trace, n_coef, rank : float or None
        Mean tr S(y), number of free parameters and rank of the active set.
    msdf : float or None
        Modified search cost, df - E[tr S(y)].
    sdf : float or None
        Search cost, df(refitted) - E[rank].
    trace_se, n_coef_se, rank_se, msdf_se, sdf_se : float or None
    per_observation : (n,) array or None
        The n covariances that add up to df.
    n_rep : int
        Number of fits; 0 where none was needed.
    n_designs : int or None
        Number of designs that were drawn; None where the design was given.
    se_covers : str
        What the standard errors and intervals cover: the draws of y for one design, or those of y and
        of the design.
    left_out : dict
        For each quantity, its estimates without one repetition (group of them, design).
    settings, versions : dict

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import degrees_of_freedom
    >>> from pyearthdof.procedures import NearestNeighbors
    >>> found = degrees_of_freedom(NearestNeighbors(k=2), np.arange(10.0)[:, None])
    >>> found.df, found.se, found.msdf, found.sdf
    (5.0, 0.0, 0.0, None)
    >>> found.to_frame()["quantity"].tolist()
    ['df', 'trace', 'n_coef', 'msdf']
    >>> found.se_covers
    'nothing, it is exact for the given design'
    """

    df: float
    se: float
    trace: float | None
    trace_se: float | None
    n_coef: float | None
    n_coef_se: float | None
    rank: float | None
    rank_se: float | None
    msdf: float | None
    msdf_se: float | None
    sdf: float | None
    sdf_se: float | None
    per_observation: np.ndarray | None
    n_rep: int
    n_designs: int | None
    se_covers: str
    left_out: dict[str, np.ndarray] = field(default_factory=dict)
    settings: dict = field(default_factory=dict)
    versions: dict = field(default_factory=dict)

    _QUANTITIES = QUANTITIES  # what is estimated; a subclass may have others

    def __repr__(self) -> str:
        known = [f"{name}={self._text(name)}" for name in self._QUANTITIES if self._known(name)]
        end = f"n_rep={self.n_rep}{in_words(self.n_designs)}"
        return f"DegreesOfFreedom({', '.join(known)}, {end})"

    def _known(self, name) -> bool:
        return getattr(self, name) is not None

    def _se(self, name) -> float | None:
        return getattr(self, _se_name(name))

    def _text(self, name) -> str:
        se = self._se(name)
        return f"{getattr(self, name):.6g}" + (f" ± {se:.2g}" if se else "")

    def interval(self, quantity: str = "df", level: float = 0.95) -> tuple[float, float]:
        """An interval that holds the true value with probability `level`.

        The standard error alone says too little where a few repetitions make up most of the estimate:
        twice the error then misses, on the low side. The interval is adjusted for that skewness. In
        1,000 runs each of MARS with and without pruning, a tree, the lasso, best subset, ridge and
        nearest neighbours, by the paper's estimator, it held the truth in 94.5 to 96.7 % of the runs at
        level 0.95, and ± 1.96 errors in 91.6 to 96.0 %; with 20 instead of 100 repetitions, for MARS and
        the tree, in 95.3 to 96.1 % and 86.8 to 95.0 %. What it is about, one design or all, is in
        `se_covers`.

        Parameters
        ----------
        quantity : {"df", "trace", "n_coef", "rank", "msdf", "sdf"}
        level : float
            Between 0 and 1.

        Examples
        --------
        >>> from pyearthdof import Earth, RDraws, degrees_of_freedom
        >>> X = RDraws(1).normal(200).reshape(100, 2)
        >>> found = degrees_of_freedom(Earth(degree=2, engine="native"), X, draws=RDraws(2))
        >>> f"{found.df:.2f} ± {found.se:.2f}"
        '3.63 ± 0.58'
        >>> "{:.2f} to {:.2f}".format(*found.interval())
        '2.68 to 5.19'
        """
        level = check_level(level)
        check_choice("quantity", quantity, self._QUANTITIES)
        if not self._known(quantity):
            raise refusal("quantity", quantity, f"one of {', '.join(self.left_out)} here")
        return Jackknife(getattr(self, quantity), self.left_out[quantity]).interval(level)

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """One row for each known quantity: estimate, standard error, and interval of that level."""
        rows = []
        for name in filter(self._known, self._QUANTITIES):
            lower, upper = self.interval(name, level)
            rows.append(
                {
                    "quantity": name,
                    "estimate": getattr(self, name),
                    "se": self._se(name),
                    "lower": lower,
                    "upper": upper,
                }
            )
        return pd.DataFrame(rows)

    def to_dict(self) -> dict:
        """Everything as plain Python values, ready for JSON; intervals of 95 % in place of `left_out`."""
        known = filter(self._known, self._QUANTITIES)
        intervals = {name: list(self.interval(name)) for name in known}
        return plain_fields(self, "left_out") | {"intervals": intervals}


def as_fields(estimates: Mapping[str, Jackknife | None]) -> dict:
    """The fields of a result: values and errors, None for what is not known, and `left_out`."""
    values: dict = {}
    for name in dict.fromkeys((*QUANTITIES, *estimates)):
        found = estimates.get(name)
        values[name] = None if found is None else found.value
        values[_se_name(name)] = None if found is None else found.se
    known = {name: found.left_out for name, found in estimates.items() if found is not None}
    return values | {"left_out": known}


def _se_name(quantity: str) -> str:
    return "se" if quantity == "df" else f"{quantity}_se"
