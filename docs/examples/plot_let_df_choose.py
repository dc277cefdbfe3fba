"""
Model size by degrees of freedom
================================

Nominal and actual degrees of freedom of MARS models of every size, and the size that each selects.
"""

# %%
# Two hinges in two of 50 predictors, 200 rows. Nominally, each term uses two degrees of freedom; the
# search uses nine for the first one.

import matplotlib.pyplot as plt

from pyearthdof import AutoEarth, Earth, plots
from pyearthdof.datasets import make_hinges

data = make_hinges(n=200, p=50, random_state=0)
default = Earth().fit(data.X, data.y)
model = AutoEarth(Earth(), n_models=1, degrees=(1,), nk=None).fit(data.X, data.y)

figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.8), layout="constrained")
plots.plot_sizes(model, left)
table = model.choice_.table
right.plot(
    table["size"], table["aicc"] - table["aicc"].min(), color="#1f5fa8", label="AICc, actual df"
)
gcv = default.gcv_per_subset_ / default.gcv_per_subset_.min() - 1
right.plot(range(1, len(gcv) + 1), gcv, color="#d95f02", label="GCV, nominal df")
right.axvline(model.n_terms_, color="#1f5fa8", linewidth=0.8)
right.axvline(default.n_terms_, color="#d95f02", linewidth=0.8)
right.set(xlabel="number of terms", ylabel="score minus its minimum", ylim=(-0.01, 0.6))
right.grid(alpha=0.25)
right.legend(frameon=False)
plt.show()

# %%
# The selected models and their errors at new rows:

new = make_hinges(2000, 50, random_state=99)
for name, fit in (("default penalty", default), ("size by actual df", model)):
    error = ((fit.predict(new.X) - new.mean) ** 2).mean()
    print(f"{name}: {fit.n_terms_} terms, error {error:.4f}")
