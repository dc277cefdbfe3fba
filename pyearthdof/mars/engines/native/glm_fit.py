"""Generalised linear models of earth and their standard errors, by R's iteratively reweighted least squares.

Starting values, clamps, order of operations, stopping rule and step halving follow R's glm.fit, so the
results equal R's even if the iteration does not converge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .... import _core
from ...._utils.warnings import warn_user
from ....exceptions import InvalidInputError, RWarning
from ...arithmetic import product_in_order, r_sum
from ...components.glm import (
    AT_LIMIT,
    FAMILIES,
    LINKS,
    NAN,
    OF_COUNTS,
    OF_SHARES,
    Family,
    GlmPart,
    GlmStoppedError,
    Link,
    Response,
    is_pairs,
    respond,
)
from ...data.design import Responses
from ...data.training import TrainingData
from ...options import EarthOptions
from .monotone import least_squares
from .regression import root_of_inverse

OF_POSITIVE = ("gamma", "inverse_gaussian")
# Size above which threads share the cases of one response and Ctrl-C can interrupt its fit.
MANY_CASES = 20_000
# Number of column entries above which the models of several responses are fitted in parallel: below it,
# most of the time is spent in Python, which runs one thread at a time.
MANY_NUMBERS = 20_000


def earth_part(data: TrainingData, options: EarthOptions) -> tuple[Responses, np.ndarray | None]:
    """Responses and case weights of all rows, as used by the forward pass."""
    responses, weights = data.all_responses, data.all_weights
    if is_pairs(responses.values, options.glm_family):
        return as_shares(responses, weights)
    return responses, weights


def as_shares(responses: Responses, weights: np.ndarray | None) -> tuple[Responses, np.ndarray]:
    """Convert successes and failures to the share of successes, weighted by the number of trials."""
    wins, total = responses.values[:, 0], responses.values.sum(axis=1)
    share = Responses(wins / np.where(total == 0, 1.0, total), responses.names[:1])
    return share, total if weights is None else weights * total


def check_responses(data: TrainingData, options: EarthOptions) -> None:
    """Reject responses outside the support of the family before fitting."""
    family, link = options.glm_family, options.glm_link
    if family is None:
        return
    every, Y = data.all_responses.matrix, data.responses.matrix
    if family in OF_SHARES:
        wanted = "a number from 0 to 1, or two columns of counts"
        outside = (every < 0) | (every > 1)
        if not is_pairs(every, family) and outside.any():
            _refuse_response(every[outside], options, wanted)
    elif family in OF_COUNTS and (Y < 0).any():
        _refuse_response(Y[Y < 0], options, "a number, 0 or more,")
    elif family in OF_POSITIVE or (family, link) == ("gaussian", "log"):
        if (Y <= 0).any():
            _refuse_response(Y[Y <= 0], options, "a number above 0")
    elif (family, link) == ("gaussian", "inverse") and (Y == 0).any():
        _refuse_response(Y[Y == 0], options, "any number but 0")


def _refuse_response(values: np.ndarray, options: EarthOptions, wanted: str) -> None:
    link = "" if options.glm_link is None else f", glm_link={options.glm_link!r}"
    raise InvalidInputError(
        f"y holds {values[0]:g} but it should be {wanted} for glm_family={options.glm_family!r}{link}"
    )


def fit_glms(
    bx: np.ndarray, data: TrainingData, options: EarthOptions, n_threads: int = 1,
    slopes: np.ndarray | None = None,
) -> GlmPart | None:  # fmt: skip
    """Fit the models on the basis of the selected terms, and issue R's warnings.

    The weights are the user's; earth's own weights, without zeros, are used in the search only. The
    product of `slopes` and the coefficients is constrained to be non-negative.
    """
    family = options.glm_family
    if family is None:
        return None
    columns, each = _columns_and_responses(bx, data, options)
    responses = data.responses

    def fit(y: np.ndarray, name: str) -> GlmFit:
        return _fit(columns, y, name, data, options, n_threads, slopes)

    names = responses.names[: len(each)]
    if n_threads > 1 and len(each) > 1 and len(bx) < MANY_CASES and columns.size >= MANY_NUMBERS:
        with ThreadPoolExecutor(min(n_threads, len(each))) as pool:
            found = list(pool.map(fit, each, names))
    else:
        found = list(map(fit, each, names))
    _warn(found, responses.names)
    single = _is_single(each, responses)
    coef = found[0].coef if single else np.column_stack([fit.coef for fit in found])
    numbers = ("null_deviance", "null_df", "deviance", "df", "aic", "iterations", "converged")
    return GlmPart(
        family=FAMILIES[family].name,
        link=options.glm_link or FAMILIES[family].link,
        coef=coef,
        **{name: np.array([float(getattr(f, name)) for f in found]) for name in numbers},
    )


def glm_responses(data: TrainingData, options: EarthOptions) -> np.ndarray | None:
    """Responses in the form of R's families, (n,) or (n, m): shares of pairs, 0 for rows of weight 0."""
    if options.glm_family is None:
        return None
    family, responses = FAMILIES[options.glm_family], data.responses
    each = _responses(data, options)
    found = [respond(family, y, data.training_weights, []).y for y in each]
    return np.array(found[0] if _is_single(each, responses) else np.column_stack(found))


