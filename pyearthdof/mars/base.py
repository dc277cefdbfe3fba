"""What Earth and EarthClassifier share: the options, the choice of an engine, the fit and what follows it."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .. import bridge
from .._utils.checks import check_choice, check_flag, check_jobs
from .._utils.warnings import CollectedWarnings, warn_user
from ..exceptions import FittingError, InvalidInputError, RWarning
from .components.glm import is_pairs
from .data.advice import warn_of_columns
from .data.classes import response_levels
from .data.design import Design, default_names, differ, taken
from .data.ranges import Ranges
from .engines.r import objects as robject
from .engines.r.training_data import FormulaData, TrainingData
from .engines.separation import give_warnings
from .intervals import MarsIntervals
from .model.mars_model import MarsModel
from .options import SEARCH_OPTIONS, EarthOptions, check_options, linear_predictors
from .other_names import KnowsOtherNames

__all__ = ["EarthFit", "search_options", "weights_kept", "weights_of_pairs"]

ENGINES = ("auto", "r", "native")
# R prunes again, without a forward pass, where nothing else is changed.
PRUNE_ONLY = {
    "glm_family", "glm_link", "glm_maxit", "glm_epsilon", "glm_l2", "nprune", "pmethod", "get_leverages",
    "exhaustive_tol",
}  # fmt: skip


class EarthFit(MarsIntervals, KnowsOtherNames):
    """The arguments of earth, and a fit with them."""

    _data: TrainingData | FormulaData

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
        self.response_weight = response_weight
        self.glm_family = glm_family
        self.glm_link = glm_link
        self.glm_maxit = glm_maxit
        self.glm_epsilon = glm_epsilon
        self.glm_l2 = glm_l2
        self.nfold = nfold
        self.ncross = ncross
        self.stratify = stratify
        self.varmod_method = varmod_method
        self.varmod_exponent = varmod_exponent
        self.varmod_conv = varmod_conv
        self.varmod_clamp = varmod_clamp
        self.varmod_minspan = varmod_minspan
        self.force_weights = force_weights
        self.get_leverages = get_leverages
        self.exhaustive_tol = exhaustive_tol
        self.keepxy = keepxy
        self.random_state = random_state
        self.engine = engine
        self.n_jobs = n_jobs

    __init__.__qualname__ = "Earth"  # what Python calls it when it refuses an argument

    def reprune(self, *, penalty=None, nprune=None, pmethod=None):
        """Return a new estimator: the same forward pass, pruned again (R's `update` with ponly).

        Parameters
        ----------
        penalty, nprune, pmethod
            As in the constructor; what is None stays as it is.

        Notes
        -----
        There is no cross-validation in it. The training data are needed: a fitted estimator keeps copies of
        y and the weights and refers to X, but leaves all of them out when it is pickled, unless it was made
        with keepxy=True. An X that was changed in place since the fit is refused.

        Examples
        --------
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> model = Earth().fit(x, np.abs(x[:, 0]) + x[:, 1])
        >>> model.reprune(nprune=2).n_terms_
        2
        """
        check_is_fitted(self)
        data = self._training_data()
        given = {"penalty": penalty, "nprune": nprune, "pmethod": pmethod}
        given = {name: value for name, value in given.items() if value is not None}
        again = clone(self).set_params(nfold=0, ncross=1, varmod_method="none", **given)
        self._prune_again(again, data)
        return again

    def update(self, *, formula=None, ponly=False, **options):
        """Return a new estimator: fitted again to the same data with other options (R's `update`).

        Parameters
        ----------
        formula : str, optional
            For a model from a formula another one, in which dots stand for the sides of the old one:
            ". ~ . - x".
        ponly : bool
            Only prune again, without a forward pass. As in R that is also done where no other options are
            given than the glm's, nprune, pmethod, get_leverages and exhaustive_tol, without nfold. With
            nfold R prunes the terms of all rows again in each fold, too; here the folds are fitted anew.
        **options
            Arguments of the constructor; the others stay as they are.

        Notes
        -----
        The training data are needed, as in `reprune`.

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
        unknown = sorted(set(options) - set(self._argument_names()))
        if unknown:
            raise InvalidInputError(
                f"{unknown[0]}={options[unknown[0]]!r} but {type(self).__name__} has no such argument"
            )
        check_flag("ponly", ponly)
        data = self._training_data()
        if formula is not None:
            data = data.with_formula(formula)
        again = clone(self).set_params(**options)
        prune_only = PRUNE_ONLY.issuperset(options) and again.nfold in (0, 1) and formula is None
        if ponly or prune_only:
            again.set_params(nfold=0, ncross=1, varmod_method="none")
            self._prune_again(again, data)
        else:
            self._hand_over(again)
            again._fit(data)
        return again

    def _prune_again(self, again, data) -> None:
        """Set what the pruning pass alone learns."""
        options = data.check_options(again)
        with CollectedWarnings() as heard:
            if self.engine_ == "r" and self._r_object is not None:
                bridge.require("earth")
                model, details = data.fit_in_r(options, r_object=self._r_object)
            else:
                from .engines import native

                model, details = native.reprune(self.model_, data, options)
                model = replace(model, formula=data.formula)
        give_warnings(heard, model, details.bx, options)
        self._hand_over(again)
        model = replace(model, ranges=self.model_.ranges)
        again._learn(model, details, self.weights_, weights_kept(data, options))
        again._data = data

    def _hand_over(self, again) -> None:
        """What another fit to the same data has, too."""
        for name in ("n_features_in_", "feature_names_in_", "classes_", "levels_"):
            if hasattr(self, name):
                setattr(again, name, getattr(self, name))

    def to_rds(self, path) -> None:
        """Write the model to `path`, an .rds file which `readRDS` makes an earth object in R again.

        A model that R's engine fitted needs no R for that; another one is rebuilt in R first, without its
        cross-validation and variance model.

        There is an example in `Earth.from_r`.
        """
        check_is_fitted(self)
        robject.write_rds(self, path)

    def _fit(self, data: TrainingData) -> None:
        """Check the options, fit, and set what was learned."""
        if isinstance(data, FormulaData):
            warn_of_columns(data.frame, data.formula.raw_columns.columns)
        options = data.check_options(self)
        seed = self._seed() if options.nfold > 1 else None
        with CollectedWarnings() as heard:
            model, details = self._compute(data, options, seed)
        model = replace(model, ranges=Ranges.of_training(model, data))
        self._learn(model, details, weights_of_pairs(model, data), weights_kept(data, options))
        self._data = data
        give_warnings(heard, model, details.bx, options)
        if isinstance(data, FormulaData):
            self._take_formula(data)

    def _take_formula(self, data: FormulaData) -> None:
        """Set what a fit by a formula learns of the frame."""
        self._take_names(self.model_)
        if not data.gives(self.model_, self.bx_):
            raise FittingError(
                f"the formula {data.formula.text!r} gives other columns for new data than for the fit; "
                "please report it, and use a matrix of predictors meanwhile"
            )
        if data.learned.classes is None:
            self.levels_ = response_levels(data.responses)
        else:
            self.classes_ = data.learned.classes

    def _take_names(self, model: MarsModel) -> None:
        """The predictors of a model that was not fitted from a design of ours."""
        names = model.feature_names if model.formula is None else model.formula.names
        if model.columns is not None:
            names = model.columns.names
        self.n_features_in_ = len(names)
        if model.columns or model.formula or names != default_names(len(names)):
            self.feature_names_in_ = np.array(names, dtype=object)

    def _compute(self, data: TrainingData, options: EarthOptions, seed):
        """The model and its details, by the engine."""
        n_jobs = check_jobs(self.n_jobs)
        if self._engine_for(options) != "native":
            return data.fit_in_r(options, seed)
        from .engines import native

        for warning in data.warnings:  # R has its own
            warn_user(warning, RWarning)
        model, details = native.fit_complete(data, options, n_jobs, seed)
        return replace(model, formula=data.formula), details

    def _options_for(self, design: Design, Y: np.ndarray | None = None) -> EarthOptions:
        """The arguments, checked for a design and the (n, m) responses of all rows, one by default."""
        params = self._params()
        params["linpreds"] = _expanded_names(params["linpreds"], design.columns)
        n_resp, pairs = (1, False) if Y is None else (Y.shape[1], is_pairs(Y, params["glm_family"]))
        return check_options(params, design.names, len(design.values), n_resp, pairs=pairs)

    def _params(self) -> dict[str, Any]:
        """The arguments as they count."""
        return {name: getattr(self, name) for name in self._argument_names()}

    @classmethod
    @functools.cache
    def _argument_names(cls) -> list[str]:
        """scikit-learn's own way inspects the constructor each time, a sixth of a small fit."""
        return cls._get_param_names()

    def _seed(self) -> int:
        """The seed of R's cross-validation: random_state itself if it is a number."""
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _training_data(self) -> TrainingData | FormulaData:
        data = getattr(self, "_data", None)
        if data is None:
            raise InvalidInputError(
                "the training data are not here: this model was loaded from a file or from R; fit again, or "
                "pickle the estimator, fitted with keepxy=True"
            )
        if not data.is_unchanged():
            raise InvalidInputError(
                "the training data were changed in place since the fit; fit again"
            )
        return data

    def _engine_for(self, options: EarthOptions, many: bool = False) -> str:
        """The engine that fits. "auto": R where it is, but for many fits the native engine."""
        check_choice("engine", self.engine, ENGINES)
        only_r, only_native = options.only_r, options.only_native
        if self.engine == "native" and only_r:
            raise InvalidInputError(f"engine='native' but {only_r} needs engine='r'")
        if only_native and (self.engine == "r" or only_r):
            other = "engine='r'" if self.engine == "r" else f"{only_r}, which needs R,"
            raise InvalidInputError(f"{other} but {only_native} needs engine='native'")
        if only_native:
            return "native"
        if self.engine == "r" or only_r:
            bridge.require("earth")
            return "r"
        if self.engine == "auto" and not many and bridge.is_available("earth"):
            return "r"
        return "native"

    def __getstate__(self):
        state = dict(super().__getstate__())
        if not self.keepxy:
            state.pop("_data", None)
        return state


def search_options(estimator: EarthFit, names, columns=None) -> dict:
    """The options that decide what the forward pass finds, `linpreds` as column numbers.

    `names` are the columns with factors expanded, `columns` says which factors they come from.
    """
    options = {name: getattr(estimator, name) for name in SEARCH_OPTIONS}
    options["linpreds"] = linear_predictors(_expanded_names(options["linpreds"], columns), names)
    return options


def weights_of_pairs(model, data: TrainingData):
    """Case weights; successes and failures of a binomial model weigh a row by their number, too."""
    weights, responses = data.training_weights, data.responses.matrix
    if responses.shape[1] == len(model.response_names):
        return weights
    numbers = responses.sum(axis=1)
    return numbers if weights is None else numbers * weights


def weights_kept(data: TrainingData, options: EarthOptions) -> np.ndarray | None:
    """The case weights that R keeps with a fit, as they were given; None where it uses none.

    They are of all rows, but of the rows to fit on for a glm. R cross-validates no subset: its folds are of
    the rows to fit on, too.
    """
    folds = options.nfold > 1
    given = data.training_weights if folds else data.all_weights
    Y = (data.responses if folds else data.all_responses).matrix
    weights = np.ones(len(Y)) if given is None else given
    used = weights * Y.sum(axis=1) if is_pairs(Y, options.glm_family) else weights
    if not options.force_weights and (given is None or not differ(used)):
        return None
    return weights if folds or options.glm_family is None else taken(weights, data.subset)


def _expanded_names(linpreds, columns):
    """Names of raw factors in linpreds stand for all their columns."""
    if columns is None or linpreds is None or isinstance(linpreds, (bool, int)):
        return linpreds
    values = [linpreds] if isinstance(linpreds, str) else list(linpreds)
    expanded = []
    for value in values:
        pairs = zip(columns.feature_names, columns.sources, strict=True)
        of_factor = [name for name, source in pairs if source.raw == value]
        expanded += of_factor or [value]
    return expanded
