"""
Search cost of MARS
===================

MARS models of at most nine terms use more degrees of freedom the more predictors they can choose from,
although the models are hardly larger.
"""

# %%
# Forward pass without pruning, 100 rows, additive and with interactions.

import matplotlib.pyplot as plt
import numpy as np

from pyearthdof import Earth, degrees_of_freedom

predictors = [1, 2, 5, 10, 20, 50]


def measured(degree, p):
    mars = Earth(degree=degree, nk=9, thresh=0, pmethod="none")
    return degrees_of_freedom(mars, (100, p), n_rep=100, random_state=1)


found = {degree: [measured(degree, p) for p in predictors] for degree in (1, 2)}
for degree, row in found.items():
    text = ", ".join(f"{p}: {f.df:.1f}" for p, f in zip(predictors, row, strict=True))
    print(f"degree {degree}, df by number of predictors: {text}")

# %%
# Dotted lines are the nominal degrees of freedom, with penalty 2 or 3 per knot. Bars are 95 %
# confidence intervals over 20 designs.

figure, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
for (degree, row), colour in zip(found.items(), ("#1f5fa8", "#d95f02"), strict=True):
    df = np.array([f.df for f in row])
    bars = np.abs(np.array([f.interval() for f in row]).T - df)
    ax.errorbar(
        predictors,
        df,
        yerr=bars,
        marker="o",
        markersize=4,
        color=colour,
        label=f"actual, degree {degree}",
    )
    nominal = [f.n_coef + (1 + degree) * (f.n_coef - 1) / 2 for f in row]
    ax.plot(predictors, nominal, ":", color=colour, linewidth=2, label=f"nominal, degree {degree}")
ax.set(xscale="log", xlabel="number of predictors", ylabel="degrees of freedom", ylim=(0, None))
ax.set_xticks(predictors, predictors)
ax.minorticks_off()
ax.grid(alpha=0.25)
ax.legend()
plt.show()
