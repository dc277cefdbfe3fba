"""The compiled loops as Python sees them. Arguments are checked by the Python code around them."""

from collections.abc import Sequence
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Integers: TypeAlias = NDArray[np.int64]
Signs: TypeAlias = NDArray[np.int8]
Words: TypeAlias = NDArray[np.uint32]

def instructions() -> str: ...

LONG_DOUBLE_DIGITS: int

def use_instructions(name: str) -> bool: ...
def share_all_work(always: bool) -> None: ...

class Roles:
    def __init__(
        self,
        *,
        indicators: Sequence[int],
        incomplete: Sequence[int],
        apart: Sequence[tuple[int, int]],
    ) -> None: ...

class Settings:
    def __init__(
        self,
        *,
        degree: int,
        nk: int,
        penalty: float,
        thresh: float,
        minspan: int,
        endspan: int,
        newvar_penalty: float,
        fast_k: int,
        fast_beta: float,
        adjust_endspan: float,
        auto_linpreds: bool,
        most_knots: int = 4000000,
        most_cases: int = 16000000,
        roles: Roles = ...,
        as_earth: bool = True,
    ) -> None: ...
    degree: int
    nk: int
    penalty: float
    thresh: float
    newvar_penalty: float

class Design:
    def __init__(self, X: Floats, n_threads: int = 1) -> None: ...
    def reach(self) -> Floats: ...

class Steps:
    @overload
    def __init__(
        self, design: Design, settings: Settings, linpreds: Sequence[int], y: Floats, exact: bool
    ) -> None: ...
    @overload
    def __init__(
        self,
        design: Design,
        settings: Settings,
        linpreds: Sequence[int],
        y: Floats,
        weights: Floats,
        rss_null: float,
        exact: bool,
    ) -> None: ...
    is_running: bool
    is_exact: bool
    n_slots: int
    rss_null: float
    def run(self, most: int) -> None: ...
    def parents(self) -> list[tuple[int, Signs]]: ...
    def allow(self, slot: int, pred: int, answer: bool) -> None: ...
    def collect(self) -> dict[str, Any]: ...
    def gains(self) -> list[tuple[int, int, float, float]]: ...
    def exact_gain(self, slot: int, pred: int) -> float: ...

