"""Data and arguments for earth, drawn by hypothesis: ordinary ones, nasty ones and bad ones.

hypothesis draws the shape of the data and a seed; numpy draws the numbers. A number at a time would
be slow, and the faults of a MARS engine hang on the structure: ties, dependent columns, scales.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.support.fuzzing.case import Case

__all__ = ["bad_cases", "cases", "distinct_cases", "good_cases"]

FRESH = 10  # cases of a run of hypothesis


def _integers(rng, n):
    return rng.integers(-3, 4, n).astype(float)


def _one_of_two(rng, n):
    return (rng.random(n) < 0.4).astype(float)


def _constant(rng, n):
    return np.full(n, rng.normal())


def _skewed(rng, n):
    return np.exp(2 * rng.normal(size=n))


def _mostly_zero(rng, n):
    return np.where(rng.random(n) < 0.8, 0.0, rng.normal(size=n))


def _evenly(rng, n):
    return np.arange(n) / n


def _far_away(rng, n):
    return 1e6 + rng.normal(size=n)


COLUMNS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "uniform": lambda rng, n: rng.uniform(size=n),
    "heavy": lambda rng, n: rng.standard_t(1.5, size=n),
    "rounded": lambda rng, n: np.round(2 * rng.normal(size=n)) / 2,
    "integers": _integers,
    "binary": _one_of_two,
    "constant": _constant,
    "skewed": _skewed,
    "mostly zero": _mostly_zero,
    "evenly": _evenly,
    "far away": _far_away,
}
DEPENDENT = ("duplicate", "negative", "sum", "product", "nearly")
RESPONSES = ("bumps", "noise", "linear", "integers", "binary", "constant", "exact", "heavy")
# Powers of ten. earth has thresholds in the units of X and y, so scales are part of the problem; far
# outside of these it works with sums of squares that overflow or vanish.
USUAL_SCALES = (0, 0, 0, 0, 0, 3, -2)
WIDE_SCALES = (-8, -5, 5, 8, 12)
EXTREME_SCALES = (-80, -60, -40, -30, -15, 20, 40, 60, 80)


def _column(rng, kind, columns, n):
    if kind in COLUMNS:
        return COLUMNS[kind](rng, n)
    first, last = columns[0], columns[-1]
    if kind == "duplicate":
        return first.copy()
    if kind == "negative":
        return 2.0 - 3.0 * first
    if kind == "sum":
        return first + last
    if kind == "product":
        return first * last
    return first + 1e-9 * rng.normal(size=n)


def _response(rng, kind, X, noise):
    n = len(X)
    size = np.abs(X).mean(axis=0)
    unit = X / np.where(size > 0, size, 1.0)
    if kind == "bumps":
        y = np.sin(2 * unit[:, 0]) + unit[:, -1] * np.abs(unit[:, 0])
    elif kind == "linear":
        y = unit @ rng.normal(size=X.shape[1])
    elif kind == "exact":
        return np.maximum(0.0, unit[:, 0] - np.median(unit[:, 0]))
    elif kind == "constant":
        return np.full(n, rng.normal())
    elif kind == "heavy":
        return rng.standard_t(1.2, size=n)
    else:
        y = rng.normal(size=n)
    y = y + noise * rng.normal(size=n)
    if kind == "integers":
        return np.round(y)
    return (y > np.median(y)).astype(float) if kind == "binary" else y


@st.composite
def _data(draw, scales):
    n = draw(st.one_of(st.integers(2, 12), st.integers(13, 60), st.integers(61, 200)))
    p = draw(st.integers(1, 8))
    kinds = [draw(st.sampled_from(tuple(COLUMNS)))]
    both = st.sampled_from(tuple(COLUMNS) + DEPENDENT)
    kinds += [draw(both) for _ in range(p - 1)]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns = []
    for kind in kinds:
        columns.append(_column(rng, kind, columns, n))
    if draw(st.booleans()):
        X = np.column_stack(columns)
        y = _response(rng, draw(st.sampled_from(RESPONSES)), X, draw(st.sampled_from((0.2, 0, 1))))
    else:  # the most usual problem of all
        X = np.column_stack(columns)
        y = _response(rng, "bumps", X, 0.3)
    powers = [draw(st.sampled_from(scales)) for _ in range(p)] if draw(st.booleans()) else [0] * p
    X = X * 10.0 ** np.array(powers)
    return X, y * 10.0 ** draw(st.sampled_from(scales))


@st.composite
def _weights(draw, n):
    kind = draw(st.sampled_from(("none",) * 12 + ("uniform", "equal", "zeros", "integers", "wide")))
    if kind == "none":
        return None
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    if kind == "equal":
        return np.full(n, 2.5)
    if kind == "wide":
        return 10 ** rng.uniform(-4, 4, n)
    if kind == "integers":
        return rng.integers(1, 4, n).astype(float)
    weights = rng.uniform(0.2, 3.0, n)
    if kind == "zeros":
        weights[rng.random(n) < 0.3] = 0.0
        weights[0] = 1.0
    return weights


def _sometimes(strategy, one_in: int = 3):
    """None, earth's default, but for one draw in `one_in`."""
    return st.integers(1, one_in).flatmap(lambda k: strategy if k == one_in else st.none())


