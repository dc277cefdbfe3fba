"""Export of a model as an SQL expression."""

from __future__ import annotations

from ..._utils.checks import check_choice
from ...exceptions import InvalidInputError
from .inputs import TYPES, coefficients, distance, link_of, model_inputs, model_terms, summands
from .links import render_mean

DIALECTS = ("ansi", "mysql")
NO_LINKS = ("probit", "cauchit")
FUNCTIONS = {
    "Add": "({} + {})", "Sub": "({} - {})", "Div": "({} / {})", "USub": "-{}", "Gt": "", "Lt": "",
    "where": "{2}", "clip": "{0}", "least": "{0}", "most": "{0}", "exp": "EXP({})",
    "expm1": "(EXP({}) - 1.0)", "square": "POWER({}, 2)", "reciprocal": "(1.0 / {})",
    "reciprocal_root": "(1.0 / SQRT({}))",
}  # fmt: skip


def to_sql(model, *, type: str = "response", dialect: str = "ansi") -> str | list[str]:
    """Write a model as an expression for an SQL SELECT; arguments as in `Earth.to_sql`.

    The expression is standard SQL: CASE, and EXP, POWER or SQRT for the means of a GLM part; SQL has no
    function for the links probit and cauchit. A row with a NULL or an unknown level gives NULL.
    Coefficients are written as approximate numbers (2.5e0), because products of integer columns and decimals
    overflow in some databases. The dialect "ansi" writes "name" and 'it''s' for SQLite, DuckDB, PostgreSQL,
    Snowflake and Oracle; "mysql" writes `name` and escapes with a backslash for MySQL, MariaDB, BigQuery
    and Spark.
    """
    check_choice("type", type, TYPES)
    check_choice("dialect", dialect, DIALECTS)
    link = link_of(model, type)
    if link in NO_LINKS:
        raise InvalidInputError(
            f"type={type!r} but SQL has no function for the link {link}; it should be 'link'"
        )
    inputs = model_inputs(model)
    raw = [_name(predictor.name, dialect) for predictor in inputs.predictors]

    def factor(column, feature, predictor):
        return _factor(column, feature, predictor, dialect)

    terms = model_terms(model, inputs, raw, inputs.columns(raw, factor), _hinge)
    sums = ["\n".join(summands(c, terms, _double)) for c in coefficients(model, type, inputs)]
    found = [render_mean(link, f"({eta})", repr, FUNCTIONS) for eta in sums]
    return found if model.coef.ndim == 2 else found[0]


def _double(value: float) -> str:
    """Return an approximate number with an exponent; without one it would be a decimal."""
    text = repr(value)
    return text if "e" in text else f"{text}e0"


def _name(name: str, dialect: str) -> str:
    quote = "`" if dialect == "mysql" else '"'
    return quote + name.replace(quote, 2 * quote) + quote


def _text(text: str, dialect: str) -> str:
    if dialect == "mysql":
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return "'" + text.replace("'", "''") + "'"


def _factor(column: str, feature, predictor, dialect: str) -> str:
    if feature.kind == "missing":
        return f"CASE WHEN {column} IS NULL THEN 1.0 ELSE 0.0 END"
    if feature.kind == "number":
        return f"COALESCE({column}, {feature.level!r})"
    found = _level(column, feature, predictor, dialect)
    return (
        found if predictor.fill is None else f"CASE WHEN {column} IS NULL THEN 0.0 ELSE {found} END"
    )


def _level(column: str, feature, predictor, dialect: str) -> str:
    levels = {level: _text(level, dialect) for level in predictor.levels}
    if feature.kind == "contrast":
        cases = " ".join(f"WHEN {levels[k]} THEN {v!r}" for k, v in feature.level.items())
        return f"CASE {column} {cases} END"
    if predictor.kind == "logical":  # not "= TRUE": TRUE may be the name of a column
        return f"CASE WHEN {column} THEN 1.0 WHEN NOT {column} THEN 0.0 END"
    others = ", ".join(text for level, text in levels.items() if level != feature.level)
    return f"CASE WHEN {column} = {levels[feature.level]} THEN 1.0 WHEN {column} IN ({others}) THEN 0.0 END"


def _hinge(column: str, direction: int, cut: float) -> str:
    sign, beyond = (">", "<=") if direction == 1 else ("<", ">=")
    inside = distance(column, direction, cut)
    return f"CASE WHEN {column} {sign} {cut!r} THEN {inside} WHEN {column} {beyond} {cut!r} THEN 0.0 END"
