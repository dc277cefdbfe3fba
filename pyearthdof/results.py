"""Result classes of this package.

The names are imported on first use, as those of `pyearthdof` are.
"""

from ._utils.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "..mars.crosscheck": "CrossCheck",
        "..dof": (
            "AroundFit ConsistencyPath DegreesOfFreedom DfReport FamilyDegreesOfFreedom GridPoint "
            "NominalRule PenaltyCorrection PenaltyEstimate PenaltyTable Price ProcedureChoice "
            "ProcedureComparison RandomXDegreesOfFreedom SelfConsistency SizeChoice SizeCurve"
        ),
    },
)
