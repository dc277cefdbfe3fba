"""
Effects of a fitted model
=========================

Daily ozone in Los Angeles, explained by four hinges: the fitted curve of each predictor, with its knot.
"""

# %%
# Each term of an additive MARS model is a coefficient times a hinge, so the model is one piecewise
# linear curve per predictor. Dotted lines mark the knots that the search selected.

import matplotlib.pyplot as plt
import numpy as np

from pyearthdof import Earth, plots
from pyearthdof.datasets import load_ozone

ozone = load_ozone()
X, y = ozone.drop(columns="O3"), ozone["O3"]
model = Earth(nprune=5).fit(X, y)
print(model.format(digits=3))

figure, panels = plt.subplots(1, 4, figsize=(10, 2.8), layout="constrained", sharey=True)
plots.plot_effects(model, X, axes=panels)
for ax in panels:
    column = list(X).index(ax.get_xlabel())
    used = model.dirs_[model.selected_terms_][:, column] != 0
    for knot in np.unique(model.cuts_[model.selected_terms_][used, column]):
        ax.axvline(knot, color="#d95f02", linestyle=":", linewidth=1.2)
for ax in panels:
    ax.set_ylabel("predicted ozone" if ax is panels[0] else "")
plt.show()
