"""Inverse links of generalised linear models as formulas, independent of the language.

numpy's evaluation, which equals R's to the last bit, is in `components.links`.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import chebinterpolate
from scipy.special import erfcx

from ..components.glm import CAUCHIT, EPSILON, PROBIT

# R's limits are in `where`, `clip`, `least` and `most`, whose last or first argument is the plain formula.
# `where` selects the plain formula for NaN.
MEANS = {
    "identity": "eta",
    "logit": "1 / (1 + where(eta > 30, EPSILON, where(eta < -30, 1 / EPSILON, exp(-eta))))",
    "probit": "normal(clip(eta, -PROBIT, PROBIT))",
    "cauchit": "where(eta > 1, 1 - atan(1 / most(eta, CAUCHIT)) / pi, "
    "where(eta < -1, -atan(1 / least(eta, -CAUCHIT)) / pi, 0.5 + atan(eta) / pi))",
    "cloglog": "clip(-expm1(-exp(most(eta, 700))), EPSILON, 1 - EPSILON)",
    "log": "least(where(eta > LARGEST, inf, exp(eta)), EPSILON)",
    "inverse": "reciprocal(eta)",
    "sqrt": "square(eta)",
    "1/mu^2": "reciprocal_root(eta)",
}
CONSTANTS = {
    "EPSILON": float(EPSILON), "PROBIT": PROBIT, "CAUCHIT": CAUCHIT, "pi": math.pi, "inf": math.inf,
    "LARGEST": math.log(np.finfo(float).max),  # above it, exp is infinite and math.exp raises
}  # fmt: skip


def render_mean(
    link: str, eta: Any, number: Callable[[float], Any], functions: Mapping[str, Any]
) -> Any:
    """Write the mean as a function of the linear predictor `eta` in the target language.

    `number` renders a number. `functions` contains callables or text templates for the functions of `MEANS`
    and for Python's operators, by the names of `ast`, such as "Add".
    """

    def call(name: str, *arguments) -> Any:
        function = functions[name]
        return (function.format if isinstance(function, str) else function)(*arguments)

    def visit(node: ast.AST) -> Any:
        match node:
            case ast.Name(id="eta"):
                return eta
            case ast.Name(id=name):
                return number(CONSTANTS[name])
            case ast.Constant(value=value):
                return number(float(value))  # type: ignore[arg-type]
            case ast.UnaryOp(operand=operand):
                return call("USub", visit(operand))
            case ast.BinOp(left=left, op=operator, right=right):
                return call(type(operator).__name__, visit(left), visit(right))
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                return call(type(operator).__name__, visit(left), visit(right))
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return call(name, *map(visit, arguments))
        raise ValueError(f"{ast.dump(node)} is not part of a mean")

    return visit(ast.parse(MEANS[link], mode="eval").body)


# Functions that JavaScript and ONNX lack in double precision, as Chebyshev series. The coefficients are
# computed from scipy's functions.
NORMAL_SCALE = 3.75  # maps z >= 0 to t = (z - 3.75) / (z + 3.75) in [-1, 1)
NORMAL_TOP = (6 - NORMAL_SCALE) / (6 + NORMAL_SCALE)
NORMAL_STRETCH = 2 / (NORMAL_TOP + 1)


@cache
def normal_series() -> tuple[float, ...]:
    """Series of exp(z^2) erfc(z), z from 0 to 6, in t = (z - 3.75) / (z + 3.75)."""

    def function(u):  # from [-1, 1] to [-1, top]
        t = -1 + (u + 1) * (NORMAL_TOP + 1) / 2
        return erfcx(NORMAL_SCALE * (1 + t) / (1 - t))

    return tuple(chebinterpolate(function, 26).tolist())


@cache
def arc_series() -> tuple[float, ...]:
    """Series of atan(x) / x, x from -1 to 1, in 2 x^2 - 1."""

    def function(u):
        x = np.sqrt((u + 1) / 2)
        return np.where(x == 0, 1.0, np.arctan(x) / np.where(x == 0, 1.0, x))

    return tuple(chebinterpolate(function, 24).tolist())


@cache
def decay_series() -> tuple[float, ...]:
    """Series of (1 - exp(-v)) / v, v from 0 to 1, in 2 v - 1."""

    def function(u):
        v = (u + 1) / 2
        return np.where(v == 0, 1.0, -np.expm1(-v) / np.where(v == 0, 1.0, v))

    return tuple(chebinterpolate(function, 14).tolist())