def fit_glms_again(
    bx: np.ndarray, data: TrainingData, options: EarthOptions, slopes: np.ndarray | None = None
) -> list[tuple[GlmFit, GlmErrors]]:
    """Refit the models of `fit_glms` with the errors of their coefficients, without warnings."""
    columns, each = _columns_and_responses(bx, data, options)
    found = []
    for y, name in zip(each, data.responses.names, strict=False):
        fit = _fit(columns, y, name, data, options, slopes=slopes)
        found.append((fit, glm_errors(columns, fit, options.glm_l2)))
    return found


def _columns_and_responses(
    bx: np.ndarray, data: TrainingData, options: EarthOptions
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the terms as rows and one response per model."""
    columns = np.ascontiguousarray(bx.T)
    columns[0] = 1.0
    return columns, _responses(data, options)


def _responses(data: TrainingData, options: EarthOptions) -> list[np.ndarray]:
    """Return one response per model."""
    pairs = is_pairs(data.all_responses.values, options.glm_family)
    return [data.responses.values] if pairs else list(data.responses.matrix.T)


def _is_single(each: list[np.ndarray], responses: Responses) -> bool:
    """Return True if coefficients and fitted values are vectors."""
    return len(each) < responses.matrix.shape[1] or responses.values.ndim == 1


def _fit(
    columns: np.ndarray,
    y: np.ndarray,
    name: str,
    data: TrainingData,
    options: EarthOptions,
    n_threads: int = 1,
    slopes: np.ndarray | None = None,
) -> GlmFit:
    family, link = options.glm_family, options.glm_link
    assert family is not None
    try:
        found = fit_glm(
            columns, y, family, link, weights=data.training_weights, offset=data.offset,
            maxit=options.glm_maxit, epsilon=options.glm_epsilon, l2=options.glm_l2, slopes=slopes,
            n_threads=n_threads,
        )  # fmt: skip
    except GlmStoppedError as stop:
        link = link or FAMILIES[family].link
        raise InvalidInputError(
            f"glm_family={family!r}, glm_link={link!r} but response {name!r} cannot be fitted so (R: "
            f"{stop}): take another link, or fewer terms"
        ) from None
    if found.rank < len(columns):
        raise InvalidInputError(
            f"glm_family={family!r} but the terms of response {name!r} are linearly dependent in "
            "the informative rows (R: NA in glm coef): take fewer terms, by a larger penalty or by nprune"
        )
    return found


def _warn(found: list[GlmFit], names: Sequence[str]) -> None:
    for fit in found:
        for text in fit.warnings:
            warn_user(text, RWarning)
    failed = [f'"{name}"' for name, f in zip(names, found, strict=False) if not f.converged]
    if failed:
        plural = "s" if len(failed) > 1 else ""
        warn_user(
            f"the glm algorithm did not converge for response{plural} {' '.join(failed)}", RWarning
        )


MAXIT, EPSILON = 25, 1e-8  # R's glm.control
NOT_CONVERGED = "glm.fit: algorithm did not converge"
AT_BOUNDARY = "glm.fit: algorithm stopped at boundary value"
SEPARATED = "glm.fit: fitted probabilities numerically 0 or 1 occurred"
RATES_OF_ZERO = "glm.fit: fitted rates numerically 0 occurred"
NO_START = "cannot find valid starting values: please specify some"
NO_VALID = "no valid set of coefficients has been found: please supply starting values"


@dataclass(frozen=True)
class GlmFit:
    """A fitted generalised linear model."""

    coef: np.ndarray  # 0 for a linearly dependent column
    rank: int  # of the last regression
    mean: np.ndarray
    linear: np.ndarray
    working: np.ndarray  # weights of the last regression, 0 for rows that carry no information
    deviance: float
    null_deviance: float
    aic: float
    df: int
    null_df: int
    iterations: int
    converged: bool
    at_boundary: bool
    deviances: tuple[float, ...]  # of each iteration
    warnings: tuple[str, ...]  # R's, in R's order
    response: Response
    family: Family
    link: Link


@dataclass
class _Point:
    """Current state of the iteration."""

    coef: Any  # (m,), None at the start
    eta: np.ndarray
    mu: np.ndarray
    deviance: float  # including the penalty, if any


@dataclass(frozen=True)
class _Problem:
    """Constants of an iteration; `ridge` contains the square roots of the column penalties."""

    columns: np.ndarray
    response: Response
    family: Family
    link: Link
    offset: np.ndarray
    maxit: int
    epsilon: float
    ridge: np.ndarray | None
    slopes: np.ndarray | None
    n_threads: int
    notes: list[str] = field(default_factory=list)

    def mean(self, eta: np.ndarray) -> np.ndarray:
        if self.link.is_nan is not None and self.link.is_nan(eta).any():
            self.notes.append(NAN)
        return self.link.mean(eta)

    def deviance(self, mu: np.ndarray) -> float:
        values = self.family.deviances(self.response.y, mu, self.response.weights, self.notes)
        return r_sum(values)

    def is_valid(self, eta: np.ndarray, mu: np.ndarray) -> bool:
        return self.link.is_valid(eta) and self.family.is_valid(mu)

    def at(self, coef: np.ndarray) -> _Point:
        eta = product_in_order(self.columns, coef) + self.offset
        mu = self.mean(eta)
        return _Point(coef, eta, mu, self.deviance(mu) + self.penalty(coef))

    def penalty(self, coef: np.ndarray) -> float:
        return 0.0 if self.ridge is None else float(np.sum((self.ridge * coef) ** 2))


def fit_glm(
    columns: np.ndarray,
    y: np.ndarray,
    family: str,
    link: str | None = None,
    *,
    weights: np.ndarray | None = None,
    offset: np.ndarray | None = None,
    maxit: float | None = None,
    epsilon: float | None = None,
    l2: float = 0.0,
    slopes: np.ndarray | None = None,
    n_threads: int = 1,
) -> GlmFit:
    """Fit one response like R's `glm.fit` with an intercept.

    `columns` contains the predictors as rows, the intercept first; `y` may be (n, 2), successes and failures.
    `l2` and `slopes` extend R: the ridge penalty l2 sum (s_j b_j)^2, with s_j the standard deviation of
    column j, is added to the deviance, and the (k, m) linear combinations `slopes` must be non-negative.
    """
    kind, notes = FAMILIES[family], list[str]()
    columns = np.ascontiguousarray(columns, dtype=float)
    with np.errstate(all="ignore"):  # infinities and NaN propagate as in R
        response = respond(kind, np.asarray(y, dtype=float), weights, notes)
        problem = _Problem(
            columns=columns,
            response=response,
            family=kind,
            link=LINKS[link or kind.link],
            offset=np.zeros(columns.shape[1]) if offset is None else offset,
            maxit=MAXIT if maxit is None else int(maxit),
            epsilon=EPSILON if epsilon is None else float(epsilon),
            ridge=ridge_roots(columns, response.weights, l2) if l2 else None,
            slopes=slopes,
            n_threads=n_threads,
            notes=notes,
        )
        found = _describe(problem, _iterate(problem, response.start))
        if offset is None:
            return found
        null = _null_deviance(problem, y, weights, found)
        return replace(found, null_deviance=null, warnings=tuple(notes))


@dataclass(frozen=True)
class _Found:
    point: _Point
    rank: int
    working: np.ndarray
    iterations: int
    converged: bool
    at_boundary: bool
    deviances: list[float]


def _iterate(problem: _Problem, start: np.ndarray) -> _Found:
    eta = problem.link.linear(start)
    mu = problem.mean(eta)
    if not problem.is_valid(eta, mu):
        raise GlmStoppedError(NO_START)
    here = _Point(None, eta, mu, problem.deviance(mu))
    converged = at_boundary = False
    rank, working, deviances = 0, np.zeros(len(mu)), []
    for iteration in range(1, problem.maxit + 1):
        solved = _least_squares(problem, here)
        if solved is None:
            problem.notes.append(f"no observations informative at iteration {iteration}")
            break
        coef, rank, working = solved
        if not np.isfinite(coef).all():
            problem.notes.append(f"non-finite coefficients at iteration {iteration}")
            break
        there = problem.at(coef)
        there, at_boundary = _shortened(problem, there, here.coef)
        constrained = problem.ridge is not None or problem.slopes is not None
        if constrained and here.coef is not None:
            there = _descended(problem, there, here)
        deviances.append(there.deviance - problem.penalty(there.coef))
        change = abs(there.deviance - here.deviance) / (0.1 + abs(there.deviance))
        here = there
        if change < problem.epsilon:
            converged = True
            break
    if here.coef is None:
        raise GlmStoppedError(NO_VALID)
    _note_the_end(problem, here.mu, converged, at_boundary)
    return _Found(here, rank, working, iteration, converged, at_boundary, deviances)


def _least_squares(problem: _Problem, here: _Point) -> tuple[np.ndarray, int, np.ndarray] | None:
    """Return the next coefficients, rank and weights; None if no row is informative."""
    response = problem.response
    positive = response.weights > 0
    variance, slope = problem.family.variance(here.mu), problem.link.slope(here.eta)
    used = _index(positive)
    if np.isnan(variance[used]).any():
        raise GlmStoppedError("NAs in V(mu)")
    if (variance[used] == 0).any():
        raise GlmStoppedError("0s in V(mu)")
    if np.isnan(slope[used]).any():
        raise GlmStoppedError("NAs in d(mu)/d(eta)")
    informative = positive & (slope != 0)
    if not informative.any():
        return None
    good = _index(informative)
    eta, mu, y, slope = (
        (here.eta - problem.offset)[good],
        here.mu[good],
        response.y[good],
        slope[good],
    )
    root = np.sqrt(response.weights[good] * slope**2 / variance[good])
    working = np.zeros(len(informative))
    working[good] = root**2
    columns = np.ascontiguousarray(problem.columns[:, good])
    target = (eta + (y - mu) / slope) * root
    for name, values in (("x", columns), ("y", target)):
        if not np.isfinite(values).all():
            raise GlmStoppedError(f"NA/NaN/Inf in '{name}'")
    if problem.ridge is not None:  # pseudo-observations that shrink the coefficients
        columns = np.hstack([columns, np.diag(problem.ridge)])
        root = np.concatenate([root, np.ones(len(columns))])
        target = np.concatenate([target, np.zeros(len(columns))])
    tolerance = min(1e-7, problem.epsilon / 1000)
    if problem.slopes is not None:
        columns = columns * root
        kept = _core.find_independent(columns, max(tolerance, 1e-9), problem.n_threads)
        coef = np.zeros(len(columns))
        coef[kept], _, _ = least_squares(columns[kept], target, problem.slopes[:, kept])
        return coef, len(kept), working
    return *_solve(columns, root, target, tolerance, problem.n_threads), working


def _index(mask: np.ndarray) -> np.ndarray | slice:
    """Return the mask, or a slice if it selects all rows, which avoids a copy."""
    return slice(None) if mask.all() else mask


def _solve(
    columns: np.ndarray, root: np.ndarray, target: np.ndarray, tolerance: float, n_threads: int
) -> tuple[np.ndarray, int]:
    """Solve by R's pivoting Householder QR, rows times `root`; dependent columns get 0."""
    coef = _core.solve_reweighted(columns, root, target, tolerance, n_threads)
    if coef is not None:
        return coef, len(columns)
    columns = columns * root
    kept = _core.find_independent(columns, tolerance, n_threads)
    coef = np.zeros(len(columns))
    if kept:
        found = _core.regress(
            np.ascontiguousarray(columns[kept]),
            target[None, :],
            tolerance=tolerance,
            n_threads=n_threads,
        )
        coef[kept] = found["coef"][:, 0]
    return coef, len(kept)


def _shortened(problem: _Problem, there: _Point, old: np.ndarray | None) -> tuple[_Point, bool]:
    """Halve the step until the deviance is finite and the means and predictors are valid."""

    def halve(
        there: _Point, is_wrong: Callable[[_Point], bool], warning: str, stopped: str
    ) -> tuple[_Point, bool]:
        if not is_wrong(there):
            return there, False
        if old is None:
            raise GlmStoppedError(NO_VALID)
        problem.notes.append(warning)
        halvings = 0
        while is_wrong(there):
            halvings += 1
            if halvings > problem.maxit:
                raise GlmStoppedError(stopped)
            there = problem.at((there.coef + old) / 2)
        return there, True

    there, diverged = halve(
        there,
        lambda point: not np.isfinite(point.deviance),
        "step size truncated due to divergence",
        "inner loop 1; cannot correct step size",
    )
    there, outside = halve(
        there,
        lambda point: not problem.is_valid(point.eta, point.mu),
        "step size truncated: out of bounds",
        "inner loop 2; cannot correct step size",
    )
    return there, diverged or outside


def _descended(problem: _Problem, there: _Point, here: _Point) -> _Point:
    """Halve steps that increase the objective; only with a penalty or constraints, unknown to R."""
    for _ in range(problem.maxit):
        if there.deviance - here.deviance <= problem.epsilon * (0.1 + abs(there.deviance)):
            break
        there = problem.at((there.coef + here.coef) / 2)
    return there


def _note_the_end(problem: _Problem, mu: np.ndarray, converged: bool, at_boundary: bool) -> None:
    notes, name = problem.notes, problem.family.name
    if not converged:
        notes.append(NOT_CONVERGED)
    if at_boundary:
        notes.append(AT_BOUNDARY)
    if problem.ridge is not None:  # the minimum exists for any means
        return
    if name == "binomial" and ((mu > 1 - AT_LIMIT) | (mu < AT_LIMIT)).any():
        notes.append(SEPARATED)
    if name == "poisson" and (mu < AT_LIMIT).any():
        notes.append(RATES_OF_ZERO)


def _null_deviance(
    problem: _Problem, y: np.ndarray, weights: np.ndarray | None, found: GlmFit
) -> float:
    """Null deviance with an offset: a second iteration, started at the means of the model."""
    notes = problem.notes
    response = respond(problem.family, np.asarray(y, dtype=float), weights, notes)
    alone = _Problem(
        problem.columns[:1], response, problem.family, problem.link, problem.offset,
        problem.maxit, problem.epsilon, None, None, problem.n_threads, notes,
    )  # fmt: skip
    null = _iterate(alone, found.mean)
    alone.family.aic(response, null.point.mu, null.point.deviance, notes)  # for R's warnings
    if not null.converged:
        notes.append("fitting to calculate the null deviance did not converge -- increase 'maxit'?")
    return null.point.deviance


def _describe(problem: _Problem, found: _Found) -> GlmFit:
    response, point = problem.response, found.point
    weights = response.weights
    mean = r_sum(weights * response.y) / r_sum(weights)
    used = len(weights) - int((weights == 0).sum())
    deviance = point.deviance - problem.penalty(point.coef)
    aic = problem.family.aic(response, point.mu, deviance, problem.notes) + 2 * found.rank
    return GlmFit(
        coef=point.coef,
        rank=found.rank,
        mean=point.mu,
        linear=point.eta,
        working=found.working,
        deviance=deviance,
        null_deviance=problem.deviance(np.full(len(weights), mean)),
        aic=float(aic),
        df=used - found.rank,
        null_df=used - 1,
        iterations=found.iterations,
        converged=found.converged,
        at_boundary=found.at_boundary,
        deviances=tuple(found.deviances),
        warnings=tuple(problem.notes),
        response=response,
        family=problem.family,
        link=problem.link,
    )


def ridge_roots(columns: np.ndarray, weights: np.ndarray, l2: float) -> np.ndarray:
    """Square roots of the column penalties, from the standard deviations; 0 for the intercept."""
    share = weights / weights.sum()
    centred = columns - (columns @ share)[:, None]
    return np.sqrt(l2) * np.sqrt(centred**2 @ share)


OF_ONE = ("binomial", "poisson")  # families with dispersion 1


@dataclass(frozen=True)
class GlmErrors:
    """Standard errors and residuals of a fitted generalised linear model on its training rows."""

    stderr: np.ndarray  # NaN if no residual degrees of freedom are left
    dispersion: float
    is_estimated: bool  # dispersion estimated, not fixed by the family
    residuals: np.ndarray  # deviance residuals


def glm_errors(columns: np.ndarray, fit: GlmFit, l2: float) -> GlmErrors:
    """Compute the errors of a fit of `fit_glm` on the same columns.

    As in R's summary, the weights belong to the last regression, the residuals to the coefficients after it.
    With a ridge penalty, the errors are those of the penalised regression.
    """
    response = fit.response
    with np.errstate(all="ignore"):
        working = (response.y - fit.mean) / fit.link.slope(fit.linear)
        is_estimated = fit.family.name not in OF_ONE
        dispersion = 1.0
        if is_estimated:
            counted = fit.working > 0
            total = np.sum(fit.working[counted] * working[counted] ** 2)
            dispersion = float(total / fit.df) if fit.df > 0 else np.nan
        rows = (columns * np.sqrt(fit.working)).T
        if l2:
            rows = np.vstack([rows, np.diag(ridge_roots(columns, response.weights, l2))])
        stderr = root_of_inverse(rows) * np.sqrt(dispersion)
        residuals = np.zeros(len(working))
        if fit.df > 0:
            squares = fit.family.deviances(response.y, fit.mean, response.weights, [])
            sizes = np.sqrt(np.maximum(squares, 0))
            residuals = np.where(response.y > fit.mean, sizes, -sizes)
    return GlmErrors(stderr, dispersion, is_estimated, residuals)
