"""What the native engine prepares before the compiled loops run: design, settings, memory, scaling."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..exceptions import InvalidInputError
from .kernels import ALMOST_ZERO, Design, Queue, Settings, Terms
from .kernels_exact import Basis
from .kernels_fast import Fast
from .kernels_forward import DELTA, RSS, RSS_NULL, Progress
from .kernels_knots import Knots
from .kernels_many import fit_block
from .options import default_nk, default_penalty
from .r_sums import r_mean, sum_in_order

__all__ = ["Batch", "InvalidInputError", "Workspace", "make_workspace", "prepare_design"]

MOST_KNOTS = 4_000_000  # candidate knots that one response keeps at a time: 192 MB at the most
MOST_PLACES = 24_000_000  # and places of cases: 96 MB
SIZES = (1e-75, 1e75)  # of the largest value of a column: products of sums of squares are numbers
_last_design: tuple[bytes, Design] | None = None


@dataclass(frozen=True)
class Workspace:
    """All that one forward pass writes to."""

    terms: Terms
    queue: Queue
    basis: Basis
    fast: Fast
    progress: Progress

    def forget_knots(self) -> None:
        """Have the candidate knots of all parents found again."""
        self.fast.synced[:] = 0
        self.fast.filled[:] = 0


def prepare_design(X: np.ndarray) -> Design:
    """Sort the predictors, once for all fits on the same X in a row."""
    global _last_design
    key = (
        hashlib.blake2b(np.ascontiguousarray(X).data, digest_size=16).digest()
        + str(X.shape).encode()
    )
    cached = _last_design
    if cached is not None and cached[0] == key:
        return cached[1]
    refuse_sizes("X", X)
    x = np.ascontiguousarray(X.T)
    order = np.argsort(x, axis=1, kind="stable")[:, ::-1]
    sorted_x = np.take_along_axis(x, order, axis=1)
    design = Design(
        x, np.ascontiguousarray(order, dtype=np.uint32), sorted_x, np.mean(x**2, axis=1)
    )
    _last_design = (key, design)
    return design


def resolve_settings(options, p: int) -> Settings:
    """Options of the forward pass with earth's defaults filled in."""
    degree = int(options["degree"])
    penalty, nk, fast_k = options["penalty"], options["nk"], int(options["fast_k"])
    return Settings(
        degree=degree,
        nk=default_nk(p) if nk is None else int(nk),
        penalty=default_penalty(degree) if penalty is None else float(penalty),
        thresh=float(options["thresh"]),
        minspan=int(options["minspan"]),
        endspan=int(options["endspan"]),
        newvar_penalty=float(options["newvar_penalty"]),
        fast_k=10_001 if fast_k <= 0 else max(3, fast_k),
        fast_beta=float(options["fast_beta"]),
        adjust_endspan=float(options["adjust_endspan"]),
        auto_linpreds=bool(options["auto_linpreds"]),
    )


