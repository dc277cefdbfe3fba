"""A model as a formula, in the five styles of R's `format(earth)`, and as a table of its terms."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from ..._utils.checks import check_choice, check_flag, refusal
from ..printing import DIGITS, check_digits, r_format
from .summary import anova_order, coef_matrix

STYLES = ("h", "pmax", "max", "C", "bf")
DECOMPOSITIONS = ("anova", "none")
C_MIN_DIGITS = 5  # minimum in the C code of earth
CUT_AT_STARS = [5, 3, 4]  # first earth version that tabulates the factors in style "bf"
COLUMNS: dict[str, type] = {
    "term": object, "number": int, "response": object, "coef": float, "degree": int, "predictor": object,
    "column": object, "level": object, "shape": object, "knot": float,
}  # fmt: skip
SHAPES = {2: "linear", 1: "above", -1: "below"}


def format_model(model, style: str = "h", **options) -> str:
    """Write a fitted model as a formula: the text of R's `cat(format(fit, style=...))`.

    Responses are written in sequence, each with its own intercept; the linear predictors of a GLM part
    follow the formulas of the earth model. Arguments are as in `formulas_of`.
    """
    return " ".join(formulas_of(model, style, **options))  # cat puts a space between its strings


def formulas_of(
    model,
    style: str,
    *,
    decomp: str = "anova",
    digits: int = DIGITS,
    use_names: bool = True,
    colon_char: str = ":",
    earth_version: str | None = None,
) -> list[str]:
    """Return one formula per response, then one for the GLM of each response; each ends with a newline.

    Arguments are as in `Earth.format`. Style "h" uses the cuts of the term names for any `digits`; style "C"
    uses at least 5 digits, and `*` for a colon. `earth_version` selects the table of style "bf", by default
    the newest: before 5.3.4, earth split the terms after each parenthesis, which joined predictors that
    enter linearly with their neighbours.
    """
    check_choice("style", style, STYLES)
    check_choice("decomp", decomp, DECOMPOSITIONS)
    check_digits(digits)
    check_flag("use_names", use_names)
    if not isinstance(colon_char, str):
        raise refusal("colon_char", colon_char, "a string")
    if style == "C":
        digits, colon_char = max(digits, C_MIN_DIGITS), "*"
    dirs, cuts = model.dirs[model.selected], model.cuts[model.selected]
    order = anova_order(dirs, cuts) if decomp == "anova" else list(range(len(dirs)))
    names = [model.selected_names[k] for k in order]
    if style == "h":
        terms = names
    elif style == "bf":
        short = _short_names(names, earth_version)
        terms = _named_terms(names, short)
    else:
        labels = _labels(model, style, use_names)
        terms = _hinge_terms(dirs[order], cuts[order], labels, style, digits)
    terms = _unique([term.replace(":", colon_char) for term in terms])
    indent = "" if style == "C" else "  "
    table = ""
    if style == "bf":
        table = "\n" + "".join(f"{name:>6}  {piece}\n" for piece, name in short)
    return [_formula(column[order], terms, digits, indent) + table for column in _responses(model)]


def _responses(model) -> list[np.ndarray]:
    """Coefficients of each response in turn, those of the GLM after those of earth."""
    columns = list(coef_matrix(model.coef).T)
    return columns if model.glm is None else columns + list(coef_matrix(model.glm.coef).T)


def _formula(coef, terms, digits, indent) -> str:
    lines = [f"{indent}{coef[0]:.{digits}g}"]
    sizes = np.abs(coef[1:])
    width = max(map(len, r_format(sizes, digits)), default=0)
    for value, size, term in zip(coef[1:], sizes, terms[1:], strict=True):
        sign = "-" if value < 0 else "+"
        lines.append(f"  {sign} {r_format([size], digits)[0]:>{width}} * {term}")
    return "\n".join(lines) + "\n"


def _labels(model, style, use_names) -> list[str]:
    count = len(model.feature_names)
    if style == "C":
        return [f"x[{j}]" for j in range(count)]
    return list(model.feature_names) if use_names else [f"x[,{j + 1}]" for j in range(count)]


def _hinge_terms(dirs, cuts, labels, style, digits) -> list[str]:
    """Terms as products of factors, padded to align in columns."""
    used = np.flatnonzero(np.any(dirs != 0, axis=0))
    texts = [labels[j] for j in used]
    texts += [r_format([cut], digits)[0] for cut in cuts[:, used].ravel()]
    width = max(map(len, texts), default=0)
    function = "pmax" if style == "pmax" else "max"

    def padding(label):  # R's sprintf counts bytes if the width is a star
        return " " * (width - len(label.encode()))

    def factor(direction, cut, label):
        if direction == 2:  # as wide as pmax, even if the function is max
            return f"{label}{padding(label)} {'':>{width}}            "
        knot = f"{r_format([cut], digits)[0]:>{width}}"
        label = padding(label) + label
        left, right = (label, knot) if direction == 1 else (knot, label)
        return f"{function}(0, {left} - {right}) "

    return [
        "* ".join(factor(row[j], cut[j], labels[j]) for j in np.flatnonzero(row))
        for row, cut in zip(dirs, cuts, strict=True)
    ]


def _named_terms(names, short) -> list[str]:
    terms = names
    for piece, name in short:
        terms = [term.replace(piece, name) for term in terms]
    return [term.replace("*", " * ") for term in terms]


def _short_names(names, earth_version) -> list[tuple[str, str]]:
    """Return the distinct pieces of the terms with their short names, the intercept first."""
    is_old = earth_version is not None and _numbers(earth_version) < CUT_AT_STARS
    pieces = "*".join(names).split("*")
    if is_old:  # earth marked its own cuts with an at sign, which therefore splits, too
        pieces = re.split(r"(?<=\))|@", "".join(names).replace("*", ""))
    distinct = dict.fromkeys(piece for piece in pieces if piece)
    return [(piece, f"bf{k}") for k, piece in enumerate(distinct) if k > 0]


def _numbers(version) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


def _unique(terms) -> list[str]:
    """R's make.unique: a repeated term gets the first free suffix _1, _2, ..."""
    taken, seen, unique = set(terms), set(), []
    for term in terms:
        name, k = term, 0
        while name in seen or (k and name in taken):
            k += 1
            name = f"{term}_{k}"
        seen.add(name)
        unique.append(name)
    return unique


