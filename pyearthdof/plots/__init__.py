"""Plots of fitted MARS models, as R's plot.earth, plotmo and plot.evimp.

Each function draws into the given Axes or a new pyplot figure and returns its Axes, without showing or
saving the figure. matplotlib is imported on first use.
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
