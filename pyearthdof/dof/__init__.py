"""Degrees of freedom of fitting procedures.

The modules of this folder have the concepts that apply to any procedure: `degrees_of_freedom` the paper's
Algorithm 1, `prediction` new rows, `families` classes and counts, `exact` formulas for orthogonal columns,
`stump` that of a tree with one split, `criteria` model selection, and `results` what estimates have in
common. `mars` corrects the penalty and the size of MARS models, `consistency` compares nominal with actual
degrees of freedom, `pipeline` reports on scikit-learn's pipelines, and `montecarlo` runs the fits.
"""

from .._utils.lazy import lazy_names
from .degrees_of_freedom import (
    degrees_of_freedom as degrees_of_freedom,
)  # now: a lazy one would be its module

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        ".consistency.mars": "SelfConsistency self_consistency",
        ".consistency.path": "ConsistencyPath GridPoint NominalRule consistency_path",
        ".criteria": "ProcedureChoice aic bic choose_by_df gcv",
        ".degrees_of_freedom": "degrees_of_freedom",
        ".families": "FamilyDegreesOfFreedom family_df",
        ".mars.auto_earth": "AutoEarth",
        ".mars.corrected_earth": "CorrectedEarth",
        ".mars.correction": "PenaltyCorrection correct_penalty nominal_df",
        ".mars.fitted_mean": "AroundFit",
        ".mars.sizes": "SizeChoice SizeCurve choose_size df_of_sizes",
        ".mars.tables": (
            "PenaltyEstimate PenaltyTable penalty_table quick_df_of_sizes quick_penalty size_table"
        ),
        ".pipeline.comparison": "ProcedureComparison compare",
        ".pipeline.df_report": "DfReport df_report",
        ".pipeline.fixed_choices": "Price",
        ".prediction": "RandomXDegreesOfFreedom prediction_df",
        ".results": "DegreesOfFreedom",
        ".stump": "stump_df",
    },
)
