"""T3: empirical degrees of freedom of regression trees."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd

from .base import RepeatedEstimates, new_figure, ours_and_paper, seed_of
from .verdict import means_with_se, measured, multiple, number, welch

N = 100
PAPER_DOF = 9  # degrees of freedom of the paper's standard errors, from 10 estimates

# p -> the paper's estimate and standard error for depth 0, 1, 2, 3, 4.
PAPER = {
    1: ((1.01, 0.05), (5.71, 0.08), (11.84, 0.20), (19.80, 0.18), (28.97, 0.29)),
    5: ((1.02, 0.04), (8.71, 0.07), (18.38, 0.17), (30.14, 0.27), (42.06, 0.44)),
    10: ((1.00, 0.05), (9.87, 0.10), (21.62, 0.22), (35.01, 0.35), (48.49, 0.35)),
}


class Trees(RepeatedEstimates):
    name = "T3"
    title = "Degrees of freedom of regression trees"
    question = (
        "How many degrees of freedom does a regression tree use beyond its number of leaves, because it "
        "searches for the variable and the cut point of each split? Greedy trees complete to the given "
        "depth, without pruning; Gaussian predictors, drawn anew for each estimate; n = 100, mean "
        "0. A node of one observation cannot be split, so depth 4 has "
        "fewer than 16 leaves."
    )
    order = 30
    keys = ("p", "depth")
    places: ClassVar = [(p, depth) for p, column in PAPER.items() for depth in range(len(column))]
    sizes: ClassVar = {
        "quick": {"n_rep": 20, "n_estimates": 20},
        "paper": {"n_rep": 100, "n_estimates": 10},
    }

    def problem(self, cell, i):
        from ..procedures import RegressionTree

        p, depth = cell["p"], cell["depth"]
        seeds = [seed_of(3, p, depth, i, which, seed=cell.get("seed")) for which in (0, 1)]
        X = np.random.default_rng(seeds[0]).standard_normal((N, p))
        return RegressionTree(depth=depth), X, seeds[1]

    def summary(self, found):
        df, leaves = np.array([(f.df, f.n_coef) for f in found]).T
        return means_with_se(leaves=leaves, df=df, msdf=df - leaves)

    def compare(self, frame):
        lines = []
        for r in frame.itertuples():
            df, se = PAPER[r.p][r.depth]
            allowed = multiple(len(frame), welch(r.df_se, r.n_estimates - 1, se, PAPER_DOF))
            label = f"p = {r.p}, depth = {r.depth}"
            lines.append(measured(label, r.df, r.df_se, df, se, allowed=allowed))
        return lines

    def table(self, frame):
        rows = []
        for depth, part in frame.groupby("depth"):
            row = [depth, number(part["leaves"].mean())]
            for r in part.itertuples():
                df, se = PAPER[r.p][depth]
                row += [number(r.df, r.df_se), f"{df:.2f} ({se:.2f})"]
            rows.append(row)
        columns = [c for p in PAPER for c in (f"p = {p}", "paper")]
        return pd.DataFrame(rows, columns=["depth", "mean leaves", *columns])

    def plot(self, frame):
        figure, axes = new_figure(1, 3, sharey=True)
        for ax, p in zip(axes, PAPER, strict=True):
            part = frame[frame["p"] == p].sort_values("depth")
            ours_and_paper(
                ax, part["depth"], part["df"], part["df_se"], *zip(*PAPER[p], strict=True)
            )
            ax.plot(range(len(part)), part["leaves"], "s--", color="#777777", markersize=4,
                    linewidth=1, label="number of leaves")  # fmt: skip
            ax.set(title=f"p = {p}", xlabel="depth")
        axes[0].set_ylabel("degrees of freedom")
        axes[0].legend(title="± three s.e.", loc="upper left")
        return figure


EXPERIMENT = Trees()
