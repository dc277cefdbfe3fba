"""The command `report`: the page of a saved model, or of the results of `reproduce`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from ..exceptions import InvalidInputError
from .options import Decimal, Json, Quiet, Sep, check_writable

REPETITIONS = 100


def report(
    model: Annotated[
        Path | None,
        typer.Argument(
            help="Model file of `fit --save`; without it, report the results of `reproduce`."
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(help="CSV file with rows to predict and to offer in the explorer."),
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option(
            help="Column of --data with the responses; by default the response of the model."
        ),
    ] = None,
    measure: Annotated[
        bool,
        typer.Option(
            "--df", help="Measure the actual degrees of freedom of MARS for data of this size."
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The page, by default beside the model; without a model, the folder of the results, by "
            "default $PYEARTHDOF_RESULTS or `results`."
        ),
    ] = None,
    sep: Sep = ",",
    decimal: Decimal = ".",
    quiet: Quiet = False,
    as_json: Json = False,
):
    """Write a self-contained HTML page of a saved model, or of all results in a folder.

    Example: `pyearthdof report model.json --data new.csv`

    Example: `pyearthdof report --out results`
    """
    if model is None:
        if data is not None or target or measure:
            raise InvalidInputError(
                "--data, --target or --df is given but there is no model: give the file of `fit --save`"
            )
        file = _report_results(out)
    else:
        file = _report_model(model, out, (data, target), measure, (sep, decimal), quiet or as_json)
    if as_json:
        print(json.dumps({"file": str(file)}))
    elif not quiet:
        print(f"Open {file}")


def _report_results(out: Path | None) -> Path:
    from ..experiments.results_page import write_report
    from ..experiments.runner import locked

    folder = out or Path(os.environ.get("PYEARTHDOF_RESULTS") or "results")
    if not folder.is_dir():
        raise InvalidInputError(f"there are no results in {str(folder)!r}: there is no such folder")
    with locked(folder):
        return write_report(folder)


def _report_model(
    model: Path, out: Path | None, rows, measure: bool, written, silent: bool
) -> Path:
    from .predict import _loaded

    if model.is_dir():
        raise InvalidInputError(
            f"{str(model)!r} is a folder: for the results in it, give --out {model}"
        )
    if str(model) == "-" and out is None:
        raise InvalidInputError("--out is not given but it should be for a model in standard input")
    page = out or model.with_suffix(".html")
    if page.is_dir():
        page = page / f"{model.stem}.html"
    if page.resolve() == model.resolve():
        raise InvalidInputError(f"--out={str(page)!r} but it should be another file than the model")
    check_writable(page)
    data, target = rows
    estimator = _loaded(model, data)
    X, y = _rows(estimator, data, target, written)
    df = _measured(estimator.model_, silent) if measure else None
    estimator.report(page, X, y, df=df)
    return page


def _rows(estimator, data: str | None, target: list[str] | None, written):
    """Return the predictors of a table, and the responses if present."""
    from .table import read_rows

    if data is None:
        if target:
            raise InvalidInputError("--target is given but there are no rows: give --data")
        return None, None
    observed = target or ([] if hasattr(estimator, "classes_") else estimator.model_.response_names)
    X, table = read_rows(estimator, data, written, observed)
    missing = [name for name in target or [] if name not in table.columns]
    if missing:
        raise InvalidInputError(f"{data} lacks the column {missing[0]!r}")
    return X, _observed(estimator, table, target)


def _observed(estimator, table, target: list[str] | None):
    if hasattr(estimator, "classes_"):
        if target and len(target) > 1:
            raise InvalidInputError("--target is given twice but the classes are in one column")
        return table[target[0]].to_numpy() if target else None
    names = target or list(estimator.model_.response_names)
    if not set(names) <= set(table.columns):
        return None
    is_numbers = all(table[name].dtype.kind in "iuf" for name in names)
    if target and not is_numbers:
        raise InvalidInputError(f"--target={target[0]} but it should name columns of numbers")
    return table[names].to_numpy(dtype=float) if is_numbers else None


def _measured(model, silent: bool):
    from ..dof import correct_penalty

    size = (model.n_samples, len(model.feature_names))
    return correct_penalty(
        size, degree=model.degree, nk=model.nk, n_rep=REPETITIONS, progress=not silent
    )
