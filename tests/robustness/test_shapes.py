"""Arrays that do not belong together, and sizes that nothing can hold: an exception, never a crash."""

import numpy as np
import pytest

from pyearthdof import Earth, _core, degrees_of_freedom
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.procedures import (
    BestSubset,
    IterativeRidge,
    Lasso,
    LeastSquares,
    RegressionTree,
    RelaxedLasso,
    Ridge,
    SmoothingSpline,
    lasso_path,
    theorem_one,
)
from pyearthdof.random import RDraws

X = np.random.default_rng(0).normal(size=(40, 3))
COLUMNS = np.ascontiguousarray(X.T)
LONG = np.zeros((1, 50_000))
BAND = np.ones((5, 4))
ORDER = np.argsort(COLUMNS, axis=1)


def settings():
    return _core.Settings(
        degree=1, nk=9, penalty=2.0, thresh=0.001, minspan=0, endspan=0, newvar_penalty=0.0, fast_k=20,
        fast_beta=1.0, adjust_endspan=2.0, auto_linpreds=True,
    )  # fmt: skip


CALLS = {
    "forward": lambda d, s: _core.forward_pass(d, s, [], LONG[:, :5]),
    "linpreds": lambda d, s: _core.forward_pass(d, s, [99_999], COLUMNS[:1]),
    "weights": lambda d, s: _core.weighted_pass(d, s, [], COLUMNS[:1], LONG[0, :2], 1.0),
    "steps": lambda d, s: _core.Steps(d, s, [], LONG, False),
    "allow": lambda d, s: _core.Steps(d, s, [], COLUMNS[:1], False).allow(
        999_999, 9_999_999, False
    ),
    "many": lambda d, s: _core.fit_many(d, s, [], LONG, False, False, 9),
    "paths": lambda d, s: _core.fit_paths(d, s, [], LONG[:, :7], False, [1]),
    "sizes": lambda d, s: _core.fit_sizes(d, s, [], LONG[:, :7], LONG[:, :7], False),
    "subsets": lambda d, s: _core.search_subsets(COLUMNS, LONG[0, :3], "backward", 3),
    "largest": lambda d, s: _core.search_subsets(COLUMNS, X[:, 0].copy(), "backward", 99_999),
    "regress": lambda d, s: _core.regress(COLUMNS, LONG[:, :3]),
    "eliminate": lambda d, s: _core.eliminate_backward(COLUMNS, LONG[:, :3]),
    "power": lambda d, s: _core.power(LONG[0], LONG[0, :1]),
    "knots": lambda d, s: _core.candidate_knots(d, s, LONG[0, :1], 0),
    "tree": lambda d, s: _core.grow_tree(COLUMNS, ORDER + 10**9, COLUMNS[0], 2),
    "leaves": lambda d, s: _core.leaf_means(X[:, 0].copy(), np.full(40, 10**12), 3),
    "trees": lambda d, s: _core.fit_trees(COLUMNS, ORDER, LONG, COLUMNS, 2),
    "lassos": lambda d, s: _core.solve_lassos(COLUMNS, LONG[:, :3], LONG[:, :3]),
    "lasso path": lambda d, s: _core.solve_lasso_path(COLUMNS, X[:, 0].copy(), LONG[:, :1]),
    "ordered": lambda d, s: _core.solve_ordered(BAND, BAND, LONG),
    "ordered gram": lambda d, s: _core.solve_ordered(BAND, BAND[:2], COLUMNS[:, :5].copy()),
    "ordered band": lambda d, s: _core.solve_ordered(X, X, COLUMNS),
    "nothing ordered": lambda d, s: _core.solve_ordered(BAND[:0], BAND[:0], LONG[:, :0]),
    "data": lambda d, s: _core.reduce_data(np.arange(5), BAND, 5, LONG),
    "data rows": lambda d, s: _core.reduce_data(np.arange(9), BAND, 9, np.zeros((9, 1))),
    "data band": lambda d, s: _core.reduce_data(np.arange(40), X, 40, X),
    "data start": lambda d, s: _core.reduce_data(np.arange(5) + 10**9, BAND, 5, BAND),
    "penalised": lambda d, s: _core.reduce_penalised(BAND, X[:3], BAND, 1.0),
    "penalised band": lambda d, s: _core.reduce_penalised(BAND, BAND, LONG.T[:, :1].copy(), 1.0),
    "triangle": lambda d, s: _core.back_substitute(LONG.T.copy(), X),
    "triangle band": lambda d, s: _core.back_substitute(X, X),
    "trace": lambda d, s: _core.trace_of_smoother(np.ones((5000, 4)), BAND),
    "trace band": lambda d, s: _core.trace_of_smoother(X, X),
    "inverse": lambda d, s: _core.band_inverse(X),
    "grid": lambda d, s: _core.minimise_gcv(BAND, BAND, np.ones(4), BAND, 9.0, np.zeros(0)),
    "knots of a basis": lambda d, s: _core.nonzero_basis(
        X[:, 0].copy(), np.full(40, 10**9), X[:, 0].copy()
    ),
    "basis": lambda d, s: _core.nonzero_basis(LONG[0], np.zeros(1, int), X[:, 0].copy()),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_core_refuses_arrays_that_do_not_belong_together(name):
    with pytest.raises(ValueError, match=r"should|no such"):
        CALLS[name](_core.Design(X), settings())


@pytest.mark.parametrize("method", ["normal", "uniform", "skip_normals", "sample"])
@pytest.mark.parametrize("n", [2**61, 2**63 - 1, 2**64, 10**30])
def test_counts_that_no_vector_has_are_refused(method, n):
    with pytest.raises(InvalidInputError, match="integer from 0 to"):
        getattr(RDraws(1), method)(n)


def test_the_core_does_not_make_arrays_that_no_memory_has():
    with pytest.raises(MemoryError):
        _core.Twister(1).normals(2**61)


def test_a_tree_takes_another_byte_order():
    y = np.abs(X[:, 0])
    found = RegressionTree(2).fit(X.astype(">f8"), y.astype(">f8"))
    np.testing.assert_array_equal(found.fitted_values_, RegressionTree(2).fit(X, y).fitted_values_)


@pytest.mark.parametrize("nks", [[], [0], [2.5], "a", None, [[3]]])
def test_a_path_needs_sizes(nks):
    with pytest.raises(InvalidInputError, match="nks should be a list of integers of 1 or more"):
        Earth(thresh=0, pmethod="none", engine="native").fit_path(X, X[:, :1], nks)


@pytest.mark.parametrize("kind", [">f8", "longdouble", ">i4", "float16", "U20"])
@pytest.mark.parametrize("procedure", [Lasso(lam=0.1), IterativeRidge(1.0), Ridge(1.0)])
def test_procedures_take_other_numbers(procedure, kind):
    y = np.abs(X[:, 0]).round(1) * 10
    found = procedure.fit(X, y.astype(kind)).predict(X)
    np.testing.assert_allclose(found, procedure.fit(X, y.astype(kind).astype(float)).predict(X))


@pytest.mark.parametrize("procedure", [LeastSquares(), RegressionTree(2), SmoothingSpline(df=4)])
@pytest.mark.parametrize("kind", ["M8[D]", "m8[D]", "words"])
def test_procedures_refuse_what_is_no_number(procedure, kind):
    words = np.array(["a", "b"] * (len(X) // 2))
    y = words if kind == "words" else np.arange(len(X)).astype(kind)
    with pytest.raises(
        InvalidInputError, match=r"y is a ndarray but it should be a vector of numbers"
    ):
        procedure.fit(X[:, :1], y)


def test_a_mean_beyond_doubles_is_refused():
    with pytest.raises(InvalidInputError, match="mu="):
        degrees_of_freedom(LeastSquares(), X, mu=10**400)


@pytest.mark.parametrize(
    "procedure", [Lasso(0.1), RelaxedLasso(0.1), BestSubset(1), IterativeRidge(1.0)]
)
@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_procedures_refuse_sizes_whose_squares_are_no_numbers(procedure, size):
    y = X[:, 0] + X[:, 1] ** 2
    for x, response, name in ((size * X, y, "X"), (X, size * y, "y")):
        if name == "y" and size < 1 and isinstance(procedure, IterativeRidge):
            continue  # which squares no response
        with pytest.raises(
            InvalidInputError, match=f"{name} has a column .* for a double: scale it"
        ):
            procedure.fit(x, response)
        with pytest.raises(InvalidInputError, match=f"{name} has a column"):
            procedure.fit_many(x, np.column_stack([response, response]))


def test_the_path_and_the_theorem_refuse_them_too():
    with pytest.raises(InvalidInputError, match="X has a column"):
        lasso_path(1e200 * X, X[:, 0])
    with pytest.raises(InvalidInputError, match="X has a column"):
        theorem_one(1e200 * X, np.ones(3), 0.1)
    with pytest.raises(InvalidInputError, match="should be finite"):
        theorem_one(X, np.array([1.0, np.nan, 0.0]), 0.1)


def test_a_penalty_that_is_lost_to_rounding_is_named():
    same = np.repeat(X[:, :1], 3, axis=1)
    with pytest.raises(InvalidInputError, match="lam=1e-300 but it should be larger"):
        IterativeRidge(lam=1e-300).fit(same, X[:, 1])
