"""Earth: R's MARS as a scikit-learn regressor."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from .._utils.checks import by_position, check_jobs
from ..contract import Fits, PathFits, Procedure
from ..exceptions import InvalidInputError
from .base import MarsEstimator, check_many
from .data.design import check_design
from .data.training import TrainingData, response_levels, training_data
from .engines import choose_engine
from .engines.base import BoundEngine


class Earth(MarsEstimator, Procedure):
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
        parent uses it. As in R, a function may do without `first`, or without `namesx` and `first`.
    pmethod : {"backward", "none", "exhaustive", "forward", "seqrep", "cv"}
        Pruning method; "cv" takes the size that cross-validation prefers and needs nfold.
    nprune : int, optional
        Most terms after pruning.
    adjust_endspan : float, default 2
        Factor on endspan for terms with interactions.
    auto_linpreds : bool, default True
        A knot at the smallest value of a predictor becomes a linear term.
    scale_y : bool, optional
        Scale y in the forward pass; default True for one response, False for several.
    response_weight : array, (m,), optional
        Weights of several responses (R's `wp`).
    glm_family : {"binomial", "poisson", "gamma", "gaussian", "inverse_gaussian", "quasibinomial", \
"quasipoisson"}, optional
        Fit a generalised linear model of this family on the terms.
    glm_link, glm_maxit, glm_epsilon : optional
        Link of the family, and limits of the iteration; R's defaults.
    glm_l2 : float, default 0
        Ridge penalty for terms that separate the response, where R's coefficients grow without limit:
        deviance + glm_l2 sum (s_j b_j)^2 is minimised, s_j being the standard deviation of term j; the
        intercept is free. R has none, so it takes the native engine. `deviance`, `df` and `aic` in `glm_`
        count the terms as if there were no penalty.
    nfold, ncross, stratify : default 0, 1 and True
        R's cross-validation: folds, repetitions, and folds balanced over the response.
    varmod_method : {"none", "const", "lm", "rlm", "earth", "gam", "power", "power0", "x.lm", ...}
        Variance model for `predict_interval`; needs nfold > 1 and ncross > 2, a gam R, too.
    varmod_exponent, varmod_conv, varmod_clamp, varmod_minspan
        Its details, see R's `varmod`.
    force_weights : bool, default False
        Search as for case weights although there are none, or all are equal: slower, and now and then
        other terms.
    get_leverages : bool, optional
        Compute `leverages_`; by default below 100,000 rows, and None above.
    exhaustive_tol : float, default 1e-10
        Terms closer to dependence than this are not pruned exhaustively but backward.
    keepxy : bool, default False
        Keep the training data in pickles; with nfold, also out-of-fold RSq for each size.
    random_state : int, RandomState or None
        Seed of the cross-validation; a number is R's `set.seed`, with either engine.
    engine : {"auto", "r", "native"}
        What computes the fit: R's own earth through rpy2, or compiled code of our own that gives the
        same terms without R. "auto" is R where it is, except for `fit_many` and `fit_path`, where the
        native engine gives the same numbers faster. `engine_` tells which it was.
    n_jobs : int, optional
        Threads of the native engine, for folds or for one fit, as joblib counts them: None is 1 unless
        `joblib.parallel_config` says otherwise, -1 all processors. The model is the same, to the bit, for
        any number.
    missing : {"raise", "indicator"}, default "raise"
        Missing values in X are refused, or enter by indicators: a column with missing values gets a column
        `missing(x)`, 1 where it is missing, and its own terms are 0 there. An indicator counts neither as
        a degree of interaction nor has it knots; the GCV charges its terms as any others. New rows may lack
        the columns that lacked values in the fit. R's earth has no such option: it takes the native engine.
    monotone : dict, optional
        Columns, by name or index, whose effect must increase (1) or decrease (-1), such as {"age": 1}. They
        enter no interaction, and constrained least squares gives all their slopes the sign, in the pruning
        pass, too; for a generalised linear model on the scale of the link. For one response, by the native
        engine, with pmethod "backward" or "none".
    interactions : list of groups of columns, optional
        Columns, by name or index, that may interact: [("age", "sex"), ("x", "y", "z")]. A term has only
        columns of which each two are together in a group. It is `allowed` in R.

    Attributes
    ----------
    model_ : MarsModel
        The fitted model as plain numpy.
    term_coef_, terms_ : coefficients and names of the selected terms, the intercept first; with m responses
        `term_coef_` is (n_terms_, m). There is no `coef_`.
    dirs_, cuts_ : (n_forward_terms, n_features) arrays, one row for each forward-pass term.
    selected_terms_ : 0-based indices of the selected terms.
    bx_ : (n, n_terms_) basis matrix of the training rows.
    fitted_values_, residuals_ : (n,) or (n, m) arrays.
    leverages_ : (n,) array, or None, see `get_leverages`.
    rss_, rsq_, gcv_, grsq_ : float
    response_names_ : tuple of str
    levels_ : of a y that was a factor, truth values or two numbers that differ by 1; else None.
    rss_per_response_, rsq_per_response_, gcv_per_response_, grsq_per_response_ : (m,) arrays
    glm_, glm_coef_ : deviances and so on as a DataFrame, and coefficients; with glm_family only.
    cv_, cv_tables_ : R's cross-validation, a row for each fold, and all of R's tables; with nfold only.
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
            Finite numbers; in a frame also categories, strings and booleans, which expand as in R. The
            column names of a frame name the terms.
        y : array, Series or DataFrame, (n,) or (n, m)
            One response, or several that share their terms. Pandas' categories are factors: two levels are
            one response, the indicator of the second, and more are an indicator for each level. Texts in a
            frame are always an indicator for each, as in R.
        sample_weight : array, (n,), optional
            earth's case weights; not the same as repeating rows.
        subset : mask or 0-based row numbers, optional
            Fit on these rows only; the levels of factors are those of all rows.
        **others
            Refused: py-earth's `linvars`, `xlabels` and `output_weight` with the names that they have here.

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
        """Predict at the rows of X; needs no R.

        Parameters
        ----------
        X : (n, p) array or DataFrame
            As in `fit`.
        type : {"response", "link", "earth", "class", "terms"}
            For a generalised linear model: means, linear predictors, or the least-squares fit of the terms.
            Without one all three are the same. "class" gives the level of a y that was a factor, truth
            values or two numbers that differ by 1; "terms" is R's: a DataFrame with a column for each
            predictor, the sum of the terms that use it alone (`contributions` has all terms).
        missing : {"refuse", "propagate"}
            Missing values in X are refused; "propagate" gives NaN for the rows where a column is missing
            that the model uses, as R does.
        thresh : float
            For "class" with one response: above it is the second level. Of several responses the largest
            decides.
        extrapolate : {"allow", "warn", "clip", "refuse"}
            What to do with rows where a column that the model uses is outside of its training range: predict,
            as R does; warn of them, too; predict at the nearest end of the range; or refuse them.
        """
        return self._predict(X, type, missing, thresh, extrapolate)

    def bind(self, X) -> BoundEngine:
        """This estimator on a design X, for many fits: checked, expanded and sorted once."""
        design = check_design(type(self)(missing=self.missing), X)
        options = self._options_for(design)
        if options.not_plain:
            raise InvalidInputError(
                f"{options.not_plain} but fits of many responses are plain ones"
            )
        return choose_engine(self.engine, options, many=True).bind(design, options)

    def fit_many(self, X, Y, n_jobs=None) -> Fits:
        """Fit every column of Y on the same X, for Monte Carlo; the estimator stays as it was.

        Parameters
        ----------
        X : array or DataFrame, (n, p)
        Y : (n, m) array
        n_jobs : int, optional
            Threads of the native engine.
        """
        bound = self.bind(X)
        return bound.fit_many(check_many(Y, len(bound.X)), check_jobs(n_jobs))

    def fit_path(self, X, Y, nks, n_jobs=None) -> PathFits:
        """Fit every column of Y for every nk of `nks` with one forward pass each.

        Needs thresh = 0, pmethod = "none" and neither nprune, allowed nor force_weights: then the fit at
        a smaller nk is the beginning of the pass at a larger one. The estimator's own nk is not looked at.

        Parameters
        ----------
        X, Y, n_jobs
            As in `fit_many`.
        nks : sequence of int
        """
        nks = _check_nks(nks)
        bound = clone(self).set_params(nk=max(nks)).bind(X)
        return bound.fit_path(check_many(Y, len(bound.X)), nks, check_jobs(n_jobs))

    @classmethod
    def from_formula(cls, formula, data, sample_weight=None, *, subset=None, **options):
        """Fit by R's formula; it is read here, and needs no R.

        `predict` takes frames with the same columns. Predictions are on the scale of the left side: of
        log(O3), not of O3.

        Parameters
        ----------
        formula : str
            Such as "log(O3) ~ . - doy" or "cbind(a, b) ~ x * z + offset(w)". It may use the columns of
            `data`, the operators `+ - * / : ^ %in%`, comparisons, `! & |`, and the functions I, log, log2,
            log10, log1p, exp, sqrt, abs, sin, cos, tan, pmin, pmax, ifelse, as.numeric, as.integer, factor,
            cut, scale, poly, bs, ns, offset and cbind; anything else is refused before anything is computed,
            and so is one that would make more than 2,000 terms, or columns of functions and products.
        data : DataFrame
            Numbers, categories, strings, booleans and dates; dates are days, or seconds with times of day.
        sample_weight, subset
            As in `fit`.
        **options
            Arguments of the constructor.

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
        """Take over a model that somebody fitted with R's earth, with R's numbers.

        It predicts from frames with the columns that the model was fitted on, or from the matrix of
        `model_.feature_names` where its formula cannot be evaluated here.

        Parameters
        ----------
        source : path of an .rds file, or an earth object of rpy2
            R reads the file, so it should come from somebody you trust: reading one can run code.

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
