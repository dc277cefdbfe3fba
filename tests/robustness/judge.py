"""Plain R beside both engines on one case: the same model, the same refusal, a tie, or a difference."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from cases_strategy import Case
from rserver import Died, Fitted, Refused

from pyearthdof import Earth
from pyearthdof.exceptions import RWarning
from pyearthdof.mars.crosscheck import TIE, compare
from pyearthdof.mars.model import evaluate_term, nominal_df

TOLERANCE = 1e-8
EPSILON = 10 * np.finfo(float).eps
ROUNDING = 1e-13  # of the sum of squares of y
EXACT = ("dirs", "cuts", "selected", "prune_terms", "termcond", "nk", "penalty")
NUMBERS = (
    "coef", "rss", "rsq", "gcv", "grsq", "rss_per_subset", "gcv_per_subset", "fitted", "leverages",
)  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """`kind` is one of KINDS; `what` says more, `engine` whose answer it is about."""

    kind: str
    engine: str
    what: str = ""


AGREED, REFUSED, TIED, STRICTER = "agreed", "refused", "tied", "stricter"
LOOSER, DIFFERENT = "looser", "different"
KINDS = (AGREED, REFUSED, TIED, STRICTER, LOOSER, DIFFERENT)


@dataclass(frozen=True)
class Stricter:
    """A case that R fits and we refuse on purpose."""

    message: str  # how our refusal begins
    applies: Callable[[Case], bool]
    reason: str


def _option(name: str, is_meant: Callable[[Any], bool]) -> Callable[[Case], bool]:
    return lambda case: name in case.options and is_meant(case.options[name])


def _beyond_integers(value) -> bool:
    return not abs(value) < 2**31 or value != int(value)


def _unusual(values: np.ndarray, low: float = 1e-75, high: float = 1e75) -> bool:
    """Whether a column has a largest value far outside of the usual sizes."""
    largest = np.abs(values.reshape(len(values), -1)).max(axis=0)
    return bool(((largest > high) | ((largest < low) & (largest > 0))).any())


STRICTER_THAN_R = (
    Stricter("newvar_penalty=", _option("newvar_penalty", lambda v: not 0 <= v < np.inf),
             "a negative one has no meaning; R fits or fails an assertion, as it comes"),
    Stricter("newvar_penalty=", lambda case: case.weights is not None,
             "with weights R refuses it too, but only once it looks for a knot"),
    Stricter("fast_k=", _option("fast_k", _beyond_integers),
             "R takes infinities and numbers beyond its integers as 'all parents'"),
    Stricter("pmethod=", _option("pmethod", lambda v: v == "back"),
             "R completes beginnings of names"),
    Stricter("linpreds=", _option("linpreds", lambda v: min(v) < 0),
             "our index -1 is R's 0, which R takes as no predictor at all"),
    Stricter("minspan=", _option("minspan", _beyond_integers),
             "R turns numbers beyond its integers into an arbitrary number of knots"),
    Stricter("nprune=", _option("nprune", _beyond_integers),
             "R takes an infinite one as no limit"),
    Stricter("X has a column with values up to", lambda case: _unusual(case.X),
             "sums of squares overflow or vanish; R fits or fails, as it comes"),
    Stricter("y has a column with values up to", lambda case: _unusual(case.y),
             "close to overflow R's searches may never end"),
)  # fmt: skip


@dataclass(frozen=True)
class Looser:
    """A case that R cannot fit for a reason of its own and that the native engine fits."""

    message: str  # how R's error begins
    only_extreme: bool  # on data far outside of the usual sizes
    reason: str


LOOSER_THAN_R = (
    Looser("internal assertion failed", True, "R's sums overflow or vanish, ours are others"),
    Looser("NA/NaN/Inf in foreign function call", True, "the same"),
    Looser("non-finite value in rss.per.subset", True, "the same"),
    Looser("length of 'scale' must equal", False, "R forgets that a constant y cannot be scaled"),
)
USUAL_SIZES = (1e-14, 1e30)


def fit_ours(case: Case, engine: str) -> tuple[Fitted | Refused | Died, object]:
    """Our answer in the shape of R's, and the model; any error but a ValueError counts as a crash."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fit = Earth(engine=engine, **case.options).fit(case.X, case.y, case.weights)
            with np.errstate(over="ignore", invalid="ignore"):
                predicted = fit.predict(case.X_new)
        except ValueError as error:
            return Refused(str(error)), None
        except Exception as error:
            return Died(f"{type(error).__name__}: {error}"), None
    warned = tuple(str(w.message) for w in caught if issubclass(w.category, RWarning))
    others = [w for w in caught if not issubclass(w.category, RWarning)]
    if others:
        return Died(f"a stray warning: {others[0].category.__name__}: {others[0].message}"), None
    m = fit.model_
    parts = {
        name: np.atleast_1d(getattr(m, name))
        for name in (*EXACT, *NUMBERS)
        if name not in ("fitted", "leverages")
    }
    parts |= {"fitted": fit.fitted_values_, "leverages": fit.leverages_, "predicted": predicted}
    return Fitted(parts, m.term_names, warned), m


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
        if engine == "native" and is_rs_own(case, r) and np.isfinite(ours.parts["fitted"]).all():
            return Verdict(LOOSER, engine, r.message.strip())
        return Verdict(DIFFERENT, engine, f"R refused ({r.message.strip()}), we did not")
    if engine == "r":
        what = bits_that_differ(ours, r)
    else:
        what = numbers_that_differ(case, ours, r, model.basis(case.X))
    if not what:
        return Verdict(AGREED, engine)
    if engine == "native":
        gap = tie(case, r, ours, model)
        if gap is not None:
            return Verdict(TIED, engine, f"{what}, gap {gap:.1e}")
    return Verdict(DIFFERENT, engine, what)


