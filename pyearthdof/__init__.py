"""R's MARS in Python, and the degrees of freedom of any fitting procedure.

The names below are imported on first use, so that `import pyearthdof` is quick and never starts R.
"""

from importlib import import_module
from typing import Any

from ._version import __version__

_HOME = {
    "AutoEarth": ".dof",
    "CorrectedEarth": ".dof",
    "Earth": ".mars.earth",
    "EarthCV": ".mars.cv",
    "EarthClassifier": ".mars.classifier",
    "Mars": ".mars.mda",
    "MarsModel": ".mars.model.mars_model",
    "RDraws": ".random",
    "RFolds": ".mars.folds",
    "aic": ".dof",
    "bic": ".dof",
    "choose_by_df": ".dof",
    "choose_size": ".dof",
    "consistency_path": ".dof",
    "correct_penalty": ".dof",
    "crosscheck": ".mars.crosscheck",
    "degrees_of_freedom": ".dof",
    "df_of_sizes": ".dof",
    "df_report": ".dof",
    "doctor": ".bridge.doctor",
    "family_df": ".dof",
    "gcv": ".dof",
    "nominal_df": ".dof",
    "penalty_table": ".dof",
    "prediction_df": ".dof",
    "quick_df_of_sizes": ".dof",
    "quick_penalty": ".dof",
    "self_consistency": ".dof",
    "size_table": ".dof",
    "stump_df": ".dof",
}

__all__ = [*_HOME, "__version__"]


def __getattr__(name: str) -> Any:
    if name in ("plots", "results"):
        return import_module(f".{name}", __name__)
    if name == "_core":  # asked for before it was imported: `from pyearthdof import _core`
        return import_module("._utils.core", __name__).load_core()
    if name not in _HOME:
        raise AttributeError(f"module 'pyearthdof' has no attribute {name!r}")
    return getattr(import_module(_HOME[name], __name__), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "plots", "results"])
