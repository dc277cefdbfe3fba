"""What R's `summary` says of a variance model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ...exceptions import InvalidInputError
from .. import reading as saved
from ..components.terms import term_names
from ..components.variance import SD_OF_ABSOLUTE, VarianceErrors, interval_width
from .summary import anova_order, print_frame, r_format, spaced, zapsmall

__all__ = ["VarianceShown", "variance_lines"]

LEVEL = 0.95
LEVELS = (0.68, 0.8, 0.9, 0.95)
BIG = 1000  # percent
LEFT_OUT = "(The standard errors and the widths of the intervals are left out: they need the training rows.)"


@dataclass(frozen=True, eq=False)
class VarianceShown:
    """Numbers of the summary that come from the training rows.

    Attributes
    ----------
    names, stderr, rsq : as in `VarianceErrors`.
    widths : mean, smallest and largest length of the 95% prediction intervals.
    inside : percentages of the responses in their 68%, 80%, 90% and 95% prediction intervals.
    """

    names: tuple[str, ...]
    stderr: np.ndarray
    rsq: float | None
    widths: np.ndarray
    inside: np.ndarray

    @classmethod
    def of(cls, errors: VarianceErrors, sd: np.ndarray, fitted, residuals) -> VarianceShown:
        """From the standard deviations, the fit and the residuals of the training rows."""
        fitted, width, sizes = (
            np.ravel(fitted),
            interval_width(sd, LEVEL),
            np.abs(np.ravel(residuals)),
        )
        lengths = (fitted + width) - (fitted - width)  # as R rounds them
        inside = [100 * np.mean(sizes <= interval_width(sd, p)) for p in LEVELS]
        return cls(
            errors.names,
            errors.stderr,
            errors.rsq,
            np.array([lengths.mean(), lengths.min(), lengths.max()]),
            np.array(inside),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, numbers and strings, ready for JSON."""
        return {f.name: saved.plain(getattr(self, f.name)) for f in fields(self)}

    @classmethod
    def from_dict(cls, model, entries) -> VarianceShown:
        """Build it from `to_dict`'s result, for the variance model of `model`."""
        names = [f.name for f in fields(cls)]
        if not isinstance(entries, Mapping) or set(entries) != set(names):
            raise InvalidInputError(
                f"estimator.varmod_shown should have exactly {', '.join(names)}"
            )
        read: dict[str, Callable] = {"names": saved.read_texts, "rsq": _read_rsq}
        values: dict[str, Any] = {
            name: read.get(name, saved.read_vector)(f"estimator.varmod_shown.{name}", value)
            for name, value in entries.items()
        }
        count = len(_coefficients(model.varmod))
        lengths = {"names": count, "stderr": count, "widths": 3, "inside": len(LEVELS)}
        for name, length in lengths.items():
            if len(values[name]) != length:
                raise InvalidInputError(
                    f"estimator.varmod_shown.{name} should have {length} entries"
                )
        return cls(**values)


def variance_lines(model, shown: VarianceShown | None, digits: int) -> list[str]:
    """The block below the summary; without `shown` what the model itself tells."""
    varmod = model.varmod
    lines = [_head(varmod, shown), "", "stddev of predictions:", *_table(model, shown, digits), ""]
    if shown is None:
        return [*lines, LEFT_OUT]
    mean, smallest, largest = shown.widths
    with np.errstate(divide="ignore", invalid="ignore"):
        numbers = [mean, smallest, largest, largest / smallest]
    titles = ("mean", "smallest", "largest", "ratio")
    texts = [r_format([number], digits)[0] for number in numbers]
    lines += [*_apart(f"{100 * LEVEL:g}% prediction interval", titles, texts), ""]
    percents = [f"{100 * level:.0f}% " for level in LEVELS]
    texts = [_share(share, 100 * level) for share, level in zip(shown.inside, LEVELS, strict=True)]
    return lines + _apart("response values in prediction interval", percents, texts)


def _head(varmod, shown: VarianceShown | None) -> str:
    space = "  " if varmod.exponent == 1 else ""
    parts = [f'varmod: method "{varmod.method}"']
    if varmod.exponent != 1:
        parts.append(f"exponent {varmod.exponent:.3f}")
    parts.append(f"min.sd {varmod.min_sd:.3g}")
    if shown is not None and shown.rsq is not None:
        parts.append(f"iter.rsq {shown.rsq:.3f}")
    return f"{space}  ".join(parts)


def _table(model, shown: VarianceShown | None, digits: int) -> list[str]:
    """Coefficients as standard deviations of an observation, which the exponent is not."""
    varmod = model.varmod
    coef = _coefficients(varmod)
    scale = np.full(len(coef), SD_OF_ABSOLUTE)
    if varmod.method.startswith("power"):
        scale[-1] = 1.0
    coef = coef * scale
    names = _names(model) if shown is None else shown.names
    if varmod.method.endswith("earth"):
        names = tuple(map(spaced, names))
    rows = _renamed(names, model.response_names[0], varmod.exponent)
    order = list(range(len(coef)))
    if varmod.method.endswith("earth"):
        order = anova_order(varmod.dirs, varmod.cuts)
    rows = [rows[k] for k in order]
    if shown is None:
        values = r_format(zapsmall(coef[order], digits + 1), digits)
        return print_frame(rows, ["coefficients"], [values])
    stderr = shown.stderr * scale
    coef = np.where(
        np.isnan(stderr) & (coef == 0), np.nan, coef
    )  # of columns that depend on others
    if len(coef) == 2 and np.isnan(coef[1]):  # R repeats the error that is left
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


def _coefficients(varmod) -> np.ndarray:
    """With the exponent of a power model last."""
    return (
        np.append(varmod.coef, varmod.power) if varmod.method.startswith("power") else varmod.coef
    )


def _names(model) -> tuple[str, ...]:
    """The coefficients' names, where the training rows are not here."""
    varmod = model.varmod
    if varmod.method.startswith("power"):
        return ("(Intercept)", "coef", "exponent")[-len(varmod.coef) - 1 :]
    names = model.feature_names if varmod.method.startswith("x.") else ("RHS",)
    return term_names(varmod.dirs, varmod.cuts, names, np.full((1, len(names)), 0.5))


def _renamed(names, response: str, exponent: float) -> list[str]:
    """With the response, or its power, for RHS; a name that is part of another is replaced there, too."""
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


def _share(percent: float, nominal: float) -> str:
    return f"{percent:.0f}{'<' if percent < nominal - 0.5 else ' '} "


def _apart(row: str, titles, texts) -> list[str]:
    """A table of one row with an empty column before each."""
    spread = [[" ", text] for text in texts]
    columns = [[text] for pair in spread for text in pair]
    return print_frame([row], [name for title in titles for name in (" ", title)], columns)


def _read_rsq(name, value) -> float | None:
    return None if value is None else saved.read_number(name, value)
