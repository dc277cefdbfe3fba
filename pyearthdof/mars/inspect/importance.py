"""Importance of predictors (R's `evimp`), Friedman's ANOVA of groups of terms, and contributions of terms."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...exceptions import InvalidInputError
from ..components.terms import gcv_of


def importance_table(model, *, trim: bool = True, sqrt: bool = True) -> pd.DataFrame:
    """Importance of the predictors, in decreasing order.

    Each subset of the pruning pass up to the selected size that uses a predictor adds one to its `nsubsets`,
    and the improvement over the next smaller subset to its `gcv` and `rss`. gcv and rss are scaled to a
    maximum of 100, after a square root unless `sqrt` is False. `trim` drops predictors that are in no
    subset.
    """
    n_terms = len(model.selected)
    if model.is_merged:
        sd, used = model.selection.importance, np.any(model.dirs[model.selected] != 0, axis=0)
        order = np.argsort(-sd, kind="stable")
        names = np.array(model.feature_names)[order]
        frame = pd.DataFrame({"sd": sd[order], "used": used[order]}, index=names)
        return frame[frame["used"]] if trim else frame
    if n_terms > 1 and model.prune_terms.size == 0:
        raise InvalidInputError(
            "this model keeps no record of its pruning pass (mda's do not), so it cannot give the "
            "importance of its predictors"
        )
    with np.errstate(invalid="ignore"):  # NaN for an infinite GCV, as in R
        return _importance_table(model, n_terms, trim, sqrt)


def _importance_table(model, n_terms: int, trim: bool, sqrt: bool) -> pd.DataFrame:
    p = len(model.feature_names)
    used = np.any(model.dirs[model.selected] != 0, axis=0)
    scores = np.zeros((p, 3))
    gcv, rss = (np.asarray(v, dtype=float) for v in (model.gcv_per_subset, model.rss_per_subset))
    with np.errstate(invalid="ignore"):  # with an infinite GCV, the gain is undefined
        gains = np.column_stack([np.ones_like(gcv[1:]), -np.diff(gcv), -np.diff(rss)])
    for size in range(2, n_terms + 1):
        terms = model.prune_terms[size - 1, 1:]
        terms = terms[terms > 0].astype(int) - 1
        members = np.any(model.dirs[terms] != 0, axis=0)
        scores[members] += gains[size - 2]
    order = np.lexsort((-scores[:, 1], -scores[:, 0]))
    scores = scores[order]
    for column in (1, 2):
        scores[:, column] = _scaled(scores[:, column], sqrt)
    frame = pd.DataFrame(
        scores, columns=["nsubsets", "gcv", "rss"], index=np.array(model.feature_names)[order]
    )
    frame["used"] = used[order]
    frame["nsubsets"] = frame["nsubsets"].astype(int)
    return frame[frame["nsubsets"] > 0] if trim else frame


def feature_importances(model) -> np.ndarray:
    """Shares of the raw columns in the importance by GCV, before the square root; the sum is 1.

    The columns of a factor are added up; a column derived from several raw columns is split equally among
    them. If no predictor improves the GCV (a large unpruned model), or the GCV is infinite, the importance
    by RSS is used; if no predictor improves the RSS either, all shares are 0.
    """
    table = importance_table(model, trim=False, sqrt=False)
    for criterion in ("sd",) if model.is_merged else ("gcv", "rss"):
        gains = table[criterion].reindex(model.feature_names).clip(lower=0).to_numpy()
        shares = list(zip(gains, model.owners, strict=True))
        gains = np.array(
            [sum(g / len(names) for g, names in shares if raw in names) for raw in model.raw_names]
        )
        total = gains.sum()
        if np.isfinite(total) and total > 0:
            return gains / total
    return np.zeros(len(model.raw_names))


def _scaled(values: np.ndarray, sqrt: bool) -> np.ndarray:
    largest = np.abs(values).max(initial=0.0)
    if largest == 0 or len(values) < 2:
        return values
    with np.errstate(invalid="ignore"):
        shares = values / largest
    return 100 * (np.sign(shares) * np.sqrt(np.abs(shares)) if sqrt else shares)


def anova_table(model, bx, responses, weights=None) -> pd.DataFrame:
    """Group the terms by their predictors and compute statistics of each group.

    Groups are the functions in f(x) = a0 + sum f_i(x_i) + sum f_ij(x_i, x_j) + ... (Friedman 1991, section
    3.5). Several responses have one standard deviation each. `bx` contains the selected terms at the
    training rows.
    """
    Y = responses.reshape(len(responses), -1)
    coef = model.coef.reshape(model.n_terms, -1)
    root = np.ones(len(Y)) if weights is None else np.sqrt(weights)
    groups = _groups(model)
    rows = []
    for terms in groups.values():
        spread = (bx[:, terms] @ coef[terms]).std(axis=0, ddof=1)
        if model.is_merged:  # least squares without a group is undefined for an averaged model
            rows.append([len(terms), *spread])
            continue
        kept = [t for t in range(model.n_terms) if t not in terms]
        rss = rss_of(bx[:, kept] * root[:, None], Y * root[:, None])
        gcv = float(gcv_of(rss, len(kept), len(Y), model.penalty))
        rows.append([len(terms), *spread, gcv])
    several = Y.shape[1] > 1
    spreads = [f"sd_{name}" for name in model.response_names] if several else ["sd"]
    columns = ["terms", *spreads] + ([] if model.is_merged else ["gcv"])
    table = pd.DataFrame(rows, columns=columns, index=list(groups))
    return table.astype(float).astype({"terms": int})


def _groups(model) -> dict[str, list[int]]:
    """Selected terms by the names of their predictors, single predictors first."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for position, term in enumerate(model.selected):
        used = tuple(int(j) for j in np.flatnonzero(model.dirs[term]))
        if used:
            groups.setdefault(used, []).append(position)
    ordered = sorted(groups, key=lambda used: (len(used), used))
    return {" ".join(model.feature_names[j] for j in used): groups[used] for used in ordered}


