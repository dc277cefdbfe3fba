"""F-mars-df: nominal and actual degrees of freedom of MARS, before and after the correction."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd

from ..random import RDraws
from .base import BLUE, GREEN, Experiment, diagonal, new_figure, seed_of
from .verdict import every, multiple, side, stated

N = 100
PANELS = tuple((p, degree) for degree in (1, 2) for p in (1, 10, 50))
SEED = 1234  # the authors' seed; these draws determine the penalty
FRESH_SEED = 4321  # seed of the draws that test the corrected penalty


class MarsDf(Experiment):
    name = "F-mars-df"
    title = "MARS: nominal and actual degrees of freedom along nk"
    question = (
        "Do the nominal degrees of freedom of MARS equal the actual ones? One forward pass without pruning "
        "for each response, cut at nk = 1, ..., 100 terms; n = 100, mean 0. Self-consistent fits lie on "
        "the dashed diagonal. Algorithm 2 fits its own draws to the diagonal by construction, so the "
        "corrected penalties are tested on fresh responses with the same predictors."
    )
    order = 70
    sizes: ClassVar = {
        "quick": {"n_rep": 100, "nk": [1, 3, 7, 11, 21, 31, 41, 61]},
        "paper": {"n_rep": 100, "nk": list(range(1, 101))},
    }
    r_packages = ("earth",)

    def cells(self, size, seed=None):
        seeds = {"seed": SEED, "fresh_seed": FRESH_SEED}
        if seed is not None:
            seeds = {name: seed_of(7, i, seed=seed) for i, name in enumerate(seeds)}
        return [{"p": p, "degree": d, **seeds, **self.settings(size)} for p, d in reversed(PANELS)]

    def compute(self, cell, engine):
        from ..dof import self_consistency
        from ..dof.mars.correction import nominal
        from ..dof.montecarlo.draws import drawn_design

        X = drawn_design((N, cell["p"]), RDraws(cell["seed"]), cell["n_rep"])
        options = {k: cell[k] for k in ("degree", "nk", "n_rep")} | {"engine": engine}
        # As in the authors' code, X follows the responses in the stream of the first draws.
        first = self_consistency(X, draws=RDraws(cell["seed"]), **options)
        fresh = self_consistency(X, draws=RDraws(cell["fresh_seed"]), **options)
        columns = {
            "nk": first.nk,
            "n_terms": first.n_terms,
            "df": first.df,
            "df_se": first.se,
            "nominal_df": first.nominal_df,
            "penalty": first.penalty,
            "fresh_n_terms": fresh.n_terms,
            "fresh_df": fresh.df,
            "fresh_df_se": fresh.se,
            "corrected_nominal_df": nominal(fresh.n_terms, first.penalty),
        }
        rows = pd.DataFrame(columns).to_dict("records")
        about = {name: cell[name] for name in ("p", "degree", "n_rep")}
        return [about | row for row in rows]

    def compare(self, frame):
        lines = []
        for p, degree in PANELS:
            part = frame[(frame["p"] == p) & (frame["degree"] == degree)].sort_values("nk")
            part = part[part["nk"] >= 3]  # smaller fits are the mean, without a knot
            lines += [_default_line(p, degree, part), _corrected_line(p, degree, part)]
        return lines

    def plot(self, frame):
        figure, axes = new_figure(2, 3)
        for ax, (p, degree) in zip(axes.flat, PANELS, strict=True):
            part = frame[(frame["p"] == p) & (frame["degree"] == degree)].sort_values("nk")
            top = 1.05 * max(part[c].max() for c in ("df", "nominal_df", "fresh_df"))
            diagonal(ax, top)
            bars = {"linewidth": 0.9, "markersize": 3.5, "elinewidth": 0.6}
            ax.errorbar(part["df"], part["nominal_df"], xerr=part["df_se"], fmt="^-", color=BLUE,
                        label=f"default, c = {degree + 1}", **bars)  # fmt: skip
            ax.errorbar(part["fresh_df"], part["corrected_nominal_df"], xerr=part["fresh_df_se"],
                        fmt="o-", color=GREEN, label="corrected, on fresh draws", **bars)  # fmt: skip
            ax.set(title=f"degree = {degree}, p = {p}", xlim=(0, top), ylim=(0, top))
            ax.set_xlabel(r"actual degrees of freedom $\widehat{\mathrm{df}}$")
            ax.set_ylabel(r"nominal degrees of freedom $\tilde C(M)$")
            place = "upper left" if p == 50 else "lower right"
            ax.legend(loc=place, title="± one s.e.", fontsize=9)
        return figure


def _allowed(part, dof) -> float:
    """Return the permitted distance in standard errors; two curves of points are judged in each panel."""
    return multiple(2 * len(PANELS) * len(part), dof)


def _corrected_line(p, degree, part):
    """Compare the corrected curve with the diagonal, in combined standard errors of both draws."""
    gap = (part["corrected_nominal_df"] - part["fresh_df"]).to_numpy()
    error = np.hypot(part["df_se"], part["fresh_df_se"]).to_numpy()
    away = np.abs(gap) / error
    worst = int(np.argmax(away))
    found = f"farthest at nk = {part['nk'].iloc[worst]}: {gap[worst]:.2g} ({error[worst]:.2g})"
    holds = away[worst] <= _allowed(part, 2 * (part["n_rep"].iloc[0] - 1))
    return stated(f"p = {p}, degree {degree}: corrected", "on the diagonal", found, holds)


def _default_line(p, degree, part):
    """Return the position of the default penalty; above the diagonal means nominal > actual.

    A point within the error of the diagonal contradicts neither side, but each side needs a point beyond
    the error.
    """
    nk = part["nk"].to_numpy()
    gap = (part["nominal_df"] - part["df"]).to_numpy()
    allowed = _allowed(part, part["n_rep"].iloc[0] - 1) * part["df_se"].to_numpy()
    if p == 1:
        paper, below, above = "above the diagonal", nk < 0, nk > 0
    elif p == 10:
        paper, below, above = "below at first, above for large nk", nk <= 15, nk >= 41
    elif degree == 1:
        paper, below, above = "below the diagonal", nk > 0, nk < 0
    else:
        paper, below, above = "below at first, above for large nk", nk <= 31, nk >= 45
    holds = every(
        side(sign * gap[where], allowed[where])
        for sign, where in ((-1, below), (1, above))
        if where.any()
    )
    return stated(f"p = {p}, degree {degree}: default", paper, _describe(nk, gap > 0), holds)


def _describe(nk, above) -> str:
    if above.all() or not above.any():
        return f"{'above' if above[0] else 'below'} from nk = {nk[0]} to {nk[-1]}"
    turns = nk[1:][above[1:] != above[:-1]]
    return (
        f"{'above' if above[0] else 'below'} at first, crosses at nk = {', '.join(map(str, turns))}"
    )


EXPERIMENT = MarsDf()
