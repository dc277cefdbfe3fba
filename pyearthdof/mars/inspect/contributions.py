"""What each term, or each predictor, adds to a prediction."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .summary import coef_matrix

__all__ = ["additive_terms", "term_contributions"]


def term_contributions(model, X, index=None) -> pd.DataFrame:
    """Coefficient times term at the rows of X, the intercept first; the columns add up to the prediction.

    With a generalised linear model that is the linear predictor. Several responses have two levels of
    columns, the response and the term.
    """
    basis, offset = model.basis(X), model.offset(X)
    coef = coef_matrix(model.coef if model.glm is None else model.glm.coef)
    names = list(model.selected_names)
    blocks = []
    for column in coef.T:
        block = pd.DataFrame(basis * column, columns=names, index=index)
        if offset is not None:
            block["offset"] = offset
        blocks.append(block)
    if model.coef.ndim == 1:
        return blocks[0]
    return pd.concat(blocks, axis=1, keys=list(model.response_names))


def additive_terms(model, X, index=None) -> pd.DataFrame:
    """R's predict(type="terms"): a column for each predictor with the terms that use it alone.

    Interactions and the intercept are left out, and of several responses it is the first, as in R.
    """
    dirs = model.dirs[model.selected]
    alone = np.count_nonzero(dirs, axis=1) == 1
    basis, coef = model.basis(X)[:, alone], coef_matrix(model.coef)[alone, 0]
    found = {}
    for j in np.flatnonzero(np.any(dirs[alone] != 0, axis=0)):
        of_predictor = dirs[alone][:, j] != 0
        values = np.zeros(len(basis))
        for k in np.flatnonzero(of_predictor):  # R's order of sums
            values = values + coef[k] * basis[:, k]
        found[model.feature_names[j]] = values
    rows = index if index is not None else range(len(basis))
    return pd.DataFrame(found, index=rows)
