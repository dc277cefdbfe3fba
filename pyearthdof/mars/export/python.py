"""A model as source code: a plain Python function, an SQL expression, a sympy expression.

Numbers are written so that they come back to the last bit.
"""

from __future__ import annotations

import keyword
import re
import unicodedata

import numpy as np

from ..._utils.checks import check_choice
from ...exceptions import InvalidInputError
from ..inspect.summary import coef_matrix
from .inputs import model_inputs

__all__ = ["to_python", "to_sql", "to_sympy"]

TYPES = ("response", "link", "earth")
EPSILON = repr(float(np.finfo(float).eps))  # R keeps means away from their limits by this
# Names that the written functions use themselves, and the one that nothing may have.
TAKEN = {
    "ValueError", "__debug__", "abs", "bool", "float", "format", "hasattr", "isinstance", "level_text",
    "math", "max", "min", "repr", "str",
}  # fmt: skip
LARGEST = repr(float(np.log(np.finfo(float).max)))  # beyond, exp is infinite and math.exp an error

# Means from the linear predictor eta, with R's limits.
PYTHON_MEANS = {
    "identity": "{eta}",
    "logit": "1.0 / (1.0 + math.exp(-{eta})) if abs({eta}) <= 30.0 else "
    f"min(max({{eta}}, {EPSILON}), 1.0 - {EPSILON})",
    "probit": "0.5 * math.erfc(-min(max({eta}, -8.125890664701906), 8.125890664701906) "
    "/ math.sqrt(2.0))",
    "cauchit": "0.5 + math.atan({eta}) / math.pi if -1.0 <= {eta} <= 1.0 else "
    "-math.atan(1.0 / max({eta}, -1433540284805664.8)) / math.pi if {eta} < -1.0 else "
    "0.5 - math.atan(1.0 / min({eta}, 1433540284805664.8)) / math.pi + 0.5",
    "cloglog": f"min(max(-math.expm1(-math.exp(min({{eta}}, 700.0))), {EPSILON}), 1.0 - {EPSILON})",
    "log": f"math.inf if {{eta}} > {LARGEST} else max(math.exp({{eta}}), {EPSILON})",
    "inverse": "1.0 / {eta} if {eta} != 0.0 else math.copysign(math.inf, {eta})",
    "sqrt": "{eta} * {eta}",
    "1/mu^2": "1.0 / math.sqrt({eta}) if {eta} > 0.0 else math.inf if {eta} == 0.0 else math.nan",
}
LEVEL_TEXT = """\
def level_text(level):
    if hasattr(level, "item"):
        level = level.item()
    if isinstance(level, bool):
        return "TRUE" if level else "FALSE"
    return format(level, ".15g") if isinstance(level, float) else str(level)
"""
SQL_DIALECTS = ("ansi", "mysql")
SQL_MEANS = {
    "identity": "({eta})",
    "logit": "(1.0 / (1.0 + EXP(-({eta}))))",
    "cloglog": "(1.0 - EXP(-EXP({eta})))",
    "log": "EXP({eta})",
    "inverse": "(1.0 / ({eta}))",
    "sqrt": "POWER({eta}, 2)",
    "1/mu^2": "(1.0 / SQRT({eta}))",
}


