"""R's own splines through the bridge: `bs` and `ns` by least squares, and `smooth.spline`.

For comparison with the native splines, and for results by R itself. Fits and predictions require R, with
one call to R for any number of responses.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ... import bridge
from ..._utils.checks import check_count, check_positive
from ...contract import Fits
from ...exceptions import InvalidInputError
from .bspline import LamOrDf, UnivariateProcedure


class _SplineOfR(UnivariateProcedure):
    """A spline that R fits and predicts: `_in_r` fits, `_predicts` is the function and its package."""

    _predicts: ClassVar[tuple[str, str]]

    def _kept(self, found: dict) -> dict:
        self.fitted_values_ = found["fitted"][:, 0]
        self.trace_ = float(found["trace"][0])
        self._r_object = found["object"]
        return found

    def predict(self, X):
        """Predict at new values X as R does, also outside the range of the data."""
        function, package = self._predicts
        return bridge.call(function, self._r_object, self._check_new(X), package=package)


class _RegressionSpline(_SplineOfR):
    """Least squares on one of R's spline bases."""

    is_linear = True
    is_equivariant = True
    _predicts = ("regression.spline.predict", "splines")
    _kind: ClassVar[str]
    _least: ClassVar[int]

    def __init__(self, n_basis):
        self.n_basis = n_basis

    def _fit(self, x, y) -> None:
        found = self._kept(self._in_r(x, y[:, None]))
        self.coef_ = found["coef"][:, 0]
        self.basis_ = found["basis"]
        self.n_coef_ = int(self.n_basis)

    def _fit_many(self, x, Y) -> Fits:
        found = self._in_r(x, Y)
        m = Y.shape[1]
        return Fits(
            fitted=found["fitted"],
            trace=np.full(m, float(found["trace"][0])),
            n_coef=np.full(m, float(self.n_basis)),
        )

    def _in_r(self, x, Y):
        n_basis = check_count(
            "n_basis", self.n_basis, self._least, len(x), ", the number of rows of X"
        )
        return bridge.call("regression.spline", self._kind, x, Y, n_basis, package="splines")

    def _check_arguments(self) -> None:
        check_count("n_basis", self.n_basis, self._least)


class RBSpline(_RegressionSpline):
    """Cubic regression spline on R's `splines::bs(x, df = n_basis, intercept = TRUE)`.

    Parameters
    ----------
    n_basis : int
        Number of basis functions, 4 or more.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.procedures import RBSpline
    >>> x = np.arange(1.0, 101.0)
    >>> RBSpline(5).fit(x[:, None], np.sin(x / 20)).trace_
    5.0
    """

    _kind, _least = "bs", 4


class RNaturalSpline(_RegressionSpline):
    """Natural cubic spline on R's `splines::ns(x, df = n_basis, intercept = TRUE)`.

    The argument is as in `RBSpline`; 2 basis functions are the least.

    >>> from pyearthdof.procedures import RNaturalSpline
    >>> x = np.arange(1.0, 101.0)
    >>> RNaturalSpline(5).fit(x[:, None], np.sin(x / 20)).trace_
    5.0
    """

    _kind, _least = "ns", 2


class RSmoothingSpline(_SplineOfR, LamOrDf):
    """R's `stats::smooth.spline`.

    Parameters
    ----------
    lam : float, optional
        R's lambda.
    df : float, optional
        Wanted degrees of freedom, where lam is not given; R's search stops near it.
    n_knots : int or "all", optional
        Number of knots; R's own rule by default. With neither lam nor df, R chooses by GCV.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.procedures import RSmoothingSpline
    >>> x = np.arange(1.0, 101.0)
    >>> round(RSmoothingSpline(lam=0.01, n_knots="all").fit(x[:, None], np.sin(x / 20)).trace_, 6)
    4.561451
    """

    _predicts = ("smoothing.spline.predict", "stats")

    def _fit(self, x, y, sample_weight=None) -> None:
        found = self._kept(self._in_r(x, y[:, None], sample_weight))
        self.lam_ = float(found["lambda"][0])
        self.n_coef_ = int(found["n.coef"][0])

    def _fit_many(self, x, Y) -> Fits:
        found = self._in_r(x, Y, None)
        return Fits(fitted=found["fitted"], trace=found["trace"], n_coef=found["n.coef"])

    def _in_r(self, x, Y, weights):
        if len(np.unique(x)) < 4:
            raise InvalidInputError(
                f"X has {len(np.unique(x))} different values but it should have 4 or more for R's "
                "smooth.spline"
            )
        return bridge.call("smoothing.spline", x, Y, weights, self._options(), package="stats")

    def _options(self) -> dict:
        options = {}
        if self.lam is not None:
            options["lambda"] = float(self.lam)
        if self.df is not None:
            options["df"] = float(self.df)
        if self.n_knots == "all":
            options["all.knots"] = True
        elif self.n_knots is not None:
            options["nknots"] = check_positive("n_knots", self.n_knots)
        return options
