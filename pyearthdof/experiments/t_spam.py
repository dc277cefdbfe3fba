"""T-spam: spam e-mails by MARS and by corrected MARS, with R's random numbers."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd

from ..datasets import fetch_spam_split, load_spam
from ..exceptions import DataNotAvailableError, RNotAvailableError
from ..random import RDraws
from .base import Experiment
from .plots import new_figure, ours_and_paper
from .verdict import measured, printed

SEED = 1234
PAPER_REPETITIONS = 100

# degree -> the paper's test errors and corrected penalty, as printed.
PAPER = {
    1: {"MARS": "0.0846", "penalty": "6.25", "corrected MARS": "0.0814"},
    2: {"MARS": "0.0684", "penalty": "7.94", "corrected MARS": "0.0658"},
}
METHODS = ("MARS", "corrected MARS")


class Spam(Experiment):
    name = "T-spam"
    title = "Spam data: test error rate of MARS and corrected MARS"
    question = (
        "Does MARS tell spam from other e-mail better when its penalty is corrected? 57 predictors, 3065 "
        "e-mails to fit and 1536 to test, as in The Elements of Statistical Learning; the response "
        "is 0 or 1 and an e-mail is spam above 0.5. Quick size draws 8 responses for the penalty instead "
        "of 100, so its penalty is only near the paper's."
    )
    order = 100
    sizes: ClassVar = {"quick": {"n_rep": 8}, "paper": {"n_rep": PAPER_REPETITIONS}}
    r_packages = ("earth",)

    def missing(self, engine):
        try:
            fetch_spam_split()
            load_spam()
        except (DataNotAvailableError, RNotAvailableError) as error:
            return str(error)
        return super().missing(engine)

    def cells(self, size):
        n_rep = self.settings(size)["n_rep"]
        return [{"degree": d, "n_rep": n_rep, "seed": SEED} for d in sorted(PAPER, reverse=True)]

    def compute(self, cell, engine):
        from ..dof import correct_penalty
        from ..mars.earth import Earth

        spam, test = load_spam(), fetch_spam_split()
        X, y = spam.drop(columns="type").to_numpy(), (spam["type"] == "spam").to_numpy(dtype=float)
        model = Earth(degree=cell["degree"], engine=engine)
        correction = correct_penalty(
            (int(np.sum(~test)), X.shape[1]),
            degree=cell["degree"],
            n_rep=cell["n_rep"],
            draws=RDraws(cell["seed"]),
            engine=engine,
        )
        rows = []
        for method, penalty in zip(METHODS, (None, correction.penalty), strict=True):
            model.set_params(penalty=penalty).fit(X[~test], y[~test])
            wrong = (model.predict(X[test]) > 0.5) != (y[test] == 1)
            rows.append(
                {
                    "degree": cell["degree"],
                    "method": method,
                    "penalty": float(model.penalty_),
                    "penalty_se": correction.se if penalty is not None else None,
                    "n_terms": int(model.n_terms_),
                    "n_test": len(wrong),
                    "error_rate": float(wrong.mean()),
                    "n_rep": cell["n_rep"],
                }
            )
        return rows

    def compare(self, frame):
        lines = []
        found = frame.set_index(["degree", "method"])
        for degree, paper in PAPER.items():
            default, corrected = (found.loc[(degree, method)] for method in METHODS)
            lines.append(printed(f"degree {degree}, MARS", default["error_rate"], paper["MARS"]))
            pairs = (
                (f"degree {degree}: corrected penalty", "penalty", corrected["penalty_se"]),
                (f"degree {degree}, corrected MARS", "error_rate", _binomial_error(corrected)),
            )
            for label, column, se in pairs:
                theirs = paper["penalty" if column == "penalty" else METHODS[1]]
                if corrected["n_rep"] == PAPER_REPETITIONS:
                    lines.append(printed(label, corrected[column], theirs))
                else:
                    lines.append(
                        measured(label, corrected[column], se, float(theirs), shown=theirs)
                    )
        return lines

    def table(self, frame):
        found, rows = frame.set_index(["degree", "method"]), []
        for degree, paper in PAPER.items():
            default, corrected = (found.loc[(degree, method)] for method in METHODS)
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
            part = frame[frame["degree"] == degree].set_index("method").loc[list(METHODS)]
            error = [_binomial_error(row) / 3 for _, row in part.iterrows()]
            theirs = [float(PAPER[degree][m]) for m in METHODS]
            ours_and_paper(ax, METHODS, part["error_rate"], error, theirs)
            ax.set(title=f"degree = {degree}", ylabel="test error rate")
        axes[1].legend(title="± one s.e. of the test", loc="upper center")
        return figure


def _binomial_error(row) -> float:
    """Standard error of a test error rate."""
    return float(np.sqrt(row["error_rate"] * (1 - row["error_rate"]) / row["n_test"]))


EXPERIMENT = Spam()
