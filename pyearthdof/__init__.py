"""R's MARS in Python, and the degrees of freedom of any fitting procedure.

Names are imported on first use, so `import pyearthdof` is fast and never starts R.
"""

from importlib import import_module
from typing import Any

from ._utils.lazy import lazy_names
from ._version import __version__

_lazy, _, _own = lazy_names(
    __name__,
    {
        ".bridge.doctor": "doctor",
        ".dof": (
            "AutoEarth CorrectedEarth aic bic choose_by_df choose_size compare consistency_path "
            "correct_penalty degrees_of_freedom df_of_sizes df_report family_df gcv nominal_df "
            "penalty_table prediction_df quick_df_of_sizes quick_penalty self_consistency size_table "
            "stump_df"
        ),
        ".mars.classifier": "EarthClassifier",
        ".mars.crosscheck": "crosscheck",
        ".mars.cv": "EarthCV",
        ".mars.earth": "Earth",
        ".mars.folds": "RFolds",
        ".mars.mda": "Mars",
        ".mars.model.mars_model": "MarsModel",
        ".random": "RDraws",
    },
)
__all__ = [*_own, "__version__"]


def __getattr__(name: str) -> Any:
    if name in ("plots", "results"):
        return import_module(f".{name}", __name__)
    if name == "_core":  # asked for before it was imported: `from pyearthdof import _core`
        return import_module("._utils.core", __name__).load_core()
    return _lazy(name)


def __dir__() -> list[str]:
    return sorted([*__all__, "plots", "results"])
