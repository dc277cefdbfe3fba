"""
Best subset selection
=====================

Three of ten columns use seven degrees of freedom: the trace of the fit is the size of the subset, and
the search over all subsets costs the rest.
"""

# %%
# For best subsets, both definitions of the search cost agree (Proposition 1 of the paper), because the
# fit is the refit on its active set.

import matplotlib.pyplot as plt
import numpy as np

from pyearthdof import degrees_of_freedom
from pyearthdof.procedures import BestSubset

X = np.random.default_rng(0).normal(size=(100, 10))
sizes = range(11)
found = [
    degrees_of_freedom(BestSubset(size=k), X, n_rep=1000, random_state=1, method="monte-carlo")
    for k in sizes
]
for k in (1, 3, 10):
    print(k, found[k])

# %%
# The search cost is zero for none or all of the columns and largest in between.

df = np.array([f.df for f in found])
bars = np.abs(np.array([f.interval() for f in found]).T - df)
figure, ax = plt.subplots(figsize=(6.0, 3.8), layout="constrained")
ax.plot(sizes, sizes, "--", color="0.45", label="number of coefficients")
ax.errorbar(sizes, df, yerr=bars, marker="o", markersize=4, color="#1f5fa8", label="df")
ax.fill_between(sizes, sizes, df, color="#d95f02", alpha=0.2, label="search cost, sdf = msdf")
ax.set(xlabel="size of the subset of 10 columns", ylabel="degrees of freedom")
ax.grid(alpha=0.25)
ax.legend()
plt.show()
