"""Model summaries: the text of R's `summary(earth)`, and a table with plots of the terms for notebooks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.stats import norm
from scipy.stats import t as student

from ..._utils.html import ACCENT, Html, box, escape, folded, note, number, table, text_block
from ...exceptions import InvalidInputError
from .. import reading as saved
from ..components.terms import term_names
from ..components.variance import SD_OF_ABSOLUTE, VarianceErrors, interval_width
from ..printing import (
    DIGITS,
    LINE,
    format_columns,
    format_each,
    print_frame,
    r_format,
    r_round,
    zapsmall,
)
from .importance import importance_table

if TYPE_CHECKING:
    from ..base import MarsEstimator
    from ..model.estimator_file import RowSummary

CV_NOTE = "Note: the cross-validation sd's below are standard deviations across folds"
CV_DIGITS = 3
# Table, R's title, and True if its means are rounded to three decimals, in R's order
CV_COLUMNS = (
    ("rsq", "CVRSq", True), ("class_rate", "ClassRate", True), ("maxerr", "MaxErr", False),
    ("auc", "AUC", True), ("cor", "cor.tab", True), ("deviance", "MeanDev", False),
    ("calib_int", "CalibInt", True), ("calib_slope", "CalibSlope", True),
)  # fmt: skip
# Results undefined in R's cor() and glm() are NA; 0/0 in the other tables is NaN.
NA_TABLES = ("cor", "calib_int", "calib_slope")
LEVEL = 0.95
LEVELS = (0.68, 0.8, 0.9, 0.95)
BIG = 1000  # percent
ERRORS_LEFT_OUT = (
    "(The standard errors and the widths of the intervals are left out: "
    "they need the training rows.)"
)
GLM_LEFT_OUT = ["(The table of the glm is left out: it needs the training rows.)", ""]
FEW = 5  # degrees of freedom up to which each residual is shown
GAP = 2
EPSILON = np.finfo(float).eps  # smaller probabilities are shown as below this value
QUANTILES = ("Min", "1Q", "Median", "3Q", "Max")
# Sizes of the plots
MOST_TERMS = 60
MOST_MERGED = 20  # terms of an averaged model shown in the text
WIDTH, HEIGHT, MARGIN = 64, 22, 3


@dataclass(frozen=True)
class Layout:
    """Arguments of `summary`, and formulas, one per response, that replace the coefficients."""

    details: bool = False
    decomp: str = "anova"
    digits: int = DIGITS
    fixed_point: bool = True
    formulas: Sequence[str] | None = None


def estimator_summary(
    estimator: MarsEstimator, rows: RowSummary, glm_fits: Any, layout: Layout
) -> str:
    """Text of `MarsEstimator.summary`.

    `rows` are the statistics of the training rows, `glm_fits` the glm fits with errors, if available.
    """
    model, nprune = estimator.model_, getattr(estimator, "nprune", None)
    statistics, digits = None, layout.digits
    if "cv_tables_" in vars(estimator):
        statistics = cv_lines(model, estimator.cv_, estimator.cv_tables_, nprune, digits)
    details_of_glm: Sequence[str] = ()
    if layout.details and model.glm is not None:
        details_of_glm = GLM_LEFT_OUT if glm_fits is None else glm_details(model, glm_fits, digits)
    given: Any = {"glm_details": details_of_glm, "offset": rows.offset, "statistics": statistics}
    text = model_summary(model, repr(estimator), nprune, rows.weights, layout, **given)
    if model.varmod is None:
        return text
    return "\n".join([text, "", *variance_lines(model, rows.varmod, digits)])


def model_summary(
    model, call: str, nprune: int | None = None, weights=None, layout: Layout = Layout(), *,
    glm_details: Sequence[str] = (), offset=None, statistics: Sequence[str] | None = None,
) -> str:  # fmt: skip
    """Text of a fitted model; `call` replaces R's call in the first line.

    `nprune`, the case `weights` and the values of the `offset` belong to the fit and are not stored in the
    model. `statistics` replace the last lines; `glm_details` are lines below the coefficients of a glm.
    """
    lines, digits = [f"Call: {call}", ""], layout.digits
    if model.glm is None or layout.details:
        lines += [*_part(model, False, layout), ""]
    if model.glm is not None:
        lines += [*_part(model, True, layout), "", *glm_details]
        lines += [*_glm_statistics(model, digits), ""]
    if model.is_merged:
        lines.append(_merged_terms(model))
    else:
        lines.append(_selection(model) + ("" if nprune is None else f" (nprune={nprune:g})"))
        lines.append(f"Termination condition: {_termination(model)}")
    lines.append(_importance(model))
    if offset is not None:
        lines.append(_offset(model.formula, offset, digits))
    if weights is not None:
        lines.append(_values("Weights: ", weights, digits))
    degrees = np.count_nonzero(model.dirs[model.selected], axis=1)
    counts = [int(np.sum(degrees == d)) for d in range(int(degrees.max()) + 1)]
    kind = {1: " (intercept only model)", 2: " (additive model)"}.get(len(counts), "")
    per_degree = " ".join(map(str, counts))
    lines.append(f"Number of terms at each degree of interaction: {per_degree}{kind}")
    if statistics is not None:
        lines += statistics
    elif len(model.response_names) > 1:
        lines += statistics_frame(model, {}, digits)
    else:
        lines.append(_statistics(model, digits))
    if model.selection is not None:
        lines.append(_measured(model, digits))
    return "\n".join(lines)


def coef_matrix(coef: np.ndarray) -> np.ndarray:
    """Coefficients with one column per response, also for a single response."""
    return coef.reshape(len(coef), -1)


def _part(model, is_glm: bool, layout: Layout) -> list[str]:
    """Coefficients or formulas of the terms, of the least-squares fit or of the glm."""
    titles, formulas = model.response_names, layout.formulas
    if formulas is not None:  # each ends with its own newline, followed by an empty line
        prefix, texts = ("GLM ", formulas[len(titles) :]) if is_glm else ("", formulas)
        parts = [f"{prefix}{name} =\n{text}" for name, text in zip(titles, texts, strict=False)]
        return "\n".join(parts).rstrip("\n").split("\n")
    heading = [] if model.glm is None else [f"{'GLM' if is_glm else 'Earth'} coefficients"]
    if model.glm is None and len(titles) == 1:
        titles = ["coefficients"]
    values = model.glm.coef if is_glm else model.coef
    return heading + _coefficients(model, values, titles, layout)


def _coefficients(model, values, titles, layout: Layout) -> list[str]:
    names = [model.term_names[t] for t in model.selected]
    order = list(range(len(names)))
    if layout.decomp == "anova":
        order = anova_order(model.dirs[model.selected], model.cuts[model.selected])
    hidden = len(order) - MOST_MERGED if model.is_merged else 0
    if hidden > 0:  # terms of a merged model are sorted by size
        order = [k for k in order if k < MOST_MERGED]
    rows = [spaced(names[k]) for k in order]
    columns = coef_matrix(values)[order].T
    lines = print_frame(rows, titles, format_columns(columns, layout.digits, layout.fixed_point))
    return [*lines, f"({hidden} smaller terms are left out)"] if hidden > 0 else lines


def _glm_statistics(model, digits: int) -> list[str]:
    """Return the deviances, rounded as in earth, which uses different digits in each column."""
    glm = model.glm
    ratio = (np.asarray(glm.null_deviance) - glm.deviance) / glm.null_deviance
    ratio = np.where(ratio < 1e-4, 0.0, ratio)
    columns = [
        ("nulldev", _signif(glm.null_deviance, digits)),
        ("df", glm.null_df),
        ("      dev", _signif(glm.deviance, digits)),
        ("df", glm.df),
        ("  devratio", _signif(ratio, max(2, digits - 4))),
        ("    AIC", _signif(glm.aic, max(3, digits - 3))),
        ("iters", glm.iterations),
        ("converged", np.asarray(glm.converged, dtype=float)),
    ]
    if np.isnan(glm.aic[0]):  # undefined for quasi families
        columns[5:7] = [("   iters", glm.iterations)]
    titles, values = zip(*columns, strict=True)
    texts = [r_format(np.atleast_1d(column), max(3, digits - 1)) for column in values]
    table = print_frame(
        model.response_names if len(model.response_names) > 1 else [""], titles, texts
    )
    stopped = glm.iterations[~np.asarray(glm.converged, dtype=bool)]
    limit = f", maxit={stopped[0]:g}" if len(stopped) else ""
    return [f"GLM (family {glm.family}, link {glm.link}{limit}):", *table]


def _statistics(model, digits: int, gap: str = "    ", **more: float) -> str:
    values = {"GCV": model.gcv, "RSS": model.rss, "GRSq": model.grsq, "RSq": model.rsq} | more
    texts = format_each(values.values(), digits)
    text = gap.join(f"{name} {shown}" for name, shown in zip(values, texts, strict=True))
    return text if model.glm is None else f"Earth {text}"


def _shown(value: float, digits: int, nan: str = "NaN") -> str:
    return r_format([value], digits)[0].replace("NaN", nan)


def statistics_frame(model, more, digits: int) -> list[str]:
    """Return one row per response and one for all responses; `more` contains further columns."""
    columns = {
        "GCV": [*model.gcv_per_response, model.gcv],
        "RSS": [*model.rss_per_response, model.rss],
        "GRSq": [*model.grsq_per_response, model.grsq],
        "RSq": [*model.rsq_per_response, model.rsq],
        **more,
    }
    texts = [_column(np.array(c), digits) for c in columns.values()]
    heading = [""] if model.glm is None else ["", "Earth"]
    return heading + print_frame([*model.response_names, "All"], columns, texts)


def _column(values: np.ndarray, digits: int) -> list[str]:
    """earth drops missing values, so the column becomes text, which R shows with up to 15 digits."""
    if not np.isnan(values).any():
        return format_columns([values], digits)[0]
    values = values if len(values) < 3 else zapsmall(values, digits + 1)
    return ["" if math.isnan(value) else r_format([value], 15)[0] for value in values]


def spaced(name: str) -> str:
    """Return the name of a term as printed by R."""
    return name.replace("*", " * ").replace("--", "- -").replace("`", "")


def anova_order(dirs: np.ndarray, cuts: np.ndarray) -> list[int]:
    """Positions sorted by degree, linear terms first, then by predictors, cut and first direction."""

    def key(t):
        used = np.flatnonzero(dirs[t])
        if len(used) == 0:
            return (0, 0, 0, 0.0, 0)
        first = used[0]
        # earth sorts the first three predictors as one number with three digits each.
        predictors = sum(
            (j + 1) * weight for j, weight in zip(used, (10**6, 10**3, 1), strict=False)
        )
        linear = np.sum(dirs[t] == 2)
        return (len(used), -int(linear), int(predictors), cuts[t, first], int(dirs[t, first] == 1))

    return sorted(range(len(dirs)), key=key)


def _selection(model) -> str:
    used = np.count_nonzero(model.dirs[model.selected].any(axis=0))
    verb = "Selected" if model.glm is None else "Earth selected"
    text = (
        f"{verb} {len(model.selected)} of {len(model.dirs)} terms, and {used} of "
        f"{len(model.feature_names)} predictors"
    )
    return text if model.pmethod == "backward" else f'{text} (pmethod="{model.pmethod}")'


def _merged_terms(model) -> str:
    used = np.count_nonzero(model.dirs.any(axis=0))
    several = len(model.response_names) > 1
    models = f"{model.selection.n_models} models" if model.selection.n_models > 1 else "one model"
    return (
        f"Mean of {models}{' for each response' if several else ''}: {model.n_terms} terms of {used} of "
        f"{len(model.feature_names)} predictors"
    )


def _measured(model, digits: int) -> str:
    """Return the measured degrees of freedom and the resulting error estimate."""
    part, digits = model.selection, max(2, digits - 3)
    texts = []
    for k, name in enumerate(model.response_names):
        error = f" +- {part.df_se[k]:.2g}" if np.isfinite(part.df_se[k]) else ""
        text = f"Measured df {part.df[k]:.{digits}g}{error}"
        if np.isfinite(part.prediction_error[k]):
            text += f"    Prediction error (SURE) {part.prediction_error[k]:.{digits}g}"
        texts.append(text if len(model.response_names) == 1 else f"{name}: {text}")
    return "\n".join(texts)


def _termination(model) -> str:
    terms = f"{len(model.dirs)} term{'' if len(model.dirs) == 1 else 's'}"
    reasons = {
        1: f"Reached nk {model.nk}",
        2: f"GRSq -Inf at {terms}",
        3: f"GRSq -10 at {terms}",
        4: f"RSq changed by less than {model.thresh:g} at {terms}",
        5: f"Reached maximum RSq {1 - model.thresh:.4f} at {terms}",
        6: f"No new term increases RSq at {terms}",
        7: f"Reached nk {model.nk}",
    }
    return reasons.get(model.termcond, "Unknown")


def _importance(model) -> str:
    if len(model.selected) > 1 and model.prune_terms.size == 0 and not model.is_merged:
        return "Importance: unknown (mda keeps no record of its pruning pass)"
    table = importance_table(model, trim=False)
    names = [name if used else f"{name}-unused" for name, used in table["used"].items()]
    text = f"Importance: {names[0]}"
    for name in names[1:]:
        longer = f"{text}, {name}"
        if len(longer) >= LINE - 5:
            return f"{text}, ..."
        text = longer
    return text


def _offset(formula, values, digits: int) -> str:
    """Show a logarithm by its argument."""
    label = formula.variables[formula.offset_variable].label
    name = label.removeprefix("offset(")[:-1]
    head = f"Offset: {''.join(name.split())} with values "
    if name.startswith("log("):
        return _values(head, np.exp(values), digits, "log({})")
    return _values(head, values, digits)


def _values(head: str, values, digits: int, each: str = "{}") -> str:
    """Return the first values, truncated to one line."""
    text = ", ".join(map(each.format, format_each(values[:30], digits)))
    room = max(25, LINE - len(head) - 5)
    if len(text) > room:
        text = text[: room - 3].removesuffix(".") + "..."
    return head + text


def _signif(values, digits: int) -> np.ndarray:
    return np.array([float(f"{value:.{digits - 1}e}") for value in np.atleast_1d(values)])


def check_folds(model, folds: pd.DataFrame, tables: dict[str, pd.DataFrame]) -> None:
    """Reject tables of a file that `cv_lines` cannot read."""
    n_resp, n_sizes = len(model.response_names), len(model.gcv_per_subset)
    widths = {name: n_resp for name, _, _ in CV_COLUMNS} | {"oof_rsq": n_sizes}
    known = [(tables[name], width) for name, width in widths.items() if name in tables]
    if folds is None or any(table is None for table in tables.values()):
        raise InvalidInputError("estimator.cv_tables has an entry that is no table")
    by_cv = "oof_rsq" in tables and "rsq" not in tables  # `folds` then has no row of means
    counts = ["nterms"] if by_cv else ["nterms", "nvars"]
    fits = len(folds) > 1 and set(counts) <= set(folds.columns)
    fits &= "rsq" in tables or "oof_rsq" in tables
    fits &= all(len(t) == len(folds) + by_cv and t.shape[1] >= width for t, width in known)
    numbers = [*(t for t, _ in known), *([folds[counts]] if fits else [])]
    if not fits or any(t.select_dtypes("number").shape != t.shape for t in numbers):
        raise InvalidInputError("estimator.cv and cv_tables should be those of a cross-validation")


def cv_lines(
    model, folds: pd.DataFrame, tables: dict[str, pd.DataFrame], nprune, digits: int
) -> list[str]:
    """Return the statistics of a cross-validated model, which replace the usual ones."""
    several = len(model.response_names) > 1
    if "oof_rsq" in tables and "rsq" not in tables:  # pmethod="cv"
        lines = _of_all_by_cv(model, tables, digits) if several else [_by_cv(model, tables, digits)]
        return [*lines, "", *_backward(model, tables, nprune, digits + several)]
    rsq = tables["rsq"].to_numpy()[-1]
    if several:
        lines = statistics_frame(model, {"CVRSq": rsq}, digits)
    else:
        lines = [_statistics(model, digits, "  ", CVRSq=rsq[-1])]
    return [*lines, "", CV_NOTE, "", _cv_counts(folds), "", *_cv_table(model, tables)]


def printed_glm(model) -> list[str]:
    """R's lines about the generalised linear model in the printed fit."""
    return [] if model.glm is None else _glm_statistics(model, DIGITS)


