"""R's table of a generalised linear model, as earth's `summary(details=TRUE)` prints it."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

from ..printing import DIGITS, LINE, print_frame, r_format
from .summary import spaced

__all__ = ["LEFT_OUT", "glm_details"]

LEFT_OUT = ["(The table of the glm is left out: it needs the training rows.)", ""]
FEW = 5  # degrees of freedom: up to here each residual is shown
GAP = 2
EPSILON = np.finfo(float).eps  # a smaller probability is shown as smaller than this
QUANTILES = ("Min", "1Q", "Median", "3Q", "Max")


def glm_details(model, found, digits: int) -> list[str]:
    """The lines of each response; `found` are a fit and its errors for each."""
    glm, lines = model.glm, list[str]()
    names = [spaced(name) for name in model.selected_names]
    for response, (fit, errors) in zip(model.response_names, found, strict=False):
        head = f"GLM {response}" if len(model.response_names) > 1 else "GLM"
        lines += [f"{head} deviance residuals:", *_residuals(errors.residuals, fit.df, digits), ""]
        lines.append(f"{head} coefficients (family {glm.family}, link {glm.link})")
        lines += _coefficients(names, fit, errors, digits)
        if errors.dispersion != 1:
            shown = r_format([errors.dispersion], DIGITS)[0]
            lines += [
                "",
                f"{head} dispersion parameter for {glm.family} family taken to be {shown}",
            ]
        lines.append("")
    return lines


def _residuals(values, df: int, digits: int) -> list[str]:
    names = [str(k + 1) for k in range(len(values))]
    if df > FEW:
        known = values[~np.isnan(values)]
        values = _quantiles(known) if len(known) else np.full(5, np.nan)
        names = list(QUANTILES)
    return _named(names, r_format(values, digits))


def _quantiles(values) -> np.ndarray:
    """Minimum, quartiles and maximum as R's quantile() rounds them: a median of -1 and 1 may be 1e-16."""
    place = (len(values) - 1) * np.array([0, 0.25, 0.5, 0.75, 1])
    values, low = np.sort(values), np.floor(place).astype(int)
    below, above, share = values[low], values[np.ceil(place).astype(int)], place - low
    return np.where(below == above, below, (1 - share) * below + share * above)


def _named(names, texts) -> list[str]:
    """A vector with names as R prints it, as many as a line holds."""
    width = max(map(len, [*names, *texts]))
    count = max(1, LINE // (width + GAP))
    lines = []
    for start in range(0, len(names), count):
        for row in (names, texts):
            lines.append(
                "".join(f"{text:>{width}}{' ' * GAP}" for text in row[start : start + count])
            )
    return lines


def _coefficients(names, fit, errors, digits: int) -> list[str]:
    """R's printCoefmat without stars."""
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
    """Estimates and errors together, by rows: the smallest of them decides on the decimals."""
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
    """R's format.pval: those of at most four zeros together, smaller ones together, a limit for the rest."""
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
