"""Export of a model as an ONNX graph in double precision, with hinges as ReLU.

The graph uses only operators that onnxruntime implements for doubles; missing ones (erf, atan, expm1) are
Chebyshev series.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._utils.checks import refusal
from ..._utils.extras import load_extra
from ..._version import __version__
from ...exceptions import InvalidInputError
from .inputs import TYPES, Inputs, coefficients, link_of, model_inputs, products
from .links import (
    NORMAL_SCALE,
    NORMAL_STRETCH,
    arc_series,
    decay_series,
    normal_series,
    render_mean,
)

OPSET, OPSET_ML, IR_VERSION = 17, 3, 8  # since 2022: onnx 1.12, onnxruntime 1.12


def to_onnx(
    model, *, type: str = "response", classes: np.ndarray | None = None, threshold: float = 0.5
):
    """Convert a model to an ONNX graph, an `onnx.ModelProto`; requires the extra `pyearthdof[onnx]`.

    A model of numeric columns has one input, `X`, doubles of shape (n, p). A model with factors or an offset
    has one input of shape (n, 1) per column, with the name of the column: doubles, booleans, or strings for
    a factor (levels as strings, even if they are numbers). A row with NaN or an unknown level gives NaN,
    because a graph cannot raise errors.

    The output is `prediction`, doubles of shape (n, m). With `classes` (strings, integers or booleans), the
    outputs are `label`, (n,), and `probabilities`, (n, n_classes), as for other classifiers; a row with NaN
    gets the first class. With two classes, the second is predicted above `threshold`.
    """
    if type not in TYPES:
        raise refusal("type", type, f"one of {', '.join(TYPES)}")
    inputs = model_inputs(model)
    graph = _Graph(
        load_extra("onnx", "to_onnx"), frozenset(predictor.name for predictor in inputs.predictors)
    )
    features, offset = _features(graph, model, inputs)
    eta = _linear_predictor(graph, model, inputs, type, features, offset)
    values = render_mean(link_of(model, type), eta, graph.constant, _functions(graph))
    if classes is None:
        graph.output("prediction", values, "double", len(model.response_names))
    else:
        _classify(graph, values, len(model.response_names), np.asarray(classes), threshold)
    return graph.model(model)


@dataclass
class _Graph:
    """Builder that collects nodes and constants, which are referred to by name.

    `taken` contains the column names, which are reserved.
    """

    onnx: Any
    taken: frozenset[str]
    nodes: list = field(default_factory=list)
    constants: list = field(default_factory=list)
    inputs: list = field(default_factory=list)
    outputs: list = field(default_factory=list)

    def add(self, operator: str, inputs: Sequence[str], domain: str = "", **attributes) -> str:
        """Add a node; return the name of its single output."""
        name = self._free(f"_v{len(self.nodes)}")
        make = self.onnx.helper.make_node
        self.nodes.append(make(operator, list(inputs), [name], domain=domain, **attributes))
        return name

    def constant(self, value, dtype=np.float64) -> str:
        name = self._free(f"_c{len(self.constants)}")
        array = np.asarray(value, dtype=dtype)
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def texts(self, values) -> str:
        name = self._free(f"_c{len(self.constants)}")
        data = [str(v).encode() for v in values]
        string = self.onnx.TensorProto.STRING
        self.constants.append(self.onnx.helper.make_tensor(name, string, [len(data)], data))
        return name

    def input(self, name: str, kind: str, width: int) -> str:
        self.inputs.append(self._value(name, kind, ["n", width]))
        return name

    def output(self, name: str, value: str, kind: str, width: int | None) -> None:
        name = self._free(name)
        self.nodes.append(self.onnx.helper.make_node("Identity", [value], [name]))
        self.outputs.append(self._value(name, kind, ["n"] if width is None else ["n", width]))

    def _free(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        return name

    def _value(self, name, kind, shape):
        kinds = self.onnx.TensorProto
        code = {
            "double": kinds.DOUBLE,
            "text": kinds.STRING,
            "flag": kinds.BOOL,
            "int": kinds.INT64,
        }
        return self.onnx.helper.make_tensor_value_info(name, code[kind], shape)

    def model(self, mars):
        helper = self.onnx.helper
        graph = helper.make_graph(
            self.nodes, "MARS", self.inputs, self.outputs, self.constants,
            doc_string="MARS model of " + ", ".join(mars.response_names),
        )  # fmt: skip
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", OPSET_ML)]
        made = helper.make_model(
            graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="pyearthdof",
            producer_version=__version__,
        )  # fmt: skip
        self.onnx.checker.check_model(made)
        return made

    def series(self, t: str, coefficients: Sequence[float]) -> str:
        """Evaluate a Chebyshev series at t by Clenshaw's recurrence."""
        twice = self.add("Mul", [t, self.constant(2.0)])
        first = self.add("Mul", [t, self.constant(0.0)])
        second = first
        for c in reversed(coefficients[1:]):
            step = self.add("Sub", [self.add("Mul", [twice, first]), second])
            first, second = self.add("Add", [step, self.constant(c)]), first
        last = self.add("Sub", [self.add("Mul", [t, first]), second])
        return self.add("Add", [last, self.constant(coefficients[0])])

    def clip(self, value: str, low: float, high: float) -> str:
        """Clip with NaN preserved, which the operator Clip does not specify."""
        high_, low_ = self.constant(high), self.constant(low)
        value = self.add("Where", [self.add("Greater", [value, high_]), high_, value])
        return self.add("Where", [self.add("Less", [value, low_]), low_, value])


