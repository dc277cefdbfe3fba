"""Friedman's ANOVA decomposition of a MARS model: what each group of predictors contributes."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..components.terms import gcv_of

__all__ = ["anova_table"]


def anova_table(model, bx, responses, weights=None) -> pd.DataFrame:
    """Group the terms by the predictors that they use and measure each group.

    f(x) = a0 + sum f_i(x_i) + sum f_ij(x_i, x_j) + ... (Friedman 1991, section 3.5): a group is one of
    these functions. With several responses there is a standard deviation for each of them.

    Parameters
    ----------
    model : MarsModel
    bx : (n, n_terms) array, the selected terms at the training rows.
    responses : (n,) or (n, m) array.
    weights : (n,) array, optional
    """
    Y = responses.reshape(len(responses), -1)
    coef = model.coef.reshape(model.n_terms, -1)
    root = np.ones(len(Y)) if weights is None else np.sqrt(weights)
    groups = _groups(model)
    rows = []
    for terms in groups.values():
        kept = [t for t in range(model.n_terms) if t not in terms]
        rss = _rss(bx[:, kept] * root[:, None], Y * root[:, None])
        spread = (bx[:, terms] @ coef[terms]).std(axis=0, ddof=1)
        gcv = float(gcv_of(rss, len(kept), len(Y), model.penalty))
        rows.append([len(terms), *spread, gcv])
    several = Y.shape[1] > 1
    spreads = [f"sd_{name}" for name in model.response_names] if several else ["sd"]
    table = pd.DataFrame(rows, columns=["terms", *spreads, "gcv"], index=list(groups))
    return table.astype(float).astype({"terms": int})


def _groups(model) -> dict[str, list[int]]:
    """Selected terms by the names of their predictors, groups of one predictor first."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for position, term in enumerate(model.selected):
        used = tuple(int(j) for j in np.flatnonzero(model.dirs[term]))
        if used:
            groups.setdefault(used, []).append(position)
    ordered = sorted(groups, key=lambda used: (len(used), used))
    return {" ".join(model.feature_names[j] for j in used): groups[used] for used in ordered}


def _rss(columns: np.ndarray, Y: np.ndarray) -> float:
    size = np.linalg.norm(columns, axis=0)
    columns = columns / np.where(size > 0, size, 1.0)
    coef, *_ = np.linalg.lstsq(columns, Y, rcond=None)
    return float(np.sum((Y - columns @ coef) ** 2))
