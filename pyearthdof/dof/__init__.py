"""Degrees of freedom: the paper's concepts, one file each.

`empirical` has Algorithm 1, `search` the search costs, `consistency` nominal against actual degrees of
freedom, `correction` Algorithm 2, `corrected` the estimator that takes its penalty and `mars_search` what
it measures, `criteria` AIC, BIC and GCV, `pilot` the noise around a fit; `structure` what scikit-learn's
regressors tell of themselves, `orthogonal` exact formulas, `random_x` predictions at new rows, `families`
and `covariance_penalty` classes and counts, `path` self-consistency of any procedure, `report` the
report, `held` what it holds. `run` has the machinery: the draws, the fits, `jackknife` the errors and
intervals, `designs` what they cover, `variance` and `control` the estimators with less variance.
"""

from .consistency import SelfConsistency, nominal_df, self_consistency
from .corrected import CorrectedEarth
from .correction import PenaltyCorrection, correct_penalty
from .covariance_penalty import FamilyDegreesOfFreedom
from .criteria import aic, bic, gcv
from .empirical import DegreesOfFreedom, degrees_of_freedom
from .path import ConsistencyPath, GridPoint, NominalRule
from .random_x import RandomXDegreesOfFreedom
from .report import DfReport, Price, df_report

__all__ = [
    "ConsistencyPath",
    "CorrectedEarth",
    "DegreesOfFreedom",
    "DfReport",
    "FamilyDegreesOfFreedom",
    "GridPoint",
    "NominalRule",
    "PenaltyCorrection",
    "Price",
    "RandomXDegreesOfFreedom",
    "SelfConsistency",
    "aic",
    "bic",
    "correct_penalty",
    "degrees_of_freedom",
    "df_report",
    "gcv",
    "nominal_df",
    "self_consistency",
]
