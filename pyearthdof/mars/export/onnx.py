"""A model as an ONNX graph in double precision: a hinge is a ReLU, a level a row of a table.

Only operators are used that onnxruntime has for doubles; what it lacks (erf, atan, expm1) is a Chebyshev
series.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._utils.checks import refusal
from ..._version import __version__
from ...exceptions import InvalidInputError
from ..components.glm import CAUCHIT, EPSILON, PROBIT
from .inputs import Inputs, model_inputs
from .python import TYPES, _coefficients, _link
from .series import NORMAL_SCALE, arc_series, decay_series, normal_series

__all__ = ["to_onnx"]

OPSET, OPSET_ML, IR_VERSION = 17, 3, 8  # since 2022: onnx 1.12, onnxruntime 1.12


def to_onnx(
    model, *, type: str = "response", classes: np.ndarray | None = None, threshold: float = 0.5
):
    """Make a model an ONNX graph; needs the package onnx (the extra `pyearthdof[onnx]`).

    A model of numbers alone has one input, `X`, doubles of the shape (n, p). One with factors, or with an
    offset, has an input of the shape (n, 1) for each column, by the name of the column: doubles, truth
    values, or texts for a factor (its levels as text, also where they are numbers). A row with NaN or with a
    level that the model does not know gives NaN: a graph cannot refuse it.

    The output is `prediction`, doubles of the shape (n, m). With `classes` there are two, as of other
    classifiers: `label`, (n,), and `probabilities`, (n, n_classes); a row that cannot be computed has the
    first class.

    Parameters
    ----------
    model, type
        As in `export.to_python`.
    classes : array, optional
        The classes of a classifier: texts, whole numbers or truth values.
    threshold : float
        Of two classes, the second is taken above this probability.

    Returns
    -------
    onnx.ModelProto
        Its `SerializeToString()` is what a file holds.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import Earth
    >>> from pyearthdof.mars.export.onnx import to_onnx
    >>> x = np.random.default_rng(0).normal(size=(100, 2))
    >>> model = Earth(engine="native").fit(x, np.abs(x[:, 0])).model_
    >>> graph = to_onnx(model).graph  # doctest: +SKIP
    >>> [node.op_type for node in graph.node]  # doctest: +SKIP
    ['Gather', 'Sub', 'Mul', 'Relu', ...]
    """
    if type not in TYPES:
        raise refusal("type", type, f"one of {', '.join(TYPES)}")
    inputs = model_inputs(model)
    graph = _Graph(_onnx(), frozenset(predictor.name for predictor in inputs.predictors))
    features, offset = _features(graph, model, inputs)
    eta = _linear_predictor(graph, model, inputs, type, features, offset)
    values = _MEANS[_link(model, type)](graph, eta)
    if classes is None:
        graph.output("prediction", values, "double", len(model.response_names))
    else:
        _classify(graph, values, len(model.response_names), np.asarray(classes), threshold)
    return graph.model(model)


def _onnx():
    try:
        import onnx
    except ImportError as error:
        raise ImportError("to_onnx needs onnx: pip install onnx") from error
    return onnx


@dataclass
class _Graph:
    """Nodes and constants while they are collected; what is added is referred to by its name.

    `taken` are the names of the columns, which nothing else may have.
    """

    onnx: Any
    taken: frozenset[str]
    nodes: list = field(default_factory=list)
    constants: list = field(default_factory=list)
    inputs: list = field(default_factory=list)
    outputs: list = field(default_factory=list)

    def add(self, operator: str, inputs: Sequence[str], domain: str = "", **attributes) -> str:
        """A node, its one output."""
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
        """A Chebyshev series at t, by Clenshaw's recurrence."""
        twice = self.add("Mul", [t, self.constant(2.0)])
        first = self.add("Mul", [t, self.constant(0.0)])
        second = first
        for c in reversed(coefficients[1:]):
            step = self.add("Sub", [self.add("Mul", [twice, first]), second])
            first, second = self.add("Add", [step, self.constant(c)]), first
        last = self.add("Sub", [self.add("Mul", [t, first]), second])
        return self.add("Add", [last, self.constant(coefficients[0])])

    def clip(self, value: str, low: float, high: float) -> str:
        """NaN stays NaN, for which the operator Clip has no rule."""
        high_, low_ = self.constant(high), self.constant(low)
        value = self.add("Where", [self.add("Greater", [value, high_]), high_, value])
        return self.add("Where", [self.add("Less", [value, low_]), low_, value])


