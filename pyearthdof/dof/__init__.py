"""Degrees of freedom: the paper's concepts, one file each.

`empirical` has Algorithm 1, `search` the search costs, `consistency` nominal against actual degrees
of freedom, `correction` Algorithm 2 and `mars_search` what it measures, `criteria` AIC, BIC and GCV.
`jackknife` has the errors and intervals, `designs` what they cover, `variance` and `control` the
estimators with less variance, `pilot` the noise around a fit.
"""

from .consistency import SelfConsistency, nominal_df, self_consistency
from .correction import PenaltyCorrection, correct_penalty
from .criteria import aic, bic, gcv
from .empirical import DegreesOfFreedom, degrees_of_freedom

__all__ = [
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