def rss_of(columns: np.ndarray, Y: np.ndarray) -> float:
    """RSS of the least-squares fit of Y on columns of any scale."""
    size = np.linalg.norm(columns, axis=0)
    columns = columns / np.where(size > 0, size, 1.0)
    coef, *_ = np.linalg.lstsq(columns, Y, rcond=None)
    return float(np.sum((Y - columns @ coef) ** 2))


def term_contributions(model, X, index=None) -> pd.DataFrame:
    """Coefficient times term at the rows of X, the intercept first; the columns sum to the prediction.

    For a generalised linear model, they sum to the linear predictor. Several responses give two levels of
    columns, the response and the term.
    """
    basis, offset = model.basis(X), model.offset(X)
    coef = model.coef if model.glm is None else model.glm.coef
    names = list(model.selected_names)
    blocks = []
    for column in coef.reshape(len(coef), -1).T:
        block = pd.DataFrame(basis * column, columns=names, index=index)
        if offset is not None:
            block["offset"] = offset
        blocks.append(block)
    if model.coef.ndim == 1:
        return blocks[0]
    return pd.concat(blocks, axis=1, keys=list(model.response_names))


def additive_terms(model, X, index=None) -> pd.DataFrame:
    """R's predict(type="terms"): one column per predictor, the sum of the terms that use it alone.

    As in R, interactions and the intercept are omitted, and only the first response is returned.
    """
    dirs = model.dirs[model.selected]
    alone = np.count_nonzero(dirs, axis=1) == 1
    basis, coef = model.basis(X)[:, alone], model.coef.reshape(len(dirs), -1)[alone, 0]
    found = {}
    for j in np.flatnonzero(np.any(dirs[alone] != 0, axis=0)):
        of_predictor = dirs[alone][:, j] != 0
        values = np.zeros(len(basis))
        for k in np.flatnonzero(of_predictor):  # R's order of summation
            values = values + coef[k] * basis[:, k]
        found[model.feature_names[j]] = values
    rows = index if index is not None else range(len(basis))
    return pd.DataFrame(found, index=rows)