def most_knots(n: int, p: int, settings: Settings) -> int:
    """Upper bound of the candidate knots of a pair."""
    if settings.minspan < 0:
        return min(n, 2 - settings.minspan)
    if settings.minspan > 0:
        return min(n, n // settings.minspan + 1)
    cases = np.arange(1, n + 1)
    spans = np.maximum(1, ((2.9702 + np.log(p * cases)) / 1.7329).astype(int))
    return min(n, int((cases // spans).max()) + 1)


def make_workspace(n: int, p: int, n_resp: int, settings: Settings, linpreds) -> Workspace:
    """Allocate; memory that is not touched costs nothing."""
    if settings.endspan > n:
        raise InvalidInputError(
            f"endspan={settings.endspan} but it should be at most the number of rows, {n}"
        )
    nk = settings.nk
    knots = most_knots(n, p, settings) + 1
    parents = 1 if settings.degree == 1 else nk
    room = 0, 0
    if n_resp == 1:
        room = (
            min(parents * p * knots, max(MOST_KNOTS, 2 * p * knots)),
            n + min((parents - 1) * p * n, max(MOST_PLACES, 2 * p * n)),
        )
    linear_only = np.zeros(p, dtype=np.bool_)
    linear_only[list(linpreds)] = True
    terms = Terms(
        bx=np.zeros((nk, n)),
        dirs=np.zeros((nk, p), dtype=np.int8),
        cuts=np.zeros((nk, p)),
        degree=np.zeros(nk, dtype=np.int64),
        used=np.zeros(nk, dtype=np.bool_),
        n_uses=np.zeros(p, dtype=np.int64),
        allowed=np.ones((nk, p), dtype=np.bool_),
        linear_only=linear_only,
    )
    queue = Queue(
        delta=np.empty(nk),
        when=np.zeros(nk, dtype=np.int64),
        ranked=np.zeros(nk, dtype=np.int64),
        age=np.empty(nk),
    )
    basis = Basis(
        q=np.empty((nk + 1, n)),
        centred=np.empty((n, nk + 1)),
        yq=np.empty((n_resp, nk + 1)),
        covariance=np.empty(nk + 1),
        slope=np.empty(nk + 1),
    )
    progress = Progress(
        count=np.zeros(9, dtype=np.int64), value=np.zeros(4), column=np.zeros(nk, dtype=np.int64)
    )
    return Workspace(terms, queue, basis, _fast_state(n, p, nk, knots, room), progress)


def _fast_state(n: int, p: int, nk: int, knots: int, room: tuple[int, int]) -> Fast:
    whole = (np.empty(room[0], dtype=np.int32) for _ in range(2))
    return Fast(
        knots=Knots(*whole, *(np.empty(room[0]) for _ in range(5))),
        open=np.zeros((nk, p), dtype=np.bool_),
        offset=np.zeros((nk, p), dtype=np.int64),
        n_knots=np.zeros((nk, p), dtype=np.int64),
        linear=np.zeros((nk, p), dtype=np.int8),
        places=np.empty(room[1], dtype=np.uint32),
        first=np.zeros((nk, p), dtype=np.int64),
        synced=np.zeros(nk, dtype=np.int64),
        gain=np.zeros((nk, p)),
        upper=np.zeros((nk, p)),
        square=np.zeros((nk, p)),
        rounding=np.zeros((nk, p)),
        spread=np.zeros(nk),
        need=np.zeros((nk, p), dtype=np.bool_),
        filled=np.zeros(4, dtype=np.int64),
        first_c=np.empty(p * knots),
        noise=np.zeros(1),
        quality=np.ones(1),
        q=np.empty((nk + 1, n)),
        y=np.empty(n),
        z=np.empty(nk + 1),
        r=np.zeros((nk + 1, nk + 1)),
        zeros=np.zeros(n),
        products=np.empty((n, 2)),
        column=np.empty(n),
        counted=np.zeros(n, dtype=np.bool_),
        state=np.zeros(p, dtype=np.int8),
        hinge=np.empty((2, knots)),
    )


def run_block(
    design,
    settings,
    work,
    scaled,
    task,
    max_steps=None,
    y=None,
    nprune=0,
    fitted=None,
    n_terms=None,
) -> None:
    """Call `fit_block`, always with the same types: one compilation serves all tasks."""
    fit_block(
        design, settings, work.terms, work.queue, work.basis, work.fast, work.progress, scaled,
        np.empty((0, 0)) if y is None else y, task, 2 * settings.nk if max_steps is None else max_steps,
        nprune, np.empty((0, 0)) if fitted is None else fitted,
        np.empty(0, dtype=np.int64) if n_terms is None else n_terms,
    )  # fmt: skip


def is_scaled(options, n_resp: int) -> bool:
    """Whether the responses are scaled for the forward pass; by default a single one without weight is."""
    if options["scale_y"] is None:
        return n_resp == 1 and options["response_weight"] is None
    return bool(options["scale_y"])


def response_importance(response_weight, n_resp: int) -> np.ndarray:
    """Factors of the responses: the root of earth's weights relative to their mean."""
    if response_weight is None:
        return np.ones(n_resp)
    weights = np.maximum(response_weight, r_mean(response_weight) / 1e8)
    return np.sqrt(weights / r_mean(weights))


def refuse_sizes(name: str, values: np.ndarray) -> None:
    """Refuse columns whose sums of squares overflow or vanish when multiplied: earth may never end."""
    largest = np.abs(values).max(axis=0)
    bad = (largest > SIZES[1]) | ((largest < SIZES[0]) & (largest > 0))
    if bad.any():
        raise InvalidInputError(
            f"{name} has a column with values up to {largest[bad][0]:g}, whose squares are too "
            f"{'large' if largest[bad][0] > 1 else 'small'} for a double: scale it"
        )


def scale_responses(Y: np.ndarray, scale: bool) -> tuple[np.ndarray, np.ndarray]:
    """R's scale(), and the divisors: sums in extended precision, one case after the other.

    A constant response stays as it is, which leaves all responses of the fit as they are.
    """
    refuse_sizes("y", Y)
    if not scale:
        return Y, np.ones(Y.shape[1])
    n = len(Y)
    centre = (np.add.accumulate(Y.astype(np.longdouble), axis=0)[-1] / n).astype(float)
    centred = Y - centre
    total = np.add.accumulate((centred**2).astype(np.longdouble), axis=0)[-1].astype(float)
    spread = np.sqrt(total / max(1, n - 1))
    if (spread == 0).any():
        return Y, np.ones(Y.shape[1])
    return centred / spread, spread


def start_weights(work: Workspace, rows: np.ndarray, weights: np.ndarray) -> None:
    """Put the weights into the intercept and the null RSS; `rows` are the unweighted responses."""
    if (weights < ALMOST_ZERO).any():
        row = int(np.flatnonzero(weights < ALMOST_ZERO)[0])
        raise InvalidInputError(
            f"sample_weight[{row}]={weights[row]:g} but weights should be greater than {ALMOST_ZERO:g}"
        )
    n = rows.shape[1]
    null = 0.0
    for row in rows:
        mean = sum_in_order(weights * row) / sum_in_order(weights)
        null = sum_in_order(np.append(null, weights * (row - mean) ** 2))
        null = max(null, 1e-8 * n)
    work.terms.bx[0] = np.sqrt(weights)
    work.queue.delta[0] = null
    work.progress.value[[RSS_NULL, RSS, DELTA]] = null


@dataclass(frozen=True)
class Batch:
    """Many responses on one design, as the rows of an (m, n) array."""

    design: Design
    settings: Settings
    rows: np.ndarray
    is_scaled: bool

    @classmethod
    def prepare(cls, X: np.ndarray, Y: np.ndarray, options) -> Batch:
        refuse_sizes("y", Y)
        settings = resolve_settings(options, X.shape[1])
        rows = np.ascontiguousarray(Y.T)
        return cls(prepare_design(X), settings, rows, is_scaled(options, 1))

    def scaled(self, block: slice) -> np.ndarray:
        """Some responses as the forward passes take them: (responses, 1, n). The threads share the work."""
        rows = self.rows[block]
        if self.is_scaled:
            rows = np.ascontiguousarray(scale_columns(rows.T).T)
        return rows[:, None, :]

    def workspace(self, options) -> Workspace:
        p, n = self.design.x.shape
        return make_workspace(n, p, 1, self.settings, options["linpreds"])


def scale_columns(Y: np.ndarray) -> np.ndarray:
    """`scale_responses` of each column by itself."""
    scaled, _ = scale_responses(Y, True)
    if scaled is Y:  # some column is constant
        scaled = np.column_stack([scale_responses(y[:, None], True)[0] for y in Y.T])
    return scaled


def run_threads(task: Callable[[], None], n_threads: int) -> None:
    """Run the task in as many threads and raise what one of them raised."""
    run_each(lambda _: task(), n_threads)


def run_each(task: Callable[[int], None], count: int) -> None:
    """Run task(0), task(1), ... each in a thread of its own; raise the first error."""
    if count == 1:
        task(0)
        return
    errors = []

    def guarded(i):
        try:
            task(i)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