def printed_folds(model, tables: dict[str, pd.DataFrame], nprune) -> list[str]:
    """R's statistics of the folds in the printed fit."""
    several = len(model.response_names) > 1
    if "oof_rsq" in tables and "rsq" not in tables:  # pmethod="cv"
        mean, spread = _out_of_fold(model.n_terms, tables)
        chosen = (
            f"mean.oof.RSq {_shown(mean, DIGITS, 'NA')} (sd {_shown(spread, CV_DIGITS, 'NA')}) at "
            f"{model.n_terms} terms"
        )
        return [chosen, *_backward(model, tables, nprune, DIGITS + several)]
    values = tables["rsq"].to_numpy()[-1]
    if not several:
        return [f"CVRSq {_shown(values[-1], DIGITS)}"]
    names = (*model.response_names, "All")
    return [
        "CVRSq "
        + "    ".join(f"{n} {_shown(v, DIGITS)}" for n, v in zip(names, values, strict=True))
    ]


def _by_cv(model, tables, digits: int) -> str:
    mean, spread = _out_of_fold(model.n_terms, tables)
    head = "" if model.glm is None else "Earth "
    return (
        f"{head}GRSq {_shown(model.grsq, digits)}  RSq {_shown(model.rsq, digits)}  "
        f"mean.oof.RSq {_shown(mean, digits, 'NA')} (sd {_shown(spread, CV_DIGITS, 'NA')})"
    )


