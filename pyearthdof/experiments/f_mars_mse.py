"""F-mars-mse: improvement of MARS by the corrected penalty on simulated data."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd
from sklearn.base import clone

from ..datasets import make_hinges
from ..mars.components.terms import evaluate_terms, gcv_of_sizes
from ..random import RDraws
from .base import BLUE, GREEN, ORANGE, Experiment, new_figure, seed_of, with_error
from .verdict import multiple, number, rises, side, stated

N_TRAIN, N_TEST, N_FOLDS = 200, 1000, 10
PENALTIES = tuple(0.5 * k for k in range(1, 13))
SEED = 1234
METHODS = ("default", "corrected", "10-fold CV")
MANY = 20  # predictors; from this number on the corrected penalty wins in the paper
STYLES = dict(zip(METHODS, ((BLUE, "^"), (GREEN, "o"), (ORANGE, "s")), strict=True))


class MarsMse(Experiment):
    name = "F-mars-mse"
    title = "MARS: proportional decrease in model error with default and corrected penalties"
    question = (
        "Does MARS predict better with the corrected penalty, or with one chosen by 10-fold "
        "cross-validation? 200 training rows of two hinges among p Gaussian predictors; R² is the "
        "proportional decrease in mean squared error against the true mean on 1000 test rows, "
        "averaged over replications. Corrected and default penalties are compared on the same data."
    )
    drawn = (
        "The penalties come from R's random numbers with the authors' seed, the data from numpy's."
    )
    order = 80
    sizes: ClassVar = {
        "quick": {"p": [2, 20, 50], "n_rep": 100, "replications": 24},
        "paper": {"p": [2, 10, 20, 30, 40, 50, 60], "n_rep": 100, "replications": 10},
    }
    r_packages = ("earth",)

    def cells(self, size, seed=None):
        settings = self.settings(size)
        rest = {"n_rep": settings["n_rep"], "replications": settings["replications"]}
        if seed is not None:
            rest["seed"] = seed
        return [{"p": p, "degree": d, **rest} for d in (2, 1) for p in sorted(settings["p"])[::-1]]

    def compute(self, cell, engine):
        from ..dof import correct_penalty
        from ..mars.earth import Earth

        p, degree, seed = cell["p"], cell["degree"], cell.get("seed")
        nk = min(200, max(20, 2 * p + 1))
        # Thousands of fits: "auto" is the native engine, as for Algorithm 2.
        engine = "native" if engine == "auto" else engine
        fit = Earth(degree=degree, nk=nk, thresh=0.0, engine=engine)
        correction = correct_penalty(
            (N_TRAIN, p),
            degree=degree,
            nk=nk,
            n_rep=cell["n_rep"],
            draws=RDraws(SEED if seed is None else seed_of(8, p, degree, seed=seed)),
            engine=engine,
        )
        rows = []
        for replication in range(cell["replications"]):
            # Both degrees use the same data.
            rng = np.random.default_rng(seed_of(8, p, replication, seed=seed))
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
                        "penalty_se": correction.se if method == "corrected" else None,
                        "n_rep": cell["n_rep"],
                        "n_terms": int(model.n_terms_),
                        "r2": _decrease(model.predict(test.X), test),
                    }
                )
        return rows

    def compare(self, frame):
        lines = []
        for degree in (1, 2):
            part = frame[frame["degree"] == degree]
            lines += [_gain_line(degree, part), *_penalty_lines(degree, part)]
        return lines

    def table(self, frame):
        found = summary(frame).reset_index()
        found["R²"] = with_error(found["r2"], found["se"])
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
                bars = None if method == METHODS[0] else part["penalty_se"]
                ax.errorbar(part["p"], part["penalty"], yerr=bars, fmt=marker, linestyle=line,
                            color=colour, capsize=2, markersize=4, linewidth=1,
                            label=f"{method}, degree = {degree}")  # fmt: skip
        ax.set(title="penalty", xlabel="number of predictors p", ylabel="penalty factor c")
        ax.set_ylim(top=ax.get_ylim()[1] * 1.45)
        ax.legend(fontsize=7.5, ncols=2, loc="upper center")


def _n_tests(part: pd.DataFrame) -> int:
    """Return the number of differences judged for both degrees: gains, pairs of penalties, ends."""
    p = part["p"].unique()
    return 2 * (1 + int(np.sum(p >= MANY)) + len(p) * (len(p) - 1) // 2 + 2)


def _gain_line(degree: int, part: pd.DataFrame):
    """Compare the gain of the corrected penalty: its mean over p exceeds the error, and no loss does."""
    wide = part[part["p"] >= MANY].pivot(index=["p", "replication"], columns="method", values="r2")
    by_p = (wide[METHODS[1]] - wide[METHODS[0]]).groupby("p")
    gain, error, size = by_p.mean(), by_p.std() / np.sqrt(by_p.size()), int(by_p.size().iloc[0])
    mean, mean_error = gain.mean(), float(np.sqrt((error**2).sum())) / len(gain)
    tests = _n_tests(part)
    on_average = side(mean, multiple(tests, len(gain) * (size - 1)) * mean_error)
    a_loss = (gain < -multiple(tests, size - 1) * error).any()
    least = gain.idxmin()
    return stated(
        f"degree {degree}, p = {', '.join(map(str, gain.index))}: R²",
        "corrected beats default",
        f"gain {number(mean, mean_error)} on average, "
        f"least {number(gain[least], error[least])} at p = {least}",
        False if a_loss else on_average,
    )


def _penalty_lines(degree: int, part: pd.DataFrame):
    corrected = part[part["method"] == METHODS[1]].groupby("p").first()
    penalty, error = corrected["penalty"], corrected["penalty_se"]
    allowed = multiple(_n_tests(part), corrected["n_rep"].iloc[0] - 1)
    shown = ", ".join(with_error(penalty, error))
    default, name = degree + 1, f"degree {degree}: corrected penalty"
    lines = [stated(name, "rises with p", shown, rises(penalty, error, allowed))]
    for place, sign, word in ((0, -1, "below"), (-1, 1, "above")):
        p, value, se = penalty.index[place], penalty.iloc[place], error.iloc[place]
        holds = side(sign * (value - default), allowed * se)
        lines.append(
            stated(f"{name}, p = {p}", f"{word} the default {default}", number(value, se), holds)
        )
    return lines


def cross_validated_penalty(fit, X, y, rng) -> float:
    """Return the penalty with the smallest 10-fold cross-validation error.

    Without a threshold the forward pass and the sequence of subsets of the pruning pass do not
    depend on the penalty, which only selects the subset. One fit per fold therefore serves all
    penalties, a twelfth of the work.
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
    bx, bx_new = (evaluate_terms(rows, model.dirs, model.cuts) for rows in (X, X_new))
    predictions = []
    for penalty in PENALTIES:
        best = int(np.argmin(gcv_of_sizes(model.rss_per_subset, len(y), penalty)))
        terms = model.prune_terms[best, : best + 1].astype(int) - 1
        coef = np.linalg.lstsq(bx[:, terms], y, rcond=None)[0]
        predictions.append(bx_new[:, terms] @ coef)
    return predictions


def _decrease(prediction, test) -> float:
    """Return R^2 = (MSE0 - MSE)/MSE0, both against the true mean; MSE0 is that of the mean of the test y."""
    mse0 = np.mean((test.y.mean() - test.mean) ** 2)
    return float((mse0 - np.mean((prediction - test.mean) ** 2)) / mse0)


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Return mean R^2 and penalty over the replications, with their standard errors.

    All replications share the corrected penalty, whose error is Algorithm 2's.
    """
    groups = frame.groupby(["degree", "p", "method"])
    root = np.sqrt(groups.size())
    between = groups["penalty"].std() / root
    return pd.DataFrame(
        {
            "r2": groups["r2"].mean(),
            "se": groups["r2"].std() / root,
            "penalty": groups["penalty"].mean(),
            "penalty_se": groups["penalty_se"].first().fillna(between),
        }
    )


EXPERIMENT = MarsMse()
