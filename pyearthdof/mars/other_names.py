"""Arguments that Earth has in py-earth or in R under another name: refused with ours."""

from __future__ import annotations

from sklearn.base import BaseEstimator

from ..exceptions import InvalidInputError

__all__ = ["KnowsOtherNames"]

OURS = {
    # py-earth's
    "max_degree": "is degree here",
    "max_terms": "is nk here, the most terms in the forward pass",
    "endspan_alpha": "is not here: endspan=0 has it computed as R's earth does, or is a number of rows",
    "minspan_alpha": "is not here: minspan=0 has it computed as R's earth does, or is a number of rows",
    "allow_linear": "is auto_linpreds here; linpreds names predictors that may enter only linearly",
    "allow_missing": "is not here: fill missing values first, with an imputer in a pipeline, or predict "
    "with missing='propagate'",
    "enable_pruning": "is pmethod here; pmethod='none' does not prune",
    "use_fast": "is fast_k here: parents considered at each step, 0 for all",
    "fast_K": "is fast_k here",
    "fast_h": "is not here: fast_k and fast_beta are those of R's Fast MARS",
    "smooth": "is not here: the basis functions are hinges, as in R's earth",
    "check_every": "is minspan here, the number of rows between knots",
    "min_search_points": "is minspan here; a negative one is a number of knots for each predictor",
    "zero_tol": "is not here: R's earth has none",
    "feature_importance_type": "is not here: importance() has all criteria of a fitted model, and "
    "feature_importances_ the shares by GCV",
    "verbose": "is not here: print(model.summary()) tells of a fitted model",
    "linvars": "is linpreds here, of Earth and not of fit",
    "xlabels": "is not here: the columns of a DataFrame name the terms",
    "output_weight": "is response_weight here, of Earth and not of fit",
    # R's
    "wp": "is response_weight here",
    "glm": "is glm_family here, with glm_link, glm_maxit and glm_epsilon",
    "trace": "is not here: print(model.summary()) tells of a fitted model",
    "weights": "is sample_weight of fit here",
    "subset": "is an argument of fit here",
    "x": "is X of fit here",
    "y": "is an argument of fit here",
    "formula": "is an argument of Earth.from_formula here",
    "data": "is an argument of Earth.from_formula here",
    "Get_crit": "is not here: R's earth has it for research",
}  # fmt: skip


class KnowsOtherNames(BaseEstimator):
    """A constructor that names ours. It stands before `__init__`, whose arguments are looked at by others.

    Examples
    --------
    >>> from pyearthdof import Earth
    >>> Earth(max_degree=2)
    Traceback (most recent call last):
    TypeError: Earth() got max_degree=2, but max_degree is degree here
    """

    def __new__(cls, *args, **options):
        """Refuse other names."""
        if wrong := _other_name(options):
            raise TypeError(f"{cls.__name__}() got {wrong}")
        return super().__new__(cls)

    def set_params(self, **params):
        """Set the params, as scikit-learn's estimators do; other names are refused with ours."""
        if wrong := _other_name(params):
            raise InvalidInputError(f"set_params() got {wrong}")
        return super().set_params(**params)


def _other_name(options: dict) -> str | None:
    """What is wrong with the first of them that has another name here."""
    for name, value in options.items():
        if name in OURS:
            return f"{name}={str(value)[:40]}, but {name} {OURS[name]}"
    return None
