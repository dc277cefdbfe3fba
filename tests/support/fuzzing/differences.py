"""Two answers to one case, compared: to the bit, up to rounding, or as a tie."""

from __future__ import annotations

import re

import numpy as np

from pyearthdof import MarsModel
from pyearthdof.mars.components.glm import FAMILIES, LINKS
from pyearthdof.mars.components.terms import evaluate_terms, nominal_df
from pyearthdof.mars.crosscheck import TIE
from pyearthdof.mars.options import GLM_FAMILIES as R_FAMILIES
from tests.support.fuzzing.case import Case
from tests.support.fuzzing.rserver import AGAIN, Fitted

__all__ = ["bits_that_differ", "numbers_that_differ", "tie"]

R_TO_OURS = {theirs: ours for ours, theirs in R_FAMILIES.items()}
TOLERANCE = 1e-8
EPSILON = 10 * np.finfo(float).eps
ROUNDING = 1e-13  # of the sum of squares of y
EXACT = ("dirs", "cuts", "selected", "prune_terms", "termcond", "nk", "penalty")
NUMBERS = (
    "coef", "rss", "rsq", "gcv", "grsq", "rss_per_subset", "gcv_per_subset", "fitted", "leverages",
    "rss_per_response", "rsq_per_response", "gcv_per_response", "grsq_per_response",
)  # fmt: skip
NEW_ROWS = {prefix + name for prefix in ("", AGAIN) for name in ("predicted", "response")}
FOLDS = (
    "cv_terms", "cv_rsq", "cv_maxerr", "cv_class_rate", "cv_oof_rsq", "cv_infold_rsq", "cv_oof_fit", "cv_sd",
    "cv_auc", "cv_cor", "cv_deviance", "cv_calib_int", "cv_calib_slope",
)  # fmt: skip
GLM = ("glm_coef", "deviance", "null_deviance", "aic", "iterations", "converged")


def bits_that_differ(case: Case, ours: Fitted, r: Fitted) -> str:
    """The first thing that is not R's to the last bit, or an empty string."""
    predicts = not _is_regressed_on_itself(case)
    # of the native engine alone
    others = (set(ours.parts) ^ set(r.parts)) - {"deviances", "auc_ties"} - NEW_ROWS
    if others:
        return f"parts {others}"
    for prefix in _prefixes(r):
        known = (*EXACT, *NUMBERS, *GLM, *FOLDS)
        names = [prefix + name for name in known if prefix + name in r.parts]
        for name in names:
            if not np.array_equal(ours.parts[name], r.parts[name], equal_nan=True):
                return name
        name = prefix + "predicted"
        if (
            predicts
            and name in r.parts
            and name in ours.parts
            and not _same_prediction(ours.parts[name], r, name)
        ):
            return name
        # glm coefficients of classes that separate grow without bound, and cancel each other
        separate = np.abs(r.parts.get(prefix + "glm_coef", np.full(1, np.inf))).max() > 1e4
        name = prefix + "response"
        if (
            predicts
            and not separate
            and name in r.parts
            and name in ours.parts
            and not _same_prediction(ours.parts[name], r, name)
        ):
            return name
    if what := names_that_differ(ours, r):
        return what
    if _plain(ours.warnings) != _plain(r.warnings):
        return f"warnings {ours.warnings} {r.warnings}"
    return ""


def _is_regressed_on_itself(case: Case) -> bool:
    """Where R takes the response out of the new rows, and then columns by their places."""
    left, _, right = case.formula.partition(" ~ ")
    return bool(left) and re.search(rf"(?<![\w.]){re.escape(left)}(?![\w.])", right) is not None


def names_that_differ(ours: Fitted, r: Fitted) -> str:
    """Names of terms, and those of columns and responses where ours are known."""
    for name in ("columns", "responses", "term_names"):
        mine, theirs = getattr(ours, name), getattr(r, name)
        if mine != theirs and (mine or name == "term_names"):
            apart = [pair for pair in zip(mine, theirs, strict=False) if pair[0] != pair[1]]
            return f"{name} {len(mine)}, R {len(theirs)}, {apart[:2]}"
    return ""


