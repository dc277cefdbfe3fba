"""A model's summary in the layout of R's `summary(earth)`, without R."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..arithmetic import r_format
from .importance import importance_table

__all__ = [
    "anova_order",
    "coef_matrix",
    "model_summary",
    "print_frame",
    "r_format",
    "r_round",
    "spaced",
    "statistics_frame",
    "zapsmall",
]

DIGITS = 7  # R's getOption("digits")
LINE = 80  # R's getOption("width")


def model_summary(
    model,
    call: str,
    nprune: int | None = None,
    weights=None,
    *,
    details: bool = False,
    glm_details: Sequence[str] = (),
    decomp: str = "anova",
    digits: int = DIGITS,
    fixed_point: bool = True,
    formulas: Sequence[str] | None = None,
    offset=None,
    statistics: Sequence[str] | None = None,
) -> str:
    """The text of a fitted model; `call` stands for R's call in its first line.

    `nprune`, the case `weights` and the values of the `offset` are those of the fit, which the model itself
    does not keep. `formulas`, one for each response, stand instead of the coefficients, `statistics` instead
    of the last lines; `glm_details` are lines below the coefficients of a glm.
    """
    lines = [f"Call: {call}", ""]
    if model.glm is None or details:
        lines += [*_earth_part(model, decomp, digits, fixed_point, formulas), ""]
    if model.glm is not None:
        lines += [*_glm_part(model, decomp, digits, fixed_point, formulas), "", *glm_details]
        lines += [*_glm_statistics(model, digits), ""]
    lines.append(_selection(model) + ("" if nprune is None else f" (nprune={nprune:g})"))
    lines.append(f"Termination condition: {_termination(model)}")
    lines.append(_importance(model))
    if offset is not None:
        lines.append(_offset(model.formula, offset, digits))
    if weights is not None:
        lines.append(_values("Weights: ", weights, digits))
    degrees = _degrees(model.dirs[model.selected])
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
    return "\n".join(lines)


def coef_matrix(coef: np.ndarray) -> np.ndarray:
    """Coefficients with one column per response, also where there is only one."""
    return coef.reshape(len(coef), -1)


def _earth_part(model, decomp, digits, fixed_point, formulas) -> list[str]:
    """The coefficients of the terms, or the model as formulas."""
    if formulas is not None:
        return _formulas("", model.response_names, formulas)
    titles = model.response_names
    if model.glm is None and len(titles) == 1:
        titles = ["coefficients"]
    heading = [] if model.glm is None else ["Earth coefficients"]
    return heading + _coefficients(model, model.coef, titles, decomp, digits, fixed_point)


def _glm_part(model, decomp, digits, fixed_point, formulas) -> list[str]:
    if formulas is not None:
        return _formulas("GLM ", model.response_names, formulas[len(model.response_names) :])
    titles = model.response_names
    table = _coefficients(model, model.glm.coef, titles, decomp, digits, fixed_point)
    return ["GLM coefficients", *table]


def _formulas(prefix: str, names, formulas) -> list[str]:
    """Each ends with a newline of its own, and an empty line follows it."""
    parts = [f"{prefix}{name} =\n{text}" for name, text in zip(names, formulas, strict=False)]
    return "\n".join(parts).rstrip("\n").split("\n")


def _coefficients(model, values, titles, decomp, digits, fixed_point) -> list[str]:
    order = list(range(model.n_terms))
    if decomp == "anova":
        order = anova_order(model.dirs[model.selected], model.cuts[model.selected])
    names = [spaced(model.selected_names[k]) for k in order]
    columns = list(coef_matrix(values)[order].T)
    if fixed_point:
        columns = [_fixed_point(column, digits) for column in columns]
    return print_frame(names, titles, [r_format(column, digits) for column in columns])


def _glm_statistics(model, digits: int) -> list[str]:
    """The deviances, rounded as earth rounds them: its digits differ from column to column."""
    glm = model.glm
    several = len(model.response_names) > 1
    converged = np.asarray(glm.converged, dtype=float)
    columns = [
        ("nulldev", _signif(glm.null_deviance, digits)),
        ("df", glm.null_df),
        ("      dev", _signif(glm.deviance, digits)),
        ("df", glm.df),
        (
            "  devratio",
            _signif(_deviance_ratio(glm.null_deviance, glm.deviance), max(2, digits - 4)),
        ),
        ("    AIC", _signif(glm.aic, max(3, digits - 3))),
        ("iters", glm.iterations),
        ("converged", converged),
    ]
    if np.isnan(glm.aic[0]):  # the quasi families have none
        columns[5:7] = [("   iters", glm.iterations)]
    titles, values = zip(*columns, strict=True)
    texts = [r_format(np.atleast_1d(column), max(3, digits - 1)) for column in values]
    table = print_frame(model.response_names if several else [""], titles, texts)
    limit = next(
        (f", maxit={n:g}" for n, ok in zip(glm.iterations, converged, strict=True) if not ok), ""
    )
    return [f"GLM (family {glm.family}, link {glm.link}{limit}):", *table]


def _deviance_ratio(null_deviance, deviance) -> np.ndarray:
    ratio = (np.asarray(null_deviance) - deviance) / null_deviance
    return np.where(ratio < 1e-4, 0.0, ratio)


def _statistics(model, digits: int) -> str:
    statistics = [("GCV", model.gcv), ("RSS", model.rss), ("GRSq", model.grsq), ("RSq", model.rsq)]
    text = "    ".join(f"{name} {r_format([value], digits)[0]}" for name, value in statistics)
    return text if model.glm is None else f"Earth {text}"


def statistics_frame(model, more, digits: int) -> list[str]:
    """A row for each response and one for all of them; `more` are further columns."""
    columns = {
        "GCV": [*model.gcv_per_response, model.gcv],
        "RSS": [*model.rss_per_response, model.rss],
        "GRSq": [*model.grsq_per_response, model.grsq],
        "RSq": [*model.rsq_per_response, model.rsq],
        **more,
    }
    texts = [_column(_fixed_point(np.array(c), digits), digits) for c in columns.values()]
    heading = [""] if model.glm is None else ["", "Earth"]
    return heading + print_frame([*model.response_names, "All"], columns, texts)


def _column(values: np.ndarray, digits: int) -> list[str]:
    """earth leaves out what is missing, which makes a column text: R then shows up to 15 digits."""
    if np.isnan(values).any():
        return ["" if math.isnan(value) else r_format([value], 15)[0] for value in values]
    return r_format(values, digits)


def print_frame(rows, titles, columns) -> list[str]:
    """A matrix as R prints it: names to the left, numbers to the right, columns in blocks of a line."""
    label = max(map(len, rows))
    cells = []
    for title, texts in zip(titles, columns, strict=True):
        width = max(len(title), *map(len, texts))
        cells.append([text.rjust(width) for text in (title, *texts)])
    lines = []
    while cells:
        block, cells = _first_block(cells, LINE - label)
        for name, *texts in zip(("", *rows), *block, strict=True):
            lines.append(" ".join([name.ljust(label), *texts]))
    return lines


def _first_block(cells, room) -> tuple[list, list]:
    """Split the columns after those that leave room in a line, and never before the first."""
    used = count = 0
    for column in cells:
        used += 1 + len(column[0])
        if count and used >= room:
            break
        count += 1
    return cells[:count], cells[count:]


def spaced(name: str) -> str:
    """A term's name as R prints it."""
    return name.replace("*", " * ").replace("--", "- -").replace("`", "")


