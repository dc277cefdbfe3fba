"""
Linear smoothers
================

Least squares, ridge and nearest neighbours are linear, :math:`S y` with a fixed S. Their degrees of
freedom are exactly the trace of S, and the search cost is zero.
"""

# %%
# ``degrees_of_freedom`` uses the exact value without Monte Carlo (``n_rep=0``):

import matplotlib.pyplot as plt
import numpy as np

from pyearthdof import degrees_of_freedom
from pyearthdof.procedures import LeastSquares, NearestNeighbors, Ridge

X = np.random.default_rng(0).normal(size=(100, 10))
for procedure in (LeastSquares(), Ridge(lam=50.0), NearestNeighbors(k=5)):
    print(procedure, degrees_of_freedom(procedure, X), sep="\n   ")

# %%
# The Monte Carlo estimate (Algorithm 1 of the paper), which applies to every procedure, agrees.

penalties = np.logspace(0, 4, 9)
neighbours = [2, 3, 5, 8, 12, 20, 40]


def both(procedure):
    measured = degrees_of_freedom(procedure, X, method="monte-carlo", n_rep=1000, random_state=1)
    return degrees_of_freedom(procedure, X).df, measured.df, *measured.interval()


ridge = np.array([both(Ridge(lam=lam)) for lam in penalties])
knn = np.array([both(NearestNeighbors(k=k)) for k in neighbours])

figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.4), layout="constrained")
for ax, where, found in ((left, penalties, ridge), (right, neighbours, knn)):
    ax.plot(where, found[:, 0], color="#1f5fa8", label="trace of S")
    ax.errorbar(
        where,
        found[:, 1],
        yerr=np.abs(found[:, 2:].T - found[:, 1]),
        fmt="o",
        color="#d95f02",
        markersize=4,
        label="Monte Carlo, 95 %",
    )
    ax.grid(alpha=0.25)
left.set(xscale="log", xlabel="penalty λ", ylabel="degrees of freedom", title="Ridge, 10 columns")
right.set(xscale="log", xlabel="neighbours k", title="Nearest neighbours, n/k")
right.set_xticks(neighbours, neighbours)
right.minorticks_off()
left.legend(fontsize=9)
plt.show()
