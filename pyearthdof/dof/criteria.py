"""Model selection by degrees of freedom: AIC, BIC and GCV of the paper, and selection of procedures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone

from .._utils.checks import by_position, check_choice, check_vector, is_number, refusal
from .._utils.checks import check_design as check_matrix
from ..contract import Rows
from ..exceptions import InvalidInputError
from .degrees_of_freedom import degrees_of_freedom
from .montecarlo.draws import Draws, RandomState, authors_draws
from .montecarlo.variance_reduction import has_one_mean, is_equivariant
from .results import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def aic(y: ArrayLike, fitted: ArrayLike, df: float) -> float:
    """Compute AIC as in the paper, n log RSS + 2 df.

    Parameters
    ----------
    y, fitted : (n,) array
    df : float
        Degrees of freedom of the fit.

    Examples
    --------
    >>> from pyearthdof import aic
    >>> round(aic([1.0, 2.0, 4.0], [1.5, 2.0, 3.0], df=2.0), 6)
    4.669431
    """
    n, rss = _n_and_rss(y, fitted, df)
    return n * _log(rss) + 2 * df


def bic(y: ArrayLike, fitted: ArrayLike, df: float) -> float:
    """Compute the Bayesian criterion as in the paper, n log RSS + df log n; arguments as in `aic`.

    >>> round(bic([1.0, 2.0, 4.0], [1.5, 2.0, 3.0], df=2.0), 6)
    2.866655
    """
    n, rss = _n_and_rss(y, fitted, df)
    return n * _log(rss) + df * math.log(n)


def gcv(y: ArrayLike, fitted: ArrayLike, df: float, *, per_observation: bool = False) -> float:
    """Compute generalised cross-validation, RSS/(1 - df/n)^2; infinite if df >= n.

    Parameters
    ----------
    y, fitted, df
        As in `aic`.
    per_observation : bool
        Divide by n, as R's earth does. The paper's equation does not.

    Examples
    --------
    >>> from pyearthdof import gcv
    >>> gcv([1.0, 2.0, 4.0, 4.0], [1.5, 2.0, 3.0, 4.0], df=2.0)
    5.0
    >>> gcv([1.0, 2.0, 4.0, 4.0], [1.5, 2.0, 3.0, 4.0], df=2.0, per_observation=True)
    1.25
    """
    n, rss = _n_and_rss(y, fitted, df)
    if df >= n:
        return math.inf
    return rss / (1 - df / n) ** 2 / (n if per_observation else 1)


def _n_and_rss(y: ArrayLike, fitted: ArrayLike, df: Any) -> tuple[int, float]:
    if not is_number(df) or not math.isfinite(df):
        raise refusal("df", df, "a finite number")
    n = np.size(y)
    if n == 0:
        raise InvalidInputError("y is empty but it should have one number per observation")
    residuals = check_vector("y", y, n) - check_vector("fitted", fitted, n)
    return n, float(residuals @ residuals)


def _log(rss: float) -> float:
    return math.log(rss) if rss > 0 else -math.inf


@dataclass(frozen=True, eq=False)
class ProcedureChoice(Estimate):
    """The procedure with the smallest score.

    Attributes
    ----------
    label
        Its label: the key in a mapping, or the index in a list.
    procedure : the fitted procedure
    df : float
        Its actual degrees of freedom.
    sigma2 : float
        Noise variance: RSS/(n - df) of the member with the smallest AICc.
    criterion : {"aicc", "covariance", "gcv"}
    table : DataFrame
        One row per member: label, n_coef (mean number of parameters), df, se, rss, and the criteria.
    ended : str
        Termination of the iteration with noise around the fit.
    n_rep : int

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

    _HIDDEN = ("procedure",)

    label: object
    procedure: Any
    df: float
    sigma2: float
    criterion: str
    table: pd.DataFrame
    n_rep: int
    ended: str = "measured once"

    def __repr__(self) -> str:
        return (
            f"ProcedureChoice({self.label!r}, one of {len(self.table)}, df={self.df:.4g}, "
            f"criterion={self.criterion!r}, sigma2={self.sigma2:.4g}, n_rep={self.n_rep})"
        )

    def _draw(self, ax: Axes) -> None:
        """Draw the df of every member, and mark the selected one."""
        at, labels = range(len(self.table)), self.table["label"].tolist()
        ax.errorbar(at, self.table["df"], yerr=1.96 * self.table["se"], fmt="o-", capsize=2)
        ax.plot([labels.index(self.label)], [self.df], "ko", zorder=3, label="chosen")
        ax.set_xticks(list(at), [str(label) for label in labels])
        ax.set(xlabel="procedure", ylabel="actual df")
        ax.legend()

    def to_dict(self) -> dict:
        """Return everything except the procedure as plain Python values for JSON."""
        return super().to_dict() | {"procedure": repr(self.procedure)}


