"""A model as a JavaScript function that needs nothing else: for pages, servers and spreadsheets.

Numbers are written so that they come back to the last bit. Names and levels are written as JSON strings in
ASCII without `<`, so that the source may stand in a page, whatever they are.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

import numpy as np

from ...exceptions import InvalidInputError
from ..components.glm import CAUCHIT, PROBIT
from ..components.variance import ON_FIT, ON_PREDICTORS, SD_OF_ABSOLUTE
from .inputs import Inputs, model_inputs
from .python import EPSILON, TYPES, _coefficients, _difference, _link, _products, _summands
from .series import NORMAL_SCALE, normal_series

__all__ = ["JAVASCRIPT_TYPES", "to_javascript"]

JAVASCRIPT_TYPES = (*TYPES, "terms", "proba", "sd")
RESERVED = {
    "arguments", "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default",
    "delete", "do", "else", "enum", "eval", "export", "extends", "false", "finally", "for", "function", "if",
    "implements", "import", "in", "instanceof", "interface", "let", "new", "null", "package", "private",
    "protected", "public", "return", "static", "super", "switch", "this", "throw", "true", "try", "typeof",
    "undefined", "var", "void", "while", "with", "yield", "Math", "Number", "String", "Object", "NaN",
    "TypeError", "RangeError", "JSON", "Infinity",
}  # fmt: skip

# Means from the linear predictor eta, with R's limits.
MEANS = {
    "identity": "{eta}",
    "logit": "(Math.abs({eta}) <= 30.0 ? 1.0 / (1.0 + Math.exp(-{eta})) : "
    f"Math.min(Math.max({{eta}}, {EPSILON}), 1.0 - {EPSILON}))",
    "probit": "normal({eta})",
    "cauchit": "cauchy({eta})",
    "cloglog": f"Math.min(Math.max(-Math.expm1(-Math.exp({{eta}})), {EPSILON}), 1.0 - {EPSILON})",
    "log": f"Math.max(Math.exp({{eta}}), {EPSILON})",
    "inverse": "(1.0 / {eta})",
    "sqrt": "({eta} * {eta})",
    "1/mu^2": "(1.0 / Math.sqrt({eta}))",
}
VALUE = """\
const value = (name) => {
  if (!Object.prototype.hasOwnProperty.call(row, name)) throw new TypeError(name + " is missing");
  return row[name];
};"""
NUMBER = """\
const number = (name) => {
  const found = value(name);
  if (typeof found === "number") return found;
  throw new TypeError(name + " should be a number, not " + String(found));
};"""
LOGICAL = """\
const logical = (name) => {
  const found = value(name);
  if (found === true || found === 1) return 1.0;
  if (found === false || found === 0) return 0.0;
  throw new RangeError(name + " should be true or false, not " + String(found));
};"""
# R's as.character of a number has 15 digits; JavaScript's exponents have no leading zero.
LEVEL = """\
const text = (level) => {
  if (level === true) return "TRUE";
  if (level === false) return "FALSE";
  if (typeof level !== "number" || Number.isSafeInteger(level)) return String(level);
  const [digits, exponent] = level.toExponential(14).split("e");
  const power = Number(exponent);
  if (!(power < -4 || power >= 15)) return String(Number(level.toFixed(14 - power)));
  const sign = power < 0 ? "-" : "+";
  const size = String(Math.abs(power)).padStart(2, "0");
  return digits.replace(/0+$/, "").replace(/\\.$/, "") + "e" + sign + size;
};
const level = (name, levels) => {
  const found = value(name);
  const place = levels.indexOf(text(found));
  if (place >= 0) return place;
  throw new RangeError(name + " should be one of " + levels.join(", ") + ", not " + text(found));
};"""
NORMAL = f"""\
const normal = (eta) => {{
  const z = -Math.min(Math.max(eta, {-PROBIT!r}), {PROBIT!r}) / Math.SQRT2;
  const size = Math.abs(z);
  const t = ((size - {NORMAL_SCALE}) / (size + {NORMAL_SCALE}) + 1.0) * {{scale}} - 1.0;
  const series = {{series}};
  let [first, second] = [0.0, 0.0];
  for (let k = series.length - 1; k > 0; k--) [first, second] = [series[k] + 2.0 * t * first - second, first];
  const tail = 0.5 * Math.exp(-size * size) * (series[0] + t * first - second);
  return z < 0.0 ? 1.0 - tail : tail;
}};"""
CAUCHY = f"""\
const cauchy = (eta) => {{
  if (eta >= -1.0 && eta <= 1.0) return 0.5 + Math.atan(eta) / Math.PI;
  if (eta < -1.0) return -Math.atan(1.0 / Math.max(eta, {-CAUCHIT!r})) / Math.PI;
  return 0.5 - Math.atan(1.0 / Math.min(eta, {CAUCHIT!r})) / Math.PI + 0.5;
}};"""


def to_javascript(model, name: str = "predict", *, type: str = "response") -> str:
    """Write a model as the source of a JavaScript function.

    It takes an object with a property for each column, `predict({"car speed": 25, kind: "low"})`, and
    returns a number; an array where the model has several responses. A factor is given by level, as text,
    and a truth value as such. A column that is missing or no number is a TypeError, an unknown level a
    RangeError. It uses nothing but JavaScript's own Math and may be pasted into a page.

    Parameters
    ----------
    model, name
        As in `export.to_python`.
    type : {"response", "link", "earth", "terms", "proba", "sd"}
        The first three as in `export.to_python`. "terms" gives an array with what each term adds, as
        `contributions`, an array of arrays for several responses. "proba" are the probabilities of a
        classifier, in the order of its classes; "sd" is the standard deviation of a new observation by
        the variance model.

    Examples
    --------
    >>> import pandas as pd
    >>> from pyearthdof import Earth
    >>> from pyearthdof.mars.export.javascript import to_javascript
    >>> X = pd.DataFrame({"car speed": [float(v) for v in range(30)]})
    >>> model = Earth(engine="native").fit(X, [2.0 * v for v in range(30)]).model_
    >>> for line in to_javascript(model, "distance").splitlines()[:3]:
    ...     print(line)
    // MARS model of "y".
    // row["car speed"]: a number
    function distance(row) {
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
    parts = _Parts.of(model)
    result = _RESULTS.get(type, _predictions)(model, parts, type)
    body = [*_helpers(parts.inputs, result), *parts.steps, *result]
    lines = ['"use strict";', *"\n".join(body).split("\n")]
    inner = "\n".join(f"  {line}" for line in lines)
    return f"{_comment(model, parts.inputs, type)}function {name}(row) {{\n{inner}\n}}\n"


@dataclass(frozen=True)
class _Parts:
    """The columns of the data and of the terms under names of our own, and the terms made of them."""

    inputs: Inputs
    steps: list[str]
    columns: list[str]
    terms: list[list[str]]

    @classmethod
    def of(cls, model) -> _Parts:
        inputs = model_inputs(model)
        steps = [_input(k, predictor) for k, predictor in enumerate(inputs.predictors)]
        used = np.any(model.dirs[model.selected] != 0, axis=0)
        if model.varmod is not None and model.varmod.method in ON_PREDICTORS:
            used = used | np.any(model.varmod.dirs != 0, axis=0)
        columns = []
        for j, feature in enumerate(inputs.features):
            source = f"x{feature.predictor}"
            if feature.kind == "number" or inputs.predictor(feature).kind == "logical":
                columns.append(source)
                continue
            columns.append(f"f{j}")
            if used[j]:
                steps.append(f"const f{j} = {_entry(source, feature, inputs.predictor(feature))};")
        terms = _products(model, columns, _hinge)
        if inputs.offset is not None:
            terms.append([f"x{inputs.offset}"])
        return cls(inputs, steps, columns, terms)


def _check_name(name) -> None:
    fine = isinstance(name, str) and re.fullmatch(r"[A-Za-z_$][A-Za-z0-9_$]*", name)
    if not fine or name in RESERVED:
        raise InvalidInputError(f"name={name!r} but it should be a JavaScript identifier")


def _quoted(text: str) -> str:
    """A string for JavaScript that is ASCII and ends no script of a page."""
    return json.dumps(text).replace("<", "\\u003c").replace(">", "\\u003e")


def _list(values) -> str:
    return "[" + ", ".join(values) + "]"


def _input(position: int, predictor) -> str:
    name = _quoted(predictor.name)
    if predictor.kind == "number":
        return f"const x{position} = number({name});"
    if predictor.kind == "logical":
        return f"const x{position} = logical({name});"
    return f"const x{position} = level({name}, {_list(map(_quoted, predictor.levels))});"


def _entry(source: str, feature, predictor) -> str:
    """The value of a factor's column at the position of a level."""
    if feature.kind == "contrast":
        return _list(repr(feature.level[level]) for level in predictor.levels) + f"[{source}]"
    return f"{source} === {predictor.levels.index(feature.level)} ? 1.0 : 0.0"


def _hinge(column: str, direction, cut: float) -> str:
    inner = _difference(column, repr(cut)) if direction == 1 else f"{cut!r} - {column}"
    return f"Math.max({inner}, 0.0)"


def _sum(coef, terms) -> str:
    parts = _summands(coef, terms)
    return parts[0] if len(parts) == 1 else "(" + "\n  ".join(parts) + ")"


def _predictions(model, parts: _Parts, type: str) -> list[str]:
    link = _link(model, type)
    sums = [_sum(coef, parts.terms) for coef in _coefficients(model, type, parts.inputs)]
    if link == "identity":
        steps, results = [], sums
    else:
        steps = [f"const eta{k} = {text};" for k, text in enumerate(sums)]
        results = [MEANS[link].format(eta=f"eta{k}") for k in range(len(sums))]
    if model.coef.ndim == 1:
        return [*steps, f"return {results[0]};"]
    return [*steps, "return [", *(f"  {result}," for result in results), "];"]


def _contributions(model, parts: _Parts, type: str) -> list[str]:
    rows = []
    for coef in _coefficients(model, "link", parts.inputs):
        each = [
            " * ".join([repr(value), *factors])
            for value, factors in zip(coef.tolist(), parts.terms, strict=True)
        ]
        rows.append("[\n" + "".join(f"  {text},\n" for text in each) + "]")
    if model.coef.ndim == 1:
        return [f"return {rows[0]};"]
    return ["return [", *(f"{row}," for row in rows), "];"]


def _probabilities(model, parts: _Parts, type: str) -> list[str]:
    """As `EarthClassifier.predict_proba`."""
    *steps, last = "\n".join(_predictions(model, parts, "response")).split("return ", 1)
    raw = f"{steps[0]}const raw = [].concat({last.rstrip(';')}).map((p) => Math.min(Math.max(p, 0.0), 1.0));"
    if len(model.response_names) == 1:
        return [raw, "return [1.0 - raw[0], raw[0]];"]
    return [
        raw,
        "const total = raw.reduce((sum, p) => sum + p, 0.0);",
        "return raw.map((p) => (total > 0.0 ? p / total : 1.0 / raw.length));",
    ]


def _deviation(model, parts: _Parts, type: str) -> list[str]:
    """As `VarianceModel.sd`."""
    variance = model.varmod
    columns, steps = parts.columns, []
    if variance.method in ON_FIT:
        fit = _sum(_coefficients(model, "earth", parts.inputs)[0], parts.terms)
        steps.append(f"const fit = {fit};")
        base = "fit" if float(variance.exponent).is_integer() else "Math.max(fit, 0.0)"
        steps.append(f"const base = {_power(base, variance.exponent)};")
        base = "Math.max(base, 0.0)" if variance.method.startswith("power") else "base"
        steps.append(f"const size = {_power(base, variance.power)};")
        columns = ["size"]
    terms = []
    for coef, dirs, cuts in zip(variance.coef.tolist(), variance.dirs, variance.cuts, strict=True):
        factors = [
            columns[j] if dirs[j] == 2 else _hinge(columns[j], dirs[j], float(cuts[j]))
            for j in np.flatnonzero(dirs)
        ]
        terms.append(" * ".join([repr(coef), *factors]))
    least = variance.min_sd / SD_OF_ABSOLUTE
    steps.append(f"const absolute = {' + '.join(terms)};")
    return [*steps, f"return {SD_OF_ABSOLUTE!r} * Math.max(absolute, {least!r});"]


def _power(base: str, exponent: float) -> str:
    return base if exponent == 1 else f"Math.pow({base}, {float(exponent)!r})"


_RESULTS = {"terms": _contributions, "proba": _probabilities, "sd": _deviation}


def _helpers(inputs: Inputs, result: list[str]) -> list[str]:
    """The functions that this model needs."""
    kinds = {predictor.kind for predictor in inputs.predictors}
    found = [VALUE]
    found += [NUMBER] if "number" in kinds else []
    found += [LOGICAL] if "logical" in kinds else []
    found += [LEVEL] if kinds & {"factor", "ordered"} else []
    text = "\n".join(result)
    if "normal(" in text:
        top = (6 - NORMAL_SCALE) / (6 + NORMAL_SCALE)
        series = _list(map(repr, normal_series()))
        found.append(NORMAL.replace("{scale}", repr(2 / (top + 1))).replace("{series}", series))
    return [*found, CAUCHY] if "cauchy(" in text else found


def _comment(model, inputs: Inputs, type: str) -> str:
    what = ", ".join(map(_quoted, model.response_names))
    if model.glm is not None:
        what += f" ({_quoted(model.glm.family)}, link {model.glm.link}), type {type}"
    lines = [f"MARS model of {what}."]
    for predictor in inputs.predictors:
        kind = {"number": "a number", "logical": "true or false"}.get(predictor.kind)
        kind = kind or "one of " + ", ".join(map(_quoted, predictor.levels))
        lines.append(f"row[{_quoted(predictor.name)}]: {kind}")
    return "".join(f"// {line}\n" for line in lines)
