"""F-lasso-df: Theorem 1, the lasso's degrees of freedom as a trace and a search cost."""

from __future__ import annotations

from typing import ClassVar

from ..datasets import make_sparse
from .base import BLUE, GREEN, ORANGE, Experiment, new_figure
from .verdict import stated

N = 100
SIZES_P = (20, 120)
FLOOR = 1e-7  # the paper's replacement for a zero coefficient
SEED = 1


class LassoDf(Experiment):
    name = "F-lasso-df"
    title = "Three estimates of the degrees of freedom of the lasso"
    question = (
        "With the lasso written as S(y) y, is its trace its degrees of freedom? It underestimates the number "
        "of nonzero coefficients; with the search cost δ of Theorem 1 the two are equal. n = 100, beta = "
        "(1, 1, 1, 0, ...), along glmnet's grid of λ. Zeros are dropped, which is exact; the paper "
        "replaces them by 1e-7. Both sizes are identical, because the computation is fast."
    )
    order = 50
    sizes: ClassVar = {"quick": {"seed": SEED}, "paper": {"seed": SEED}}

    def cells(self, size, seed=None):
        return [{"p": p, **self.settings(size, seed)} for p in SIZES_P]

    def compute(self, cell, engine):
        from ..procedures import lasso_path, theorem_one

        data = make_sparse(N, cell["p"], random_state=cell["seed"])
        path = lasso_path(data.X, data.y)
        rows = []
        for lam, coef, nonzeros, trace, delta in zip(
            path.lam, path.coef, path.n_nonzero, path.trace, path.delta, strict=True
        ):
            floored = theorem_one(data.X, coef, lam, floor=FLOOR)
            rows.append(
                {
                    "p": cell["p"],
                    "lambda": float(lam),
                    "nonzeros": int(nonzeros),
                    "trace": float(trace),
                    "delta": float(delta),
                    "difference": float(trace + delta - nonzeros),
                    "difference_with_floor": floored.trace + floored.delta - int(nonzeros),
                }
            )
        return rows

    def compare(self, frame):
        lines = []
        for p, part in frame.groupby("p"):
            exact = part["difference"].abs().max()
            floored = part["difference_with_floor"].abs().max()
            short = part.loc[part["nonzeros"] > 0, "delta"]
            lines += [
                stated(f"p = {p}: tr S + δ − nonzeros", "0", f"at most {exact:.1e}", exact < 1e-8),
                stated(
                    f"p = {p}: with 1e-7 for zeros", "0", f"at most {floored:.1e}", floored < 1e-3
                ),
                stated(
                    f"p = {p}: tr S",
                    "underestimates",
                    f"by at least {short.min():.2g}",
                    short.min() > 0,
                ),
            ]
        return lines

    def plot(self, frame):
        figure, axes = new_figure(2, 2)
        for (left, right), (p, part) in zip(axes, frame.groupby("p"), strict=True):
            left.plot(part["lambda"], part["nonzeros"], "k--", label="number of nonzeros")
            left.plot(part["lambda"], part["trace"], color=ORANGE, label=r"$\mathrm{tr}(S)$")
            left.plot(part["lambda"], part["trace"] + part["delta"], color=GREEN, alpha=0.8,
                      label=r"$\mathrm{tr}(S) + \delta$")  # fmt: skip
            left.set(title=f"n = {N}, p = {p}", ylabel="degrees of freedom")
            left.legend()
            right.plot(
                part["lambda"], part["difference"], ".-", color=BLUE, markersize=4, linewidth=0.8
            )
            right.axhline(0, color="black", linewidth=0.6)
            right.set(
                title=f"n = {N}, p = {p}", ylabel=r"$\mathrm{tr}(S) + \delta\ -$ number of nonzeros"
            )
            for ax in (left, right):
                ax.set(xscale="log", xlabel=r"$\lambda$")
        return figure


EXPERIMENT = LassoDf()
