"""Export of a model as the source of a Python function, with exact numbers."""

from __future__ import annotations

import keyword
import math
import re
import unicodedata

import numpy as np

from ..._utils.checks import check_choice
from ...exceptions import InvalidInputError
from .inputs import TYPES, coefficients, distance, link_of, model_inputs, model_terms, summands
from .links import render_mean

# Names used by the generated functions, and a reserved one.
TAKEN = {
    "ValueError", "__debug__", "abs", "bool", "float", "format", "hasattr", "isinstance", "level_text",
    "math", "max", "min", "repr", "str",
}  # fmt: skip
FUNCTIONS = {
    "Add": "({} + {})", "Sub": "({} - {})", "Div": "({} / {})", "USub": "-{}", "Gt": "{} > {}",
    "Lt": "{} < {}", "where": "({1} if {0} else {2})", "clip": "min(max({}, {}), {})",
    "least": "max({}, {})", "most": "min({}, {})", "exp": "math.exp({})", "expm1": "math.expm1({})",
    "atan": "math.atan({})", "normal": "0.5 * math.erfc(-{} / math.sqrt(2.0))", "square": "{0} * {0}",
    "reciprocal": "1.0 / {0} if {0} != 0.0 else math.copysign(math.inf, {0})",
    "reciprocal_root": "1.0 / math.sqrt({0}) if {0} > 0.0 else math.inf if {0} == 0.0 else math.nan",
}  # fmt: skip
LEVEL_TEXT = """\
def level_text(level):
    if hasattr(level, "item"):
        level = level.item()
    if isinstance(level, bool):
        return "TRUE" if level else "FALSE"
    return format(level, ".15g") if isinstance(level, float) else str(level)
"""


def to_python(model, name: str = "predict", *, type: str = "response") -> str:
    """Write a model as the source of a plain Python function; arguments as in `Earth.to_python`.

    The function takes one number per predictor, in the order of the training columns or by keyword, and
    returns a number, or a tuple for several responses. Its doc string maps arguments to columns. Factors are
    passed by level, as text or in the type of the categories, and booleans as such; an unknown level raises
    a ValueError. The function imports at most `math`, required by some links. If the formula of the model
    transforms columns, as in log(x), the arguments are the columns of R's model matrix.
    """
    check_choice("type", type, TYPES)
    _check_function_name(name)
    inputs = model_inputs(model)
    predictors = inputs.predictors
    names = _identifiers([p.name for p in predictors] + list(model.feature_names))
    arguments, variables = names[: len(predictors)], iter(names[len(predictors) :])
    used = np.any(model.dirs[model.selected] != 0, axis=0)
    steps = []
    columns = inputs.columns(arguments, _level)
    for j, (variable, feature) in enumerate(zip(variables, inputs.features, strict=True)):
        if feature.kind != "number" or feature.level is not None:
            if used[j]:
                steps.append(f"{variable} = {columns[j]}")
            columns[j] = variable
    terms = model_terms(model, inputs, arguments, columns, _hinge)
    sums = [_sum(summands(coef, terms)) for coef in coefficients(model, type, inputs)]
    checks = [line for a, p in zip(arguments, predictors, strict=True) for line in _check(a, p)]
    if any(predictor.levels and predictor.kind != "logical" for predictor in predictors):
        checks = [LEVEL_TEXT, *checks]
    body = [_doc_string(model, arguments, predictors, type), *checks, *steps]
    body += _return(sums, link_of(model, type))
    source = f"def {name}({', '.join(arguments)}):\n" + _indented("\n".join(body)) + "\n"
    return f"import math\n\n\n{source}" if "math." in source else source


def _check_function_name(name) -> None:
    fine = isinstance(name, str) and name.isidentifier() and not keyword.iskeyword(name)
    if not fine or unicodedata.normalize("NFKC", name) != name:
        raise InvalidInputError(f"name={name!r} but it should be a Python identifier")
    if name in TAKEN:
        raise InvalidInputError(
            f"name={name!r} but it should be another one, which the function does not use itself"
        )