def forward_pass(
    design: Design,
    settings: Settings,
    linpreds: Sequence[int],
    y: Floats,
    exact: bool = False,
    n_threads: int = 1,
) -> dict[str, Any]: ...
def weighted_pass(
    design: Design,
    settings: Settings,
    linpreds: Sequence[int],
    y: Floats,
    weights: Floats,
    rss_null: float,
    exact: bool = False,
    n_threads: int = 1,
) -> dict[str, Any]: ...
def fit_many(
    design: Design,
    settings: Settings,
    linpreds: Sequence[int],
    Y: Floats,
    scaled: bool,
    pruned: bool,
    nprune: int,
    weights: Floats | None = None,
    n_threads: int = 1,
) -> tuple[Floats, Integers]: ...
def fit_paths(
    design: Design,
    settings: Settings,
    linpreds: Sequence[int],
    Y: Floats,
    scaled: bool,
    steps: Sequence[int],
    weights: Floats | None = None,
    n_threads: int = 1,
) -> tuple[Floats, Integers]: ...
def fit_sizes(
    design: Design,
    settings: Settings,
    linpreds: Sequence[int],
    Y: Floats,
    Z: Floats,
    scaled: bool,
    weights: Floats | None = None,
    n_threads: int = 1,
) -> dict[str, Any]: ...
def weighted_null_rss(Y: Floats, weights: Floats) -> float: ...
def search_subsets(columns: Floats, y: Floats, method: str, largest: int) -> dict[str, Any]: ...
def regress(
    columns: Floats,
    y: Floats,
    tolerance: float = 1e-07,
    leverages: bool = False,
    n_threads: int = 1,
) -> dict[str, Any]: ...
def eliminate_backward(columns: Floats, y: Floats, n_threads: int = 1) -> dict[str, Any]: ...
def evaluate_terms(X: Floats, dirs: Floats, cuts: Floats) -> Floats: ...
def find_independent(
    columns: Floats, tolerance: float = 1e-08, n_threads: int = 1
) -> list[int]: ...
def candidate_knots(
    design: Design, settings: Settings, base: Floats, pred: int
) -> dict[str, Any]: ...
def tie_band(gain: float, rss_null: float) -> float: ...
def extended_sum(values: Floats, emulated: bool = False) -> float: ...
def extended_mean(values: Floats, emulated: bool = False) -> float: ...
def extended_variance(values: Floats, emulated: bool = False) -> float: ...
def extended_column_means(matrix: Floats, emulated: bool = False) -> Floats: ...
def extended_division(a: Floats, b: Floats, emulated: bool = False) -> tuple[Floats, Floats]: ...
def scale_rows(Y: Floats) -> tuple[Floats, Floats]: ...
def grow_tree(
    columns: Floats, order: Integers, y: Floats, depth: int
) -> tuple[Integers, Floats, Integers, Integers, Integers]: ...
def leaf_means(y: Floats, leaf: Integers, n_nodes: int) -> Floats: ...
def fit_trees(
    columns: Floats,
    order: Integers,
    responses: Floats,
    unit_free: Floats,
    depth: int,
    n_threads: int = 1,
) -> tuple[Floats, Integers]: ...
def solve_lassos(
    columns: Floats, responses: Floats, half: Floats, n_threads: int = 1
) -> tuple[Floats, bool]: ...
def solve_lasso_path(columns: Floats, z: Floats, half: Floats) -> tuple[Floats, bool]: ...
def search_best_subsets(
    R: Floats, responses: Floats, leftover: Floats, smallest: int, best: Floats, n_threads: int = 1
) -> Flags: ...
def rank_of(R: Floats) -> int: ...
def solve_ordered(
    H: Floats, gram: Floats, B: Floats, n_threads: int = 1
) -> tuple[Floats, Integers, Floats, Flags]: ...
def reduce_data(
    start: Integers, values: Floats, n_columns: int, Y: Floats
) -> tuple[Floats, Floats, Floats]: ...
def reduce_penalised(
    R0: Floats, Z0: Floats, penalty: Floats, lam: float
) -> tuple[Floats, Floats]: ...
def back_substitute(R: Floats, Z: Floats) -> Floats: ...
def band_inverse(R: Floats) -> Floats: ...
def trace_of_smoother(R0: Floats, R: Floats) -> tuple[float, float]: ...
def solve_smoothers(
    R0: Floats, Z0: Floats, penalty: Floats, lams: Floats, n_threads: int = 1
) -> tuple[Floats, Floats]: ...
def minimise_gcv(
    R0: Floats,
    Z0: Floats,
    outside: Floats,
    penalty: Floats,
    n: float,
    grid: Floats,
    n_threads: int = 1,
) -> Floats: ...
def nonzero_basis(x: Floats, interval: Integers, knots: Floats) -> Floats: ...
def solve_reweighted(
    columns: Floats, root: Floats, target: Floats, tolerance: float, n_threads: int = 1
) -> Floats | None: ...
def logistic(eta: Floats) -> Floats: ...
def logistic_slope(eta: Floats) -> Floats: ...
def product_in_order(columns: Floats, coef: Floats) -> Floats: ...
def binomial_deviances(y: Floats, mean: Floats, weights: Floats) -> Floats: ...
def elementary(name: str, values: Floats) -> Floats: ...
def power(values: Floats, exponents: Floats) -> Floats: ...
def normal_quantile(p: float) -> float: ...

class Twister:
    def __init__(self, seed: int) -> None: ...
    def __deepcopy__(self, memo: object) -> Twister: ...
    def __getstate__(self) -> tuple[Words, int]: ...
    def __setstate__(self, arg: tuple[Words, int], /) -> None: ...
    def skip(self, count: int) -> None: ...
    def words(self, n: int) -> Words: ...
    def normals(self, n: int, n_threads: int = 1) -> Floats: ...
