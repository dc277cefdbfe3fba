"""
Hinges, forward pass and pruning
================================

The three parts of MARS, shown on one predictor.
"""

# %%
# A noisy curve: flat, then increasing, then decreasing.

import matplotlib.pyplot as plt
import numpy as np

from pyearthdof import Earth

BLUE, ORANGE, GREY = "#1f5fa8", "#d95f02", "0.62"
rng = np.random.default_rng(3)
x = np.sort(rng.uniform(0, 10, 150))
truth = np.maximum(x - 3, 0) - 2.2 * np.maximum(x - 6, 0)
y = truth + rng.normal(scale=0.6, size=x.size)
X = x[:, None]

# %%
# A hinge is zero on one side of its knot and a straight line on the other. Hinges come in pairs, one
# for each side, and a sum of hinges is a line that bends at the knots. The product of two hinges of
# different predictors, an interaction, is nonzero in one corner only.

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10, 3.1), layout="constrained")
grid = np.linspace(0, 10, 401)
left.plot(grid, np.maximum(grid - 4, 0), color=BLUE, label="h(x-4)")
left.plot(grid, np.maximum(4 - grid, 0), color=ORANGE, label="h(4-x)")
left.set(title="a pair of hinges, knot at 4", xlabel="x")
left.legend(loc="upper center")
middle.plot(
    grid, 1 + np.maximum(grid - 3, 0) - 2.2 * np.maximum(grid - 6, 0), color=BLUE, linewidth=2
)
for knot in (3, 6):
    middle.axvline(knot, color=GREY, linestyle=":")
middle.set(title="1 + 1.0 h(x-3) - 2.2 h(x-6)", xlabel="x")
a, b = np.meshgrid(grid, grid)
shades = right.contourf(
    a, b, np.maximum(a - 4, 0) * np.maximum(6 - b, 0), levels=[0, 0.01, 6, 12, 18, 24, 30, 36],
    cmap="Blues",
)  # fmt: skip
figure.colorbar(shades, ax=right, ticks=[0, 12, 24, 36])
right.set(title="h(x-4) * h(6-z)", xlabel="x", ylabel="z")
plt.show()

# %%
# The forward pass starts with the mean. Each step tries every knot of every predictor and adds the pair
# of hinges that reduces the sum of squares most. It stops when the improvement is small.

figure, axes = plt.subplots(1, 4, figsize=(10, 2.9), layout="constrained", sharey=True)
for ax, nk in zip(axes, (1, 3, 5, 21), strict=True):
    model = Earth(nk=nk, pmethod="none", thresh=1e-4).fit(X, y)
    ax.plot(x, y, ".", color=GREY, markersize=3)
    ax.plot(grid, model.predict(grid[:, None]), color=BLUE, linewidth=2)
    for knot in {cut for cut, way in zip(model.cuts_[:, 0], model.dirs_[:, 0], strict=True) if way}:
        ax.axvline(knot, color=ORANGE, linestyle=":", linewidth=1)
    terms = "1 term: the mean" if model.n_terms_ == 1 else f"{model.n_terms_} terms"
    ax.set(title=f"{terms}\nRSq {model.rsq_:.2f}", xlabel="x")
    print(f"terms: {model.n_terms_:2d}, RSq {model.rsq_:.3f}")
axes[0].set_ylabel("y")
plt.show()

# %%
# The forward pass overfits deliberately, because a knot that looks useless may become useful later. The
# pruning pass removes the least useful term one at a time. Larger models always fit the training rows
# better (RSS). GCV penalises terms and knots; the size with the smallest GCV is selected.

full = Earth(pmethod="none", thresh=1e-4).fit(X, y)
model = Earth(thresh=1e-4).fit(X, y)
print(model.summary())

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
sizes = np.arange(1, len(model.gcv_per_subset_) + 1)
left.plot(sizes, model.rss_per_subset_ / x.size, "o-", color=GREY, markersize=4, label="RSS / n")
left.plot(sizes, model.gcv_per_subset_, "o-", color=BLUE, markersize=4, label="GCV")
left.axvline(model.n_terms_, color=ORANGE, linestyle=":")
left.annotate(
    f"{model.n_terms_} terms are kept",
    (model.n_terms_, model.gcv_per_subset_[model.n_terms_ - 1]),
    (model.n_terms_ + 0.6, 0.6 * model.gcv_per_subset_[0]),
    arrowprops={"arrowstyle": "->", "color": ORANGE},
)
left.set(xlabel="number of terms", ylim=(0, None), title="pruning: size with the smallest GCV")
left.legend()
right.plot(x, y, ".", color=GREY, markersize=4)
right.plot(grid, full.predict(grid[:, None]), color=ORANGE, label=f"before: {full.n_terms_} terms")
right.plot(
    grid,
    model.predict(grid[:, None]),
    color=BLUE,
    linewidth=2.2,
    label=f"after: {model.n_terms_} terms",
)
right.set(xlabel="x", ylabel="y", title="before and after")
right.legend()
plt.show()
