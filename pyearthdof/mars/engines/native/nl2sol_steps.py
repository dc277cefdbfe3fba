"""Steps of NL2SOL: the best ones within a trust region, by its two models of the sum of squares.

Both follow Moré's iteration for the damping alpha of (H + alpha D^2) step = -g, with Gay's treatment of the
nearly singular case; tolerances are NL2SOL's (Dennis, Gay and Welsch, ACM TOMS 7, 1981).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .nl2sol_algebra import cholesky, damp, dot, norm, smallest_singular, solve, solve_transposed

__all__ = ["AugmentedSteps", "GaussNewtonSteps", "Trust"]

SLACK = 0.1  # a step may be longer or shorter than the radius by this share of it
PSI_ERROR = 0.1  # relative, of the reduction that the model promises
HUGE = np.finfo(float).max
ROUNDING = 50 * np.finfo(float).eps


@dataclass
class Trust:
    """What is known of the last step; lengths are scaled by D.

    Parameters
    ----------
    gradient : length of D^-1 g.
    length, slope, gain : of the step: its length, g'step, and the reduction that the model promises.
    alpha : its damping, 0 for a full Newton step, negative in the nearly singular case.
    newton_length, newton_gain : of the full step; the length is not positive where there is none.
    radius, last_radius : of the trust region now, and when the last step was computed.
    """

    gradient: float
    length: float
    newton_length: float
    slope: float
    alpha: float
    newton_gain: float
    gain: float
    radius: float
    last_radius: float


class GaussNewtonSteps:
    """Levenberg-Marquardt steps for J = QR, given R' and Q'r; a new radius goes on from the last one."""

    def __init__(self, lower: np.ndarray, qtr: np.ndarray, g: np.ndarray, d: np.ndarray):
        self.lower, self.qtr, self.g, self.d = lower, qtr, g, d
        self.tries = -1
        self.low = self.high = self.slope_at_zero = self.length = 0.0

    def forget(self) -> None:
        """The next step starts anew: the other model was used in between."""
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
        """Where it is short enough; otherwise the lower bound of alpha follows from it."""
        trust.newton_length = -1.0
        if not np.diag(self.lower).all():
            return None
        self.weights = solve_transposed(self.lower, self.qtr)  # R keeps them in the same place
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
        """Bounds for the new radius, and the next alpha."""
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

    def _next_alpha(self, alpha, excess, radius) -> float:
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

    def _finish(self, trust: Trust, step, alpha, length) -> np.ndarray:
        trust.alpha, trust.length = alpha, length
        self.length = length
        trust.slope = min(dot(step, self.g), 0.0)
        trust.gain = 0.5 * (alpha * length * length - trust.slope)
        trust.last_radius = trust.radius
        return step


class AugmentedSteps:
    """Steps by any symmetric H, given as D^-1 H D^-1; it need not be positive definite."""

    def __init__(self, hessian: np.ndarray, g: np.ndarray, d: np.ndarray):
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
        """Whether there is none, because H is not positive definite."""
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
        """D times the step (its negative), by the present factor."""
        half = solve(self.factor, self.g)
        self.curvature = dot(half, half)
        self.scaled = solve_transposed(self.factor, half)
        self.length = norm(self.scaled)

    def _bounds(self, trust: Trust, failed: bool) -> float:
        """Of alpha, from Gerschgorin's bounds of the eigenvalues; and the first alpha."""
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
        """Bounds for the new radius; by how much the last step exceeds it."""
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
        """H + alpha is not positive definite, either."""
        self.low = alpha - lowest
        trust.newton_length = -self.low
        self.high = max(self.high, self.low)
        if alpha < self.low:
            return
        more = 0.001 * alpha if alpha > 0 else 0.001
        self.low = alpha + more
        if self.high <= self.low:
            self.high = self.low + more

    def _nearly_singular(self, trust: Trust, alpha) -> tuple[np.ndarray | None, bool]:
        """A step along the lowest eigenvector to the edge of the region, where H + alpha is nearly singular.

        Otherwise whether the present step has to do, for want of digits.
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

    def _edge(self, trust: Trust, alpha, promised, gain, move) -> np.ndarray:
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


def _radius(k: int, excess, size, others) -> float:
    """Of Gerschgorin's disc of row k, after a simple scaling; `excess`: what other discs reach beyond it."""
    half = 0.5 * np.delete(excess, k)
    reach = half + np.sqrt(half * half + others[k] * np.delete(size[k], k))
    return max(0.0, reach.max())
