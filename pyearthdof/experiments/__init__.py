"""The paper's tables and figures, one file each.

Modules of this folder that define `EXPERIMENT` are discovered automatically: a new experiment is a new
file. `base` defines the class of experiments; `runner` runs them and stores their finished parts.
"""

from __future__ import annotations

import functools
import pkgutil
from importlib import import_module

from .._utils.checks import refusal
from .base import Experiment
from .verdict import Comparison

__all__ = ["Comparison", "Experiment", "experiment", "experiments"]


@functools.cache
def experiments() -> dict[str, Experiment]:
    """Return every experiment by its name, in the paper's order."""
    modules = [import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__)]
    found = [m.EXPERIMENT for m in modules if hasattr(m, "EXPERIMENT")]
    return {e.name: e for e in sorted(found, key=lambda e: (e.order, e.name))}


def experiment(name: str) -> Experiment:
    """Return the experiment of that name, upper or lower case."""
    for known, found in experiments().items():
        if known.lower() == name.lower():
            return found
    raise refusal("experiment", name, f"one of {', '.join(experiments())}")
