"""Random numbers and responses: y = mu + sigma z, from R's or numpy's stream.

Noise with a covariance matrix is y = mu + L z with covariance LL'. The degrees of freedom are then
tr(Sigma^-1 Cov(muhat, y)), which is the sum of Cov(muhat_i, y_i)/sigma_i^2 for independent observations,
tr(S) for a linear smoother, and by Stein's lemma the mean divergence of the fit for any Gaussian noise.

Frames are orthogonal responses. For a linear smoother S and an orthonormal basis q_1, ..., q_n the sum of
q_j'S q_j is tr(S), so orthogonal responses give the linear part of a fit exactly. A frame is the Q of a
Gaussian matrix Z = QR, with each column rescaled to its length in Z: each response is marginally Gaussian,
so estimates stay unbiased. With m of n columns, the variance of the linear part is 1 - (m - 1)/(n - 1) of
that of independent responses. Responses within a frame are dependent, so the standard error leaves out
frames. It needs whole frames, at least ten, or two for each of several designs.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from numbers import Integral
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular
from sklearn.utils import check_random_state

from ..._utils.checks import as_numbers, check_choice, check_count, check_sigma, refusal
from ...exceptions import InvalidInputError
from ...random import RDraws

if TYPE_CHECKING:
    from .variance_reduction import Reduction

_LEAST = 10  # frames for one design
_LEAST_EACH = 2  # for each of several designs; a frame uses coefficients from the others
_LARGEST = 4096  # responses of a frame, whose cost grows with the third power
_MOST_GROUPS = 32


def orthogonal(Z: np.ndarray, centred: bool) -> np.ndarray:
    """Return the columns of Z orthogonalised, with their original lengths.

    `centred` keeps the means of the columns and makes the rest orthogonal to the constant.
    """
    mean = Z.mean(axis=0) if centred else 0.0
    Z = Z - mean
    Q, R = np.linalg.qr(Z)
    # A positive diagonal of R makes Q uniformly distributed.
    length = np.linalg.norm(Z, axis=0) * np.where(np.diag(R) < 0, -1.0, 1.0)
    return mean + Q * length


def frame_size(dimension: int, counts: Sequence[int], *, partial: bool = False) -> int | None:
    """Return the number of responses in a frame, None with too few repetitions per design.

    `dimension` is that of the space of the responses, and the size of a whole frame; `partial` permits
    smaller frames if there are too few whole ones, or if those are too large.
    """
    least = _LEAST if len(counts) == 1 else _LEAST_EACH
    size = min(dimension, min(counts) // least, _LARGEST)
    return size if size > 1 and (partial or size == dimension) else None


def frame_groups(n_rep: int, size: int) -> np.ndarray:
    """Return the frame of each repetition."""
    return np.arange(n_rep) // size


def merged_groups(groups: np.ndarray) -> np.ndarray:
    """Return the groups that are left out: neighbours are joined if there are more than 32."""
    n_groups = int(groups[-1]) + 1
    return groups * min(_MOST_GROUPS, n_groups) // n_groups


_CHUNK = 1 << 20


RandomState: TypeAlias = int | np.integer | np.random.RandomState | np.random.Generator | None


@runtime_checkable
class Draws(Protocol):
    """A stream of standard normal numbers."""

    def normal(self, n: int, /) -> np.ndarray: ...

    def copy(self) -> Draws: ...

    def skip_normals(self, n: int, /) -> None: ...


class NumpyDraws:
    """Numpy's normals with the interface of `RDraws`."""

    def __init__(self, seed: int) -> None:
        self.seed = int(seed)
        self._generator = np.random.default_rng(self.seed)

    def __repr__(self) -> str:
        return f"numpy.random.default_rng({self.seed})"

    def copy(self) -> NumpyDraws:
        twin = NumpyDraws(self.seed)
        twin._generator.bit_generator.state = self._generator.bit_generator.state
        return twin

    def normal(self, n: int) -> np.ndarray:
        return self._generator.standard_normal(n)

    def skip_normals(self, n: int) -> None:
        while n:
            n -= len(self._generator.standard_normal(min(n, _CHUNK)))


