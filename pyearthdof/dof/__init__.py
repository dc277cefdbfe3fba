"""Degrees of freedom: the paper's concepts, one file each.

`empirical` has the door for all kinds of responses and rows, `fixed_x` Algorithm 1, `result` what it
gives, `search` the search costs, `consistency` nominal against actual degrees of freedom, `correction`
Algorithm 2, `corrected` the estimator that takes its penalty and `mars_search` what it measures, `sizes`
the df of every size of a pruning sequence, `size_choice` the size that they choose, `size_table` their
table, `fitted_mean` both rules around the fit, `family` the choice among other procedures, `criteria` AIC,
BIC and GCV, `pilot` the noise around a fit; `structure` what scikit-learn's regressors tell of themselves,
`orthogonal` exact formulas, `random_x` predictions at `new_rows` and `optimism_parts` what they are made
of, `families` and `covariance_penalty` classes and counts, `path` self-consistency of any procedure along
a `grid`, `nominal_rule` what is compared there, `report` the report, `held` what it holds; `drawn` and
`shown` the results in pictures and notebooks. `run` has the machinery: the draws, the fits, `jackknife`
the errors and intervals, `designs` what they cover, `variance`, `direction`, `control` and `frames` the
estimators with less variance, `target` when to stop.
"""

from .consistency.mars import SelfConsistency, nominal_df, self_consistency
from .consistency.path import ConsistencyPath, GridPoint, NominalRule
from .covariance_penalty import FamilyDegreesOfFreedom
from .criteria import aic, bic, gcv
from .degrees_of_freedom import DegreesOfFreedom, degrees_of_freedom
from .family_choice import FamilyChoice, choose_by_df
from .mars.corrected_earth import CorrectedEarth
from .mars.correction import PenaltyCorrection, correct_penalty
from .mars.fitted_mean import AroundFit
from .mars.size_choice import SizeChoice, choose_size
from .mars.size_table import quick_df_of_sizes, size_table
from .mars.sizes import SizeCurve, df_of_sizes
from .pipeline.df_report import DfReport, Price, df_report
from .prediction import RandomXDegreesOfFreedom

__all__ = [
    "AroundFit",
    "ConsistencyPath",
    "CorrectedEarth",
    "DegreesOfFreedom",
    "DfReport",
    "FamilyChoice",
    "FamilyDegreesOfFreedom",
    "GridPoint",
    "NominalRule",
    "PenaltyCorrection",
    "Price",
    "RandomXDegreesOfFreedom",
    "SelfConsistency",
    "SizeChoice",
    "SizeCurve",
    "aic",
    "bic",
    "choose_by_df",
    "choose_size",
    "correct_penalty",
    "degrees_of_freedom",
    "df_of_sizes",
    "df_report",
    "gcv",
    "nominal_df",
    "quick_df_of_sizes",
    "self_consistency",
    "size_table",
]
