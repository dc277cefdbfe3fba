"""Plain R beside both engines on one case: the same model, the same refusal, a tie, or a difference."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from tests.support.fuzzing.case import Case
from tests.support.fuzzing.differences import bits_that_differ, numbers_that_differ, tie
from tests.support.fuzzing.known import STRICTER_THAN_R, is_rs_own
from tests.support.fuzzing.ours import fit_ours
from tests.support.fuzzing.rserver import Died, Fitted, Refused


@dataclass(frozen=True)
class Verdict:
    """`kind` is one of KINDS; `what` says more, `engine` whose answer it is about."""

    kind: str
    engine: str
    what: str = ""


AGREED, REFUSED, TIED, STRICTER = "agreed", "refused", "tied", "stricter"
LOOSER, DIFFERENT = "looser", "different"
KINDS = (AGREED, REFUSED, TIED, STRICTER, LOOSER, DIFFERENT)


def judge(case: Case, r: Fitted | Refused | Died, engine: str) -> Verdict:
    """Compare our answer with R's."""
    if isinstance(r, Died):
        return Verdict(DIFFERENT, "plain R", r.message)
    ours, model = fit_ours(case, engine)
    if isinstance(ours, Died):
        return Verdict(DIFFERENT, engine, ours.message)
    if isinstance(ours, Refused):
        return _judge_refusal(case, r, ours, engine)
    if isinstance(r, Refused):
        if is_rs_own(case, r, engine) and np.isfinite(ours.parts["fitted"]).all():
            return Verdict(LOOSER, engine, r.message.strip())
        return Verdict(DIFFERENT, engine, f"R refused ({r.message.strip()}), we did not")
    by_r = engine == "r"
    what = bits_that_differ(case, ours, r) if by_r else numbers_that_differ(case, ours, r, model)
    if not what:
        return Verdict(AGREED, engine, _only_one_predicts(ours, r) if case.formula else "")
    gap = tie(case, r, ours, model) if engine == "native" else None
    if gap is not None:
        return Verdict(TIED, engine, f"{what}, gap {gap:.1e}")
    return Verdict(DIFFERENT, engine, what)


def _only_one_predicts(ours: Fitted, r: Fitted) -> str:
    """Where one of the two refuses the new rows of a formula."""
    if "predicted" in r.parts and "predicted" not in ours.parts:
        return f"new rows refused: {ours.refused_rows}"
    if "predicted" in ours.parts and "predicted" not in r.parts:
        return "R refused new rows"
    return ""


def _judge_refusal(case: Case, r, ours: Refused, engine: str) -> Verdict:
    if isinstance(r, Refused):
        return Verdict(REFUSED, engine, ours.message)
    for known in STRICTER_THAN_R:
        if ours.message.startswith(known.message) and known.applies(case):
            return Verdict(STRICTER, engine, known.message)
    return Verdict(DIFFERENT, engine, f"R fitted, we refused: {ours.message}")


def family(verdict: Verdict) -> str:
    """What kind of verdict it is, without its numbers."""
    return re.sub(r"[-+.\d]+(e[-+]?\d+)?", "#", verdict.what)[:60]
