"""
Random forests and boosting
===========================

Degrees of freedom of a forest against the number of predictors per split, and of boosting against the
number of rounds.
"""

# %%
# Mentch and Zhou (2020) explain the success of forests on noisy data by their low degrees of freedom,
# which decrease with the number of predictors per split (mtry, scikit-learn's `max_features`). Here the
# signal-to-noise ratio is 0.05, with 100 rows and 10 Gaussian predictors, 5 of which matter. All points
# of a line share the same responses, so differences between points have smaller errors than the points.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor

from pyearthdof import consistency_path

X = np.random.default_rng(0).normal(size=(100, 10))
mean = X[:, :5].sum(axis=1)
around = {"X": X, "mu": mean, "sigma": np.sqrt(mean.var() / 0.05), "n_rep": 40, "random_state": 1}

mtry = {"max_features": [1, 2, 4, 7, 10]}
forests = {
    leaves: consistency_path(
        RandomForestRegressor(20, max_leaf_nodes=leaves), mtry, nominal="trace", **around
    )
    for leaves in (5, 20)
}
rounds = {"n_estimators": [1, 5, 15, 40, 80]}
boosting = {
    depth: consistency_path(
        GradientBoostingRegressor(max_depth=depth), rounds, nominal="trace", **around
    )
    for depth in (1, 3)
}
for leaves, path in forests.items():
    step, se = path.step(0, len(path.df) - 1)
    print(f"forest, {leaves} leaves: mtry from 1 to 10 costs {step:.1f} ± {se:.1f} df")
for depth, path in boosting.items():
    print(f"boosting, depth {depth}: df", "  ".join(f"{df:.1f}" for df in path.df))

# %%

figure, axes = plt.subplots(1, 2, figsize=(8.2, 3.8), layout="constrained")
colours = ("#1f5fa8", "#d95f02")
panels = [
    (axes[0], forests, "leaves", "mtry, predictors for a split", "forest"),
    (axes[1], boosting, "depth", "rounds", "boosting"),
]
for ax, paths, word, label, title in panels:
    for (size, path), colour in zip(paths.items(), colours, strict=True):
        lower, upper = path.interval()
        ax.fill_between(path.values, lower, upper, color=colour, alpha=0.15, linewidth=0)
        name = f"{word} {size}" if word == "depth" else f"{size} {word}"
        ax.plot(path.values, path.df, "o-", markersize=4, color=colour, label=f"{name}, df")
        ax.plot(path.values, path.nominal_df, "--", color=colour, label=f"{name}, tr S(y)")
    ax.set(xlabel=label, ylabel="degrees of freedom", title=title)
    ax.set_ylim(0, 1.4 * max(path.df.max() for path in paths.values()))
    ax.legend(fontsize=8, loc="upper left", ncols=2, columnspacing=1)
plt.show()

# %%
# Bands are 95 % confidence intervals. Dashed lines are the mean trace of S(y): the degrees of freedom
# of the same averages if the splits were fixed. The difference is the search cost.
