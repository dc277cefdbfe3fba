"""
A procedure of your own
=======================

Degrees of freedom of a kernel smoother, given as a plain function.
"""

# %%
# A function provides only the fit, so only ``df`` is estimated.

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
# A function that selects its bandwidth from the data has a search cost. Here it also records the trace
# of the selected smoother.

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
# On pure noise, a wide bandwidth is selected in most runs. The df exceed the mean trace; the difference
# is the search cost.

figure, ax = plt.subplots(figsize=(6.0, 3.6), layout="constrained")
ax.plot(
    bandwidths, [S.trace() for S in smoothers], color="#1f5fa8", label="fixed bandwidth: df = tr S"
)
ax.axhline(chosen.df, color="#d95f02", label="selected by leave-one-out: df")
ax.axhspan(*chosen.interval(), color="#d95f02", alpha=0.2)
ax.axhline(
    np.mean(traces), color="#d95f02", linestyle=":", label="selected by leave-one-out: mean tr S"
)
ax.set(xscale="log", xlabel="bandwidth", ylabel="degrees of freedom", ylim=(0, 10))
ax.grid(alpha=0.25)
ax.legend()
plt.show()
