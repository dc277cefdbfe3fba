"""R code that fits the same model."""

from __future__ import annotations

import numpy as np

from ..data.design import default_names
from ..options import EarthOptions


def r_code(model, about) -> str:
    """Return lines of R; features that R lacks are reported in a comment."""
    lines = ["# x is the matrix of predictors, y the response"]
    if model.formula is not None or _is_named(model, about):
        lines = ["# data is a data frame with the columns of the model"]
    if about.mda_options is not None:
        lines.append("library(mda)")
        call = [_x(model, about), _y(model, about)]
        call += [f"{name} = {_value(v)}" for name, v in about.mda_options.items()]
        return "\n".join([*lines, *_columns(model, about), _call("fit <- mars", call)])
    lines.append("library(earth)")
    lines += _columns(model, about)
    options = about.options or EarthOptions(
        n_features=len(model.feature_names),
        degree=model.degree,
        penalty=model.penalty,
        nk=model.nk,
        thresh=model.thresh,
        pmethod=model.pmethod,
    )
    given, notes = _arguments(model, about, options)
    if about.seed is not None and options.nfold > 1:
        lines.append(f"set.seed({about.seed})")
    lines += [f"# {text}" for text in notes]
    if options.interactions is not None:
        lines += _allowed(model, options)
        given.append("allowed = allowed")
    return "\n".join([*lines, _call("fit <- earth", given), "summary(fit)"])


def _allowed(model, options: EarthOptions) -> list[str]:
    """R function that restricts interactions to the given groups of columns."""
    names = [
        f"c({', '.join(_text(model.feature_names[j]) for j in group)})"
        for group in options.interactions or ()
    ]
    return [
        *_call("groups <- list", names).splitlines(),
        "allowed <- function(degree, pred, parents, namesx, first) {",
        "  others <- namesx[parents != 0]",
        "  all(vapply(others, function(other) {",
        "    any(vapply(groups, function(group) all(c(other, namesx[pred]) %in% group), TRUE))",
        "  }, TRUE))",
        "}",
    ]


def _is_named(model, about) -> bool:
    return (
        about.is_named
        or model.columns is not None
        or model.feature_names != default_names(len(model.feature_names))
    )


def _columns(model, about) -> list[str]:
    """Lines that convert factors, with the levels of the model."""
    lines = []
    for column in model.raw_columns:
        place = f"data[[{_text(column.name)}]]"
        if column.kind in ("factor", "ordered"):
            ordered = ", ordered = TRUE" if column.kind == "ordered" else ""
            levels = ", ".join(_text(level) for level in column.levels)
            lines.append(f"{place} <- factor({place}, levels = c({levels}){ordered})")
        elif column.kind == "logical":
            lines.append(f"{place} <- as.logical({place})")
    return lines


def _arguments(model, about, options: EarthOptions) -> tuple[list[str], list[str]]:
    given, notes = [], []
    if model.formula is not None:
        given += [model.formula.text, "data = data"]
        if about.classes is not None:
            notes.append("the response is a factor whose levels are the classes")
    else:
        given += [_x(model, about), _y(model, about)]
    if about.has_weights:
        given.append("weights = weights")
    if about.options is None:
        notes.append("what else was given to the fit is not in the file of the model")
    passed = options.in_r()
    if about.options is None and model.glm is not None:
        passed["glm"] = {"family": model.glm.family, "link": model.glm.link}
    for name, value in passed.items():
        if name == "allowed":
            notes.append("the fit had a Python function as allowed, which has to be written in R")
        elif name == "glm":
            given.append(f"glm = {_glm(value)}")
        elif name == "linpreds":
            given.append(f"linpreds = c({', '.join(str(int(v)) for v in value)})")
        else:
            given.append(f"{name} = {_value(value)}")
    if options.glm_l2:
        notes.append(
            f"R has no ridge penalty, which was {options.glm_l2:g} here: its numbers differ"
        )
    if options.monotone:
        named = ", ".join(_text(model.feature_names[j]) for j, _ in options.monotone)
        notes.append(f"R has no monotone effects, here of {named}: its model differs")
    if model.columns is not None and any(
        column.fill is not None for column in model.columns.columns
    ):
        notes.append("R refuses missing values, which had indicators here: its model differs")
    return given, notes


def _x(model, about) -> str:
    if not _is_named(model, about):
        return "x = x"
    names = ", ".join(_text(name) for name in model.raw_names)
    return f"x = data[, c({names}), drop = FALSE]"


def _y(model, about) -> str:
    if about.classes is not None:
        levels = ", ".join(_text(level) for level in about.classes)
        return f"y = factor(y, levels = c({levels}))"
    if not _is_named(model, about) or model.response_names == ("y",):
        return "y = y"
    names = ", ".join(_text(name) for name in model.response_names)
    if len(model.response_names) == 1:
        return f"y = data[, {names}, drop = FALSE]"
    return f"y = data[, c({names})]"


def _glm(value) -> str:
    link = f"(link = {_text(value['link'])})" if "link" in value else ""
    rest = "".join(f", {k} = {_value(v)}" for k, v in value.items() if k not in ("family", "link"))
    return f"list(family = {value['family']}{link}{rest})"


def _call(function: str, arguments: list[str]) -> str:
    line = f"{function}({', '.join(arguments)})"
    if len(line) <= 90:
        return line
    return f"{function}(\n" + ",\n".join(f"  {argument}" for argument in arguments) + "\n)"


def _value(value) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (list, tuple, np.ndarray)):
        return f"c({', '.join(_value(v) for v in np.asarray(value).tolist())})"
    number = float(value)
    return f"{number:g}" if number == float(f"{number:g}") else repr(number)


def _text(text) -> str:
    found = []
    for letter in str(text):
        if letter in '"\\':
            found.append("\\" + letter)
        elif letter == "\n":
            found.append("\\n")
        elif letter < " " or letter == "\x7f":
            found.append(f"\\x{ord(letter):02x}")
        else:
            found.append(letter)
    return '"' + "".join(found) + '"'
