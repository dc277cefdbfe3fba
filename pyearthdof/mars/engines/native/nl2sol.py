"""Nonlinear least squares of R's nls(algorithm="port"): NL2SOL of Dennis, Gay and Welsch (ACM TOMS 7, 1981).

R passes the number of parameters to the algorithm as the number of residuals. NL2SOL therefore saves and
transforms only the first residuals: the secant matrix is only partly updated, and after a failed attempt at
a longer step, the gradient at the shorter one is computed from mixed residuals. This module reproduces both,
because they determine where R stops. scipy's least squares stops elsewhere, by up to 1e-4.

The order of operations follows R's PORT library and the reference BLAS. R differentiates numerically, so the
last bit of a parameter affects the eighth digit of the derivatives, and flat problems take a hundred
iterations.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

TINY = np.finfo(float).tiny
RESCALE = 256.0
WORST_GROWTH = 2.5


def dot(a: np.ndarray, b: np.ndarray) -> np.float64:
    """Inner product, summed from first to last."""
    return np.add.accumulate(a * b)[-1]


def norm(a: np.ndarray) -> np.float64:
    """Euclidean norm."""
    return np.sqrt(dot(a, a))


def times(lower: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return L x."""
    return np.array([dot(lower[i, : i + 1], x[: i + 1]) for i in range(len(x))])