def _of_all_by_cv(model, tables, digits: int) -> list[str]:
    mean, spread = _signif(_out_of_fold(model.n_terms, tables), digits)
    none = [np.nan] * len(model.response_names)
    columns = {"  mean.oof.RSq": [*none, mean], "sd(mean.oof.RSq)": [*none, spread]}
    return statistics_frame(model, columns, digits)


def _out_of_fold(n_terms: int, tables) -> tuple[float, float]:
    column = tables["oof_rsq"].to_numpy()[:, n_terms - 1]
    there = column[:-1][~np.isnan(column[:-1])]
    return column[-1], float(np.std(there, ddof=1)) if len(there) > 1 else np.nan


def _backward(model, tables, nprune, digits: int) -> list[str]:
    """Return the line about the model that GCV would have selected."""
    gcv, rss = model.gcv_per_subset, model.rss_per_subset
    size = int(np.argmin(gcv if nprune is None else gcv[: int(nprune)])) + 1
    terms = model.prune_terms[size - 1][:size].astype(int) - 1
    used = int((model.dirs[terms] != 0).any(axis=0).sum())
    mean = tables["oof_rsq"].to_numpy()[-1, size - 1]
    same = " the same model" if size == model.n_terms else ""
    shares = [1 - values[size - 1] / values[0] for values in (gcv, rss)]
    grsq, rsq = (_shown(share, digits) for share in shares)
    lines = [
        f'pmethod="backward" would have selected{same}:',
        f"    {size} terms {used} preds,  GRSq {grsq}  RSq {rsq}  mean.oof.RSq {_shown(mean, digits, 'NA')}",
    ]
    if np.isnan(mean):
        why = f"most fold models have less than {size} terms"
        lines.append(f"    (mean.oof.RSq is NA because {why})")
    return lines


