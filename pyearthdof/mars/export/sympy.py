"""Export of a model as a sympy expression."""

from __future__ import annotations

import math
import operator

from ..._utils.checks import check_choice
from ..._utils.extras import load_extra
from .inputs import TYPES, coefficients, link_of, model_inputs, model_terms
from .links import render_mean


def to_sympy(model, *, type: str = "response"):
    """Write a model as a sympy expression; a list of them for several responses.

    The symbols are real and named as in `model.feature_names`; factors enter as indicator columns, 0 or 1.
    Means of a GLM part omit the limits at which R truncates them. The model in the example of `to_sql`
    becomes -0.81*Max(0, 16.0 - speed) + 2.32*Max(0, speed - 16.0) + 10.9.
    """
    check_choice("type", type, TYPES)
    sympy = load_extra("sympy", "to_sympy")

    def plain(value, *_):
        return value

    functions = {
        "Add": operator.add, "Sub": operator.sub, "Div": operator.truediv, "USub": operator.neg, "Gt": plain,
        "Lt": plain, "where": lambda *arguments: arguments[2], "clip": plain, "least": plain, "most": plain,
        "exp": sympy.exp, "expm1": lambda x: sympy.exp(x) - 1, "atan": sympy.atan,
        "normal": lambda x: (1 + sympy.erf(x / sympy.sqrt(2))) / 2, "square": lambda x: x**2,
        "reciprocal": lambda x: 1 / x, "reciprocal_root": lambda x: 1 / sympy.sqrt(x),
    }  # fmt: skip

    def number(value):
        return sympy.pi if value == math.pi else sympy.nsimplify(value)

    def hinge(symbol, direction, cut):
        return sympy.Max(0, direction * (symbol - sympy.Float(cut)))

    inputs = model_inputs(model)
    raw = [sympy.Symbol(predictor.name, real=True) for predictor in inputs.predictors]
    symbols = [sympy.Symbol(name, real=True) for name in model.feature_names]
    terms = [sympy.Mul(*factors) for factors in model_terms(model, inputs, raw, symbols, hinge)]
    found = []
    for coef in coefficients(model, type, inputs):
        pairs = zip(coef.tolist(), terms, strict=True)
        eta = sympy.Add(*(sympy.Float(value) * term for value, term in pairs))
        found.append(render_mean(link_of(model, type), eta, number, functions))
    return found if model.coef.ndim == 2 else found[0]
