"""Power models of the variance: R's nls and ours end in the same minimum, or both stop, for the same reason.

Flat problems are a hundred iterations on slopes by differences, where the last bit of a sum may decide
whether the limit of iterations is reached: in R's order of operations all agree, in numpy's 5 of 400 did not.
"""

import warnings

import numpy as np
import pytest

from pyearthdof import Earth
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.mars.engines.native.nl2sol import (
    NoMinimum,
    cholesky,
    damp,
    decompose,
    minimise,
    smallest_singular,
    solve,
    solve_transposed,
)
from pyearthdof.mars.engines.native.varmod import fit_power
from tests.support.mars.power_problems import Problem, random_problem, solve_by_r
from tests.support.rscript import needs_rscript, run_r

ENDS = {
    "X-convergence (3)",
    "relative convergence (4)",
    "both X-convergence and relative convergence (5)",
    "absolute function convergence (6)",
    "singular convergence (7)",
    "false convergence (8)",
    "function evaluation limit reached without convergence (9)",
    "iteration limit reached without convergence (10)",
    "fn cannot be computed at initial par (63)",
    "singular gradient matrix at initial parameter estimates",
    "Missing value or an infinity produced when evaluating the model",
}


def check(problems: list[Problem]) -> set[str]:
    """R's messages."""
    answers = solve_by_r(problems)
    for problem, (coef, message) in zip(problems, answers, strict=True):
        found = problem.solve()
        if coef is None:
            assert isinstance(found, str), (problem, message)
            assert message in found
            continue
        assert not isinstance(found, str), (problem, message, found)
        size = np.sum(problem.weights * problem.y**2)
        np.testing.assert_allclose(
            problem.rss(found), problem.rss(coef), rtol=1e-6, atol=1e-12 * size, err_msg=message
        )
        np.testing.assert_allclose(found, coef, rtol=1e-6, err_msg=message)
    return {message for _, message in answers}


def too_large() -> Problem:
    x = np.linspace(1, 2, 30)
    return Problem("too large", x, 1e155 * (x + np.sin(9 * x)), np.ones(30), True)


@needs_rscript
def test_ends_as_in_r():
    """Every end that there is; the limit of evaluations is one of 5,400 problems'."""
    assert check([too_large(), *map(random_problem, [*range(38), 127, 30_010])]) == ENDS


@needs_rscript
@pytest.mark.slow
@pytest.mark.parametrize("seed", [20_000, 30_000])
def test_ends_as_in_r_more(seed):
    check([random_problem(seed + k) for k in range(500)])


@pytest.mark.parametrize(
    ("y", "why"),
    [
        (lambda x: np.exp(40 * x - 80), "Missing value or an infinity"),
        (lambda x: np.zeros_like(x), "singular gradient matrix"),
    ],
)
def test_reasons(y, why):
    x = np.linspace(1, 2, 50)
    start = np.array([-1.0, 0.0 if why.startswith("singular") else np.inf, 1.0])
    with pytest.raises(InvalidInputError, match=f"no minimum that can be found \\({why}"):
        fit_power(x, y(x), np.ones(50), start, True)


def test_zeros_to_a_negative_power():
    x = np.r_[np.zeros(10), np.linspace(0.5, 4, 40)]
    for y in (np.ones(50), 2 - 0.2 * x):
        with pytest.raises(InvalidInputError, match="Missing value or an infinity produced"):
            fit_power(x, y, np.ones(50), np.array([0.4, 1.0]), False)


def test_any_model():
    """The search itself knows nothing of powers: Rosenbrock's valley, and a hill without a minimum."""

    def valley(p):
        slopes = np.array([[-20 * p[0], 10.0], [-1.0, 0.0]])
        return np.array([10 * (p[1] - p[0] ** 2), 1 - p[0]]), slopes

    np.testing.assert_allclose(minimise(valley, np.array([-1.2, 1.0]), 100), [1.0, 1.0], rtol=1e-6)
    with pytest.raises(NoMinimum, match="iteration limit reached"):
        minimise(valley, np.array([-1.2, 1.0]), 3)

    def hill(p):
        away = np.exp(-p[0]) * np.array([1.0, 2.0, 3.0])
        return 1 + away, -away[:, None]

    with pytest.raises(NoMinimum, match="singular convergence"):
        minimise(hill, np.array([0.0]), 100)


