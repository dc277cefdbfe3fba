"""F-lasso-demo: iterated ridge regression as an approximation of the lasso."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd

from ..datasets import make_sparse
from .base import BLUE, GREEN, ORANGE, Experiment, new_figure
from .verdict import stated

N = 100
SIZES_P = (20, 150)
SEED = 2
LOOCV, BY_TRACE, BY_COUNT = "LOOCV, lasso", "GCV, trace", "GCV, count"
NONZEROS, TRACE, COUNT = "nonzeros of the lasso", "trace of S", "count of |beta| > tol"


class LassoDemo(Experiment):
    name = "F-lasso-demo"
    title = "Iterative ridge: coefficients, degrees of freedom and GCV compared with the lasso"
    question = (
        "Does iterated ridge regression approximate the lasso, and which degrees of freedom make its GCV "
        "follow the leave-one-out error? n = 100 and beta = (1, 1, 1, 0, ...), for p = 20 and p = 150, along "
        "glmnet's grid of λ (every eighth value at quick size). The coefficients are shown at the λ chosen "
        "by leave-one-out cross-validation."
    )
    order = 60
    sizes: ClassVar = {"quick": {"every": 8, "seed": SEED}, "paper": {"every": 1, "seed": SEED}}

    def cells(self, size, seed=None):
        return [{"p": p, **self.settings(size, seed)} for p in SIZES_P[::-1]]

    def compute(self, cell, engine):
        from ..procedures import IterativeRidge, lasso_path

        data = make_sparse(N, cell["p"], random_state=cell["seed"])
        lams = lasso_path(data.X, data.y).lam[:: cell["every"]]
        lasso = lasso_path(data.X, data.y, lams)
        loo = _leave_one_out(data.X, data.y, lams)
        rows, row = [], _row(cell["p"])
        for k, lam in enumerate(lams):
            ridge = IterativeRidge(lam=float(lam)).fit(data.X, data.y)
            rss = float(np.sum((data.y - ridge.fitted_values_) ** 2))
            gap = float(np.max(np.abs(ridge.coef_ - lasso.coef[k])))
            rows += [
                row("df", TRACE, lam, ridge.trace_),
                row("df", COUNT, lam, ridge.n_coef_),
                row("df", NONZEROS, lam, int(lasso.n_nonzero[k])),
                row("error", BY_TRACE, lam, _gcv(rss, ridge.trace_)),
                row("error", BY_COUNT, lam, _gcv(rss, ridge.n_coef_)),
                row("error", LOOCV, lam, loo[k].mean(), se=loo[k].std(ddof=1) / np.sqrt(N)),
                row("gap", "largest distance to the lasso", lam, gap),
            ]
        best = int(np.argmin(loo.mean(axis=1)))
        path = IterativeRidge(lam=float(lams[best])).fit(data.X, data.y).path_
        truth = np.r_[np.ones(3), np.zeros(cell["p"] - 3)]
        curves = [
            ("truth", None, truth),
            ("lasso", None, lasso.coef[best]),
            *(("iterative ridge", i, coef) for i, coef in enumerate(path)),
        ]
        return rows + [
            row("coefficients", series, lams[best], value, iteration=i, coefficient=j + 1)
            for series, i, coef in curves
            for j, value in enumerate(coef)
        ]

    def compare(self, frame):
        lines = []
        for p, part in frame.groupby("p"):
            gap = part.loc[part["panel"] == "gap", "value"].max()
            lines.append(
                stated(
                    f"p = {p}: iterative ridge and lasso",
                    "a good approximation at each λ",
                    f"coefficients differ by at most {gap:.1e}",
                    gap < 5e-3,
                )
            )
            errors = _wide(part, "error")
            by_trace, by_count = (
                float(np.abs(np.log(errors[name] / errors[LOOCV])).mean())
                for name in (BY_TRACE, BY_COUNT)
            )
            lines.append(
                stated(
                    f"p = {p}: GCV and LOOCV",
                    "GCV by count is closer",
                    f"mean |log ratio| {by_count:.2f} by count, {by_trace:.2f} by trace",
                    by_count < by_trace,
                )
            )
            df = _wide(part, "df")
            lines.append(
                stated(
                    f"p = {p}: trace",
                    "underestimates the degrees of freedom",
                    f"{df[TRACE].iloc[0]:.1f} against {df[NONZEROS].iloc[0]:.0f} at the smallest λ",
                    (df[TRACE] < df[NONZEROS])[df[NONZEROS] > 0].all(),
                )
            )
        return lines

    def plot(self, frame):
        figure, axes = new_figure(2, 3)
        for (left, middle, right), (p, part) in zip(axes, frame.groupby("p"), strict=True):
            _plot_coefficients(left, part, p)
            df = _wide(part, "df")
            for name, colour, line in (
                (NONZEROS, "k", "--"),
                (TRACE, BLUE, "-"),
                (COUNT, GREEN, "-"),
            ):
                middle.plot(df.index, df[name], color=colour, linestyle=line, label=name)
            middle.set(title=f"n = {N}, p = {p}", xscale="log", xlabel=r"$\lambda$",
                       ylabel="degrees of freedom")  # fmt: skip
            middle.legend(fontsize=8)
            _plot_errors(right, part, p)
        return figure


def _plot_coefficients(ax, part, p):
    part = part[part["panel"] == "coefficients"]
    ridge = part[part["series"] == "iterative ridge"]
    last = ridge["iteration"].max()
    for iteration, step in ridge.groupby("iteration"):
        ax.plot(step["coefficient"], step["value"], color=BLUE, linewidth=0.8,
                alpha=0.25 + 0.5 * iteration / max(last, 1),
                label="iterative ridge, darker later" if iteration == last else None)  # fmt: skip
    for series, marker, colour in (("lasso", "x", ORANGE), ("truth", ".", "black")):
        values = part[part["series"] == series]
        ax.plot(
            values["coefficient"], values["value"], marker, color=colour, markersize=5, label=series
        )
    ax.set(title=f"n = {N}, p = {p}, λ = {part['lambda'].iloc[0]:.3g}", xlabel="coefficient",
           ylabel=r"$\beta_j$")  # fmt: skip
    ax.legend(fontsize=8)


def _plot_errors(ax, part, p):
    errors = part[part["panel"] == "error"]
    for series, colour in ((BY_TRACE, BLUE), (BY_COUNT, GREEN), (LOOCV, ORANGE)):
        curve = errors[errors["series"] == series].sort_values("lambda")
        bars = curve["se"] if series == LOOCV else None
        ax.errorbar(curve["lambda"], curve["value"], yerr=bars, color=colour, elinewidth=0.6,
                    linewidth=1.2, label=series + (" ± one s.e." if series == LOOCV else ""))  # fmt: skip
    # GCV by count may explode at the smallest λ; the lower range is the informative one.
    top = 1.6 * (errors.loc[errors["series"] == LOOCV, ["value", "se"]].sum(axis=1)).max()
    ax.set(title=f"n = {N}, p = {p}", xscale="log", xlabel=r"$\lambda$", ylabel="GCV, or LOOCV error",
           ylim=(0, top))  # fmt: skip
    ax.legend(fontsize=8)


def _row(p: int):
    def row(panel, series, lam, value, *, iteration=None, coefficient=None, se=None):
        return {
            "p": p, "panel": panel, "series": series, "lambda": float(lam), "iteration": iteration,
            "coefficient": coefficient, "value": None if value is None else float(value),
            "se": None if se is None else float(se),
        }  # fmt: skip

    return row


def _gcv(rss: float, df: float) -> float | None:
    return rss / N / (1 - df / N) ** 2 if df < N else None


def _leave_one_out(X, y, lams) -> np.ndarray:
    """Return squared leave-one-out errors of the lasso, (number of lambdas, n), at glmnet's full-data lambda.

    Uses scikit-learn's path, the fastest; its tolerance leaves errors of 1e-6 in the coefficients.
    """
    from sklearn.linear_model import lasso_path

    errors = np.empty((len(lams), len(y)))
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        _, coef, _ = lasso_path(
            X[rest], y[rest], alphas=lams / (2 * len(y)), tol=1e-6, max_iter=100_000
        )
        errors[:, i] = (y[i] - X[i] @ coef) ** 2
    return errors


def _wide(part: pd.DataFrame, panel: str) -> pd.DataFrame:
    """Return one column per series and one row per lambda, ascending."""
    return part[part["panel"] == panel].pivot(index="lambda", columns="series", values="value")


EXPERIMENT = LassoDemo()
