"""CorrectedEarth: MARS with a penalty for which nominal and actual degrees of freedom agree."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

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
    n_rep, target_se, draws, random_state, n_designs, n_jobs, progress
        As in `correct_penalty`; `target_se` is for responses around zero.

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

    def _fit(self, estimator: Any, data: TrainingData) -> None:
        Y = data.all_responses.matrix
        if self.mu == "fitted" and Y.shape[1] > 1:
            raise InvalidInputError(
                f"y has {Y.shape[1]} responses but mu='fitted' takes one: its degrees of freedom are those "
                "of a fit of one response"
            )
        if self.mu == "fitted" and data.all_weights is not None:
            raise InvalidInputError(
                "sample_weight is given but mu='fitted' does not support weights: AutoEarth does"
            )
        options: Any = None  # options of mda
        if not isinstance(estimator, Mars):
            options = estimator._options_for(data.design, Y)

        def fit(penalty: float) -> Any:
            return estimator._fit_copy(data, options, penalty=penalty)

        found: PenaltyCorrection | AroundFit
        if self.mu == "fitted":
            search = checked_search(data.design, "data", options, "native")
            found = penalty_around_fit(search, fit, **self._run)
        else:
            found = self._measure_penalty(data.design, estimator, options)
        self.correction_, self.estimator_ = found, fit(found.penalty)

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