def test_algebra():
    """The small triangles against numpy's."""
    rng = np.random.default_rng(0)
    for p in (2, 3):
        slopes, r, d = rng.normal(size=(9, p)), rng.normal(size=9), rng.uniform(0.5, 30, p)
        lower, qtr, _ = decompose(slopes, r)
        np.testing.assert_allclose(lower @ lower.T, slopes.T @ slopes)
        np.testing.assert_allclose(lower @ qtr, slopes.T @ r)
        for size in (1e-4, 1.0, 1e4):
            factor, rest, weights = damp(lower, qtr, size * d)
            wanted = slopes.T @ slopes + np.diag((size * d) ** 2)
            np.testing.assert_allclose((factor * weights) @ factor.T, wanted)
            step = solve_transposed(factor, rest)
            np.testing.assert_allclose(step, np.linalg.solve(wanted, slopes.T @ r), rtol=1e-6)
        np.testing.assert_allclose(solve(lower, qtr), np.linalg.solve(lower, qtr))
        factor, lowest = cholesky(lower @ lower.T)
        assert lowest is None
        np.testing.assert_allclose(factor, np.linalg.cholesky(lower @ lower.T))
        sigma, left, right = smallest_singular(lower)
        np.testing.assert_allclose(lower @ right, left)
        exact = np.linalg.svd(lower, compute_uv=False)[-1]
        assert exact * (1 - 1e-12) <= sigma <= 2 * exact
        indefinite = lower @ lower.T - 2 * np.trace(lower @ lower.T) * np.eye(p)
        assert np.linalg.eigvalsh(indefinite)[0] <= cholesky(indefinite)[1] < 0


def test_columns_of_zeros():
    """They leave zeros in the triangle, wherever they are."""
    rng = np.random.default_rng(1)
    for k in range(3):
        slopes = rng.normal(size=(6, 3))
        slopes[:, k] = 0.0
        lower, _, _ = decompose(slopes, np.ones(6))
        np.testing.assert_allclose(lower @ lower.T, slopes.T @ slopes, atol=1e-12)


R_EARTH = """
out <- list()
message <- character(0)
for (i in seq_along(sizes)) {
  rows <- sum(sizes[seq_len(i - 1)]) + seq_len(sizes[i])
  set.seed(i)
  message[i] <- tryCatch({
    fit <- suppressWarnings(earth(X[rows, ], y[rows], nfold = 3, ncross = 3, varmod.method = method[i]))
    out[[paste0("coef", i)]] <- as.double(coef(fit$varmod$residmod))
    out[[paste0("iterations", i)]] <- as.double(fit$varmod$iters)
    "converged"
  }, error = function(e) sub("^Convergence failure: ", "", strsplit(conditionMessage(e), "\\n")[[1]][1]))
}
out$message <- message
"""


def random_data(seed: int) -> tuple[np.ndarray, np.ndarray, str]:
    rng = np.random.default_rng([seed, 77])
    n = int(rng.integers(30, 250))
    X = rng.uniform(size=(n, 2))
    mean = rng.choice([0.5, 2, 5]) + X @ rng.uniform(0, 5, 2) * (X[:, 0] > 0.4)
    spread = rng.choice([0.05, 0.2, 0.6]) * mean ** [0, 0.5, 1, 1.5, -0.7][seed % 5]
    scale = 10.0 ** rng.integers(-6, 7) if seed % 7 == 0 else 1.0
    return X, scale * (mean + spread * rng.normal(size=n)), ["power", "power0"][seed % 2]


@needs_rscript
@pytest.mark.slow
def test_whole_fits():
    """The search starts from the bits that R's earth gives it, and goes on for several rounds of weights."""
    data = [random_data(seed) for seed in range(150)]
    X, y, methods = zip(*data, strict=True)
    sizes = np.array([len(part) for part in y], dtype=float)
    r = run_r(
        R_EARTH, packages=("earth",), X=np.vstack(X), y=np.concatenate(y), method=list(methods),
        sizes=sizes, timeout=900,
    )  # fmt: skip
    for i, (x, values, method) in enumerate(data, 1):
        model = Earth(engine="native", nfold=3, ncross=3, varmod_method=method, random_state=i)
        message = r["message"][i - 1]
        if f"coef{i}" not in r:
            with pytest.raises(InvalidInputError) as refused, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(x, values)
            assert message in str(refused.value) or "nonpositive" in message
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            varmod = model.fit(x, values).model_.varmod
        coef = np.append(varmod.coef, varmod.power)
        np.testing.assert_allclose(coef, r[f"coef{i}"], rtol=1e-6, err_msg=str(i))
        assert varmod.iterations == r[f"iterations{i}"][0]
