"""
Corrected GCV penalty of MARS
=============================

The penalty for which nominal and actual degrees of freedom agree, and its effect on the fit.
"""

# %%
# Nominal against actual degrees of freedom for 100 rows, 10 and 50 predictors, with the default and the
# corrected penalty of each size.

import matplotlib.pyplot as plt
import numpy as np

from pyearthdof import Earth, correct_penalty, self_consistency
from pyearthdof.datasets import make_hinges

cases = [(1, 10), (2, 10), (1, 50)]
runs = {
    (degree, p): self_consistency((100, p), degree=degree, nk=range(1, 62, 6), n_rep=50)
    for degree, p in cases
}
figure, panels = plt.subplots(1, 3, figsize=(9.0, 3.6), layout="constrained")
for ax, ((degree, p), run) in zip(panels, runs.items(), strict=True):
    top = 1.05 * max(run.df.max(), run.nominal_df.max())
    line = ax.plot([0, top], [0, top], "--", color="0.45", label="nominal = actual")
    before = ax.plot(run.df, run.nominal_df, "^-", color="#1f5fa8", label="default penalty")
    after = ax.plot(
        run.df, run.corrected_nominal_df, "o", color="#d95f02", label="corrected penalty"
    )
    ax.set(
        title=f"degree {degree}, {p} predictors", xlim=(0, top), ylim=(0, top), xlabel="actual df"
    )
    ax.grid(alpha=0.25)
panels[0].set_ylabel("nominal df")
figure.legend(handles=[*line, *before, *after], loc="outside lower center", ncols=3, frameon=False)
plt.show()

# %%
# The corrected points lie on the diagonal by construction. The corrected penalty increases with the
# number of predictors and with the degree, and decreases with the size of the model.

for (degree, p), run in runs.items():
    print(f"degree {degree}, p = {p}: penalty {run.default_penalty:g} ->", run.penalty[1:].round(1))

# %%
# In the simulation of the paper, the mean has two hinges in the first two predictors; the others are
# noise. The error is measured against the true mean on new data, relative to the constant model, for
# ten data sets with 50 predictors:

penalty = correct_penalty((200, 50), degree=2, n_rep=50).penalty
scores = {"default penalty, 3": [], f"corrected penalty, {penalty:.2f}": []}
new = make_hinges(2000, 50, random_state=99)
for seed in range(10):
    data = make_hinges(200, 50, random_state=seed)
    for label, given in zip(scores, (3, penalty), strict=True):
        model = Earth(degree=2, penalty=given).fit(data.X, data.y)
        error = np.mean((model.predict(new.X) - new.mean) ** 2)
        scores[label].append(1 - error / np.mean((data.y.mean() - new.mean) ** 2))
for label, values in scores.items():
    spread = np.std(values, ddof=1) / np.sqrt(len(values))
    print(f"{label}: model error decreased by {np.mean(values):.3f} ± {spread:.3f}")
