"""Base class of the MARS estimators: options, engine selection, and methods of fitted models."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .. import bridge
from .._utils.checks import (
    check_choice,
    check_flag,
    check_jobs,
    check_level,
    check_responses,
    refusal,
)
from .._utils.files import write_whole, written
from .._utils.warnings import CollectedWarnings, warn_user
from .._version import __version__
from ..exceptions import FittingError, InvalidInputError, TrainingRowsError
from . import reading as saved
from .components.cv_frames import cv_frames
from .components.glm import GlmPart, is_pairs
from .data.columns import Columns, check_kind
from .data.design import Design, check_new_data, default_names, differ, taken, warn_of_columns
from .data.new_rows import (
    check_missing,
    predict_complete_rows,
    within_range,
)
from .data.training import TrainingData, response_levels
from .engines import choose_engine, engine_called
from .engines.base import Engine
from .engines.separation import with_separation
from .export.excel import to_excel
from .export.inputs import TYPES as EXPORT_TYPES
from .export.javascript import to_javascript
from .export.onnx import to_onnx
from .export.python import to_python
from .export.sql import to_sql
from .export.sympy import to_sympy
from .inspect.format import (
    DECOMPOSITIONS,
    STYLES,
    format_model,
    formulas_of,
    term_table,
)
from .inspect.importance import (
    additive_terms,
    anova_table,
    feature_importances,
    importance_table,
    term_contributions,
)
from .inspect.residuals import TYPES, fit_residuals, standardized
from .inspect.summary import (
    Layout,
    Summary,
    VarianceShown,
    anova_order,
    estimator_summary,
    model_html,
    printed_folds,
)
from .model.estimator_file import EstimatorFile, RowSummary, check_params
from .model.fit import Fit
from .model.intervals import check_variance_model, interval_table, standard_deviations
from .model.mars_model import KINDS, MarsModel
from .options import (
    SEARCH_OPTIONS,
    EarthOptions,
    check_options,
    interacting_groups,
    linear_predictors,
    monotone_columns,
    of_stage,
)
from .printing import check_digits
from .report.estimator import write_report

if TYPE_CHECKING:
    from .formula.learning import FormulaData

# Arguments that Earth has in py-earth or in R under another name.
OURS = {
    # py-earth's
    "max_degree": "is degree here",
    "max_terms": "is nk here, the most terms in the forward pass",
    "endspan_alpha": "is not available: endspan=0 selects earth's value; otherwise give a number of rows",
    "minspan_alpha": "is not available: minspan=0 selects earth's value; otherwise give a number of rows",
    "allow_linear": "is auto_linpreds here; linpreds names predictors that may enter only linearly",
    "allow_missing": "is missing='indicator' here",
    "enable_pruning": "is pmethod here; pmethod='none' does not prune",
    "use_fast": "is fast_k here: parents considered at each step, 0 for all",
    "fast_K": "is fast_k here",
    "fast_h": "is not available: fast_k and fast_beta are those of R's Fast MARS",
    "smooth": "is not available: the basis functions are hinges, as in R's earth",
    "check_every": "is minspan here, the number of rows between knots",
    "min_search_points": "is minspan here; a negative one is a number of knots for each predictor",
    "zero_tol": "is not available: R's earth has none",
    "feature_importance_type": "is not available: importance() has all criteria of a fitted model, and "
    "feature_importances_ the shares by GCV",
    "verbose": "is not available: print(model.summary()) describes a fitted model",
    "linvars": "is linpreds here, of Earth and not of fit",
    "xlabels": "is not available: the columns of a DataFrame name the terms",
    "output_weight": "is response_weight here, of Earth and not of fit",
    # R's
    "wp": "is response_weight here",
    "glm": "is glm_family here, with glm_link, glm_maxit and glm_epsilon",
    "trace": "is not available: print(model.summary()) describes a fitted model",
    "weights": "is sample_weight of fit here",
    "subset": "is an argument of fit here",
    "x": "is X of fit here",
    "y": "is an argument of fit here",
    "formula": "is an argument of Earth.from_formula here",
    "data": "is an argument of Earth.from_formula here",
    "Get_crit": "is not available: R's earth has it for research",
}  # fmt: skip


# py-earth's attributes and methods of a fitted model.
OUR_ATTRIBUTES = {
    "basis_": "is terms_, dirs_ and cuts_ here, and to_frame() is a table of them",
    "coef_": "is term_coef_ here, and coef() names its entries",
    "mse_": "is rss_ / n here",
    "xlabels_": "is feature_names_in_ here",
    "trace": "is summary() here; gcv_per_subset_ and rss_per_subset_ follow the pruning pass",
    "forward_trace": "is not available: dirs_ and cuts_ are the terms of the forward pass in their order",
    "pruning_trace": "is gcv_per_subset_, rss_per_subset_ and prune_terms_ here",
    "forward_pass_record_": "is dirs_ and cuts_ here, the terms of the forward pass in their order",
    "pruning_pass_record_": "is gcv_per_subset_, rss_per_subset_ and prune_terms_ here",
    "forward_pass": "is a part of fit here; pmethod='none' stops after it",
    "pruning_pass": "is reprune() here",
    "linear_fit": "is not available: fit a linear model to transform(X)",
    "get_penalty": "is penalty_ here",
    "summary_feature_importances": "is importance() here",
}


def _of_model(name: str) -> Any:
    def attribute(self: MarsEstimator) -> Any:
        check_is_fitted(self)
        return getattr(self.model_, name)

    return property(attribute)


def _of_rows(name: str, of_fit: str) -> Any:
    return property(lambda self: getattr(self._training_fit(name), of_fit))


def _is_of_earth(estimator: MarsEstimator) -> bool:
    return estimator._has_all_of_earth


class MarsEstimator(TransformerMixin, BaseEstimator):
    """Base class of Earth, EarthClassifier and Mars."""

    model_: MarsModel
    cv_: pd.DataFrame
    cv_tables_: dict[str, pd.DataFrame]
    degree: int
    penalty: Any
    nk: Any
    thresh: float
    missing: str
    pmethod: str
    nprune: int | None
    exhaustive_tol: float
    allowed: Any
    glm_l2: float
    nfold: int
    varmod_method: str
    random_state: Any
    engine: str
    n_jobs: int | None
    takes_several_responses: ClassVar[bool] = False
    _has_all_of_earth: ClassVar[bool] = True  # pruning again, variance models, .rds files
    _engine: Engine | None = None  # one that is not to be chosen by the argument `engine`
    _fitted: Fit | None = None  # None in a loaded estimator
    _rows: RowSummary | None = None  # of a loaded estimator
    _data: TrainingData | None = None

    # The parts of `model_` under the names that scikit-learn's users look for.
    terms_ = _of_model("selected_names")
    term_coef_ = _of_model("coef")
    dirs_, cuts_ = _of_model("dirs"), _of_model("cuts")
    selected_terms_ = _of_model("selected")
    rss_, rsq_ = _of_model("rss"), _of_model("rsq")
    gcv_, grsq_ = _of_model("gcv"), _of_model("grsq")
    response_names_ = _of_model("response_names")
    rss_per_response_ = _of_model("rss_per_response")
    rsq_per_response_ = _of_model("rsq_per_response")
    gcv_per_response_ = _of_model("gcv_per_response")
    grsq_per_response_ = _of_model("grsq_per_response")
    rss_per_subset_ = _of_model("rss_per_subset")
    gcv_per_subset_ = _of_model("gcv_per_subset")
    prune_terms_ = _of_model("prune_terms")
    n_terms_ = n_coef_ = _of_model("n_terms")
    nominal_df_ = _of_model("nominal_df")
    nk_, penalty_ = _of_model("nk"), _of_model("penalty")
    termcond_ = _of_model("termcond")
    engine_ = _of_model("engine")
    trace_ = property(lambda self: float(self.model_.n_terms))
    # The training rows, which a loaded estimator does not have.
    bx_ = _of_rows("bx_", "bx")
    fitted_values_ = _of_rows("fitted_values_", "fitted")
    residuals_ = _of_rows("residuals_", "residuals")
    leverages_ = _of_rows("leverages_", "leverages")
    weights_ = _of_rows("weights_", "weights")

    @property
    def versions_(self) -> dict[str, str]:
        """Versions of the software that computed the fit."""
        return {"pyearthdof": __version__} | dict(self.model_.versions)

    @property
    def glm_coef_(self):
        """Coefficients of the generalised linear model."""
        return self._glm.coef

    @property
    def glm_(self) -> pd.DataFrame:
        """Statistics of the generalised linear model, one row per response."""
        return self._glm.to_frame(self.model_.response_names)

    @property
    def _glm(self) -> GlmPart:
        if self.model_.glm is None:
            raise AttributeError("this model has no generalised linear model: fit with glm_family")
        return self.model_.glm

    def __new__(cls, *args, **options):
        """Raise errors for unknown arguments, and name ours for those of R and py-earth."""
        for name, value in options.items():
            if name in OURS:
                raise TypeError(f"{cls.__name__}() got {_other_name(name, value)}")
            if name not in cls._argument_names():
                raise TypeError(f"{cls.__name__}() got an unexpected keyword argument {name!r}")
        return super().__new__(cls)

    def __getattr__(self, name: str) -> Any:
        """Raise errors for attributes of py-earth that name ours."""
        ours = OUR_ATTRIBUTES.get(name) or OURS.get(name)
        if ours is not None and not hasattr(type(self), name):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}: {name} {ours}")
        return object.__getattribute__(self, name)  # raises the error once more

    def _refuse_others(self, others: dict[str, Any]) -> None:
        """Raise an error for arguments that `fit` does not have, naming ours for py-earth's."""
        for name, value in others.items():
            if name in OURS:
                raise TypeError(f"fit() got {_other_name(name, value)}")
            raise TypeError(f"fit() got an unexpected keyword argument {name!r}")

    def _set_arguments(self, arguments: dict[str, Any]) -> None:
        """Set the arguments of the constructor from its `locals()`."""
        for name in self._argument_names():
            setattr(self, name, arguments[name])

    def set_params(self, **params):
        """Set arguments, `params`, as in scikit-learn; for names of py-earth and R, errors name ours."""
        for name, value in params.items():
            if name in OURS:
                raise InvalidInputError(f"set_params() got {_other_name(name, value)}")
        return super().set_params(**params)

    @classmethod
    @functools.cache
    def _argument_names(cls) -> list[str]:
        """Return the argument names; cached, because inspection takes a sixth of a small fit."""
        return cls._get_param_names()

    # fitting

    def _fit(self, data: TrainingData, options: EarthOptions | None = None) -> None:
        """Fit and set the fitted attributes; options are validated unless given."""
        if data.formula is not None:
            frame = cast("FormulaData", data).frame
            warn_of_columns(frame, data.formula.raw_columns.columns)
        if options is None:
            options = self._options_for(data.design, data.all_responses.matrix)
        engine = self._engine or choose_engine(self.engine, options)
        seed = self._seed() if options.nfold > 1 else None
        n_threads = check_jobs(self.n_jobs)
        with CollectedWarnings() as heard:
            fit = engine.fit(data, options, seed=seed, n_threads=n_threads)
        weights = data.case_weights(len(fit.model.response_names))
        self._learn(fit.with_rows(data.ranges(), weights, weights_kept(data, options)), data)
        self._warn(heard, options)
        if data.formula is not None:
            self._take_formula(cast("FormulaData", data))

    def _fit_copy(
        self, data: TrainingData, options: EarthOptions | None = None, **changes: Any
    ) -> Self:
        """Return a copy with `changes` of the arguments, fitted to data validated by this estimator.

        `options`, if given, are the validated options of this estimator; changes are then not validated.
        """
        copy = clone(self).set_params(**changes)
        self._hand_over(copy)
        copy._fit(data, None if options is None else replace(options, **changes))
        return copy

    def _warn(self, heard: list[tuple], options: EarthOptions) -> None:
        if self.model_.glm is not None:
            heard = with_separation(heard, self.model_, self.bx_, options)
        for message in heard:
            warn_user(*message)

    def _refuse_indicators(self) -> None:
        if self.missing != "raise":
            raise refusal("missing", self.missing, "'raise' with a formula")

    def _take_formula(self, data: FormulaData) -> None:
        """Set the fitted attributes that depend on the data frame of a formula."""
        self._take_names(self.model_)
        if not data.gives(self.model_.basis, self.bx_):
            raise FittingError(
                f"the formula {data.learned.formula.text!r} gives other columns for new data than for the "
                "fit; please report it, and use a matrix of predictors meanwhile"
            )
        if data.learned.classes is None:
            self.levels_ = response_levels(data.responses)
        else:
            self.classes_ = data.learned.classes

    def _take_names(self, model: MarsModel, names: Sequence[str] | None = None) -> None:
        """Set the predictors of a model that was not fitted from our design."""
        raw = model.raw_names
        self.n_features_in_ = len(raw)
        if names is None and (model.columns or model.formula or raw != default_names(len(raw))):
            names = raw
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)

    def _learn(self, fit: Fit, data: TrainingData | None = None) -> None:
        """Set the fitted attributes from a fit."""
        self.model_, self._fitted, self._data, self._rows = fit.model, fit, data, None
        if fit.cv is not None:
            self.cv_, self.cv_tables_ = cv_frames(fit.cv)

    def _options_for(self, design: Design, Y: np.ndarray | None = None) -> EarthOptions:
        """Return the validated options for a design and the (n, m) responses of all rows, one by default."""
        params = self._params()
        _expand_names(params, design.columns)
        gaps = () if design.columns is None else design.columns.gaps
        n_resp, pairs = 1, False
        if Y is not None:
            family = params["glm_family"]
            n_resp, pairs = Y.shape[1], family is not None and is_pairs(Y, family)
        return check_options(
            params, design.names, len(design.values), n_resp, pairs=pairs, gaps=gaps
        )

    def _params(self) -> dict[str, Any]:
        """Return the effective arguments."""
        return {name: getattr(self, name) for name in self._argument_names()}

    def _settings(self) -> dict[str, Any]:
        """Return the options of the fit and its seed, for the R code of a report."""
        model, params = self.model_, self._params()
        _expand_names(params, model.columns)
        seed = params["random_state"]
        try:
            options = check_options(
                params, model.feature_names, model.n_samples, len(model.response_names)
            )
        except InvalidInputError:  # the file of a model alone does not have all arguments
            options = None
        return {
            "options": options,
            "seed": int(seed) if isinstance(seed, (int, np.integer)) else None,
        }

    def _seed(self) -> int:
        """Return the seed of R's cross-validation: random_state itself if it is a number."""
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    @available_if(_is_of_earth)
    def reprune(self, *, penalty=None, nprune=None, pmethod=None):
        """Return a new estimator with the same forward pass, pruned again (R's `update` with ponly).

        Parameters
        ----------
        penalty, nprune, pmethod
            As in the constructor; None keeps the current value.

        Notes
        -----
        Does not cross-validate. Requires the training data: a fitted estimator keeps copies of y and the
        weights and a reference to X, which are not pickled unless keepxy=True. Raises an error if X was
        modified since the fit.
        """
        check_is_fitted(self)
        self._refuse_merged("reprune")
        data = self._training_data()
        given = {"penalty": penalty, "nprune": nprune, "pmethod": pmethod}
        given = {name: value for name, value in given.items() if value is not None}
        again = clone(self).set_params(nfold=0, ncross=1, varmod_method="none", **given)
        self._prune_again(again, data)
        return again

    @available_if(_is_of_earth)
    def update(self, *, formula=None, ponly=False, **options):
        """Return a new estimator, fitted to the same data with other options (R's `update`).

        Parameters
        ----------
        formula : str, optional
            For a model from a formula: a new formula, in which dots stand for the sides of the old one, such
            as ". ~ . - x", or "~ . - x" with the same response.
        ponly : bool
            Only prune again, without a forward pass; with nfold, the folds prune the terms found on all
            rows. As in R, this is the default if the only options are those of the glm, nprune, pmethod,
            get_leverages and exhaustive_tol, unless nfold is also given: then every fold has its own forward
            pass. `random_state` and `n_jobs`, which R does not have, do not matter for this rule.
        **options
            Arguments of the constructor; the others keep their values.

        Notes
        -----
        Requires the training data, as `reprune`.

        Examples
        --------
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> model = Earth(engine="native").fit(x, x[:, 0] * x[:, 1])
        >>> model.update(degree=2).n_terms_ > model.n_terms_
        True
        """
        check_is_fitted(self)
        self._refuse_merged("update")
        unknown = sorted(set(options) - set(self._argument_names()))
        if unknown:
            raise InvalidInputError(
                f"{unknown[0]}={options[unknown[0]]!r} but {type(self).__name__} has no such argument"
            )
        check_flag("ponly", ponly)
        data = self._training_data()
        if formula is not None:
            data = data.with_formula(formula)
        given = set(options) - {"random_state", "n_jobs"}
        prune_only = given.issubset(of_stage("prune", "glm")) and (
            not given or self.nfold in (0, 1)
        )
        if not ponly and (formula is not None or not prune_only):
            return self._fit_copy(data, **options)
        again = clone(self).set_params(**options)
        self._prune_again(again, data)
        return again

    def _refuse_merged(self, name: str) -> None:
        """Raise an error if `name` requires the forward pass of a single model."""
        if self.model_.is_merged:
            raise InvalidInputError(
                f"{name} needs the forward pass of one model, but this one is made of several: fit "
                "AutoEarth with n_models=1 and one response"
            )

    def _prune_again(self, again: MarsEstimator, data: TrainingData) -> None:
        """Set the fitted attributes of `again` by the pruning pass alone."""
        options = again._options_for(data.design, data.all_responses.matrix)
        before = self._training_fit("reprune")
        by_r = before.r_object is not None and not options.only_native
        if options.only_r and not by_r:
            raise InvalidInputError(f"{options.only_r} needs a model that R has fitted: fit again")
        if options.pmethod == "cv" and not 1 <= (options.nprune or 0) <= len(before.model.dirs):
            allowed = (
                f"an integer from 1 to {len(before.model.dirs)} to prune again with pmethod='cv'"
            )
            raise refusal("nprune", options.nprune, allowed)
        engine = engine_called("r" if by_r else "native")
        seed = again._seed() if options.nfold > 1 else None
        n_threads = check_jobs(again.n_jobs)
        with CollectedWarnings() as heard:
            fit = engine.reprune(before, data, options, seed, n_threads)
        self._hand_over(again)
        kept = weights_kept(data, options)
        again._learn(fit.with_rows(self.model_.ranges, before.weights, kept), data)
        again._warn(heard, options)

    def _hand_over(self, again: MarsEstimator) -> None:
        """Copy the fitted attributes that depend on the data alone."""
        for name in ("n_features_in_", "feature_names_in_", "classes_", "levels_"):
            if hasattr(self, name):
                setattr(again, name, getattr(self, name))

    def _training_data(self) -> TrainingData:
        if self._data is None:
            raise InvalidInputError(
                "the training data are not available: this model was loaded from a file or from R; fit "
                "again, or pickle the estimator, fitted with keepxy=True"
            )
        if not self._data.is_unchanged():
            raise InvalidInputError(
                "the training data were changed in place since the fit; fit again"
            )
        return self._data

    def _training_fit(self, name: str) -> Fit:
        """Return the fit with its training rows, which `name` requires."""
        if self._fitted is not None:
            return self._fitted
        if "model_" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        error = TrainingRowsError(
            f"{name} needs the training rows, and this model was loaded from a file without them: fit "
            "again, or pickle the estimator"
        )
        # Python's "Did you mean" names a method that needs them, too.
        error.name, error.obj = "", None
        raise error

    def __getstate__(self):
        state = dict(super().__getstate__())
        if not getattr(self, "keepxy", False):
            state.pop("_data", None)
        return state

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.takes_several_responses
        tags.input_tags.allow_nan = getattr(self, "missing", "raise") == "indicator"
        return tags

    def _check_fitted(self) -> None:
        """Run scikit-learn's check only if it will raise: it takes longer than a prediction."""
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)

    # prediction

    def _predict(self, X, type, missing, thresh, extrapolate):
        """Predict as `Earth.predict`."""
        self._check_fitted()
        propagate = check_missing(missing)

        def checked(rows):
            return within_range(self.model_, check_new_data(self, rows), extrapolate)

        if type == "terms":
            index = X.index if isinstance(X, pd.DataFrame) else None
            return additive_terms(self.model_, checked(X), index)
        if type == "class":
            return self._predict_class(X, thresh, missing, extrapolate)
        if not propagate:
            return self.model_.predict(checked(X), type)
        return predict_complete_rows(
            self.model_, X, lambda rows: self.model_.predict(checked(rows), type)
        )

    def _predict_class(self, X, thresh, missing, extrapolate) -> np.ndarray:
        levels = getattr(self, "levels_", None)
        if levels is None:
            raise InvalidInputError(
                "type='class' but it should be one of response, link, earth, terms: y was no factor, no "
                "truth values and no two numbers that differ by 1"
            )
        if isinstance(thresh, bool) or not np.isreal(thresh) or not np.isfinite(thresh):
            raise refusal("thresh", thresh, "a number")
        raw = self._predict(X, "response", missing, thresh, extrapolate)
        if np.isnan(raw).any():
            raise InvalidInputError("missing='propagate' but a class cannot be missing")
        chosen = (raw > thresh).astype(int) if raw.ndim == 1 else raw.argmax(axis=1)
        return np.asarray(levels)[chosen]

    @available_if(_is_of_earth)
    def predict_interval(
        self, X=None, level=0.95, kind="prediction", type="response"
    ) -> pd.DataFrame:
        """Compute intervals from the variance model (`varmod_method`), without R except for a gam.

        Parameters
        ----------
        X : array or DataFrame, optional
            New rows; None stands for the training rows.
        level : float
            Coverage, between 0 and 1.
        kind : {"prediction", "confidence"}
            Interval for a new observation, or for its mean.
        type : {"response", "link", "earth"}
            Centre of the intervals. Generalised linear models support only "earth", the least-squares fit;
            otherwise all three are the same.

        Returns
        -------
        DataFrame
            `fit`, `lower` and `upper`.

        Notes
        -----
        With z the quantile of the normal distribution, a prediction interval is fit +- z sd(x), with the
        standard deviation sd(x) of `predict_sd`. A confidence interval at a training row is R's, fit +- z s,
        where s is the standard deviation of its out-of-fold predictions over the repetitions of
        cross-validation. At new rows, where R has no confidence intervals, it is fit +- z sd(x) sqrt(h(x))
        with the leverage h(x) = b(x)'(B'WB)^-1 b(x), where b(x) are the terms at x, B those of the training
        rows, and W the case weights. It treats the terms as fixed and ignores the search.

        Examples
        --------
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.linspace(0, 1, 100)[:, None]
        >>> y = x[:, 0] * (1 + np.random.default_rng(0).normal(size=100) / 9)
        >>> model = Earth(nfold=5, ncross=5, varmod_method="lm", random_state=1).fit(x, y)
        >>> model.predict_interval([[0.2], [0.8]]).round(3)
             fit  lower  upper
        0  0.202  0.154  0.251
        1  0.817  0.637  0.997
        >>> model.predict_sd([[0.2], [0.8]]).round(3)
        array([0.025, 0.092])
        """
        check_is_fitted(self)
        level = check_level(level)
        check_choice("kind", kind, KINDS)
        new, by_r = self._rows_of_intervals(X, type)
        fit = functools.partial(self._training_fit, "predict_interval")
        tables, method = getattr(self, "cv_tables_", {}), self.varmod_method
        table = interval_table(self.model_, fit, tables, new, level, kind, method, by_r)
        return table.set_axis(X.index) if isinstance(X, pd.DataFrame) else table

    @available_if(_is_of_earth)
    def predict_sd(self, X=None) -> np.ndarray:
        """Compute standard deviations of new observations (R's predict(interval="se")).

        Parameters
        ----------
        X : array or DataFrame, optional
            New rows; None stands for the training rows.

        Examples
        --------
        See `predict_interval`.
        """
        check_is_fitted(self)
        new, by_r = self._rows_of_intervals(X, "earth")
        fit = functools.partial(self._training_fit, "predict_sd")
        return standard_deviations(self.model_, fit, new, by_r)

    def _rows_of_intervals(self, X, type):
        """Return the new rows or None, and R's predict at them."""
        r_object = None if self._fitted is None else self._fitted.r_object
        method = self.varmod_method
        check_variance_model(self.model_, method, type, has_r_object=r_object is not None)
        from .engines.r.engine import predict_interval

        new = None if X is None else check_new_data(self, X)
        if new is None and self.model_.selection is not None:
            new = self._training_data().design.values
        by_r = functools.partial(predict_interval, self.model_, r_object, new, method)
        return new, by_r

    def transform(self, X):
        """Evaluate the selected terms at the rows of X: an (n, n_terms_) matrix."""
        check_is_fitted(self)
        return self.model_.basis(check_new_data(self, X))

    def get_feature_names_out(self, input_features=None):
        """Return the names of the columns of `transform`: R's names of the selected terms.

        `input_features` is ignored.
        """
        check_is_fitted(self)
        return np.array(self.terms_, dtype=object)

    # what a fitted model shows

    def summary(
        self, *, details=False, style="h", decomp="anova", digits=7, fixed_point=True
    ) -> Summary:
        """Return R's summary of the model, with or without R.

        If there is a variance model, the summary includes the standard errors of its coefficients, the
        lengths of the prediction intervals, and the proportions of responses inside them. The result is a
        str, which notebooks display with the terms drawn.

        Parameters
        ----------
        details : bool
            For a generalised linear model: include earth's coefficients and R's table of the glm, which
            requires the training rows.
        style : {"h", "pmax", "max", "C", "bf"}
            "h" is a table of coefficients, the others are formulas as in `format`.
        decomp : {"anova", "none"}
            Order of the terms: by degree and predictor, or as found.
        digits : int
            Significant digits.
        fixed_point : bool
            Omit coefficients that are negligible relative to the largest.

        Examples
        --------
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> print(Earth().fit(x, x[:, 0] + 0.1 * x[:, 1] ** 2).summary())  # doctest: +ELLIPSIS
        Call: ...
        <BLANKLINE>
                         coefficients
        (Intercept)         0.8604269
        h(0.916655-x1)     -0.9998561
        h(x1-0.916655)      0.9995384
        h(-0.049801-x2)     0.2026489
        h(x2- -0.049801)    0.1749666
        <BLANKLINE>
        Selected 5 of 5 terms, and 2 of 2 predictors
        Termination condition: RSq changed by less than 0.001 at 5 terms
        Importance: x1, x2
        Number of terms at each degree of interaction: 1 4 (additive model)
        GCV 0.001413273    RSS 0.1170331    GRSq 0.9985615    RSq 0.9987846
        """
        check_is_fitted(self)
        check_choice("style", style, STYLES)
        check_choice("decomp", decomp, DECOMPOSITIONS)
        check_flag("details", details)
        check_flag("fixed_point", fixed_point)
        check_digits(digits)
        given = {"decomp": decomp, "digits": digits}
        if (r_object := self._printed_by_r()) is not None:
            from .engines.r.engine import summary_text

            given |= {"details": details, "style": style, "fixed.point": fixed_point}
            return Summary.of(summary_text(r_object, given), self.model_)
        glm_fits = self._glm_fits() if details and self.model_.glm is not None else None
        formulas = None
        if style != "h":
            formulas = formulas_of(self.model_, style, **given, earth_version=_earth_version(style))
        layout = Layout(details, decomp, digits, fixed_point, formulas)
        text = estimator_summary(self, self._row_summary(), glm_fits, layout)
        return Summary.of(text, self.model_)

    def _printed_by_r(self) -> bytes | None:
        """Return R's object if R can print its summary.

        R fails for an infinite GCV, and for a variance model of dependent columns with more than two
        coefficients.
        """
        fit = self._fitted
        if fit is None or fit.r_object is None or not bridge.is_available():
            return None
        errors = fit.varmod_errors
        dependent = errors is not None and len(errors.stderr) > 2 and np.isnan(errors.stderr).any()
        stops = dependent or not np.isfinite(self.model_.gcv_per_subset).all()
        return None if stops else fit.r_object

    def _glm_fits(self):
        """Return the generalised linear models with standard errors, from the training rows."""
        if self._data is None:
            return None
        from .engines.native.engine import model_slopes
        from .engines.native.glm_fit import fit_glms_again

        data = self._data
        options = self._options_for(data.design, data.all_responses.matrix)
        return fit_glms_again(self.bx_, data, options, model_slopes(self.model_, options))

    def _row_summary(self, *, whole: bool = False) -> RowSummary:
        """Return statistics of the training rows; anova and importance only if `whole`."""
        if self._rows is not None:
            return self._rows
        fit = self._training_fit("this")
        errors, varmod = fit.varmod_errors, None
        if self.model_.varmod is not None and errors is not None and fit.sd is not None:
            varmod = VarianceShown.of(errors, fit.sd, fit.fitted, fit.residuals)
        return RowSummary(
            pd.DataFrame(self.anova()) if whole else None,
            self.feature_importances_ if whole else None,
            fit.weights_kept,
            None if self._data is None else self._data.offset,
            varmod,
        )

    def format(self, style="h", *, decomp="anova", digits=7, use_names=True, colon_char=":") -> str:
        """Return the model as a formula, the text of R's `format(fit, style)`.

        Parameters
        ----------
        style : {"h", "pmax", "max", "C", "bf"}
            Hinges as h(x-c), as R's pmax, as max, as C code, or as a list of basis functions.
        decomp, digits
            As in `summary`.
        use_names : bool
            Use the names of the predictors instead of x[,1], x[,2], ...
        colon_char : str
            Replacement for the colon in names of interactions.
        """
        check_is_fitted(self)
        given = {
            "use_names": use_names,
            "colon_char": colon_char,
            "earth_version": _earth_version(style),
        }
        return format_model(self.model_, style, decomp=decomp, digits=digits, **given)

    def __str__(self) -> str:
        if "model_" not in vars(self):
            return repr(self)
        lines = [str(self.model_)]
        if hasattr(self, "cv_tables_"):
            lines += printed_folds(self.model_, self.cv_tables_, getattr(self, "nprune", None))
        return "\n".join(lines)

    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + self._terms_html()

    def _repr_mimebundle_(self, **kwargs) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += self._terms_html()
        return bundle

    def _terms_html(self) -> str:
        return model_html(self.model_) if "model_" in vars(self) else ""

    def report(self, path, X=None, y=None, *, df=None, level=0.95, title=None) -> None:
        """Write the model as one HTML page to the file `path`, replacing an existing one atomically.

        The page is self-contained and works offline. It shows the equation in words and in mathematics,
        effects, importance, model selection, cross-validation, residuals or calibration, degrees of freedom,
        the R code of the same model, and an explorer with a control for each predictor, which updates the
        prediction, its interval and the contributions of the terms. For loaded models, parts that need the
        training rows are omitted with a note.

        Parameters
        ----------
        path : str or path
        X : array or DataFrame, optional
            Other rows, such as a test set, to predict and to offer in the explorer.
        y : array, (n,) or (n, m), optional
            Responses or classes of these rows, to compare with the predictions.
        df : PenaltyCorrection, DegreesOfFreedom or SelfConsistency, optional
            Actual degrees of freedom to show next to the nominal ones.
        level : float, default 0.95
            Coverage of bands and intervals, if there is a variance model.
        title : str, optional
            Heading of the page.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> model = Earth(engine="native").fit(x, np.abs(x[:, 0]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.report(f"{folder}/model.html", title="A first model")
        ...     page = Path(folder, "model.html").read_text()
        >>> "<h1>A first model</h1>" in page, "http" in page.partition("</head>")[2]
        (True, False)
        """
        check_is_fitted(self)
        write_report(self, path, X, y, df=df, level=level, title=title)

    def predict_deriv(self, X, variables=None, *, type="response"):
        """Compute derivatives of the predictions at the rows of X, of shape (n, variables, responses).

        The derivatives are exact and the shape is that of py-earth. At a knot, the derivative is the slope to
        its right.

        Parameters
        ----------
        X : as in `predict`
        variables : name, index or a list of these, optional
            Columns to differentiate by, by default all numeric ones. For a formula, these are the columns
            that enter it untransformed and nowhere else.
        type : {"response", "link", "earth"}
            For a generalised linear model: derivative of the mean, of the linear predictor, or of the
            least-squares fit.

        Examples
        --------
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.linspace(0, 1, 101)[:, None]
        >>> model = Earth(minspan=1, engine="native").fit(x, 3 * np.maximum(x[:, 0] - 0.5, 0))
        >>> model.predict_deriv([[0.2], [0.9]]).ravel().round(6).tolist()
        [0.0, 3.0]
        """
        check_is_fitted(self)
        return self.model_.predict_deriv(check_new_data(self, X), variables, type)

    def contributions(self, X) -> pd.DataFrame:
        """Compute the contribution of each term to the predictions at the rows of X, intercept first.

        The columns sum to `predict(X)`; for a generalised linear model, to the linear predictor,
        `predict(X, type="link")`. Several responses have two column levels: response and term.

        Examples
        --------
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> model = Earth(engine="native").fit(x, 1 + 2 * x[:, 0])
        >>> model.contributions([[3.0, 0.0]]).round(6)
           (Intercept)   x1
        0          1.0  6.0
        """
        check_is_fitted(self)
        index = X.index if isinstance(X, pd.DataFrame) else None
        return term_contributions(self.model_, check_new_data(self, X), index)

    def residuals(self, type="earth"):
        """Return the residuals of the training rows, R's `residuals(fit, type)`.

        Parameters
        ----------
        type : {"earth", "deviance", "response", "standardize", "delever", "pearson", "working", "partial", \
"glm.response", "glm.pearson", "glm.working", "glm.partial"}
            "earth": residuals of the least-squares fit. "deviance" and "response": of the generalised
            linear model, if any, otherwise of the least-squares fit; "pearson", "working" and "partial"
            require a generalised linear model. "delever" divides by the square root of 1 - leverage.
            "standardize" also divides by the standard error of the variance model; with a gam it requires R.

        Returns
        -------
        (n,) or (n, m) array; for "partial", a DataFrame with one column per term.
        """
        check_is_fitted(self)
        check_choice("type", type, TYPES)
        fit, model = self._training_fit("residuals_"), self.model_
        if type == "standardize":
            return self._standardized_residuals(fit)
        offset = None if self._data is None else self._data.offset
        has_offset = model.formula is not None and model.formula.has_offset
        if has_offset and self._data is None and model.glm is not None and type != "earth":
            raise InvalidInputError(
                f"type={type!r} but the training data, and the offset, are not available"
            )
        return fit_residuals(
            model, type, fit.residuals, fit.glm_y, fit.bx, fit.leverages, fit.weights, offset
        )

    def _standardized_residuals(self, fit: Fit) -> np.ndarray:
        if self.model_.varmod is not None:
            return standardized(np.ravel(fit.residuals), fit.sd, fit.leverages)
        if getattr(self, "varmod_method", "none") == "none" or fit.r_object is None:
            raise InvalidInputError(
                "type='standardize' but there is no variance model: fit with varmod_method, nfold and ncross"
            )
        # a gam, which is in R alone
        from .engines.r.engine import standardized_residuals

        bridge.require("earth")
        return standardized_residuals(fit.r_object)[:, 0]

    def coef(self, type="response", decomp="none"):
        """Return the coefficients indexed by `terms_`, the row names of R's `fit$coefficients`.

        R's `coef(fit)` has the same numbers under the names printed by `summary`: "h(a-1) * h(b-2)" for
        "h(a-1)*h(b-2)".

        Parameters
        ----------
        type : {"response", "earth", "glm"}
            "response": coefficients of the generalised linear model, if any, otherwise of the
            least-squares fit. "earth" and "glm" select one of them.
        decomp : {"none", "anova"}
            Order: as found, or by degree and predictor. (R's `coef` in earth 5.3.2 keeps the names in the
            first order.)

        Returns
        -------
        Series, or for several responses a DataFrame with one column each, of which R returns the first.

        Examples
        --------
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> Earth(engine="native").fit(x, 1 + 2 * x[:, 0]).coef().round(6)
        (Intercept)    1.0
        x1             2.0
        dtype: float64
        """
        check_is_fitted(self)
        check_choice("type", type, ("response", "earth", "glm"))
        check_choice("decomp", decomp, ("none", "anova"))
        model = self.model_
        if type == "glm" and model.glm is None:
            raise InvalidInputError("type='glm' but this is no generalised linear model")
        values = model.coef if model.glm is None or type == "earth" else model.glm.coef
        order = list(range(model.n_terms))
        if decomp == "anova":
            order = anova_order(model.dirs[model.selected], model.cuts[model.selected])
        names = [model.selected_names[k] for k in order]
        if values.ndim == 1:
            return pd.Series(values[order], index=names)
        return pd.DataFrame(values[order], index=names, columns=list(model.response_names))

    def importance(self, *, trim=True, sqrt=True):
        """Return the variable importance as a DataFrame, R's `evimp`: nsubsets, gcv, rss, used.

        Averaged models have no subsets: their columns are sd, the standard deviation over the training rows
        of the contribution of the predictor, and used.

        Parameters
        ----------
        trim : bool
            Omit predictors that are in no subset of the pruning pass.
        sqrt : bool
            Take the square root of gcv and rss before scaling them to 100.

        Examples
        --------
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> Earth(engine="native").fit(x, x[:, 0] + 0.1 * x[:, 1]).importance().round(1)
            nsubsets    gcv    rss  used
        x1         3  100.0  100.0  True
        x2         1    9.8    9.4  True
        """
        check_is_fitted(self)
        return importance_table(self.model_, trim=trim, sqrt=sqrt)

    @property
    def feature_importances_(self):
        """Importance by GCV of each column of X as a share of the total, summed over a factor's columns.

        Used by scikit-learn's SelectFromModel and RFE. If no subset improves GCV, importance by RSS is used;
        if no column is used, all shares are 0.
        """
        check_is_fitted(self)
        model = self.model_
        if self._rows is not None and self._rows.importances is not None:
            return self._rows.importances
        if model.n_terms > 1 and model.prune_terms.size == 0 and not model.is_merged:
            from .engines.native.engine import pruned_again

            model = pruned_again(model, self.bx_, self.fitted_values_ + self.residuals_)
        return feature_importances(model)

    def anova(self):
        """Return Friedman's ANOVA decomposition: terms grouped by the predictors they use.

        Returns
        -------
        DataFrame
            One row per group: the number of `terms`, the standard deviation `sd` of its contribution over
            the training rows, and the `gcv` of the model without it, to compare with `gcv_`. Averaged models
            have no column `gcv`.

        Examples
        --------
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> table = Earth(engine="native").fit(x, np.abs(x[:, 0]) + x[:, 1]).anova()
        >>> list(table.index), list(table.columns)
        (['x1', 'x2'], ['terms', 'sd', 'gcv'])
        """
        check_is_fitted(self)
        if self._rows is not None and self._rows.anova is not None:
            return self._rows.anova.copy()
        fit = self._training_fit("anova")
        return anova_table(self.model_, fit.bx, fit.fitted + fit.residuals, fit.weights)

    # files and other languages

    def to_python(self, name="predict", type="response", *, path=None) -> str:
        """Return the source of a Python function that predicts one row and imports only math.

        `name` is the name of the function and `type` its prediction, as in `predict`. With `path`, the source
        is also written to this file.

        Examples
        --------
        >>> from pyearthdof import Earth
        >>> from pyearthdof.datasets import load_ozone
        >>> model = Earth.from_formula("O3 ~ temp", load_ozone(), engine="native")
        >>> scope = {}
        >>> exec(model.to_python("ozone"), scope)
        >>> round(scope["ozone"](temp=58.0), 3)
        7.577
        """
        check_is_fitted(self)
        return written(path, to_python(self.model_, name, type=type))

    def to_sympy(self, type="response"):
        """Return the model as a sympy expression; requires sympy.

        `type` is the prediction, as in `predict`.
        """
        check_is_fitted(self)
        return to_sympy(self.model_, type=type)

    def to_sql(self, type="response", dialect="ansi", *, path=None):
        """Return the model as an SQL expression for a SELECT; for several responses, a list of them.

        Parameters
        ----------
        type : {"response", "link", "earth"}
            The prediction, as in `predict`.
        dialect : {"ansi", "mysql"}
            Quoting of names and strings: "ansi" for SQLite, DuckDB and PostgreSQL, "mysql" for MySQL,
            MariaDB, BigQuery and Spark.
        path : str or path, optional
            A file to write the expression to as well; the expressions of several responses are separated by
            commas.

        Examples
        --------
        >>> from pyearthdof import Earth
        >>> from pyearthdof.datasets import load_ozone
        >>> model = Earth.from_formula("O3 ~ temp", load_ozone(), engine="native")
        >>> '"temp" > 58.0' in model.to_sql()
        True
        """
        check_is_fitted(self)
        found = to_sql(self.model_, type=type, dialect=dialect)
        written(path, found if isinstance(found, str) else ",\n".join(found))
        return found

    def to_javascript(self, name="predict", type="response", *, path=None) -> str:
        """Return the source of a JavaScript function that predicts one row, an object keyed by column.

        Parameters
        ----------
        name : str
            Name of the function.
        type : {"response", "link", "earth", "terms", "proba", "sd"}
            Result of the function: as in `predict`, the `contributions` of the terms, the probabilities of a
            classifier, or the standard deviation of a new observation (`predict_sd`).
        path : str or path, optional
            A file to write the source to as well.
        """
        check_is_fitted(self)
        return written(path, to_javascript(self.model_, name, type=type))

    def to_excel(self, path=None, X=None, *, type="response") -> dict[str, str]:
        """Return the model as formulas of a spreadsheet, or write a workbook that computes them.

        The predictors are in the columns from A on, as in X, and the formulas to the right of them: factors
        have cells for their levels, sums that are longer than the 8,192 characters of a formula are divided
        over several cells, and a generalised linear model has a cell for the linear predictor. Probabilities
        of a classifier are those of `predict_raw_proba`. An empty cell or an unknown level gives #N/A, but
        for a column with missing values in the fit. Numbers have the 15 digits that Excel reads.

        Parameters
        ----------
        path : str or path, optional
            An .xlsx file to write; needs the package openpyxl. The first row has the headings.
        X : array or DataFrame, optional
            Rows for the workbook, as in `predict`; by default one row of medians and most frequent levels,
            to be changed in the spreadsheet.
        type : {"response", "link", "earth"}
            The prediction, as in `predict`.

        Returns
        -------
        dict
            The formulas by their cells in the second row, the prediction at the end; that row may be filled
            down.

        Examples
        --------
        >>> from pyearthdof import Earth
        >>> from pyearthdof.datasets import load_ozone
        >>> model = Earth.from_formula("O3 ~ temp", load_ozone(), engine="native", nprune=2)
        >>> model.to_excel()["B2"].partition(",")[0]
        '=IF(COUNT(A2)=1'
        """
        check_is_fitted(self)
        if path is None and X is not None:
            raise InvalidInputError("X is given but path is None: the rows of X are for a workbook")
        if X is not None:
            X = check_new_data(self, X)
        return to_excel(self.model_, path, X, type=type)

    def to_onnx(self, path=None, *, type="response"):
        """Return the model as an ONNX graph in double precision; requires onnx.

        Models without factors have one input, X; models with factors one input per column, of strings for
        factors. The output is `prediction`, for a classifier `label` and `probabilities`.

        Parameters
        ----------
        path : str or path, optional
            A file to write the graph to as well.
        type : {"response", "link", "earth"}
            The prediction, as in `predict`; for a classifier, types other than the default give `prediction`.

        Returns
        -------
        onnx.ModelProto
        """
        check_is_fitted(self)
        if path in EXPORT_TYPES:
            raise InvalidInputError(f"path={path!r} but it should be a file: write type={path!r}")
        if type == "response" and hasattr(self, "classes_"):
            graph = to_onnx(self.model_, classes=self.classes_, threshold=self.threshold)
        else:
            graph = to_onnx(self.model_, type=type)
        if path is not None:
            write_whole(path, graph.SerializeToString())
        return graph

    def to_frame(self, type="response") -> pd.DataFrame:
        """Return the terms as a tidy table: one row per factor of each term, with coefficient and knot.

        Parameters
        ----------
        type : {"response", "link", "earth"}
            Coefficients of the generalised linear model, if any ("response", "link"), or of the
            least-squares fit ("earth").

        Returns
        -------
        DataFrame
            `term`, `number`, `response`, `coef`, `degree`, and for the factor `predictor`, `column`,
            `level`, `shape` ("constant", "linear", "above", "below") and `knot`.

        Examples
        --------
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.linspace(0, 1, 101)[:, None]
        >>> model = Earth(engine="native", nk=3).fit(x, np.maximum(0, x[:, 0] - 0.5))
        >>> model.to_frame()[["term", "shape", "knot"]]
                  term     shape  knot
        0  (Intercept)  constant   NaN
        1    h(x-0.52)     above  0.52
        2    h(0.52-x)     below  0.52
        """
        check_is_fitted(self)
        return term_table(self.model_, type=type)

    @available_if(_is_of_earth)
    def to_rds(self, path) -> None:
        """Write the model to `path`, an .rds file that `readRDS` reads as an earth object.

        Models fitted by R's engine are written without R; others are rebuilt in R first, without
        cross-validation and variance model. See `Earth.from_r` for an example.
        """
        check_is_fitted(self)
        self._refuse_merged("to_rds")
        from .engines.r.objects import write_rds

        write_rds(self._training_fit("to_rds"), path, self._fit_in_r)

    def _fit_in_r(self) -> Fit:
        """Return R's fit of the same data."""
        if self.glm_l2:
            raise InvalidInputError(
                f"glm_l2={self.glm_l2!r} but R has no ridge penalty: an .rds file needs glm_l2=0"
            )
        data = self._training_data()
        options = self._options_for(data.design, data.all_responses.matrix)
        with CollectedWarnings():  # the fit gave them
            return engine_called("r").fit(data, options)

    def save(self, path: str | os.PathLike) -> None:
        """Write the fitted estimator to the file `path` as JSON, replacing an existing one atomically.

        The training rows are not saved, nor anything that depends on them: `residuals`, `reprune`, `update`
        and intervals at the training rows. `MarsModel.load` also reads the file;
        `pyearthdof.mars.model.mars_model.model_schema` returns its JSON schema.
        """
        write_whole(path, self.to_json())

    def to_json(self) -> str:
        """Return the text of the file that `save` writes; numbers are stored exactly."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return EstimatorFile(
            self.model_,
            type(self).__name__,
            self.get_params(deep=False),
            None if names is None else tuple(str(name) for name in names),
            getattr(self, "classes_", None),
            getattr(self, "levels_", None),
            self._row_summary(whole=True),
            getattr(self, "cv_", None),
            getattr(self, "cv_tables_", {}),
            getattr(self, "mda_gcv_", None),
        ).to_json()

    @classmethod
    def load(cls, path: str | os.PathLike):
        """Load the file at `path`, written by `save` or `MarsModel.save`.

        Reading a file cannot run code. Methods that require the training rows raise `TrainingRowsError`.
        Files of `MarsModel.save` do not contain the classes of a classifier, so that an EarthClassifier
        cannot be loaded from them.

        Examples
        --------
        >>> from pyearthdof import Earth
        >>> from pyearthdof.datasets import load_ozone
        >>> model = Earth.from_formula("O3 ~ temp", load_ozone(), engine="native")
        >>> model = Earth.from_json(model.to_json())  # what `load` does with the text of a file
        >>> model.residuals_
        Traceback (most recent call last):
        pyearthdof.exceptions.TrainingRowsError: residuals_ needs the training rows, and this model was \
