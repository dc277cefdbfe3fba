"""Earth: R's MARS as a scikit-learn regressor."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import clone

from .. import bridge
from ..exceptions import InvalidInputError, RWarning
from ..procedures.base import Fits
from . import engine_r
from .data import check_training_data, check_weights
from .options import check_options
from .path import PathFits
from .regressor import MarsRegressor

__all__ = ["Earth"]

ENGINES = ("auto", "r", "native")


class Earth(MarsRegressor):
    """Multivariate adaptive regression splines, as R's package `earth` fits them.

    Every argument has the meaning and the default that it has in R; None lets earth compute its own.

    Parameters
    ----------
    degree : int, default 1
        Highest degree of interaction; 1 is an additive model.
    penalty : float, optional
        GCV penalty for each knot; default 2 for degree 1, else 3. 0 penalises terms only, -1 nothing.
    nk : int, optional
        Most terms in the forward pass, the intercept included; default min(200, max(20, 2 p)) + 1.
    thresh : float, default 0.001
        The forward pass stops when a step adds less than this to RSq.
    minspan, endspan : int, default 0
        Rows between knots and before the first one; 0 lets earth compute them, a negative minspan is
        a number of knots for each predictor.
    newvar_penalty : float, default 0
        Penalty for a predictor that is not in the model yet.
    fast_k, fast_beta : default 20 and 1
        Friedman's Fast MARS: parents considered at each step (0 or less: all) and their ageing.
    linpreds : None, True, names, indices or mask
        Predictors that may enter only linearly.
    allowed : function, optional
        `allowed(degree, pred, parents, namesx, first) -> bool` says whether predictor `pred` (0-based)
        may multiply the parent term; `parents` holds one entry for each predictor, not 0 where the
        parent uses it.
    pmethod : {"backward", "none", "exhaustive", "forward", "seqrep"}
        Pruning method.
    nprune : int, optional
        Most terms after pruning.
    adjust_endspan : float, default 2
        Factor on endspan for terms with interactions.
    auto_linpreds : bool, default True
        A knot at the smallest value of a predictor becomes a linear term.
    scale_y : bool, optional
        Scale y in the forward pass; default True.
    engine : {"auto", "r", "native"}
        What computes the fit: R's own earth through rpy2, or compiled code of our own that gives the
        same terms without R. "auto" is R where it is, except for `fit_many` and `fit_path`, where the
        native engine gives the same numbers faster. `engine_` tells which it was.

    Attributes
    ----------
    model_ : MarsModel
        The fitted model as plain numpy.
    coef_, terms_ : coefficients and names of the selected terms, the intercept first.
    dirs_, cuts_ : (n_forward_terms, n_features) arrays, one row for each forward-pass term.
    selected_terms_ : 0-based indices of the selected terms.
    bx_ : (n, n_terms_) basis matrix of the training rows.
    fitted_values_, leverages_ : (n,) arrays.
    rss_, rsq_, gcv_, grsq_ : float
    rss_per_subset_, gcv_per_subset_ : along the pruning pass.
    n_terms_ : int; also `n_coef_` and `trace_`, the trace of the fit's projection matrix.
    nominal_df_ : float
        r + penalty (r - 1)/2 with r = `n_terms_`; 0 for a negative penalty, as in earth.
    nk_, penalty_ : resolved values.
    termcond_ : int
        Why the forward pass stopped, R's number.
    engine_, versions_ : what computed it.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import Earth
    >>> x = np.linspace(0, 1, 101)
    >>> model = Earth().fit(x[:, None], np.maximum(0, x - 0.5))
    >>> model.terms_
    ('(Intercept)', 'h(x-0.5)')
    >>> model.predict([[0.75]]).round(6)
    array([0.25])
    """

    is_equivariant = True

    def __init__(
        self,
        degree=1,
        penalty=None,
        nk=None,
        thresh=0.001,
        minspan=0,
        endspan=0,
        newvar_penalty=0.0,
        fast_k=20,
        fast_beta=1.0,
        linpreds=None,
        allowed=None,
        pmethod="backward",
        nprune=None,
        adjust_endspan=2.0,
        auto_linpreds=True,
        scale_y=None,
        engine="auto",
    ):
        self.degree = degree
        self.penalty = penalty
        self.nk = nk
        self.thresh = thresh
        self.minspan = minspan
        self.endspan = endspan
        self.newvar_penalty = newvar_penalty
        self.fast_k = fast_k
        self.fast_beta = fast_beta
        self.linpreds = linpreds
        self.allowed = allowed
        self.pmethod = pmethod
        self.nprune = nprune
        self.adjust_endspan = adjust_endspan
        self.auto_linpreds = auto_linpreds
        self.scale_y = scale_y
        self.engine = engine

    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : array or DataFrame, (n, p)
            Finite numbers; the column names of a frame name the terms.
        y : array, (n,)
        sample_weight : array, (n,), optional
            earth's case weights; not the same as repeating rows.
        """
        X, y = check_training_data(self, X, y)
        names = self._feature_names(X.shape[1])
        weights = check_weights(sample_weight, len(y))
        options = check_options(self.get_params(), names, len(y))
        engine = self._resolve_engine()
        if engine is not engine_r and self.scale_y is not False and np.ptp(y) == 0:
            # R's own warning, which comes by itself with R's engine.
            warnings.warn(
                f"Cannot scale y (values are all equal to {y[0]:g}) Use Scale.y=FALSE to silence this "
                "warning",
                RWarning,
                stacklevel=2,
            )
        self._learn(*engine.fit_one(X, y, names, weights, options))
        return self

    def fit_many(self, X, Y) -> Fits:
        """Fit every column of Y on the same X, for Monte Carlo; the estimator stays as it was."""
        X, Y, names = self._check_many(X, Y)
        options = check_options(self.get_params(), names, len(X))
        fitted, terms = self._resolve_engine(monte_carlo=True).fit_many(X, Y, names, options)
        return Fits(fitted=fitted, trace=terms, n_coef=terms)

    def fit_path(self, X, Y, nks) -> PathFits:
        """Fit every column of Y for every nk of `nks` with one forward pass each.

        Needs thresh = 0, pmethod = "none" and neither nprune nor allowed: then the fit at a smaller nk
        is the beginning of the pass at a larger one. The estimator's own nk is not looked at.
        """
        needed = {"thresh": 0, "pmethod": "none", "nprune": None, "allowed": None}
        for name, value in needed.items():
            if getattr(self, name) != value:
                raise InvalidInputError(
                    f"{name}={getattr(self, name)!r} but a path over nk needs {name}={value!r}"
                )
        nks = [int(nk) for nk in nks]
        longest = clone(self).set_params(nk=max(nks))
        X, Y, names = self._check_many(X, Y)
        options = check_options(longest.get_params(), names, len(X))
        fitted = np.empty((len(nks), *Y.shape))
        n_terms = np.empty((len(nks), Y.shape[1]))
        paths = self._resolve_engine(monte_carlo=True).path_many(X, Y, nks, options)
        for j, (fits, sizes) in enumerate(paths):
            fitted[:, :, j] = fits.T
            n_terms[:, j] = sizes
        return PathFits(fitted, n_terms)

    def corrected(self, X, y, *, design="gaussian", sample_weight=None, **correction):
        """Fit again with the penalty that makes nominal and actual degrees of freedom agree.

        Parameters
        ----------
        X, y, sample_weight
            The data, as in `fit`.
        design : {"gaussian", "data"}
            Measure the search on Gaussian noise of X's shape, as the authors do, or on X itself.
        **correction
            Passed to `correct_penalty`: n_rep, draws, n_jobs, progress, engine.

        Returns
        -------
        Earth
            A new model, fitted, with the result of `correct_penalty` in `correction_`.

        Examples
        --------
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> model = Earth().corrected(x, np.abs(x[:, 0]), n_rep=20)
        >>> model.penalty_ == model.correction_.penalty
        True
        """
        from ..dof import correct_penalty

        if design not in ("gaussian", "data"):
            raise InvalidInputError(f"design={design!r} but it should be 'gaussian' or 'data'")
        probe, _ = check_training_data(clone(self), X, y)
        settings = {"degree": self.degree, "nk": self.nk, "engine": self.engine} | correction
        result = correct_penalty(probe if design == "data" else probe.shape, **settings)
        model = clone(self).set_params(penalty=result.penalty).fit(X, y, sample_weight)
        model.correction_ = result
        return model

    def _resolve_engine(self, monte_carlo: bool = False):
        """The module that fits. "auto": R where it is, but for many fits the native engine."""
        if self.engine not in ENGINES:
            raise InvalidInputError(
                f"engine={self.engine!r} but it should be one of {', '.join(ENGINES)}"
            )
        if self.engine == "r":
            bridge.require("earth")
            return engine_r
        if self.engine == "auto" and not monte_carlo and bridge.is_available("earth"):
            return engine_r
        from . import engine_native

        engine_native.announce()
        return engine_native
