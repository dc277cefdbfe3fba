"""Earth: MARS as in R's package earth, as a scikit-learn regressor."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from .._utils.checks import by_position, check_jobs
from ..contract import Fits, PathFits, Procedure
from ..exceptions import InvalidInputError
from .base import MarsEstimator, check_many
from .data.design import check_design, check_weights
from .data.training import TrainingData, response_levels, training_data
from .engines import choose_engine
from .engines.base import BoundEngine


class Earth(MarsEstimator, Procedure):
    """Multivariate adaptive regression splines as in R's package `earth`.

    Arguments have the meaning and the default of R's; None selects earth's automatic value.

    Parameters
    ----------
    degree : int, default 1
        Maximum degree of interaction; 1 is an additive model.
    penalty : float, optional
        GCV penalty per knot; default 2 for degree 1, otherwise 3. 0 penalises only terms, -1 nothing.
    nk : int, optional
        Maximum number of terms in the forward pass, including the intercept; default
        min(200, max(20, 2 p)) + 1.
    thresh : float, default 0.001
        The forward pass stops when a step increases RSq by less than this.
    minspan, endspan : int, default 0
        Minimum number of rows between knots, and before the first and after the last knot. 0 selects the
        automatic value; a negative minspan is the number of knots per predictor.
    newvar_penalty : float, default 0
        Penalty for adding a predictor that is not yet in the model.
    fast_k, fast_beta : default 20 and 1
        Friedman's Fast MARS: number of parent terms considered at each step (0 or less: all), and their
        ageing coefficient.
    linpreds : None, True, names, indices or mask
        Predictors that enter only linearly.
    allowed : function, optional
        `allowed(degree, pred, parents, namesx, first) -> bool` returns whether predictor `pred` (0-based)
        may multiply the parent term. `parents` has one entry per predictor, nonzero if the parent uses
        it. As in R, `first`, or `namesx` and `first`, may be omitted.
    pmethod : {"backward", "none", "exhaustive", "forward", "seqrep", "cv"}
        Pruning method; "cv" selects the size by cross-validation and requires nfold.
    nprune : int, optional
        Maximum number of terms after pruning.
    adjust_endspan : float, default 2
        Factor applied to endspan for interaction terms.
    auto_linpreds : bool, default True
        Replace a hinge with its knot at the minimum of a predictor by a linear term.
    scale_y : bool, optional
        Scale y in the forward pass; default True for one response, False for several responses.
    response_weight : array, (m,), optional
        Weights of several responses (R's `wp`).
    glm_family : {"binomial", "poisson", "gamma", "gaussian", "inverse_gaussian", "quasibinomial", \
"quasipoisson"}, optional
        Fit a generalised linear model of this family to the selected terms.
    glm_link, glm_maxit, glm_epsilon : optional
        Link function, and the maximum number and the tolerance of the iterations; R's defaults.
    glm_l2 : float, default 0
        Ridge penalty, for terms that separate the response and make R's coefficients diverge. Minimises
        deviance + glm_l2 sum (s_j b_j)^2, where s_j is the standard deviation of term j; the intercept is
        not penalised. Requires the native engine. `deviance`, `df` and `aic` in `glm_` ignore the
        penalty.
    nfold, ncross, stratify : default 0, 1 and True
        R's cross-validation: number of folds and repetitions, and whether folds are stratified by y.
    varmod_method : {"none", "const", "lm", "rlm", "earth", "gam", "power", "power0", "x.lm", ...}
        Variance model for `predict_interval`; requires nfold > 1 and ncross > 2. "gam" and "x.gam" also
        require R.
    varmod_exponent, varmod_conv, varmod_clamp, varmod_minspan
        Options of the variance model, see R's `varmod`.
    force_weights : bool, default False
        Use the search for weighted data even without weights or with equal weights: slower, and
        occasionally with other terms.
    get_leverages : bool, optional
        Compute `leverages_`; by default only below 100,000 rows.
    exhaustive_tol : float, default 1e-10
        If the terms are closer to linear dependence than this, exhaustive pruning falls back to backward.
    keepxy : bool, default False
        Keep the training data in pickles; with nfold, also the out-of-fold RSq of each size.
    random_state : int, RandomState or None
        Seed of the cross-validation; an integer is equivalent to R's `set.seed`, with either engine.
    engine : {"auto", "r", "native"}
        Engine that computes the fit: R's earth through rpy2, or compiled code that selects the same
        terms without R. "auto" uses R if it is installed, except in `fit_many` and `fit_path`, where
        the native engine gives the same numbers faster. `engine_` is the engine used.
    n_jobs : int, optional
        Number of threads of the native engine, for folds or for one fit, as in joblib: None means 1 unless
        in a `joblib.parallel_config` context, -1 all processors. The model is bit-identical for any
        number.
    missing : {"raise", "indicator"}, default "raise"
        "raise" rejects missing values in X. "indicator" adds a column `missing(x)` for each incomplete
        column x, 1 where x is missing, and sets the terms of x to 0 there. Indicators have no knots and do
        not count towards the degree; GCV charges their terms as any others. New rows may have missing
        values in the same columns. Requires the native engine; R's earth has no such option.
    monotone : dict, optional
        Columns, by name or index, whose effect must increase (1) or decrease (-1), such as {"age": 1}.
        They are excluded from interactions, and constrained least squares enforces the sign of all their
        slopes, including in the pruning pass; for a generalised linear model, on the scale of the link.
        Requires one response, the native engine, and pmethod "backward" or "none".
    interactions : list of groups of columns, optional
        Columns, by name or index, that may interact: [("age", "sex"), ("x", "y", "z")]. Any two columns in
        a term must share a group. In R, use `allowed`.

    Attributes
    ----------
    model_ : MarsModel
        The fitted model as plain numpy.
    term_coef_, terms_ : coefficients and names of the selected terms, the intercept first; with m responses
        `term_coef_` is (n_terms_, m).
    dirs_, cuts_ : (n_forward_terms, n_features) arrays, one row per term of the forward pass.
    selected_terms_ : 0-based indices of the selected terms.
    bx_ : (n, n_terms_) basis matrix of the training rows.
    fitted_values_, residuals_ : (n,) or (n, m) arrays.
    leverages_ : (n,) array or None, see `get_leverages`.
    rss_, rsq_, gcv_, grsq_ : float
    response_names_ : tuple of str
    levels_ : levels of y if it was a factor, boolean, or had two values that differ by 1; else None.
    rss_per_response_, rsq_per_response_, gcv_per_response_, grsq_per_response_ : (m,) arrays
    glm_, glm_coef_ : statistics as a DataFrame, and coefficients; only with glm_family.
    cv_, cv_tables_ : R's cross-validation with one row per fold, and all of R's tables; only with nfold.
    rss_per_subset_, gcv_per_subset_ : along the pruning pass.
    n_terms_ : int; equal to `n_coef_` and `trace_`, the trace of the projection matrix of the fit.
    nominal_df_ : float
        r + penalty (r - 1)/2 with r = `n_terms_`; 0 for a negative penalty, as in earth.
    nk_, penalty_ : values used.
    termcond_ : int
        Termination condition of the forward pass, as in R.
    engine_, versions_ : engine and software versions used.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import Earth
    >>> x = np.linspace(0, 1, 101)
    >>> model = Earth().fit(x[:, None], np.maximum(0, x - 0.5))
    >>> model.terms_
    ('(Intercept)', 'h(x-0.52)', 'h(0.52-x)')
    >>> model.predict([[0.75]]).round(6)
    array([0.247224])
    """

    is_equivariant = True
    takes_several_responses = True

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
        response_weight=None,
        glm_family=None,
        glm_link=None,
        glm_maxit=None,
        glm_epsilon=None,
        glm_l2=0.0,
        nfold=0,
        ncross=1,
        stratify=True,
        varmod_method="none",
        varmod_exponent=1.0,
        varmod_conv=1.0,
        varmod_clamp=0.1,
        varmod_minspan=-3,
        force_weights=False,
        get_leverages=None,
        exhaustive_tol=1e-10,
        keepxy=False,
        random_state=None,
        engine="auto",
        n_jobs=None,
        *,
        missing="raise",
        monotone=None,
        interactions=None,
    ):
        self._set_arguments(locals())

    def fit(self, X, y, sample_weight=None, *, subset=None, **others):
        """Fit the model.

        Parameters
        ----------
        X : array or DataFrame, (n, p)
            Finite numbers. Data frames may also have categorical, string and boolean columns, which expand
            as in R; their column names appear in the terms.
        y : array, Series or DataFrame, (n,) or (n, m)
            One response, or several that share the terms. Categorical responses are factors: two levels
            become one indicator of the second level, more levels one indicator each. Strings in a data
            frame always become one indicator per level, as in R.
        sample_weight : array, (n,), optional
            Case weights as in earth; not equivalent to repeating rows.
        subset : mask or 0-based row numbers, optional
            Fit on these rows only; factors keep the levels of all rows.
        **others
            Not accepted; py-earth's `linvars`, `xlabels` and `output_weight` raise errors that name the
            equivalents.

        Examples
        --------
        >>> import numpy as np
        >>> import pandas as pd
        >>> from pyearthdof import Earth
        >>> frame = pd.DataFrame({"x": np.linspace(0, 1, 60), "kind": ["low", "high", "none"] * 20})
        >>> y = frame["x"] + 3.0 * (frame["kind"] == "low")
        >>> Earth(engine="native").fit(frame, y).terms_
        ('(Intercept)', 'kindlow', 'x')
        """
        self._refuse_others(others)
        self._fit(self._check_data(X, y, sample_weight, subset))
        return self

    def _check_data(self, X, y, sample_weight=None, subset=None) -> TrainingData:
        by_position(X, y=y, sample_weight=sample_weight, subset=subset)
        data = training_data(self, X, y, sample_weight, subset)
        self.levels_ = response_levels(data.all_responses, y)
        return data

    def predict(self, X, type="response", *, missing="refuse", thresh=0.5, extrapolate="allow"):
        """Predict at the rows of X, without R.

        Parameters
        ----------
        X : (n, p) array or DataFrame
            As in `fit`.
        type : {"response", "link", "earth", "class", "terms"}
            For a generalised linear model: means, linear predictors, or the least-squares fit. Otherwise
            these three are the same. "class" returns levels if y was a factor, boolean, or had two values
            that differ by 1. "terms" is R's: a DataFrame with one column per predictor, the sum of the
            terms that use only this predictor (`contributions` returns all terms).
        missing : {"refuse", "propagate"}
            "refuse" rejects missing values in X. "propagate" returns NaN for rows with missing values in
            columns that the model uses, as R does.
        thresh : float
            For "class" with one response: predict the second level above this value. With several
            responses, the largest one decides.
        extrapolate : {"allow", "warn", "clip", "refuse"}
            Treatment of rows outside the training range of a column that the model uses: extrapolate, as R
            does; extrapolate and warn; predict at the nearest end of the range; or raise an error.
        """
        return self._predict(X, type, missing, thresh, extrapolate)

    def bind(self, X) -> BoundEngine:
        """Prepare the design X for many fits: validate, expand and sort it once."""
        design = check_design(type(self)(missing=self.missing), X)
        options = self._options_for(design)
        if options.not_plain:
            raise InvalidInputError(
                f"{options.not_plain} but fits of many responses are plain ones"
            )
        return choose_engine(self.engine, options, many=True).bind(design, options)

    def fit_many(self, X, Y, n_jobs=None, sample_weight=None) -> Fits:
        """Fit every column of Y on the same X, for Monte Carlo; the estimator is not modified.

        Parameters
        ----------
        X : array or DataFrame, (n, p)
        Y : (n, m) array
        n_jobs : int, optional
            Number of threads of the native engine.
        sample_weight : array, (n,), optional
            Case weights of all responses; requires the native engine.
        """
        Y, sample_weight = by_position(X, Y=Y, sample_weight=sample_weight)
        bound = self.bind(X)
        weights = check_weights(sample_weight, len(bound.X))
        return bound.fit_many(check_many(Y, len(bound.X)), check_jobs(n_jobs), weights)

    def fit_path(self, X, Y, nks, n_jobs=None, sample_weight=None) -> PathFits:
        """Fit every column of Y for every nk of `nks` with one forward pass each.

        Requires thresh=0, pmethod="none" and neither nprune, allowed nor force_weights: then the fit for a
        smaller nk is the beginning of the pass for a larger one. The estimator's own nk is ignored.

        Parameters
        ----------
        X, Y, n_jobs, sample_weight
            As in `fit_many`.
        nks : sequence of int
        """
        nks = _check_nks(nks)
        Y, sample_weight = by_position(X, Y=Y, sample_weight=sample_weight)
        bound = clone(self).set_params(nk=max(nks)).bind(X)
        weights = check_weights(sample_weight, len(bound.X))
        return bound.fit_path(check_many(Y, len(bound.X)), nks, check_jobs(n_jobs), weights)

    @classmethod
    def from_formula(cls, formula, data, sample_weight=None, *, subset=None, **options):
        """Fit by an R formula, which is evaluated without R.

        Parameters
        ----------
        formula : str
            Such as "log(O3) ~ . - doy" or "cbind(a, b) ~ x * z + offset(w)". It may use the columns of
            `data`, the operators `+ - * / : ^ %in%`, comparisons, `! & |`, and the functions I, log, log2,
            log10, log1p, exp, sqrt, abs, sin, cos, tan, pmin, pmax, ifelse, as.numeric, as.integer, factor,
            cut, scale, poly, bs, ns, offset and cbind, among others. Anything else raises an error before
            anything is computed, and so do more than 2,000 terms or columns.
        data : DataFrame
            Numbers, categories, strings, booleans and dates; dates become days, or seconds if they have
            times of day.
        sample_weight, subset
            As in `fit`.
        **options
            Arguments of the constructor.

        Returns
        -------
        Earth
            Fitted; `predict` accepts data frames with the same columns. Predictions are on the scale of the
            left side: log(O3), not O3.

        Examples
        --------
        >>> import pandas as pd
        >>> from pyearthdof import Earth
        >>> data = pd.DataFrame({"x": range(1, 31), "y": [2.0 * k for k in range(1, 31)]})
        >>> model = Earth.from_formula("y ~ log(x)", data)
        >>> model.response_names_, model.model_.feature_names
        (('y',), ('log(x)',))
        """
        from .engines.r.engine import moves_knots
        from .formula.learning import FormulaData

        by_position(data, "data", sample_weight=sample_weight, subset=subset)
        estimator = cls(**options)
        estimator._refuse_indicators()
        estimator._fit(
            FormulaData.learn(formula, data, sample_weight, subset, moves_knots=moves_knots)
        )
        return estimator

    @classmethod
    def from_r(cls, source):
        """Load a model that was fitted with R's earth.

        Parameters
        ----------
        source : path of an .rds file, or an earth object of rpy2
            R reads the file, which can run code: only load files that you trust.

        Returns
        -------
        Earth
            Fitted, with R's numbers. Predicts from data frames with the columns of the fit, or from a matrix
            with the columns `model_.feature_names` if its formula is not supported.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Earth().fit(x, np.abs(x[:, 0])).to_rds(f"{folder}/model.rds")
        ...     model = Earth.from_r(f"{folder}/model.rds")
        >>> model.predict([[-2.0, 0.0]]).round(2)
        array([2.01])
        """
        from .engines.r.objects import read_r

        fit, params = read_r(source)
        estimator = cls(**params)
        estimator._take_names(fit.model)
        estimator._learn(fit)
        return estimator


def _check_nks(nks) -> list[int]:
    values = np.asarray(nks)
    if values.ndim != 1 or len(values) == 0 or values.dtype.kind not in "iu" or values.min() < 1:
        raise InvalidInputError("nks should be a list of integers of 1 or more, with at least one")
    return [int(nk) for nk in values]