def _features(graph: _Graph, model, inputs: Inputs) -> tuple[str, str | None]:
    """The matrix of `feature_names`, and the column that is added."""
    numbers = all(p.kind == "number" for p in inputs.predictors)
    if numbers and inputs.offset is None and len(inputs.predictors) == len(inputs.features):
        return graph.input("X", "double", len(inputs.predictors)), None
    blocks = [_block(graph, predictor) for predictor in inputs.predictors]
    used = [
        block
        for k, block in enumerate(blocks)
        if any(feature.predictor == k for feature in inputs.features)
    ]
    matrix = graph.add("Concat", used, axis=1)
    return matrix, None if inputs.offset is None else blocks[inputs.offset]


def _block(graph: _Graph, predictor) -> str:
    """The expanded columns of one raw column."""
    kinds = {"number": "double", "logical": "flag"}
    value = graph.input(predictor.name, kinds.get(predictor.kind, "text"), 1)
    if predictor.kind == "number":
        return value
    if predictor.kind == "logical":
        return graph.add("Cast", [value], to=graph.onnx.TensorProto.DOUBLE)
    levels = list(predictor.levels)
    code = graph.add(
        "LabelEncoder", [value], domain="ai.onnx.ml", keys_strings=levels,
        values_int64s=list(range(len(levels))), default_int64=len(levels),
    )  # fmt: skip
    columns = [
        [
            source.level[level] if source.kind == "contrast" else float(level == source.level)
            for level in levels
        ]
        for source in predictor.sources()
    ]
    table = np.vstack([np.array(columns).T, np.full(len(columns), np.nan)])  # the last row: unknown
    rows = graph.add("Gather", [graph.constant(table), code], axis=0)
    return graph.add("Reshape", [rows, graph.constant([-1, len(columns)], np.int64)])


def _linear_predictor(graph: _Graph, model, inputs: Inputs, type, features, offset) -> str:
    """Terms times coefficients: products of hinges, each computed once."""
    dirs, cuts = model.dirs[model.selected], model.cuts[model.selected]
    hinges = sorted(
        {
            (int(j), int(row[j]), float(cut[j]))
            for row, cut in zip(dirs, cuts, strict=True)
            for j in np.flatnonzero(row)
            if row[j] != 2
        }
    )
    linear = sorted({int(j) for row in dirs for j in np.flatnonzero(row) if row[j] == 2})
    used = sorted({j for j, _, _ in hinges} | set(linear))
    # 0 where all used columns are numbers, else NaN: ReLU may forget a NaN
    first = graph.add("Gather", [features, graph.constant(used or [0], np.int64)], axis=1)
    zeros = graph.add("Mul", [first, graph.constant(0.0)])
    zero = graph.add("ReduceSum", [zeros, graph.constant([1], np.int64)], keepdims=1)
    if not used:  # the intercept alone: no column counts
        zero = graph.add("Where", [graph.add("IsNaN", [zero]), graph.constant(0.0), zero])
    one = graph.add("Add", [zero, graph.constant(1.0)])
    factors, places = [one], dict[Any, int]()
    if hinges:
        picked = graph.add(
            "Gather", [features, graph.constant([h[0] for h in hinges], np.int64)], axis=1
        )
        inner = graph.add("Sub", [picked, graph.constant([h[2] for h in hinges])])
        signed = graph.add("Mul", [inner, graph.constant([float(h[1]) for h in hinges])])
        factors.append(graph.add("Relu", [signed]))
        places |= {hinge: 1 + k for k, hinge in enumerate(hinges)}
    if linear:
        factors.append(graph.add("Gather", [features, graph.constant(linear, np.int64)], axis=1))
        places |= {j: 1 + len(hinges) + k for k, j in enumerate(linear)}
    pool = graph.add("Concat", factors, axis=1)
    chosen = [_places(row, cut, places) for row, cut in zip(dirs, cuts, strict=True)]
    basis = None
    for k in range(max(1, *map(len, chosen))):
        column = [c[k] if k < len(c) else 0 for c in chosen]
        part = graph.add("Gather", [pool, graph.constant(column, np.int64)], axis=1)
        basis = part if basis is None else graph.add("Mul", [basis, part])
    coef = np.column_stack(_coefficients(model, type, inputs))[: len(dirs)]
    eta = graph.add("MatMul", [basis or one, graph.constant(coef)])
    return eta if offset is None else graph.add("Add", [eta, offset])


def _places(row, cut, places) -> list[int]:
    """Where the factors of a term are in the pool; the intercept is the column of ones."""
    return [
        places[int(j)] if row[j] == 2 else places[int(j), int(row[j]), float(cut[j])]
        for j in np.flatnonzero(row)
    ] or [0]


