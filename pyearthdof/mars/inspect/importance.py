"""How much each predictor matters to a model: earth's three criteria (R's `evimp`)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from ...exceptions import InvalidInputError

__all__ = ["feature_importances", "importance_table", "pruned_again"]


def importance_table(model, *, trim: bool = True, sqrt: bool = True) -> pd.DataFrame:
    """Importance of the predictors, the most important first.

    A predictor earns, for each subset of the pruning pass up to the chosen size that uses it: one in
    `nsubsets`, and in `gcv` and `rss` what that subset gained over the next smaller one. gcv and rss
    are scaled to a largest value of 100, after a square root unless `sqrt` is False.

    Parameters
    ----------
    model : MarsModel
    trim : bool
        Leave out predictors that are in no subset.
    """
    if model.n_terms > 1 and model.prune_terms.size == 0:
        raise InvalidInputError(
            "this model keeps no record of its pruning pass (mda's do not), so nothing tells the "
            "importance of its predictors"
        )
    with np.errstate(
        invalid="ignore"
    ):  # an infinite GCV says nothing of any predictor: NaN, as in R
        return _importance_table(model, trim, sqrt)


def _importance_table(model, trim: bool, sqrt: bool) -> pd.DataFrame:
    p = len(model.feature_names)
    used = np.any(model.dirs[model.selected] != 0, axis=0)
    scores = np.zeros((p, 3))
    gcv, rss = (np.asarray(v, dtype=float) for v in (model.gcv_per_subset, model.rss_per_subset))
    with np.errstate(invalid="ignore"):  # a GCV may be infinite: then nobody knows what it gains
        gains = np.column_stack([np.ones_like(gcv[1:]), -np.diff(gcv), -np.diff(rss)])
    for size in range(2, model.n_terms + 1):
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
    """Shares of the raw columns in the importance by GCV, before its square root; they add up to 1.

    The columns of a factor count together, and one made of several raw columns for each of them in
    equal parts. Where nothing gains in GCV (a large model that was not pruned), or the GCV is infinite,
    it is the importance by RSS; where nothing gains anything all shares are 0.
    """
    table = importance_table(model, trim=False, sqrt=False)
    for criterion in ("gcv", "rss"):
        gains = table[criterion].reindex(model.feature_names).clip(lower=0).to_numpy()
        gains = np.array([_share_of(name, gains, model.owners) for name in model.raw_names])
        total = gains.sum()
        if np.isfinite(total) and total > 0:
            return gains / total
    return np.zeros(len(model.raw_names))


def pruned_again(model, bx: np.ndarray, y: np.ndarray):
    """A model that keeps no record of its pruning pass, with one of removing its terms backward."""
    from ..engines.native.engine import prune
    from ..options import EarthOptions

    options = EarthOptions(
        n_features=len(model.feature_names), penalty=model.penalty, pmethod="none"
    )
    found = prune(bx, y.reshape(len(bx), -1), options)
    return replace(
        model,
        dirs=model.dirs[model.selected],
        selected=np.arange(model.n_terms),
        rss_per_subset=found.rss_per_subset,
        gcv_per_subset=found.gcv_per_subset,
        prune_terms=found.prune_terms,
    )


def _share_of(name: str, gains: np.ndarray, owners) -> float:
    return sum(g / len(names) for g, names in zip(gains, owners, strict=True) if name in names)


def _scaled(values: np.ndarray, sqrt: bool) -> np.ndarray:
    largest = np.abs(values).max(initial=0.0)
    if largest == 0 or len(values) < 2:
        return values
    with np.errstate(invalid="ignore"):
        shares = values / largest
    return 100 * (np.sign(shares) * np.sqrt(np.abs(shares)) if sqrt else shares)