def _hinge(column: str, direction: int, cut: float) -> str:
    return f"max({distance(column, direction, cut)}, 0.0)"  # this order propagates NaN


def _sum(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else "(\n" + _indented("\n".join(parts)) + "\n)"


def _number(value: float) -> str:
    return repr(value) if math.isfinite(value) else "math.inf"


def _return(sums, link) -> list[str]:
    if link == "identity":
        results = sums
    else:
        names = [f"eta{k}" if len(sums) > 1 else "eta" for k in range(1, len(sums) + 1)]
        steps = [f"{name} = {text}" for name, text in zip(names, sums, strict=True)]
        results = [render_mean(link, name, _number, FUNCTIONS) for name in names]
    lines = [] if link == "identity" else steps
    if len(results) == 1:
        return [*lines, f"return {results[0]}"]
    inner = "".join(f"{_indented(result)},\n" for result in results)
    return [*lines, f"return (\n{inner})"]


def _check(argument, predictor) -> list[str]:
    """Lines that reject an unknown level."""
    if not predictor.levels:
        return []
    logical = predictor.kind == "logical"
    known = "(False, True)" if logical else repr(predictor.levels)
    text = f"level_text({argument})"
    if predictor.fill is not None:
        text = f"None if {argument} is None or {argument} != {argument} else {argument if logical else text}"
    lines = [] if logical and predictor.fill is None else [f"{argument} = {text}"]
    message = f"{predictor.name} should be one of {known}, not "
    present = "" if predictor.fill is None else f"{argument} is not None and "
    return [
        *lines,
        f"if {present}{argument} not in {known}:",
        f"    raise ValueError({message!r} + repr({argument}))",
    ]


def _level(argument, feature, predictor) -> str:
    if predictor.kind == "number":
        gap = f"{argument} is None or {argument} != {argument}"  # None or NaN
        return (
            f"{feature.level!r} if {gap} else {argument}"
            if feature.kind == "number"
            else f"1.0 if {gap} else 0.0"
        )
    if feature.kind == "missing":
        return f"1.0 if {argument} is None else 0.0"
    if feature.kind == "contrast":
        found = f"{feature.level!r}[{argument}]"
        return found if predictor.fill is None else f"0.0 if {argument} is None else {found}"
    test = argument if predictor.kind == "logical" else f"{argument} == {feature.level!r}"
    return f"1.0 if {test} else 0.0"


def _identifiers(names) -> list[str]:
    """Distinct Python identifiers derived from the names."""
    found: list[str] = []
    for name in names:
        base = re.sub(r"\W", "_", unicodedata.normalize("NFKC", name))
        if not base.isidentifier():
            base = "x_" + re.sub(r"[^0-9A-Za-z_]", "_", base)
        if keyword.iskeyword(base) or base in TAKEN or re.fullmatch(r"eta\d*", base):
            base += "_"
        identifier, k = base, 1
        while identifier in found:
            k += 1
            identifier = f"{base}_{k}"
        found.append(identifier)
    return found


def _doc_string(model, arguments, predictors, type) -> str:
    what = ", ".join(map(repr, model.response_names))
    kind = {"response": "mean", "link": "linear predictor", "earth": "least-squares fit"}[type]
    title = f"MARS model of {what}."
    if model.glm is not None:
        title = f"MARS model of {what}: the {kind} ({model.glm.family}, link {model.glm.link})."
    lines = [title, ""]
    for argument, predictor in zip(arguments, predictors, strict=True):
        kind = (
            "True or False"
            if predictor.kind == "logical"
            else ", ".join(map(repr, predictor.levels))
        )
        gap = "" if predictor.fill is None else ", or None where it is missing"
        lines.append(
            f"{argument} : column {predictor.name!r}" + (f", {kind}" if kind else "") + gap
        )
    text = "\n".join(lines).replace("\\", "\\\\").replace('"', '\\"')
    text = "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)
    return f'"""{text}\n"""'


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else line for line in text.split("\n"))
