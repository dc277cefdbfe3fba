"""`compare`: the degrees of freedom, criteria and errors of several procedures in one table."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from ..._utils.checks import refusal
from ..._utils.files import written
from ..._utils.html import ACCENT, note, table
from ...contract import Rows
from ...exceptions import InvalidInputError
from ..montecarlo.draws import Draws, RandomState
from ..results import Estimate
from .df_report import DfReport, df_report, number_text, plus_minus_text, title_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PILOT_REPETITIONS = 20  # repetitions of the run that estimates a common sigma
SMALL_IS_GOOD = {"R2": False, "explained deviance": False}
TEX = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class ProcedureComparison(Estimate):
    """Several procedures on the same data, each with its `DfReport`.

    Attributes
    ----------
    reports : dict
        Label -> DfReport.
    family : str
        "gaussian", "bernoulli" or "poisson".
    sigma : float or None
        Standard deviation of the noise, the same for all; None for classes and counts.
    n_rep : int
        Number of responses drawn for each procedure.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import Earth, compare
    >>> from pyearthdof.procedures import LeastSquares, RegressionTree
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> y = np.abs(X[:, 0]) + 0.3 * rng.normal(size=60)
    >>> procedures = {"line": LeastSquares(), "tree": RegressionTree(depth=2), "MARS": Earth()}
    >>> table = compare(procedures, X, y, sigma=0.3, n_rep=50, random_state=0)
    >>> table.best("mean squared error"), table.to_frame().shape
    ('MARS', (3, 22))
    """

    reports: dict[str, DfReport] = field(repr=False)
    family: str
    sigma: float | None
    n_rep: int

    _HIDDEN = ("reports",)

    def __repr__(self) -> str:
        return f"{_aligned(self._rows(self._shown))}\n\n{self._basis}"

    def _html_body(self) -> str:
        head, *rows = self._rows(self.measures)
        return table(head, rows) + note(self._basis)

    @property
    def _shown(self) -> tuple[str, str]:
        """The printed measures: the error, and a criterion."""
        return self.measures[0], "GCV" if self.family == "gaussian" else "AIC"

    @property
    def _basis(self) -> str:
        report = next(iter(self.reports.values()))
        noise = "" if self.sigma is None else f", sigma {self.sigma:.4g}"
        drawn = f"; {self.n_rep} responses drawn around each fit" if self.n_rep else ""
        return f"{report.n} rows, {report.p} columns{noise}{drawn}"

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures of all procedures: errors and criteria."""
        return tuple(
            m.name for m in next(iter(self.reports.values())).measures if m.name != "optimism"
        )

    def best(self, measure: str) -> str:
        """Return the label of the procedure with the best honest value of a measure."""
        self._check_measures([measure])
        sign = 1 if SMALL_IS_GOOD.get(measure, True) else -1
        values = {label: _of(report, measure).honest for label, report in self.reports.items()}
        return min(values, key=lambda label: sign * values[label])

    def to_frame(self) -> pd.DataFrame:
        """Return a row per procedure: df, search cost, and each measure naive, honest and with its error."""
        rows = {}
        for label, report in self.reports.items():
            row = {
                "naive df": report.naive_df, "df": report.df, "se of df": report.se,
                "lower": report.lower, "upper": report.upper, "search cost": search_cost(report),
            }  # fmt: skip
            for name in self.measures:
                measure = _of(report, name)
                row |= {
                    f"{name}, naive": measure.naive,
                    f"{name}, honest": measure.honest,
                    f"{name}, se": measure.se,
                }
            rows[label] = row
        frame = pd.DataFrame.from_dict(rows, orient="index").astype(float)
        return frame.rename_axis("procedure").reset_index()

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values for JSON."""
        return super().to_dict() | {
            "reports": {label: report.to_dict() for label, report in self.reports.items()}
        }

    def to_markdown(self, path: Any = None, *, measures: Sequence[str] | None = None) -> str:
        """Return the table in Markdown, the best honest values in bold; also written to the file `path`.

        Parameters
        ----------
        path : str or path, optional
        measures : list of names, optional
            Subset of `measures`, which is the default.
        """
        head, *rows = self._rows(self._chosen(measures), bold="**{}**".format)
        lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
        escaped = [[cell.replace("|", "\\|") for cell in line] for line in lines]
        text = "".join(f"| {' | '.join(line)} |\n" for line in escaped)
        return written(path, text)

    def to_latex(self, path: Any = None, *, measures: Sequence[str] | None = None) -> str:
        r"""Return the table in LaTeX, a tabular with the rules of booktabs; also written to the file `path`.

        Parameters
        ----------
        path : str or path, optional
        measures : list of names, optional
            Subset of `measures`, which is the default.
        """
        chosen = self._chosen(measures)
        _, *rows = self._rows(chosen, bold=r"\textbf{{{}}}".format, text=_in_tex)
        groups = ["degrees of freedom", *chosen]
        top = " & ".join(["", *(rf"\multicolumn{{2}}{{c}}{{{_in_tex(name)}}}" for name in groups)])
        below = " & ".join(["procedure", *["naive & honest"] * len(groups), "search cost"])
        lines = [
            rf"\begin{{tabular}}{{l{'r' * (2 * len(groups) + 1)}}}", r"\toprule", rf"{top} & \\",
            rf"{below} \\", r"\midrule", *(rf"{' & '.join(row)} \\" for row in _cost_last(rows)),
            r"\bottomrule", r"\end{tabular}", "",
        ]  # fmt: skip
        return written(path, "\n".join(lines))

    def _rows(
        self,
        measures: Sequence[str],
        bold: Callable[[str], str] = str,
        text: Callable[[str], str] = str,
    ) -> list[list[str]]:
        """Return the cells of the table, the heading first."""
        head = ["", "df, naive", "df", "search cost"]
        for name in measures:
            head += [f"{name}, naive", name]
        best = {name: self.best(name) for name in measures}
        rows = [[text(cell) for cell in head]]
        for label, report in self.reports.items():
            row = [
                text(label),
                number_text(report.naive_df),
                text(plus_minus_text(report.df, report.se)),
                number_text(search_cost(report)),
            ]
            for name in measures:
                measure = _of(report, name)
                honest = text(plus_minus_text(measure.honest, measure.se))
                row += [
                    number_text(measure.naive),
                    bold(honest) if best[name] == label else honest,
                ]
            rows.append(row)
        return rows

    def _chosen(self, measures: Sequence[str] | None) -> tuple[str, ...]:
        if measures is None:
            return self.measures
        if isinstance(measures, str):
            measures = [measures]
        self._check_measures(measures)
        return tuple(measures)

    def _check_measures(self, measures: Sequence[str]) -> None:
        for name in measures:
            if name not in self.measures:
                raise refusal("measures", name, f"among {', '.join(self.measures)}")

    def _draw(self, ax: Axes) -> None:
        """Draw the error of each procedure: naive, a circle, and honest, a dot with two standard errors."""
        name = self.measures[0]
        found = [_of(report, name) for report in self.reports.values()]
        places = np.arange(len(found))
        honest = np.array([m.honest for m in found], dtype=float)
        errors = [2 * (m.se or 0.0) for m in found]
        naive = np.array([np.nan if m.naive is None else m.naive for m in found], dtype=float)
        ax.hlines(places, naive, honest, color="grey", lw=1, alpha=0.6)
        ax.plot(naive, places, "o", mfc="white", color=ACCENT, label="naive")
        ax.errorbar(honest, places, xerr=errors, fmt="o", color=ACCENT, capsize=3, label="honest")
        labels = [
            f"{label}  ({report.df:.3g} df)" if math.isfinite(report.df) else label
            for label, report in self.reports.items()
        ]
        ax.set_yticks(places, labels)
        ax.invert_yaxis()
        ax.set_xlabel(f"{name}, two standard errors of the df")
        ax.grid(axis="x", alpha=0.25)
        ax.legend()


def compare(
    procedures: Any,
    X: Rows,
    y: ArrayLike,
    *,
    family: str | None = None,
    sigma: float | None = None,
    n_rep: int = 100,
    draws: Draws | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> ProcedureComparison:
    """Compare the degrees of freedom and errors of several procedures on the same data.

    Computes a `df_report` of each with the same noise. Unless `sigma` is given, it is that of the
    procedure with the smallest honest GCV in a pilot run. The search cost is the df in excess of the
    number of coefficients, or leaves, of a fit.

    Parameters
    ----------
    procedures : list or mapping of estimators, pipelines, procedures or functions
        As in `df_report`; the keys of a mapping are labels. Either all regressors or all classifiers.
    X : (n, p) array or DataFrame
    y : (n,) array
    family, sigma, n_rep, draws, random_state, n_jobs, progress
        As in `df_report`. All procedures use the same draws.

    Returns
    -------
    ProcedureComparison
        Prints as a table; see `to_frame()`, `to_markdown()`, `to_latex()` and `plot()`.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import compare
    >>> from pyearthdof.procedures import LeastSquares, RegressionTree
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 3))
    >>> y = X[:, 0] + rng.normal(size=50)
    >>> table = compare([LeastSquares(), RegressionTree(depth=1)], X, y, n_rep=20, random_state=0)
    >>> table.to_frame()["df"].round(1).tolist()
    [3.0, 3.0]
    """
    members = _members(procedures)
    if draws is None and not isinstance(random_state, (int, np.integer)):
        random_state = int(_generator(random_state).randint(2**31 - 1))
    options: dict[str, Any] = {
        "family": family, "draws": draws, "random_state": random_state, "n_jobs": n_jobs,
        "progress": progress, "prices": False,
    }  # fmt: skip

    def report_all(n_rep: int, sigma: float | None) -> dict[str, DfReport]:
        return {
            label: df_report(member, X, y, sigma=sigma, n_rep=n_rep, **options)
            for label, member in members.items()
        }

    if sigma is None:
        pilot = report_all(min(PILOT_REPETITIONS, n_rep), None)
        _check_families(pilot)
        if next(iter(pilot.values())).family == "gaussian":
            best = min(pilot.values(), key=lambda report: _of(report, "GCV").honest)
            sigma = best.sigma
    reports = report_all(n_rep, sigma)
    _check_families(reports)
    first = next(iter(reports.values()))
    return ProcedureComparison(
        reports, first.family, first.sigma, max(report.n_rep for report in reports.values())
    )


def search_cost(report: DfReport) -> float | None:
    """Return the df minus the number of parameters, of each fit if known, else of the fit to the data."""
    of_fits = getattr(report.found, "msdf", None)
    if of_fits is not None:
        return float(of_fits)
    return None if report.naive_df is None else report.df - report.naive_df


def _generator(random_state: Any) -> np.random.RandomState:
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.integers(2**31))
    return check_random_state(random_state)


def _members(procedures: Any) -> dict[str, Any]:
    if not isinstance(procedures, (Mapping, list, tuple)) or len(procedures) == 0:
        raise refusal("procedures", procedures, "a list or a mapping of estimators, one at least")
    if isinstance(procedures, Mapping):
        return {str(label): procedure for label, procedure in procedures.items()}
    found: dict[str, Any] = {}
    for procedure in procedures:
        label = title_of(procedure)
        while label in found:
            label += "'"
        found[label] = procedure
    return found


def _check_families(reports: Mapping[str, DfReport]) -> None:
    found = {report.family: label for label, report in reports.items()}
    if len(found) > 1:
        (one, a), (other, b) = list(found.items())[:2]
        raise InvalidInputError(
            f"procedures contains {a!r} for {one} responses and {b!r} for {other} ones, but they should be "
            "for the same kind"
        )


def _of(report: DfReport, name: str) -> Any:
    return next(measure for measure in report.measures if measure.name == name)


def _cost_last(rows: list[list[str]]) -> list[list[str]]:
    return [[*row[:3], *row[4:], row[3]] for row in rows]


def _in_tex(text: str) -> str:
    return "".join(TEX.get(character, character) for character in text)


def _aligned(rows: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            row[0].ljust(widths[0]),
            *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)),
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
