"""A model's summary in the layout of R's `summary(earth)`, without R."""

from __future__ import annotations

import math

import numpy as np

from .importance import importance_table

__all__ = ["model_summary", "r_format"]

DIGITS = 7  # R's getOption("digits")
LINE = 80  # R's getOption("width")


def model_summary(model, call: str) -> str:
    """The text of a fitted model; `call` stands for R's call in its first line."""
    lines = [f"Call: {call}", "", *_coefficients(model), ""]
    lines.append(_selection(model))
    lines.append(f"Termination condition: {_termination(model)}")
    lines.append(_importance(model))
    degrees = _degrees(model.dirs[model.selected])
    counts = [int(np.sum(degrees == d)) for d in range(int(degrees.max()) + 1)]
    kind = {1: " (intercept only model)", 2: " (additive model)"}.get(len(counts), "")
    per_degree = " ".join(map(str, counts))
    lines.append(f"Number of terms at each degree of interaction: {per_degree}{kind}")
    statistics = [("GCV", model.gcv), ("RSS", model.rss), ("GRSq", model.grsq), ("RSq", model.rsq)]
    lines.append("    ".join(f"{name} {r_format([value])[0]}" for name, value in statistics))
    return "\n".join(lines)


def _coefficients(model) -> list[str]:
    order = _anova_order(model.dirs[model.selected], model.cuts[model.selected])
    names = [_spaced(model.selected_names[k]) for k in order]
    values = model.coef[order]
    if len(values) >= 3:
        values = _zapped(values)
    texts = r_format(values)
    title = "coefficients"
    width = max(map(len, names))
    right = max(len(title), *map(len, texts))
    rows = [f"{name:<{width}} {text:>{right}}" for name, text in zip(names, texts, strict=True)]
    return [f"{'':<{width}} {title:>{right}}", *rows]


def _spaced(name: str) -> str:
    return name.replace("*", " * ").replace("--", "- -").replace("`", "")


def _degrees(dirs: np.ndarray) -> np.ndarray:
    return np.count_nonzero(dirs, axis=1)


def _anova_order(dirs: np.ndarray, cuts: np.ndarray) -> list[int]:
    """By degree, linear ones first, then by predictors, cut, and direction of the first hinge."""

    def key(t):
        used = np.flatnonzero(dirs[t])
        if len(used) == 0:
            return (0, 0, (), 0.0, 0)
        first = used[0]
        return (
            len(used),
            -int(np.sum(dirs[t] == 2)),
            tuple(used[:3]),
            cuts[t, first],
            int(dirs[t, first] == 1),
        )

    return sorted(range(len(dirs)), key=key)


def _selection(model) -> str:
    used = len(model.used_features())
    text = (
        f"Selected {model.n_terms} of {len(model.dirs)} terms, and {used} of "
        f"{len(model.feature_names)} predictors"
    )
    return text if model.pmethod == "backward" else f'{text} (pmethod="{model.pmethod}")'


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
    table = importance_table(model, trim=False)
    names = [name if used else f"{name}-unused" for name, used in table["used"].items()]
    text = f"Importance: {names[0]}"
    for name in names[1:]:
        longer = f"{text}, {name}"
        if len(longer) >= LINE - 5:
            return f"{text}, ..."
        text = longer
    return text


def _zapped(values: np.ndarray) -> np.ndarray:
    """R's zapsmall: what is small beside the largest is rounded away."""
    largest = np.abs(values).max()
    digits = DIGITS + 1
    if largest > 0:
        digits = max(0, math.floor(digits - math.log10(largest) + 0.5))
    return np.round(values, digits)


def r_format(values, digits: int = DIGITS) -> list[str]:
    """Format numbers together as R's `format` does: the fewest digits, at most `digits` significant.

    All get the same number of decimals; where that is longer than the scientific form, they get that.

    >>> r_format([13.3286113, -0.000103])
    ['13.328611', '-0.000103']
    >>> r_format([1e-10])
    ['1e-10']
    """
    finite = [float(v) for v in values if math.isfinite(v)]
    parts = [_significant(v, digits) for v in finite]
    decimals = max((max(0, used - 1 - exponent) for used, exponent in parts), default=0)
    mantissa = max((used for used, _ in parts), default=1)
    fixed_width = max((len(f"{v:.{decimals}f}") for v in finite), default=0)
    exponent_width = max((max(2, len(str(abs(e)))) for _, e in parts), default=2)
    science_width = mantissa + (mantissa > 1) + 2 + exponent_width + any(v < 0 for v in finite)
    scientific = fixed_width > science_width
    return [_text(float(v), scientific, mantissa, decimals) for v in values]


def _text(value: float, scientific: bool, mantissa: int, decimals: int) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Inf" if value > 0 else "-Inf"
    return f"{value:.{mantissa - 1}e}" if scientific else f"{value:.{decimals}f}"


def _significant(value: float, digits: int) -> tuple[int, int]:
    """How many significant digits show the value to `digits`, and its decimal exponent."""
    if value == 0:
        return 1, 0
    mantissa, exponent = f"{abs(value):.{digits - 1}e}".split("e")
    return max(1, len(mantissa.replace(".", "").rstrip("0"))), int(exponent)