def to_python(model, name: str = "predict", *, type: str = "response") -> str:
    """Write a model as the source of a plain Python function.

    The function takes one number for each predictor, in the order of the training columns or by
    keyword, and returns a number; a tuple where the model has several responses. Its doc string says
    which argument stands for which column. Factors are given by level, as text or in the type of the
    categories, and booleans as such; an unknown level is a ValueError. It imports nothing but `math`, and
    that only for some links.

    Parameters
    ----------
    model : MarsModel
        One from a formula that computes, as in log(x), takes the columns of R's model matrix.
    name : str
        Name of the function.
    type : {"response", "link", "earth"}
        For a model with a GLM part: means, linear predictors, or the least-squares fit of the terms.

    Examples
    --------
    >>> import pandas as pd
    >>> from pyearthdof import Earth
    >>> X = pd.DataFrame({"car speed": [float(v) for v in range(30)]})
    >>> model = Earth(engine="native").fit(X, [v * v / 20 for v in range(30)]).model_
    >>> source = to_python(model, "distance")
    >>> source.splitlines()[0]
    'def distance(car_speed):'
    >>> scope = {}
    >>> exec(source, scope)
    >>> round(scope["distance"](25.0), 6)
    31.517444
    """
    check_choice("type", type, TYPES)
    _check_function_name(name)
    inputs = model_inputs(model)
    names = _identifiers([p.name for p in inputs.predictors] + list(model.feature_names))
    arguments, columns = names[: len(inputs.predictors)], names[len(inputs.predictors) :]
    checks, steps = [], []
    for argument, predictor in zip(arguments, inputs.predictors, strict=True):
        checks += _python_check(argument, predictor)
    used = np.any(model.dirs[model.selected] != 0, axis=0)
    for j, feature in enumerate(inputs.features):
        argument = arguments[feature.predictor]
        if feature.kind == "number":
            columns[j] = argument
        elif used[j]:
            value = _python_level(argument, feature, inputs.predictor(feature))
            steps.append(f"{columns[j]} = {value}")
    terms = _products(model, columns, _python_hinge)
    if inputs.offset is not None:
        terms.append([arguments[inputs.offset]])
    sums = [_python_sum(c, terms) for c in _coefficients(model, type, inputs)]
    if any(predictor.levels and predictor.kind != "logical" for predictor in inputs.predictors):
        checks = [LEVEL_TEXT, *checks]
    body = [_doc_string(model, arguments, inputs.predictors, type), *checks, *steps]
    body += _python_return(sums, _link(model, type))
    source = f"def {name}({', '.join(arguments)}):\n" + _indented("\n".join(body)) + "\n"
    return f"import math\n\n\n{source}" if "math." in source else source


def to_sql(model, *, type: str = "response", dialect: str = "ansi") -> str | list[str]:
    """Write a model as an expression for SQL's SELECT; a list of them for several responses.

    Everything is standard SQL: CASE, and EXP, POWER or SQRT for the means of a GLM part. A row with a
    NULL or an unknown level gives NULL. Coefficients are approximate numbers (2.5e0), so that integer
    columns are not multiplied as decimals, which overflow in some databases.

    Parameters
    ----------
    model, type
        As in `to_python`. SQL has no function for the means of the links probit and cauchit.
    dialect : {"ansi", "mysql"}
        How names and texts are quoted. "ansi" writes "name" and 'it''s': SQLite, DuckDB, PostgreSQL,
        Snowflake, Oracle. "mysql" writes `name` and escapes with a backslash: MySQL, MariaDB, BigQuery,
        Spark.

    Examples
    --------
    >>> from dataclasses import replace
    >>> import pandas as pd
    >>> from pyearthdof import Earth
    >>> X = pd.DataFrame({"speed": [float(v) for v in range(30)]})
    >>> model = Earth(engine="native", nk=3).fit(X, [v * v / 20 for v in range(30)]).model_
    >>> short = replace(model, coef=model.coef.round(2))
    >>> print(to_sql(short))
    (10.9e0
    + 2.32e0 * CASE WHEN "speed" > 16.0 THEN "speed" - 16.0 WHEN "speed" <= 16.0 THEN 0.0 END
    - 0.81e0 * CASE WHEN "speed" < 16.0 THEN 16.0 - "speed" WHEN "speed" >= 16.0 THEN 0.0 END)
    """
    check_choice("type", type, TYPES)
    check_choice("dialect", dialect, SQL_DIALECTS)
    link = _link(model, type)
    if link not in SQL_MEANS:
        raise InvalidInputError(
            f"type={type!r} but SQL has no function for the link {link}; it should be 'link'"
        )
    inputs = model_inputs(model)
    columns = [_sql_column(inputs.predictor(f), f, dialect) for f in inputs.features]
    terms = _products(model, columns, _sql_hinge)
    if inputs.offset is not None:
        terms.append([_sql_name(inputs.predictors[inputs.offset].name, dialect)])
    coefs = _coefficients(model, type, inputs)
    sums = ["\n".join(_summands(coef, terms, _sql_double)) for coef in coefs]
    found = [SQL_MEANS[link].format(eta=eta) for eta in sums]
    return found if model.coef.ndim == 2 else found[0]