def _cv_counts(folds: pd.DataFrame) -> str:
    parts = [
        f"{name} {folds[name].iloc[-1]:.2f} sd {folds[name].iloc[:-1].std():.2f}"
        for name in ("nterms", "nvars")
    ]
    return "Cross validation:   " + "    ".join(parts)


def _cv_table(model, tables) -> list[str]:
    """Means and standard deviations over the folds: one row per response, and one for all."""
    wide = "" if "deviance" in tables else "    "
    several = len(model.response_names) > 1
    rows = [*model.response_names, "All"] if several else [""]
    titles, columns = [], []
    for name, title, is_rounded in CV_COLUMNS:
        if name not in tables:
            continue
        values = tables[name].to_numpy()
        with np.errstate(invalid="ignore"):
            means, spreads = values[-1], np.std(values[:-1], axis=0, ddof=1)
        if is_rounded:
            means, spreads = r_round(means, CV_DIGITS), r_round(spreads, CV_DIGITS)
        titles += [wide + title, "sd"]
        missing = np.isnan(values[:-1]).any(axis=0)  # NA in R's sd(); infinite values give NaN
        columns += [
            _cv_cells(means[: len(rows)], np.full(len(rows), name in NA_TABLES)),
            _cv_cells(spreads[: len(rows)], missing),
        ]
    return print_frame(rows, titles, columns)


