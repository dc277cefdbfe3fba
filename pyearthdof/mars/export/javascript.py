"""Export of a model as a self-contained JavaScript function.

Numbers are written with all digits and are read back exactly. Names and levels are written as ASCII JSON
strings without `<`, so the source can be embedded in any HTML page.
"""

from __future__ import annotations

import json
import math
import re
from functools import cache
from importlib.resources import files

from ...exceptions import InvalidInputError
from ..components.variance import ON_FIT, SD_OF_ABSOLUTE
from .inputs import (
    TYPES,
    Inputs,
    coefficients,
    distance,
    link_of,
    model_inputs,
    model_terms,
    products,
    summands,
)
from .links import MEANS, NORMAL_SCALE, NORMAL_STRETCH, normal_series, render_mean

JAVASCRIPT_TYPES = (*TYPES, "terms", "proba", "sd")
RESERVED = {
    "arguments", "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default",
    "delete", "do", "else", "enum", "eval", "export", "extends", "false", "finally", "for", "function", "if",
    "implements", "import", "in", "instanceof", "interface", "let", "new", "null", "package", "private",
    "protected", "public", "return", "static", "super", "switch", "this", "throw", "true", "try", "typeof",
    "undefined", "var", "void", "while", "with", "yield", "Math", "Number", "String", "Object", "NaN",
    "TypeError", "RangeError", "JSON", "Infinity",
}  # fmt: skip

FUNCTIONS = {
    "Add": "({} + {})", "Sub": "({} - {})", "Div": "({} / {})", "USub": "-{}", "Gt": "{} > {}",
    "Lt": "{} < {}", "where": "({} ? {} : {})", "clip": "Math.min(Math.max({}, {}), {})",
    "least": "Math.max({}, {})", "most": "Math.min({}, {})", "exp": "Math.exp({})", "expm1": "Math.expm1({})",
    "atan": "Math.atan({})", "normal": "normal({})", "square": "({0} * {0})", "reciprocal": "(1.0 / {})",
    "reciprocal_root": "(1.0 / Math.sqrt({}))",
}  # fmt: skip


def to_javascript(model, name: str = "predict", *, type: str = "response") -> str:
    """Write a model as the source of a JavaScript function; arguments as in `Earth.to_javascript`.

    The function takes an object with one property per column, `predict({"car speed": 25, kind: "low"})`, and
    returns a number, or an array for several responses. Factors are passed by level, as text, and booleans
    as such. A missing or non-numeric column raises a TypeError, an unknown level a RangeError. The function
    depends only on JavaScript's Math and can be pasted into a page.
    """
    if type not in JAVASCRIPT_TYPES:
        raise InvalidInputError(
            f"type={type!r} but it should be one of {', '.join(JAVASCRIPT_TYPES)}"
        )
    _check_name(name)
    if type == "sd" and model.varmod is None:
        raise InvalidInputError(
            "type='sd' but the model has no variance model: fit with varmod_method"
        )
    inputs = model_inputs(model)
    raw = [f"x{k}" for k in range(len(inputs.predictors))]
    columns = inputs.columns(raw, _entry)
    terms = model_terms(model, inputs, raw, columns, _hinge)
    result = _RESULTS.get(type, _predictions)(model, inputs, columns, terms, type)
    steps = [_input(k, predictor) for k, predictor in enumerate(inputs.predictors)]
    body = [*_needed(inputs, result), *steps, *result]
    lines = ['"use strict";', *"\n".join(body).split("\n")]
    inner = "\n".join(f"  {line}" for line in lines)
    return f"{_comment(model, inputs, type)}function {name}(row) {{\n{inner}\n}}\n"


def javascript_means() -> str:
    """Source of an object with the mean of every link as a function of the linear predictor."""
    means = "".join(f"  {json.dumps(link)}: (eta) => {_mean(link, 'eta')},\n" for link in MEANS)
    inner = f"{_normal()}\nreturn {{\n{means}}};"
    return f"const pyearthdofMeans = (() => {{\n{inner}\n}})();\n"


def _mean(link: str, eta: str) -> str:
    return render_mean(link, eta, _number, FUNCTIONS)


def _number(value: float) -> str:
    return repr(value) if math.isfinite(value) else "Infinity"


@cache
def _helpers() -> dict[str, str]:
    """Helper functions of the generated code, by the first name that each defines.

    The helper for levels formats numbers like R's as.character, with 15 digits; JavaScript's exponents have
    no leading zero.
    """
    text = files(__package__).joinpath("helpers.js").read_text(encoding="utf-8")
    blocks = text.rstrip().split("\n\n")
    return {block.split(maxsplit=2)[1]: block for block in blocks}


def _normal() -> str:
    text = (
        _helpers()["normal"]
        .replace("SCALE", repr(NORMAL_SCALE))
        .replace("STRETCH", repr(NORMAL_STRETCH))
    )
    return text.replace("SERIES", _list(map(repr, normal_series())))


def _check_name(name) -> None:
    fine = isinstance(name, str) and re.fullmatch(r"[A-Za-z_$][A-Za-z0-9_$]*", name)
    if not fine or name in RESERVED:
        raise InvalidInputError(f"name={name!r} but it should be a JavaScript identifier")


def _quoted(text: str) -> str:
    """Return an ASCII string for JavaScript that cannot close a script element."""
    return json.dumps(text).replace("<", "\\u003c").replace(">", "\\u003e")


def _list(values) -> str:
    return "[" + ", ".join(values) + "]"