def _degrees(dirs: np.ndarray) -> np.ndarray:
    return np.count_nonzero(dirs, axis=1)


def anova_order(dirs: np.ndarray, cuts: np.ndarray) -> list[int]:
    """Positions by degree, linear ones first, then by predictors, cut, and direction of the first hinge."""

    def key(t):
        used = np.flatnonzero(dirs[t])
        if len(used) == 0:
            return (0, 0, 0, 0.0, 0)
        first = used[0]
        # earth sorts the first three predictors as one number with three digits to each.
        predictors = sum(
            (j + 1) * weight for j, weight in zip(used, (10**6, 10**3, 1), strict=False)
        )
        linear = np.sum(dirs[t] == 2)
        return (len(used), -int(linear), int(predictors), cuts[t, first], int(dirs[t, first] == 1))

    return sorted(range(len(dirs)), key=key)


def _selection(model) -> str:
    used = len(model.used_features())
    verb = "Selected" if model.glm is None else "Earth selected"
    text = (
        f"{verb} {model.n_terms} of {len(model.dirs)} terms, and {used} of "
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
    if model.n_terms > 1 and model.prune_terms.size == 0:
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
    """A logarithm is shown by what it is taken of."""
    label = formula.variables[formula.offset_variable].label
    name = label.removeprefix("offset(")[:-1]
    head = f"Offset: {''.join(name.split())} with values "
    if name.startswith("log("):
        return _values(head, np.exp(values), digits, "log({})")
    return _values(head, values, digits)


def _values(head: str, values, digits: int, each: str = "{}") -> str:
    """The first values, cut where the line ends."""
    text = ", ".join(each.format(r_format([value], digits)[0]) for value in values[:30])
    room = max(25, LINE - len(head) - 5)
    if len(text) > room:
        text = text[: room - 3].removesuffix(".") + "..."
    return head + text


def _fixed_point(values: np.ndarray, shown: int) -> np.ndarray:
    """R's zapsmall on three or more."""
    return values if len(values) < 3 else zapsmall(values, shown + 1)


def zapsmall(values: np.ndarray, digits: int) -> np.ndarray:
    """As R's: what is small beside the largest is rounded away."""
    largest = np.nanmax(np.abs(values), initial=0.0)
    if largest > 0:
        digits = (
            0 if math.isinf(largest) else max(0, math.floor(digits - math.log10(largest) + 0.5))
        )
    return r_round(values, digits)


def r_round(values: np.ndarray, digits: int) -> np.ndarray:
    """R's round(): the closer one of the two neighbours with so many decimals, the even one of a tie.

    numpy's differs in the last bit, which can decide a digit that is printed.
    """
    power, square, rest = 1.0, 10.0, digits
    while rest:  # R's order of products, which rounds above 1e22
        power *= square if rest & 1 else 1.0
        square, rest = square * square, rest >> 1
    if math.isinf(power):  # more decimals than there are
        return values
    with np.errstate(invalid="ignore"):
        scaled = values * power
        low = np.floor(scaled)
        down, up = low / power, np.ceil(scaled) / power
        below, above = values - down, up - values
        is_down = (below < above) | ((below == above) & (low % 2 == 0))
    return np.where(np.isfinite(values), np.where(is_down, down, up), values)


def _signif(values, digits: int) -> np.ndarray:
    return np.array([float(f"{value:.{digits - 1}e}") for value in np.atleast_1d(values)])
