"""The degrees of freedom of classifiers and of fits to counts: Efron's (2004) covariance penalties."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from .._utils.checks import check_choice, check_count, check_vector, refusal
from ..exceptions import InvalidInputError, MissingClassWarning
from .families import (
    FAMILIES,
    LOSSES,
    Classes,
    Counts,
    FitFamily,
    class_probabilities,
    count_means,
)
from .montecarlo.blocks import run_blocks
from .montecarlo.covariance import Covariance, covariance_sum, jackknife_groups
from .montecarlo.designs import Designs, the_designs
from .montecarlo.jackknife import mean_over_designs
from .montecarlo.noise import as_draws
from .results import DegreesOfFreedom, as_fields
from .versions import package_versions

__all__ = [
    "FamilyDegreesOfFreedom",
    "family_degrees_of_freedom",
    "family_of",
]


@dataclass(frozen=True, eq=False)
class FamilyDegreesOfFreedom(DegreesOfFreedom):
    """The degrees of freedom of a classifier, or of a fit to counts.

    Attributes
    ----------
    df, se : float
        The sum of cov(lambda_i, y_i), lambda the natural parameter for the deviance. For large n and a model
        with p parameters that is fitted by maximum likelihood and true, it is p.
    family, loss : str
    clip : float
        Least probability, or mean count, that the deviance was computed with.
    n_missing : int
        How many of the responses that were drawn lacked a class.
    others
        As in `DegreesOfFreedom`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from pyearthdof import degrees_of_freedom
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> found = degrees_of_freedom(LogisticRegression(C=np.inf), X, n_rep=200, random_state=0)
    >>> found
    FamilyDegreesOfFreedom(df=..., bernoulli, deviance, n_rep=200)
    >>> found.optimism == 2 * found.df
    True
    """

    family: str = "bernoulli"
    loss: str = "deviance"
    clip: float = 0.0
    n_missing: int = 0

    @property
    def optimism(self) -> float:
        """How much more the loss of new responses at the same rows is than that of the data, on average."""
        return 2 * self.df

    @property
    def optimism_se(self) -> float:
        return 2 * self.se

    def __repr__(self) -> str:
        return (
            f"FamilyDegreesOfFreedom(df={self._text('df')}, {self.family}, {self.loss}, "
            f"n_rep={self.n_rep})"
        )


def family_of(estimator, family) -> str | None:
    """The family of a fit: "bernoulli" for classifiers, what is asked for, or None for Gaussian noise."""
    check_choice("family", family, (None, "gaussian", *FAMILIES))
    classifies = (
        not isinstance(estimator, type) and hasattr(estimator, "fit") and is_classifier(estimator)
    )
    if classifies and family not in (None, "bernoulli"):
        raise refusal("family", family, f"None or 'bernoulli' for the classifier {estimator!r}")
    if not classifies and family == "bernoulli":
        raise refusal(
            "family", family, f"None, 'gaussian' or 'poisson': {estimator!r} is no classifier"
        )
    if family == "poisson" and not hasattr(estimator, "predict"):
        raise refusal("family", family, f"None: {estimator!r} cannot predict")
    return "bernoulli" if classifies else None if family == "gaussian" else family


def family_degrees_of_freedom(
    estimator,
    X,
    *,
    family: str,
    y,
    mu,
    loss,
    n_rep,
    draws,
    random_state,
    n_designs,
    n_jobs,
    progress,
) -> FamilyDegreesOfFreedom:
    """`degrees_of_freedom` for classes and counts; the design X has been checked."""
    loss = check_choice("loss", "deviance" if loss is None else loss, LOSSES)
    if family == "poisson" and loss == "counting":
        raise refusal("loss", loss, "'deviance' or 'squared' for counts")
    if family == "bernoulli" and loss != "counting" and not hasattr(estimator, "predict_proba"):
        raise refusal("loss", loss, f"'counting': {estimator!r} has no predict_proba")
    stream = as_draws(draws, random_state)
    designs = the_designs(X, stream, check_count("n_rep", n_rep, 2), n_designs)
    # Half an observation's share: a class that no row has is not thought impossible.
    clip = 1 / (2 * designs.n)
    work, responses = _work_and_responses(estimator, designs, family, y, mu, loss, clip, stream)
    found, n_missing, versions = _run(work, designs, responses, n_jobs, progress)
    if n_missing:
        _warn_missing(n_missing, designs.n_rep)
    return FamilyDegreesOfFreedom(
        **as_fields({"df": found.total}),
        per_observation=found.per_observation,
        n_rep=designs.n_rep,
        n_designs=designs.n_drawn,
        se_covers=designs.covers(),
        settings={
            "procedure": repr(estimator),
            "design": designs.setting,
            "mu": mu if isinstance(mu, str) else "default" if mu is None else "given",
            "draws": repr(stream),
            "method": "monte-carlo",
        },
        versions=package_versions() | versions,
        family=family,
        loss=loss,
        clip=clip,
        n_missing=n_missing,
    )


def _work_and_responses(estimator, designs: Designs, family, y, mu, loss, clip, stream):
    fitted = isinstance(mu, str)
    if fitted and mu != "fitted":
        raise refusal("mu", mu, "None, 'fitted', a number or an array")
    if fitted and (y is None or designs.drawn):
        raise InvalidInputError(
            "mu='fitted' but it should be given with y, and X that y belongs to"
        )
    X, n = designs.source, designs.n
    if family == "poisson":
        work = FitFamily(estimator, None, loss, clip)
        if fitted:
            model = work.fitted_model(X, counts_of(y, n))
            mu = np.maximum(np.asarray(model.predict(X), dtype=float), clip)
        return work, Counts(count_means(mu, n), stream)
    if fitted:
        labels, codes = classes_of(y, n)
        work = FitFamily(estimator, labels, loss, clip)
        table = np.clip(work.probabilities(work.fitted_model(X, codes), X), clip, None)
        return work, Classes(table / table.sum(axis=1, keepdims=True), labels, stream)
    table = class_probabilities(mu, n)
    labels = np.arange(table.shape[1])
    return FitFamily(estimator, labels, loss, clip), Classes(table, labels, stream)


def classes_of(y, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The classes of a response, sorted, and the number of each row's."""
    y = np.asarray(y)
    if y.shape != (n,):
        raise InvalidInputError(
            f"y has shape {y.shape} but it should be ({n},), a class for each row"
        )
    if pd.isna(y).any():
        raise InvalidInputError("y has missing values but every row should have a class")
    labels, codes = np.unique(y, return_inverse=True)
    if len(labels) < 2:
        raise refusal("y", labels[0], "of two classes or more")
    return labels, codes.astype(float)


