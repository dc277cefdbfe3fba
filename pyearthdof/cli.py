"""The command line: pyearthdof doctor | fit | predict."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from ._version import __version__
from .exceptions import InvalidInputError, PyEarthDofError

app = typer.Typer(
    help="R's MARS in Python, and the degrees of freedom of any fitting procedure.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Target = Annotated[str, typer.Option(help="Name of the response column.")]


def main() -> None:
    """Run a command; a problem that we foresaw ends in one sentence and exit code 2."""
    try:
        app()
    except PyEarthDofError as error:
        print(f"pyearthdof: {error}", file=sys.stderr)
        raise SystemExit(2) from None


@app.callback(invoke_without_command=True)
def _top(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False):
    if version:
        print(f"pyearthdof {__version__}")
        raise typer.Exit


@app.command()
def doctor(as_json: Json = False):
    """Tell what MARS through R needs and what of it is here. Exit code 1 if it cannot work."""
    from .bridge.doctor import doctor as examine

    diagnosis = examine()
    print(json.dumps(diagnosis.to_dict(), indent=1) if as_json else diagnosis)
    raise typer.Exit(0 if diagnosis.ok else 1)


@app.command()
def fit(
    data: Annotated[str, typer.Argument(help="A CSV file, or `ozone` for R's ozone1.")],
    target: Target,
    degree: Annotated[int, typer.Option(help="Highest degree of interaction.")] = 1,
    penalty: Annotated[float | None, typer.Option(help="GCV penalty for each knot.")] = None,
    nk: Annotated[int | None, typer.Option(help="Most terms in the forward pass.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the model here, as JSON.")] = None,
    as_json: Json = False,
):
    """Fit MARS to a table.

    Example: `pyearthdof fit ozone --target O3 --degree 2 --save model.json`
    """
    from .mars.earth import Earth

    if save is not None:
        check_writable(save)
    X, y = split_target(read_table(data), target)
    model = Earth(degree=degree, penalty=penalty, nk=nk).fit(X, y)
    if as_json:
        print(model.model_.to_json())
    else:
        print(model.summary())
        print(f"Nominal df {model.nominal_df_:g} with penalty {model.penalty_:g}")
    if save is not None:
        model.model_.save(save)
        print(f"Model written to {save}", file=sys.stderr if as_json else sys.stdout)


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="A model that `fit --save` wrote.")],
    data: Annotated[str, typer.Argument(help="A CSV file with the model's predictors.")],
    as_json: Json = False,
):
    """Predict with a saved model; needs no R. Prints one number a line."""
    from .mars.data import check_finite, refuse_bad_frame
    from .mars.model import MarsModel

    if not model.is_file():
        raise InvalidInputError(f"there is no file {str(model)!r}")
    mars = MarsModel.load(model)
    table = read_table(data)
    missing = [name for name in mars.feature_names if name not in table.columns]
    if missing:
        raise InvalidInputError(f"{data} lacks the column {missing[0]!r} that the model needs")
    X = table[list(mars.feature_names)]
    refuse_bad_frame(X)
    values = X.to_numpy(dtype=float)
    check_finite(values, mars.feature_names)
    predictions = mars.predict(values).tolist()
    print(json.dumps(predictions) if as_json else "\n".join(map(repr, predictions)))


def read_table(source: str) -> pd.DataFrame:
    """Read a CSV file or a data set by name."""
    if source == "ozone" and not Path(source).exists():
        from .datasets import load_ozone

        return load_ozone()
    if not Path(source).is_file():
        raise InvalidInputError(f"there is no file {source!r}")
    try:
        table = pd.read_csv(source, float_precision="round_trip")
    except (ValueError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{source} is not a readable CSV file: {error}") from None
    if table.empty:
        raise InvalidInputError(f"{source} has no rows")
    return table


def split_target(table: pd.DataFrame, target: str) -> tuple[pd.DataFrame, pd.Series]:
    """Separate the response from the predictors, or say which columns there are."""
    if target not in table.columns:
        raise InvalidInputError(
            f"there is no column {target!r}; the columns are: {', '.join(map(str, table.columns))}"
        )
    X, y = table.drop(columns=target), table[target]
    if X.shape[1] == 0:
        raise InvalidInputError(f"there is no column beside the target {target!r}")
    if not pd.api.types.is_numeric_dtype(y):
        raise InvalidInputError(f"the target {target!r} holds text but it should hold numbers")
    if y.isna().any():
        raise InvalidInputError(f"the target {target!r} has missing values")
    return X, y


def check_writable(path: Path) -> None:
    """Refuse a place that cannot be written before any work is done."""
    if path.is_dir() or not path.parent.is_dir():
        raise InvalidInputError(
            f"{str(path)!r} cannot be written: its folder does not exist"
            if not path.parent.is_dir()
            else f"{str(path)!r} is a folder"
        )