def term_table(model, *, type: str = "response") -> pd.DataFrame:
    """Terms, knots and coefficients of a model, one row per factor of each selected term.

    `term` is R's name of the term, `number` its 0-based position, `degree` its number of factors, and `coef`
    its coefficient for `response`, from the generalised linear model unless `type` is "earth". For each
    factor, `predictor` is the expanded column, `column` the raw one, `level` the level of an indicator, and
    `shape` is "linear", "above" for max(0, x - knot), or "below" for max(0, knot - x). The intercept has
    the shape "constant" and no predictor. See `Earth.to_frame` for an example.
    """
    if type not in ("response", "link", "earth"):
        raise refusal("type", type, "one of response, link, earth")
    coef = coef_matrix(model.coef if model.glm is None or type == "earth" else model.glm.coef)
    levels = _levels(model)
    rows = [
        (name, number, response, column[number], *factor)
        for response, column in zip(model.response_names, coef.T.tolist(), strict=True)
        for number, name in enumerate(model.selected_names)
        for factor in _factors(model, model.selected[number], levels)
    ]
    values = dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))
    return pd.DataFrame({n: pd.Series(v, dtype=COLUMNS[n]) for n, v in values.items()})


def _factors(model, term: int, levels) -> list[tuple]:
    row, cuts = model.dirs[term], model.cuts[term]
    used = np.flatnonzero(row)
    if not len(used):
        return [(0, None, None, None, "constant", np.nan)]
    return [
        (
            len(used),
            model.feature_names[j],
            ", ".join(name for name in model.raw_names if name in model.owners[j]),
            levels[j],
            SHAPES[int(row[j])],
            np.nan if row[j] == 2 else float(cuts[j]),
        )
        for j in used
    ]


def _levels(model) -> list[str | None]:
    """Return for each predictor the level that it indicates, or None."""
    if model.columns is None:
        return [None] * len(model.feature_names)
    return [s.level if s.kind == "level" else None for s in model.columns.sources]