def _input(position: int, predictor) -> str:
    name = _quoted(predictor.name)
    if predictor.kind in ("number", "logical"):
        found = f"{predictor.kind}({name})"
    else:
        found = f"level({name}, {_list(map(_quoted, predictor.levels))})"
    if predictor.fill is not None:
        found = f"isMissing({name}) ? null : {found}"
    return f"const x{position} = {found};"


def _entry(source: str, feature, predictor) -> str:
    """Return the value of a factor's column at the position of a level; booleans are used directly."""
    if feature.kind == "missing":
        return f"({source} === null ? 1.0 : 0.0)"
    if feature.kind == "number":
        return f"({source} === null ? {feature.level!r} : {source})"
    if predictor.kind == "logical":
        return source if predictor.fill is None else f"({source} === null ? 0.0 : {source})"
    if feature.kind == "contrast":
        found = _list(map(repr, feature.entries(predictor.levels))) + f"[{source}]"
        return found if predictor.fill is None else f"({source} === null ? 0.0 : {found})"
    return f"({source} === {predictor.levels.index(feature.level)} ? 1.0 : 0.0)"


def _hinge(column: str, direction: int, cut: float) -> str:
    return f"Math.max({distance(column, direction, cut)}, 0.0)"


def _sum(coef, terms) -> str:
    parts = summands(coef, terms)
    return parts[0] if len(parts) == 1 else "(" + "\n  ".join(parts) + ")"


def _predictions(model, inputs: Inputs, columns, terms, type: str) -> list[str]:
    sums = [_sum(coef, terms) for coef in coefficients(model, type, inputs)]
    steps = [f"const eta{k} = {text};" for k, text in enumerate(sums)]
    results = [_mean(link_of(model, type), f"eta{k}") for k in range(len(sums))]
    if model.coef.ndim == 1:
        return [*steps, f"return {results[0]};"]
    return [*steps, "return [", *(f"  {result}," for result in results), "];"]


def _contributions(model, inputs: Inputs, columns, terms, type: str) -> list[str]:
    rows = []
    for coef in coefficients(model, "link", inputs):
        pairs = zip(coef.tolist(), terms, strict=True)
        each = [" * ".join([repr(value), *factors]) for value, factors in pairs]
        rows.append("[\n" + "".join(f"  {text},\n" for text in each) + "]")
    if model.coef.ndim == 1:
        return [f"return {rows[0]};"]
    return ["return [", *(f"{row}," for row in rows), "];"]


def _probabilities(model, inputs: Inputs, columns, terms, type: str) -> list[str]:
    """Lines that compute `EarthClassifier.predict_proba`."""
    *steps, last = "\n".join(_predictions(model, inputs, columns, terms, "response")).split(
        "return "
    )
    raw = f"{steps[0]}const raw = [].concat({last.rstrip(';')}).map((p) => Math.min(Math.max(p, 0.0), 1.0));"
    if len(model.response_names) == 1:
        return [raw, "return [1.0 - raw[0], raw[0]];"]
    return [
        raw,
        "const total = raw.reduce((sum, p) => sum + p, 0.0);",
        "return raw.map((p) => (total > 0.0 ? p / total : 1.0 / raw.length));",
    ]


def _deviation(model, inputs: Inputs, columns, terms, type: str) -> list[str]:
    """Lines that compute `VarianceModel.sd`."""
    variance, steps = model.varmod, []
    if variance.method in ON_FIT:
        steps.append(f"const fit = {_sum(coefficients(model, 'earth', inputs)[0], terms)};")
        base = "fit" if float(variance.exponent).is_integer() else "Math.max(fit, 0.0)"
        steps.append(f"const base = {_power(base, variance.exponent)};")
        base = "Math.max(base, 0.0)" if variance.method.startswith("power") else "base"
        steps.append(f"const size = {_power(base, variance.power)};")
        columns = ["size"]
    terms = products(variance.dirs, variance.cuts, columns, _hinge)
    pairs = zip(variance.coef.tolist(), terms, strict=True)
    total = " + ".join(" * ".join([repr(coef), *factors]) for coef, factors in pairs)
    least = variance.min_sd / SD_OF_ABSOLUTE
    steps.append(f"const absolute = {total};")
    return [*steps, f"return {SD_OF_ABSOLUTE!r} * Math.max(absolute, {least!r});"]


def _power(base: str, exponent: float) -> str:
    return base if exponent == 1 else f"Math.pow({base}, {float(exponent)!r})"


_RESULTS = {"terms": _contributions, "proba": _probabilities, "sd": _deviation}


def _needed(inputs: Inputs, result: list[str]) -> list[str]:
    """Return the helper functions used by this model."""
    kinds = {predictor.kind for predictor in inputs.predictors}
    needed = {
        "value": True,
        "isMissing": any(p.fill is not None for p in inputs.predictors),
        "number": "number" in kinds,
        "logical": "logical" in kinds,
        "text": bool(kinds & {"factor", "ordered"}),
    }
    found = [_helpers()[name] for name, is_needed in needed.items() if is_needed]
    return [*found, _normal()] if "normal(" in "\n".join(result) else found


def _comment(model, inputs: Inputs, type: str) -> str:
    what = ", ".join(map(_quoted, model.response_names))
    if model.glm is not None:
        what += f" ({_quoted(model.glm.family)}, link {model.glm.link}), type {type}"
    lines = [f"MARS model of {what}."]
    for predictor in inputs.predictors:
        kind = {"number": "a number", "logical": "true or false"}.get(predictor.kind)
        kind = kind or "one of " + ", ".join(map(_quoted, predictor.levels))
        gap = "" if predictor.fill is None else ", or null where it is missing"
        lines.append(f"row[{_quoted(predictor.name)}]: {kind}{gap}")
    return "".join(f"// {line}\n" for line in lines)
