"""
A MARS model of ozone in Los Angeles
====================================

Fit, look, and judge: the pictures that R users know from plotmo, plot.earth and evimp.
"""

# %%
# Ten columns of 330 days in 1976, from R's package earth.

import matplotlib.pyplot as plt

from pyearthdof import Earth, plots
from pyearthdof.datasets import load_ozone

ozone = load_ozone()
X, y = ozone.drop(columns="O3"), ozone["O3"]
model = Earth(degree=2, engine="native").fit(X, y)
print(model)

# %%
# What each predictor does, the others at their median, and the pairs that interact.

plots.plot_effects(model, X)
plt.show()

# %%
# Which predictors matter.

plots.plot_importance(model)
plt.show()

# %%
# How large the model should be, and what it leaves.

plots.plot_residuals(model, y)
plt.show()
