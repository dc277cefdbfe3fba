"""The degrees of freedom that are usually counted for a fitted model: its parameters."""

from __future__ import annotations

import numpy as np

__all__ = ["last_step", "naive_df"]

_ENSEMBLES = ("Forest", "ExtraTrees", "Boosting", "Bagging", "AdaBoost")


def naive_df(model, fits=None):
    """Parameters as they are usually counted; None where nobody counts.

    MARS counts its own nominal degrees of freedom; a tree has its leaves, a linear model its nonzero
    coefficients, a smoother its trace. Of K classes one has coefficients that follow from the others'. An
    ensemble has more leaves than there are observations; tr S(y) is taken.

    Parameters
    ----------
    model : fitted estimator
    fits : Fits, optional
        Its fit, with what it tells.
    """
    last = last_step(model)
    if any(part in type(last).__name__ for part in _ENSEMBLES):
        return None if fits is None or fits.trace is None else float(fits.trace[0])
    if hasattr(last, "nominal_df_"):
        return float(last.nominal_df_)
    if fits is not None and fits.n_coef is not None:
        return fits.n_coef[0].item()
    if hasattr(last, "get_n_leaves"):
        return int(last.get_n_leaves())
    if hasattr(last, "coef_"):
        return _free(last.coef_) + _free(np.atleast_1d(getattr(last, "intercept_", 0.0))[:, None])
    return None


def _free(coefficients) -> int:
    """Nonzero coefficients; of K > 2 rows, one for each class, K - 1 at most in each column."""
    table = np.atleast_2d(coefficients)
    return int(np.minimum((table != 0).sum(axis=0), max(1, len(table) - 1)).sum())


def last_step(model):
    """The last step of a pipeline, the best of a search, the regressor of a transformed response."""
    while True:
        if hasattr(model, "steps"):
            model = model.steps[-1][1]
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif hasattr(model, "regressor_"):
            model = model.regressor_
        else:
            return model
