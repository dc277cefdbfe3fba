"""What the bridge costs: one fit of ozone (degree 2) from Python against the same call inside R.

Alternating runs in one process, so that both see the same machine: `Earth(degree=2).fit(X, y)` and
`earth(x, y, degree=2)` timed by R itself. Prints medians and their ratio.
"""

from __future__ import annotations

import statistics
import time

from pyearthdof import Earth, bridge
from pyearthdof.datasets import load_ozone

RUNS = 101


def main() -> None:
    data = load_ozone()
    X, y = data.drop(columns="O3"), data["O3"]
    design = bridge.NamedMatrix(X.to_numpy(dtype=float), tuple(X.columns))
    ours, theirs = [], []
    for _ in range(RUNS):
        began = time.perf_counter()
        Earth(degree=2, engine="r").fit(X, y)
        ours.append(time.perf_counter() - began)
        theirs.append(float(bridge.call("earth.seconds", design, y.to_numpy(dtype=float), 2)[0]))
    ratios = sorted(a / b for a, b in zip(ours, theirs, strict=True))
    low, high = ratios[RUNS // 20], ratios[-RUNS // 20]
    print(f"earth() inside R:       median {1e3 * statistics.median(theirs):7.2f} ms")
    print(f"Earth.fit by the bridge: median {1e3 * statistics.median(ours):7.2f} ms")
    print(f"ratio of medians {statistics.median(ours) / statistics.median(theirs):.2f}")
    print(
        f"ratio of paired runs: median {statistics.median(ratios):.2f}, 90 % in {low:.2f} to {high:.2f}"
    )
    print(", ".join(f"{name} {version}" for name, version in bridge.r_versions().items()))


if __name__ == "__main__":
    main()
