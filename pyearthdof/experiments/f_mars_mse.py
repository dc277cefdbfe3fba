"""F-mars-mse: how much the corrected penalty improves MARS on simulated data."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd
from sklearn.base import clone

from ..datasets import make_hinges
from ..mars.model import evaluate_term
from ..random import RDraws
from .base import Experiment, seed_of
from .plots import BLUE, GREEN, ORANGE, new_figure
from .verdict import number, stated

N_TRAIN, N_TEST, N_FOLDS = 200, 1000, 10
PENALTIES = tuple(0.5 * k for k in range(1, 13))
SEED = 1234
METHODS = ("default", "corrected", "10-fold CV")
STYLES = dict(zip(METHODS, ((BLUE, "^"), (GREEN, "o"), (ORANGE, "s")), strict=True))


class MarsMse(Experiment):
    name = "F-mars-mse"
    title = "MARS: proportional decrease in model error with default and corrected penalties"
    question = (
        "Does MARS predict better with the corrected penalty, or with one chosen by 10-fold "
        "cross-validation? 200 training rows of two hinges among p Gaussian predictors; R² is the "
        "proportional decrease in mean squared error against the true mean on 1000 test rows, "
        "averaged over replications."
    )
    order = 80
    sizes: ClassVar = {
        "quick": {"p": [2, 20, 50], "n_rep": 10, "replications": 3},
        "paper": {"p": [2, 10, 20, 30, 40, 50, 60], "n_rep": 100, "replications": 10},
    }
    r_packages = ("earth",)

    def cells(self, size):
        settings = self.settings(size)
        rest = {"n_rep": settings["n_rep"], "replications": settings["replications"]}
        return [{"p": p, "degree": d, **rest} for d in (2, 1) for p in sorted(settings["p"])[::-1]]

    def compute(self, cell, engine):
        from ..dof import correct_penalty
        from ..mars.earth import Earth

        p, degree = cell["p"], cell["degree"]
        nk = min(200, max(20, 2 * p + 1))
        # A simulation of thousands of fits: "auto" is the native engine, as for Algorithm 2.
        engine = "native" if engine == "auto" else engine
        fit = Earth(degree=degree, nk=nk, thresh=0.0, engine=engine)
        correction = correct_penalty(
            (N_TRAIN, p),
            degree=degree,
            nk=nk,
            n_rep=cell["n_rep"],
            draws=RDraws(SEED),
            engine=engine,
        )
        rows = []
        for replication in range(cell["replications"]):
            # The same data for both degrees.
            rng = np.random.default_rng(seed_of(8, p, replication))
            train, test = make_hinges(N_TRAIN, p, rng), make_hinges(N_TEST, p, rng)
            chosen = cross_validated_penalty(fit, train.X, train.y, rng)
            penalties = (float(degree + 1), correction.penalty, chosen)
            for method, penalty in zip(METHODS, penalties, strict=True):
                model = fit.set_params(penalty=penalty).fit(train.X, train.y)
                rows.append(
                    {
                        "degree": degree,
                        "p": p,
                        "nk": nk,
                        "replication": replication,
                        "method": method,
                        "penalty": penalty,
                        "n_terms": int(model.n_terms_),
                        "r2": _decrease(model.predict(test.X), test),
                    }
                )
        return rows

    def compare(self, frame):
        found, lines = summary(frame), []
        for degree in (1, 2):
            for p in sorted(frame["p"].unique()):
                default, corrected = (found.loc[(degree, p, m)] for m in METHODS[:2])
                shown = " against ".join(number(m["r2"], m["se"]) for m in (corrected, default))
                if p >= 20:
                    holds = corrected["r2"] >= default["r2"]
                    lines.append(
                        stated(
                            f"degree {degree}, p = {p}: R²", "corrected beats default", shown, holds
                        )
                    )
            part = found.loc[degree].xs("corrected", level="method")["penalty"]
            lines.append(
                stated(
                    f"degree {degree}: corrected penalty",
                    "rises with p, from below the default to above it",
                    ", ".join(f"{v:.2f}" for v in part),
                    part.is_monotonic_increasing and part.iloc[0] < degree + 1 < part.iloc[-1],
                )
            )
        return lines

    def table(self, frame):
        found = summary(frame).reset_index()
        found["R²"] = [number(v, e) for v, e in zip(found["r2"], found["se"], strict=True)]
        found["c"] = [f"{c:.2f}" for c in found["penalty"]]
        wide = found.pivot(index=["degree", "p"], columns="method", values=["R²", "c"])
        wide = wide.reindex(columns=[(v, m) for m in METHODS for v in ("R²", "c")])
        wide.columns = [f"{v}, {m}" for v, m in wide.columns]
        return wide.reset_index()

    def plot(self, frame):
        found = summary(frame).reset_index()
        figure, axes = new_figure(1, 3)
        for degree, ax in zip((1, 2), axes, strict=False):
            for shift, (method, (colour, marker)) in zip(
                (-0.5, 0, 0.5), STYLES.items(), strict=True
            ):
                part = found[(found["degree"] == degree) & (found["method"] == method)]
                ax.errorbar(part["p"] + shift, part["r2"], yerr=part["se"], fmt=f"{marker}-",
                            color=colour, capsize=2, markersize=4, linewidth=1, label=method)  # fmt: skip
            ax.set(title=f"degree = {degree}", xlabel="number of predictors p",
                   ylabel="proportional decrease in model error $R^2$")  # fmt: skip
            ax.legend(title="± one s.e.")
        self._plot_penalties(axes[2], found)
        return figure

    def _plot_penalties(self, ax, found):
        for degree, line in ((1, "-"), (2, "--")):
            for method, (colour, marker) in STYLES.items():
                part = found[(found["degree"] == degree) & (found["method"] == method)]
                bars = part["penalty_se"] if method == METHODS[2] else None
                ax.errorbar(part["p"], part["penalty"], yerr=bars, fmt=marker, linestyle=line,
                            color=colour, capsize=2, markersize=4, linewidth=1,
                            label=f"{method}, degree = {degree}")  # fmt: skip
        ax.set(title="penalty", xlabel="number of predictors p", ylabel="penalty factor c")
        ax.set_ylim(top=ax.get_ylim()[1] * 1.45)
        ax.legend(fontsize=7.5, ncols=2, loc="upper center")


def cross_validated_penalty(fit, X, y, rng) -> float:
    """The penalty with the smallest 10-fold cross-validation error.

    Without a threshold the forward pass and the sequence of subsets of the pruning pass do not
    depend on the penalty; it only says which subset is taken. So one fit a fold serves all
    penalties, which is twelve times less work.
    """
    fold = rng.permutation(np.arange(len(y)) % N_FOLDS)
    errors = np.zeros(len(PENALTIES))
    for k in range(N_FOLDS):
        train, test = fold != k, fold == k
        predictions = _for_each_penalty(fit, X[train], y[train], X[test])
        errors += [np.sum((prediction - y[test]) ** 2) for prediction in predictions]
    return PENALTIES[int(np.argmin(errors))]


def _for_each_penalty(fit, X, y, X_new) -> list[np.ndarray]:
    model = clone(fit).set_params(penalty=None).fit(X, y).model_
    bx, bx_new = _all_terms(model, X), _all_terms(model, X_new)
    size = np.arange(1, len(model.rss_per_subset) + 1)
    predictions = []
    for penalty in PENALTIES:
        complexity = size + penalty * (size - 1) / 2
        with np.errstate(divide="ignore"):
            gcv = model.rss_per_subset / (len(y) * (1 - complexity / len(y)) ** 2)
        best = int(np.argmin(np.where(complexity < len(y), gcv, np.inf)))
        terms = model.prune_terms[best, : best + 1].astype(int) - 1
        coef = np.linalg.lstsq(bx[:, terms], y, rcond=None)[0]
        predictions.append(bx_new[:, terms] @ coef)
    return predictions


def _all_terms(model, X) -> np.ndarray:
    """Every term of the forward pass, selected or not, at the rows of X."""
    terms = zip(model.dirs, model.cuts, strict=True)
    return np.column_stack([evaluate_term(X, dirs, cuts) for dirs, cuts in terms])


def _decrease(prediction, test) -> float:
    """R^2 = (MSE0 - MSE)/MSE0, both against the true mean; MSE0 predicts by the mean of the test y."""
    mse0 = np.mean((test.y.mean() - test.mean) ** 2)
    return float((mse0 - np.mean((prediction - test.mean) ** 2)) / mse0)


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean R^2 and penalty over the replications, with their standard errors."""
    groups = frame.groupby(["degree", "p", "method"])
    root = np.sqrt(groups.size())
    return pd.DataFrame(
        {
            "r2": groups["r2"].mean(),
            "se": groups["r2"].std() / root,
            "penalty": groups["penalty"].mean(),
            "penalty_se": groups["penalty"].std() / root,
        }
    )


EXPERIMENT = MarsMse()