def as_draws(draws: object, random_state: RandomState) -> Draws:
    """Return the stream of a run: a copy of `draws`, or numpy's seeded from `random_state`."""
    if draws is not None and random_state is not None:
        raise InvalidInputError(
            f"draws={draws!r} and random_state={random_state!r} but one of them should be None: draws "
            "are R's numbers, random_state is for numpy's"
        )
    if draws is not None:
        if not isinstance(draws, Draws):
            raise refusal("draws", draws, "RDraws(seed), or None with random_state for numpy's")
        return draws.copy()
    if isinstance(random_state, np.random.Generator):
        return NumpyDraws(int(random_state.integers(2**31)))
    if isinstance(random_state, Integral):
        return NumpyDraws(check_count("random_state", int(random_state), 0))
    return NumpyDraws(check_random_state(random_state).randint(2**31 - 1))


def drawn_designs(
    shape: tuple[int, int], draws: Draws, n_rep: int, n_designs: int
) -> Iterator[np.ndarray]:
    """Yield Gaussian designs, column by column, from the numbers after all responses.

    The authors draw y before X. The responses are drawn later, block by block, so the designs come from a
    copy of the stream that skips them.
    """
    n, p = shape
    after = draws.copy()
    after.skip_normals(n * n_rep)
    for _ in range(n_designs):
        yield np.ascontiguousarray(after.normal(n * p).reshape(p, n).T)


def drawn_design(shape: tuple[int, int], draws: Draws, n_rep: int) -> np.ndarray:
    """Return the first of the drawn designs, the authors' design."""
    return next(drawn_designs(shape, draws, n_rep, 1))


@dataclass(frozen=True)
class Responses:
    """y = mu + sigma z: its mean, its standard deviation, and the stream of z.

    `frame` is the number of mutually orthogonal z, None if all are independent. `centred` ones are also
    orthogonal to the constant.
    """

    n: int
    mu: np.ndarray
    sigma: np.ndarray
    draws: Draws
    frame: int | None = None
    centred: bool = False

    def in_frames(self, reduction: Reduction) -> Responses:
        """Return the same responses in the frames of a `Reduction`."""
        return replace(self, frame=reduction.frame, centred=reduction.direction)

    def blocks(self, edges: Sequence[int]) -> Iterator[np.ndarray]:
        """Yield the responses between consecutive edges, column by column as R fills a matrix."""
        for z in self._numbers(np.diff(edges).tolist()):
            yield np.ascontiguousarray(self.mu[:, None] + self._noise(z))

    def _numbers(self, sizes: Sequence[int]) -> Iterator[np.ndarray]:
        """Yield z for blocks of these sizes."""
        if self.frame is None:
            yield from (self._normal(size) for size in sizes)
            return
        ready = np.empty((self.n, 0))
        for size in sizes:
            while ready.shape[1] < size:
                z = orthogonal(self._normal(self.frame), self.centred)
                ready = np.hstack([ready, z]) if ready.size else z
            yield ready[:, :size]
            ready = ready[:, size:]

    def _noise(self, z: np.ndarray) -> np.ndarray:
        return self.sigma[:, None] * z

    def covariance(self, rows: np.ndarray) -> np.ndarray:
        """Return columns of the covariance matrix of y."""
        columns = np.zeros((self.n, len(rows)))
        columns[rows, np.arange(len(rows))] = self.sigma[rows] ** 2
        return columns

    def _normal(self, m: int) -> np.ndarray:
        return self.draws.normal(self.n * m).reshape(m, self.n).T


