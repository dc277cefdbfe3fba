"""What R's `summary` says of cross-validation."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...exceptions import InvalidInputError
from ..printing import print_frame, r_format, r_round
from .summary import statistics_frame

__all__ = ["check_folds", "cv_lines"]

NOTE = "Note: the cross-validation sd's below are standard deviations across folds"
DIGITS = 3
# Table, R's title and whether its means are rounded to three decimals, in R's order
COLUMNS = (
    ("rsq", "CVRSq", True), ("class_rate", "ClassRate", True), ("maxerr", "MaxErr", False),
    ("auc", "AUC", True), ("cor", "cor.tab", True), ("deviance", "MeanDev", False),
    ("calib_int", "CalibInt", True), ("calib_slope", "CalibSlope", True),
)  # fmt: skip
# What R's cor() and glm() cannot compute is NA; 0/0 in the other tables is NaN.
NA_TABLES = ("cor", "calib_int", "calib_slope")


def check_folds(model, folds: pd.DataFrame, tables: dict[str, pd.DataFrame]) -> None:
    """Refuse tables from a file that `cv_lines` could not read."""
    n_resp, n_sizes = len(model.response_names), len(model.gcv_per_subset)
    widths = {name: n_resp for name, _, _ in COLUMNS} | {"oof_rsq": n_sizes}
    known = [(tables[name], width) for name, width in widths.items() if name in tables]
    if folds is None or any(table is None for table in tables.values()):
        raise InvalidInputError("estimator.cv_tables has an entry that is no table")
    by_cv = "oof_rsq" in tables and "rsq" not in tables  # then there is no row of means in `folds`
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
    """The statistics of a cross-validated model, instead of those of any other."""
    several = len(model.response_names) > 1
    if "oof_rsq" in tables and "rsq" not in tables:  # pmethod="cv"
        lines = _of_all_by_cv(model, tables, digits) if several else [_by_cv(model, tables, digits)]
        return [*lines, "", *_backward(model, tables, nprune, digits + several)]
    rsq = tables["rsq"].to_numpy()[-1]
    if several:
        lines = statistics_frame(model, {"CVRSq": rsq}, digits)
    else:
        names = ("gcv", "GCV"), ("rss", "RSS"), ("grsq", "GRSq"), ("rsq", "RSq")
        parts = [f"{title} {r_format([getattr(model, n)], digits)[0]}" for n, title in names]
        text = "  ".join([*parts, f"CVRSq {r_format([rsq[-1]], digits)[0]}"])
        lines = [text if model.glm is None else f"Earth {text}"]
    return [*lines, "", NOTE, "", _counts(folds), "", *_table(model, tables)]


def _by_cv(model, tables, digits: int) -> str:
    mean, spread = _out_of_fold(model.n_terms, tables)
    head = "" if model.glm is None else "Earth "
    return (
        f"{head}GRSq {r_format([model.grsq], digits)[0]}  RSq {r_format([model.rsq], digits)[0]}  "
        f"mean.oof.RSq {_or_na(mean, digits)} (sd {_or_na(spread, DIGITS)})"
    )


def _of_all_by_cv(model, tables, digits: int) -> list[str]:
    mean, spread = (_signif(value, digits) for value in _out_of_fold(model.n_terms, tables))
    none = [np.nan] * len(model.response_names)
    columns = {"  mean.oof.RSq": [*none, mean], "sd(mean.oof.RSq)": [*none, spread]}
    return statistics_frame(model, columns, digits)


def _out_of_fold(n_terms: int, tables) -> tuple[float, float]:
    column = tables["oof_rsq"].to_numpy()[:, n_terms - 1]
    there = column[:-1][~np.isnan(column[:-1])]
    return column[-1], float(np.std(there, ddof=1)) if len(there) > 1 else np.nan


def _backward(model, tables, nprune, digits: int) -> list[str]:
    """The model that the GCV would have chosen."""
    gcv, rss = model.gcv_per_subset, model.rss_per_subset
    size = int(np.argmin(gcv if nprune is None else gcv[: int(nprune)])) + 1
    terms = model.prune_terms[size - 1][:size].astype(int) - 1
    used = int((model.dirs[terms] != 0).any(axis=0).sum())
    mean = tables["oof_rsq"].to_numpy()[-1, size - 1]
    same = " the same model" if size == model.n_terms else ""
    shares = [1 - values[size - 1] / values[0] for values in (gcv, rss)]
    grsq, rsq = (r_format([share], digits)[0] for share in shares)
    lines = [
        f'pmethod="backward" would have selected{same}:',
        f"    {size} terms {used} preds,  GRSq {grsq}  RSq {rsq}  mean.oof.RSq {_or_na(mean, digits)}",
    ]
    if np.isnan(mean):
        why = f"most fold models have less than {size} terms"
        lines.append(f"    (mean.oof.RSq is NA because {why})")
    return lines


def _counts(folds: pd.DataFrame) -> str:
    parts = [
        f"{name} {folds[name].iloc[-1]:.2f} sd {folds[name].iloc[:-1].std():.2f}"
        for name in ("nterms", "nvars")
    ]
    return "Cross validation:   " + "    ".join(parts)


def _table(model, tables) -> list[str]:
    """Means and standard deviations over the folds: a row for each response, and one for all of them."""
    wide = "" if "deviance" in tables else "    "
    several = len(model.response_names) > 1
    rows = [*model.response_names, "All"] if several else [""]
    titles, columns = [], []
    for name, title, is_rounded in COLUMNS:
        if name not in tables:
            continue
        values = tables[name].to_numpy()
        with np.errstate(invalid="ignore"):
            means, spreads = values[-1], np.std(values[:-1], axis=0, ddof=1)
        if is_rounded:
            means, spreads = r_round(means, DIGITS), r_round(spreads, DIGITS)
        titles += [wide + title, "sd"]
        missing = np.isnan(values[:-1]).any(axis=0)  # of which R's sd() is NA, of infinite ones NaN
        columns += [
            _cells(means[: len(rows)], np.full(len(rows), name in NA_TABLES)),
            _cells(spreads[: len(rows)], missing),
        ]
    return print_frame(rows, titles, columns)


def _cells(values, is_na) -> list[str]:
    """Numbers as text; what is not a number is NA where `is_na`."""
    texts = r_format(values, DIGITS)
    return [t.replace("NaN", "NA") if na else t for t, na in zip(texts, is_na, strict=False)]


def _signif(value: float, digits: int) -> float:
    return float(f"{value:.{digits - 1}e}")


def _or_na(value: float, digits: int) -> str:
    return "NA" if np.isnan(value) else r_format([value], digits)[0]