def to_sympy(model, *, type: str = "response"):
    """Give a model as a sympy expression; a list of them for several responses.

    Its symbols are real and have the names of `model.feature_names`: a factor enters by its indicator
    columns, 0 or 1. Means of a GLM part come without the limits at which R cuts them off.

    Parameters
    ----------
    model : MarsModel
    type : {"response", "link", "earth"}
        For a model with a GLM part: means, linear predictors, or the least-squares fit of the terms.

    Notes
    -----
    The model of the example of `to_sql` is -0.81*Max(0, 16.0 - speed) + 2.32*Max(0, speed - 16.0) + 10.9.
    """
    check_choice("type", type, TYPES)
    try:
        import sympy
    except ImportError as error:
        raise ImportError("to_sympy needs sympy: pip install sympy") from error
    inputs = model_inputs(model)
    symbols = [sympy.Symbol(name, real=True) for name in model.feature_names]

    def hinge(symbol, direction, cut):
        return sympy.Max(0, int(direction) * (symbol - sympy.Float(cut)))

    terms = [sympy.Mul(*factors) for factors in _products(model, symbols, hinge)]
    if inputs.offset is not None:
        terms.append(sympy.Symbol(inputs.predictors[inputs.offset].name, real=True))
    means = {
        "identity": lambda eta: eta,
        "logit": lambda eta: 1 / (1 + sympy.exp(-eta)),
        "probit": lambda eta: (1 + sympy.erf(eta / sympy.sqrt(2))) / 2,
        "cauchit": lambda eta: sympy.atan(eta) / sympy.pi + sympy.Rational(1, 2),
        "cloglog": lambda eta: 1 - sympy.exp(-sympy.exp(eta)),
        "log": sympy.exp,
        "inverse": lambda eta: 1 / eta,
        "sqrt": lambda eta: eta**2,
        "1/mu^2": lambda eta: 1 / sympy.sqrt(eta),
    }
    mean = means[_link(model, type)]
    found = [
        mean(sympy.Add(*(sympy.Float(c) * t for c, t in zip(coef.tolist(), terms, strict=True))))
        for coef in _coefficients(model, type, inputs)
    ]
    return found if model.coef.ndim == 2 else found[0]


def _check_function_name(name) -> None:
    fine = isinstance(name, str) and name.isidentifier() and not keyword.iskeyword(name)
    if not fine or unicodedata.normalize("NFKC", name) != name:
        raise InvalidInputError(f"name={name!r} but it should be a Python identifier")
    if name in TAKEN:
        raise InvalidInputError(
            f"name={name!r} but it should be another one, which the function does not use itself"
        )


def _link(model, type) -> str:
    return model.glm.link if model.glm is not None and type == "response" else "identity"


def _coefficients(model, type, inputs) -> list[np.ndarray]:
    """The coefficients of each response; an offset is one more term, with the coefficient 1."""
    coef = coef_matrix(model.coef if model.glm is None or type == "earth" else model.glm.coef)
    if inputs.offset is not None:
        coef = np.vstack([coef, np.ones(coef.shape[1])])
    return list(coef.T)


def _products(model, columns, hinge) -> list[list]:
    """The factors of each selected term, made of what stands for the columns."""
    return [
        [
            columns[j] if row[j] == 2 else hinge(columns[j], row[j], float(cut[j]))
            for j in np.flatnonzero(row)
        ]
        for row, cut in zip(model.dirs[model.selected], model.cuts[model.selected], strict=True)
    ]


def _summands(coef, terms, number=repr) -> list[str]:
    """The intercept, and with their signs coefficients times factors, as all languages write them."""
    parts = [number(float(coef[0]))]
    for value, factors in zip(coef[1:].tolist(), terms[1:], strict=True):
        sign, size = ("-", -value) if value < 0 else ("+", value)
        parts.append(" * ".join([f"{sign} {number(size)}", *factors]))
    return parts