def _cv_cells(values, is_na) -> list[str]:
    """Numbers as text; NaN is shown as NA where `is_na`."""
    texts = r_format(values, CV_DIGITS)
    return [t.replace("NaN", "NA") if na else t for t, na in zip(texts, is_na, strict=False)]


@dataclass(frozen=True, eq=False)
class VarianceShown:
    """Summary statistics of the training rows; the first three fields as in `VarianceErrors`."""

    names: tuple[str, ...]
    stderr: np.ndarray
    rsq: float | None
    widths: np.ndarray  # mean, minimum and maximum length of the 95% prediction intervals
    inside: np.ndarray  # percentages of responses inside their 68%, 80%, 90% and 95% intervals

    @classmethod
    def of(cls, errors: VarianceErrors, sd: np.ndarray, fitted, residuals) -> VarianceShown:
        """Compute from the standard deviations, the fit and the residuals of the training rows."""
        fitted, width, sizes = (
            np.ravel(fitted),
            interval_width(sd, LEVEL),
            np.abs(np.ravel(residuals)),
        )
        lengths = (fitted + width) - (fitted - width)  # rounded as in R
        widths = np.array([lengths.mean(), lengths.min(), lengths.max()])
        inside = np.array([100 * np.mean(sizes <= interval_width(sd, p)) for p in LEVELS])
        return cls(errors.names, errors.stderr, errors.rsq, widths, inside)

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, numbers and strings, ready for JSON."""
        return {f.name: saved.plain(getattr(self, f.name)) for f in fields(self)}

    @classmethod
    def from_dict(cls, model, entries) -> VarianceShown:
        """Build from the result of `to_dict`, for the variance model of `model`."""
        names = [f.name for f in fields(cls)]
        if not isinstance(entries, Mapping) or set(entries) != set(names):
            raise InvalidInputError(
                f"estimator.varmod_shown should have exactly {', '.join(names)}"
            )
        read: dict[str, Callable] = {"names": saved.read_texts, "rsq": saved.read_number}
        values: dict[str, Any] = {
            name: None
            if name == "rsq" and value is None
            else read.get(name, saved.read_vector)(f"estimator.varmod_shown.{name}", value)
            for name, value in entries.items()
        }
        count = len(_variance_coefficients(model.varmod))
        lengths = {"names": count, "stderr": count, "widths": 3, "inside": len(LEVELS)}
        for name, length in lengths.items():
            if len(values[name]) != length:
                raise InvalidInputError(
                    f"estimator.varmod_shown.{name} should have {length} entries"
                )
        return cls(**values)


def variance_lines(model, shown: VarianceShown | None, digits: int) -> list[str]:
    """Return the block below the summary; without `shown`, based on the model alone."""
    lines = [_variance_head(model.varmod, shown), "", "stddev of predictions:"]
    lines += [*_variance_table(model, shown, digits), ""]
    if shown is None:
        return [*lines, ERRORS_LEFT_OUT]
    mean, smallest, largest = shown.widths
    with np.errstate(divide="ignore", invalid="ignore"):
        numbers = [mean, smallest, largest, largest / smallest]
    titles = ("mean", "smallest", "largest", "ratio")
    texts = format_each(numbers, digits)
    lines += [*_apart(f"{100 * LEVEL:g}% prediction interval", titles, texts), ""]
    percents = [f"{100 * level:.0f}% " for level in LEVELS]
    texts = [
        f"{share:.0f}{'<' if share < 100 * level - 0.5 else ' '} "
        for share, level in zip(shown.inside, LEVELS, strict=True)
    ]
    return lines + _apart("response values in prediction interval", percents, texts)


def _variance_head(varmod, shown: VarianceShown | None) -> str:
    space = "  " if varmod.exponent == 1 else ""
    parts = [f'varmod: method "{varmod.method}"']
    if varmod.exponent != 1:
        parts.append(f"exponent {varmod.exponent:.3f}")
    parts.append(f"min.sd {varmod.min_sd:.3g}")
    if shown is not None and shown.rsq is not None:
        parts.append(f"iter.rsq {shown.rsq:.3f}")
    return f"{space}  ".join(parts)


def _variance_table(model, shown: VarianceShown | None, digits: int) -> list[str]:
    """Coefficients, except the exponent, scaled to standard deviations of an observation."""
    varmod = model.varmod
    coef = _variance_coefficients(varmod)
    scale = np.full(len(coef), SD_OF_ABSOLUTE)
    if varmod.method.startswith("power"):
        scale[-1] = 1.0
    coef = coef * scale
    names = _variance_names(model) if shown is None else shown.names
    order = list(range(len(coef)))
    if varmod.method.endswith("earth"):
        names, order = tuple(map(spaced, names)), anova_order(varmod.dirs, varmod.cuts)
    rows = [_renamed(names, model.response_names[0], varmod.exponent)[k] for k in order]
    if shown is None:
        values = r_format(zapsmall(coef[order], digits + 1), digits)
        return print_frame(rows, ["coefficients"], [values])
    stderr = shown.stderr * scale
    coef = np.where(np.isnan(stderr) & (coef == 0), np.nan, coef)  # dependent columns
    if len(coef) == 2 and np.isnan(coef[1]):  # R repeats the remaining error
        stderr[1] = stderr[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        percent = 100 * stderr / np.abs(coef)
    columns = [
        r_format(zapsmall(coef[order], digits + 1), digits),
        [f"{value:g}" for value in zapsmall(stderr[order], digits)],
        ["big" if value >= BIG else f"{value:.0f}" for value in percent[order]],
    ]
    columns = [[text.replace("nan", "NA").replace("NaN", "NA") for text in c] for c in columns]
    return print_frame(rows, ["coefficients", "iter.stderr", "iter.stderr%"], columns)


def _variance_coefficients(varmod) -> np.ndarray:
    """Coefficients, with the exponent of a power model last."""
    return (
        np.append(varmod.coef, varmod.power) if varmod.method.startswith("power") else varmod.coef
    )


def _variance_names(model) -> tuple[str, ...]:
    """Return the names of the coefficients if the training rows are not available."""
    varmod = model.varmod
    if varmod.method.startswith("power"):
        return ("(Intercept)", "coef", "exponent")[-len(varmod.coef) - 1 :]
    names = model.feature_names if varmod.method.startswith("x.") else ("RHS",)
    return term_names(varmod.dirs, varmod.cuts, names, np.full((1, len(names)), 0.5))


def _renamed(names, response: str, exponent: float) -> list[str]:
    """Replace RHS by the response or its power, also inside longer names."""
    if len(names) == 1:
        return list(names)
    names = [name.replace("RHS", response) for name in names]
    if exponent != 1:
        names = [name.replace(response, _power(response, exponent)) for name in names]
    return [name.replace("`", "") for name in names]


def _power(name: str, exponent: float) -> str:
    if 0.33 < exponent < 0.34:
        return f"cbrt({name})"
    function = {0.5: "sqrt", 2: "sq"}.get(exponent)
    return f"{name}^{exponent:.3g}" if function is None else f"{function}({name})"


def _apart(row: str, titles, texts) -> list[str]:
    """Return a one-row table with an empty column before each column."""
    spread = [[" ", text] for text in texts]
    columns = [[text] for pair in spread for text in pair]
    return print_frame([row], [name for title in titles for name in (" ", title)], columns)


def glm_details(model, found, digits: int) -> list[str]:
    """Return the lines of each response; `found` contains a fit and its errors for each."""
    glm, lines = model.glm, list[str]()
    names = [spaced(name) for name in model.selected_names]
    for response, (fit, errors) in zip(model.response_names, found, strict=False):
        head = f"GLM {response}" if len(model.response_names) > 1 else "GLM"
        shown = _glm_residuals(errors.residuals, fit.df, digits)
        lines += [f"{head} deviance residuals:", *shown, ""]
        lines.append(f"{head} coefficients (family {glm.family}, link {glm.link})")
        lines += _glm_coefficients(names, fit, errors, digits)
        if errors.dispersion != 1:
            dispersion = r_format([errors.dispersion], DIGITS)[0]
            taken = f"{head} dispersion parameter for {glm.family} family taken to be {dispersion}"
            lines += ["", taken]
        lines.append("")
    return lines


def _glm_residuals(values, df: int, digits: int) -> list[str]:
    names = [str(k + 1) for k in range(len(values))]
    if df > FEW:
        known = values[~np.isnan(values)]
        values = _quantiles(known) if len(known) else np.full(5, np.nan)
        names = list(QUANTILES)
    return _named(names, r_format(values, digits))


def _quantiles(values) -> np.ndarray:
    """Minimum, quartiles and maximum with the rounding of R's quantile(): a median may be 1e-16."""
    place = (len(values) - 1) * np.array([0, 0.25, 0.5, 0.75, 1])
    values, low = np.sort(values), np.floor(place).astype(int)
    below, above, share = values[low], values[np.ceil(place).astype(int)], place - low
    return np.where(below == above, below, (1 - share) * below + share * above)


