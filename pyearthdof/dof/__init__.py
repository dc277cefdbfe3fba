"""Degrees of freedom of fitting procedures.

The modules of this folder have the concepts that apply to any procedure: `degrees_of_freedom` the paper's
Algorithm 1, `prediction` new rows, `families` classes and counts, `exact` formulas for orthogonal columns,
`stump` that of a tree with one split, `criteria` model selection, and `results` what estimates have in
common. `mars` corrects the penalty and the size of MARS models, `consistency` compares nominal with actual
degrees of freedom, `pipeline` reports on scikit-learn's pipelines, and `montecarlo` runs the fits.
"""

from .consistency.mars import SelfConsistency, self_consistency
from .consistency.path import ConsistencyPath, GridPoint, NominalRule, consistency_path
from .criteria import ProcedureChoice, aic, bic, choose_by_df, gcv
from .degrees_of_freedom import degrees_of_freedom
from .families import FamilyDegreesOfFreedom, family_df
from .mars.auto_earth import AutoEarth
from .mars.corrected_earth import CorrectedEarth
from .mars.correction import PenaltyCorrection, correct_penalty, nominal_df
from .mars.fitted_mean import AroundFit
from .mars.sizes import SizeChoice, SizeCurve, choose_size, df_of_sizes
from .mars.tables import (
    PenaltyEstimate,
    PenaltyTable,
    penalty_table,
    quick_df_of_sizes,
    quick_penalty,
    size_table,
)
from .pipeline.df_report import DfReport, df_report
from .pipeline.fixed_choices import Price
from .prediction import RandomXDegreesOfFreedom, prediction_df
from .results import DegreesOfFreedom
from .stump import stump_df

__all__ = [
    "AroundFit",
    "AutoEarth",
    "ConsistencyPath",
    "CorrectedEarth",
    "DegreesOfFreedom",
    "DfReport",
    "FamilyDegreesOfFreedom",
    "GridPoint",
    "NominalRule",
    "PenaltyCorrection",
    "PenaltyEstimate",
    "PenaltyTable",
    "Price",
    "ProcedureChoice",
    "RandomXDegreesOfFreedom",
    "SelfConsistency",
    "SizeChoice",
    "SizeCurve",
    "aic",
    "bic",
    "choose_by_df",
    "choose_size",
    "consistency_path",
    "correct_penalty",
    "degrees_of_freedom",
    "df_of_sizes",
    "df_report",
    "family_df",
    "gcv",
    "nominal_df",
    "penalty_table",
    "prediction_df",
    "quick_df_of_sizes",
    "quick_penalty",
    "self_consistency",
    "size_table",
    "stump_df",
]