def _difference(left: str, right: str) -> str:
    """left - right, but never two minus signs: they start a comment in SQL."""
    return f"{left} + {right[1:]}" if right.startswith("-") else f"{left} - {right}"


def _python_hinge(column, direction, cut) -> str:
    inner = _difference(column, repr(cut)) if direction == 1 else f"{cut!r} - {column}"
    return f"max({inner}, 0.0)"  # in this order NaN stays NaN


def _python_sum(coef, terms) -> str:
    if len(terms) == 1:
        return repr(float(coef[0]))
    return "(\n" + _indented("\n".join(_summands(coef, terms))) + "\n)"


def _python_return(sums, link) -> list[str]:
    if link == "identity":
        results = sums
    else:
        names = [f"eta{k}" if len(sums) > 1 else "eta" for k in range(1, len(sums) + 1)]
        steps = [f"{name} = {text}" for name, text in zip(names, sums, strict=True)]
        results = [PYTHON_MEANS[link].format(eta=name) for name in names]
    lines = [] if link == "identity" else steps
    if len(results) == 1:
        return [*lines, f"return {results[0]}"]
    inner = "".join(f"{_indented(result)},\n" for result in results)
    return [*lines, f"return (\n{inner})"]


def _python_check(argument, predictor) -> list[str]:
    """Lines that refuse an unknown level."""
    if not predictor.levels:
        return []
    logical = predictor.kind == "logical"
    known = "(False, True)" if logical else repr(predictor.levels)
    lines = [] if logical else [f"{argument} = level_text({argument})"]
    message = f"{predictor.name} should be one of {known}, not "
    return [
        *lines,
        f"if {argument} not in {known}:",
        f"    raise ValueError({message!r} + repr({argument}))",
    ]


def _python_level(argument, feature, predictor) -> str:
    if feature.kind == "contrast":
        return f"{feature.level!r}[{argument}]"
    test = argument if predictor.kind == "logical" else f"{argument} == {feature.level!r}"
    return f"1.0 if {test} else 0.0"


def _identifiers(names) -> list[str]:
    """Different Python identifiers that resemble the names."""
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
        lines.append(f"{argument} : column {predictor.name!r}" + (f", {kind}" if kind else ""))
    text = "\n".join(lines).replace("\\", "\\\\").replace('"', '\\"')
    text = "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)
    return f'"""{text}\n"""'


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else line for line in text.split("\n"))


def _sql_double(value: float) -> str:
    """An approximate number, which has an exponent; one without it is a decimal."""
    text = repr(value)
    return text if "e" in text else f"{text}e0"


def _sql_name(name: str, dialect: str) -> str:
    quote = "`" if dialect == "mysql" else '"'
    return quote + name.replace(quote, 2 * quote) + quote


def _sql_text(text: str, dialect: str) -> str:
    if dialect == "mysql":
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return "'" + text.replace("'", "''") + "'"


def _sql_column(predictor, feature, dialect: str) -> str:
    column = _sql_name(predictor.name, dialect)
    if feature.kind == "number":
        return column
    levels = {level: _sql_text(level, dialect) for level in predictor.levels}
    if feature.kind == "contrast":
        cases = " ".join(f"WHEN {levels[k]} THEN {v!r}" for k, v in feature.level.items())
        return f"CASE {column} {cases} END"
    if predictor.kind == "logical":  # not "= TRUE": TRUE may be the name of a column
        return f"CASE WHEN {column} THEN 1.0 WHEN NOT {column} THEN 0.0 END"
    others = ", ".join(text for level, text in levels.items() if level != feature.level)
    return f"CASE WHEN {column} = {levels[feature.level]} THEN 1.0 WHEN {column} IN ({others}) THEN 0.0 END"


def _sql_hinge(column, direction, cut) -> str:
    sign, beyond = (">", "<=") if direction == 1 else ("<", ">=")
    inner = _difference(column, repr(cut)) if direction == 1 else f"{cut!r} - {column}"
    return f"CASE WHEN {column} {sign} {cut!r} THEN {inner} WHEN {column} {beyond} {cut!r} THEN 0.0 END"
