"""
A procedure of your own: a kernel smoother
==========================================

Anything that turns X and y into a fit has degrees of freedom. A plain function will do; a class can tell more
and be faster.
"""

# %%
# As a function: only the fit is known, so only ``df`` can be estimated.

import matplotlib.pyplot as plt
import numpy as np

from pyearthdof import degrees_of_freedom

x = np.linspace(0, 1, 80)[:, None]


def weights(x, bandwidth):
    kernel = np.exp(-0.5 * ((x - x.T) / bandwidth) ** 2)
    return kernel / kernel.sum(axis=1, keepdims=True)


def smooth(X, y):
    return weights(X, 0.1) @ y


print(degrees_of_freedom(smooth, x, random_state=0))
print("trace of S:", weights(x, 0.1).trace().round(4))

# %%
# A function that chooses its bandwidth by the data searches, and pays for it. Here it notes the trace of
# what it chose.

bandwidths = np.logspace(-1.7, 0, 15)
smoothers = [weights(x, b) for b in bandwidths]
traces = []


def smooth_best(X, y):
    def score(S):  # leave-one-out error of a linear smoother
        return np.mean(((y - S @ y) / (1 - np.diag(S))) ** 2)

    S = min(smoothers, key=score)
    traces.append(S.trace())
    return S @ y


chosen = degrees_of_freedom(smooth_best, x, n_rep=400, random_state=0)
print(chosen)
print(f"mean trace of the chosen smoother: {np.mean(traces):.4f}")

# %%
# There is nothing to find, so mostly a wide bandwidth is chosen. Its df are more than its trace: the
# difference is the price of the choice.

figure, ax = plt.subplots(figsize=(6.0, 3.6), layout="constrained")
ax.plot(
    bandwidths, [S.trace() for S in smoothers], color="#1f5fa8", label="bandwidth fixed: df = tr S"
)
ax.axhline(chosen.df, color="#d95f02", label="chosen by leave-one-out: df")
ax.axhspan(*chosen.interval(), color="#d95f02", alpha=0.2)
ax.axhline(
    np.mean(traces), color="#d95f02", linestyle=":", label="chosen by leave-one-out: mean tr S"
)
ax.set(xscale="log", xlabel="bandwidth", ylabel="degrees of freedom", ylim=(0, 10))
ax.grid(alpha=0.25)
ax.legend()
plt.show()
