"""F-subset: degrees of freedom of lasso and best subset against the number of coefficients."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..datasets import CORRELATED_BETA, correlated_root
from ..random import RDraws
from .base import BLUE, GREEN, Experiment, diagonal, given_seed, new_figure, seed_of
from .verdict import Comparison, measured, multiple, number, printed, stated

N, P = 20, 10
SEED = 20210319
LAMBDAS = tuple(float(v) for v in 10.0 ** np.linspace(1, -2, 10))  # glmnet's scale

# Results of plain R (r_scripts/reference/f_subset.R); the paper only has the figure.
# With the same 500 draws, the lasso with glmnet's default convergence:
LASSO_NONZEROS = (1.526, 2.816, 4.246, 5.210, 5.788, 6.144, 6.626, 7.664, 8.740, 9.344)
LASSO_DF = (1.577, 2.768, 4.261, 5.174, 5.735, 6.068, 6.549, 7.617, 8.722, 9.416)
SUBSET_DF = (12.368, 2.730, 5.684, 5.859, 6.415, 8.357, 9.298, 9.835, 10.091, 10.156)
# The same with converged glmnet (thresh = 1e-20), like ours:
CONVERGED_LASSO_DF = (1.575, 2.769, 4.273, 5.180, 5.739, 6.068, 6.557, 7.650, 8.783, 9.486)
# 20,000 draws on the same X, with standard errors: the reference for other seeds.
N_LONG = 20_000
LONG_LASSO_DF = (1.557, 2.773, 4.245, 5.152, 5.710, 6.049, 6.525, 7.531, 8.601, 9.278)
LONG_LASSO_SE = (0.0119, 0.0160, 0.0201, 0.0220, 0.0232, 0.0238, 0.0251, 0.0274, 0.0294, 0.0305)
LONG_SUBSET_DF = (11.468, 2.741, 5.486, 5.662, 6.390, 8.175, 9.159, 9.645, 9.865, 9.927)
LONG_SUBSET_SE = (0.1019, 0.0536, 0.0428, 0.0333, 0.0308, 0.0309, 0.0310, 0.0313, 0.0316, 0.0316)
N_COMPARISONS = 2 * P + len(LAMBDAS)  # with R's two methods, and the lasso with its nonzeros


class Subset(Experiment):
    name = "F-subset"
    title = "Lasso and best subset: degrees of freedom against the number of nonzero coefficients"
    question = (
        "Are the degrees of freedom equal to the number of nonzero coefficients? For the lasso they are; "
        "best subset has a search cost. n = 20, 10 predictors in two correlated groups, beta = (1, 2, "
        "3, 4, 5, 0, ...). The paper shows a figure without numbers; ours are compared with R's leaps "
        "and glmnet, run until it converges (thresh = 1e-20; with its default, its df are up to 0.07 off). "
        "All twenty estimates use the same responses and are therefore high or low together. Both sizes are "
        "identical, because the computation takes seconds."
    )
    drawn = "R's random numbers, the same 500 responses as in R, so the digits must be R's."
    drawn_anew = (
        "The design stays the same and the responses change. R's reference numbers therefore come from "
        "20,000 responses, and the errors from the same long run."
    )
    order = 40
    sizes: ClassVar = {"quick": {"n_rep": 500}, "paper": {"n_rep": 500}}

    def cells(self, size, seed=None):
        rest = {"seed": SEED, **self.settings(size)}
        if seed is not None:
            rest["response_seed"] = seed_of(4, seed=seed)
        lasso = [{"method": "lasso", "lambda": lam, **rest} for lam in LAMBDAS]
        return lasso + [{"method": "best subset", "size": k, **rest} for k in range(1, P + 1)]

    def compute(self, cell, engine):
        from ..dof import degrees_of_freedom
        from ..procedures import BestSubset, Lasso

        draws, X = draw_design(cell["seed"])
        if "response_seed" in cell:
            draws = RDraws(cell["response_seed"])
        mean, scale = X @ CORRELATED_BETA, np.ones(P)
        if cell["method"] == "lasso":
            # glmnet divides the columns by their standard deviation but does not centre them in this call.
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
        names = [f"lasso, λ = {lam:.3g}: df" for lam in lasso["lambda"]]
        names += [f"best subset, size {size:.0f}: df" for size in subset["size"]]
        df = [*lasso["df"], *subset["df"]]
        if given_seed(frame) is None:
            digits = [f"{value:.3f}" for value in (*CONVERGED_LASSO_DF, *SUBSET_DF)]
            lines = [printed(*line, by_r=True) for line in zip(names, df, digits, strict=True)]
        else:
            lines = _with_a_long_run(names, df, int(frame["n_rep"].iloc[0]))
        gap = (lasso["df"] - lasso["nonzeros"]) / np.hypot(lasso["df_se"], lasso["nonzeros_se"])
        allowed = multiple(N_COMPARISONS, int(frame["n_rep"].iloc[0]) - 1)
        lines.append(
            stated(
                "lasso",
                "df is the number of nonzeros",
                f"farthest: {gap.abs().max():.1f} standard errors",
                gap.abs().max() <= allowed,
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


def _with_a_long_run(names, df, n_rep: int) -> list[Comparison]:
    """Compare draws other than R's; R's long run determines the errors of both.

    Best subset of size 2 changes its selection once in a hundred draws, with a large effect: the error
    estimated from a few hundred draws can be a fifth of the true one.
    """
    lines = []
    long_df, long_se = (*LONG_LASSO_DF, *LONG_SUBSET_DF), (*LONG_LASSO_SE, *LONG_SUBSET_SE)
    for name, ours, theirs, se in zip(names, df, long_df, long_se, strict=True):
        errors = se * np.sqrt(N_LONG / n_rep), theirs, se, number(theirs, se)
        lines.append(measured(name, ours, *errors, allowed=multiple(N_COMPARISONS), by_r=True))
    return lines


def draw_design(seed: int):
    """Return X from R's rmvnorm, and the stream of the responses after it."""
    draws = RDraws(seed)
    X = draws.normal(N * P).reshape(N, P) @ correlated_root()
    draws.skip_normals(N)  # a response that the authors draw but do not use
    return draws, X


def _parts(frame):
    lasso = frame[frame["method"] == "lasso"].sort_values("lambda", ascending=False)
    return lasso, frame[frame["method"] == "best subset"].sort_values("size")


EXPERIMENT = Subset()
