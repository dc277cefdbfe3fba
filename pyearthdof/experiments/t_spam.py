"""T-spam: MARS and corrected MARS on spam e-mails, with R's random numbers."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd

from ..datasets import load_spam, load_spam_split
from ..random import RDraws
from .base import Experiment, cells_by_degree, given_seed, new_figure, ours_and_paper
from .verdict import better, measured, multiple, one_draw, printed

SEED = 1234  # the authors' seed
REPEATS = 10  # repetitions of the penalty if a seed is given
PAPER_REPETITIONS = 100

# degree -> the paper's test errors and corrected penalty, as printed.
PAPER = {
    1: {"MARS": "0.0846", "penalty": "6.25", "corrected MARS": "0.0814"},
    2: {"MARS": "0.0684", "penalty": "7.94", "corrected MARS": "0.0658"},
}
METHODS = ("MARS", "corrected MARS")
N_MEASURED = 3 * len(PAPER)  # the penalty, its error rate, and the gain


class Spam(Experiment):
    name = "T-spam"
    title = "Spam data: test error rate of MARS and corrected MARS"
    question = (
        "Does the corrected penalty improve the classification of spam by MARS? 57 predictors, 3065 "
        "training and 1536 test e-mails, as in The Elements of Statistical Learning; the response "
        "is 0 or 1 and an e-mail is spam above 0.5. Quick size draws 20 responses for the penalty "
        "instead of 100, so its penalty only approximates the paper's."
    )
    drawn = "The noise of Algorithm 2 comes from R's random numbers with the authors' seed."
    drawn_anew = (
        f"{REPEATS} penalties, each from its own noise, and their means. The paper's numbers are one such "
        "draw, so the verdicts include the spread of the draws, and results that depend on the noise are "
        "not called exact. MARS with its default penalty draws nothing."
    )
    order = 100
    sizes: ClassVar = {"quick": {"n_rep": 20}, "paper": {"n_rep": PAPER_REPETITIONS}}
    r_packages = ("earth",)

    def cells(self, size, seed=None):
        degrees = sorted(PAPER, reverse=True)  # longest computation first
        return cells_by_degree(degrees, self.settings(size)["n_rep"], 10, SEED, REPEATS, seed)

    def compute(self, cell, engine):
        from ..dof import correct_penalty
        from ..mars.earth import Earth

        spam, test = load_spam(), load_spam_split()
        X, y = spam.drop(columns="type").to_numpy(), (spam["type"] == "spam").to_numpy(dtype=float)
        model = Earth(degree=cell["degree"], engine=engine)
        correction = correct_penalty(
            (int(np.sum(~test)), X.shape[1]),
            degree=cell["degree"],
            n_rep=cell["n_rep"],
            draws=RDraws(cell["seed"]),
            engine=engine,
        )
        rows, before = [], None
        for method, penalty in zip(METHODS, (None, correction.penalty), strict=True):
            model.set_params(penalty=penalty).fit(X[~test], y[~test])
            wrong = (model.predict(X[test]) > 0.5) != (y[test] == 1)
            # E-mails that only one of the two models classifies correctly: the pairs of the gain.
            gained = None if before is None else int(np.sum(before & ~wrong))
            lost = None if before is None else int(np.sum(~before & wrong))
            before = wrong
            if method == METHODS[0] and cell.get("repeat", 0) > 0:
                continue  # draws nothing, so one row is enough
            rows.append(
                {
                    "degree": cell["degree"],
                    "method": method,
                    "penalty": float(model.penalty_),
                    "penalty_se": correction.se if penalty is not None else None,
                    "n_terms": int(model.n_terms_),
                    "n_test": len(wrong),
                    "error_rate": float(wrong.mean()),
                    "gained": gained,
                    "lost": lost,
                    "n_rep": cell["n_rep"],
                }
            )
        return rows

    def compare(self, frame):
        anew, lines = given_seed(frame) is not None, []
        for degree, paper in PAPER.items():
            default, corrected = _of_degree(frame, degree)
            rate = default["error_rate"].item()
            lines.append(printed(f"degree {degree}, MARS", rate, paper["MARS"]))
            for label, column, theirs in (
                (f"degree {degree}: corrected penalty", "penalty", paper["penalty"]),
                (f"degree {degree}, corrected MARS", "error_rate", paper[METHODS[1]]),
            ):
                if anew:
                    lines.append(one_draw(label, corrected[column], theirs, N_MEASURED))
                else:
                    lines.append(_authors_draw(label, corrected.iloc[0], column, theirs))
            lines.append(_better(degree, corrected))
        return lines

    def table(self, frame):
        rows = []
        for degree, paper in PAPER.items():
            default, corrected = (
                part.mean(numeric_only=True) for part in _of_degree(frame, degree)
            )
            arrow = f"{default['penalty']:g} -> "
            rows.append(
                [
                    f"degree = {degree}",
                    f"{default['error_rate']:.8f}",
                    paper["MARS"],
                    f"{arrow}{corrected['penalty']:.6f}",
                    f"{arrow}{paper['penalty']}",
                    f"{corrected['error_rate']:.8f}",
                    paper["corrected MARS"],
                ]
            )
        columns = ["", "MARS", "paper", "penalty", "paper", "corrected MARS", "paper"]
        return pd.DataFrame(rows, columns=columns)

    def plot(self, frame):
        figure, axes = new_figure(1, 2, sharey=True)
        for ax, degree in zip(axes, PAPER, strict=True):
            means = [part.mean(numeric_only=True) for part in _of_degree(frame, degree)]
            error = [_binomial_error(mean) / 3 for mean in means]
            theirs = [float(PAPER[degree][m]) for m in METHODS]
            ours_and_paper(ax, METHODS, [m["error_rate"] for m in means], error, theirs)
            ax.set(title=f"degree = {degree}", ylabel="test error rate")
        axes[1].legend(title="± one s.e. of the test", loc="upper center")
        return figure


def _of_degree(frame: pd.DataFrame, degree: int) -> list[pd.DataFrame]:
    """Return the rows of MARS and of corrected MARS, one for each draw."""
    part = frame[frame["degree"] == degree]
    return [part[part["method"] == method] for method in METHODS]


def _better(degree: int, corrected: pd.DataFrame):
    """Return the gain with its errors: of the paired test e-mails, and of the draws."""
    n, paper = corrected["n_test"].iloc[0], PAPER[degree]
    gains = (corrected["gained"] - corrected["lost"]) / n
    pairs = ((corrected["gained"] + corrected["lost"]) / n - gains**2).mean() / n
    draws = gains.var() / len(gains) if len(gains) > 1 else 0.0
    return better(
        f"degree {degree}: corrected MARS against MARS",
        float(gains.mean()),
        float(np.sqrt(pairs + draws)),
        float(paper[METHODS[0]]) - float(paper[METHODS[1]]),
        allowed=multiple(N_MEASURED),
    )


def _authors_draw(label: str, row, column: str, paper: str):
    """Compare exactly with the paper's repetitions; with fewer, use the error of the penalty."""
    if row["n_rep"] == PAPER_REPETITIONS:
        return printed(label, row[column], paper)
    se = row["penalty_se"] if column == "penalty" else _binomial_error(row)
    allowed = multiple(N_MEASURED, row["n_rep"] - 1)
    return measured(label, row[column], se, float(paper), shown=paper, allowed=allowed)


def _binomial_error(row) -> float:
    """Return the standard error of a test error rate."""
    return float(np.sqrt(row["error_rate"] * (1 - row["error_rate"]) / row["n_test"]))


EXPERIMENT = Spam()
