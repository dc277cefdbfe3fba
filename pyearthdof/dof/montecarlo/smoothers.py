"""Linear smoothers of known trace, the controls of an estimate: projections on X and on its powers up to 5.

Whatever the fit, the degrees of freedom of a projection are its rank. The better the projections explain the
fit, the less of it is left to vary; curves and hinges of a column are explained by its powers.
"""

from __future__ import annotations

import itertools

import numpy as np

__all__ = ["projections"]

_POWERS = 5
_MOST_COLUMNS = 256  # of all powers: more cost more time than they save


def projections(X, centred: bool) -> list[np.ndarray]:
    """Orthonormal bases of the columns of X, of their squares, and of their third, fourth and fifth powers.

    Each is orthogonal to those before it. The constant is in the first one, or, if `centred`, in none; a
    basis without columns is left out. Powers are taken while they need at most half of the dimensions, and
    nothing where X can have all of them.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.dof.montecarlo.smoothers import projections
    >>> [basis.shape for basis in projections(np.arange(12.0)[:, None], centred=False)]
    [(12, 2), (12, 1), (12, 1), (12, 1), (12, 1)]
    """
    X = np.asarray(X, dtype=float)
    n, p = X.shape
    if p >= n - 1:
        return []
    X = X - X.mean(axis=0)
    scale = np.abs(X).max(axis=0)
    X = X / np.where(scale > 0, scale, 1.0)
    most = min(n // 2, _MOST_COLUMNS)
    powers = [k for k in range(1, _POWERS + 1) if k == 1 or 1 + k * p <= most]
    products = itertools.accumulate([X] * len(powers), np.multiply)
    columns = np.hstack([np.ones((n, 1)), *products])
    power = np.repeat([0, *powers], [1] + [p] * len(powers))
    Q, R = np.linalg.qr(columns)
    # The diagonal of R is what the columns before leave of a column; dependent ones leave rounding.
    rounding = 10 * max(columns.shape) * np.finfo(float).eps
    new = np.abs(np.diag(R)) > rounding * np.linalg.norm(columns, axis=0)[: R.shape[0]]
    new = np.concatenate([new, np.zeros(len(power) - len(new), dtype=bool)])
    if not new.all():
        Q, power = np.linalg.qr(columns[:, new])[0], power[new]
    first = power == 1 if centred else power <= 1
    bases = [Q[:, first], *(Q[:, power == k] for k in powers[1:])]
    return [basis for basis in bases if basis.shape[1]]
