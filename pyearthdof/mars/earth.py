"""Earth: R's MARS as a scikit-learn regressor."""

from __future__ import annotations

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .. import bridge
from .._version import __version__
from ..exceptions import InvalidInputError
from ..procedures.base import Fits, Procedure
from . import engine_r
from .data import check_names, check_new_data, check_training_data, check_weights, default_names
from .options import check_options

__all__ = ["Earth"]

ENGINES = ("auto", "r")


class Earth(TransformerMixin, Procedure):
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
    engine : {"auto", "r"}
        What computes the fit: R's own earth through rpy2.

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
        self.model_, details = engine.fit_one(X, y, names, weights, options)
        self.bx_ = details.bx
        self.fitted_values_ = details.fitted
        self.leverages_ = details.leverages
        self._r_object = details.r_object
        self._copy_from_model()
        return self

    def predict(self, X):
        """Predict at the rows of X; needs no R."""
        check_is_fitted(self)
        return self.model_.predict(check_new_data(self, X))

    def transform(self, X):
        """Evaluate the selected terms at the rows of X: an (n, n_terms_) matrix; needs no R."""
        check_is_fitted(self)
        return self.model_.basis(check_new_data(self, X))

    def get_feature_names_out(self, input_features=None):
        """Names of the columns of `transform`: R's names of the selected terms."""
        check_is_fitted(self)
        return np.array(self.terms_, dtype=object)

    def summary(self) -> str:
        """R's own summary of the model."""
        check_is_fitted(self)
        return engine_r.summary_text(self._r_object)

    def fit_many(self, X, Y) -> Fits:
        """Fit every column of Y on the same X in few crossings to R; the estimator stays as it was."""
        X, Y, names, options = self._check_many(X, Y)
        fitted, terms = self._resolve_engine().fit_many(X, Y, names, options)
        return Fits(fitted=fitted, trace=terms, n_coef=terms)

    def _check_many(self, X, Y):
        Y = np.asarray(Y, dtype=np.float64)
        if Y.ndim != 2 or Y.shape[1] == 0:
            raise InvalidInputError(f"Y has shape {Y.shape} but it should be (n, m) with m >= 1")
        if not np.isfinite(Y).all():
            raise InvalidInputError("Y contains NaN or infinity")
        probe = type(self)()
        X, _ = check_training_data(probe, X, Y[:, 0])
        names = probe._feature_names(X.shape[1])
        return X, Y, names, check_options(self.get_params(), names, len(X))

    def _feature_names(self, n_features: int) -> tuple[str, ...]:
        return check_names(getattr(self, "feature_names_in_", default_names(n_features)))

    def _resolve_engine(self):
        if self.engine not in ENGINES:
            raise InvalidInputError(
                f"engine={self.engine!r} but it should be one of {', '.join(ENGINES)}"
            )
        bridge.require("earth")
        return engine_r

    def _copy_from_model(self) -> None:
        """The learned attributes that scikit-learn users look for."""
        model = self.model_
        self.coef_ = model.coef
        self.terms_ = model.selected_names
        self.dirs_, self.cuts_ = model.dirs, model.cuts
        self.selected_terms_ = model.selected
        self.rss_, self.rsq_, self.gcv_, self.grsq_ = model.rss, model.rsq, model.gcv, model.grsq
        self.rss_per_subset_ = model.rss_per_subset
        self.gcv_per_subset_ = model.gcv_per_subset
        self.prune_terms_ = model.prune_terms
        self.n_terms_ = self.n_coef_ = model.n_terms
        self.trace_ = float(model.n_terms)
        self.nominal_df_ = model.nominal_df
        self.nk_, self.penalty_ = model.nk, model.penalty
        self.termcond_ = model.termcond
        self.engine_ = model.engine
        self.versions_ = {"pyearthdof": __version__} | dict(model.versions)

    def __str__(self) -> str:
        return str(self.model_) if hasattr(self, "model_") else repr(self)