loaded from a file without them: fit again, or pickle the estimator
        """
        return cls.from_json(saved.read_file(path))

    @classmethod
    def from_json(cls, text: str):
        """Load the text of `to_json`, as `load` a file."""
        return cls._of_file(EstimatorFile.from_json(text))

    @classmethod
    def _of_file(cls, file: EstimatorFile):
        """Return the estimator in a file; a bare model becomes an estimator with its settings."""
        known, params = cls._argument_names(), file.params
        if file.kind is None:
            if hasattr(cls, "predict_proba"):
                raise InvalidInputError(
                    "the file contains a model but not the names of its classes: MarsModel.load reads it"
                )
            params = {name: value for name, value in params.items() if name in known}
        elif file.kind != cls.__name__:
            raise InvalidInputError(
                f"the file contains a fitted {file.kind}, so {cls.__name__} does not read it: its own load "
                "does"
            )
        estimator = cls(**check_params(known, params))
        estimator.model_, estimator._rows = file.model, file.rows
        estimator._take_names(file.model, file.feature_names_in)
        if file.classes is not None:
            estimator.classes_ = file.classes
        else:
            estimator.levels_ = file.levels
        if file.cv is not None:
            estimator.cv_, estimator.cv_tables_ = file.cv, dict(file.cv_tables)
        if file.mda_gcv is not None:
            estimator.mda_gcv_ = file.mda_gcv
        return estimator


def check_many(Y: Any, n: int) -> np.ndarray:
    """Return many responses for n rows as an (n, m) matrix of finite numbers."""
    check_kind("Y", Y)
    return check_responses(Y, n)


def _other_name(name: str, value: Any) -> str:
    return f"{name}={str(value)[:40]}, but {name} {OURS[name]}"


def search_options(
    estimator: MarsEstimator, names: Sequence[str], columns: Columns | None = None
) -> dict[str, Any]:
    """Return the options that determine the forward pass, with `linpreds` as column numbers.

    `names` are the expanded columns, `columns` the factors that they come from.
    """
    options = {name: getattr(estimator, name) for name in SEARCH_OPTIONS}
    _expand_names(options, columns)
    options["linpreds"] = linear_predictors(options["linpreds"], names)
    options["monotone"] = monotone_columns(options["monotone"], names)
    options["interactions"] = interacting_groups(options["interactions"], names)
    return options


def weights_kept(data: TrainingData, options: EarthOptions) -> np.ndarray | None:
    """Return the case weights that R keeps with a fit, as given; None if it uses none.

    They cover all rows, for a glm only the rows of the fit. R does not cross-validate subsets, so folds
    cover the rows of the fit as well.
    """
    folds = options.nfold > 1
    given = data.training_weights if folds else data.all_weights
    Y = (data.responses if folds else data.all_responses).matrix
    weights = np.ones(len(Y)) if given is None else given
    family = options.glm_family
    used = weights
    if family is not None and is_pairs(Y, family):
        used = weights * Y.sum(axis=1)
    if not options.force_weights and (given is None or not differ(used)):
        return None
    return weights if folds or options.glm_family is None else taken(weights, data.subset)


def _expand_names(params: dict[str, Any], columns: Columns | None) -> None:
    """Replace names of raw factors by those of their columns, in all options that name columns."""
    params["linpreds"] = _expanded_names(params["linpreds"], columns)
    groups = params["interactions"]
    if isinstance(groups, list | tuple) and not any(isinstance(group, str) for group in groups):
        params["interactions"] = [_expanded_names(group, columns) for group in groups]


def _expanded_names(linpreds: Any, columns: Columns | None) -> Any:
    """Replace names of raw factors in linpreds by those of all their columns."""
    if columns is None or linpreds is None or isinstance(linpreds, (bool, int)):
        return linpreds
    values = [linpreds] if isinstance(linpreds, str) else list(linpreds)
    expanded = []
    for value in values:
        pairs = zip(columns.feature_names, columns.sources, strict=True)
        of_factor = [name for name, source in pairs if source.raw == value]
        expanded += of_factor or [value]
    return expanded


def _earth_version(style: str) -> str | None:
    """Return the version of the installed earth, which determines the table of style "bf"."""
    return bridge.installed_version("earth") if style == "bf" else None
