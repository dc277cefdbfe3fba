"""Export of a model as spreadsheet formulas: each row contains the predictors and the computed cells."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ..._utils.checks import check_choice
from ..._utils.extras import load_extra
from ...exceptions import InvalidInputError
from ..data.columns import Column, level_text
from .inputs import TYPES, Inputs, coefficients, link_of, model_inputs, model_terms, summands
from .links import render_mean

LONGEST = 8192  # characters of a formula, including the equals sign
MOST_COLUMNS, MOST_ROWS = 16_384, 1_048_576
MOST_ARGUMENTS, LONGEST_TEXT = 250, 255

FUNCTIONS = {
    "Add": "({}+{})", "Sub": "({}-{})", "Div": "({}/{})", "USub": "(-{})", "Gt": "{}>{}", "Lt": "{}<{}",
    "where": "IF({},{},{})", "clip": "MIN(MAX({},{}),{})", "least": "MAX({},{})", "most": "MIN({},{})",
    "exp": "EXP({})", "expm1": "(TANH({0}/2)*(EXP({0})+1))", "atan": "ATAN({})",
    "normal": "NORMSDIST({})", "square": "({0}*{0})", "reciprocal": "(1/{})",
    "reciprocal_root": "(1/SQRT({}))",
}  # fmt: skip


def excel_formulas(model, *, type: str = "response", row: int = 2) -> dict[str, tuple[str, str]]:
    """Return the computed cells of a row in order: cell -> (heading, formula).

    The predictors occupy the columns from A on. A factor has one cell for the number of the level and one for
    each column of the terms; sums too long for one formula are split into several cells.
    """
    check_choice("type", type, TYPES)
    inputs = model_inputs(model)
    cells = _Cells(row, len(inputs.predictors))
    raw = [_address(place, row) for place in range(len(inputs.predictors))]
    codes = _level_codes(cells, model, inputs, raw)

    def factor(column, feature, predictor):
        return _factor(column, codes.get(feature.predictor, column), feature, predictor)

    columns = inputs.columns(raw, factor)
    used = np.any(model.dirs[model.selected] != 0, axis=0)
    for j, feature in enumerate(inputs.features):
        if used[j] and columns[j] != raw[feature.predictor]:
            columns[j] = cells.add(model.feature_names[j], columns[j])
    terms = model_terms(model, inputs, raw, columns, _hinge)
    link, number_cells = link_of(model, type), _number_cells(inputs, used, raw)
    for name, coef in zip(model.response_names, coefficients(model, type, inputs), strict=True):
        is_mean = link != "identity"
        eta = cells.add_sum(
            f"link of {name}" if is_mean else name, summands(coef, terms, _number), number_cells
        )
        if is_mean:
            cells.add(name, render_mean(link, eta, _number, FUNCTIONS))
    return cells.found


def to_excel(model, path: Any = None, X: Any = None, *, type: str = "response") -> dict[str, str]:
    """Write a model as spreadsheet formulas; arguments as in `Earth.to_excel`."""
    found = excel_formulas(model, type=type)
    if path is not None:
        from ..._utils.files import write_whole

        write_whole(path, _workbook(model, X, type))
    return {cell: formula for cell, (_, formula) in found.items()}


@dataclass
class _Cells:
    """Computed cells of a row, to the right of `n_inputs` predictors."""

    row: int
    n_inputs: int
    found: dict[str, tuple[str, str]] = field(default_factory=dict)

    def add(self, heading: str, formula: str) -> str:
        place = self.n_inputs + len(self.found)
        if place >= MOST_COLUMNS:
            raise InvalidInputError(
                f"the model needs more than the {MOST_COLUMNS:,} columns of a spreadsheet"
            )
        if len(formula) >= LONGEST:
            raise InvalidInputError(
                f"{heading[:40]!r} needs a formula of {len(formula):,} characters, above {LONGEST:,}"
            )
        cell = _address(place, self.row)
        self.found[cell] = heading, f"={formula}"
        return cell

    def add_sum(
        self, heading: str, parts: Sequence[str], numbers: Sequence[str] = (), wrap: str = "{}"
    ) -> str:
        """Add a sum, split into several cells if too long; NA() unless `numbers` are numeric."""
        if numbers:
            groups = [
                numbers[k : k + MOST_ARGUMENTS] for k in range(0, len(numbers), MOST_ARGUMENTS)
            ]
            counts = "+".join(f"COUNT({','.join(group)})" for group in groups)
            wrap = wrap.format(f"IF({counts}={len(numbers)},{{}},NA())")
        if len(wrap) + len(" ".join(parts)) >= LONGEST:
            cells = [
                self.add(f"{heading}, part {k}", text)
                for k, text in enumerate(_joined(parts, LONGEST - 1), 1)
            ]
            return self.add_sum(heading, [cells[0], *(f"+{cell}" for cell in cells[1:])], (), wrap)
        return self.add(heading, wrap.format(" ".join(parts)))


def _joined(parts: Sequence[str], longest: int) -> Iterator[str]:
    """Yield the parts of a sum as the fewest texts of at most this length."""
    text = parts[0]
    for part in parts[1:]:
        if len(text) + 1 + len(part) > longest:
            yield text
            text = part
        else:
            text += f" {part}"
    yield text


def _address(column: int, row: int) -> str:
    letters, rest = "", column + 1
    while rest:
        rest, place = divmod(rest - 1, 26)
        letters = chr(ord("A") + place) + letters
    return f"{letters}{row}"


def _number(value: float) -> str:
    """Format a number with the 15 digits that Excel reads."""
    return format(value, ".15g").upper() if math.isfinite(value) else "(9E+307*9)"


def _text(text: str) -> str:
    pieces = [text[k : k + LONGEST_TEXT] for k in range(0, len(text), LONGEST_TEXT)] or [""]
    return "&".join('"' + piece.replace('"', '""') + '"' for piece in pieces)


def _level_codes(cells: _Cells, model, inputs: Inputs, raw: Sequence[str]) -> dict[int, str]:
    """Add a cell per used factor: the number of its level, 0 for unknown levels, -1 if missing."""
    used = np.any(model.dirs[model.selected] != 0, axis=0)
    codes = {}
    for place, predictor in enumerate(inputs.predictors):
        features = [f for f, is_used in zip(inputs.features, used, strict=True) if is_used]
        if predictor.kind in ("number", "logical") or all(f.predictor != place for f in features):
            continue
        parts = [
            f"{'+ ' if k > 1 else ''}{k}*EXACT({raw[place]},{_text(level)})"
            for k, level in enumerate(predictor.levels, 1)
        ]
        wrap = "{}" if predictor.fill is None else f"IF(ISBLANK({raw[place]}),-1,{{}})"
        codes[place] = cells.add_sum(f"level of {predictor.name}", parts, wrap=wrap)
    return codes


def _number_cells(inputs: Inputs, used: np.ndarray, raw: Sequence[str]) -> list[str]:
    """Return the predictors required for a prediction: an empty cell would count as 0."""
    places = {f.predictor for f, is_used in zip(inputs.features, used, strict=True) if is_used}
    if inputs.offset is not None:
        places.add(inputs.offset)
    predictors = inputs.predictors
    return [
        raw[k]
        for k in sorted(places)
        if predictors[k].kind == "number" and predictors[k].fill is None
    ]


def _factor(column: str, code: str, feature, predictor: Column) -> str:
    if predictor.kind == "number":
        if feature.kind == "missing":
            return f"IF(ISBLANK({column}),1,0)"
        present = f"IF(ISNUMBER({column}),{column},NA())"
        return f"IF(ISBLANK({column}),{_number(feature.level)},{present})"
    if predictor.kind == "logical":
        if feature.kind == "missing":
            return f"IF(ISBLANK({column}),1,0)"
        found = f"IF(ISLOGICAL({column}),IF({column},1,0),NA())"
        return found if predictor.fill is None else f"IF(ISBLANK({column}),0,{found})"
    if feature.kind == "missing":
        return f"IF({code}=0,NA(),IF({code}=-1,1,0))"
    if feature.kind == "contrast":
        values = ",".join(_number(feature.level[level]) for level in predictor.levels)
        found = f"IF({code}=0,NA(),CHOOSE(MAX({code},1),{values}))"
        return found if predictor.fill is None else f"IF({code}=-1,0,{found})"
    number = predictor.levels.index(feature.level) + 1
    return f"IF({code}=0,NA(),IF({code}={number},1,0))"


def _hinge(column: str, direction: int, cut: float) -> str:
    if direction == -1:
        return f"MAX(0,{_number(cut)}-{column})"
    sign = "+" if cut < 0 else "-"
    return f"MAX(0,{column}{sign}{_number(abs(cut))})"


def _workbook(model, X: Any, type: str) -> bytes:
    """Return an .xlsx file: headings and one row per row of X, or a row of medians without X."""
    openpyxl = load_extra("openpyxl", "to_excel with a path")
    inputs = model_inputs(model)
    rows = [_typical(model, inputs)] if X is None else list(_rows(model, inputs, X))
    if len(rows) >= MOST_ROWS:
        raise InvalidInputError(
            f"X has {len(rows):,} rows, but a spreadsheet has {MOST_ROWS:,}, the headings included"
        )
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("model")
    headings = [
        *(predictor.name for predictor in inputs.predictors),
        *(heading for heading, _ in excel_formulas(model, type=type).values()),
    ]
    try:
        sheet.append([_plain_cell(sheet, heading) for heading in headings])
        for k, row in enumerate(rows, 2):
            formulas = excel_formulas(model, type=type, row=k).values()
            sheet.append(
                [*(_plain_cell(sheet, value) for value in row), *(text for _, text in formulas)]
            )
    except openpyxl.utils.exceptions.IllegalCharacterError as error:
        raise InvalidInputError(
            f"a workbook cannot contain the control character in {str(error)[:60]!r}"
        ) from error
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def _plain_cell(sheet: Any, value: Any) -> Any:
    """Return a cell with a value; text is never interpreted as a formula."""
    if not isinstance(value, str):
        return value
    cell = load_extra("openpyxl.cell", "to_excel with a path").WriteOnlyCell(sheet, value)
    cell.data_type = "s"
    return cell


def _rows(model, inputs: Inputs, X: Any) -> Iterator[list]:
    """Yield the rows of X, checked as in `predict`, in the columns of the formulas."""
    design = model.design(X)
    names = [predictor.name for predictor in inputs.predictors]
    if isinstance(X, pd.DataFrame) and set(names) <= set(map(str, X.columns)):
        columns = [
            _values(X.iloc[:, list(map(str, X.columns)).index(p.name)], p)
            for p in inputs.predictors
        ]
    else:  # a matrix, or the columns of a formula with transformations
        columns = [column.tolist() for column in design.T]
    return (list(row) for row in zip(*columns, strict=True))


def _values(series: pd.Series, predictor: Column) -> list:
    convert = {"number": float, "logical": bool}.get(predictor.kind, level_text)
    missing = series.isna().to_numpy()
    return [
        None if gap else convert(value) for value, gap in zip(series.tolist(), missing, strict=True)
    ]


def _typical(model, inputs: Inputs) -> list:
    """Medians and most frequent levels of the training rows, where the model stores them."""
    known = {} if model.ranges is None else {c.name: c for c in model.ranges.columns}
    row: list[Any] = []
    for predictor in inputs.predictors:
        column = known.get(predictor.name)
        if column is None or (column.counts and not predictor.levels):
            row.append(None)
        elif column.median is not None:
            row.append(column.median)
        else:
            level = predictor.levels[int(np.argmax(column.counts))]
            row.append(level == "TRUE" if predictor.kind == "logical" else level)
    return row
