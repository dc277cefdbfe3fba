"""Fitting procedures of the paper other than MARS, as scikit-learn regressors.

They are not exported at the top level, where `Ridge` and `Lasso` could be confused with scikit-learn's, whose
penalties are scaled differently. Names are imported on first use.
"""

from .._utils.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "..contract": "Fits Procedure",
        ".iterative_ridge": "IterativeRidge",
        ".lasso": "Lasso LassoPath RelaxedLasso TheoremOne lasso_derivative lasso_path theorem_one",
        ".linear": "LeastSquares NearestNeighbors Ridge",
        ".splines.by_r": "RBSpline RNaturalSpline RSmoothingSpline",
        ".splines.monotone": "MonotoneCubicSpline MonotoneSmoothingSpline",
        ".splines.smoothing": "CubicSpline SmoothingSpline",
        ".subset": "BestSubset BestSubsets best_subsets",
        ".tree": "RegressionTree",
    },
)
