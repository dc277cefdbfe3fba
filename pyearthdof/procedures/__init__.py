"""The paper's fitting procedures beside MARS: each a scikit-learn regressor that reports its df.

Not importable from the top of the package: `Ridge` or `Lasso` there would shadow scikit-learn's, whose
penalties are scaled otherwise. A name is imported on first use.
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
