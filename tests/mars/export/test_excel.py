"""Formulas of a spreadsheet, computed by the package formulas, against predict."""

import importlib.util

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth, EarthClassifier
from pyearthdof._utils import extras
from pyearthdof.datasets import load_ozone
from pyearthdof.exceptions import ExtraNotAvailableError, InvalidInputError
from pyearthdof.mars.export.excel import LONGEST
from tests.support.mars.exports_check import (
    assert_close,
    raw_predictions,
    run_excel,
    workbook_rows,
)
from tests.support.mars.random_models import new_rows, random_models

needs_openpyxl = pytest.mark.skipif(
    importlib.util.find_spec("openpyxl") is None, reason="openpyxl writes workbooks"
)
needs_formulas = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("openpyxl", "formulas")),
    reason="openpyxl and formulas write and compute workbooks: pip install --group onnx",
)

OZONE = load_ozone()
X, Y = OZONE[["temp", "ibh"]], OZONE["O3"]


def test_the_formula_of_a_small_model():
    model = Earth(nprune=3, engine="native").fit(X, Y)
    (cell, formula), *others = model.to_excel().items()
    assert not others and cell == "C2"
    assert formula == (
        "=IF(COUNT(A2,B2)=2,11.1600808801893 - 0.00155922339401171 * MAX(0,B2-1046)"
        " + 0.655020227433189 * MAX(0,A2-64),NA())"
    )


def long_model():
    """More terms than a formula holds."""
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.normal(size=(900, 4)), columns=list("abcd"))
    y = sum(np.sin(4 * x[name]) for name in x) + 0.1 * rng.normal(size=900)
    options = {"nk": 400, "thresh": 0, "minspan": 1, "endspan": 1, "pmethod": "none"}
    return Earth(engine="native", **options).fit(x, y), x


def many_levels():
    """A factor whose levels are longer than a formula."""
    level = [f"number {k} of the levels, whose names are long" + 300 * "!" for k in range(30)]
    x = pd.DataFrame({"level": level * 10, "z": np.linspace(0, 1, 300)})
    return Earth(engine="native", degree=2).fit(x, x.z + x["level"].str.contains("12") * x.z), x


@pytest.mark.parametrize("make", [long_model, many_levels])
def test_long_sums_are_divided_over_cells(make):
    model, _ = make()
    formulas = model.to_excel()
    lengths = [len(formula) for formula in formulas.values()]
    assert max(lengths) <= LONGEST and sum(lengths) > LONGEST
    together = "".join(formulas.values())
    assert all(cell in together for cell in list(formulas)[:-1])


@needs_formulas
@pytest.mark.parametrize("make", [long_model, many_levels])
def test_divided_sums_predict(make, tmp_path):
    model, x = make()
    rows = x.iloc[:: len(x) // 4]
    assert_close(run_excel(model, rows, tmp_path / "a.xlsx"), raw_predictions(model, rows))


@needs_formulas
def test_random_models(tmp_path):
    rng = np.random.default_rng(1)
    for _, model, rows in random_models(range(12)):
        rows = new_rows(rng, rows).head(4)
        assert_close(run_excel(model, rows, tmp_path / "a.xlsx"), raw_predictions(model, rows))


@needs_formulas
@pytest.mark.parametrize("seed", [0, 1])
def test_missing_values(seed, tmp_path):
    rng = np.random.default_rng(seed)
    x = pd.DataFrame({"a": rng.normal(size=200), "k": rng.choice(["u", "v", "w"], 200)})
    x["flag"] = pd.array(rng.random(200) > 0.5, dtype="boolean")
    y = np.abs(x.a) + (x.k == "v") + x.flag.astype(float) + 0.1 * rng.normal(size=200)
    for name in x:
        x.loc[rng.random(200) < 0.3, name] = None
    model = Earth(missing="indicator", degree=2, penalty=0).fit(x, y)
    rows = x.head(20)
    assert_close(run_excel(model, rows, tmp_path / "a.xlsx"), raw_predictions(model, rows))
    assert "missing" in " ".join(model.terms_)


@needs_formulas
def test_empty_cells_and_unknown_levels_are_not_available(tmp_path):
    x = X.assign(sky=np.where(OZONE["vis"] > 100, "clear", "hazy"))
    model = Earth(engine="native").fit(x, Y + 9 * (x.sky == "hazy"))
    path = tmp_path / "model.xlsx"
    model.to_excel(path, x.head(4))
    import openpyxl

    book = openpyxl.load_workbook(path)
    sheet = book.active
    sheet["A3"].value, sheet["C4"].value, sheet["C5"].value = None, "foggy", "HAZY"
    book.save(path)
    import formulas

    found = formulas.ExcelModel().loads(str(path)).finish().calculate()
    last = list(model.to_excel())[-1].removesuffix("2")
    values = [found[f"'[model.xlsx]MODEL'!{last}{k}"].value[0, 0] for k in range(2, 6)]
    assert float(values[0]) == pytest.approx(model.predict(x.head(1))[0], rel=1e-12)
    assert [str(value) for value in values[1:]] == ["#N/A"] * 3


@needs_openpyxl
def test_a_workbook_without_rows_has_typical_ones(tmp_path):
    x = X.assign(sky=np.where(OZONE["vis"] > 100, "=clear", "hazy"))
    Earth(engine="native").fit(x, Y).to_excel(tmp_path / "a.xlsx")
    heads, row = workbook_rows(tmp_path / "a.xlsx")
    assert [cell.value for cell in heads[:3]] == ["temp", "ibh", "sky"] and heads[-1].value == "O3"
    assert [cell.value for cell in row[:3]] == [62, 2112.5, "=clear"]
    assert [cell.data_type for cell in row] == ["n", "n", "s"] + ["f"] * (len(row) - 3)


def test_refused(monkeypatch):
    model = Earth(nprune=3, engine="native").fit(X, Y)
    with pytest.raises(InvalidInputError, match="X is given but path is None"):
        model.to_excel(X=X)
    with pytest.raises(InvalidInputError, match="type='terms' but it should be"):
        model.to_excel(type="terms")
    monkeypatch.setattr(extras, "import_module", lambda name: __import__("no_" + name))
    with pytest.raises(ExtraNotAvailableError, match="to_excel with a path needs openpyxl"):
        model.to_excel("model.xlsx")


def test_exports_are_written_to_files(tmp_path):
    model = EarthClassifier(glm_l2=1, engine="native").fit(X, np.digitize(Y, [8, 20]))
    path = tmp_path / "model"
    assert model.to_python(path=path) == path.read_text()
    assert model.to_javascript("f", "proba", path=path) == path.read_text()
    found = model.to_sql(path=path)
    assert len(found) == 3 and path.read_text() == ",\n".join(found)
    with pytest.raises(InvalidInputError, match="path='link' but it should be a file: write type="):
        model.to_onnx("link")
    onnx = pytest.importorskip("onnx")
    assert model.to_onnx(path) == onnx.load(path)
