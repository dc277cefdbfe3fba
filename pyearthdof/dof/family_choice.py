"""Choose among the procedures of a family by their actual degrees of freedom: tree depths, subset sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone

from .._utils.checks import by_position, check_choice, check_vector
from .._utils.checks import check_design as check_matrix
from ..exceptions import InvalidInputError
from .consistency.mars import authors_draws
from .degrees_of_freedom import degrees_of_freedom
from .drawn import Drawn, FromTable, plain_fields
from .mars.fitted_mean import FULL, PERFECT, settle
from .mars.rss import sum_of_squares
from .mars.size_choice import CRITERIA, scores
from .montecarlo.direction import has_one_mean, is_equivariant

__all__ = ["FamilyChoice", "choose_by_df"]

MEANS = ("zero", "fit")


@dataclass(frozen=True, eq=False)
class FamilyChoice(FromTable, Drawn):
    """The member of a family with the least score.

    Attributes
    ----------
    label
        Its label: the key in a mapping, the place in a list.
    procedure : the member itself, fitted
    df : float
        Its actual degrees of freedom.
    sigma2 : float
        Variance of the noise: the RSS over n - df of the member with the least AICc.
    criterion : {"aicc", "covariance", "gcv"}
    table : DataFrame
        A row for each member: label, n_coef (the mean number of parameters), df, se, rss, and the criteria.
    n_rep : int
    ended : str
        With noise around the fit: how the iteration ended.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import choose_by_df
    >>> from pyearthdof.procedures import BestSubset
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8))
    >>> y = X[:, 2] - X[:, 5] + rng.normal(size=60)
    >>> found = choose_by_df([BestSubset(size=k) for k in range(9)], X, y)
    >>> found.label, found.procedure.active_.tolist()
    (3, [2, 4, 5])
    """

    label: object
    procedure: object
    df: float
    sigma2: float
    criterion: str
    table: pd.DataFrame
    n_rep: int
    ended: str = "measured once"

    def __repr__(self) -> str:
        return (
            f"FamilyChoice({self.label!r}, one of {len(self.table)}, df={self.df:.4g}, "
            f"criterion={self.criterion!r}, sigma2={self.sigma2:.4g}, n_rep={self.n_rep})"
        )

    def _draw(self, ax) -> None:
        """The df of every member, and the one that was chosen."""
        at, labels = range(len(self.table)), self.table["label"].tolist()
        ax.errorbar(at, self.table["df"], yerr=1.96 * self.table["se"], fmt="o-", capsize=2)
        ax.plot([labels.index(self.label)], [self.df], "ko", zorder=3, label="chosen")
        ax.set_xticks(list(at), [str(label) for label in labels])
        ax.set(xlabel="member of the family", ylabel="actual df")
        ax.legend()

    def to_dict(self) -> dict:
        """Everything but the procedure as plain Python values, ready for JSON."""
        return plain_fields(self, "procedure") | {"procedure": repr(self.procedure)}


def choose_by_df(
    family,
    X,
    y,
    *,
    criterion="aicc",
    mean="fit",
    n_rep=100,
    draws=None,
    random_state=None,
    n_jobs=None,
    progress=False,
) -> FamilyChoice:
    """Measure the degrees of freedom of every member of a family, and take the one with the least score.

    The df are those of `degrees_of_freedom`; one draw of responses serves all members. The scores are those
    of `choose_size`. At noise of mean zero a long member costs hardly more than a middling one: the best 7 of
    8 columns use about as much as all 8. So the noise is put around the fit that was chosen, until it is
    chosen again.

    Parameters
    ----------
    family : list or mapping of procedures, scikit-learn regressors
        From the smallest to the largest: `[RegressionTree(depth=d) for d in range(6)]`,
        `[BestSubset(size=k) for k in range(p + 1)]`, or any other. The keys of a mapping are labels.
    X : (n, p) array or DataFrame
    y : (n,) array
    criterion : {"aicc", "covariance", "gcv"}
    mean : {"fit", "zero"}
        Where the noise is. "zero" is one measurement, with the standard deviation of y; "fit" starts from
        there and takes ten more at most.
    n_rep : int
        Number of responses drawn and fitted by each member.
    draws, random_state
        Whose random numbers, as in `correct_penalty`.
    n_jobs : int, optional
        Number of workers; the result does not depend on it.
    progress : bool
        Show a progress bar for each member.

    Returns
    -------
    FamilyChoice

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import choose_by_df
    >>> from pyearthdof.procedures import RegressionTree
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> y = 2 * (X[:, 0] > 0) + rng.normal(size=100)
    >>> found = choose_by_df([RegressionTree(depth=d) for d in range(5)], X, y)
    >>> found
    FamilyChoice(1, one of 5, df=3.432, criterion='aicc', sigma2=0.8535, n_rep=100)
    >>> found.table["df"].round(1).tolist()
    [0.9, 3.4, 17.0, 32.8, 49.2]
    """
    check_choice("criterion", criterion, CRITERIA)
    check_choice("mean", mean, MEANS)
    members = _members(family)
    by_position(X, y=y)
    X = check_matrix(X)
    y = check_vector("y", y, len(X))
    fitted = {label: clone(procedure).fit(X, y) for label, procedure in members.items()}
    fits = np.array([model.predict(X) for model in fitted.values()])
    rss = sum_of_squares(y - fits, y)
    stream = authors_draws(draws, random_state)

    def measure(mu, sigma) -> tuple[pd.DataFrame, float]:
        found = [
            _df(procedure, X, mu, sigma, n_rep, stream.copy(), n_jobs, progress)
            for procedure in members.values()
        ]
        df = np.maximum.accumulate([each.df for each in found])
        score, sigma2 = scores(rss, df, len(y))
        told = {
            "label": list(members), "n_coef": [each.n_coef for each in found], "df": df,
            "se": [each.se for each in found], "rss": rss,
        }  # fmt: skip
        return pd.DataFrame(told).assign(**{name: score[name] for name in CRITERIA}), sigma2

    table, sigma2 = measure(np.zeros(len(y)), float(np.std(y)) or 1.0)
    best, ended = int(np.argmin(table[criterion])), "measured once"

    def around(best: int) -> int | str:
        nonlocal table, sigma2
        left = len(y) - table["df"][best]
        if left <= 0 or rss[best] == 0:
            return FULL if left <= 0 else PERFECT
        table, sigma2 = measure(fits[best], float(np.sqrt(rss[best] / left)))
        return int(np.argmin(table[criterion]))

    if mean == "fit":
        best, ended = settle(best, around)
    label = list(members)[best]
    return FamilyChoice(
        label, fitted[label], float(table["df"][best]), sigma2, criterion, table, n_rep, ended
    )


def _df(procedure, X, mu, sigma, n_rep, draws, n_jobs, progress):
    """The degrees of freedom around a mean."""
    direction = has_one_mean(mu, sigma) and is_equivariant(procedure)
    return degrees_of_freedom(
        procedure, X, mu=mu, sigma=sigma, n_rep=n_rep, draws=draws, n_jobs=n_jobs, progress=progress,
        variance_reduction="direction" if direction else None,
    )  # fmt: skip


def _members(family) -> dict:
    if not isinstance(family, (Mapping, list, tuple)) or len(family) == 0:
        raise InvalidInputError(
            f"family={family!r:.80} but it should be a list or a mapping of procedures, one at least"
        )
    members = dict(family) if isinstance(family, Mapping) else dict(enumerate(family))
    for label, procedure in members.items():
        if not isinstance(procedure, BaseEstimator):
            raise InvalidInputError(
                f"family[{label!r}]={procedure!r:.80} but it should be a procedure or a regressor"
            )
    return members
