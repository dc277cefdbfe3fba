"""What the optimism at new rows is made of: errors and variances of the fits, at both kinds of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from ..contract import Bound
from .montecarlo.adapters import fix_random_state
from .montecarlo.blocks import check_finite, check_result_shape, run_blocks
from .montecarlo.covariance import covariance_sum, jackknife_groups
from .montecarlo.designs import Designs
from .montecarlo.jackknife import Jackknife, mean_of, mean_over_designs
from .montecarlo.noise import Responses
from .new_rows import Split

__all__ = ["FitAndPredict", "Parts", "measure_parts"]


@dataclass(frozen=True)
class FitAndPredict:
    """The work on one block: fit every response, predict at the rows of X and at the new ones.

    scikit-learn's linear smoothers take many responses `at_once`.
    """

    estimator: object
    at_once: bool = False

    @property
    def procedure(self):
        """What is bound to a design: this, and not the estimator, which may bind itself for other fits."""
        return self

    def fitted_model(self, X, y):
        model = clone(self.estimator, safe=False)
        fix_random_state(model, y)
        return model.fit(X, y)

    def __call__(self, bound: Bound, Y, n_threads: int = 1):
        split = bound.X
        if self.at_once:
            model = self.fitted_model(split.X, Y)
            return tuple(
                np.reshape(model.predict(rows), (len(rows), Y.shape[1]))
                for rows in (split.X, split.X_new)
            )
        fitted, predicted = np.empty(Y.shape), np.empty((len(split.X_new), Y.shape[1]))
        for j, y in enumerate(Y.T):
            model = self.fitted_model(split.X, np.ascontiguousarray(y))
            for values, rows in ((fitted, split.X), (predicted, split.X_new)):
                found = np.asarray(model.predict(rows), dtype=float)
                check_result_shape("predictions", found, (len(rows),))
                check_finite(found)
                values[:, j] = found
        return fitted, predicted


@dataclass(frozen=True)
class Parts:
    """What OptR is made of, in units of sigma^2 and per row: Jackknife estimates from the same draws."""

    df: Jackknife
    error_fit: Jackknife
    error_new: Jackknife
    variance_fit: Jackknife
    variance_new: Jackknife

    def combined(self, function) -> Jackknife:
        """A function of the five, of the estimates and of each that leaves something out."""
        parts = list(vars(self).values())
        return Jackknife(
            float(function(*(part.value for part in parts))),
            np.asarray(function(*(part.left_out for part in parts))),
        )


def measure_parts(
    work, splits, sigma, counts, linear, n_jobs, progress, stream, *, pure=False
) -> Parts:
    """The parts over all designs."""
    each = []
    for split, count in zip(splits, counts, strict=True):
        if pure:
            zero = np.zeros(len(split.mu)), np.zeros(len(split.mu_new))
            split = Split(split.X, split.X_new, *zero)
        if linear:
            each.append(_exactly(work, split, sigma))
        else:
            each.append(_by_draws(work, split, sigma, count, stream, n_jobs, progress))
    names = Parts.__dataclass_fields__
    return Parts(*(mean_over_designs([getattr(e, name) for e in each], counts) for name in names))


def _by_draws(work, split: Split, sigma, n_rep, stream, n_jobs, progress) -> Parts:
    n, n_new = len(split.X), len(split.X_new)
    responses = Responses(n, split.mu, np.full(n, sigma), stream)
    groups = jackknife_groups(max(n, n_new), n_rep, 2)
    df = covariance_sum(split.mu, responses.sigma, groups)
    spread = [
        covariance_sum(mean, np.full(len(mean), sigma), groups) for mean in (split.mu, split.mu_new)
    ]
    errors: tuple[list, list] = ([], [])
    designs = Designs(split, (n_rep,), stream)
    blocks = run_blocks(
        work, designs, responses, width=2 + n_new // n, n_jobs=n_jobs, progress=progress
    )
    for block in blocks:
        df.add(block.Y, block.result[0])
        for k, (values, mean) in enumerate(
            zip(block.result, (split.mu, split.mu_new), strict=True)
        ):
            spread[k].add(values, values)
            errors[k].append(((values - mean[:, None]) ** 2).mean(axis=0) / sigma**2)
    error_fit, error_new = (mean_of(np.concatenate(values), groups) for values in errors)
    variances = [
        Jackknife(total.value / size, total.left_out / size)
        for total, size in zip((s.result().total for s in spread), (n, n_new), strict=True)
    ]
    return Parts(df.result().total, error_fit, error_new, *variances)


def _exactly(work, split: Split, sigma) -> Parts:
    """For a linear smoother: the rows of H and of H* are its fits to unit vectors."""
    H, H_new = work(Bound(None, split), np.eye(len(split.X)))
    variances = [(matrix**2).sum() / len(matrix) for matrix in (H, H_new)]
    biases = [
        (((matrix @ split.mu - mean) / sigma) ** 2).mean()
        for matrix, mean in ((H, split.mu), (H_new, split.mu_new))
    ]
    values = [np.trace(H), *np.add(variances, biases), *variances]
    return Parts(*(Jackknife(float(value), np.zeros(2) + float(value)) for value in values))
