"""Mars: R's `mda::mars` with the interface of Earth."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from .. import bridge
from .._utils.checks import by_position, check_flag
from ..contract import Fits, Procedure
from ..exceptions import InvalidInputError
from .base import MarsEstimator, check_many
from .data.design import (
    Design,
    Responses,
    check_design,
    check_names,
    check_training_data,
    default_names,
)
from .data.training import Ranges, TrainingData
from .earth import Earth
from .engines.base import BoundEngine
from .engines.r.mda import BoundMda, fit_mda
from .options import OPTIONS


class Mars(MarsEstimator, Procedure):
    """MARS as in R's package `mda`, with fewer options than earth.

    Parameters
    ----------
    degree : int, default 1
        Maximum degree of interaction.
    nk : int, optional
        Maximum number of terms in the forward pass; default max(21, 2 p + 1). mda reduces even values by 1.
    penalty : float, optional
        GCV penalty per knot; default 2 for degree 1, otherwise 3.
    thresh : float, default 0.001
        The forward pass stops when the improvement of a step is below this.
    prune : bool, default True
        Prune backward by GCV.

    Attributes
    ----------
    As in `Earth`; `mda_gcv_` is the GCV reported by mda. `fit` has no case weights, because mda ignores them.
    `rss_per_subset_` is NaN for sizes that mda does not report.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import Mars
    >>> x = np.linspace(0, 1, 101)
    >>> Mars(nk=3, prune=False).fit(x[:, None], np.maximum(0, x - 0.5)).terms_
    ('(Intercept)', 'h(x-0.51)', 'h(0.51-x)')
    """

    _has_all_of_earth = False

    def __init__(self, degree=1, nk=None, penalty=None, thresh=0.001, prune=True):
        self._set_arguments(locals())

    def fit(self, X, y):
        """Fit the model to finite numbers X (n, p) and y (n,)."""
        self._fit(self._check_data(X, y))
        return self

    def _check_data(self, X, y) -> TrainingData:
        by_position(X, y=y)
        X, y = check_training_data(self, X, y)
        names = check_names(getattr(self, "feature_names_in_", default_names(X.shape[1])))
        return TrainingData(Design(X, names), Responses(y, ("y",)))

    def _fit(self, data, options=None) -> None:
        """Fit, and set the fitted attributes; the options are the estimator's own."""
        X, names = data.design.values, data.design.names
        own = self._options()
        self._require()
        fit, self.mda_gcv_ = fit_mda(X, data.responses.values, names, own)
        self._learn(fit.with_rows(Ranges.of_matrix(names, X), None, None))

    def predict(self, X, type="response", *, missing="refuse", thresh=0.5, extrapolate="allow"):
        """Predict at the rows of X; type, missing, thresh and extrapolate as in `Earth.predict`."""
        return self._predict(X, type, missing, thresh, extrapolate)

    def bind(self, X) -> BoundEngine:
        """Prepare the design X for many fits."""
        design = check_design(type(self)(), X)
        self._require()
        return BoundMda(design.values, design.names, self._options())

    def fit_many(self, X, Y) -> Fits:
        """Fit every column of Y on the same X with few calls to R."""
        by_position(X, Y=Y)
        bound = self.bind(X)
        return bound.fit_many(check_many(Y, len(bound.X)))

    def to_earth(self) -> Earth:
        """Return the same model as a fitted `Earth`, as R's `mars.to.earth`."""
        check_is_fitted(self)
        earth = Earth(
            degree=self.degree, nk=self.nk_, penalty=self.penalty_, thresh=self.thresh,
            pmethod=self.model_.pmethod, engine="r",
        )  # fmt: skip
        earth.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            earth.feature_names_in_ = self.feature_names_in_
        earth._learn(self._training_fit("to_earth"))
        return earth

    def _settings(self) -> dict[str, Any]:
        return {"mda_options": self._options()}

    def _options(self) -> dict:
        """Return the options under mda's names; None stands for mda's default."""
        shared = ("degree", "nk", "penalty", "thresh")
        values = {o.name: o.check(getattr(self, o.name)) for o in OPTIONS if o.name in shared}
        if values["penalty"] is not None and values["penalty"] < 0:
            raise InvalidInputError(f"penalty={self.penalty!r} but mda needs 0 or more")
        given = {name: value for name, value in values.items() if value is not None}
        return given | {"prune": check_flag("prune", self.prune)}

    @staticmethod
    def _require() -> None:
        bridge.require("earth")
        bridge.require("mda")
