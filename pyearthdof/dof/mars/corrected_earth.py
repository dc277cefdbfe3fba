"""CorrectedEarth: MARS with the penalty or the size that its actual degrees of freedom choose."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import check_consistent_length

from ..._utils.checks import by_position, check_choice, refusal
from ...contract import Bound, Fits
from ...exceptions import InvalidInputError
from ...mars.base import check_many
from ...mars.classifier import EarthClassifier
from ...mars.data.design import check_design, check_responses, check_weights
from ...mars.earth import Earth
from ...mars.mda import Mars
from ...mars.meta import EarthMeta
from ..montecarlo.target import check_n_rep, check_target
from .correction import PenaltyCorrection, correct_penalty
from .fitted_mean import AroundFit, penalty_around_fit, size_around_fit
from .rss import n_weighted, rss_of_sizes
from .search import mars_search
from .size_choice import CRITERIA, SizeChoice, choose_size
from .size_table import quick_df_of_sizes, refuse_options
from .sizes import SizeCurve, check_sequence, df_of_sizes, has_sequence

__all__ = ["CorrectedEarth"]

_RUN = ("draws", "random_state", "n_jobs", "progress")
RULES = ("auto", "size", "penalty")
DESIGNS = {"penalty": ("gaussian", "data"), "size": ("data", "gaussian", "table")}
MEANS = ("zero", "fit")


class CorrectedEarth(EarthMeta):
    """MARS that is chosen by its actual degrees of freedom: what they are is measured, then it is fitted.

    There are two rules. "size" measures the degrees of freedom of every size of the pruning sequence
    (`df_of_sizes`) and takes the size with the least score (`choose_size`). "penalty" is the authors':
    `correct_penalty` for the data at hand, then the fit with that penalty. What is measured is the search
    of the estimator, with all its options except penalty and nprune, and for the second rule thresh and
    pmethod, for which Algorithm 2 has values of its own.

    Parameters
    ----------
    estimator : Earth, EarthClassifier or Mars, optional
        What is corrected; `Earth()` by default. Its own penalty does not count. The rule "size" takes an
        Earth without a generalised linear model, folds and variance model.
    rule : {"auto", "size", "penalty"}
        What is chosen. "auto" is "size", which was the better one on 108 simulations and 47 data sets,
        wherever it can choose: one response of an Earth that takes it, and no `target_se`. Else it is
        "penalty". `rule_` says which it was.
    design : {"gaussian", "data", "table"}, optional
        Measure the search on Gaussian noise of X's shape, as the authors do, which is the default of
        "penalty"; on X itself, the default of "size"; or, for "size", look it up in the table that comes
        with the package.
    criterion : {"aicc", "covariance", "gcv"}
        By which "size" compares sizes, see `choose_size`.
    mean : {"zero", "fit"}
        Where the noise is: around zero, or around the fit. "fit" measures on X until the choice agrees
        with itself, ten times at most.
    n_rep : int, optional
        Number of responses drawn and fitted; 100 by default. With `target_se` the largest number, 10,000
        by default.
    target_se : float, optional
        For "penalty" with noise around zero: draw until the standard error of the penalty is this small.
    draws, random_state, n_designs
        Whose random numbers, and on how many drawn designs, as in `correct_penalty`.
    n_jobs : int, optional
        Number of workers; the result does not depend on it.
    progress : bool, default False
        Show a progress bar.

    Attributes
    ----------
    rule_ : {"size", "penalty"}
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
    >>> by_penalty = CorrectedEarth(Earth(minspan=5), rule="penalty", n_rep=20).fit(x, y)
    >>> by_penalty.penalty_ == by_penalty.correction_.penalty
    True
    >>> known = CorrectedEarth(design="data", target_se=0.1, random_state=0).fit(x, y)
    >>> known.rule_, known.correction_.se < 0.1, known.correction_.n_rep < 1000
    ('penalty', True, True)
    """

    correction_: PenaltyCorrection | AroundFit | SizeChoice

    def __init__(
        self,
        estimator=None,
        *,
        rule="auto",
        design=None,
        criterion="aicc",
        mean="zero",
        n_rep=None,
        target_se=None,
        draws=None,
        random_state=None,
        n_designs=None,
        n_jobs=None,
        progress=False,
    ):
        self.estimator = estimator
        self.rule = rule
        self.design = design
        self.criterion = criterion
        self.mean = mean
        self.n_rep = n_rep
        self.target_se = target_se
        self.draws = draws
        self.random_state = random_state
        self.n_designs = n_designs
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X, y, sample_weight=None):
        """Measure, and fit with the penalty or the size that was found.

        Parameters
        ----------
        X, y
            The data, as the estimator takes them; one response for "size" and for a mean around the fit.
        sample_weight : array, (n,), optional
            Weights of the fit. "penalty" does not count them in the measurement, because Algorithm 2 knows
            no weights; "size" does, with noise whose variances are one over the weights, and without the
            rows whose weight is 0.
        """
        y, sample_weight = by_position(X, y=y, sample_weight=sample_weight)
        self.rule_ = rule = self._checked_rule(X, y, sample_weight)
        if rule == "size":
            self.correction_, self.estimator_ = self._fit_size(X, y, sample_weight)
            return self
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        around = self.mean == "fit"
        found = self._penalty_around_fit(X, y) if around else self._measure_penalty(X)
        self.correction_ = found
        self.estimator_ = self._with(found.penalty).fit(X, y, **weights)
        return self

    def report(self, path, X=None, y=None, *, df=None, level=0.95, title=None) -> None:
        """Write the fitted model as one HTML page, with the df that were measured for its correction.

        path, X, y, df, level and title as in `Earth.report`.
        """
        df = self.correction_ if df is None and self.__sklearn_is_fitted__() else df
        self._chosen().report(path, X, y, df=df, level=level, title=title)

    def bind(self, X) -> Bound:
        """This estimator on a design, for many fits: what depends on X alone is measured once."""
        rule = self._rule()
        self._check_arguments(rule)
        if self.mean == "fit":
            return _OneByOne(X, lambda y: clone(self).fit(X, y).estimator_)
        if rule == "penalty":
            return self._with(self._measure_penalty(X).penalty).bind(X)
        curve = self._curve(X, None)
        return _OneByOne(X, lambda y: self._fit_size(X, y, None, curve)[1])

    def fit_many(self, X, Y) -> Fits:
        """Fit every column of Y on the same X; what depends on X alone is measured once."""
        bound = self.bind(X)
        return bound.fit_many(check_many(Y, len(bound.X)))

    def _rule(self, n_responses: int = 1) -> str:
        """What is chosen for so many responses."""
        if self.rule != "auto":
            return self.rule
        one = n_responses == 1 and self.target_se is None
        return "size" if one and has_sequence(self._inner) else "penalty"

    def _checked_rule(self, X, y, sample_weight) -> str:
        """What is chosen; bad data are refused before anything is measured."""
        self._check_arguments(self._rule())
        estimator = clone(self._inner)
        check_consistent_length(X, y)
        design = check_design(estimator, X)
        if is_classifier(estimator):
            return self._rule()
        n_responses = check_responses(estimator, y, len(design.values)).matrix.shape[1]
        check_weights(sample_weight, len(design.values))
        rule = self._rule(n_responses)
        self._check_arguments(rule)
        one = "rule='size'" if rule == "size" else "mean='fit'" if self.mean == "fit" else None
        if one and n_responses > 1:
            raise InvalidInputError(
                f"y has {n_responses} responses but {one} takes one: its degrees of freedom are those of a "
                "fit of one response"
            )
        if self.mean == "fit" and rule == "penalty" and sample_weight is not None:
            raise InvalidInputError(
                "sample_weight is given but Algorithm 2 around the fit knows no weights: rule='size' does"
            )
        return rule

    def _check_arguments(self, rule: str) -> None:
        check_choice("rule", self.rule, RULES)
        check_choice("criterion", self.criterion, CRITERIA)
        check_choice("mean", self.mean, MEANS)
        if not isinstance(self._inner, (Earth, EarthClassifier, Mars)):
            raise InvalidInputError(
                f"estimator={self.estimator!r} but it should be an Earth, an EarthClassifier or a Mars"
            )
        if rule == "size":
            check_sequence(self._inner)
        elif self.mean == "fit" and not isinstance(self._inner, Earth):
            raise InvalidInputError(
                f"mean='fit' but it should be 'zero' for {type(self._inner).__name__}: noise around a fit is "
                "for an Earth"
            )
        if self.target_se is not None and (rule, self.mean) != ("penalty", "zero"):
            right = "None: an error to reach is for rule='penalty' with mean='zero'"
            raise refusal("target_se", self.target_se, right)
        known = DESIGNS[rule]
        check_choice("design", known[0] if self.design is None else self.design, known)
        if self.n_designs is not None and rule == "size" and self.design != "gaussian":
            right = "None unless they are drawn, by design='gaussian' or rule='penalty'"
            raise refusal("n_designs", self.n_designs, right)
        if self.mean == "fit" and self.design not in (None, "data"):
            raise InvalidInputError(
                f"design={self.design!r} but it should be 'data' with mean='fit', which has a fit on X"
            )

    @property
    def _run(self) -> dict:
        n_rep = check_n_rep(self.n_rep, check_target(self.target_se))
        return {name: getattr(self, name) for name in _RUN} | {"n_rep": n_rep}

    def _measure_penalty(self, X) -> PenaltyCorrection:
        return correct_penalty(
            X,
            estimator=self._inner,
            gaussian=self.design != "data",
            n_designs=self.n_designs,
            target_se=self.target_se,
            **self._run,
        )

    def _penalty_around_fit(self, X, y) -> AroundFit:
        given = dict.fromkeys(("degree", "nk", "package")) | {"engine": "native"}
        search = mars_search(X, self._inner, False, given)
        return penalty_around_fit(
            search.design, lambda c: self._with(c).fit(X, y), search.procedure, **self._run
        )

    def _curve(self, X, weights) -> SizeCurve:
        """The degrees of freedom of all sizes."""
        measured = {"estimator": self._inner, "n_designs": self.n_designs} | self._run
        if self.design in (None, "data"):
            return df_of_sizes(X, sample_weight=weights, **measured)
        if weights is not None:
            raise InvalidInputError(
                f"sample_weight is given but design={self.design!r} knows no weights: design='data' does"
            )
        shape = check_design(Earth(), X).values.shape
        if self.design == "table":
            refuse_options(self._inner, shape[1])
            return quick_df_of_sizes(shape, degree=self._inner.degree)
        return df_of_sizes(shape, **measured)

    def _fit_size(self, X, y, sample_weight, curve=None) -> tuple[SizeChoice, Earth]:
        """The choice, and the fit of that size."""
        inner = self._inner
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        long = clone(inner).set_params(penalty=-1, nprune=None).fit(X, y, **weights)
        curve = self._curve(X, sample_weight) if curve is None else curve
        given = {"criterion": self.criterion, "n": n_weighted(long), "nprune": inner.nprune}
        choice = choose_size(curve, rss_of_sizes(long, X), **given)
        if self.mean == "fit":
            choice = size_around_fit(
                X, long, choice, inner, sample_weight, inner.nprune, **self._run
            )
        # one term leaves an exhaustive search no choice
        pmethod = "backward" if choice.size == 1 else None
        return choice, long.reprune(nprune=choice.size, pmethod=pmethod)

    def _with(self, penalty: float):
        return clone(self._inner).set_params(penalty=penalty)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if self._rule(2) == "size" or self.mean == "fit":
            tags.target_tags.multi_output = False
        return tags


class _OneByOne(Bound):
    """A choice that depends on y: every response is fitted by itself."""

    def __init__(self, X, fit):
        self.X, self.fit = X, fit

    def fit_many(self, Y, n_threads: int = 1) -> Fits:
        models = [self.fit(y) for y in Y.T]
        terms = np.array([model.n_terms_ for model in models])
        return Fits(np.column_stack([model.fitted_values_ for model in models]), terms, terms)
