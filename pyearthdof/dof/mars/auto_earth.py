"""AutoEarth: MARS with degree and size selected by measured degrees of freedom, averaged into one model."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from ..._utils.checks import check_choice, check_count, check_jobs, is_integer, is_number, refusal
from ..._version import __version__
from ...contract import Bound, Rows
from ...exceptions import InvalidInputError
from ...mars.base import weights_kept
from ...mars.classifier import EarthClassifier
from ...mars.components.glm import (
    FAMILIES,
    OF_COUNTS,
    OF_SHARES,
    GlmPart,
    GlmStoppedError,
    is_pairs,
    respond,
)
from ...mars.components.selection import NoiseModel, SelectionPart
from ...mars.components.terms import evaluate_terms, term_names
from ...mars.data.design import Design, Responses, differ
from ...mars.data.training import TrainingData
from ...mars.earth import Earth
from ...mars.engines.native.engine import BoundNative, SubsetSequence, TermsFit
from ...mars.engines.native.glm_fit import GlmFit, fit_glm, glm_responses
from ...mars.engines.native.glm_fit import check_responses as check_glm_responses
from ...mars.model.fit import Fit
from ...mars.model.mars_model import MarsModel
from ...mars.options import EarthOptions, default_nk, of_stage
from ..criteria import CRITERIA, LARGEST
from ..montecarlo.draws import AUTHORS_SEED, NumpyDraws, RandomState, as_draws
from .averaging import (
    Choice,
    DegreeCurves,
    SteinDf,
    balanced_noise,
    merge_terms,
    stein_df,
)
from .fitted_mean import size_around_fit
from .measured_earth import MeasuredEarth, OneByOne
from .sizes import SEQUENCES, SizeChoice, SizeCurve, choose_size, measure_sizes
from .tables import is_continuous, quick_df_of_sizes, refuse_options

DESIGNS = ("data", "gaussian", "table")
VARIANCES = ("auto", "constant")
CLIP = 4.0  # standard deviations are clipped to the median divided or multiplied by this
RIDGE = (
    0.01  # penalty of the averaged generalised linear models, whose terms may separate the response
)
LEAST_LOG = 1e-4  # lower bound of squared residuals in the logarithm, relative to their mean


def forward_terms(n: int, p: int) -> int:
    """Return the maximum number of terms of the forward pass for n rows of p predictors.

    >>> forward_terms(100, 5), forward_terms(4000, 5)
    (61, 127)
    """
    return min(max(default_nk(p), 61, int(2 * math.sqrt(n)) + 1), 1000)


class AutoEarth(MeasuredEarth):
    """MARS without tuning: selected by measured degrees of freedom and averaged over several models.

    For each degree, the degrees of freedom of every size of the pruning sequence are measured on X
    (`df_of_sizes`), and AICc with these selects degree and size. The selection is repeated with the same
    curves for `n_models` responses with a little added noise, and the coefficients are averaged into one
    model, whose degrees of freedom follow from the same fits by Stein's lemma. The forward pass can be
    long, because the degrees of freedom rather than its length limit the model.

    Parameters
    ----------
    estimator : Earth or EarthClassifier, optional
        Estimator with the search options, except penalty and degree; default `Earth()`. Fits use the native
        engine, which finds R's terms.
    degrees : sequence of int, default (1, 2, 3)
        Candidate degrees of interaction.
    n_models : int, default 20
        Number of models to average. 1 returns the selected model, one readable model.
    perturbation : float, default 0.4
        Standard deviation of the added noise, as a fraction of that of the noise in the response.
    variance : {"auto", "constant"}
        "auto" models heteroscedastic noise by a MARS of the logarithms of the squared residuals, with its
        size selected by degrees of freedom. If it is more than a constant, the fits are weighted by the
        inverse variance. "constant" assumes constant variance.
    criterion : {"aicc", "covariance", "gcv", "deviance"}
        Criterion to compare degrees and sizes, see `choose_size`. "deviance", for classes and counts, selects
        the degree by "aicc" and the size by the deviance of the generalised linear model plus
        2 df n/(n - df - 1); for counts plus 2 phi df, with phi = max(1, Pearson's statistic/(n - df)) at the
        size of "aicc".
    nk : "auto", None or int
        Maximum number of terms in the forward pass. "auto" is the estimator's nk, if given, otherwise the
        maximum of earth's default, 61 and 2 sqrt(n); None is earth's default.
    thresh : float, optional
        Threshold of the forward pass, default 0.0001; None uses the estimator's.
    design : {"data", "gaussian", "table"}
        Design for measuring the degrees of freedom: X, or Gaussian designs of its shape. "table" uses the
        table of the package, for degrees 1 and 2 with earth's nk and thresh; if the columns of X are not
        continuous, it measures on X.
    mu : {None, "fitted"}
        Mean of the responses in the measurement: zero, or the fit, which is then repeated around the selected
        fit until it converges, ten times at most. "fitted" requires one model of one degree.
    n_rep : int, default 20
        Number of noise responses per degree.
    random_state : int, RandomState, Generator or None
        Seed of the noise. None is a fixed seed: fits are repeatable.
    n_jobs, progress : int or None, bool
        Number of threads, on which the result does not depend, and a progress bar of the measurement.

    Attributes
    ----------
    choice_ : SizeChoice, or tuple of them
        Selection for the response without added noise; one per response.
    degree_ : int or tuple of int
        Selected degree.
    curves_ : dict of SizeCurve
        Measured degrees of freedom of all sizes, by degree.
    df_, df_se_ : float or (m,) array
        Degrees of freedom of the fitted model, and their standard error.
    prediction_error_ : float or (m,) array
        Estimated mean squared error for new responses at the training rows: RSS/n + 2 sigma^2 df/n, or the
        mean of `predict_sd(X)^2` for heteroscedastic noise.
    noise_sd_ : (n,) array or None
        Noise standard deviations at the training rows, if found to depend on X.
    estimator_ : Earth or EarthClassifier
        The fitted estimator. Its fitted attributes (`terms_`, `model_`, ...) are available on the AutoEarth
        as well.

    Notes
    -----
    Several responses, and more than two classes, have separate searches, which predict better than common
    terms, and are merged into one model. For generalised linear models, terms are selected by least
    squares; the models are fitted to the response without added noise and averaged on the scale of the
    link.

    A model that is a mean of several, or of several responses, has no pruning sequence: `reprune` and
    `update` refuse, `gcv_` uses the measured degrees of freedom, and `importance` is the standard deviation
    of a predictor's contribution. Fits with extreme values between the training rows, as products of hinges
    can have, are excluded in favour of the best of the others.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import AutoEarth
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> y = 2 * np.maximum(X[:, 0], 0) + X[:, 1] * X[:, 2] + rng.normal(size=200)
    >>> model = AutoEarth().fit(X, y)
    >>> model.degree_, model.choice_.size, model.model_.selection.n_models
    (2, 8, 20)
    >>> one = AutoEarth(n_models=1).fit(X, y)
    >>> one.n_terms_
    8
    """

    choice_: SizeChoice | tuple[SizeChoice, ...]
    degree_: int | tuple[int, ...]

    def __init__(
        self,
        estimator: Any = None,
        *,
        degrees: Sequence[int] = (1, 2, 3),
        n_models: int = 20,
        perturbation: float = 0.4,
        variance: str = "auto",
        criterion: str = "aicc",
        nk: int | str | None = "auto",
        thresh: float | None = 1e-4,
        design: str = "data",
        mu: str | None = None,
        n_rep: int = 20,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> None:
        self.estimator = estimator
        self.degrees = degrees
        self.n_models = n_models
        self.perturbation = perturbation
        self.variance = variance
        self.criterion = criterion
        self.nk = nk
        self.thresh = thresh
        self.design = design
        self.mu = mu
        self.n_rep = n_rep
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def _fit(self, estimator: Any, data: TrainingData) -> None:
        search = self._search(estimator, data)
        self._learn(search, [search.select(k) for k in range(search.n_responses)])

    def bind(self, X: Rows) -> Bound:
        self._check_arguments()
        inner = clone(self._inner).set_params(penalty=None)
        first = inner._check_data(X, np.zeros(len(X)))
        search = self._search(inner, first)

        def fit(y: np.ndarray) -> np.ndarray:
            data = TrainingData(first.design, Responses(y, ("y",)))
            again = replace(search, data=data)
            each = clone(self)
            each._learn(again, [again.select(0)])
            return each.estimator_

        return OneByOne(first.design.values, fit)

    @property
    def _measured(self) -> Any:
        is_one = isinstance(self.choice_, SizeChoice) and not self.model_.is_merged
        return self.choice_ if is_one else None

    def _check_arguments(self) -> None:
        inner = self._inner
        if not isinstance(inner, (Earth, EarthClassifier)):
            raise refusal("estimator", self.estimator, "an Earth or an EarthClassifier")
        degrees = np.asarray(self.degrees)
        is_list = degrees.ndim == 1 and len(degrees) > 0 and degrees.dtype.kind in "iu"
        if not is_list or degrees.min() < 1 or degrees.max() > 10:
            raise refusal("degrees", self.degrees, "integers from 1 to 10, one at least")
        check_count("n_models", self.n_models, 1)
        check_count("n_rep", self.n_rep, 2)
        part = self.perturbation
        if not is_number(part) or not math.isfinite(part) or part <= 0:
            raise refusal("perturbation", part, "a number above 0")
        check_choice("variance", self.variance, VARIANCES)
        check_choice("criterion", self.criterion, (*CRITERIA, "deviance"))
        families = (*OF_SHARES, *OF_COUNTS)
        family = "binomial" if is_classifier(inner) else inner.glm_family
        if self.criterion == "deviance" and family not in families:
            right = (
                f"one of {', '.join(CRITERIA)} for an Earth without glm_family of classes or counts"
            )
            raise refusal("criterion", self.criterion, right)
        check_choice("design", self.design, DESIGNS)
        check_choice("mu", self.mu, (None, "fitted"))
        if self.nk not in ("auto", None) and not (is_integer(self.nk) and 1 <= self.nk <= 1000):
            raise refusal("nk", self.nk, "'auto', None or an integer from 1 to 1000")
        if self.thresh is not None and not (is_number(self.thresh) and 0 <= self.thresh < 1):
            raise refusal("thresh", self.thresh, "None or a number from 0 to below 1")
        if inner.pmethod not in SEQUENCES:
            right = f"one of {', '.join(SEQUENCES)}: the size is chosen from a pruning sequence"
            raise refusal("pmethod", inner.pmethod, right)
        for name, plain in (("nfold", 0), ("varmod_method", "none")):
            if getattr(inner, name) != plain:
                raise refusal(
                    name,
                    getattr(inner, name),
                    f"{plain!r} in AutoEarth, which has errors and intervals from degrees of freedom",
                )
        if self.mu == "fitted":
            alone = self.n_models == 1 and len(degrees) == 1 and self.design == "data"
            if not alone or is_classifier(inner) or inner.glm_family is not None:
                raise refusal(
                    "mu",
                    self.mu,
                    "None, or with n_models=1, one degree, design='data' and an Earth",
                )

    def _search(self, estimator: Any, data: TrainingData) -> _Search:
        """The parts common to all responses; invalid data are refused before any measurement."""
        Y = data.all_responses.matrix
        options = estimator._options_for(data.design, Y)
        check_glm_responses(data, options)
        if options.glm_family is not None and is_pairs(Y, options.glm_family):
            raise InvalidInputError(
                "y has two columns of counts, successes and failures, but AutoEarth takes one: the shares "
                "of successes, with their numbers as sample_weight"
            )
        weights = data.all_weights
        weights = weights if weights is not None and differ(weights) else None
        stream = as_draws(None, AUTHORS_SEED if self.random_state is None else self.random_state)
        assert isinstance(stream, NumpyDraws)  # its seed is also used for the added noise
        seed = stream.seed
        search = _Search(self, estimator, data, options, weights, seed, check_jobs(self.n_jobs), {})
        search.curves_for(weights)
        return search

    def _learn(self, search: _Search, selected: list[_Selected]) -> None:
        """Set the fitted attributes."""
        self.curves_ = search.curves_for(search.weights).curves
        one = len(selected) == 1
        if one and len(selected[0].models) == 1:
            self.estimator_, selected = search.single(selected[0])
        else:
            self.estimator_ = search.merged(selected)
        choices = tuple(each.choice for each in selected)
        degrees = tuple(choice.curve.degree for choice in choices)
        self.choice_, self.degree_ = (choices[0], degrees[0]) if one else (choices, degrees)
        part = self.estimator_.model_.selection
        for name in ("df", "df_se", "prediction_error"):
            values = getattr(part, name)
            setattr(self, f"{name}_", float(values[0]) if one else values)
        self.noise_sd_ = selected[0].noise_sd if one else None


@dataclass(frozen=True)
class _Selected:
    """The choice for one response, its models, and the degrees of freedom of their mean."""

    choice: SizeChoice
    models: list[TermsFit]
    curves: DegreeCurves
    noise: NoiseModel
    noise_sd: np.ndarray | None
    stein: SteinDf


@dataclass(frozen=True)
class _Search:
    """The search of an AutoEarth on checked data."""

    settings: AutoEarth
    estimator: Any
    data: TrainingData
    options: EarthOptions
    weights: np.ndarray | None
    seed: int
    n_threads: int
    known: dict[bytes, DegreeCurves]

    @property
    def design(self) -> Design:
        return self.data.design

    @property
    def X(self) -> np.ndarray:
        return self.data.design.values

    @property
    def n_responses(self) -> int:
        return self.data.all_responses.matrix.shape[1]

    @property
    def run(self) -> dict[str, Any]:
        """Arguments of what measures."""
        names = ("n_rep", "n_jobs", "progress")
        return {name: getattr(self.settings, name) for name in names} | {"random_state": self.seed}

    def earth_of(self, degree: int) -> Earth:
        """Return a plain Earth of a degree with the options of the search."""
        own = {name: getattr(self.estimator, name) for name in of_stage("forward", "prune")}
        own["response_weight"] = None  # every response is searched separately
        n, p = self.X.shape
        settings, nk = self.settings, own["nk"]
        if settings.design == "table":
            nk = default_nk(p) if nk is None else nk
            thresh = own["thresh"]
        else:
            thresh = own["thresh"] if settings.thresh is None else settings.thresh
            if settings.nk not in ("auto", None):
                nk = settings.nk
            elif nk is None and settings.nk == "auto":
                nk = forward_terms(n, p)
        given = {"degree": int(degree), "nk": nk, "thresh": thresh, "nprune": None}
        return Earth(**own | given | {"penalty": -1.0, "engine": "native"})

    def curves_for(self, weights: np.ndarray | None) -> DegreeCurves:
        """Return the searches and their curves for case weights, measured once."""
        key = b"" if weights is None else weights.tobytes()
        if key not in self.known:
            engines, curves = {}, {}
            for degree in sorted({int(d) for d in self.settings.degrees}):
                earth = self.earth_of(degree)
                engines[degree] = BoundNative(
                    self.X, self.design.names, earth._options_for(self.design)
                )
                curves[degree] = self._measured(earth, weights)
            n = len(self.X) if weights is None else int((weights > 0).sum())
            criterion = self.settings.criterion
            criterion = "aicc" if criterion == "deviance" else criterion
            self.known[key] = DegreeCurves(
                engines, curves, weights, criterion, n, self.estimator.nprune
            )
        return self.known[key]

    def _measured(self, earth: Earth, weights: np.ndarray | None) -> SizeCurve:
        settings, (n, p) = self.settings, self.X.shape
        looked_up = settings.design == "table" and is_continuous(self.X)
        if settings.design == "table":
            refuse_options(earth, p)
        if settings.design == "data" or (settings.design == "table" and not looked_up):
            return measure_sizes(self.design, earth, weights, None, **self.run)
        if weights is not None:
            raise InvalidInputError(
                f"design={settings.design!r} does not support weights, from sample_weight or "
                "variance='auto': design='data' does"
            )
        if settings.design == "gaussian":
            return measure_sizes((n, p), earth, None, None, **self.run)
        return quick_df_of_sizes((n, p), degree=earth.degree)

    def select(self, k: int) -> _Selected:
        """Select and fit for response number k."""
        y = np.ascontiguousarray(self.data.all_responses.matrix[:, k])
        curves = self.curves_for(self.weights)
        choice = curves.tamed(y, curves.choose(y[:, None], self.n_threads)[0])
        noise, noise_sd = None, None
        settings = self.settings
        plain = (
            self.options.glm_family is None and settings.design == "data" and settings.mu is None
        )
        if plain and settings.variance == "auto" and choice.sigma2 > 0:
            noise = self._varying_noise(curves, y, choice)
        if noise is not None:
            noise_sd = noise.sd(self.X)
            weights = noise_sd**-2.0 if self.weights is None else self.weights * noise_sd**-2.0
            weights = weights * (len(y) / weights.sum())
            curves = self.curves_for(weights)
            choice = curves.tamed(y, curves.choose(y[:, None], self.n_threads)[0])
            scale = float(np.sqrt(choice.sigma2 / (weights * noise_sd**2).mean()))
            noise, noise_sd = _scaled(noise, scale), scale * noise_sd
        else:
            noise = NoiseModel.constant(float(np.sqrt(choice.sigma2)), self.X.shape[1])
        size_of = None
        if settings.criterion == "deviance":
            size_of = self._by_deviance(curves, y)
            sequence = curves.engines[choice.degree].sequence(y, curves.weights)
            size = size_of(sequence, choice)
            df = float(curves.curves[choice.degree].df_at(size))
            choice = replace(choice, size=size, df=df)
        rss, _ = curves.table(choice.degree, y[:, None])
        curve = curves.curves[choice.degree]
        size_choice = choose_size(curve, rss[0], criterion=curves.criterion, n=curves.n)
        size_choice = replace(size_choice, size=choice.size, df=choice.df, sigma2=choice.sigma2)
        n_models = settings.n_models if choice.sigma2 > 0 else 1
        if n_models == 1:
            at = min(size_choice.size, len(curve.se)) - 1
            models = curves.fit(y[:, None], [choice])
            stein = SteinDf(size_choice.df, float(curve.se[at]))
            return _Selected(size_choice, models, curves, noise, noise_sd, stein)
        models, stein = self._perturbed(curves, y, choice, k, n_models, size_of)
        return _Selected(size_choice, models, curves, noise, noise_sd, stein)

    def _varying_noise(
        self, curves: DegreeCurves, y: np.ndarray, choice: Choice
    ) -> NoiseModel | None:
        """Return the standard deviation of the noise up to a factor; None if it is constant."""
        root = np.ones(len(y)) if curves.weights is None else np.sqrt(curves.weights)
        model = merge_terms(curves.fit(y[:, None], [choice]))
        square = (root * (y - model.basis(self.X) @ model.coef[:, 0])) ** 2
        logs = np.log(np.maximum(square, LEAST_LOG * square.mean()))
        degree = min(curves.engines)
        least = replace(curves, engines={degree: curves.engines[degree]}, criterion="aicc")
        found = least.choose(logs[:, None], self.n_threads)[0]
        if found.size == 1:
            return None
        terms = least.fit(logs[:, None], [found])[0]
        noise = NoiseModel(terms.dirs, terms.cuts, terms.coef, 0.0, np.inf)
        middle = float(np.median(noise.sd(self.X)))
        return replace(noise, low=middle / CLIP, high=middle * CLIP)

    def _perturbed(
        self,
        curves: DegreeCurves,
        y: np.ndarray,
        choice: Choice,
        k: int,
        n_models: int,
        size_of: Callable[[SubsetSequence, Choice], int] | None,
    ) -> tuple[list[TermsFit], SteinDf]:
        """Return the models of responses with added noise, and the df of their mean."""
        root = np.ones((len(y), 1)) if curves.weights is None else np.sqrt(curves.weights)[:, None]
        Z = balanced_noise(np.random.default_rng([self.seed, 1 + k]), len(y), n_models)
        step = self.settings.perturbation * np.sqrt(choice.sigma2)
        Y = y[:, None] + step * Z / np.where(root > 0, root, 1.0)
        threads = 1 if self.options.allowed is not None else self.n_threads
        models = curves.fit(Y, curves.choose(Y, threads), threads, size_of)
        merged = merge_terms(models)
        fits = root * (merged.basis(self.X) @ merged.coef)
        return models, stein_df(Z, fits, step, root[:, 0])

    def _by_deviance(
        self, curves: DegreeCurves, y: np.ndarray
    ) -> Callable[[SubsetSequence, Choice], int]:
        """Return a function that selects the size of a pruning sequence with the least penalised deviance."""
        n, is_count = curves.n, self.options.glm_family in OF_COUNTS

        def size_of(sequence: SubsetSequence, choice: Choice) -> int:
            most = len(sequence) if curves.nprune is None else min(len(sequence), curves.nprune)
            df = curves.curves[choice.degree].df_at(np.arange(1, most + 1))
            sizes = [
                size for size in range(1, most + 1) if size == 1 or df[size - 1] <= LARGEST * n
            ]
            columns = evaluate_terms(self.X, sequence.dirs, sequence.cuts).T
            fits = {}
            for size in sizes:
                chosen = sequence.found.best[size - 1, :size] if size > 1 else [0]
                fits[size] = self._glm(np.ascontiguousarray(columns[chosen]), y)
            phi = 1.0
            at = fits.get(min(choice.size, most))
            if is_count and at is not None:
                weights = 1.0 if self.data.all_weights is None else self.data.all_weights
                pearson = float((weights * (y - at.mean) ** 2 / np.maximum(at.mean, 1e-10)).sum())
                phi = max(1.0, pearson / max(n - choice.df, 1.0))
            left = np.maximum(n - df - 1, 0.0)
            with np.errstate(divide="ignore"):
                charge = 2 * phi * df if is_count else 2 * df * n / left
            scores = {k: f.deviance + charge[k - 1] for k, f in fits.items() if f is not None}
            return min(scores, key=lambda size: scores[size]) if scores else 1

        return size_of

    def _glm(self, columns: np.ndarray, y: np.ndarray) -> GlmFit | None:
        """Fit the generalised linear model of y on the rows of `columns`; None if R's iteration fails."""
        options = self.options
        assert options.glm_family is not None
        columns[0] = 1.0
        try:
            return fit_glm(
                columns, y, options.glm_family, options.glm_link, weights=self.data.all_weights,
                maxit=options.glm_maxit, epsilon=options.glm_epsilon, l2=options.glm_l2 or RIDGE,
            )  # fmt: skip
        except GlmStoppedError:
            return None

    def single(self, found: _Selected) -> tuple[Any, list[_Selected]]:
        """Return the one model, fitted by the estimator; the measurement may have updated its choice."""
        earth, curves = self.earth_of(found.choice.curve.degree), found.curves
        data = self.data
        if curves.weights is not self.weights:
            data = replace(data, all_weights=curves.weights)
        changes = {"degree": earth.degree, "nk": earth.nk, "thresh": earth.thresh}
        choice = found.choice
        # all terms of the forward pass can be nearly dependent, which those of the chosen size are not
        long = self.estimator._fit_copy(
            data, None, penalty=-1.0, nprune=max(choice.size, 2), **changes
        )
        if self.settings.mu == "fitted":
            choice = size_around_fit(
                self.design, long, choice, earth, self.weights, self.estimator.nprune, draws=None,
                **self.run,
            )  # fmt: skip
            found = replace(found, choice=choice, stein=SteinDf(choice.df, found.stein.se))
        # with one term there is nothing to search exhaustively
        pmethod = "backward" if choice.size == 1 else None
        model = long.reprune(nprune=choice.size, pmethod=pmethod)
        fit = model._training_fit("selection")
        dirs = model.model_.dirs[model.model_.selected]
        coef = model.model_.coef.reshape(-1, 1)
        none = np.zeros((model.n_terms_, 0))
        part = self._part(fit.bx, [fit.fitted], [found], [none], dirs, coef)
        model.model_ = replace(model.model_, selection=part)
        model._fitted = replace(fit, model=model.model_)
        return model, [found]

    def merged(self, found: Sequence[_Selected]) -> Any:
        """Merge all models into one without another fit."""
        models = [model for each in found for model in each.models]
        merged = merge_terms(models)
        edges = np.cumsum([0, *(len(each.models) for each in found)])
        X, data = self.X, self.data
        basis = merged.basis(X)
        blocks = [merged.coef[:, a:b] for a, b in pairwise(edges.tolist())]
        coef = np.column_stack([block.mean(axis=1) for block in blocks])
        size = (basis.std(axis=0)[:, None] * np.abs(coef)).sum(axis=1)
        order = np.append(0, 1 + np.argsort(-size[1:], kind="stable"))
        dirs, cuts, coef, basis = (
            merged.dirs[order], merged.cuts[order], coef[order], np.ascontiguousarray(basis[:, order])
        )  # fmt: skip
        blocks = [block[order] for block in blocks]
        single = data.all_responses.values.ndim == 1
        fitted = basis @ coef
        part = self._part(basis, list(fitted.T), found, blocks, dirs, coef)
        earth = self.earth_of(max(each.choice.curve.degree for each in found))
        names = data.design.names
        model = MarsModel(
            feature_names=tuple(names),
            dirs=dirs,
            cuts=cuts,
            term_names=term_names(dirs, cuts, names, X),
            selected=np.arange(len(dirs)),
            coef=coef[:, 0] if single else coef,
            **self._statistics(fitted, part.df),
            rss_per_subset=np.empty(0),
            gcv_per_subset=np.empty(0),
            prune_terms=np.empty((0, 0)),
            degree=int(np.count_nonzero(dirs, axis=1).max()) or 1,
            penalty=-1.0,
            nk=int(earth.nk or default_nk(X.shape[1])),
            thresh=float(earth.thresh),
            pmethod=earth.pmethod,
            termcond=0,
            n_samples=len(X),
            engine="native",
            versions={"pyearthdof": __version__},
            response_names=data.responses.names,
            columns=data.design.columns,
            ranges=data.ranges(),
            selection=part,
        )
        glm_y = None
        if self.options.glm_family is not None:
            glm = self._averaged_glm(basis, blocks, part.df, single)
            model, glm_y = replace(model, glm=glm), glm_responses(data, self.options)
        residuals = data.all_responses.matrix - fitted
        estimator = clone(self.estimator).set_params(
            degree=model.degree, penalty=-1.0, nk=model.nk, thresh=model.thresh
        )
        self.estimator._hand_over(estimator)
        fit = Fit(
            model,
            basis,
            fitted[:, 0] if single else fitted,
            residuals[:, 0] if single else residuals,
            glm_y=glm_y,
            weights=data.case_weights(self.n_responses),
            weights_kept=weights_kept(data, self.options),
        )
        estimator._learn(fit, data)
        return estimator

    def _statistics(self, fitted: np.ndarray, df: np.ndarray) -> dict[str, Any]:
        """Return RSS and GCV of each response and of all, with the measured df."""
        Y, n = self.data.all_responses.matrix, len(fitted)
        weights = np.ones(n) if self.weights is None else self.weights
        mean = (weights[:, None] * Y).sum(axis=0) / weights.sum()
        rss = (weights[:, None] * (Y - fitted) ** 2).sum(axis=0)
        null = (weights[:, None] * (Y - mean) ** 2).sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            gcv = np.where(df < n, rss / (n * (1 - df / n) ** 2), np.inf)
            null_gcv = null / (n * (1 - 1 / n) ** 2)
            each = {"rss": rss, "rsq": 1 - rss / null, "gcv": gcv, "grsq": 1 - gcv / null_gcv}
            total = {
                "rss": rss.sum(), "rsq": 1 - rss.sum() / null.sum(), "gcv": gcv.sum(),
                "grsq": 1 - gcv.sum() / null_gcv.sum(),
            }  # fmt: skip
        found: dict[str, Any] = {name: float(value) for name, value in total.items()}
        return found | {f"{name}_per_response": value for name, value in each.items()}

    def _part(
        self,
        basis: np.ndarray,
        fitted: list[np.ndarray],
        found: Sequence[_Selected],
        blocks: Sequence[np.ndarray],
        dirs: np.ndarray,
        coef: np.ndarray,
    ) -> SelectionPart:
        """Return degrees of freedom and errors of the selection."""
        Y = self.data.all_responses.matrix
        importance = np.zeros(dirs.shape[1])
        for j in np.flatnonzero(dirs.any(axis=0)):
            terms = dirs[:, j] != 0
            spread = (basis[:, terms] @ coef[terms]).std(axis=0, ddof=1)
            importance[j] = np.sqrt((spread**2).sum())
        errors = np.full(len(found), np.nan)
        noise, factor = None, 0.0
        if self.options.glm_family is None:
            told = [
                _errors(each, basis, block, self.X, y, fit)
                for each, block, y, fit in zip(found, blocks, Y.T, fitted, strict=True)
            ]
            errors = np.array([error for error, _ in told])
            if len(found) == 1:
                noise, factor = found[0].noise, told[0][1]
        return SelectionPart(
            n_models=len(found[0].models),
            df=np.array([each.stein.df for each in found]),
            df_se=np.array([each.stein.se for each in found]),
            prediction_error=errors,
            importance=importance,
            noise=noise,
            coef_of_models=blocks[0] if noise is not None else np.zeros((len(coef), 0)),
            spread_factor=factor,
        )

    def _averaged_glm(
        self, basis: np.ndarray, blocks: Sequence[np.ndarray], df: np.ndarray, single: bool
    ) -> GlmPart:
        """Return the mean, on the scale of the link, of generalised linear models on each model's terms."""
        options, data = self.options, self.data
        assert options.glm_family is not None
        family = FAMILIES[options.glm_family]
        link = options.glm_link or family.link
        coef = np.zeros((len(basis.T), len(blocks)))
        told: dict[str, list[float]] = {
            name: [] for name in ("null_deviance", "null_df", "deviance", "df", "aic")
        }
        iterations, converged = [], []
        for k, block in enumerate(blocks):
            y = np.ascontiguousarray(data.all_responses.matrix[:, k])
            fits = []
            for of_one in block.T:
                terms = np.flatnonzero(of_one)
                terms = terms if len(terms) and terms[0] == 0 else np.append(0, terms)
                fit = self._glm(np.ascontiguousarray(basis[:, terms].T), y)
                if fit is not None:
                    fits.append((terms, fit))
            if not fits:
                raise InvalidInputError(
                    f"glm_family={options.glm_family!r}, glm_link={link!r} but response "
                    f"{data.responses.names[k]!r} cannot be fitted so: take another link"
                )
            for terms, fit in fits:
                coef[terms, k] += fit.coef / len(fits)
            first = fits[0][1]
            with np.errstate(all="ignore"):  # as in R's glm
                mean = first.link.mean(basis @ coef[:, k])
                response = respond(family, y, data.all_weights, [])
                deviance = float(np.sum(family.deviances(response.y, mean, response.weights, [])))
            told["null_deviance"].append(first.null_deviance)
            told["null_df"].append(first.null_df)
            told["deviance"].append(deviance)
            told["df"].append(float(first.null_df + 1 - max(df[k], 1.0)))
            told["aic"].append(math.nan)
            iterations.append(max(fit.iterations for _, fit in fits))
            converged.append(all(fit.converged for _, fit in fits))
        return GlmPart(
            family=family.name,
            link=link,
            coef=coef[:, 0] if single else coef,
            **{name: np.array(values) for name, values in told.items()},
            iterations=np.array(iterations, dtype=float),
            converged=np.array(converged, dtype=float),
        )


def _errors(
    found: _Selected,
    basis: np.ndarray,
    coef_of_models: np.ndarray,
    X: np.ndarray,
    y: np.ndarray,
    fit: np.ndarray,
) -> tuple[float, float]:
    """Return the prediction error, and the ratio of the variance of the fit to that between the models.

    For heteroscedastic noise, the error is the mean over the rows of the variances of the noise and the
    fit.
    """
    n, sigma2, df = len(y), found.choice.sigma2, found.stein.df
    weights = np.ones(n) if found.curves.weights is None else found.curves.weights
    error = float((weights * (y - fit) ** 2).sum() / n + 2 * sigma2 * df / n)
    # The error of the fit is the estimate minus the noise, or at least that of a projection.
    of_fit = max(error - sigma2, sigma2 * max(df, 1.0) / n)
    several = coef_of_models.shape[1] > 1
    spread = (basis @ coef_of_models).var(axis=1, ddof=1) if several else np.ones(n)
    mean = float((weights * spread).mean())
    factor = of_fit / mean if mean > 0 else 0.0
    if found.noise_sd is not None:
        error = float((found.noise_sd**2 + factor * spread).mean())
    return error, factor


def _scaled(noise: NoiseModel, factor: float) -> NoiseModel:
    """Return the standard deviations times a factor."""
    coef = noise.coef.copy()
    coef[0] += 2 * np.log(factor)
    return replace(noise, coef=coef, low=noise.low * factor, high=noise.high * factor)
