"""The command `predict`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from ..exceptions import InvalidInputError
from .options import Decimal, Json, Quiet, Sep, check_writable


def predict(
    model: Annotated[Path, typer.Argument(help="Model file of `fit --save`, or `-`.")],
    data: Annotated[
        str,
        typer.Argument(
            help="CSV file with the predictors of the model, or `-` for standard input."
        ),
    ],
    scale: Annotated[
        Literal["response", "link", "earth"],
        typer.Option("--type", help="For a generalised linear model: type of prediction."),
    ] = "response",
    interval: Annotated[
        Literal["prediction", "confidence"] | None,
        typer.Option(help="Also print intervals; requires a variance model."),
    ] = None,
    level: Annotated[float, typer.Option(help="Coverage of the intervals.")] = 0.95,
    proba: Annotated[
        bool,
        typer.Option("--proba", help="For a classifier: also print the probability of each class."),
    ] = False,
    extrapolate: Annotated[
        Literal["allow", "warn", "clip", "refuse"],
        typer.Option(help="Treatment of rows outside the training range."),
    ] = "allow",
    keep: Annotated[
        list[str] | None,
        typer.Option(help="A column of the table to print before the predictions; repeatable."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the predictions to this file as CSV.")
    ] = None,
    sep: Sep = ",",
    decimal: Decimal = ".",
    quiet: Quiet = False,
    as_json: Json = False,
):
    """Predict with a saved model, without R. Prints CSV with a header and one line per row.

    Columns are named after the responses, with the prefix `predicted_` if a kept column has that name;
    classes are in the column `class`.

    Example: `pyearthdof predict model.json new.csv --interval prediction --out predicted.csv`

    Example: `pyearthdof predict model.json new.csv --proba --keep id`
    """
    from .table import read_rows

    if out is not None:
        check_writable(out)
    estimator = _loaded(model, data)
    kept = list(dict.fromkeys(keep or ()))
    X, table = read_rows(estimator, data, (sep, decimal), keep=kept)
    found = _predictions(estimator, X, scale, interval, level, proba, extrapolate)
    plain = interval is None and not proba and not kept
    _tell(_beside(table[kept], found), out, plain=plain, quiet=quiet, as_json=as_json)


def _beside(kept, found):
    """The predictions beside the columns that are kept."""
    import pandas as pd

    names = {name: f"predicted_{name}" if name in kept.columns else name for name in found.columns}
    if len({*kept.columns, *names.values()}) < kept.shape[1] + found.shape[1]:
        raise InvalidInputError(
            f"--keep={kept.columns[0]!r} but the columns of the predictions have that name, too"
        )
    return pd.concat([kept.reset_index(drop=True), found.rename(columns=names)], axis=1)


def _loaded(path: Path, data: str | None):
    """Load the estimator from a file or standard input."""
    from ..mars.meta import load_estimator
    from ..mars.reading import read_file
    from .table import DATA_SET

    if str(path) != "-" and (not path.exists() or path.is_dir()):
        fit = f"; fit a model of the data set first: pyearthdof fit {path} --target O3 --save model.json"
        raise InvalidInputError(
            f"there is no file {str(path)!r}{fit if str(path) == DATA_SET else ''}"
        )
    if str(path) == data == "-":
        raise InvalidInputError(
            "the model and the table are both - but only one of them should be standard input"
        )
    return load_estimator(read_file(sys.stdin.buffer if str(path) == "-" else path))


def _predictions(estimator, X, scale, interval, level, proba, extrapolate):
    """Return a frame with one column per number or class."""
    import pandas as pd

    from ..mars.data.design import check_new_data
    from ..mars.data.new_rows import within_range

    if proba and not hasattr(estimator, "classes_"):
        raise InvalidInputError("--proba is given but the model is no classifier")
    if interval is not None and hasattr(estimator, "classes_"):
        raise InvalidInputError("--interval is given but the model is a classifier")
    if proba and scale != "response":
        raise InvalidInputError(f"--type={scale} but it should be response with --proba")
    X = within_range(estimator.model_, X, extrapolate)
    if interval is not None:
        kind = "earth" if estimator.model_.glm is not None else "response"
        table = estimator.predict_interval(X, level, interval, type=kind)
        name = estimator.model_.response_names[0]
        return table.set_axis([name, "lower", "upper"], axis=1).reset_index(drop=True)
    if hasattr(estimator, "classes_") and scale == "response":
        columns = {"class": estimator.predict(X)}
        if proba:
            shares = estimator.predict_proba(X)
            names = [f"probability_{value}" for value in estimator.classes_]
            columns |= dict(zip(names, shares.T, strict=True))
        return pd.DataFrame(columns)
    if hasattr(estimator, "classes_"):
        values = estimator.model_.predict(check_new_data(estimator, X), scale)
    else:
        values = estimator.predict(X, scale)
    return pd.DataFrame(
        values.reshape(len(values), -1), columns=list(estimator.model_.response_names)
    )


def _tell(found, out: Path | None, *, plain: bool, quiet: bool, as_json: bool) -> None:
    from .._utils.files import write_whole

    if out is not None:
        write_whole(out, found.to_csv(index=False))
        if not quiet:
            print(f"Predictions written to {out}", file=sys.stderr)
    if as_json:
        if plain:  # numbers, or a list of them where there are several responses
            rows = found.to_numpy().tolist()
            print(json.dumps([row[0] for row in rows] if found.shape[1] == 1 else rows))
        else:
            rows = found.astype(object).where(found.notna(), None)
            print(json.dumps(rows.to_dict("records")))
    elif out is None:
        print(found.to_csv(index=False).removesuffix("\n"))
