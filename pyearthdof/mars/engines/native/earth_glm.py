"""The generalised linear models that earth fits on the selected terms: one for each response."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ...._utils.warnings import warn_user
from ....exceptions import InvalidInputError, RWarning
from ...components.glm import (
    FAMILIES,
    OF_COUNTS,
    OF_SHARES,
    GlmPart,
    is_pairs,
    respond,
)
from ...data.design import Responses
from ...options import EarthOptions
from .glm import GlmFit, GlmStoppedError, fit_glm
from .glm_errors import GlmErrors, glm_errors

__all__ = ["check_responses", "earth_part", "fit_glms", "fit_glms_again", "glm_responses"]


OF_POSITIVE = ("gamma", "inverse_gaussian")
MANY_CASES = (
    20_000  # from here on threads share the cases of one response, and Ctrl-C is heard within it
)


def earth_part(data, options: EarthOptions) -> tuple[Responses, np.ndarray | None]:
    """Responses and case weights of all rows as earth searches terms for them.

    Successes and failures are one response, the share of successes, weighted by their number.
    """
    responses, weights = data.all_responses, data.all_weights
    if not is_pairs(responses.values, options.glm_family):
        return responses, weights
    wins, total = responses.values[:, 0], responses.values.sum(axis=1)
    share = Responses(wins / np.where(total == 0, 1.0, total), responses.names[:1])
    return share, total if weights is None else weights * total


def check_responses(data, options: EarthOptions) -> None:
    """Refuse responses that the family cannot have, before any work starts."""
    family, link = options.glm_family, options.glm_link
    if family is None:
        return
    every, Y = data.all_responses.matrix, data.responses.matrix
    if family in OF_SHARES:
        wanted = "a number from 0 to 1, or two columns of counts"
        outside = (every < 0) | (every > 1)
        if not is_pairs(every, family) and outside.any():
            _refuse(every[outside], options, wanted)
    elif family in OF_COUNTS and (Y < 0).any():
        _refuse(Y[Y < 0], options, "a number, 0 or more,")
    elif family in OF_POSITIVE or (family, link) == ("gaussian", "log"):
        if (Y <= 0).any():
            _refuse(Y[Y <= 0], options, "a number above 0")
    elif (family, link) == ("gaussian", "inverse") and (Y == 0).any():
        _refuse(Y[Y == 0], options, "any number but 0")


def _refuse(values, options: EarthOptions, wanted: str) -> None:
    link = "" if options.glm_link is None else f", glm_link={options.glm_link!r}"
    raise InvalidInputError(
        f"y holds {values[0]:g} but it should be {wanted} for glm_family={options.glm_family!r}{link}"
    )


def fit_glms(bx, data, options: EarthOptions, n_threads=1) -> GlmPart | None:
    """Fit the models on the basis of the selected terms, and give R's warnings.

    The weights are those that the user gave: earth's own, without zeros, are for the search alone.
    """
    family = options.glm_family
    if family is None:
        return None
    columns, each = _columns_and_responses(bx, data, options)
    responses, weights = data.responses, data.training_weights

    def fit(y, name) -> GlmFit:
        return _fit(family, columns, y, name, weights, data.offset, options, n_threads)

    names = responses.names[: len(each)]
    if n_threads > 1 and len(each) > 1 and len(bx) < MANY_CASES:
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


def glm_responses(data, options: EarthOptions) -> np.ndarray | None:
    """The responses as R's families take them, (n,) or (n, m): shares of pairs, 0 for rows without weight."""
    if options.glm_family is None:
        return None
    family, responses = FAMILIES[options.glm_family], data.responses
    each = _responses(data, options)
    found = [respond(family, y, data.training_weights, []).y for y in each]
    return np.array(found[0] if _is_single(each, responses) else np.column_stack(found))


def fit_glms_again(bx, data, options: EarthOptions) -> list[tuple[GlmFit, GlmErrors]]:
    """The models of `fit_glms` with what a table of their coefficients needs, without the warnings."""
    family, weights = options.glm_family, data.training_weights
    assert family is not None
    columns, each = _columns_and_responses(bx, data, options)
    found = []
    for y, name in zip(each, data.responses.names, strict=False):
        fit = _fit(family, columns, y, name, weights, data.offset, options, 1)
        errors = glm_errors(columns, y, family, options.glm_link, fit, weights, options.glm_l2)
        found.append((fit, errors))
    return found


def _columns_and_responses(bx, data, options: EarthOptions):
    """The terms as rows, and one response for each model."""
    columns = np.ascontiguousarray(bx.T)
    columns[0] = 1.0
    return columns, _responses(data, options)


def _responses(data, options: EarthOptions) -> list[np.ndarray]:
    """One for each model."""
    pairs = is_pairs(data.all_responses.values, options.glm_family)
    return [data.responses.values] if pairs else list(data.responses.matrix.T)


def _is_single(each, responses: Responses) -> bool:
    """Whether coefficients and fits are vectors."""
    return len(each) < responses.matrix.shape[1] or responses.values.ndim == 1


def _fit(
    family: str, columns, y, name, weights, offset, options: EarthOptions, n_threads
) -> GlmFit:
    link = options.glm_link
    try:
        found = fit_glm(
            columns, y, family, link, weights=weights, offset=offset, maxit=options.glm_maxit,
            epsilon=options.glm_epsilon, l2=options.glm_l2, n_threads=n_threads,
        )  # fmt: skip
    except GlmStoppedError as stop:
        link = link or FAMILIES[family].link
        raise InvalidInputError(
            f"glm_family={family!r}, glm_link={link!r} but response {name!r} cannot be fitted so (R: "
            f"{stop}): take another link, or fewer terms"
        ) from None
    if found.rank < len(columns):
        raise InvalidInputError(
            f"glm_family={family!r} but the terms of response {name!r} depend on each other in the rows "
            "that count (R: NA in glm coef): take fewer terms, by a larger penalty or by nprune"
        )
    return found


def _warn(found: list[GlmFit], names) -> None:
    for fit in found:
        for text in fit.warnings:
            warn_user(text, RWarning)
    failed = [f'"{name}"' for name, f in zip(names, found, strict=False) if not f.converged]
    if failed:
        plural = "s" if len(failed) > 1 else ""
        warn_user(
            f"the glm algorithm did not converge for response{plural} {' '.join(failed)}", RWarning
        )
