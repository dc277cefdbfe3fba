"""The classes of the results that this package's functions return.

The names are imported on first use, as those of `pyearthdof` are.
"""

from __future__ import annotations

from importlib import import_module

_HOME = {
    "AroundFit": ".dof",
    "ConsistencyPath": ".dof",
    "CrossCheck": ".mars.crosscheck",
    "DegreesOfFreedom": ".dof",
    "DfReport": ".dof",
    "FamilyDegreesOfFreedom": ".dof",
    "GridPoint": ".dof",
    "NominalRule": ".dof",
    "PenaltyCorrection": ".dof",
    "PenaltyEstimate": ".dof",
    "PenaltyTable": ".dof",
    "Price": ".dof",
    "ProcedureChoice": ".dof",
    "RandomXDegreesOfFreedom": ".dof",
    "SelfConsistency": ".dof",
    "SizeChoice": ".dof",
    "SizeCurve": ".dof",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> type:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name], __package__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