def _features(graph: _Graph, model, inputs: Inputs) -> tuple[str, str | None]:
    """Return the matrix of `feature_names`, and the offset column."""
    numbers = all(p.kind == "number" and p.fill is None for p in inputs.predictors)
    if numbers and inputs.offset is None and len(inputs.predictors) == len(inputs.features):
        return graph.input("X", "double", len(inputs.predictors)), None
    blocks = [_block(graph, inputs, place) for place in range(len(inputs.predictors))]
    used = [
        block
        for k, block in enumerate(blocks)
        if any(feature.predictor == k for feature in inputs.features)
    ]
    matrix = graph.add("Concat", used, axis=1)
    return matrix, None if inputs.offset is None else blocks[inputs.offset]


def _block(graph: _Graph, inputs: Inputs, place: int) -> str:
    """Return the expanded columns of one raw column."""
    predictor, kinds = inputs.predictors[place], {"number": "double", "logical": "flag"}
    kind = kinds.get(predictor.kind, "text")
    if predictor.kind == "logical" and predictor.fill is not None:
        kind = "text"  # a boolean cannot be missing: "TRUE", "FALSE" or ""
    value = graph.input(predictor.name, kind, 1)
    if predictor.kind == "number" and predictor.fill is None:
        return value
    if predictor.kind == "number":
        gap = graph.add("IsNaN", [value])
        filled = graph.add("Where", [gap, graph.constant(predictor.fill), value])
        indicator = graph.add("Cast", [gap], to=graph.onnx.TensorProto.DOUBLE)
        return graph.add("Concat", [filled, indicator], axis=1)
    if predictor.kind == "logical" and predictor.fill is None:
        return graph.add("Cast", [value], to=graph.onnx.TensorProto.DOUBLE)
    levels = inputs.levels(place)
    code = graph.add(
        "LabelEncoder", [value], domain="ai.onnx.ml", keys_strings=[level or "" for level in levels],
        values_int64s=list(range(len(levels))), default_int64=len(levels),
    )  # fmt: skip
    columns = [feature.entries(levels) for feature in inputs.features if feature.predictor == place]
    table = np.vstack(
        [np.array(columns).T, np.full(len(columns), np.nan)]
    )  # last row: unknown level
    rows = graph.add("Gather", [graph.constant(table), code], axis=0)
    return graph.add("Reshape", [rows, graph.constant([-1, len(columns)], np.int64)])


def _linear_predictor(graph: _Graph, model, inputs: Inputs, type, features, offset) -> str:
    """Sum of terms times coefficients; each product of hinges is computed once."""
    cuts, dirs = model.cuts[model.selected], model.dirs[model.selected]
    terms = products(dirs, cuts, range(dirs.shape[1]), lambda *hinge: hinge)
    hinges = sorted({f for factors in terms for f in factors if isinstance(f, tuple)})
    linear = sorted({f for factors in terms for f in factors if not isinstance(f, tuple)})
    used = sorted({j for j, _, _ in hinges} | set(linear))

    def gathered(values: str, columns) -> str:
        return graph.add("Gather", [values, graph.constant(columns, np.int64)], axis=1)

    # 0 if all used columns are finite, otherwise NaN, which ReLU may drop
    zeros = graph.add("Mul", [gathered(features, used or [0]), graph.constant(0.0)])
    zero = graph.add("ReduceSum", [zeros, graph.constant([1], np.int64)], keepdims=1)
    if not used:  # an intercept-only model depends on no column
        zero = graph.add("Where", [graph.add("IsNaN", [zero]), graph.constant(0.0), zero])
    one = graph.add("Add", [zero, graph.constant(1.0)])
    factors = [one]
    if hinges:
        columns, directions, knots = (list(values) for values in zip(*hinges, strict=True))
        inside = graph.add("Sub", [gathered(features, columns), graph.constant(knots)])
        signed = graph.add("Mul", [inside, graph.constant([float(d) for d in directions])])
        factors.append(graph.add("Relu", [signed]))
    if linear:
        factors.append(gathered(features, linear))
    pool = graph.add("Concat", factors, axis=1)
    places = {factor: 1 + k for k, factor in enumerate([*hinges, *linear])}
    basis = one
    for k in range(max(map(len, terms))):  # the column of ones pads terms with fewer factors
        part = gathered(pool, [places[f[k]] if k < len(f) else 0 for f in terms])
        basis = part if k == 0 else graph.add("Mul", [basis, part])
    coef = np.column_stack(coefficients(model, type, inputs))[: len(dirs)]
    eta = graph.add("MatMul", [basis, graph.constant(coef)])
    return eta if offset is None else graph.add("Add", [eta, offset])