def times_transposed(lower: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return L' x."""
    return np.array([dot(lower[j:, j], x[j:]) for j in range(len(x))])


def times_symmetric(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return a x."""
    return np.array([dot(row, x) for row in a])


def solve(lower: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Solve L x = y for x."""
    x = np.empty(len(y))
    for i in range(len(y)):
        x[i] = (y[i] - dot(lower[i, :i], x[:i])) / lower[i, i] if i else y[0] / lower[0, 0]
    return x


def solve_transposed(lower: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Solve L' x = y for x."""
    x = y.copy()
    for i in reversed(range(len(y))):
        x[i] /= lower[i, i]
        x[:i] -= x[i] * lower[i, :i]
    return x


def cholesky(a: np.ndarray) -> tuple[np.ndarray, np.float64 | None]:
    """Lower factor; if it fails, also an upper bound (not positive) of the lowest eigenvalue."""
    p = len(a)
    factor = np.zeros((p, p))
    for i in range(p):
        for j in range(i):
            known = dot(factor[i, :j], factor[j, :j]) if j else 0.0
            factor[i, j] = (a[i, j] - known) / factor[j, j]
        rest = a[i, i] - (dot(factor[i, :i], factor[i, :i]) if i else 0.0)
        if rest <= 0:
            factor[i, i] = 1.0
            length = norm(solve_transposed(factor[: i + 1, : i + 1], np.eye(i + 1)[i]))
            return factor, rest / length / length
        factor[i, i] = np.sqrt(rest)
    return factor, None


def smallest_singular(lower: np.ndarray) -> tuple[np.float64, np.ndarray, np.ndarray]:
    """Return an estimate of the smallest singular value, by Cline, Moler, Stewart and Wilkinson.

    Also returns its left vector x and the right vector y, not normalised: lower @ y = x.
    """
    p, seed = len(lower), 2
    x = np.zeros(p)
    for j in reversed(range(p)):
        seed = 3432 * seed % 9973
        b = 0.5 * (1 + seed / 9973)
        plus, minus = b - x[j], -b - x[j]
        sizes = []
        for value in (plus, minus):
            sums = np.abs(x[:j] + lower[j, :j] * (value / lower[j, j]))
            sizes.append(np.add.accumulate(np.append(abs(value), sums))[-1])
        x[j] = (minus if sizes[1] > sizes[0] else plus) / lower[j, j]
        x[:j] += x[j] * lower[j, :j]
    x = 1 / norm(x) * x
    y = solve(lower, x)
    return 1 / norm(y), x, y


def decompose(
    slopes: np.ndarray, residuals: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Householder QR of J: R', Q'r and the reflections; a column of zeros remains zero."""
    work, y = slopes.copy(), residuals.copy()
    n, p = work.shape
    lower, qtr, row = np.zeros((p, p)), np.zeros(p), 0
    for k in range(p):
        length = norm(work[row:, k])
        if length < TINY:
            continue
        if row == n - 1:
            lower[k:, k], qtr[k] = work[row, k:], y[row]
            work[row, k] = 0.0
            break
        if work[row, k] < 0:
            length = -length
        head = work[row, k] + length
        work[row, k] = head
        work[row:, k] *= 1 / np.sqrt(length * head)
        v = work[row:, k]
        y[row:] -= dot(y[row:], v) * v
        for j in range(k + 1, p):
            work[row:, j] -= dot(work[row:, j], v) * v
        lower[k, k], lower[k + 1 :, k] = -length, work[row, k + 1 :]
        qtr[k] = y[row]
        row += 1
    return lower, qtr, work


def damp(
    lower: np.ndarray, qtr: np.ndarray, damping: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Add diag(damping) as rows to QR and zeros to r, by fast Givens rotations.

    Returns R', Q'r and the weights by whose square roots their rows must be multiplied.
    """
    p = len(qtr)
    upper = np.column_stack([lower.T, qtr])
    weights = np.ones(p)
    for i in range(p):
        row, weight = np.zeros(p + 1), np.float64(1.0)
        row[i] = damping[i]
        for k in range(i, p):
            if row[k] == 0 and k > i:
                continue
            if k > i and weights[k] < 1 / RESCALE:
                weights[k] *= RESCALE * RESCALE
                upper[k, k:] /= RESCALE
            weights[k], weight = _rotate(upper[k, k:], row[k:], weights[k], weight, k == i)
            if k > i and weight < 1 / RESCALE:
                weight *= RESCALE * RESCALE
                row[k + 1 :] /= RESCALE
    return upper[:, :p].T, upper[:, p], weights


def _rotate(
    first: np.ndarray, second: np.ndarray, weight1: np.float64, weight2: np.float64, ties: bool
) -> tuple[np.float64, np.float64]:
    """Rotate the rows `first` and `second` so that the second begins with zero; return their new weights.

    The larger of the two leads, or `second` in ties if `ties`, unless the weights prevent it.
    """
    by_second = abs(second[0]) >= abs(first[0]) if ties else abs(second[0]) > abs(first[0])
    for _ in range(2):
        if by_second:
            b = first[0] / second[0]
            a = weight1 * b / weight2
        else:
            a = second[0] / first[0]
            b = weight2 * a / weight1
        growth = a * b + 1
        if not growth > WORST_GROWTH:
            break
        by_second = not by_second
    if by_second:
        first[0] = growth * second[0]
        first[1:], second[1:] = a * first[1:] + second[1:], b * second[1:] - first[1:]
        return weight2 / growth, weight1 / growth
    first[0] = growth * first[0]
    first[1:], second[1:] = first[1:] + b * second[1:], second[1:] - a * first[1:]
    return weight1 / growth, weight2 / growth


SLACK = 0.1  # relative deviation of the step length from the radius that is accepted
PSI_ERROR = 0.1  # relative, of the reduction predicted by the model
HUGE = np.finfo(float).max
ROUNDING = 50 * np.finfo(float).eps


@dataclass
class Trust:
    """State of the last step; lengths are scaled by D."""

    gradient: float  # length of D^-1 g
    length: float
    newton_length: float  # of the full step; not positive if unavailable
    slope: float  # g'step
    alpha: float  # damping, 0 for a full Newton step, negative in the nearly singular case
    newton_gain: float
    gain: float  # reduction predicted by the model
    radius: float  # of the current trust region, and when the last step was computed
    last_radius: float


class GaussNewtonSteps:
    """Levenberg-Marquardt steps for J = QR, given R' and Q'r; a new radius reuses the last state."""

    def __init__(self, lower: np.ndarray, qtr: np.ndarray, g: np.ndarray, d: np.ndarray) -> None:
        self.lower, self.qtr, self.g, self.d = lower, qtr, g, d
        self.tries = -1
        self.low = self.high = self.slope_at_zero = self.length = 0.0

    def forget(self) -> None:
        """Restart with the next step, after the other model was used."""
        self.tries = min(self.tries, 0)

    def step(self, trust: Trust) -> np.ndarray:
        limit, again = max(self.tries, 0) + 12, self.tries > 0
        if self.tries < 0:
            self.tries = 0
            trust.newton_gain = 0.5 * dot(self.qtr, self.qtr)
        excess = trust.newton_length - trust.radius
        if again and not (trust.newton_length > 0 and excess <= SLACK * trust.radius):
            alpha = self._resume(trust)
        else:
            self.low = self.high = 0.0
            full = self._full_step(trust)
            if full is not None:
                return self._finish(trust, full, 0.0, trust.newton_length)
            trust.gradient = norm(self.g / self.d)
            self.high = trust.gradient / trust.radius
            if self.high <= 0:
                return self._stay(trust)
            first = abs(trust.alpha) * trust.last_radius / trust.radius
            alpha = min(self.high, max(first, self.low))
        return self._damped(trust, alpha, limit)

    def _full_step(self, trust: Trust) -> np.ndarray | None:
        """Return the full step if it is short enough; otherwise derive the lower bound of alpha."""
        trust.newton_length = -1.0
        if not np.diag(self.lower).all():
            return None
        self.weights = solve_transposed(self.lower, self.qtr)  # R stores them in the same place
        scaled = self.d * self.weights
        length = norm(scaled)
        trust.newton_length = length
        excess = length - trust.radius
        if excess <= SLACK * trust.radius:
            return -self.weights
        inverse = 1 / norm(solve(self.lower, self.d * (scaled / length)))
        self.slope_at_zero = inverse / trust.radius * inverse
        self.low = excess * self.slope_at_zero
        return None

    def _resume(self, trust: Trust) -> float:
        """Update the bounds for the new radius; return the next alpha."""
        alpha, radius = abs(trust.alpha), trust.radius
        most = trust.gradient / radius
        if radius > trust.last_radius:
            if alpha <= 0 or self.high > most:
                self.high = most
            self.low = 0.0
        else:
            self.high = most
            if alpha <= 0:
                self.low = 0.0
        if trust.newton_length > 0:
            self.low = max(self.low, (trust.newton_length - radius) * self.slope_at_zero)
        if self.length < radius:
            self.high = min(self.high, alpha)
        return self._next_alpha(alpha, self.length - radius, radius)

    def _next_alpha(self, alpha: float, excess: float, radius: float) -> float:
        direction = solve(self.factor, self.d * (self.scaled / self.length))
        inverse = 1 / norm(direction / np.sqrt(self.weights))
        self.low = max(self.low, alpha + inverse * excess * inverse / radius)
        return self.low

    def _damped(self, trust: Trust, alpha: float, limit: int) -> np.ndarray:
        radius, last = trust.radius, 0.0
        nearly = PSI_ERROR / ((8 * (1 - SLACK) + 3) * (radius * radius))
        while True:
            self.tries += 1
            if alpha <= 0 or alpha < self.low or alpha >= self.high:
                alpha = self.high * max(0.001, np.sqrt(self.low / self.high))
            if alpha <= 0:
                alpha = 0.5 * self.high
            self.factor, qtr, self.weights = damp(self.lower, self.qtr, np.sqrt(alpha) * self.d)
            step = -solve_transposed(self.factor, qtr)
            self.scaled = -step * self.d
            self.length = norm(self.scaled)
            excess = self.length - radius
            if abs(excess) <= SLACK * radius or excess == last:
                break
            last = excess
            if not excess > 0:
                if self.tries >= limit:
                    break
                promised = alpha * self.length * self.length - dot(step, self.g)
                if alpha < promised * nearly:
                    self._finish(trust, step, alpha, self.length)
                    trust.alpha = -alpha
                    return step
            if excess < 0:
                self.high = alpha
            alpha = self._next_alpha(alpha, excess, radius)
        return self._finish(trust, step, alpha, self.length)

    def _stay(self, trust: Trust) -> np.ndarray:
        trust.alpha = trust.length = trust.slope = trust.gain = 0.0
        self.length = self.low = self.high = 0.0
        trust.last_radius = trust.radius
        return np.zeros(len(self.d))

    def _finish(self, trust: Trust, step: np.ndarray, alpha: float, length: float) -> np.ndarray:
        trust.alpha, trust.length = alpha, length
        self.length = length
        trust.slope = min(dot(step, self.g), 0.0)
        trust.gain = 0.5 * (alpha * length * length - trust.slope)
        trust.last_radius = trust.radius
        return step


class AugmentedSteps:
    """Steps for any symmetric H, given as D^-1 H D^-1; it need not be positive definite."""

    def __init__(self, hessian: np.ndarray, g: np.ndarray, d: np.ndarray) -> None:
        self.hessian, self.g, self.d = hessian, g / d, d
        self.tries = -1
        self.low = self.high = self.slope_at_zero = self.length = 0.0
        self.smallest = self.largest = 0.0

    def step(self, trust: Trust) -> np.ndarray:
        limit, radius = max(self.tries, 0) + 50, trust.radius
        first = self.tries < 0
        if first:
            self.tries = 0
            trust.gradient = norm(self.g)
            trust.newton_gain = trust.newton_length = 0.0
        self.patience = self.tries + 3 if trust.gradient else 0
        near = trust.newton_length > 0 and trust.newton_length - radius <= SLACK * radius
        if first or near or self.tries == 0:
            self.tries += near
            failed = self._full_step(trust)
            if not failed and self.length - radius <= SLACK * radius:
                return self._finish(trust, 0.0)
            alpha = self._bounds(trust, failed)
        else:
            excess = self._resume(trust)
            alpha = self._next_alpha(trust, abs(trust.alpha), excess)
        return self._damped(trust, alpha, limit)

    def _full_step(self, trust: Trust) -> bool:
        """Try the full step; return True if it fails because H is not positive definite."""
        self.low = 0.0
        self.factor, lowest = cholesky(self.hessian)
        if lowest is not None:
            self.low = -lowest
            trust.newton_length = -self.low
            return True
        self._solve()
        trust.newton_gain = 0.5 * self.curvature
        trust.newton_length = self.length
        return False

    def _solve(self) -> None:
        """Solve for D times the negative step by the current factor."""
        half = solve(self.factor, self.g)
        self.curvature = dot(half, half)
        self.scaled = solve_transposed(self.factor, half)
        self.length = norm(self.scaled)

    def _bounds(self, trust: Trust, failed: bool) -> float:
        """Bound alpha by Gerschgorin's bounds of the eigenvalues; return the first alpha."""
        diagonal, size = np.diag(self.hessian), np.abs(self.hessian)
        others = (size - np.diag(np.diag(size))).sum(axis=1)
        lowest = int(np.argmin(diagonal - others))
        excess = diagonal[lowest] - diagonal + others - size[lowest]
        self.smallest = diagonal[lowest] - _radius(lowest, excess, size, others)
        highest = int(np.argmax(diagonal + others))
        excess = diagonal + others - size[highest] - diagonal[highest]
        self.largest = diagonal[highest] + _radius(highest, excess, size, others)
        self._highest(trust)
        self.low = max(self.low, trust.gradient / trust.radius - self.largest)
        alpha = min(self.high, max(abs(trust.alpha) * trust.last_radius / trust.radius, self.low))
        if not failed:
            length = norm(solve(self.factor, self.scaled))
            self.slope_at_zero = trust.radius / length / length
            self.low = max(self.low, (self.length - trust.radius) * self.slope_at_zero)
        return alpha

    def _highest(self, trust: Trust) -> None:
        self.high = trust.gradient / trust.radius - self.smallest
        if trust.gradient == 0:
            self.high += 0.001 + 0.001 * self.high
        if self.high <= 0:
            self.high = 0.001

    def _resume(self, trust: Trust) -> float:
        """Update the bounds for the new radius; return the excess length of the last step."""
        alpha, radius, high, low = abs(trust.alpha), trust.radius, self.high, self.low
        self._highest(trust)
        least = trust.gradient / radius - self.largest
        if radius > trust.last_radius:
            if alpha > 0:
                self.high = min(self.high, high)
            self.low = max(0.0, -trust.newton_length, least)
        else:
            self.low = max(low if alpha > 0 else 0.0, least)
        if trust.newton_length > 0:
            self.low = max(self.low, (trust.newton_length - radius) * self.slope_at_zero)
        return self.length - radius

    def _next_alpha(self, trust: Trust, alpha: float, excess: float) -> float:
        if excess < 0:
            self.high = min(self.high, alpha)
        if self.patience == 0:  # no gradient
            return alpha
        length = norm(solve(self.factor, self.scaled))
        change = (excess / length) * (self.length / length) * (self.length / trust.radius)
        self.low = max(self.low, alpha + change)
        return self.low

    def _damped(self, trust: Trust, alpha: float, limit: int) -> np.ndarray:
        radius, last = trust.radius, 0.0
        while True:
            self.tries += 1
            alpha = self._safe(trust, alpha)
            self.factor, lowest = cholesky(self.hessian + alpha * np.eye(len(self.d)))
            if lowest is not None:
                self._raise_bounds(trust, alpha, lowest)
                continue
            self._solve()
            excess = self.length - radius
            if abs(excess) <= SLACK * radius or excess == last:
                break
            last = excess
            if excess < 0:
                step, enough = self._nearly_singular(trust, alpha)
                if step is not None:
                    return step
                if enough:
                    break
            if self.tries >= limit:
                break
            alpha = self._next_alpha(trust, alpha, excess)
        return self._finish(trust, alpha)

    def _safe(self, trust: Trust, alpha: float) -> float:
        if -trust.newton_length >= alpha or alpha < self.low or alpha >= self.high:
            alpha = self.high * max(0.001, np.sqrt(self.low / self.high))
        if alpha <= 0:
            alpha = 0.5 * self.high
        return alpha if alpha > 0 else self.high

    def _raise_bounds(self, trust: Trust, alpha: float, lowest: float) -> None:
        """Raise the bounds after H + alpha turned out not to be positive definite."""
        self.low = alpha - lowest
        trust.newton_length = -self.low
        self.high = max(self.high, self.low)
        if alpha < self.low:
            return
        more = 0.001 * alpha if alpha > 0 else 0.001
        self.low = alpha + more
        if self.high <= self.low:
            self.high = self.low + more

    def _nearly_singular(self, trust: Trust, alpha: float) -> tuple[np.ndarray | None, bool]:
        """Step along the lowest eigenvector to the boundary of the region if H + alpha is nearly singular.

        Otherwise None, and True if rounding forces the current step to be accepted.
        """
        delta = alpha + min(0.0, trust.newton_length)
        promised = alpha * self.length * self.length + self.curvature
        share = 2 * PSI_ERROR / (3 * (4 * (1 - SLACK) * 3 + 2 + 2) * trust.radius)
        known = share < HUGE * min(trust.radius, 1.0)
        if self.tries >= self.patience or not known or delta < share / trust.radius * promised:
            sigma, left, right = smallest_singular(self.factor)
            vector = solve_transposed(self.factor, sigma * right)
            inverse = 1 / norm(vector)
            vector = inverse * vector
            along = dot(self.scaled, vector)
            room = (trust.radius + self.length) * (trust.radius - self.length)
            root = np.sqrt(along * along + room)
            move = room / (along + (-root if along < 0 else root))
            edge = self.length * self.length + alpha * (trust.radius * trust.radius)
            if (inverse * move) * (inverse * move) <= PSI_ERROR * edge:
                bend = (inverse * sigma) * dot(left, vector)
                gain = move * (-alpha * along - 0.5 * move * (bend - alpha))
                return self._edge(trust, alpha, promised, gain, move * vector), True
            if trust.newton_length <= 0:
                trust.newton_length = min(trust.newton_length, inverse * inverse - alpha)
            self.low = max(self.low, -trust.newton_length)
        return None, not delta > ROUNDING * np.abs(self.hessian).max()

    def _edge(
        self, trust: Trust, alpha: float, promised: float, gain: float, move: np.ndarray
    ) -> np.ndarray:
        trust.gain = 0.5 * promised
        scaled = -self.scaled
        if not gain < PSI_ERROR * promised / 6:
            trust.gain += gain
            self.length = trust.radius
            scaled = scaled - move
        self.scaled = scaled
        trust.slope = dot(self.g, scaled)
        trust.alpha, trust.length, trust.last_radius = -alpha, self.length, trust.radius
        return scaled / self.d

    def _finish(self, trust: Trust, alpha: float) -> np.ndarray:
        trust.slope = -self.curvature
        trust.gain = 0.5 * (abs(alpha) * self.length * self.length + self.curvature)
        trust.alpha, trust.length, trust.last_radius = alpha, self.length, trust.radius
        return -self.scaled / self.d


def _radius(k: int, excess: np.ndarray, size: np.ndarray, others: np.ndarray) -> float:
    """Radius of the Gerschgorin disc of row k after simple scaling; `excess` of the other discs over it."""
    half = 0.5 * np.delete(excess, k)
    reach = half + np.sqrt(half * half + others[k] * np.delete(size[k], k))
    return max(0.0, reach.max())


EPS = np.finfo(float).eps
ABSOLUTE = 1e-20  # of half the sum of squares
RELATIVE = SINGULAR = 1e-10  # of the reduction predicted by a model
X_CHANGE = np.sqrt(EPS)
FALSE_CHANGE = 100 * EPS
LONGEST = 1.0  # step length at which singular convergence is tested
MODELS = 2
TRIVIAL, POOR, GOOD = 1e-4, 0.1, 0.75  # reduction relative to the predicted one and to the slope
SHRINK, GROW = 0.1, 4.0  # limits of the change of the radius


class Verdict(enum.IntEnum):
    """Next action; from CONVERGED_X on, R's code is 4 less."""

    SWITCH_OR_SHRINK = 1
    SWITCH_OR_TAKE = 2
    TAKE_AND_TEST = 3
    TAKE = 4
    AGAIN = 5
    TRY_LONGEST = 6
    CONVERGED_X = 7
    CONVERGED_RELATIVE = 8
    CONVERGED_BOTH = 9
    CONVERGED_ABSOLUTE = 10
    STOP_SINGULAR = 11
    STOP_FALSE = 12


class Restore(enum.IntEnum):
    """Reset the parameters to the start of the iteration, keep them, or restore the kept ones."""

    NOTHING = 0
    START = 1
    KEEP = 2
    KEPT = 3


@dataclass
class Judge:
    """Assess the steps of the iterations in sequence."""

    f: float = 0.0  # half the current sum of squares
    f0: float = 0.0  # half the sum of squares at the start of the iteration
    model: int = 1  # 1 for Gauss-Newton, 2 for augmented
    calls: int = 1  # number of evaluations so far
    best_call: int = 1  # call of the best step of this iteration
    too_big: bool = False  # the sum of squares overflowed
    change: float = 0.0  # relative change of the parameters by the step
    factor: float = 1.0  # factor of the radius
    decrease: float = 0.0  # f0 - f
    verdict: Verdict = Verdict.TAKE
    restore: Restore = Restore.NOTHING
    switched_back: bool = False
    _stage: int = 1  # models tried, negative after a step that overflowed
    _growths: int = 0
    _pending: Verdict = Verdict.TAKE  # verdict if convergence is not reached
    _kept_f: float = 0.0
    _kept_model: int = 1
    _kept_length: float = 0.0
    _kept_gain: float = 0.0
    _kept_slope: float = 0.0

    def assess(self, trust: Trust) -> None:
        """Set verdict, restore, factor, switched_back, f and model."""
        self.switched_back, self.restore = False, Restore.NOTHING
        if self.verdict == Verdict.TRY_LONGEST:
            self._after_longest(trust)
            return
        if self.verdict in (Verdict.TAKE_AND_TEST, Verdict.TAKE):  # a new iteration
            self._stage, self._growths, self._kept_f = 1, 0, self.f0
            if self.too_big:
                self._stage, self._pending = -1, self.verdict
                self._halve()
                return
            rival = False
        else:
            rival = self._is_rival(self.verdict)
            if self.too_big and (rival or self._stage <= 0):
                self.too_big = False
                if self._stage <= 0 or self._growths <= 0:
                    if self._stage > 0:
                        self._stage, self._pending = -self._stage, self.verdict
                    self._halve()
                    return
                self._judge(trust, *self._back_to_kept(trust))
                return
        if rival and not self.f < self._kept_f:
            if self.model != self._kept_model:
                self.model, self.switched_back = self._kept_model, True
            self._judge(trust, *self._back_to_kept(trust))
        else:
            self._judge(trust, 1.0, self.calls, True)

    def _is_rival(self, verdict: Verdict) -> bool:
        """Return True if the step must be compared with a kept one; counts the models tried."""
        if verdict == Verdict.SWITCH_OR_SHRINK and self.model == self._kept_model:
            self._stage, self._growths = MODELS, -1
            return False
        if verdict in (Verdict.SWITCH_OR_SHRINK, Verdict.SWITCH_OR_TAKE):
            self._stage += 1
        if self._stage <= 0 and not self.too_big:  # the previous step overflowed
            self._stage = -self._stage
            if self._pending in (Verdict.TAKE_AND_TEST, Verdict.TAKE):
                return False
            return self._pending == Verdict.AGAIN or self._is_rival(self._pending)
        return True

    def _halve(self) -> None:
        self.too_big, self.factor = False, 0.5
        self._growths -= 1
        self.verdict, self.restore, self.f = Verdict.AGAIN, Restore.START, self._kept_f

    def _back_to_kept(self, trust: Trust) -> tuple[float, int, bool]:
        """Restore the kept step: factor of the radius, its call, and whether it is good enough."""
        if self._kept_f >= self.f0:
            return 1.0, self.calls, True
        good = (
            self._stage >= MODELS
            and self.calls >= self.best_call + MODELS + 2
            and not self.switched_back
        )
        self.restore, self.f = Restore.KEPT, self._kept_f
        trust.gain, trust.slope = self._kept_gain, self._kept_slope
        factor = 1.0 if self.switched_back else trust.length / self._kept_length
        trust.length = self._kept_length
        return factor, self.calls if good else self.best_call, good

    def _judge(self, trust: Trust, factor: float, call: int, good: bool) -> None:
        self.decrease = self.f0 - self.f
        if self.restore == Restore.KEPT and good:  # a kept step with a small reduction
            self.verdict, self.factor = Verdict.TAKE, factor
            return
        if not self.decrease > TRIVIAL * trust.gain and self._growths <= 0:
            if self.f < self.f0:
                self.best_call = call
            else:
                self._kept_model, self._kept_f = self.model, self.f
                self.f, self.restore = self.f0, Restore.START
            self.verdict = Verdict.SWITCH_OR_SHRINK
            if self._stage >= MODELS:
                self.verdict = Verdict.AGAIN
                self._growths -= 1
            self._poor(trust, factor, call)
        else:
            self.best_call = call
            self._kept_length = trust.length
            if self.decrease > trust.gain * POOR:
                self._good(trust, call)
            else:
                self.verdict = Verdict.SWITCH_OR_TAKE if self._stage < MODELS else Verdict.TAKE
                self._poor(trust, 1.0, call)
        self._test(trust, good)

    def _poor(self, trust: Trust, factor: float, call: int) -> None:
        """Apply Fletcher's factor and test for false convergence."""
        self._pending = self.verdict
        most = trust.slope + self.decrease
        self.factor = 0.5 * factor
        if most < trust.slope:
            self.factor = factor * max(SHRINK, 0.5 * trust.slope / most)
        if self.change <= FALSE_CHANGE:
            self.verdict = Verdict.STOP_FALSE
        elif self.f < self.f0:
            self._keep(trust, call)

    def _good(self, trust: Trust, call: int) -> None:
        if (
            self.decrease < -GOOD * trust.slope
            or self._growths < 0
            or self.restore in (Restore.START, Restore.KEPT)
        ):
            self.factor, self.verdict = 1.0, Verdict.TAKE_AND_TEST
        else:
            slope = trust.slope
            self.factor, self.verdict = GROW, Verdict.TAKE
            if self.decrease < (0.5 / GROW - 1) * slope:
                self.factor = max(2.0, 0.5 * slope / (slope + self.decrease))
            near = trust.newton_length >= 0 and (
                trust.newton_length < 2 * trust.length or trust.newton_gain < 1.2 * self.decrease
            )
            if trust.alpha != 0 and not near:
                self.verdict = Verdict.AGAIN
                self._growths += 1
                self._keep(trust, call)
        self._pending = self.verdict

    def _keep(self, trust: Trust, call: int) -> None:
        self._kept_f, self._kept_model, self.best_call = self.f, self.model, call
        if self.restore == Restore.NOTHING:
            self.restore = Restore.KEEP
        self._kept_length, self._kept_gain, self._kept_slope = (
            trust.length, trust.gain, trust.slope,
        )  # fmt: skip

    def _test(self, trust: Trust, good: bool) -> None:
        if self.restore == Restore.START and self._kept_f < self.f0:
            self.restore = Restore.KEPT
        if abs(self.f) < ABSOLUTE:
            self.verdict = Verdict.CONVERGED_ABSOLUTE
        if 0.5 * self.decrease > trust.gain:
            return
        least = SINGULAR * abs(self.f0)
        if trust.gain <= least and (trust.length > LONGEST or trust.alpha == 0):
            self.verdict = Verdict.STOP_SINGULAR
        if trust.newton_length >= 0:
            relative = 0 < trust.newton_gain <= RELATIVE * abs(self.f0) or (
                trust.newton_gain == 0 and trust.gain == 0
            )
            still = trust.alpha == 0 and self.change <= X_CHANGE and good
            if relative or still:
                self.verdict = Verdict(Verdict.CONVERGED_X - 1 + 2 * relative + still)
        if Verdict.AGAIN < self.verdict != Verdict.STOP_FALSE or trust.alpha == 0:
            return
        if trust.length > LONGEST:
            share = LONGEST / trust.length
            if 0.5 * trust.length <= LONGEST or share * (2 - share) * trust.gain >= least:
                return
        elif trust.gain >= least or 0 < 0.5 * trust.newton_length <= LONGEST:
            return
        if trust.newton_gain < 0:
            self._test_singular(trust)
            return
        self._kept_slope, self._kept_gain = trust.slope, trust.gain
        false = self.verdict == Verdict.STOP_FALSE
        self._kept_length = -trust.length if false else trust.length
        self.restore = Restore.NOTHING if self.restore == Restore.KEPT else Restore.KEEP
        self.verdict = Verdict.TRY_LONGEST

    def _after_longest(self, trust: Trust) -> None:
        trust.slope, trust.length = self._kept_slope, abs(self._kept_length)
        self.verdict = Verdict.STOP_FALSE if self._kept_length <= 0 else self._pending
        trust.newton_gain, trust.gain = -trust.gain, self._kept_gain
        self.restore = Restore.KEPT
        self._test_singular(trust)

    def _test_singular(self, trust: Trust) -> None:
        if -trust.newton_gain <= SINGULAR * abs(self.f0):
            self.verdict = Verdict.STOP_SINGULAR


MAX_CALLS = 200
LARGEST_NORM = np.sqrt(np.finfo(float).max)
SMALL_SLOPES = 1e-6  # columns with smaller derivatives have scale 1
ROOT_EPS = np.sqrt(np.finfo(float).eps)
FUZZ = 1.5  # factor by which the other model must be better
COSINE = 1e-6
STOPS = {
    7: "singular convergence (7)",
    8: "false convergence (8)",
    9: "function evaluation limit reached without convergence (9)",
    10: "iteration limit reached without convergence (10)",
    63: "fn cannot be computed at initial par (63)",
}

Model = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


class NoMinimum(ValueError):
    """R's nls fails here; the message is R's."""


def minimise(model: Model, start: np.ndarray, max_iterations: int) -> np.ndarray:
    """Return the parameters at which R's nls stops, after at most `max_iterations`.

    `model` returns the residuals and their derivatives (rows x parameters), or raises `NoMinimum`. The
    number of parameters must not exceed that of residuals.
    """
    with np.errstate(all="ignore"):
        search = _Search(model, start)
        for _ in range(max_iterations):
            code = search.iterate()
            if code in STOPS:
                raise NoMinimum(STOPS[code])
            if code:
                return search.parameters_left()
        raise NoMinimum(STOPS[10])


class _Search:
    """The state between iterations.

    `lower` is R' of J = QR, `reflections` represent Q, `secant` is the matrix S of second-order terms, `head`
    the first residuals saved at the evaluation `head_call`, `call` the evaluation of the residuals.
    """

    def __init__(self, model: Model, start: np.ndarray) -> None:
        self.model, self.x = model, start.astype(float)
        p = len(start)
        self.d, self.steepest, self.secant = np.zeros(p), np.zeros(p), np.zeros((p, p))
        self.judge = Judge()
        self.trust = Trust(*[np.float64(0.0)] * 9)
        self.trust.radius = np.float64(1 / 1.1)
        self.head, self.head_call = np.zeros(p), 0
        self._evaluate()
        if self.judge.too_big:
            raise NoMinimum(STOPS[63])
        self._take_slopes()
        self.step: np.ndarray | None = None
        self.augmented: AugmentedSteps | None = None

    def _evaluate(self) -> None:
        judge = self.judge
        self.residuals, self.slopes = self.model(self.x)
        judge.restore = Restore.NOTHING
        length = norm(self.residuals)
        judge.too_big = bool(length > LARGEST_NORM)
        judge.f = np.float64(0.0) if judge.too_big else 0.5 * (length * length)
        if not judge.too_big:
            self.call = judge.calls
        self.at = self.x.copy()

    def _take_slopes(self) -> None:
        """Compute scale, decomposition and gradient at x from the current residuals."""
        slopes = self.slopes if (self.at == self.x).all() else self.model(self.x)[1]
        self.steepest = np.maximum(self.steepest, np.abs(slopes).max(axis=0))
        size = np.maximum(self.steepest, np.sqrt(np.maximum(np.diag(self.secant), 0.0)))
        self.d = np.maximum(0.6 * self.d, np.where(size < SMALL_SLOPES, 1.0, size))
        self.lower, qtr, self.reflections = decompose(slopes, self.residuals)
        self.call = 0
        self.g = times(self.lower, qtr)
        self.trust.gradient = norm(self.g / self.d)
        self.gauss_newton = GaussNewtonSteps(self.lower, qtr, self.g, self.d)

    def _old_slopes_times_residuals(self) -> np.ndarray:
        """J'r with the old slopes as R computes it; the first residuals become those of the best step."""
        p, best = len(self.x), self.judge.best_call
        if best not in (self.call, self.head_call):
            return np.array([dot(column, self.residuals) for column in self.slopes.T])
        if self.call == best:
            head = self.residuals[:p].copy()
        else:
            head = self.head.copy()
            self.residuals[:p] = head
        for k in range(p):
            reflection = self.reflections[k:p, k]
            head[k:] -= dot(reflection, head[k:]) * reflection
        self.head = head
        return times(self.lower, head)

    def iterate(self) -> int:
        """Run one iteration; return R's stop code once it stops."""
        judge, trust = self.judge, self.trust
        if self.step is not None:
            radius = judge.factor * norm(self.d * self.step)
            if judge.factor < 1 or radius > trust.radius:
                trust.radius = radius
        judge.f0, judge.verdict = judge.f, Verdict.TAKE
        self.x0, self.augmented = self.x.copy(), None
        while True:
            if judge.verdict != Verdict.TRY_LONGEST and judge.calls >= MAX_CALLS:
                return 9
            self._try()
            verdict, used = judge.verdict, judge.model
            if verdict >= Verdict.CONVERGED_X:
                return verdict - 4
            if verdict == Verdict.TRY_LONGEST:
                self.trust.radius = np.float64(1.0)
            elif verdict == Verdict.AGAIN or not self._decide_on_model():
                self.trust.radius = judge.factor * self.trust.length
            elif verdict >= Verdict.TAKE_AND_TEST or judge.model == used:
                self._take(used)
                return 0

    def _try(self) -> None:
        """Compute a step, assess it, and set the parameters accordingly."""
        judge = self.judge
        self.step = self._next_step()
        after = Restore.KEPT
        if judge.verdict == Verdict.TRY_LONGEST:
            if judge.restore == Restore.KEEP:
                after = Restore.KEEP
        elif self.trust.length > 0:
            longer = judge.verdict == Verdict.AGAIN and judge.factor > 1
            judge.too_big = False
            if longer and self.trust.gain <= 1.2 * judge.decrease:  # too small a gain to try
                self.step = self.x - self.x0
                if judge.restore == Restore.KEEP:
                    after = Restore.NOTHING
            else:
                self.x = self.x0 + self.step
                judge.calls += 1
                if self.call and judge.restore == Restore.KEEP:
                    self.head, self.head_call = self.residuals[: len(self.x)].copy(), self.call
                self._evaluate()
        judge.change = self._change()
        judge.assess(self.trust)
        if judge.restore == Restore.START:
            self.x = self.x0.copy()
        elif judge.restore == Restore.KEEP:
            self.kept = self.step
        elif judge.restore == Restore.KEPT:
            self.step = self.kept
            self.x = self.x0 + self.step
            judge.change, judge.restore = self._change(), after
        if judge.switched_back:
            self.augmented, self.trust = None, replace(self.before_switch)

    def _next_step(self) -> np.ndarray:
        if self.judge.model == 1:
            self.augmented = None
            return self.gauss_newton.step(self.trust)
        if self.augmented is None:
            product = np.array([[dot(a, b) for b in self.lower] for a in self.lower])
            hessian = product + self.secant
            scaled = np.tril((1 / self.d)[:, None] * hessian / self.d)
            scaled = scaled + np.tril(scaled, -1).T
            self.augmented = AugmentedSteps(scaled, self.g, self.d)
        self.gauss_newton.forget()
        return self.augmented.step(self.trust)

    def _change(self) -> float:
        """Relative change of the parameters."""
        most = np.max(self.d * (np.abs(self.x) + np.abs(self.x0)))
        return np.max(np.abs(self.d * (self.x - self.x0))) / most if most > 0 else 0.0

    def _decide_on_model(self) -> bool:
        """Switch models if the other one is better; return False if the step must be shortened."""
        judge = self.judge
        assert self.step is not None
        miss = self.trust.gain - judge.decrease
        bend = 0.5 * dot(self.step, times_symmetric(self.secant, self.step))
        if abs(miss + (-bend if judge.model == 1 else bend)) * FUZZ >= abs(miss):
            return judge.verdict != Verdict.SWITCH_OR_SHRINK
        judge.model = 3 - judge.model
        if judge.verdict < Verdict.TAKE_AND_TEST:
            self.augmented, self.before_switch = None, replace(self.trust)
        return True

    def _take(self, used: int) -> None:
        """Update the slopes and then the secant matrix; `used` is the model of the step."""
        judge, step = self.judge, self.step
        assert step is not None
        curved = times(self.lower, times_transposed(self.lower, step))
        if used == 2:
            curved = curved + times_symmetric(self.secant, step)
        before, y = self.g, self._old_slopes_times_residuals()
        self._take_slopes()
        if judge.verdict == Verdict.TAKE_AND_TEST:
            gap = (curved - (self.g - before)) / self.d
            enough = norm(gap) <= 0.5 * self.trust.gradient
            if enough or not dot(self.g, step) >= 0.75 * self.trust.slope:
                judge.factor = 2.0
        self._update_secant(step, self.g - y)

    def _update_secant(self, step: np.ndarray, y: np.ndarray) -> None:
        """Update S so that S step = y, after sizing, with the weights of Fletcher and Al-Baali."""
        bent = times_symmetric(self.secant, step)
        had, wanted = abs(dot(step, bent)), abs(dot(step, y))
        size = wanted / had if wanted < had else 1.0
        direction = times(self.lower, times_transposed(self.lower, step)) + y
        along = dot(step, direction)
        least = COSINE * norm(step) * norm(direction)
        scale = min(1.0, abs(along / least)) if least != 0 else 1.0
        w = (scale / along if along != 0 else 0.0) * direction
        half = 0.5 * (size * dot(step, bent) - dot(step, y))
        u = half * w + y - size * bent
        below = np.tril(size * self.secant + np.outer(u, w) + np.outer(w, u))
        self.secant = below + np.tril(below, -1).T

    def parameters_left(self) -> np.ndarray:
        """Parameters of the minimum, except the last one if second differences are not positive definite.

        R computes these differences after convergence, and then leaves the last parameter shifted.
        """
        if self.judge.f < self.judge.f0:
            self._old_slopes_times_residuals()
            self._take_slopes()
        p, columns, moved = len(self.x), [], self.x
        for k in range(p):
            by = ROOT_EPS * max(1 / self.d[k], abs(self.x[k]))
            by = -by if self.x[k] < 0 else by
            moved = self.x.copy()
            moved[k] += by
            residuals, slopes = self.model(moved)
            g = np.array([dot(residuals, column) for column in slopes.T])
            columns.append((g - self.g) / by)
        hessian = np.array(columns)
        lowest = cholesky(0.5 * (hessian + hessian.T))[1]
        return self.x if lowest is None else moved
