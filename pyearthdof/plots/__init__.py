"""Pictures of a fitted MARS model: what R's plot.earth, plotmo and plot.evimp draw.

Each function draws into the Axes it is given, or into a new pyplot figure, and returns its Axes; none
of them shows or saves anything. matplotlib is imported by the first picture, not before.
"""

from .classification import plot_calibration, plot_class_densities
from .effects import plot_effects
from .importance import plot_contributions, plot_importance
from .residuals import plot_residuals
from .selection import plot_model_selection, plot_models, plot_sizes

__all__ = [
    "plot_calibration",
    "plot_class_densities",
    "plot_contributions",
    "plot_effects",
    "plot_importance",
    "plot_model_selection",
    "plot_models",
    "plot_residuals",
    "plot_sizes",
]