def numbers_that_differ(case: Case, ours: Fitted, r: Fitted, model: MarsModel) -> str:
    """The first thing that is not R's up to rounding, or an empty string."""
    if what := names_that_differ(ours, r):
        return what
    scale = _Scale(case, model)
    if {name for name in ours.parts if name in FOLDS} != {n for n in r.parts if n in FOLDS}:
        return "tables of the folds"
    for prefix in _prefixes(r):
        what = _numbers_that_differ(ours.parts, r.parts, prefix, scale)
        if not what and case.formula:
            what = _predictions_differ(case, ours, r, prefix, model)
        if not what and case.needs_glm:
            what = _glm_differs(ours.parts, r.parts, prefix, scale)
        if what:
            return prefix + what
    if what := _deviances_that_differ(ours.parts, r.parts):
        return what
    said, theirs = _glm_warnings(ours), _glm_warnings(r)
    if "cv_terms" in r.parts:  # what the folds warn of is said once
        said, theirs = sorted(set(said)), sorted(set(theirs))
    if case.needs_glm and said != theirs:
        return f"warnings {said} {theirs}"
    return _folds_that_differ(ours.parts, r.parts, scale)


def _folds_that_differ(ours, r, scale: _Scale) -> str:
    """Tables of cross-validation; a share of the variance is no better known than what it is the rest of."""
    for name in FOLDS:
        if name not in r:
            continue
        with np.errstate(invalid="ignore"):
            left = TOLERANCE * np.abs(1 - r[name]) if name.endswith("rsq") else scale.values.max()
        if ours[name].shape != r[name].shape or _differ(
            ours[name], r[name], TOLERANCE, np.where(np.isfinite(r[name]), left, 0.0)
        ):
            return name
    return ""


def _prefixes(r: Fitted) -> tuple[str, ...]:
    return ("", AGAIN) if AGAIN + "coef" in r.parts else ("",)


