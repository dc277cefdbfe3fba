"""
Nominal and actual degrees of freedom of MARS
=============================================

MARS assumes a fixed cost per knot for any number of predictors. The actual cost grows with that number.
"""

# %%
# Fits to pure noise measure the actual degrees of freedom: 100 rows, additive models, forward pass
# only, every size up to 60 terms. One forward pass per response serves all sizes.

import matplotlib.pyplot as plt
import numpy as np

from pyearthdof import self_consistency

sizes = range(1, 61, 4)
runs = {p: self_consistency((100, p), degree=1, nk=sizes, n_rep=50) for p in (1, 10, 50)}
for p, run in runs.items():
    print(f"p = {p:2d}: {run}")

# %%
# Points on the dashed line are self-consistent. With one predictor, the nominal number is too large;
# with fifty, it is far too small; with ten, it depends on the size. Bars are 95 % confidence intervals
# for the design that was drawn.

figure, ax = plt.subplots(figsize=(5.8, 4.6), layout="constrained")
ax.plot([0, 80], [0, 80], "--", color="0.45", linewidth=1.2)
ax.text(27, 29, "nominal = actual", rotation=45, ha="center", rotation_mode="anchor")
ax.text(16, 44, "nominal\ntoo large", ha="center", color="0.4", style="italic")
ax.text(62, 14, "nominal\ntoo small", ha="center", color="0.4", style="italic")
for (p, run), colour, mark in zip(
    runs.items(), ("#1b7a5a", "#1f5fa8", "#d95f02"), "os^", strict=True
):
    ax.errorbar(
        run.df,
        run.nominal_df,
        xerr=np.abs(np.array(run.interval()) - run.df),
        color=colour,
        marker=mark,
        markersize=4.5,
        linewidth=1.4,
        elinewidth=0.9,
        label=f"{p} predictor{'s' if p > 1 else ''}",
    )
ax.set(
    xlabel="actual degrees of freedom (measured)",
    ylabel="nominal degrees of freedom (assumed by MARS)",
    xlim=(0, 80),
    ylim=(0, 80),
    aspect="equal",
)
ax.grid(alpha=0.25)
ax.legend(loc="upper left", title="100 rows, penalty 2")
plt.show()
