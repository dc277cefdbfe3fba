"""CorrectedEarth: MARS with a penalty for which nominal and actual degrees of freedom agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone, is_classifier

from ..._utils.checks import check_choice, refusal
from ...contract import Bound, Rows
from ...exceptions import InvalidInputError
from ...mars.classifier import EarthClassifier
from ...mars.data.design import Design, check_design
from ...mars.data.training import TrainingData
from ...mars.earth import Earth
from ...mars.mda import Mars
from ...mars.options import EarthOptions
from ..montecarlo.draws import Draws, RandomState
from .correction import PenaltyCorrection, checked_search, mars_search, measure_penalty
from .fitted_mean import AroundFit, penalty_around_fit
from .measured_earth import MeasuredEarth, OneByOne

_RUN = ("n_rep", "draws", "random_state", "n_jobs", "progress")
DESIGNS = ("gaussian", "data")


class CorrectedEarth(MeasuredEarth):
    """MARS with the corrected penalty of the paper, measured for the data at hand.

    Runs `correct_penalty` with all options of the estimator except penalty, nprune, thresh and pmethod, which
    Algorithm 2 sets, and fits with the resulting penalty. `AutoEarth` selects the size itself by its degrees
    of freedom and predicts better.

    Parameters
    ----------
    estimator : Earth, EarthClassifier or Mars, optional
        Estimator to correct, `Earth()` by default. Its own penalty is ignored.
    design : {"gaussian", "data"}
        Measure the search on a Gaussian design of the shape of X, as the authors do, or on X itself.
    mu : {None, "fitted"}
        Mean of the responses: zero, or the fit. "fitted" measures on X, repeatedly until the penalty
        converges, ten times at most.
    n_rep : int, optional
        Number of responses drawn and fitted; 100 by default, and for "by_df" on X 1,000,000/(n p), at least
        20 and at most 100, so that the measurement is cheaper than a cross-validation. With `target_se` the
        maximum, 10,000 by default.
    target_se : float, optional
        For responses around zero: draw until the standard error of the penalty is this small.
    draws, random_state, n_designs
        Random numbers, and number of drawn designs, as in `correct_penalty`.
    n_jobs : int, optional
        Number of workers; the result does not depend on it.
    progress : bool, default False
        Show a progress bar.

    Attributes
    ----------
    correction_ : PenaltyCorrection or AroundFit
        The measurement.
    estimator_ : Earth, EarthClassifier or Mars
        The fitted estimator with the corrected penalty. Its fitted attributes (`penalty_`, `terms_`,
        `model_`, ...) are available on the CorrectedEarth as well.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import CorrectedEarth, Earth
    >>> x = np.random.default_rng(0).normal(size=(100, 2))
    >>> y = 2 * np.abs(x[:, 0]) + np.random.default_rng(1).normal(size=100)
    >>> model = CorrectedEarth(Earth(minspan=5), n_rep=20).fit(x, y)
    >>> model.penalty_ == model.correction_.penalty
    True
    >>> known = CorrectedEarth(design="data", target_se=0.1, random_state=0).fit(x, y)
    >>> known.correction_.se < 0.1, known.correction_.n_rep < 1000
    (True, True)
    """

    correction_: PenaltyCorrection | AroundFit

    def __init__(
        self,
        estimator: Any = None,
        *,
        design: str = "gaussian",
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
        self.design = design
        self.mu = mu
        self.n_rep = n_rep
        self.target_se = target_se
        self.draws = draws
        self.random_state = random_state
        self.n_designs = n_designs
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X: Rows, y: np.ndarray, sample_weight: ArrayLike | None = None) -> Self:
        """Measure the penalty, and fit with it.

        Parameters
        ----------
        X, y
            Training data, as for the estimator; one response if mu="fitted".
        sample_weight : array, (n,), optional
            Weights of the fit. Algorithm 2 ignores weights, so they do not affect the measurement.
        """
        checked = self._checked(X, y, sample_weight)
        found: PenaltyCorrection | AroundFit
        if self.mu == "fitted":
            found = self._penalty_around_fit(checked)
        else:
            found = self._measure_penalty(checked.data.design, checked.estimator, checked.options)
        self.correction_, self.estimator_ = found, checked.fit(penalty=found.penalty)
        return self

    @property
    def _measured(self) -> Any:
        return self.correction_

    def bind(self, X: Rows) -> Bound:
        self._check_arguments()
        if self.mu == "fitted":
            return OneByOne(X, lambda y: clone(self).fit(X, y).estimator_)
        inner = clone(self._inner)
        found = self._measure_penalty(check_design(inner, X), inner)
        return inner.set_params(penalty=found.penalty).bind(X)

    def _checked(self, X: Rows, y: np.ndarray, sample_weight: ArrayLike | None) -> _Checked:
        """Return the validated data, before anything is measured."""
        self._check_arguments()
        estimator = clone(self._inner).set_params(penalty=None)  # its own does not count
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        data = estimator._check_data(X, y, **weights)
        Y = data.all_responses.matrix
        options = None if isinstance(estimator, Mars) else estimator._options_for(data.design, Y)
        if self.mu == "fitted" and Y.shape[1] > 1 and not is_classifier(estimator):
            raise InvalidInputError(
                f"y has {Y.shape[1]} responses but mu='fitted' takes one: its degrees of freedom are those "
                "of a fit of one response"
            )
        if self.mu == "fitted" and sample_weight is not None:
            raise InvalidInputError(
                "sample_weight is given but Algorithm 2 around the fit knows no weights: AutoEarth does"
            )
        return _Checked(estimator, data, options)

    def _check_arguments(self) -> None:
        check_choice("mu", self.mu, (None, "fitted"))
        check_choice("design", self.design, DESIGNS)
        inner = self._inner
        if not isinstance(inner, (Earth, EarthClassifier, Mars)):
            raise InvalidInputError(
                f"estimator={self.estimator!r} but it should be an Earth, an EarthClassifier or a Mars"
            )
        if self.mu is None:
            return
        if not isinstance(inner, Earth):
            raise InvalidInputError(
                f"mu='fitted' but it should be None for {type(inner).__name__}: noise around a fit is "
                "for an Earth"
            )
        if self.target_se is not None:
            raise refusal("target_se", self.target_se, "None with mu='fitted'")
        if self.n_designs is not None:
            raise refusal("n_designs", self.n_designs, "None with mu='fitted', which measures on X")

    @property
    def _run(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _RUN}

    def _measure_penalty(
        self, design: Design, estimator: Any, options: EarthOptions | None = None
    ) -> PenaltyCorrection:
        given = {"n_designs": self.n_designs, "target_se": self.target_se} | self._run
        search = (
            mars_search(design, estimator, self.design, {})
            if options is None
            else checked_search(design, self.design, options, estimator.engine)
        )
        return measure_penalty(search, **given)

    def _penalty_around_fit(self, checked: _Checked) -> AroundFit:
        search = mars_search(checked.data.design, self._inner, "data", {"engine": "native"})
        return penalty_around_fit(search, lambda c: checked.fit(penalty=c), **self._run)


@dataclass(frozen=True)
class _Checked:
    """An estimator with validated data and options; None for mda."""

    estimator: Any
    data: TrainingData
    options: EarthOptions | None

    def fit(self, **changes: Any) -> Any:
        """Return a fitted copy of the estimator with `changes` of its arguments."""
        return self.estimator._fit_copy(self.data, self.options, **changes)
