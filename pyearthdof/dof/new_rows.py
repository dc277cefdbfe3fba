"""The rows of a design and the new ones that are to be predicted, with the true mean at both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.checks import check_count, check_mean, is_integer, is_shape, refusal
from ..exceptions import InvalidInputError

__all__ = ["Split", "draw_splits"]


@dataclass(frozen=True)
class Split:
    """A design, the rows that are to be predicted, and the true mean at both."""

    X: Any
    X_new: Any
    mu: np.ndarray
    mu_new: np.ndarray

    def __len__(self) -> int:
        return len(self.X)


def draw_splits(check, source, X_new, mu, mu_new, stream, n_rep, n_designs) -> Iterator[Split]:
    """The designs and their new rows, drawn from numbers that come after all responses.

    `check` is what rows are checked by.
    """
    after = stream.copy()
    after.skip_normals((source[0] if is_shape(source) else 1) * n_rep)
    rng = np.random.default_rng(np.frombuffer(after.normal(8).tobytes(), dtype=np.uint32))
    for _ in range(n_designs):
        if is_shape(source):
            X = np.ascontiguousarray(after.normal(source[0] * source[1]).reshape(source[::-1]).T)
        else:
            X = check(source(rng)) if callable(source) else source
        rows = _new_rows(check, X_new, X, source, rng)
        yield Split(X, rows, _mean(mu, X), _mean(mu, rows, mu_new))


def _new_rows(check, X_new, X, source, rng):
    if callable(X_new):
        rows = check(X_new(rng), "X_new")
    elif is_integer(X_new):
        if not is_shape(source):
            raise refusal("X_new", X_new, "rows, or a function that draws them, for this X")
        rows = rng.standard_normal((check_count("X_new", X_new, 1), source[1]))
    else:
        rows = check(X_new, "X_new")
    if is_shape(rows) or np.shape(rows)[1] != np.shape(X)[1]:
        raise InvalidInputError(
            f"X_new has shape {np.shape(rows)} but it should have the {np.shape(X)[1]} columns of X"
        )
    return rows


def _mean(mu, X, mu_new=None) -> np.ndarray:
    """The true mean at some rows: of a function, a number, or the vector that was given for them."""
    if mu_new is not None:
        return check_mean(mu_new, len(X))
    if callable(mu):
        return check_mean(np.asarray(mu(X), dtype=float), len(X))
    if np.ndim(mu) == 1 and len(mu) != len(X):
        raise InvalidInputError(
            f"mu has {len(mu)} values but it should be a number or a function (X -> mean), or mu_new should "
            f"be given for the {len(X)} new rows"
        )
    return check_mean(mu, len(X))
