r"""
Lasso and relatives
===================

The degrees of freedom of the lasso equal its expected number of nonzero coefficients. They split into
:math:`\mathrm{tr}\,S` and a search cost δ.
"""

# %%
# The whole path for the paper's simulation, computed without Monte Carlo (Theorem 1):

import matplotlib.pyplot as plt
import numpy as np

from pyearthdof import degrees_of_freedom
from pyearthdof.datasets import make_sparse
from pyearthdof.procedures import IterativeRidge, Lasso, RelaxedLasso, lasso_path

data = make_sparse(n=100, p=20, random_state=0)
path = lasso_path(data.X, data.y)
gap = np.abs(path.trace + path.delta - path.n_nonzero).max()
print(f"largest difference between tr S + delta and the number of nonzeros: {gap:.1e}")

figure, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
ax.step(path.lam, path.n_nonzero, where="mid", color="0.3", linestyle="--", label="nonzeros")
ax.plot(path.lam, path.trace, color="#1f5fa8", label="tr S")
ax.plot(path.lam, path.trace + path.delta, color="#d95f02", alpha=0.8, label="tr S + δ")
ax.set(xscale="log", xlabel="penalty λ", ylabel="degrees of freedom")
ax.grid(alpha=0.25)
ax.legend()
plt.show()

# %%
# The Monte Carlo estimate for a true mean of zero agrees. For the lasso, ``msdf`` is the mean of δ, and
# ``sdf`` the search cost of the relaxed lasso, which refits the selected columns. The relaxed lasso has
# the same search without shrinkage and therefore uses more degrees of freedom.

lam = 10.0
for procedure in (Lasso(lam=lam), RelaxedLasso(lam=lam)):
    measured = degrees_of_freedom(procedure, data.X, n_rep=400, random_state=1)
    print(procedure, measured, sep="\n   ")

# %%
# The lasso as an iterated ridge regression with adaptive weights, the algorithm behind the formula for
# S.

small = Lasso(lam=lam).fit(data.X, data.y)
repeated = IterativeRidge(lam=lam).fit(data.X, data.y)
print(f"{repeated.path_.shape[1]} iterations,", end=" ")
print(f"coefficients differ by at most {np.abs(small.coef_ - repeated.coef_).max():.1e}")
print(f"trace {small.trace_:.4f} and {repeated.trace_:.4f}")
