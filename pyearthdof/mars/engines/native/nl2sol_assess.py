"""NL2SOL's judgement of a step: take it, try another, or stop."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np

from .nl2sol_steps import Trust

__all__ = ["Judge", "Restore", "Verdict"]

EPS = np.finfo(float).eps
ABSOLUTE = 1e-20  # of half the sum of squares
RELATIVE = SINGULAR = 1e-10  # of the reduction that a model promises
X_CHANGE = np.sqrt(EPS)
FALSE_CHANGE = 100 * EPS
LONGEST = 1.0  # a step of this length decides whether convergence is singular
MODELS = 2
TRIVIAL, POOR, GOOD = 1e-4, 0.1, 0.75  # reduction: of the promised one, and of the slope
SHRINK, GROW = 0.1, 4.0  # the most that the radius changes by


class Verdict(enum.IntEnum):
    """What to do next; from CONVERGED_X on R's code is 4 less."""

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
    """The parameters go back to the start of the iteration, are kept for later, or the kept ones return."""

    NOTHING = 0
    START = 1
    KEEP = 2
    KEPT = 3


@dataclass
class Judge:
    """Sees the steps of the iterations one after the other.

    Parameters
    ----------
    f, f0 : half the sum of squares now, and at the start of the iteration.
    model : 1 for Gauss-Newton, 2 for the augmented one.
    calls, best_call : number of evaluations so far, and that of the best step of this iteration.
    too_big : the sum of squares was too large to be computed.
    change : relative change of the parameters by the step.
    factor : to multiply the radius by.
    decrease : f0 - f.
    """

    f: float = 0.0
    f0: float = 0.0
    model: int = 1
    calls: int = 1
    best_call: int = 1
    too_big: bool = False
    change: float = 0.0
    factor: float = 1.0
    decrease: float = 0.0
    verdict: Verdict = Verdict.TAKE
    restore: Restore = Restore.NOTHING
    switched_back: bool = False
    _stage: int = 1  # models tried, negative after a step that was too big
    _growths: int = 0
    _pending: Verdict = Verdict.TAKE  # what the verdict would be but for convergence
    _kept_f: float = 0.0
    _kept_model: int = 1
    _kept_length: float = 0.0
    _kept_gain: float = 0.0
    _kept_slope: float = 0.0

    def assess(self, trust: Trust) -> None:
        """Sets verdict, restore, factor, switched_back, f and model."""
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
        """Whether the step is to be compared with a kept one; counts the models tried."""
        if verdict == Verdict.SWITCH_OR_SHRINK and self.model == self._kept_model:
            self._stage, self._growths = MODELS, -1
            return False
        if verdict in (Verdict.SWITCH_OR_SHRINK, Verdict.SWITCH_OR_TAKE):
            self._stage += 1
        if self._stage <= 0 and not self.too_big:  # the step before was too big
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
        """After a step that lost: the radius' factor, the call that counts, and whether it is good enough."""
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
        if self.restore == Restore.KEPT and good:  # a kept step that reduces a little
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
        """Fletcher's factor, and the test for false convergence."""
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
        """For convergence."""
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
