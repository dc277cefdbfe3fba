"""Degrees of freedom: the paper's concepts, one file each.

`empirical` has Algorithm 1, `search` the search costs, `consistency` nominal against actual degrees
of freedom, `correction` Algorithm 2, `corrected` the estimator that takes its penalty and `mars_search`
what it measures, `criteria` AIC, BIC and GCV, `pilot` the noise around a fit. `run` has the machinery:
the draws, the fits, `jackknife` the errors and intervals, `designs` what they cover, `variance` and
`control` the estimators with less variance.
"""

from .consistency import SelfConsistency, nominal_df, self_consistency
from .corrected import CorrectedEarth
from .correction import PenaltyCorrection, correct_penalty
from .criteria import aic, bic, gcv
from .empirical import DegreesOfFreedom, degrees_of_freedom

__all__ = [
    "CorrectedEarth",
    "DegreesOfFreedom",
    "PenaltyCorrection",
    "SelfConsistency",
    "aic",
    "bic",
    "correct_penalty",
    "degrees_of_freedom",
    "gcv",
    "nominal_df",
    "self_consistency",
]
