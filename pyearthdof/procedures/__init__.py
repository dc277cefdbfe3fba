"""The paper's fitting procedures beside MARS: each a scikit-learn regressor that reports its df.

Not importable from the top of the package: `Ridge` or `Lasso` there would shadow scikit-learn's, whose
penalties are scaled otherwise. A name is imported on first use.
"""

from importlib import import_module

from ..contract import Fits, Procedure

_HOME = {
    "LeastSquares": ".linear",
    "Ridge": ".linear",
    "NearestNeighbors": ".linear",
    "CubicSpline": ".splines.smoothing",
    "SmoothingSpline": ".splines.smoothing",
    "MonotoneCubicSpline": ".splines.monotone",
    "MonotoneSmoothingSpline": ".splines.monotone",
    "BestSubset": ".subset",
    "BestSubsets": ".subset",
    "best_subsets": ".subset",
    "Lasso": ".lasso",
    "LassoPath": ".lasso",
    "RelaxedLasso": ".lasso",
    "lasso_path": ".lasso",
    "IterativeRidge": ".iterative_ridge",
    "TheoremOne": ".lasso",
    "lasso_derivative": ".lasso",
    "theorem_one": ".lasso",
    "RegressionTree": ".tree",
    "RBSpline": ".splines.by_r",
    "RNaturalSpline": ".splines.by_r",
    "RSmoothingSpline": ".splines.by_r",
}

__all__ = ["Fits", "Procedure", *_HOME]


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module 'pyearthdof.procedures' has no attribute {name!r}")
    return getattr(import_module(_HOME[name], __name__), name)


def __dir__():
    return sorted(__all__)
