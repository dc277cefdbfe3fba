"""CorrectedEarth: MARS with the penalty or the size that its actual degrees of freedom choose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone, is_classifier

from ..._utils.checks import check_choice, refusal
from ...contract import Bound, Fits, Rows
from ...exceptions import InvalidInputError
from ...mars.base import check_many
from ...mars.classifier import EarthClassifier
from ...mars.data.design import Design, Responses, check_design
from ...mars.data.training import TrainingData
from ...mars.earth import Earth
from ...mars.mda import Mars
from ...mars.meta import EarthMeta
from ...mars.options import EarthOptions
from ..criteria import CRITERIA
from ..montecarlo.draws import Draws, RandomState
from .correction import PenaltyCorrection, checked_search, mars_search, measure_penalty
from .fitted_mean import AroundFit, penalty_around_fit, size_around_fit
from .sizes import (
    SizeChoice,
    SizeCurve,
    check_sequence,
    choose_size,
    has_sequence,
    measure_sizes,
    n_weighted,
    rss_of_sizes,
)
from .tables import is_continuous, quick_df_of_sizes, refuse_options

_RUN = ("n_rep", "draws", "random_state", "n_jobs", "progress")
RULES = ("auto", "by_df", "corrected")
DESIGNS = {"corrected": ("gaussian", "data"), "by_df": ("data", "gaussian", "table")}


class CorrectedEarth(EarthMeta):
    """MARS that is chosen by its actual degrees of freedom: what they are is measured, then it is fitted.

    There are two rules. "by_df" measures the degrees of freedom of every size of the pruning sequence
    (`df_of_sizes`) and takes the size with the least score (`choose_size`). "corrected" is the authors':
    `correct_penalty` for the data at hand, then the fit with that penalty. What is measured is the search
    of the estimator, with all its options except penalty and nprune, and for the second rule thresh and
    pmethod, for which Algorithm 2 has values of its own.

    Parameters
    ----------
    estimator : Earth, EarthClassifier or Mars, optional
        What is corrected; `Earth()` by default. Its own penalty does not count. The rule "by_df" takes an
        Earth without a generalised linear model, folds and variance model.
    rule : {"auto", "by_df", "corrected"}
        What is chosen. "auto" is "by_df", which was the better one on 108 simulations and 47 data sets,
        wherever it can choose: one response of an Earth that takes it, and no `target_se`. Else it is
        "corrected". `rule_` says which it was.
    design : {"gaussian", "data", "table"}, optional
        Measure the search on Gaussian noise of X's shape, as the authors do, which is the default of
        "corrected"; on X itself, the default of "by_df"; or, for "by_df", look it up in the table that comes
        with the package, where the columns of X are continuous: if one has fewer than ten values, or one
        value in more than a quarter of the rows, or if a quarter of the rows repeat others, the curve is
        measured on X.
    criterion : {"aicc", "covariance", "gcv"}
        By which "by_df" compares sizes, see `choose_size`.
    mu : {None, "fitted"}
        The mean of the noise: zero, or the fit. "fitted" measures on X until the choice agrees
        with itself, ten times at most.
    n_rep : int, optional
        Number of responses drawn and fitted; 100 by default, and for "by_df" on X 1,000,000/(n p), at least
        20 and at most 100, so that the measurement is cheaper than a cross-validation. With `target_se` the
        largest number, 10,000 by default.
    target_se : float, optional
        For "corrected" with noise around zero: draw until the standard error of the penalty is this small.
    draws, random_state, n_designs
        Whose random numbers, and on how many drawn designs, as in `correct_penalty`.
    n_jobs : int, optional
        Number of workers; the result does not depend on it.
    progress : bool, default False
        Show a progress bar.

    Attributes
    ----------
    rule_ : {"by_df", "corrected"}
        What was chosen.
    correction_ : SizeChoice, PenaltyCorrection or AroundFit
        What was measured.
    estimator_ : Earth, EarthClassifier or Mars
        The estimator with the corrected penalty, or with the chosen size as its nprune and the penalty -1,
        fitted. What it has learned (`penalty_`, `terms_`, `model_` and all other names that end in _) is
        here, too. With the penalty -1 earth counts terms as free, so `gcv_` and `grsq_` are those of the
        RSS alone; `correction_` has the scores by actual degrees of freedom.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import CorrectedEarth, Earth
    >>> x = np.random.default_rng(0).normal(size=(100, 2))
    >>> y = 2 * np.abs(x[:, 0]) + np.random.default_rng(1).normal(size=100)
    >>> model = CorrectedEarth().fit(x, y)
    >>> model.correction_
    SizeChoice(3 terms, df=7.053, criterion='aicc', sigma2=0.7329)
    >>> model.predict([[-1.0, 0.0]]).round(1)
    array([2.])
    >>> by_penalty = CorrectedEarth(Earth(minspan=5), rule="corrected", n_rep=20).fit(x, y)
    >>> by_penalty.penalty_ == by_penalty.correction_.penalty
    True
    >>> known = CorrectedEarth(design="data", target_se=0.1, random_state=0).fit(x, y)
    >>> known.rule_, known.correction_.se < 0.1, known.correction_.n_rep < 1000
    ('corrected', True, True)
    """

    correction_: PenaltyCorrection | AroundFit | SizeChoice

    def __init__(
        self,
        estimator: Any = None,
        *,
        rule: str = "auto",
        design: str | None = None,
        criterion: str = "aicc",
        mu: str | None = None,
        n_rep: int | None = None,
        target_se: float | None = None,
        draws: Draws | str | None = None,
        random_state: RandomState = None,
        n_designs: int | None = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> None:
        self.estimator = estimator
        self.rule = rule
        self.design = design
        self.criterion = criterion
        self.mu = mu
        self.n_rep = n_rep
        self.target_se = target_se
        self.draws = draws
        self.random_state = random_state
        self.n_designs = n_designs
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X: Rows, y: np.ndarray, sample_weight: ArrayLike | None = None) -> Self:
        """Measure, and fit with the penalty or the size that was found.

        Parameters
        ----------
        X, y
            The data, as the estimator takes them; one response for "by_df" and for a mean around the fit.
        sample_weight : array, (n,), optional
            Weights of the fit. "corrected" does not count them in the measurement, because Algorithm 2 knows
            no weights; "by_df" does, with noise whose variances are one over the weights, and without the
            rows whose weight is 0.
        """
        self.rule_, checked = self._checked(X, y, sample_weight)
        if self.rule_ == "by_df":
            self.correction_, self.estimator_ = self._fit_size(checked)
            return self
        found: PenaltyCorrection | AroundFit
        if self.mu == "fitted":
            found = self._penalty_around_fit(checked)
        else:
            found = self._measure_penalty(checked.data.design, checked.estimator, checked.options)
        self.correction_, self.estimator_ = found, checked.fit(penalty=found.penalty)
        return self

    def report(
        self,
        path: Any,
        X: Rows | None = None,
        y: np.ndarray | None = None,
        *,
        df: Any = None,
        level: float = 0.95,
        title: str | None = None,
    ) -> None:
        """Write the fitted model as one HTML page, with the df that were measured for its correction.

        path, X, y, df, level and title as in `Earth.report`.
        """
        df = self.correction_ if df is None and self.__sklearn_is_fitted__() else df
        self._chosen().report(path, X, y, df=df, level=level, title=title)

    def bind(self, X: Rows) -> Bound:
        """This estimator on a design, for many fits: what depends on X alone is measured once."""
        rule = self._check_arguments()
        if self.mu == "fitted":
            return _OneByOne(X, lambda y: clone(self).fit(X, y).estimator_)
        inner = clone(self._inner)
        design = check_design(inner, X)
        if rule == "corrected":
            found = self._measure_penalty(design, inner)
            return inner.set_params(penalty=found.penalty).bind(X)
        curve = self._curve(design, None)
        inner.set_params(penalty=None)
        options = inner._options_for(design)

        def fit(y: np.ndarray) -> Earth:
            data = TrainingData(design, Responses(y, ("y",)))
            return self._fit_size(_Checked(inner, data, options), curve)[1]

        return _OneByOne(X, fit)

    def fit_many(self, X: Rows, Y: np.ndarray) -> Fits:
        """Fit every column of Y on the same X; what depends on X alone is measured once."""
        bound = self.bind(X)
        return bound.fit_many(check_many(Y, len(bound.X)))

    def _rule(self, n_responses: int = 1) -> str:
        """What is chosen for so many responses."""
        if self.rule != "auto":
            return self.rule
        one = n_responses == 1 and self.target_se is None
        return "by_df" if one and has_sequence(self._inner) else "corrected"

    def _checked(
        self, X: Rows, y: np.ndarray, sample_weight: ArrayLike | None
    ) -> tuple[str, _Checked]:
        """The rule and the checked data; what is bad is refused before anything is measured."""
        rule = self._check_arguments()
        estimator = clone(self._inner).set_params(penalty=None)  # its own does not count
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        data = estimator._check_data(X, y, **weights)
        Y = data.all_responses.matrix
        options = None if isinstance(estimator, Mars) else estimator._options_for(data.design, Y)
        checked, n_responses = _Checked(estimator, data, options), Y.shape[1]
        if is_classifier(estimator):
            return rule, checked
        if n_responses > 1:
            rule = self._check_arguments(n_responses)
            one = (
                "rule='by_df'"
                if rule == "by_df"
                else "mu='fitted'"
                if self.mu == "fitted"
                else None
            )
            if one:
                raise InvalidInputError(
                    f"y has {n_responses} responses but {one} takes one: its degrees of freedom are those of "
                    "a fit of one response"
                )
        if self.mu == "fitted" and rule == "corrected" and sample_weight is not None:
            raise InvalidInputError(
                "sample_weight is given but Algorithm 2 around the fit knows no weights: rule='by_df' does"
            )
        return rule, checked

    def _check_arguments(self, n_responses: int = 1) -> str:
        """The rule for so many responses, for which the other arguments are allowed."""
        rule = self._rule(n_responses)
        check_choice("rule", self.rule, RULES)
        check_choice("criterion", self.criterion, CRITERIA)
        check_choice("mu", self.mu, (None, "fitted"))
        known = DESIGNS[rule]
        check_choice("design", known[0] if self.design is None else self.design, known)
        inner = self._inner
        if not isinstance(inner, (Earth, EarthClassifier, Mars)):
            raise InvalidInputError(
                f"estimator={self.estimator!r} but it should be an Earth, an EarthClassifier or a Mars"
            )
        if rule == "by_df":
            check_sequence(inner)
        elif self.mu == "fitted" and not isinstance(inner, Earth):
            raise InvalidInputError(
                f"mu='fitted' but it should be None for {type(inner).__name__}: noise around a fit is "
                "for an Earth"
            )
        if self.target_se is not None and (rule, self.mu) != ("corrected", None):
            right = "None: an error to reach is for rule='corrected' with mu=None"
            raise refusal("target_se", self.target_se, right)
        if self.n_designs is not None and rule == "by_df" and self.design != "gaussian":
            right = "None unless they are drawn, by design='gaussian' or rule='corrected'"
            raise refusal("n_designs", self.n_designs, right)
        if self.mu == "fitted" and self.design not in (None, "data"):
            raise InvalidInputError(
                f"design={self.design!r} but it should be 'data' with mu='fitted', which has a fit on X"
            )
        return rule

    @property
    def _run(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _RUN}

    def _measure_penalty(
        self, design: Design, estimator: Any, options: EarthOptions | None = None
    ) -> PenaltyCorrection:
        given = {"n_designs": self.n_designs, "target_se": self.target_se} | self._run
        measured = self.design or "gaussian"
        search = (
            mars_search(design, estimator, measured, {})
            if options is None
            else checked_search(design, measured, options, estimator.engine)
        )
        return measure_penalty(search, **given)

    def _penalty_around_fit(self, checked: _Checked) -> AroundFit:
        search = mars_search(checked.data.design, self._inner, "data", {"engine": "native"})
        return penalty_around_fit(search, lambda c: checked.fit(penalty=c), **self._run)

    def _curve(self, design: Design, weights: ArrayLike | None) -> SizeCurve:
        """The degrees of freedom of all sizes."""
        run = {"n_designs": self.n_designs} | self._run
        if self.design in (None, "data"):
            return measure_sizes(design, self._inner, weights, None, **run)
        if weights is not None:
            raise InvalidInputError(
                f"sample_weight is given but design={self.design!r} knows no weights: design='data' does"
            )
        n, p = design.values.shape
        if self.design == "table":
            refuse_options(self._inner, p)
            if is_continuous(design.values):
                return quick_df_of_sizes((n, p), degree=self._inner.degree)
            return measure_sizes(design, self._inner, None, None, **run)
        return measure_sizes((n, p), self._inner, None, None, **run)

    def _fit_size(
        self, checked: _Checked, curve: SizeCurve | None = None
    ) -> tuple[SizeChoice, Earth]:
        """The choice, and the fit of that size."""
        inner, design, weights = self._inner, checked.data.design, checked.data.all_weights
        long = checked.fit(penalty=-1.0, nprune=None)
        curve = self._curve(design, weights) if curve is None else curve
        given = {"criterion": self.criterion, "n": n_weighted(long), "nprune": inner.nprune}
        choice = choose_size(curve, rss_of_sizes(long, design), **given)
        if self.mu == "fitted":
            choice = size_around_fit(
                design, long, choice, inner, weights, inner.nprune, **self._run
            )
        # one term leaves an exhaustive search no choice
        pmethod = "backward" if choice.size == 1 else None
        return choice, long.reprune(nprune=choice.size, pmethod=pmethod)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self._rule(2) == "by_df" or self.mu == "fitted":
            tags.target_tags.multi_output = False
        return tags


@dataclass(frozen=True)
class _Checked:
    """An estimator that has checked the data, and its options for them; mda's are None."""

    estimator: Any
    data: TrainingData
    options: EarthOptions | None

    def fit(self, **changes: Any) -> Any:
        """A copy of the estimator with `changes` of its arguments, fitted."""
        return self.estimator._fit_copy(self.data, self.options, **changes)


class _OneByOne(Bound):
    """A choice that depends on y: every response is fitted by itself."""

    def __init__(self, X: Rows, fit: Callable[..., Any]) -> None:
        self.X, self.fit = X, fit

    def fit_many(self, Y: np.ndarray, n_threads: int = 1) -> Fits:
        models = [self.fit(y) for y in Y.T]
        terms = np.array([model.n_terms_ for model in models])
        return Fits(np.column_stack([model.fitted_values_ for model in models]), terms, terms)
