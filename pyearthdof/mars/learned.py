"""The learned attributes of an estimator, read from its model: nothing is kept twice."""

from __future__ import annotations

from typing import Any

import pandas as pd

from .._version import __version__
from .model.mars_model import MarsModel

__all__ = ["LearnedFromModel"]


def _of_model(name: str) -> Any:
    return property(lambda self: getattr(self.model_, name))


class LearnedFromModel:
    """The parts of `model_` under the names that scikit-learn users look for."""

    model_: MarsModel

    terms_ = _of_model("selected_names")
    dirs_, cuts_ = _of_model("dirs"), _of_model("cuts")
    selected_terms_ = _of_model("selected")
    rss_, rsq_ = _of_model("rss"), _of_model("rsq")
    gcv_, grsq_ = _of_model("gcv"), _of_model("grsq")
    response_names_ = _of_model("response_names")
    rss_per_response_ = _of_model("rss_per_response")
    rsq_per_response_ = _of_model("rsq_per_response")
    gcv_per_response_ = _of_model("gcv_per_response")
    grsq_per_response_ = _of_model("grsq_per_response")
    rss_per_subset_ = _of_model("rss_per_subset")
    gcv_per_subset_ = _of_model("gcv_per_subset")
    prune_terms_ = _of_model("prune_terms")
    n_terms_ = n_coef_ = _of_model("n_terms")
    nominal_df_ = _of_model("nominal_df")
    nk_, penalty_ = _of_model("nk"), _of_model("penalty")
    termcond_ = _of_model("termcond")
    engine_ = _of_model("engine")
    trace_: Any = property(lambda self: float(self.model_.n_terms))

    @property
    def versions_(self) -> dict[str, str]:
        """Versions of what computed the fit."""
        return {"pyearthdof": __version__} | dict(self.model_.versions)

    @property
    def glm_coef_(self):
        """Coefficients of the generalised linear model, where there is one."""
        return self._glm.coef

    @property
    def glm_(self) -> pd.DataFrame:
        """A row of numbers for each response of the generalised linear model, where there is one."""
        return self._glm.to_frame(self.model_.response_names)

    @property
    def _glm(self):
        if self.model_.glm is None:
            raise AttributeError("this model has no generalised linear model: fit with glm_family")
        return self.model_.glm