def _classify(
    graph: _Graph, values: str, n_resp: int, classes: np.ndarray, threshold: float
) -> None:
    """Add labels and probabilities as predicted by `EarthClassifier`."""
    raw = graph.clip(values, 0.0, 1.0)
    if n_resp == 1:
        rest = graph.add("Sub", [graph.constant(1.0), raw])
        probabilities = graph.add("Concat", [rest, raw], axis=1)
        above = graph.add("Greater", [values, graph.constant(float(threshold))])
        code = graph.add("Cast", [above], to=graph.onnx.TensorProto.INT64)
        code = graph.add("Reshape", [code, graph.constant([-1], np.int64)])
    else:
        total = graph.add("ReduceSum", [raw, graph.constant([1], np.int64)], keepdims=1)
        nothing = graph.add("Equal", [total, graph.constant(0.0)])
        divisor = graph.add("Where", [nothing, graph.constant(1.0), total])
        shares = graph.add("Div", [raw, divisor])
        equal = graph.constant(1.0 / n_resp)
        probabilities = graph.add("Where", [nothing, equal, shares])
        code = graph.add("ArgMax", [values], axis=1, keepdims=0)
    kind = "int" if classes.dtype.kind in "iub" else "text"
    if kind == "int":
        names = graph.constant(classes.astype(np.int64), np.int64)
    elif classes.dtype.kind in "UO":
        names = graph.texts(classes.tolist())
    else:
        raise InvalidInputError(
            f"classes have the type {classes.dtype} but they should be texts, whole numbers or truth values"
        )
    graph.output("label", graph.add("Gather", [names, code], axis=0), kind, None)
    graph.output("probabilities", probabilities, "double", len(classes))


def _functions(graph: _Graph) -> dict[str, Any]:
    """Return the functions of the means as nodes; all propagate NaN."""

    def node(operator: str):
        return lambda *inputs: graph.add(operator, inputs)

    number = graph.constant
    names = {
        "Add": "Add", "Sub": "Sub", "Div": "Div", "USub": "Neg", "Gt": "Greater", "Lt": "Less",
        "where": "Where", "exp": "Exp",
    }  # fmt: skip
    found = {name: node(operator) for name, operator in names.items()}
    add, sub, mul, div, where, exp = map(node, ("Add", "Sub", "Mul", "Div", "Where", "Exp"))
    less, greater, neg, root = map(node, ("Less", "Greater", "Neg", "Sqrt"))

    def least(value, low):
        return where(less(value, low), low, value)

    def most(value, high):
        return where(greater(value, high), high, value)

    def normal(eta):
        z = div(eta, number(-np.sqrt(2.0)))
        size, scale = graph.add("Abs", [z]), number(NORMAL_SCALE)
        t = mul(add(div(sub(size, scale), add(size, scale)), number(1.0)), number(NORMAL_STRETCH))
        series = graph.series(sub(t, number(1.0)), normal_series())
        tail = mul(mul(exp(neg(mul(size, size))), series), number(0.5))
        return where(less(z, number(0.0)), sub(number(1.0), tail), tail)

    def atan(x):  # from -1 to 1
        square = mul(x, x)
        return mul(x, graph.series(sub(add(square, square), number(1.0)), arc_series()))

    def expm1(x):  # below 0
        size = neg(x)
        is_small = less(size, number(1.0))
        small = where(is_small, size, number(1.0))
        near = mul(x, graph.series(sub(add(small, small), number(1.0)), decay_series()))
        return where(is_small, near, sub(exp(x), number(1.0)))

    return found | {
        "least": least, "most": most, "clip": lambda x, low, high: most(least(x, low), high),
        "normal": normal, "atan": atan, "expm1": expm1, "square": lambda x: mul(x, x),
        "reciprocal": lambda x: div(number(1.0), x), "reciprocal_root": lambda x: div(number(1.0), root(x)),
    }  # fmt: skip