def _judge_refusal(case: Case, r, ours: Refused, engine: str) -> Verdict:
    if isinstance(r, Refused):
        return Verdict(REFUSED, engine, ours.message)
    for known in STRICTER_THAN_R:
        if ours.message.startswith(known.message) and known.applies(case):
            return Verdict(STRICTER, engine, known.message)
    return Verdict(DIFFERENT, engine, f"R fitted, we refused: {ours.message}")


def is_rs_own(case: Case, r: Refused) -> bool:
    """Whether R failed for a reason in LOOSER_THAN_R."""
    extreme = _unusual(case.X, *USUAL_SIZES) or _unusual(case.y, *USUAL_SIZES)
    return any(
        r.message.startswith(known.message) and (extreme or not known.only_extreme)
        for known in LOOSER_THAN_R
    )


def bits_that_differ(ours: Fitted, r: Fitted) -> str:
    """The first thing that is not R's to the last bit, or an empty string."""
    for name in (*EXACT, *NUMBERS):
        wanted = r.parts[name]
        if not np.array_equal(ours.parts[name].ravel(), wanted.ravel(), equal_nan=True):
            return name
    if ours.term_names != r.term_names:
        return "term_names"
    if _plain(ours.warnings) != _plain(r.warnings):
        return f"warnings {ours.warnings} {r.warnings}"
    return _prediction(ours, r)


def numbers_that_differ(case: Case, ours: Fitted, r: Fitted, basis: np.ndarray) -> str:
    """The first thing that is not R's up to rounding, or an empty string.

    Numbers are compared relative to the largest of their kind, or to what rounding leaves of y: a
    coefficient by what it adds to a fit, a fitted value by the weight that it has in the regression.
    """
    for name in EXACT:
        if not np.array_equal(ours.parts[name], r.parts[name]):
            return name
    left = _rounding(case, r)
    units = {"coef": np.abs(basis).max(axis=0), "fitted": _root_weights(case)}
    known = max(TOLERANCE, EPSILON * _condition(case, basis))
    tolerance = {"coef": known, "leverages": known}
    null = _cut("rss", r.parts["rss_per_subset"])[0]
    for name in NUMBERS:
        if name in ("rsq", "grsq") and null <= left["rss"]:
            continue  # 0/0 but for rounding
        unit = units.get(name, 1.0)
        mine, theirs = (unit * _cut(name, fit.parts[name].ravel()) for fit in (ours, r))
        finite = np.isfinite(theirs)
        if not np.array_equal(finite, np.isfinite(mine)):
            return name
        relative = tolerance.get(name, TOLERANCE) * np.abs(theirs[finite]).max(initial=0)
        allowed = np.maximum(relative, left.get(name, 0.0))
        if (np.abs(mine[finite] - theirs[finite]) > np.resize(allowed, len(finite))[finite]).any():
            return name
    return "" if ours.term_names == r.term_names else "term_names"


def _cut(name: str, values: np.ndarray) -> np.ndarray:
    """earth sets sums of squares below 1e-10 to 0; at 1e-10 itself rounding decides."""
    if not name.startswith(("rss", "gcv")):
        return values
    return np.where(np.abs(values / 1e-10 - 1) < TOLERANCE, 0.0, values)