class _Scale:
    """What a case tells about the accuracy that any arithmetic can have."""

    def __init__(self, case: Case, model: MarsModel):
        X = case.X.iloc[case.rows] if hasattr(case.X, "iloc") else case.X[case.rows]
        self.design = model.design(case.X)[case.rows] if case.formula else model.design(X)
        self.Y = case.earth_y[case.rows]
        self.root = _root_weights(case)
        self.glm = model.glm
        with np.errstate(over="ignore"):
            self.squares = ROUNDING * np.sum(self.Y**2, axis=0)
        self.values = 1e-14 * np.abs(self.Y).max(axis=0)

    def basis(self, dirs, cuts) -> np.ndarray:
        return evaluate_terms(self.design, dirs, cuts)

    def condition(self, basis: np.ndarray, root: np.ndarray | None = None) -> float:
        """Of the regression: no arithmetic knows coefficients and leverages any better."""
        weighted = (self.root if root is None else root)[:, None] * basis
        with np.errstate(all="ignore"):
            weighted = weighted / np.linalg.norm(weighted, axis=0)
        return float(np.linalg.cond(weighted)) if np.isfinite(weighted).all() else 1.0

    def glm_condition(self, basis: np.ndarray, coef: np.ndarray) -> float:
        """Of the last regression of a generalised linear model."""
        eta = basis @ coef
        link, family = LINKS[self.glm.link], FAMILIES[R_TO_OURS[self.glm.family]]
        with np.errstate(all="ignore"):
            root = np.abs(link.slope(eta)) / np.sqrt(family.variance(link.mean(eta)))
        root = np.nan_to_num(root, posinf=0.0) * self.root
        return self.condition(basis[root > 0], root[root > 0])

    def rounding(self, parts: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """What may be left in place of a zero where equal numbers were subtracted."""
        n, penalty, total = len(self.Y), parts["penalty"][0], self.squares.sum()
        df = np.array([nominal_df(k + 1, penalty) for k in range(len(parts["rss_per_subset"]))])
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = 1 / (n * (1 - df / n) ** 2)
        last = factor[len(parts["selected"]) - 1]
        return {
            "coef": self.values,
            "fitted": self.values,
            "rss": total,
            "rss_per_subset": total,
            "gcv": total * last,
            "gcv_per_subset": total * factor,
            "rss_per_response": self.squares,
            "gcv_per_response": self.squares * last,
        }


def _numbers_that_differ(ours, r, prefix: str, scale: _Scale) -> str:
    """Numbers are compared relative to the largest of their kind, or to what rounding leaves of y: a
    coefficient by what it adds to a fit, a fitted value by the weight that it has in the regression.
    """
    mine = {name: ours[prefix + name] for name in (*EXACT, *NUMBERS)}
    theirs = {name: r[prefix + name] for name in (*EXACT, *NUMBERS)}
    for name in EXACT:
        if not np.array_equal(mine[name], theirs[name]):
            return name
    chosen = theirs["selected"]
    basis = scale.basis(theirs["dirs"][chosen], theirs["cuts"][chosen])
    left = scale.rounding(theirs)
    units = {"coef": np.abs(basis).max(axis=0)[:, None], "fitted": scale.root[:, None]}
    known = max(TOLERANCE, EPSILON * scale.condition(basis))
    for name in NUMBERS:
        if _is_nothing_by_nothing(name, theirs, left):
            continue
        tolerance = known if name in ("coef", "leverages") else TOLERANCE
        a, b = (units.get(name, 1.0) * _cut(name, part[name]) for part in (mine, theirs))
        if _differ(a, b, tolerance, left.get(name, _of_a_share(name, b))):
            return name
    return ""


def _predictions_differ(case: Case, ours: Fitted, r: Fitted, prefix: str, model: MarsModel) -> str:
    """Those at new rows, where both predict, relative to what the terms add to them."""
    name = prefix + "predicted"
    if _is_regressed_on_itself(case):
        return ""
    if prefix or name not in ours.parts or name not in r.parts:
        return ""
    largest = np.abs(model.coef.reshape(len(model.selected), -1)).max(axis=1)
    size = float(np.abs(model.basis(case.X_new) * largest).max())
    apart = _differ(ours.parts[name], r.parts[name], TOLERANCE, TOLERANCE * size)
    return name if apart else ""


def _glm_differs(ours, r, prefix: str, scale: _Scale) -> str:
    """Coefficients are compared by what they add to a linear predictor, as well as the last regression of
    the iteration knows them. Those of an iteration that did not converge may be anywhere; it is compared by
    the deviance of each step.
    """
    mine, theirs = ({name: part[prefix + name] for name in GLM} for part in (ours, r))
    chosen = r[prefix + "selected"]
    basis = scale.basis(r[prefix + "dirs"][chosen], r[prefix + "cuts"][chosen])
    unit = np.abs(basis).max(axis=0)[:, None]
    for name in ("iterations", "converged", "null_deviance", "deviance", "aic", "glm_coef"):
        tolerance, left = TOLERANCE, TOLERANCE if name in ("deviance", "aic") else 0.0
        a, b = mine[name], theirs[name]
        if name == "glm_coef":
            stays = theirs["converged"] == 1
            known = [scale.glm_condition(basis, coef) for coef in b.T[stays]]
            tolerance = max(TOLERANCE, EPSILON * max(known, default=1.0))
            a, b = (unit * a)[:, stays], (unit * b)[:, stays]
        if b.size == 0:
            continue
        if _differ(a, b, tolerance, left):
            return f"{name} {np.abs(a - b).max():.1e} of {np.abs(b).max():.1e}"
    return ""


def _deviances_that_differ(ours, r) -> str:
    """The deviances of all iterations, where one of the models did not converge."""
    if "deviances" not in r:
        return ""
    mine, theirs = ours["deviances"], r["deviances"]
    if mine.shape != theirs.shape:
        return f"{len(mine)} iterations, R {len(theirs)}"
    with np.errstate(invalid="ignore"):
        apart = np.abs(mine - theirs) > TOLERANCE * np.abs(theirs)
    wrong = np.flatnonzero(apart | (np.isfinite(mine) != np.isfinite(theirs)))
    if not len(wrong):
        return ""
    first = wrong[0]
    return f"deviance of iteration {first + 1} {mine[first]:.17g} {theirs[first]:.17g}"


def _glm_warnings(answer: Fitted) -> list[str]:
    """Those of the iteration; the passes have words of their own."""
    ours = ("glm.fit", "the glm algorithm", "step size", "no observations", "non-", "NaNs")
    return [text for text in _plain(answer.warnings) if text.startswith(ours)]


def _of_a_share(name: str, values: np.ndarray) -> np.ndarray | float:
    """A share is 1 - part/whole: no better known than part/whole, whose sums of squares are compared."""
    return TOLERANCE * np.abs(1 - values) if name.startswith(("rsq", "grsq")) else 0.0


def _is_nothing_by_nothing(name: str, parts, left) -> bool:
    """Whether a share of the variance is 0/0 but for rounding."""
    if name in ("rsq", "grsq"):
        return bool(_cut("rss", parts["rss_per_subset"])[0] <= left["rss"])
    return False


def _differ(a: np.ndarray, b: np.ndarray, tolerance: float, left) -> bool:
    finite = np.isfinite(b)
    if not np.array_equal(finite, np.isfinite(a)) or not np.array_equal(np.isnan(a), np.isnan(b)):
        return True
    relative = tolerance * np.abs(b[finite]).max(initial=0)
    allowed = np.broadcast_to(np.maximum(relative, left), b.shape)
    return bool((np.abs(a[finite] - b[finite]) > allowed[finite]).any())


def _cut(name: str, values: np.ndarray) -> np.ndarray:
    """earth sets sums of squares below 1e-10 to 0; at 1e-10 itself rounding decides."""
    if not name.startswith(("rss", "gcv")):
        return values
    return np.where(np.abs(values / 1e-10 - 1) < TOLERANCE, 0.0, values)


def _root_weights(case: Case) -> np.ndarray:
    if case.earth_weights is None:
        return np.ones(len(case.rows))
    weights = case.earth_weights[case.rows]
    weights = np.maximum(weights, weights.mean() / 1e8)  # earth's way with zeros
    return np.sqrt(weights / weights.max())


def _plain(messages) -> list[str]:
    """Messages on one line each: the bridge takes R's line breaks out."""
    return [" ".join(message.split()) for message in messages]


def _same_prediction(mine: np.ndarray, r: Fitted, name: str) -> bool:
    theirs = r.parts[name]
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.abs(theirs[np.isfinite(theirs)])  # a mean of 1/mu^2 may be not a number
        size = max(finite.max(initial=0.0), np.abs(r.parts["coef"]).max())
        close = np.abs(mine - theirs) <= 1e-10 * size
    same = ~np.isfinite(theirs) & (np.isfinite(mine) == np.isfinite(theirs))
    return bool((close | same).all())


def tie(case: Case, r: Fitted, ours: Fitted, model: MarsModel) -> float | None:
    """The gap between the two choices as a share of the total sum of squares, if rounding decides it.

    Where the forward passes part, the candidates of that step explain the same. Where they do not and
    pruning parts, the subsets of every size have the same sums of squares.
    """
    if _auc_is_tied(ours.parts, r.parts):
        return 0.0
    scale = _Scale(case, model)
    if (np.ptp(scale.Y, axis=0) <= ROUNDING * np.abs(scale.Y).max(axis=0)).all():
        return 0.0  # y is constant but for rounding, and so are all its sums of squares
    at = _first_difference(ours.parts, r.parts)
    if at is not None:
        gap = _gap(scale, case, r.parts, ours.parts, at)
        return gap if gap < TIE else None
    for prefix in _prefixes(r):
        names = [prefix + name for name in ("prune_terms", "selected")]
        if all(np.array_equal(ours.parts[name], r.parts[name]) for name in names):
            continue
        mine, wanted = (a.parts[prefix + "rss_per_subset"] for a in (ours, r))
        if mine.shape != wanted.shape:
            return None
        gap = float(np.abs(mine - wanted).max() / wanted[0])
        return gap if gap < TIE else None
    return None


def _auc_is_tied(ours, r) -> bool:
    """Whether the areas differ, and by no more than ties of our predictions can move them."""
    if "auc_ties" not in ours or "cv_auc" not in r:
        return False
    with np.errstate(invalid="ignore"):
        apart = np.nan_to_num(np.abs(ours["cv_auc"] - r["cv_auc"]))
    return bool((apart > TOLERANCE).any() and (apart <= ours["auc_ties"] + TOLERANCE).all())


def _first_difference(a, b) -> int | None:
    shared = min(len(a["dirs"]), len(b["dirs"]))
    differ = [(a[name][:shared] != b[name][:shared]).any(axis=1) for name in ("dirs", "cuts")]
    rows = np.flatnonzero(differ[0] | differ[1])
    if len(rows):
        return int(rows[0])
    return None if len(a["dirs"]) == len(b["dirs"]) else shared


def _gap(scale: _Scale, case: Case, r, ours, at: int) -> float:
    """The measure of `crosscheck`, with all weights: one or two more terms from where they part."""
    importance = np.sqrt(np.asarray(case.options.get("response_weight", 1.0)))
    Y = scale.root[:, None] * scale.Y * importance

    def rss(parts, n_terms):
        basis = scale.root[:, None] * scale.basis(parts["dirs"][:n_terms], parts["cuts"][:n_terms])
        basis = basis / np.linalg.norm(basis, axis=0)
        return float(np.sum((Y - basis @ np.linalg.lstsq(basis, Y, rcond=None)[0]) ** 2))

    with np.errstate(over="ignore", invalid="ignore"):
        total = rss(r, 1) or 1.0
        left = [[rss(parts, at + k) / total for k in (1, 2)] for parts in (r, ours)]
    return min(abs(a - b) for a in left[0] for b in left[1])