def choose_by_df(
    procedures: Any,
    X: Rows,
    y: ArrayLike,
    *,
    criterion: str = "aicc",
    mu: str | None = "fitted",
    n_rep: int = 100,
    draws: Draws | str | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> ProcedureChoice:
    """Measure the degrees of freedom of several procedures, and select the one with the smallest score.

    The df are those of `degrees_of_freedom`, with the same responses for all members, and the scores those of
    `choose_size`. On noise with mean zero, large members cost hardly more than medium ones: the best 7 of 8
    columns use about as much as all 8. By default, noise is therefore drawn around the selected fit,
    repeatedly until the selection no longer changes.

    Parameters
    ----------
    procedures : list or mapping of procedures or scikit-learn regressors
        From the smallest to the largest: `[RegressionTree(depth=d) for d in range(6)]`,
        `[BestSubset(size=k) for k in range(p + 1)]`, or any other. The keys of a mapping are labels.
    X : (n, p) array or DataFrame
    y : (n,) array
    criterion : {"aicc", "covariance", "gcv"}
    mu : {"fitted", None}
        Mean of the responses. None is zero: one measurement, with the standard deviation of y. "fitted"
        adds at most ten measurements around the selected fit.
    n_rep, draws, random_state, n_jobs, progress
        As in `correct_penalty`.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from pyearthdof import choose_by_df, procedures
    >>> X, y = make_friedman1(100, n_features=5, random_state=0)
    >>> found = choose_by_df([procedures.RegressionTree(depth=d) for d in range(5)], X, y)
    >>> found
    ProcedureChoice(3, one of 5, df=28.03, criterion='aicc', sigma2=10.05, n_rep=100)
    >>> found.table["df"].round(1).tolist()
    [0.9, 6.0, 15.7, 28.0, 48.1]
    """
    check_choice("criterion", criterion, CRITERIA)
    check_choice("mu", mu, ("fitted", None))
    members = _members(procedures)
    by_position(X, y=y)
    X = check_matrix(X)
    y = check_vector("y", y, len(X))
    fitted = {label: clone(procedure).fit(X, y) for label, procedure in members.items()}
    fits = np.array([model.predict(X) for model in fitted.values()])
    rss = sum_of_squares(y - fits, y)
    stream = authors_draws(draws, random_state)

    def measure(mu: np.ndarray, sigma: float) -> tuple[pd.DataFrame, float]:
        found = []
        for procedure in members.values():
            direction = has_one_mean(mu, sigma) and is_equivariant(procedure)
            found.append(
                degrees_of_freedom(
                    procedure, X, mu=mu, sigma=sigma, n_rep=n_rep, draws=stream.copy(), n_jobs=n_jobs,
                    progress=progress, variance_reduction="direction" if direction else None,
                )
            )  # fmt: skip
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

    if mu == "fitted":
        best, ended = settle(best, around)
    label = list(members)[best]
    return ProcedureChoice(
        label, fitted[label], float(table["df"][best]), sigma2, criterion, table, n_rep, ended
    )


def _members(procedures: Any) -> dict:
    if not isinstance(procedures, (Mapping, list, tuple)) or len(procedures) == 0:
        raise InvalidInputError(
            f"procedures={procedures!r:.80} but it should be a list or a mapping of procedures, one at least"
        )
    members = dict(procedures) if isinstance(procedures, Mapping) else dict(enumerate(procedures))
    for label, procedure in members.items():
        if not isinstance(procedure, BaseEstimator):
            raise InvalidInputError(
                f"procedures[{label!r}]={procedure!r:.80} but it should be a procedure or a regressor"
            )
    return members


CRITERIA = ("aicc", "covariance", "gcv")
LARGEST = 0.75  # fraction of n; closer to n, GCV breaks down and the curve is extrapolated


def criteria_of(
    rss: np.ndarray, df: np.ndarray, n: int
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the three criteria of models with these RSS and df, smallest first, and the noise variance.

    If `rss` has one row per response, so have the criteria and the variances.
    """
    allowed = df <= LARGEST * n
    allowed[0] = True
    with np.errstate(divide="ignore", invalid="ignore"):
        left = n - df - 2
        aicc = np.where(left > 0, np.log(rss / n) + 2 * (df + 1) / left, math.inf)
        gcv = rss / (1 - df / n) ** 2
    aicc = np.where(allowed, aicc, math.inf)
    # The noise estimate of a large model, which has less bias, led to worse selections (docs/size-rules.md).
    best = np.argmin(aicc, axis=-1, keepdims=True)
    left = np.maximum(n - df[best], 1.0)
    sigma2 = np.take_along_axis(rss, best, axis=-1) / left
    others = {"covariance": rss + 2 * sigma2 * df, "gcv": gcv}
    others = {name: np.where(allowed, values, math.inf) for name, values in others.items()}
    return {"aicc": aicc, **others}, sigma2[..., 0]


def scores(rss: np.ndarray, df: np.ndarray, n: int) -> tuple[pd.DataFrame, float]:
    """Return the criteria of one response as a table, and the noise variance; see `criteria_of`."""
    criteria, sigma2 = criteria_of(rss, df, n)
    return pd.DataFrame({"df": df, "rss": rss, **criteria}), float(sigma2)


ROUNDING = (100 * np.finfo(float).eps) ** 2  # relative to the sum of squares


def sum_of_squares(
    residuals: np.ndarray, y: np.ndarray, root: float | np.ndarray = 1.0
) -> np.ndarray:
    """Return sums of squared residuals times `root`; 0 if they are rounding errors of y."""
    rss = ((root * residuals) ** 2).sum(axis=-1)
    return np.where(rss > ROUNDING * ((root * y) ** 2).sum(), rss, 0.0)


MOST = 10  # maximum number of measurements
AGREES = "converged"
SWINGS = "oscillated, smallest model used"
FULL = "stopped: degrees of freedom reached n"
PERFECT = "stopped at a perfect fit"
TIRED = f"not converged in {MOST} measurements"


def settle(choice: int, around: Callable[[int], int | str]) -> tuple[int, str]:
    """Iterate a selection to convergence; return it and the termination.

    `around(choice)` is the next selection, or the reason to stop. If the iteration oscillates, the smallest
    selection of the cycle is used.

    >>> settle(5, {5: 3, 3: 4, 4: 4}.get)
    (4, 'converged')
    >>> settle(5, {5: 3, 3: 4, 4: 3}.get)
    (3, 'oscillated, smallest model used')
    """
    seen = [choice]
    for _ in range(MOST):
        found = around(choice)
        if isinstance(found, str) or found == choice:
            return choice, found if isinstance(found, str) else AGREES
        if found in seen:
            return min(seen[seen.index(found) :]), SWINGS
        choice = found
        seen.append(choice)
    return choice, TIRED
