"""
Regression trees
================

A tree of four leaves has four parameters. Finding it among ten predictors uses more than twenty degrees
of freedom.
"""

# %%
# The paper's table of trees: 100 rows of Gaussian predictors, depth 0 to 4. The predictors are drawn 20
# times for each number, and the standard errors in parentheses include this variation. Bars are 95 %
# confidence intervals.

import matplotlib.pyplot as plt
import numpy as np

from pyearthdof import degrees_of_freedom
from pyearthdof.procedures import RegressionTree

depths = range(5)
paper = {  # the paper's table for p = 1, 5 and 10
    1: [1.01, 5.71, 11.84, 19.80, 28.97],
    5: [1.02, 8.71, 18.38, 30.14, 42.06],
    10: [1.00, 9.87, 21.62, 35.01, 48.49],
}
found = {
    p: [
        degrees_of_freedom(RegressionTree(depth=d), (100, p), n_rep=200, random_state=1)
        for d in depths
    ]
    for p in paper
}
for p, row in found.items():
    print(f"p = {p:2d}:", "  ".join(f"{f.df:5.2f} ({f.se:.2f})" for f in row))

# %%

figure, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
ax.plot(depths, [2**d for d in depths], "--", color="0.45", label="leaves, the trace of S")
for (p, row), colour in zip(found.items(), ("#1b7a5a", "#1f5fa8", "#d95f02"), strict=True):
    df = np.array([f.df for f in row])
    bars = np.abs(np.array([f.interval() for f in row]).T - df)
    ax.errorbar(depths, df, yerr=bars, marker="o", markersize=4, color=colour, label=f"df, p = {p}")
    ax.plot(depths, paper[p], "x", color=colour, markersize=8)
ax.plot([], [], "kx", label="paper")
ax.set(xlabel="depth", ylabel="degrees of freedom", xticks=list(depths))
ax.grid(alpha=0.25)
ax.legend()
plt.show()
