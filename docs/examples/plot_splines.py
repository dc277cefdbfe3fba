"""
Cubic, smoothing and monotone splines
=====================================

Penalties and constraints reduce degrees of freedom: a monotone spline with ten basis functions uses
fewer than three.
"""

# %%
# The paper's table of splines: 100 equally spaced points, mean zero. ``method="exact"`` is the trace
# for the two linear splines and the mean trace over the same fits for the monotone ones.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from pyearthdof import degrees_of_freedom
from pyearthdof.procedures import (
    CubicSpline,
    MonotoneCubicSpline,
    MonotoneSmoothingSpline,
    SmoothingSpline,
)

x = np.arange(1.0, 101.0)[:, None]
cases = [CubicSpline(n_basis=j) for j in (5, 10, 15)]
cases += [SmoothingSpline(lam=lam, n_knots="all") for lam in (0.001, 0.01, 0.1)]
cases += [MonotoneCubicSpline(n_basis=j) for j in (5, 10, 15)]
cases += [MonotoneSmoothingSpline(lam=lam) for lam in (0.001, 0.01, 0.1)]
rows = []
for procedure in cases:
    measured = degrees_of_freedom(procedure, x, n_rep=400, random_state=1, method="monte-carlo")
    theory = np.nan
    if procedure.df_statistic is not None:
        theory = degrees_of_freedom(procedure, x, n_rep=400, random_state=1, method="exact").df
    setting = getattr(procedure, "n_basis", None) or procedure.lam
    rows.append((type(procedure).__name__, setting, theory, measured.df, measured.se))
table = pd.DataFrame(rows, columns=["spline", "setting", "theory", "df", "se"])
print(table.round(3).to_string(index=False, na_rep="-"))

# %%
# All four fitted to the same noisy curve.

rng = np.random.default_rng(3)
truth = 1 / (1 + np.exp(-(x[:, 0] - 45) / 6))
y = truth + 0.25 * rng.normal(size=100)
figure, panels = plt.subplots(
    1, 2, figsize=(8.6, 3.8), layout="constrained", sharex=True, sharey=True
)
pairs = [
    (CubicSpline(n_basis=10), MonotoneCubicSpline(n_basis=10)),
    (SmoothingSpline(lam=0.0001, n_knots="all"), MonotoneSmoothingSpline(lam=0.0001)),
]
for ax, pair in zip(panels, pairs, strict=True):
    ax.plot(x, y, ".", color="0.6", markersize=4)
    ax.plot(x, truth, "--", color="0.3", linewidth=1, label="truth")
    for procedure, colour in zip(pair, ("#1f5fa8", "#d95f02"), strict=True):
        fit = procedure.fit(x, y)
        name = type(procedure).__name__
        ax.plot(x, fit.predict(x), color=colour, label=f"{name}, trace {fit.trace_:.1f}")
    ax.legend(fontsize=8, loc="lower right")
    ax.grid(alpha=0.25)
plt.show()
