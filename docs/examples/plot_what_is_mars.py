"""
What is MARS?
=============

Hinges, the forward pass that collects them and the pruning pass that removes most of them, on one predictor.
"""

# %%
# A curve with noise: flat, then up, then down.

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
# A hinge is zero on one side of its knot and a straight line on the other. Hinges come in pairs, one for each
# side, and a sum of them is a line that bends at the knots. A product of two hinges of different predictors
# is zero but in one corner: that is an interaction.

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
# The forward pass begins with the mean. Each step tries every knot of every predictor and adds the pair of
# hinges that lowers the sum of squares most. It goes on until there is little to win.

figure, axes = plt.subplots(1, 4, figsize=(10, 2.9), layout="constrained", sharey=True)
for ax, nk in zip(axes, (1, 3, 5, 21), strict=True):
    model = Earth(nk=nk, pmethod="none", thresh=1e-4, engine="native").fit(X, y)
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
# That is too much on purpose: a knot that looks useless may become useful later. The pruning pass removes
# terms one by one, each time the one that is missed least. More terms always fit these rows better (RSS).
# GCV charges for each term and each knot, and the size with the least GCV is taken.

full = Earth(pmethod="none", thresh=1e-4, engine="native").fit(X, y)
model = Earth(thresh=1e-4, engine="native").fit(X, y)
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
left.set(xlabel="number of terms", ylim=(0, None), title="pruning: the size with the least GCV")
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