def counts_of(y, n: int) -> np.ndarray:
    """A response of whole numbers, 0 or more."""
    y = check_vector("y", y, n)
    if (y < 0).any() or (y != np.round(y)).any():
        wrong = float(y[(y < 0) | (y != np.round(y))][0])
        raise refusal("y", wrong, "whole numbers, 0 or more, with family='poisson'")
    return y


def _run(work: FitFamily, designs: Designs, responses, n_jobs, progress):
    """The covariance over all designs, the number of responses without a class, and versions."""
    each, n_missing, versions = [], 0, {}
    blocks = run_blocks(work, designs, responses, n_jobs=n_jobs, progress=progress)
    for k, of_one in itertools.groupby(blocks, key=lambda block: block.design):
        mean = responses.mean
        groups = jackknife_groups(len(mean), designs.counts[k])
        total = covariance_sum(mean, np.ones(len(mean)), groups)
        for block in of_one:
            total.add(responses.indicators(block.Y), block.result.values)
            n_missing += int(block.result.missing.sum())
            versions = block.versions
        each.append(total.result())
    by_row = [found.per_observation.reshape(-1, responses.n).sum(axis=0) for found in each]
    return (
        Covariance(
            np.average(by_row, axis=0, weights=designs.counts),
            mean_over_designs([found.total for found in each], designs.counts),
        ),
        n_missing,
        versions,
    )


def _warn_missing(n_missing: int, n_rep: int) -> None:
    warnings.warn(
        f"{n_missing} of {n_rep} responses that were drawn lack a class; their fits give that class the "
        "least probability. Many of them make the df uncertain: rare classes need more rows",
        MissingClassWarning,
        stacklevel=4,
    )
