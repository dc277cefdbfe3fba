"""Random problems for the power models of the variance, and what R's nls says to them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from pyearthdof.exceptions import InvalidInputError
from pyearthdof.mars.engines.native.regression import wls
from pyearthdof.mars.engines.native.varmod import fit_power
from tests.support.rscript import run_r

KINDS = (
    "growing", "constant", "falling", "zeros", "tiny", "scaled", "exact", "narrow", "clumped", "steep",
)  # fmt: skip

# As earth calls it: the straight line gives the start.
R_NLS = """
out <- list()
message <- character(0)
for (i in seq_along(sizes)) {
  rows <- sum(sizes[seq_len(i - 1)]) + seq_len(sizes[i])
  data <- data.frame(y = ys[rows], x = xs[rows])
  w <- ws[rows]
  message[i] <- tryCatch({
    straight <- if (with[i] == 1) lm(y ~ ., data, weights = w) else lm(y ~ . - 1, data, weights = w)
    line <- as.numeric(coef(straight))
    start <- setNames(c(as.list(line), 1), c(if (with[i] == 1) "(Intercept)", "coef", "exponent"))
    form <- if (with[i] == 1) y ~ `(Intercept)` + coef * x^exponent else y ~ coef * x^exponent
    fit <- nls(form, data, start, weights = w, algorithm = "port", control = list(maxiter = 100))
    out[[paste0("coef", i)]] <- as.double(coef(fit))
    fit$message
  }, error = function(e) sub("^Convergence failure: ", "", conditionMessage(e)))
}
out$message <- message
"""


@dataclass(frozen=True)
class Problem:
    """Of one of the `KINDS`."""

    kind: str
    x: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    intercept: bool

    def rss(self, coef: np.ndarray) -> float:
        line = coef[-2] * self.x ** coef[-1] + (coef[0] if self.intercept else 0.0)
        return float(np.sum(self.weights * (self.y - line) ** 2))

    def solve(self) -> np.ndarray | str:
        """Our coefficients, or why there are none."""
        columns = np.column_stack([np.ones(len(self.x)), self.x])[:, not self.intercept :]
        start = np.append(wls(columns, self.y, self.weights), 1.0)
        try:
            return fit_power(self.x, self.y, self.weights, start, self.intercept)
        except InvalidInputError as error:
            return str(error)


def random_problem(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    n = int(rng.integers(4, 9)) if kind == "tiny" else int(rng.integers(20, 200))
    x = rng.uniform(0.2, 4, n)
    if kind == "zeros":
        x = np.maximum(rng.normal(1.5, 1.2, n), 0.0)
    elif kind == "narrow":
        x = rng.uniform(10, 10 + rng.choice([0.01, 0.5, 5]), n)
    elif kind == "clumped":
        x = rng.choice(rng.uniform(0.5, 20, 4), n)
    exponent = {"constant": 0.0, "falling": -rng.uniform(0.2, 2), "steep": rng.uniform(3, 12)}.get(
        kind, rng.uniform(0.2, 2.5)
    )
    mean = rng.choice([0.0, 0.5, 2.0]) + rng.uniform(0.3, 2) * np.maximum(x, 0.05) ** exponent
    noise = 0.0 if kind == "exact" else rng.choice([0.01, 0.3, 1.0])
    y = mean * np.abs(1 + noise * rng.normal(size=n))
    if rng.random() < 0.4 and kind != "exact":
        y = mean * np.abs(rng.normal(size=n))
    if kind == "scaled":
        x = x * 10.0 ** rng.integers(-8, 9)
        y = y * 10.0 ** rng.integers(-12, 13)
    weights = np.ones(n) if rng.random() < 0.5 else rng.uniform(0.3, 3, n)
    return Problem(kind, x, y, weights, bool(rng.random() < 0.5))


def solve_by_r(problems: list[Problem]) -> list[tuple[np.ndarray | None, str]]:
    """Coefficients, None where R stops, and R's message."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = run_r(
            R_NLS,
            xs=np.concatenate([p.x for p in problems]),
            ys=np.concatenate([p.y for p in problems]),
            ws=np.concatenate([p.weights for p in problems]),
            sizes=np.array([len(p.x) for p in problems], dtype=float),
            **{"with": np.array([p.intercept for p in problems], dtype=float)},
        )
    return [(found.get(f"coef{i}"), found["message"][i - 1]) for i in range(1, len(problems) + 1)]
