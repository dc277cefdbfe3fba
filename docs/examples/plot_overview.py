"""
Twelve procedures
=================

Parameters and degrees of freedom of every procedure in the paper, fitted to one hundred rows of pure
noise.
"""

# %%
# ``trace`` is the cost of a model of this form if it were fixed in advance, ``df`` its cost if the data
# select it, and ``msdf`` the difference, the search cost.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from pyearthdof import Earth, degrees_of_freedom
from pyearthdof.procedures import (
    BestSubset,
    CubicSpline,
    Lasso,
    LeastSquares,
    MonotoneCubicSpline,
    MonotoneSmoothingSpline,
    NearestNeighbors,
    RegressionTree,
    RelaxedLasso,
    Ridge,
    SmoothingSpline,
)

x = np.arange(1.0, 101.0)[:, None]
X = np.random.default_rng(0).normal(size=(100, 10))
cases = [
    ("least squares, 10 columns", LeastSquares(), X),
    ("ridge, λ = 50", Ridge(lam=50.0), X),
    ("10 nearest neighbours", NearestNeighbors(k=10), X),
    ("cubic spline, 10 functions", CubicSpline(n_basis=10), x),
    ("smoothing spline, λ = 0.001", SmoothingSpline(lam=0.001), x),
    ("monotone cubic spline", MonotoneCubicSpline(n_basis=10), x),
    ("monotone smoothing spline", MonotoneSmoothingSpline(lam=0.001), x),
    ("best 3 of 10 columns", BestSubset(size=3), X),
    ("lasso, λ = 20", Lasso(lam=20.0), X),
    ("relaxed lasso, λ = 20", RelaxedLasso(lam=20.0), X),
    ("tree of depth 2", RegressionTree(depth=2), X),
    ("MARS, 9 terms", Earth(nk=9, thresh=0, pmethod="none"), X),
]
rows = []
for name, procedure, design in cases:
    found = degrees_of_freedom(procedure, design, n_rep=400, random_state=1)
    df = (found.df, found.se, *found.interval())
    rows.append((name, found.n_coef, found.trace, *df, found.msdf, found.sdf))
columns = ["procedure", "n_coef", "trace", "df", "se", "lower", "upper", "msdf", "sdf"]
table = pd.DataFrame(rows, columns=columns).set_index("procedure").astype(float)
print(table.round(2).to_string(na_rep="-"))

# %%
# Linear smoothers have no search: their df are exact, with standard error 0. The monotone splines adapt
# to the data but use no more than their trace. Best subset, the relaxed lasso, the tree and MARS use
# several times their number of parameters.

figure, ax = plt.subplots(figsize=(8.0, 4.8), layout="constrained")
places = np.arange(len(table))[::-1]
ax.barh(places, table["trace"], color="#9dbbdd", label="trace: the model if fixed in advance")
searched = (table["df"] - table["trace"]).clip(lower=0)
searched = searched.where(table["lower"] > table["trace"], 0)
ax.barh(places, searched, left=table["trace"], color="#d95f02", label="msdf: search cost")
ax.errorbar(
    table["df"],
    places,
    xerr=np.abs(table[["lower", "upper"]].T - table["df"]),
    fmt="k.",
    markersize=5,
    linewidth=1,
    label="df, with 95 % confidence intervals",
)
ax.set_yticks(places, table.index)
ax.set_xlabel("degrees of freedom")
ax.set_xlim(left=0)
ax.grid(axis="x", alpha=0.25)
ax.set_axisbelow(True)
ax.legend(loc="lower center", bbox_to_anchor=(0.35, 1.0), ncols=3, fontsize=9, frameon=False)
plt.show()