def _condition(case: Case, basis: np.ndarray) -> float:
    """Condition number of the regression: no arithmetic knows coefficients and leverages any better."""
    weighted = _root_weights(case)[:, None] * basis
    with np.errstate(all="ignore"):
        weighted = weighted / np.linalg.norm(weighted, axis=0)
    return float(np.linalg.cond(weighted)) if np.isfinite(weighted).all() else 1.0


def _root_weights(case: Case) -> np.ndarray:
    if case.weights is None:
        return np.ones(len(case.y))
    weights = np.maximum(case.weights, case.weights.mean() / 1e8)  # earth's way with zeros
    return np.sqrt(weights / weights.max())


def _rounding(case: Case, r: Fitted) -> dict[str, float | np.ndarray]:
    """What may be left in place of a zero where equal numbers were subtracted."""
    n, values = len(case.y), 1e-14 * np.abs(case.y).max()
    squares = ROUNDING * np.sum(case.y**2)
    penalty = r.parts["penalty"][0]
    df = np.array([nominal_df(k + 1, penalty) for k in range(len(r.parts["rss_per_subset"]))])
    with np.errstate(divide="ignore", invalid="ignore"):
        gcv = squares / (n * (1 - df / n) ** 2)
    left = {"coef": values, "fitted": values, "rss": squares, "rss_per_subset": squares}
    return left | {"gcv": gcv[len(r.parts["selected"]) - 1], "gcv_per_subset": gcv}


def _plain(messages) -> list[str]:
    """Messages on one line each: the bridge takes R's line breaks out."""
    return [" ".join(message.split()) for message in messages]


def _prediction(ours: Fitted, r: Fitted) -> str:
    mine, theirs = ours.parts["predicted"], r.parts["predicted"]
    with np.errstate(over="ignore", invalid="ignore"):
        size = max(np.abs(theirs).max(), np.abs(r.parts["coef"]).max())
        close = np.abs(mine - theirs) <= 1e-10 * size
    same = ~np.isfinite(theirs) & (np.isfinite(mine) == np.isfinite(theirs))
    return "" if (close | same).all() else "predicted"


def tie(case: Case, r: Fitted, ours: Fitted, model) -> float | None:
    """The gap between the two choices as a share of the total sum of squares, if rounding decides it.

    Where the forward passes part, the candidates of that step explain the same. Where they do not and
    pruning parts, the subsets of every size have the same sums of squares.
    """
    mine, wanted = (np.asarray(a.parts["rss_per_subset"]) for a in (ours, r))
    if np.ptp(case.y) <= ROUNDING * np.abs(case.y).max():
        return 0.0  # y is constant but for rounding, and so are all its sums of squares
    with np.errstate(over="ignore", invalid="ignore"):
        found = compare(_as_model(model, r), model, case.X, case.y)
    if found.parts_at is not None:
        gap = (
            found.tie_gap if case.weights is None else _weighted_gap(case, r, ours, found.parts_at)
        )
        return gap if gap < TIE else None
    if all(np.array_equal(ours.parts[name], r.parts[name]) for name in ("prune_terms", "selected")):
        return None
    if mine.shape != wanted.shape:
        return None
    gap = float(np.abs(mine - wanted).max() / wanted[0])
    return gap if gap < TIE else None


def _weighted_gap(case: Case, r: Fitted, ours: Fitted, at: int) -> float:
    """The measure of `crosscheck`, with the weights: one or two more terms from where they part."""
    root = _root_weights(case)
    y = root * case.y

    def rss(parts, n_terms):
        terms = zip(parts["dirs"][:n_terms], parts["cuts"][:n_terms], strict=True)
        basis = np.column_stack([root * evaluate_term(case.X, d, c) for d, c in terms])
        basis /= np.linalg.norm(basis, axis=0)
        return float(np.sum((y - basis @ np.linalg.lstsq(basis, y, rcond=None)[0]) ** 2))

    total = rss(r.parts, 1) or 1.0
    left = [[rss(fit.parts, at + k) / total for k in (1, 2)] for fit in (r, ours)]
    return min(abs(a - b) for a in left[0] for b in left[1])


def _as_model(model, r: Fitted):
    """R's fit as a model of ours, for `compare`."""
    return replace(
        model,
        dirs=r.parts["dirs"],
        cuts=r.parts["cuts"],
        term_names=r.term_names,
        selected=r.parts["selected"],
        coef=r.parts["coef"],
    )
