"""What the updating search says of its own accuracy, against earth's order of operations."""

from __future__ import annotations

import numpy as np
import pytest

from pyearthdof import _core
from pyearthdof.datasets import load_ozone
from pyearthdof.mars.engines.native.engine import make_design, pass_settings, scale_responses
from tests.support.mars.earth_batch import Case


def errors(X, y, **options) -> np.ndarray:
    """|difference of the gains| over what it may be, for all pairs of all steps that are not in doubt."""
    options = Case.make(X, y, thresh=0.0, **options).options
    settings = pass_settings(options, len(X))
    rows, _ = scale_responses(y.reshape(len(y), -1), y.ndim == 1)
    steps = _core.Steps(make_design(X), settings, [], rows, False)
    found = []
    while steps.is_running and not steps.is_exact:
        open_pairs = [
            (slot, pred) for slot, dirs in steps.parents() for pred in np.flatnonzero(dirs == 0)
        ]
        wanted = {pair: steps.exact_gain(*pair) for pair in open_pairs}
        steps.run(1)
        gains = {(slot, pred): (ours, most) for slot, pred, ours, most in steps.gains()}
        for pair, gain in wanted.items():
            ours, most = gains.get(pair, (0.0, np.inf))
            if np.isfinite(most) and not steps.is_exact:
                tie = _core.tie_band(max(gain, ours), steps.rss_null)
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


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("mean", [0.0, 30.0, 3e3, 2e4])
def test_gains_of_several_responses_are_within_their_bounds(mean, degree):
    """Several responses are not scaled: earth multiplies lines by them as they are, far from zero."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(120, 4)) + np.array([0, 0, 50, 0])
    signal = np.column_stack([X[:, 0] + X[:, 1] ** 2, X[:, 1] * X[:, 2], np.abs(X[:, 3])])
    Y = (signal + 0.3 * rng.normal(size=(120, 3))) * np.array([1, 0.1, 3]) + mean
    found = errors(X, Y, degree=degree, nk=31)
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
