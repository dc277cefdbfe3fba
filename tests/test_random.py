"""R's random numbers: our stream beside plain R's."""

import pickle

import numpy as np
import pytest

from pyearthdof import _core
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.random import RDraws
from tests.support.rscript import needs_rscript, run_r

SEEDS = [*range(1, 13), 1234, 20210319, 0, -1, -987654321, 2**31 - 1, -(2**31) + 1, 42]


def r_draws(expression, tmp_path, *, kind="double", seeds=SEEDS):
    """One row a seed of what the R expression draws; bytes on disk, so nothing is rounded."""
    file = tmp_path / "draws.bin"
    run_r(
        f"""
        con <- file(path, "wb")
        for (seed in seeds) {{ set.seed(seed); writeBin(as.{kind}({expression}), con) }}
        close(con)
        out <- list(done = 1)
        """,
        path=str(file),
        seeds=np.array(seeds, dtype=float),
    )
    dtype = float if kind == "double" else np.int32
    return np.fromfile(file, dtype=dtype).reshape(len(seeds), -1)


def ulps(a, b):
    return np.abs(a - b) / np.spacing(np.maximum(np.abs(a), np.abs(b)))


@needs_rscript
class TestAMillionDrawsOfTwentySeeds:
    n = 1_000_000

    def test_uniforms_to_the_bit(self, tmp_path):
        for seed, r in zip(SEEDS, r_draws("runif(1e6)", tmp_path), strict=True):
            assert np.array_equal(RDraws(seed).uniform(self.n), r), seed

    def test_normals_within_four_ulp(self, tmp_path):
        for seed, r in zip(SEEDS, r_draws("rnorm(1e6)", tmp_path), strict=True):
            assert ulps(RDraws(seed).normal(self.n), r).max() <= 4, seed

    def test_sample_with_replacement_to_the_bit(self, tmp_path):
        expected = r_draws("sample(300000, 1e6, TRUE)", tmp_path, kind="integer")
        for seed, r in zip(SEEDS, expected, strict=True):
            assert np.array_equal(RDraws(seed).sample(300_000, self.n, True), r), seed

    def test_permutations_to_the_bit(self, tmp_path):
        expected = r_draws("sample(50000)", tmp_path, kind="integer")
        for seed, r in zip(SEEDS, expected, strict=True):
            assert np.array_equal(RDraws(seed).sample(50_000), r), seed

    @pytest.mark.slow
    def test_permutations_of_a_million_to_the_bit(self, tmp_path):
        expected = r_draws("sample(1e6)", tmp_path, kind="integer")
        for seed, r in zip(SEEDS, expected, strict=True):
            assert np.array_equal(RDraws(seed).sample(self.n), r), seed


SAMPLES = [
    ("sample(1)", lambda d: d.sample(1)),
    ("sample(2)", lambda d: d.sample(2)),
    ("sample(330, 330)", lambda d: d.sample(330, 330)),
    ("sample(65536, 20)", lambda d: d.sample(65536, 20)),
    ("sample(65537, 20, TRUE)", lambda d: d.sample(65537, 20, True)),
    ("sample(65536, 20, TRUE)", lambda d: d.sample(65536, 20, True)),
    ("sample(1, 5, TRUE)", lambda d: d.sample(1, 5, True)),
    ("sample(1e6, 50)", lambda d: d.sample(1_000_000, 50)),
    ("sample(2e7, 9000)", lambda d: d.sample(20_000_000, 9000)),
    ("sample(c(7, 5, 3, 2), 3)", lambda d: d.sample([7, 5, 3, 2], 3)),
    ("sample(0)", lambda d: d.sample(0)),
    (
        "c(rnorm(3), runif(1), sample(9), rnorm(2))",
        lambda d: np.concatenate([d.normal(3), d.uniform(1), d.sample(9), d.normal(2)]),
    ),
]


@needs_rscript
@pytest.mark.parametrize(("expression", "ours"), SAMPLES, ids=[e for e, _ in SAMPLES])
def test_paired_with_r(expression, ours, tmp_path):
    for seed, r in zip(SEEDS, r_draws(expression, tmp_path), strict=True):
        assert ulps(ours(RDraws(seed)).astype(float), r).max(initial=0) <= 4 * (
            "norm" in expression
        )


@needs_rscript
def test_quantiles_far_in_the_tails():
    # A normal this far out comes once in 10^11 draws, so the function is asked directly.
    p = np.concatenate(
        [10.0 ** -np.arange(1, 18), 1 - 10.0 ** -np.arange(1, 15), [0.075, 0.925, 0.5]]
    )
    r = run_r("out <- list(q = qnorm(p))", p=p)["q"]
    ours = np.array([_core.normal_quantile(value) for value in p])
    assert ulps(ours, r).max() <= 4


def test_a_stream_survives_pickling():
    draws = RDraws(7)
    draws.normal(1000)
    again = pickle.loads(pickle.dumps(draws))
    assert np.array_equal(again.normal(700), draws.normal(700))


def test_zero_is_moved_inside_the_interval():
    from pyearthdof.random import _uniforms

    values = _uniforms(np.array([0, 1, 2**32 - 1], dtype=np.uint64))
    assert (values > 0).all() and (values < 1).all()
    assert values[0] == 0.5 * 2.328306437080797e-10


def test_it_goes_on_where_it_was_and_a_copy_goes_its_own_way():
    whole = RDraws(7).normal(10)
    draws = RDraws(7)
    assert np.array_equal(draws.normal(4), whole[:4])
    twin = draws.copy()
    assert np.array_equal(draws.normal(6), whole[4:])
    assert np.array_equal(twin.normal(6), whole[4:])


def test_skipping_normals():
    draws = RDraws(7)
    draws.skip_normals(200_001)
    assert np.array_equal(draws.normal(3), RDraws(7).normal(200_004)[-3:])


def test_pickles_with_its_position():
    import pickle

    draws = RDraws(3)
    draws.normal(5)
    twin = pickle.loads(pickle.dumps(draws))
    assert np.array_equal(twin.normal(5), draws.normal(5))
    assert repr(twin) == "RDraws(3)"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: RDraws(1.5),
            "seed=1.5 but it should be an integer from -2147483647 to 2147483647",
        ),
        (lambda: RDraws(True), "seed=True but it should be an integer"),
        (lambda: RDraws(2**31), "seed=2147483648 but it should be an integer from"),
        (
            lambda: RDraws(1).normal(-1),
            "n=-1 but it should be an integer from 0 to 4503599627370496",
        ),
        (lambda: RDraws(1).uniform(2.5), "n=2.5 but it should be an integer"),
        (lambda: RDraws(1).sample(3, 4), "size=4 but it should be at most 3"),
        (lambda: RDraws(1).sample([], 1, True), "x is empty"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()
