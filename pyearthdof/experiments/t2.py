"""T2: theoretical and empirical degrees of freedom of splines."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd

from .base import RepeatedEstimates, new_figure, ours_and_paper, seed_of, with_error
from .verdict import means_with_se, measured, multiple, printed, welch

N = 100
PAPER_FITS = 100  # fits behind the paper's theory, if that is a mean
PAPER_DOF = 99  # degrees of freedom of the paper's standard errors, from 100 estimates
N_COMPARISONS = 21

# Method -> name of its parameter, and for each value the paper's theory and estimate (s.e.).
PAPER: dict[str, tuple[str, dict[float, tuple[str | None, float, float]]]] = {
    "cubic spline": (
        "J",
        {5: ("5.0", 4.95, 0.033), 10: ("10.0", 9.99, 0.049), 15: ("15.0", 15.03, 0.052)},
    ),
    "smoothing spline": (
        "λ",
        {0.001: ("7.33", 7.31, 0.032), 0.01: ("4.56", 4.60, 0.026), 0.1: ("3.00", 3.01, 0.021)},
    ),
    "monotone cubic spline": (
        "J",
        {5: ("2.21", 2.08, 0.021), 10: ("2.78", 2.80, 0.020), 15: ("3.38", 3.21, 0.023)},
    ),
    "monotone smoothing spline": (
        "λ",
        {0.001: (None, 2.85, 0.020), 0.01: (None, 2.33, 0.017), 0.1: (None, 1.90, 0.018)},
    ),
}


class Splines(RepeatedEstimates):
    name = "T2"
    title = "Degrees of freedom of cubic, smoothing and monotone splines"
    question = (
        "Does Algorithm 1 reproduce the theoretical degrees of freedom of splines, and how many "
        "does a monotone constraint remove? Theory is tr(S) for the linear smoothers, the mean "
        "number of unique coefficients for the monotone cubic spline, and, where the paper has a "
        "dash, the mean trace on the active set for the monotone smoothing spline. x = 1, ..., 100, "
        "mean 0."
    )
    order = 20
    sizes: ClassVar = {
        "quick": {"n_rep": 40, "n_estimates": 25},
        "paper": {"n_rep": 100, "n_estimates": 100},
    }

    keys = ("method", "parameter")
    places: ClassVar = [(method, v) for method, (_, values) in PAPER.items() for v in values]

    def problem(self, cell, i):
        which = (list(PAPER).index(cell["method"]), round(1000 * cell["parameter"]))
        x = np.arange(1.0, N + 1)[:, None]
        procedure = _procedure(cell["method"], cell["parameter"])
        return procedure, x, seed_of(2, *which, i, seed=cell.get("seed"))

    def summary(self, found):
        # In all four methods, the df are the mean of the trace; for the monotone cubic spline
        # this is the number of unique coefficients (Proposition 2).
        theory = means_with_se(theory=np.array([f.trace for f in found]))
        one = {"theory_se_of_one": float(np.mean([f.trace_se for f in found]))}
        return theory | one | means_with_se(df=np.array([f.df for f in found]))

    def compare(self, frame):
        lines = []
        for row in frame.itertuples():
            symbol, values = PAPER[row.method]
            theory, df, df_se = values[row.parameter]
            label = f"{row.method}, {symbol} = {row.parameter:g}"
            if theory is not None and row.theory_se_of_one < 1e-8:
                lines.append(printed(f"{label}: theory", row.theory, theory))
            else:  # the paper has one run of 100 fits
                paper = None if theory is None else float(theory)
                paper_se = row.theory_se_of_one * np.sqrt(row.n_rep / PAPER_FITS)
                errors = row.theory_se, paper, paper_se, theory
                allowed = _allowed(row, row.theory_se, paper_se)
                lines.append(measured(f"{label}: theory", row.theory, *errors, allowed=allowed))
            allowed = _allowed(row, row.df_se, df_se)
            lines.append(
                measured(f"{label}: empirical", row.df, row.df_se, df, df_se, allowed=allowed)
            )
        return lines

    def table(self, frame):
        theirs = [PAPER[r.method][1][r.parameter] for r in frame.itertuples()]
        return pd.DataFrame(
            {
                "method": frame["method"],
                "parameter": [
                    f"{PAPER[r.method][0]} = {r.parameter:g}" for r in frame.itertuples()
                ],
                "theory": with_error(frame["theory"], frame["theory_se"]),
                "paper's theory": [t[0] or "-" for t in theirs],
                "empirical": with_error(frame["df"], frame["df_se"]),
                "paper's empirical": [f"{t[1]:.2f} ({t[2]:.3f})" for t in theirs],
            }
        )

    def plot(self, frame):
        figure, axes = new_figure(2, 2)
        for ax, (method, (symbol, values)) in zip(axes.flat, PAPER.items(), strict=True):
            part = frame[frame["method"] == method]
            theirs = list(values.values())
            labels = [f"{symbol} = {v:g}" for v in values]
            ours_and_paper(
                ax, labels, part["df"], part["df_se"], *zip(*(t[1:] for t in theirs), strict=True)
            )
            ax.plot(
                range(len(labels)),
                part["theory"],
                "_",
                color="black",
                markersize=28,
                label="theory",
            )
            ax.set(title=method, ylabel="degrees of freedom")
        axes[0, 0].legend(title="± three s.e.", loc="upper left")
        return figure


def _procedure(method: str, value: float):
    from .. import procedures as p

    if method == "cubic spline":
        return p.CubicSpline(n_basis=int(value))
    if method == "smoothing spline":
        return p.SmoothingSpline(lam=value, n_knots=N)
    if method == "monotone cubic spline":
        return p.MonotoneCubicSpline(n_basis=int(value))
    return p.MonotoneSmoothingSpline(lam=value)


def _allowed(row, se: float, paper_se: float) -> float:
    return multiple(N_COMPARISONS, welch(se, row.n_estimates - 1, paper_se, PAPER_DOF))


EXPERIMENT = Splines()