def _named(names, texts) -> list[str]:
    """Return a named vector as printed by R, with as many entries per line as fit."""
    width = max(map(len, [*names, *texts]))
    count = max(1, LINE // (width + GAP))
    return [
        "".join(f"{text:>{width}}{' ' * GAP}" for text in row[start : start + count])
        for start in range(0, len(names), count)
        for row in (names, texts)
    ]


def _glm_coefficients(names, fit, errors, digits: int) -> list[str]:
    """Coefficient table of R's printCoefmat, without stars."""
    letter = "t" if errors.is_estimated else "z"
    estimate, stderr = fit.coef, errors.stderr
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = estimate / stderr
        tail = student(fit.df).cdf if errors.is_estimated and fit.df > 0 else norm.cdf
        probability = 2 * tail(-np.abs(ratio))
    tested = max(1, min(5, digits - 1))
    both = _estimates(np.column_stack([estimate, stderr]), digits)
    ratios = r_format([_round(value, tested) for value in ratio], digits)
    columns = [both[0::2], both[1::2], ratios, _probabilities(probability, tested)]
    titles = ["Estimate", "Std. Error", f"{letter} value", f"Pr(>|{letter}|)"]
    return print_frame(names, titles, columns)


def _estimates(values: np.ndarray, digits: int) -> list[str]:
    """Format estimates and errors by rows; the smallest value determines the decimals."""
    flat = values.ravel()
    sizes = np.abs(flat[np.isfinite(flat) & (flat != 0)])
    smallest = 1 + math.floor(math.log10(sizes.min())) if len(sizes) else 1
    texts = r_format([_round(value, max(1, digits - smallest)) for value in flat], digits)
    width = max(map(len, texts))
    texts = [text.rjust(width) for text in texts]
    lost = [k for k, text in enumerate(texts) if flat[k] != 0 and float(text) == 0]
    for k, text in zip(lost, r_format(flat[lost], max(1, digits - 1)), strict=True):
        texts[k] = text
    return texts


def _probabilities(values: np.ndarray, digits: int) -> list[str]:
    """Format like R's format.pval: larger and smaller values separately, a limit for the rest."""
    texts = ["NaN"] * len(values)
    known = [k for k, value in enumerate(values) if not math.isnan(value)]
    shown = [k for k in known if values[k] >= EPSILON]
    lowest = -4 if digits > 1 else -3
    for is_large in (True, False):
        group = [k for k in shown if (math.floor(math.log10(values[k])) >= lowest) == is_large]
        for k, text in zip(group, r_format(values[group], digits), strict=True):
            texts[k] = text
    tiny = [k for k in known if values[k] < EPSILON]
    digits = max(1, digits - 2)
    longest = max((len(texts[k]) for k in shown), default=0)
    if shown and digits > 1 and digits + 6 > longest:
        digits = max(1, longest - 7)
    space = "" if digits == 1 and longest <= 6 else " "
    for k in tiny:
        texts[k] = f"<{space}{r_format([EPSILON], digits)[0]}"
    return texts


def _round(value: float, decimals: int) -> float:
    return round(float(value), decimals) if math.isfinite(value) else float(value)


class Summary(str):
    """Summary text: a str that notebooks display with plots of the terms."""

    _model = None

    @classmethod
    def of(cls, text: str, model) -> Summary:
        """Create a summary from its text and the model."""
        found = cls(text)
        found._model = model
        return found

    def _repr_html_(self) -> str:
        if self._model is None:
            return text_block(str(self))
        return model_html(self._model, folded("as text", text_block(str(self))))

    def _repr_pretty_(self, printer, cycle) -> None:
        """Show the text without quotes in IPython's terminal."""
        printer.text(str(self))


def model_html(model, *more: str) -> Html:
    """Return a box with the terms and the statistics of a model."""
    used, known = len(model.used_features()), len(model.feature_names)
    title = f"MARS model of {', '.join(model.response_names)}"
    line = (
        f"{model.n_terms} of {len(model.dirs)} terms, {used} of {known} predictors, {model.n_samples} rows, "
        f"nominal df {model.nominal_df:g}"
    )
    return box(title, note(line), terms_html(model), _statistics_table(model), *more)


def terms_html(model) -> Html:
    """Return a table of the selected terms by degree and predictor."""
    dirs, cuts = model.dirs[model.selected], model.cuts[model.selected]
    coefs = [("coefficient", coef_matrix(model.coef))]
    if model.glm is not None:
        coefs = [("coefficient (glm)", coef_matrix(model.glm.coef)), ("least squares", coefs[0][1])]
    several = len(model.response_names) > 1
    coefs = coefs[:1] if several else coefs  # all would make the table too wide
    columns = [
        (f"{title}: {name}" if several else title, values[:, k])
        for title, values in coefs
        for k, name in enumerate(model.response_names)
    ]
    order = anova_order(dirs, cuts)
    leading = coefs[0][1][:, 0]
    rows = [
        [
            spaced(model.selected_names[t]),
            _drawing(model, dirs[t], cuts[t], leading[t]),
            *(number(values[t], 7) for _, values in columns),
        ]
        for t in order[:MOST_TERMS]
    ]
    found = table(["term", "", *(title for title, _ in columns)], rows, left=2)
    rest = len(order) - MOST_TERMS
    return Html(found + note(f"and {rest} more terms")) if rest > 0 else found


def _statistics_table(model) -> Html:
    several = len(model.response_names) > 1
    names = ["GCV", "RSS", "GRSq", "RSq"]
    values = [(model.gcv, model.rss, model.grsq, model.rsq)]
    if several:
        each = (getattr(model, f"{name.lower()}_per_response") for name in names)
        values = [*zip(*each, strict=True), *values]
    titles = [*model.response_names[: len(values) - 1], "all"] if several else [""]
    pairs = zip(titles, values, strict=True)
    found = table(["", *names], [[title, *(number(v, 6) for v in row)] for title, row in pairs])
    if model.glm is None:
        return found
    rows = [
        [name, number(r["deviance"]), number(r["null_deviance"]), number(r["deviance_ratio"], 3)]
        for name, r in model.glm.to_frame(model.response_names).iterrows()
    ]
    head = f"{model.glm.family}, link {model.glm.link}"
    return Html(table([head, "deviance", "null deviance", "share explained"], rows) + found)


def _drawing(model, dirs, cuts, coef: float) -> Html:
    """Return a plot for each factor; with one factor, its direction includes the sign of the coefficient."""
    used = np.flatnonzero(dirs)
    sign = -1 if len(used) == 1 and coef < 0 else 1
    drawings = [_factor(model, int(j), int(dirs[j]), float(cuts[j]), sign) for j in used]
    return Html(' <span style="opacity:.6">×</span> '.join(drawings))


def _factor(model, j: int, direction: int, cut: float, sign: int) -> Html:
    name = model.feature_names[j]
    low, high = _range(model, j, cut)
    if direction == 2 and model.columns is not None and model.columns.sources[j].kind == "level":
        points, said = [(0.0, 0.0), (0.5, 0.0), (0.5, 1.0), (1.0, 1.0)], f"{name}, yes or no"
    elif direction == 2:
        points, said = [(0.0, 0.0), (1.0, 1.0)], f"{name}, linear"
    else:
        knot = min(max((cut - low) / (high - low), 0.0), 1.0)
        points = [(0.0, 0.0), (knot, 0.0), (1.0, 1.0 - knot)]
        said = f"{name} above {cut:.4g}"
        if direction == -1:
            points, said = [(0.0, knot), (knot, 0.0), (1.0, 0.0)], f"{name} below {cut:.4g}"
    top = max(y for _, y in points) or 1.0
    width, height = WIDTH - 2.0 * MARGIN, HEIGHT - 2.0 * MARGIN
    base = HEIGHT - MARGIN - (height if sign < 0 else 0.0)
    path = " ".join(
        f"{MARGIN + x * width:.1f},{base - sign * y / top * height:.1f}" for x, y in points
    )
    return Html(
        f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(said)}" style="vertical-align:middle"><title>{escape(said)}</title>'
        f'<line x1="{MARGIN}" y1="{base}" x2="{WIDTH - MARGIN}" y2="{base}" stroke="currentColor" '
        f'stroke-opacity=".3"/><polyline points="{path}" fill="none" stroke="{ACCENT}" stroke-width="1.8" '
        'stroke-linejoin="round"/></svg>'
    )


def _range(model, j: int, cut: float) -> tuple[float, float]:
    """Training range of a predictor that is a numeric raw column; otherwise a range around the cut."""
    owners = model.owners[j]
    if model.ranges is not None and len(owners) == 1:
        found = model.ranges[next(iter(owners))]
        is_raw = model.formula is None or model.feature_names[j] == found.name
        if is_raw and found.low is not None and found.high is not None and found.low < found.high:
            return found.low, found.high
    size = max(abs(cut), 1.0)
    return cut - size, cut + size