def _classify(
    graph: _Graph, values: str, n_resp: int, classes: np.ndarray, threshold: float
) -> None:
    """Labels and probabilities, as `EarthClassifier` predicts them."""
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


def _logit(graph: _Graph, eta: str) -> str:
    inner = graph.clip(eta, -30.0, 30.0)
    growth = graph.add("Exp", [graph.add("Neg", [inner])])
    share = graph.add("Div", [graph.constant(1.0), graph.add("Add", [growth, graph.constant(1.0)])])
    low = graph.add("Less", [eta, graph.constant(-30.0)])
    high = graph.add("Greater", [eta, graph.constant(30.0)])
    share = graph.add("Where", [low, graph.constant(EPSILON / (1 + EPSILON)), share])
    return graph.add("Where", [high, graph.constant(1 / EPSILON / (1 + 1 / EPSILON)), share])


def _probit(graph: _Graph, eta: str) -> str:
    z = graph.add("Div", [graph.clip(eta, -PROBIT, PROBIT), graph.constant(-np.sqrt(2.0))])
    size = graph.add("Abs", [z])
    scale = graph.constant(NORMAL_SCALE)
    t = graph.add("Div", [graph.add("Sub", [size, scale]), graph.add("Add", [size, scale])])
    top = (6 - NORMAL_SCALE) / (6 + NORMAL_SCALE)
    t = graph.add(
        "Mul", [graph.add("Add", [t, graph.constant(1.0)]), graph.constant(2 / (top + 1))]
    )
    t = graph.add("Sub", [t, graph.constant(1.0)])
    square = graph.add("Neg", [graph.add("Mul", [size, size])])
    tail = graph.add("Mul", [graph.add("Exp", [square]), graph.series(t, normal_series())])
    tail = graph.add("Mul", [tail, graph.constant(0.5)])
    other = graph.add("Sub", [graph.constant(1.0), tail])
    return graph.add("Where", [graph.add("Less", [z, graph.constant(0.0)]), other, tail])


def _arc(graph: _Graph, x: str) -> str:
    """atan(x) / pi for x from -1 to 1."""
    square = graph.add("Mul", [x, x])
    t = graph.add("Sub", [graph.add("Add", [square, square]), graph.constant(1.0)])
    arc = graph.add("Mul", [x, graph.series(t, arc_series())])
    return graph.add("Div", [arc, graph.constant(np.pi)])


def _cauchit(graph: _Graph, eta: str) -> str:
    eta = graph.clip(eta, -CAUCHIT, CAUCHIT)
    one, half = graph.constant(1.0), graph.constant(0.5)
    beyond = graph.add("Greater", [graph.add("Abs", [eta]), one])
    inverse = graph.add("Div", [one, graph.add("Where", [beyond, eta, one])])
    angle = _arc(graph, graph.add("Where", [beyond, inverse, eta]))
    middle = graph.add("Add", [angle, half])
    upper = graph.add("Add", [graph.add("Sub", [half, angle]), half])
    lower = graph.add("Neg", [angle])
    positive = graph.add("Greater", [eta, graph.constant(0.0)])
    return graph.add("Where", [beyond, graph.add("Where", [positive, upper, lower]), middle])


def _cloglog(graph: _Graph, eta: str) -> str:
    growth = graph.add("Exp", [eta])
    far = graph.add("Sub", [graph.constant(1.0), graph.add("Exp", [graph.add("Neg", [growth])])])
    small = graph.add("Less", [growth, graph.constant(1.0)])
    near = graph.add("Where", [small, growth, graph.constant(1.0)])
    t = graph.add("Sub", [graph.add("Add", [near, near]), graph.constant(1.0)])
    near = graph.add("Mul", [near, graph.series(t, decay_series())])
    share = graph.add("Where", [small, near, far])
    return graph.clip(share, float(EPSILON), float(1 - EPSILON))


def _log(graph: _Graph, eta: str) -> str:
    mean = graph.add("Exp", [eta])
    least = graph.constant(EPSILON)
    return graph.add("Where", [graph.add("Less", [mean, least]), least, mean])


_MEANS = {
    "identity": lambda graph, eta: eta,
    "logit": _logit,
    "probit": _probit,
    "cauchit": _cauchit,
    "cloglog": _cloglog,
    "log": _log,
    "inverse": lambda graph, eta: graph.add("Div", [graph.constant(1.0), eta]),
    "sqrt": lambda graph, eta: graph.add("Mul", [eta, eta]),
    "1/mu^2": lambda graph, eta: graph.add("Div", [graph.constant(1.0), graph.add("Sqrt", [eta])]),
}
