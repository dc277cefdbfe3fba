"""R's MARS in Python, and the degrees of freedom of any fitting procedure.

The names below are imported on first use, so that `import pyearthdof` is quick and never starts R.
"""

from importlib import import_module

from ._version import __version__

_HOME = {
    "AroundFit": ".dof",
    "ConsistencyPath": ".dof",
    "CorrectedEarth": ".dof",
    "CrossCheck": ".mars.crosscheck",
    "Earth": ".mars.earth",
    "EarthCV": ".mars.cv",
    "EarthClassifier": ".mars.classifier",
    "Mars": ".mars.mda",
    "MarsModel": ".mars.model.mars_model",
    "RDraws": ".random",
    "RFolds": ".mars.folds",
    "DegreesOfFreedom": ".dof",
    "FamilyChoice": ".dof",
    "DfReport": ".dof",
    "FamilyDegreesOfFreedom": ".dof",
    "GridPoint": ".dof",
    "NominalRule": ".dof",
    "PenaltyCorrection": ".dof",
    "PenaltyEstimate": ".dof.mars.penalty_table",
    "PenaltyTable": ".dof.mars.penalty_table",
    "Price": ".dof",
    "RandomXDegreesOfFreedom": ".dof",
    "SelfConsistency": ".dof",
    "SizeChoice": ".dof",
    "SizeCurve": ".dof",
    "aic": ".dof",
    "bic": ".dof",
    "choose_by_df": ".dof",
    "choose_size": ".dof",
    "correct_penalty": ".dof",
    "crosscheck": ".mars.crosscheck",
    "degrees_of_freedom": ".dof",
    "df_of_sizes": ".dof",
    "df_report": ".dof",
    "gcv": ".dof",
    "nominal_df": ".dof",
    "penalty_table": ".dof.mars.penalty_table",
    "quick_penalty": ".dof.mars.penalty_table",
    "quick_df_of_sizes": ".dof",
    "self_consistency": ".dof",
    "size_table": ".dof",
    "doctor": ".bridge.doctor",
}

__all__ = [*_HOME, "__version__"]


def __getattr__(name):
    if name == "plots":
        return import_module(".plots", __name__)
    if name == "_core":  # asked for before it was imported: `from pyearthdof import _core`
        return import_module("._utils.core", __name__).load_core()
    if name not in _HOME:
        raise AttributeError(f"module 'pyearthdof' has no attribute {name!r}")
    return getattr(import_module(_HOME[name], __name__), name)


def __dir__():
    return sorted([*__all__, "plots"])