@dataclass(frozen=True)
class CorrelatedResponses(Responses):
    """y = mu + root z; `sigma` are the standard deviations of its entries."""

    root: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))

    def _noise(self, z: np.ndarray) -> np.ndarray:
        return self.root @ z

    def covariance(self, rows: np.ndarray) -> np.ndarray:
        return self.root @ self.root[rows].T

    def whitened(self) -> Responses:
        """Return the responses in coordinates with independent entries of mean 0 and variance 1."""
        return Responses(self.n, np.zeros(self.n), np.ones(self.n), self.draws)

    def white(self, values: np.ndarray) -> np.ndarray:
        """root^-1 values."""
        return solve_triangular(self.root, values, lower=True)

    def white_noise(self, Y: np.ndarray) -> np.ndarray:
        """root^-1 (Y - mu)."""
        return self.white(Y - self.mu[:, None])

    def weighed(self, Y: np.ndarray) -> np.ndarray:
        """Sigma^-1 (Y - mu)."""
        return solve_triangular(self.root, self.white_noise(Y), lower=True, trans="T")


def has_one_sigma(responses: Responses) -> bool:
    """Return True if the noise is independent, with the same standard deviation in all rows."""
    return np.ptp(responses.sigma) == 0 and not isinstance(responses, CorrelatedResponses)


def the_responses(n: int, mu: np.ndarray, sigma: ArrayLike | None, stream: Draws) -> Responses:
    """Responses with a standard deviation, one for each row, or a covariance matrix."""
    if sigma is None or np.ndim(sigma) != 2:
        return Responses(n, mu, check_sigma(sigma, n), stream)
    covariance = as_numbers("sigma", sigma, "be a covariance matrix of numbers")
    root = _root(_checked(covariance, n))
    return CorrelatedResponses(n, mu, np.sqrt(np.diag(covariance)), stream, root=root)


def _checked(covariance: np.ndarray, n: int) -> np.ndarray:
    if covariance.shape != (n, n):
        raise InvalidInputError(
            f"sigma has shape {covariance.shape} but a covariance matrix should be ({n}, {n})"
        )
    if not np.isfinite(covariance).all() or not np.allclose(covariance, covariance.T, rtol=1e-10):
        raise InvalidInputError(
            "sigma is a matrix but a covariance matrix should be finite and symmetric"
        )
    return covariance


def _root(covariance: np.ndarray) -> np.ndarray:
    try:
        return np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        raise InvalidInputError(
            "sigma is a matrix but a covariance matrix should be positive definite"
        ) from None


@dataclass(frozen=True)
class Position:
    """Position of responses in the random numbers: an existing stream, and columns of a frame to skip."""

    draws: Draws
    offset: int


def positions(responses: Any, edges: Sequence[int]) -> Iterator[Position]:
    """Yield the positions of responses between consecutive edges; the stream advances as in `blocks`.

    A few hundred bytes represent the responses, which `drawn_from` draws where they are needed.
    """
    frame = getattr(responses, "frame", None) or 1
    draws, offset = responses.draws, 0
    for start, stop in pairwise(edges):
        yield Position(draws.copy(), offset)
        whole, offset = divmod(offset + stop - start, frame)
        draws.skip_normals(responses.n * frame * whole)


def drawn_from(position: Position, responses: Any, counts: Sequence[int]) -> Generator[np.ndarray]:
    """Yield the responses of consecutive blocks from a position, with the same bits as `blocks`."""
    edges = np.cumsum([0, *[position.offset] * (position.offset > 0), *counts]).tolist()
    blocks = replace(responses, draws=position.draws.copy()).blocks(edges)
    if position.offset:
        next(blocks)
    yield from blocks


AUTHORS_SEED = 1234


def authors_draws(draws: Draws | str | None, random_state: RandomState) -> Draws:
    """Return the stream of a run, by default R's numbers with the authors' seed.

    `draws="best"` selects numpy's numbers, which the best estimator requires.
    """
    if draws is None and random_state is None:
        return RDraws(AUTHORS_SEED)
    if isinstance(draws, str):
        check_choice("draws", draws, ("best",))
        return as_draws(None, AUTHORS_SEED if random_state is None else random_state)
    return as_draws(draws, random_state)
