"""Mars: R's `mda::mars` with the face of Earth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import bridge
from .._utils.checks import by_position, check_flag
from ..contract import Bound, Fits, PathFits
from ..exceptions import InvalidInputError
from .data.design import check_design, check_training_data
from .data.ranges import Ranges
from .earth import Earth
from .engines.r import engine as engine_r
from .engines.r.many import BoundInR
from .model.mars_model import FitDetails
from .options import OPTIONS, EarthOptions
from .regressor import MarsRegressor, check_many

__all__ = ["Mars"]


class Mars(MarsRegressor):
    """MARS as R's package `mda` fits it; its options are fewer than earth's.

    Parameters
    ----------
    degree : int, default 1
        Highest degree of interaction.
    nk : int, optional
        Most terms in the forward pass; default max(21, 2 p + 1). mda lowers an even one by 1.
    penalty : float, optional
        GCV penalty for each knot; default 2 for degree 1, else 3.
    thresh : float, default 0.001
        The forward pass stops when a step adds less than this.
    prune : bool, default True
        Remove terms backward, by GCV.

    Attributes
    ----------
    As `Earth` has them; `mda_gcv_` is the GCV that mda itself reports. mda ignores case weights, so
    `fit` takes none. Dropped terms and sizes that mda does not report are NaN in `rss_per_subset_`.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import Mars
    >>> x = np.linspace(0, 1, 101)
    >>> Mars(nk=3, prune=False).fit(x[:, None], np.maximum(0, x - 0.5)).terms_
    ('(Intercept)', 'h(x-0.51)', 'h(0.51-x)')
    """

    def __init__(self, degree=1, nk=None, penalty=None, thresh=0.001, prune=True):
        self.degree = degree
        self.nk = nk
        self.penalty = penalty
        self.thresh = thresh
        self.prune = prune

    def fit(self, X, y):
        """Fit the model to finite numbers X (n, p) and y (n,)."""
        by_position(X, y=y)
        X, y = check_training_data(self, X, y)
        names = self._feature_names(X.shape[1])
        options = self._options()
        self._require()
        design = bridge.NamedMatrix(X, names)
        found = bridge.call("mars.one", design, y, options, package="mda")
        settings = EarthOptions(
            n_features=len(names), degree=int(self.degree), thresh=float(self.thresh),
            pmethod="backward" if self.prune else "none",
        )  # fmt: skip
        model = engine_r.model_from(found, settings)
        model = replace(model, ranges=Ranges.of_matrix(names, X))
        self._learn(model, engine_r.details_from(found))
        self.mda_gcv_ = float(found["mars.gcv"][0])
        return self

    def bind(self, X) -> Bound:
        """This estimator on a design X, for many fits."""
        design = check_design(type(self)(), X)
        self._require()
        return BoundMda(design.values, design.names, self._options())

    def fit_many(self, X, Y) -> Fits:
        """Fit every column of Y on the same X in few crossings to R."""
        bound = self.bind(X)
        return bound.fit_many(check_many(Y, len(bound.X)))

    def to_earth(self) -> Earth:
        """Return the same model as a fitted `Earth`, equal to R's `mars.to.earth`."""
        check_is_fitted(self)
        earth = Earth(
            degree=self.degree, nk=self.nk_, penalty=self.penalty_, thresh=self.thresh,
            pmethod=self.model_.pmethod, engine="r",
        )  # fmt: skip
        earth.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            earth.feature_names_in_ = self.feature_names_in_
        details = FitDetails(
            self.bx_, self.fitted_values_, self.residuals_, self.leverages_, self._r_object
        )
        earth._learn(self.model_, details)
        return earth

    def _options(self) -> dict:
        """Options in mda's names; what is None has mda's default."""
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


class BoundMda(BoundInR):
    """mda's MARS on one design; `options` in mda's names."""

    def __init__(self, X, names, options: dict):
        self.X, self.names, self.options = X, names, options

    def fit_many(self, Y, n_threads: int = 1) -> Fits:
        """Fitted values and numbers of terms for every column of Y; R has one thread."""
        fitted, terms = self._many(Y, self.options)
        return Fits(fitted, terms, terms)

    def fit_path(self, Y, nks, n_threads: int = 1) -> PathFits:
        """mda tells no path, so every nk is fitted by itself."""
        each = [self._many(Y, self.options | {"nk": nk}) for nk in nks]
        return PathFits(np.stack([fitted for fitted, _ in each]), np.stack([n for _, n in each]))

    def _many(self, Y, options) -> tuple[np.ndarray, np.ndarray]:
        return engine_r.batch("mars.many", self.X, Y, self.names, options, package="mda")
