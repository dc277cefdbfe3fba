"""Every export of a model, run at rows: what it predicts, to be compared with `predict`."""

import json
import math
import shutil
import sqlite3
import subprocess

import numpy as np
import pandas as pd

from pyearthdof.mars.data.columns import level_text
from pyearthdof.mars.inspect.format import formulas_of

NO_SQL = {"probit", "cauchit"}


def design_of(model, rows) -> np.ndarray:
    return model.model_.design(rows)


def raw_predictions(model, rows, type="response") -> np.ndarray:
    return model.model_.predict(rows, type).reshape(len(rows), -1)


def assert_close(found, expected, what=""):
    finite = expected[np.isfinite(expected)]
    scale = max(1.0, np.abs(finite).max(initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * scale, err_msg=what)


def plain_rows(rows) -> list[list]:
    """Python values: levels as texts, truth values as such."""
    columns = []
    for name in rows:
        if isinstance(rows[name].dtype, pd.CategoricalDtype):
            columns.append([level_text(v) for v in rows[name]])
        else:
            columns.append(rows[name].tolist())
    return [list(row) for row in zip(*columns, strict=True)]


def run_python(model, rows) -> np.ndarray:
    scope = {}
    exec(compile(model.to_python(), "exported", "exec"), scope)
    return np.array([scope["predict"](*row) for row in plain_rows(rows)]).reshape(len(rows), -1)


def run_sql(model, rows) -> np.ndarray:
    with sqlite3.connect(":memory:") as database:
        columns = ", ".join('"' + name.replace('"', '""') + '"' for name in rows)
        database.execute(f"CREATE TABLE data ({columns})")
        marks = ", ".join("?" * rows.shape[1])
        database.executemany(f"INSERT INTO data VALUES ({marks})", plain_rows(rows))
        text = model.to_sql()
        text = text if isinstance(text, str) else ", ".join(text)
        found = database.execute(f"SELECT {text} FROM data ORDER BY rowid").fetchall()
    database.close()
    return np.array(found, dtype=float)


def run_c(model, rows) -> np.ndarray:
    """The least-squares formulas in C, which Python reads, too, with digits enough for every bit."""
    formulas = formulas_of(model.model_, "C", digits=17)
    found = []
    for x in design_of(model, rows).tolist():
        scope = {"x": x, "max": max}
        found.append([eval("(" + f + ")", scope) for f in formulas])
    return np.array(found)


def run_frame(model, rows) -> np.ndarray:
    """The terms of the tidy table at the rows, times their coefficients: linear predictors."""
    table = model.to_frame()
    X = pd.DataFrame(design_of(model, rows), columns=list(model.model_.feature_names))
    found = {name: np.zeros(len(rows)) for name in table["response"]}
    for (response, _), factors in table.groupby(["response", "number"], sort=False):
        values = np.full(len(rows), factors["coef"].iloc[0])
        for factor in factors.itertuples():
            if factor.shape == "linear":
                values = values * X[factor.predictor]
            elif factor.shape != "constant":
                sign = 1 if factor.shape == "above" else -1
                values = values * np.maximum(0, sign * (X[factor.predictor] - factor.knot))
        found[response] = found[response] + values
    return np.column_stack(list(found.values()))


def run_sympy(model, rows) -> np.ndarray:
    """Linear predictors; means come without R's limits."""
    import sympy

    found = model.to_sympy(type="link")
    found = [found] if model.model_.coef.ndim == 1 else found
    symbols = [sympy.Symbol(name, real=True) for name in model.model_.feature_names]
    functions = [sympy.lambdify(symbols, f, modules="mpmath", dummify=True) for f in found]
    X = design_of(model, rows)
    return np.array([[float(f(*row)) for f in functions] for row in X.tolist()])


SCRIPT = """
const text = (v) => Number.isFinite(v) ? v : String(v);
const found = MODELS.map(([f, rows]) => rows.map((row) => {
  const made = {};
  for (const [name, value] of row) Object.defineProperty(made, name, {value, enumerable: true});
  return [].concat(f(made)).flat().map(text);
}));
console.log(JSON.stringify(found));
"""


def node() -> str | None:
    return shutil.which("node")


def run_javascript(cases) -> list[np.ndarray]:
    """Sources of functions called predict, each with rows, in one process of node."""
    parts = []
    for source, rows in cases:
        pairs = [list(zip(rows, row, strict=True)) for row in plain_rows(rows)]
        parts.append(f"[(() => {{ {source}; return predict; }})(), {json.dumps(pairs)}]")
    script = "const MODELS = [\n" + ",\n".join(parts) + "];\n" + SCRIPT
    run = subprocess.run([node(), "-"], input=script, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    return [np.array([[float(str(v).replace("Infinity", "inf")) for v in row] for row in found])
            for found in json.loads(run.stdout)]  # fmt: skip


def onnx_session(model, type="response"):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 3, 1
    graph = model.to_onnx(type=type).SerializeToString()
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def run_onnx(model, rows, type="response") -> list[np.ndarray]:
    session = onnx_session(model, type)
    names = [node.name for node in session.get_inputs()]
    if names == ["X"] and list(rows) != ["X"]:
        return session.run(None, {"X": rows.to_numpy(dtype=float)})
    kinds = {"number": float, "logical": bool}
    inputs = {}
    for column in model.model_.raw_columns:
        values = rows[column.name].tolist()
        kind = kinds.get(column.kind, object)
        values = values if column.kind in kinds else [level_text(v) for v in values]
        inputs[column.name] = np.array(values, dtype=kind)[:, None]
    return session.run(None, {name: inputs[name] for name in names})


def check_model(model, rows) -> None:
    """Python, SQL, C and the table; JavaScript and ONNX are run for many models at once."""
    expected = raw_predictions(model, rows)
    assert_close(run_python(model, rows), expected, "Python")
    glm = model.model_.glm
    if glm is None or glm.link not in NO_SQL:
        with_limits = glm is not None and glm.link in ("logit", "cloglog", "log")
        inside = np.abs(raw_predictions(model, rows, "link")) < 20  # SQL cuts nothing off beyond
        found = run_sql(model, rows)
        if with_limits:
            found = np.where(inside, found, expected)
        assert_close(found, expected, "SQL")
    links = raw_predictions(model, rows, "link")
    assert_close(run_frame(model, rows), links, "to_frame")
    both = np.column_stack([raw_predictions(model, rows, "earth"), *([links] if glm else [])])
    assert_close(run_c(model, rows), both, "C")


def check_onnx(model, rows) -> None:
    outputs = run_onnx(model, rows)
    if not hasattr(model, "classes_"):
        assert_close(outputs[0], raw_predictions(model, rows), "ONNX")
        return
    label, probabilities = outputs
    assert_close(probabilities, model.predict_proba(rows), "ONNX")
    assert label.tolist() == model.predict(rows).tolist()
    assert_close(
        run_onnx(model, rows, "link")[0], raw_predictions(model, rows, "link"), "ONNX, link"
    )


def javascript_cases(model, rows):
    """Sources with what they should give."""
    yield model.to_javascript(), raw_predictions(model, rows)
    yield model.to_javascript(type="link"), raw_predictions(model, rows, "link")
    yield model.to_javascript(type="earth"), raw_predictions(model, rows, "earth")
    yield model.to_javascript(type="terms"), model.contributions(rows).to_numpy()
    if hasattr(model, "classes_"):
        yield model.to_javascript(type="proba"), model.predict_proba(rows)
    if model.model_.varmod is not None:
        yield model.to_javascript(type="sd"), model.predict_sd(rows)[:, None]


def check_javascript(models) -> int:
    """All sources of (model, rows) pairs; the number of them."""
    cases = [(s, rows, e) for model, rows in models for s, e in javascript_cases(model, rows)]
    found = run_javascript([(source, rows) for source, rows, _ in cases])
    for values, (source, _, expected) in zip(found, cases, strict=True):
        assert not math.isnan(len(values))
        assert_close(values, expected, source)
    return len(cases)


def run_excel(model, rows, path) -> np.ndarray:
    """The predictions of a workbook at `path`, computed by the package formulas."""
    import formulas

    cells = list(model.to_excel(path, rows))
    headings = [cell.value for cell in workbook_rows(path)[0]][-len(cells) :]
    found = formulas.ExcelModel().loads(str(path)).finish().calculate()
    names = model.model_.response_names
    last = [max(k for k, heading in enumerate(headings) if heading == name) for name in names]
    columns = [cells[k].removesuffix("2") for k in last]

    def value(cell) -> float:
        number = found[f"'[{path.name}]MODEL'!{cell}"].value[0, 0]
        return float(number) if isinstance(number, (int, float, np.number)) else math.nan

    n = range(2, len(rows) + 2)
    return np.array([[value(f"{column}{row}") for column in columns] for row in n])


def workbook_rows(path) -> list[tuple]:
    import openpyxl

    return list(openpyxl.load_workbook(path).active.iter_rows())
