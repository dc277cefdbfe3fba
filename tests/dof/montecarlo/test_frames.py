"""Orthogonal responses: each is Gaussian, together they know a linear smoother, and the error is honest."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, kstest

from pyearthdof import Earth, RDraws, correct_penalty, degrees_of_freedom, self_consistency
from pyearthdof.dof.montecarlo.draws import (
    NumpyDraws,
    Responses,
    frame_size,
    merged_groups,
    orthogonal,
)
from pyearthdof.procedures import (
    BestSubset,
    Lasso,
    LeastSquares,
    NearestNeighbors,
    RegressionTree,
    Ridge,
)

X = RDraws(31).normal(20 * 3).reshape(20, 3)


def frames(n, size, count, centred, seed=1):
    responses = Responses(n, np.zeros(n), np.ones(n), NumpyDraws(seed), size, centred)
    return np.hstack(list(responses.blocks([0, 3, count])))


@pytest.mark.parametrize("centred", [False, True])
def test_a_frame_is_orthogonal_and_every_response_gaussian(centred):
    n, size = 6, 5
    Y = frames(n, size, 2000 * size, centred)
    for k in (0, 7):
        Q = Y[:, k * size : (k + 1) * size]
        Q = Q - Q.mean(axis=0) if centred else Q
        inner = Q.T @ Q
        np.testing.assert_allclose(inner - np.diag(np.diag(inner)), 0.0, atol=1e-12)
    # Coordinates, also along a direction of no meaning, lengths, and two lengths of one frame.
    along = np.array([1.0, -2.0, 0.5, 0.0, 1.0, 3.0])
    for values in (Y[0], Y[-1], along @ Y / np.linalg.norm(along)):
        assert kstest(values[2::size], "norm").pvalue > 1e-3
    squares = (Y**2).sum(axis=0)
    assert kstest(squares[::size], chi2(n).cdf).pvalue > 1e-3
    assert abs(np.corrcoef(squares[0::size], squares[1::size])[0, 1]) < 0.08
    assert not np.allclose(Y[:, :size], Y[:, size : 2 * size])


def test_blocks_do_not_change_the_responses():
    responses = [Responses(7, np.ones(7), np.ones(7), NumpyDraws(2), 6, True) for _ in range(2)]
    one, two = (
        np.hstack(list(r.blocks(edges)))
        for r, edges in zip(responses, ([0, 18], [0, 1, 5, 13, 18]), strict=True)
    )
    assert np.array_equal(one, two)


def test_orthogonal_keeps_lengths_and_means():
    Z = np.random.default_rng(3).normal(size=(8, 4)) + 2
    for centred in (False, True):
        Q = orthogonal(Z, centred)
        np.testing.assert_allclose(np.linalg.norm(Q, axis=0), np.linalg.norm(Z, axis=0))
    np.testing.assert_allclose(Q.mean(axis=0), Z.mean(axis=0))


def test_the_rule():
    assert frame_size(19, [190]) == 19
    assert frame_size(19, [189]) is None
    assert frame_size(19, [189], partial=True) == 18
    assert frame_size(19, [38, 40]) == 19 and frame_size(19, [37, 40]) is None
    assert frame_size(19, [19], partial=True) is None
    assert frame_size(1, [1000]) is None
    assert np.array_equal(merged_groups(np.arange(64)), np.arange(64) // 2)
    assert np.array_equal(merged_groups(np.arange(20) // 2), np.arange(20) // 2)


LINEAR = [NearestNeighbors(4), LeastSquares(fit_intercept=True)]


@pytest.mark.parametrize("procedure", LINEAR, ids=repr)
def test_ten_frames_know_a_linear_smoother(procedure):
    exact = degrees_of_freedom(procedure, X)
    found = degrees_of_freedom(procedure, X, n_rep=200, random_state=1, method="monte-carlo")
    assert found.n_rep == 190 and found.settings["frame_size"] == 19
    assert found.settings["variance_reduction"] == "orthogonal, direction, control"
    assert found.df == pytest.approx(exact.df, abs=1e-10) and found.se < 1e-10
    np.testing.assert_allclose(found.per_observation.sum(), exact.df)


def test_frames_with_lengths_nearly_do():
    # Without equivariance the lengths are in the estimate, and nothing else.
    exact = degrees_of_freedom(Ridge(10.0), X)
    found = degrees_of_freedom(Ridge(10.0), X, n_rep=200, random_state=1, method="monte-carlo")
    few = degrees_of_freedom(Ridge(10.0), X, n_rep=199, random_state=1, method="monte-carlo")
    assert found.settings["variance_reduction"] == "orthogonal, control" and found.n_rep == 200
    assert few.settings["variance_reduction"] == "control"
    assert abs(found.df - exact.df) <= 3 * found.se < 0.75 * few.se
    assert found.per_observation.sum() == pytest.approx(found.df)


CLOSED = [
    (Ridge(10.0), None),
    (NearestNeighbors(4), 3 * X[:, 0] ** 2),
    (LeastSquares(), 3 * X[:, 0] ** 2),
]


@pytest.mark.parametrize("n_rep", [15, 100, 400])
@pytest.mark.parametrize(("procedure", "mu"), CLOSED, ids=lambda value: repr(value)[:20])
def test_closed_forms_within_three_errors(procedure, mu, n_rep):
    exact = degrees_of_freedom(procedure, X).df
    options = {"mu": mu, "n_rep": n_rep, "random_state": 5, "method": "monte-carlo"}
    found = degrees_of_freedom(procedure, X, **options)
    assert abs(found.df - exact) <= 3 * found.se + 1e-9
    sigma = np.linspace(0.5, 2, 20)
    found = degrees_of_freedom(procedure, X, sigma=sigma, **options)
    assert abs(found.df - exact) <= 3 * found.se + 1e-9


@pytest.mark.parametrize("n_rep", [100, 400])
def test_lasso_within_three_errors_of_its_nonzeros(n_rep):
    options = {"mu": X @ [1.0, 1.0, 0.0], "n_rep": n_rep}
    mean = degrees_of_freedom(Lasso(8.0), X, method="exact", random_state=1, **options)
    found = degrees_of_freedom(Lasso(8.0), X, random_state=3, **options)
    assert mean.settings["variance_reduction"] is None
    assert abs(found.df - mean.df) <= 3 * np.hypot(found.se, mean.se)


def test_orthogonal_subset_within_three_errors():
    # Best subset of orthonormal columns keeps the largest |z_j|: df is the mean of the sum of their squares.
    Q = np.linalg.qr(RDraws(5).normal(20 * 6).reshape(20, 6))[0]
    largest = -np.sort(-np.abs(np.random.default_rng(1).normal(size=(200_000, 6))))[:, :2]
    squares = (largest**2).sum(axis=1)
    for n_rep in (100, 400):
        found = degrees_of_freedom(BestSubset(2), Q, n_rep=n_rep, random_state=3)
        assert abs(found.df - squares.mean()) <= 3 * np.hypot(found.se, squares.std() / 447)


def tree_runs(runs, **options):
    found = [
        degrees_of_freedom(RegressionTree(2), X, random_state=s, **options) for s in range(runs)
    ]
    return np.array([f.df for f in found]), np.array([f.se for f in found])


@pytest.mark.parametrize(
    "options",
    [
        {"n_rep": 190},
        {"n_rep": 40},
        {"n_rep": 60, "variance_reduction": "orthogonal"},
        {"n_rep": 200, "mu": 3 * X[:, 0] ** 2},
    ],
    ids=["frames", "independent", "partial", "curve"],
)
def test_unbiased_with_an_honest_error(options):
    plain = {"n_rep": 8000, "variance_reduction": None, "mu": options.get("mu")}
    truth = degrees_of_freedom(RegressionTree(2), X, random_state=10**6, **plain)
    values, errors = tree_runs(40, **options)
    spread = values.std(ddof=1)
    assert abs(values.mean() - truth.df) <= 3.5 * np.hypot(spread / np.sqrt(40), truth.se)
    assert 0.7 < np.sqrt(np.mean(errors**2)) / spread < 1.4


def test_frames_gain_where_they_are_used():
    frames, independent, plain = (
        tree_runs(20, n_rep=190, variance_reduction=name)[1] for name in ("best", "direction", None)
    )
    assert np.mean(frames**2) < 0.75 * np.mean(independent**2) < 0.75 * np.mean(plain**2)


class TestWhatIsUsed:
    def used(self, *arguments, **options):
        return degrees_of_freedom(*arguments, **options).settings["variance_reduction"]

    def test_rs_draws_keep_the_papers_estimator(self):
        assert self.used(RegressionTree(1), X, draws=RDraws(1), n_rep=5) is None
        options = {"draws": RDraws(1), "n_rep": 5, "variance_reduction": "best"}
        assert self.used(RegressionTree(1), X, **options) == "direction, control"

    def test_what_is_not_declared_or_not_numbers_is_not_used(self):
        def mean(X, y):
            return np.full(len(y), y.mean())

        options = {"random_state": 1, "n_rep": 5}
        assert self.used(mean, X, **options) == "control"
        words = pd.DataFrame({"a": list("xy") * 10})
        assert self.used(mean, words, **options) is None
        found = degrees_of_freedom(mean, words, n_rep=200, random_state=1)
        assert found.settings["variance_reduction"] == "orthogonal"
        assert abs(found.df - 1) <= 3 * found.se

    def test_constant_columns_and_more_columns_than_rows(self):
        options = {"random_state": 1, "n_rep": 10}
        for design in (np.ones((20, 2)), RDraws(3).normal(600).reshape(20, 30)):
            found = degrees_of_freedom(RegressionTree(1), design, **options)
            assert np.isfinite([found.df, found.se]).all()

    def test_tiny_designs(self):
        for n in (2, 3):
            found = degrees_of_freedom(RegressionTree(0), np.arange(n)[:, None] + 0.0, n_rep=60)
            assert abs(found.df - 1) <= 4 * found.se + 1e-9


def test_designs_with_whole_frames_in_each():
    found = degrees_of_freedom(
        NearestNeighbors(4), (10, 2), n_rep=400, random_state=1, method="monte-carlo"
    )
    exact = degrees_of_freedom(NearestNeighbors(4), (10, 2), n_rep=400, random_state=1)
    assert found.settings["frame_size"] == 9 and found.n_rep == 360 and found.n_designs == 20
    # The same designs, each of them exactly.
    assert found.df == pytest.approx(exact.df, abs=1e-10)


def test_the_number_of_workers_does_not_matter():
    for n_rep in (60, 190):
        one, two = (
            degrees_of_freedom(RegressionTree(2), X, n_rep=n_rep, random_state=1, n_jobs=n)
            for n in (1, 2)
        )
        assert one.df == two.df and np.array_equal(one.left_out["df"], two.left_out["df"])
        assert np.array_equal(one.per_observation, two.per_observation)


class TestMars:
    options: ClassVar = {"degree": 2, "nk": 9, "engine": "native"}

    def test_the_authors_numbers_stay(self):
        found = correct_penalty((20, 2), n_rep=20, **self.options)
        assert found.settings["variance_reduction"] is None
        assert found.settings["draws"] == "RDraws(1234)"

    def test_best_when_asked(self):
        best = correct_penalty(X, draws="best", n_rep=200, **self.options)
        again = correct_penalty(X, random_state=1234, n_rep=200, **self.options)
        assert best.settings["variance_reduction"] == "orthogonal, direction, control"
        assert best.n_rep == 190 and best.penalty == again.penalty
        plain = correct_penalty(X, draws=RDraws(1), n_rep=2000, **self.options)
        assert abs(best.df - plain.df) <= 3 * np.hypot(best.df_se, plain.df_se)
        assert abs(best.penalty - plain.penalty) <= 3 * np.hypot(best.se, plain.se)
        with pytest.raises(ValueError, match="draws='worst' but it should be 'best'"):
            correct_penalty(X, draws="worst")

    def test_path(self):
        nk, options = (3, 9), {"degree": 2, "engine": "native"}
        for n_rep in (60, 200):
            best = self_consistency(X, nk=nk, draws="best", n_rep=n_rep, **options)
            one = correct_penalty(X, nk=9, draws="best", n_rep=n_rep, **options)
            assert best.df[1] == pytest.approx(one.df, rel=1e-12)
            assert best.se[1] == pytest.approx(one.df_se, rel=1e-9)
            assert best.settings["variance_reduction"] == one.settings["variance_reduction"]
            assert best.n_rep == one.n_rep
        plain = self_consistency(X, nk=nk, n_rep=60, **options)
        assert plain.settings["variance_reduction"] is None
        assert best.se[1] < plain.se[1]


def test_pruned_mars_says_what_was_used():
    found = degrees_of_freedom(Earth(engine="native"), X, n_rep=20, random_state=1)
    assert found.settings["variance_reduction"] == "direction, control"
    assert found.per_observation.sum() == pytest.approx(found.df)