@st.composite
def _options(draw, n, p):
    drawn = {
        "degree": draw(st.sampled_from((1, 1, 2, 2, 3, 4))),
        "penalty": draw(_sometimes(st.sampled_from((0, -1, 0.5, 2, 3, 4.5, 30, 1000)))),
        "nk": draw(_sometimes(st.integers(1, 60), 2)),
        "thresh": draw(_sometimes(st.sampled_from((0, 0, 1e-5, 0.01, 0.5, 0.99)))),
        "minspan": draw(_sometimes(st.integers(-6, min(n, 25)))),
        "endspan": draw(_sometimes(st.integers(0, min(n, 30)))),
        "newvar_penalty": draw(_sometimes(st.sampled_from((0.01, 0.1, 1, 20)), 5)),
        "fast_k": draw(_sometimes(st.integers(-1, 25))),
        "fast_beta": draw(_sometimes(st.sampled_from((0, 0.5, 2, 1000)), 5)),
        "adjust_endspan": draw(_sometimes(st.sampled_from((0, 1, 2.5, 10)), 4)),
        "auto_linpreds": draw(_sometimes(st.booleans())),
        "scale_y": draw(_sometimes(st.booleans())),
        "nprune": draw(_sometimes(st.integers(1, 40), 4)),
        "linpreds": draw(_sometimes(st.sets(st.integers(0, p - 1), min_size=1), 5)),
        "pmethod": draw(
            _sometimes(st.sampled_from(("none", "exhaustive", "forward", "seqrep")), 2)
        ),
    }
    if drawn["pmethod"] == "exhaustive":  # its time doubles with each term
        drawn["nk"] = min(drawn["nk"] or 13, 13)
    if drawn["linpreds"] is not None:
        drawn["linpreds"] = tuple(sorted(drawn["linpreds"]))
    return {name: value for name, value in drawn.items() if value is not None}


@st.composite
def good_cases(draw, scales=USUAL_SCALES):
    """A case that earth has no reason to refuse."""
    X, y = draw(_data(scales))
    n, p = X.shape
    weights = draw(_weights(n))
    options = draw(_options(n, p))
    if weights is not None:  # earth does a regression for each knot: keep R's time within bounds
        X, y, weights = X[:60], y[:60], weights[:60]
        options["nk"] = min(options.get("nk", 15), 15)
        options |= {s: min(options[s], len(y)) for s in ("minspan", "endspan") if s in options}
    return Case(X, y, weights, options)


NOT_NUMBERS = (np.nan, np.inf, -np.inf)
HUGE = (2**31 - 1, 2**31, -(2**31), 10**10, -(10**10))
BAD_OPTIONS = {
    "degree": (0, -1, 11, 1.5, *NOT_NUMBERS, *HUGE),
    "penalty": (-2, -0.5, -1e-9, 1001, 1e300, *NOT_NUMBERS),
    "nk": (0, -1, 1001, 5.5, *NOT_NUMBERS, *HUGE),
    "thresh": (-0.1, -1e-300, 1, 1.5, *NOT_NUMBERS),
    "minspan": (201, 1.5, *NOT_NUMBERS, *HUGE),
    "endspan": (-1, 201, 2.5, *NOT_NUMBERS, *HUGE),
    "newvar_penalty": (-1, -1e-9, -0.5, 1e300, *NOT_NUMBERS),
    "fast_k": (2.5, 10_001, *NOT_NUMBERS, *HUGE),
    "fast_beta": (-1, 1001, *NOT_NUMBERS),
    "adjust_endspan": (-1, 10.5, 1e300, *NOT_NUMBERS),
    "nprune": (0, -1, 1.5, *NOT_NUMBERS, *HUGE),
    "pmethod": ("", "best", "BACKWARD", "back", "none "),
    "linpreds": ((8,), (-1,), (0, 99)),
}


@st.composite
def bad_cases(draw):
    """A case with one bad value: an argument, an entry of the data or of the weights."""
    case = draw(good_cases())
    where = draw(st.sampled_from(("option", "option", "X", "y", "weights")))
    if where == "option":
        name = draw(st.sampled_from(tuple(BAD_OPTIONS)))
        value = draw(st.sampled_from(BAD_OPTIONS[name]))
        return Case(case.X, case.y, case.weights, case.options | {name: value})
    n = len(case.y)
    arrays = {
        "X": case.X.copy(),
        "y": case.y.copy(),
        "weights": np.ones(n) if case.weights is None else case.weights.copy(),
    }
    # Not in y: where its squares overflow, R's sequential replacement may never end.
    values = {"X": (1e155, 1e300, -1e308), "y": (), "weights": (-1.0, -1e-9)}[where]
    entry = draw(st.integers(0, arrays[where].size - 1))
    arrays[where].flat[entry] = draw(st.sampled_from(NOT_NUMBERS + values))
    used = arrays["weights"] if where == "weights" else case.weights
    return Case(arrays["X"], arrays["y"], used, case.options)


def cases():
    """All kinds: usual, of wide and of extreme scales, and bad ones."""
    return st.integers(0, 9).flatmap(
        lambda k: (
            good_cases() if k < 6
            else good_cases(USUAL_SCALES + WIDE_SCALES) if k < 7
            else good_cases((0, *EXTREME_SCALES)) if k < 8
            else bad_cases()
        )
    )  # fmt: skip


def distinct_cases(count: int, first_seed: int = 0) -> Iterator[Case]:
    """Yield as many different cases, the same ones for the same seed.

    hypothesis likes to vary what it has drawn before, and half of a long run are near copies. So it
    starts afresh after a few, and what has been seen is left out.
    """
    seen = set()
    start = first_seed * 1_000_000
    while len(seen) < count:
        for case in _drawn(FRESH, start):
            key = hash(repr(case))
            if key not in seen and len(seen) < count:
                seen.add(key)
                yield case
        start += 1


def _drawn(count: int, start: int) -> list[Case]:
    found = []

    @seed(start)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases())
    def draw(case):
        found.append(case)

    draw()
    return found
