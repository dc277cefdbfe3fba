"""What the updating search says of its own accuracy, against earth's order of operations."""

from __future__ import annotations

import numpy as np
import pytest
from earth_batch import Case

from pyearthdof.datasets import load_ozone
from pyearthdof.mars import native_setup as setup
from pyearthdof.mars.kernels import count_positive, is_new_form, span_limits
from pyearthdof.mars.kernels_exact import exact_pair, running_mean
from pyearthdof.mars.kernels_forward import (
    BASIS,
    CONDITION,
    DELTA,
    EXACT,
    QUEUED,
    RSS,
    RSS_NULL,
    RUNNING,
    SLOTS,
    complete_basis,
)
from pyearthdof.mars.kernels_many import RESUME, START
from pyearthdof.mars.kernels_noise import tie_band


def exact_gains(design, settings, work, y, y_mean) -> dict:
    """Best gain of every (parent, predictor) pair of the next step, as earth computes it."""
    terms, count, value = work.terms, work.progress.count, work.progress.value
    p, n = design.x.shape
    limit = min(1.01 * value[RSS], 10 * value[DELTA])
    complete_basis(terms, work.basis, work.progress, y, y_mean)
    gains = {}
    for slot in work.queue.ranked[: min(count[QUEUED], settings.fast_k)]:
        if terms.degree[slot] >= settings.degree:
            continue
        base = terms.bx[slot]
        spans = span_limits(n, p, count_positive(base), terms.degree[slot] + 1, settings)
        for j in np.flatnonzero(terms.dirs[slot] == 0):
            form = is_new_form(terms.dirs, terms.used, count[SLOTS], slot, j)
            gains[slot, j] = exact_pair(
                design, work.basis, count[BASIS], base, j, y, y_mean, spans, form, count[SLOTS], 1.0,
                limit, False,
            )[-1]  # fmt: skip
    return gains


def errors(X, y, **options) -> np.ndarray:
    """|difference of the gains| over what it may be, for all pairs of all steps that are not in doubt."""
    options = Case.make(X, y, thresh=0.0, **options).options
    n, p = X.shape
    design, settings = setup.prepare_design(X), setup.resolve_settings(options, p)
    work = setup.make_workspace(n, p, 1, settings, ())
    rows = np.ascontiguousarray(setup.scale_responses(y[:, None], True)[0].T)
    y_mean = np.array([running_mean(rows[0])])
    setup.run_block(design, settings, work, rows[None], START, 0)
    count, found = work.progress.count, []
    while count[CONDITION] == RUNNING and not count[EXACT]:
        wanted = exact_gains(design, settings, work, rows, y_mean)
        setup.run_block(design, settings, work, rows[None], RESUME, 1)
        for pair, gain in wanted.items():
            ours, most = work.fast.gain[pair], work.fast.upper[pair]
            if np.isfinite(most) and not count[EXACT]:
                tie = tie_band(max(gain, ours), work.progress.value[RSS_NULL])
                found.append(abs(gain - ours) / (most - ours + tie + 1e-300))
    return np.array(found)


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("offset", [0.0, 30.0, 1e4])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_gains_are_within_their_bounds(scale, offset, degree):
    rng = np.random.default_rng(7)
    Z = rng.normal(size=(120, 4))
    y = np.sin(2 * Z[:, 0]) + Z[:, 1] * Z[:, 2] + 0.3 * rng.normal(size=120)
    X = scale * (Z + offset * np.array([1, 1, 0, 0]))
    found = errors(X, y, degree=degree, nk=31)
    assert len(found) > 20
    assert found.max() < 1


def test_gains_of_raw_data_are_within_their_bounds():
    """Pressure heights near 5,700 and inversion heights up to 5,000: products of tens of millions."""
    data = load_ozone()
    found = errors(
        data.drop(columns="O3").to_numpy(dtype=float), data["O3"].to_numpy(dtype=float), degree=2
    )
    assert len(found) > 500
    assert found.max() < 1
