"""
Ozone in Los Angeles
====================

Fit, inspect and evaluate a MARS model, with the plots that R users know from plotmo, plot.earth and
evimp.
"""

# %%
# Ten columns for 330 days in 1976, from R's package earth.

import matplotlib.pyplot as plt

from pyearthdof import Earth, plots
from pyearthdof.datasets import load_ozone

ozone = load_ozone()
X, y = ozone.drop(columns="O3"), ozone["O3"]
model = Earth(degree=2).fit(X, y)
print(model)

# %%
# The effect of each predictor, with the others at their median, and of the interacting pairs.

plots.plot_effects(model, X)
plt.show()

# %%
# Variable importance.

plots.plot_importance(model)
plt.show()

# %%
# Model selection and residuals.

plots.plot_residuals(model, y)
plt.show()
