"""F-subset: the lasso spends no degrees of freedom on its search, best subset spends many."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..datasets import CORRELATED_BETA, correlated_root
from ..random import RDraws
from .base import Experiment
from .plots import BLUE, GREEN, diagonal, new_figure
from .verdict import measured, stated

N, P = 20, 10
SEED = 20210319
LAMBDAS = tuple(float(v) for v in 10.0 ** np.linspace(1, -2, 10))  # glmnet's scale

# What plain R gives with the same draws (r_scripts/reference/f_subset.R); the paper has the figure only.
LASSO_NONZEROS = (1.526, 2.816, 4.246, 5.210, 5.788, 6.144, 6.626, 7.664, 8.740, 9.344)
LASSO_DF = (1.577, 2.768, 4.261, 5.174, 5.735, 6.068, 6.549, 7.617, 8.722, 9.416)
SUBSET_DF = (12.368, 2.730, 5.684, 5.859, 6.415, 8.357, 9.298, 9.835, 10.091, 10.156)


class Subset(Experiment):
    name = "F-subset"
    title = "Lasso and best subset: degrees of freedom against the number of nonzero coefficients"
    question = (
        "Is the number of nonzero coefficients the degrees of freedom? For the lasso it is; best "
        "subset pays for its search. n = 20, 10 predictors in two correlated groups, beta = (1, 2, 3, "
        "4, 5, 0, ...). The paper shows a figure without numbers; those beside ours come from R's "
        "glmnet and leaps on the same random numbers."
    )
    order = 40
    sizes: ClassVar = {"quick": {"n_rep": 100}, "paper": {"n_rep": 500}}

    def cells(self, size):
        rest = {"seed": SEED, **self.settings(size)}
        lasso = [{"method": "lasso", "lambda": lam, **rest} for lam in LAMBDAS]
        return lasso + [{"method": "best subset", "size": k, **rest} for k in range(1, P + 1)]

    def compute(self, cell, engine):
        from ..dof import degrees_of_freedom
        from ..procedures import BestSubset, Lasso

        draws, X = draw_design(cell["seed"])
        mean, scale = X @ CORRELATED_BETA, np.ones(P)
        if cell["method"] == "lasso":
            # glmnet divides the columns by their standard deviation but does not centre them here.
            scale = X.std(axis=0)
            procedure = Lasso(lam=2 * N * cell["lambda"])
        else:
            procedure = BestSubset(size=cell["size"])
        found = degrees_of_freedom(
            procedure, X / scale, mu=mean, n_rep=cell["n_rep"], draws=draws, method="monte-carlo"
        )
        return [
            {
                "method": cell["method"],
                "lambda": cell.get("lambda"),
                "size": cell.get("size"),
                "nonzeros": found.n_coef,
                "nonzeros_se": found.n_coef_se,
                "df": found.df,
                "df_se": found.se,
                "n_rep": cell["n_rep"],
            }
        ]

    def compare(self, frame):
        lasso, subset = _parts(frame)
        lines = [
            measured(f"lasso, λ = {r[2]:.3g}: df", r[0], r[1], theirs, shown=f"{theirs} (R)")
            for r, theirs in zip(lasso[["df", "df_se", "lambda"]].to_numpy(), LASSO_DF, strict=True)
        ]
        lines += [
            measured(f"best subset, size {r[2]:.0f}: df", r[0], r[1], theirs, shown=f"{theirs} (R)")
            for r, theirs in zip(subset[["df", "df_se", "size"]].to_numpy(), SUBSET_DF, strict=True)
        ]
        gap = (lasso["df"] - lasso["nonzeros"]) / np.hypot(lasso["df_se"], lasso["nonzeros_se"])
        lines.append(
            stated(
                "lasso",
                "df is the number of nonzeros",
                f"farthest: {gap.abs().max():.1f} standard errors",
                gap.abs().max() <= 3,
            )
        )
        return lines

    def plot(self, frame):
        figure, ax = new_figure(width=5.6, height=4.6)
        diagonal(ax, P)
        ax.lines[-1].set_label("df = number of nonzeros")
        for part, marker, colour in zip(_parts(frame), "os", (GREEN, BLUE), strict=True):
            label = part["method"].iloc[0]
            ax.errorbar(part["nonzeros"], part["df"], yerr=part["df_se"], xerr=part["nonzeros_se"],
                        fmt=f"{marker}-", color=colour, capsize=2, markersize=5, label=label)  # fmt: skip
        ax.set(xlabel="average number of nonzero coefficients", ylabel="degrees of freedom")
        ax.legend(title="± one s.e.", loc="lower right")
        return figure


def draw_design(seed: int):
    """X as R's rmvnorm draws it, and the stream of the responses behind it."""
    draws = RDraws(seed)
    X = draws.normal(N * P).reshape(N, P) @ correlated_root()
    draws.skip_normals(N)  # one response that the authors draw and do not use
    return draws, X


def _parts(frame):
    lasso = frame[frame["method"] == "lasso"].sort_values("lambda", ascending=False)
    return lasso, frame[frame["method"] == "best subset"].sort_values("size")


EXPERIMENT = Subset()
