"""Nonlinear least squares as R's nls(algorithm="port"): NL2SOL of Dennis, Gay and Welsch (ACM TOMS 7, 1981).

R tells the algorithm that there are as many residuals as parameters. So it saves and transforms only the
first of them: the secant matrix is updated with a part of what it should be, and where a longer step was
tried in vain, the gradient at the shorter one is that of mixed residuals. All of this is done here, too:
it decides where R stops.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .nl2sol_algebra import (
    cholesky,
    decompose,
    dot,
    norm,
    times,
    times_itself,
    times_symmetric,
    times_transposed,
)
from .nl2sol_assess import Judge, Restore, Verdict
from .nl2sol_steps import AugmentedSteps, GaussNewtonSteps, Trust

__all__ = ["NoMinimum", "minimise"]

MAX_CALLS = 200
LARGEST_NORM = np.sqrt(np.finfo(float).max)
SMALL_SLOPES = 1e-6  # a column below has the scale 1
ROOT_EPS = np.sqrt(np.finfo(float).eps)
FUZZ = 1.5  # by how much the other model has to be better
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
    """R's nls stops there; the message is R's."""


def minimise(model: Model, start: np.ndarray, max_iterations: int) -> np.ndarray:
    """The parameters that R's nls ends with.

    Parameters
    ----------
    model : gives residuals and their slopes (rows x parameters) at parameters, or raises `NoMinimum`.
    start : parameters, no more than there are residuals.
    max_iterations : R's maxiter.
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

    `lower` is R' of J = QR, `reflections` what gives Q, `secant` the matrix S of second-order terms,
    `head` the first residuals that were saved at the evaluation `head_call`, `call` that of the residuals.
    """

    def __init__(self, model: Model, start: np.ndarray):
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
        """Scale, decomposition and gradient at x, with the residuals that are at hand."""
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
        """J'r with the old slopes, or what R takes for it; the first residuals become the best step's."""
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
        """One iteration: a step is taken, or the code of R's stop comes back."""
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
        """Compute a step, see what it brings, and put the parameters where the judge wants them."""
        judge = self.judge
        self.step = self._next_step()
        after = Restore.KEPT
        if judge.verdict == Verdict.TRY_LONGEST:
            if judge.restore == Restore.KEEP:
                after = Restore.KEEP
        elif self.trust.length > 0:
            longer = judge.verdict == Verdict.AGAIN and judge.factor > 1
            judge.too_big = False
            if longer and self.trust.gain <= 1.2 * judge.decrease:  # not worth a look
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
            hessian = times_itself(self.lower) + self.secant
            scaled = np.tril((1 / self.d)[:, None] * hessian / self.d)
            scaled = scaled + np.tril(scaled, -1).T
            self.augmented = AugmentedSteps(scaled, self.g, self.d)
        self.gauss_newton.forget()
        return self.augmented.step(self.trust)

    def _change(self) -> float:
        """Relative, of the parameters."""
        most = np.max(self.d * (np.abs(self.x) + np.abs(self.x0)))
        return np.max(np.abs(self.d * (self.x - self.x0))) / most if most > 0 else 0.0

    def _decide_on_model(self) -> bool:
        """Take the other model if it would have been better; False if the step is to be shorter."""
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
        """New slopes, and the secant matrix from them; `used` is the model of the step."""
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
        """So that S step = y, after sizing; the weights are Fletcher's and Al-Baali's."""
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
        """Those of the minimum, but for the last one where second differences are not positive definite.

        R takes them after convergence, and then leaves the last parameter where it was moved to.
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
