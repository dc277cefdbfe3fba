"""The commands: pyearthdof doctor | fit | predict | crosscheck | correct | df | reproduce | report."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from .._version import __version__
from ..exceptions import InvalidInputError, PyEarthDofError
from .df import df
from .options import (
    Degree,
    Designs,
    Engine,
    Jobs,
    Json,
    Nk,
    Penalty,
    Repetitions,
    Table,
    print_json,
)
from .reproduce import report, reproduce
from .terminal import estimate

app = typer.Typer(
    help="R's MARS in Python, and the degrees of freedom of any fitting procedure.",
    epilog="Exit codes: 0 done; 1 `doctor` or `crosscheck` found a problem; 2 an argument or a table was "
    "refused; 3 something is missing or failed (R, data, a folder in use); 130 interrupted; 141 the "
    "reader of the output closed it.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)

Target = Annotated[str, typer.Option(help="Name of the response column.")]
Targets = Annotated[
    list[str], typer.Option("--target", help="Name of the response column; repeat it for several.")
]


@app.callback(invoke_without_command=True)
def _top(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False):
    if version:
        print(f"pyearthdof {__version__}")
        raise typer.Exit


@app.command()
def doctor(
    needed: Annotated[
        Literal["r"] | None,
        typer.Option(
            "--require", help="Exit code 1 also if this does not work: `r`, MARS through R."
        ),
    ] = None,
    as_json: Json = False,
):
    """Tell what works here, what R would add, and what mends it.

    Exit code 0 if the package is usable, with R or without; 1 if not.

    Example: `pyearthdof doctor --require r`
    """
    from ..bridge.doctor import doctor as examine

    diagnosis = examine()
    print(json.dumps(diagnosis.to_dict(), indent=1) if as_json else diagnosis)
    works = diagnosis.usable and (diagnosis.ok or needed is None)
    raise typer.Exit(0 if works else 1)


@app.command()
def fit(
    data: Table,
    target: Targets,
    degree: Degree = 1,
    penalty: Penalty = None,
    nk: Nk = None,
    family: Annotated[
        str | None, typer.Option(help="Family of a generalised linear model on the terms.")
    ] = None,
    corrected: Annotated[
        bool, typer.Option("--corrected", help="Take the penalty that Algorithm 2 gives.")
    ] = False,
    engine: Engine = "auto",
    save: Annotated[Path | None, typer.Option(help="Write the model here, as JSON.")] = None,
    rds: Annotated[Path | None, typer.Option(help="Write the model here, for R's readRDS.")] = None,
    as_json: Json = False,
):
    """Fit MARS to a table; columns of text are factors.

    Example: `pyearthdof fit ozone --target O3 --degree 2 --save model.json`

    Example: `pyearthdof fit data.csv --target y --corrected`

    Example: `pyearthdof fit titanic.csv --target survived --family binomial`
    """
    from ..dof import CorrectedEarth
    from ..mars.earth import Earth
    from .table import read_table, split_targets

    for path in (save, rds):
        if path is not None:
            check_writable(path)
    if corrected and penalty is not None:
        raise InvalidInputError(
            "--penalty and --corrected are given but only one of them should be"
        )
    X, y = split_targets(read_table(data), target)
    model = Earth(degree=degree, penalty=penalty, nk=nk, glm_family=family, engine=engine)
    with refusals():
        model = (CorrectedEarth(model) if corrected else model).fit(X, y)
    fitted = model.estimator_ if corrected else model
    # Files first: nobody may be there to read the output.
    if save is not None:
        fitted.model_.save(save)
    if rds is not None:
        fitted.to_rds(rds)
    if as_json:
        print(fitted.model_.to_json())
    else:
        print(fitted.summary())
        if corrected:
            print(f"Penalty corrected from {model.correction_.default_penalty:g}")
        print(f"Nominal df {fitted.nominal_df_:g} with penalty {fitted.penalty_:g}")
    for what, file in (("Model", save), ("Model for R", rds)):
        if file is not None:
            print(f"{what} written to {file}", file=sys.stderr if as_json else sys.stdout)


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="A model that `fit --save` wrote.")],
    data: Annotated[str, typer.Argument(help="A CSV file with the model's predictors.")],
    scale: Annotated[
        Literal["response", "link", "earth"],
        typer.Option("--type", help="For a generalised linear model: what to predict."),
    ] = "response",
    as_json: Json = False,
):
    """Predict with a saved model; needs no R. Prints one line per row, several responses side by side."""
    from ..mars.model import MarsModel
    from .table import numbers_of, read_table

    if not model.is_file():
        raise InvalidInputError(f"there is no file {str(model)!r}")
    mars = MarsModel.load(model)
    table = read_table(data)
    needed = mars.raw_names
    missing = [name for name in needed if name not in table.columns]
    if missing:
        raise InvalidInputError(f"{data} lacks the column {missing[0]!r} that the model needs")
    X = table[list(needed)]
    if mars.columns is None and mars.formula is None:
        X = numbers_of(X)
    predictions = mars.predict(X, scale).tolist()
    if as_json:
        print(json.dumps(predictions))
        return
    rows = [row if isinstance(row, list) else [row] for row in predictions]
    print("\n".join("\t".join(map(repr, row)) for row in rows))


@app.command()
def crosscheck(
    data: Table,
    target: Target,
    degree: Degree = 1,
    penalty: Penalty = None,
    nk: Nk = None,
    as_json: Json = False,
):
    """Fit MARS with R's earth and with the native engine, and say whether they agree.

    Exit code 1 if they do not.

    Example: `pyearthdof crosscheck ozone --target O3 --degree 2`
    """
    from ..mars.crosscheck import crosscheck as check
    from .table import read_table, split_target

    X, y = split_target(read_table(data), target)
    with refusals():
        found = check(X, y, degree=degree, penalty=penalty, nk=nk)
    print(json.dumps(found.to_dict()) if as_json else found)
    raise typer.Exit(0 if found.same else 1)


@app.command()
def correct(
    data: Annotated[str | None, typer.Argument(help="A CSV file, or `ozone`.")] = None,
    target: Annotated[str | None, typer.Option(help="Name of the response column.")] = None,
    n: Annotated[int | None, typer.Option(min=2, help="Number of rows, without a table.")] = None,
    p: Annotated[int | None, typer.Option(min=1, help="Number of predictors.")] = None,
    degree: Annotated[int, typer.Option(min=1, help="Highest degree of interaction.")] = 1,
    nk: Annotated[int | None, typer.Option(min=1, help="Most terms in the forward pass.")] = None,
    design: Annotated[
        Literal["gaussian", "data"],
        typer.Option(
            help="Measure on Gaussian predictors of the table's shape, or on the table's."
        ),
    ] = "gaussian",
    n_rep: Repetitions = 100,
    seed: Annotated[int, typer.Option(help="As in R's set.seed; 1234 is the authors'.")] = 1234,
    designs: Designs = 1,
    engine: Engine = "auto",
    jobs: Jobs = 1,
    quick: Annotated[
        bool, typer.Option("--quick", help="Look it up in a table, with an error bar; no fits.")
    ] = False,
    as_json: Json = False,
):
    """Correct the penalty of MARS for a table, or for its size: the paper's Algorithm 2.

    Example: `pyearthdof correct ozone --target O3`

    Example: `pyearthdof correct --n 264 --p 9 --degree 1`

    Example: `pyearthdof correct --n 264 --p 9 --quick`
    """
    from ..dof import correct_penalty
    from ..random import RDraws

    measured = _correction_design(data, target, n, p, design)
    if quick:
        _print_quick(measured, degree, nk, as_json)
        return
    found = correct_penalty(
        measured,
        degree=degree,
        nk=nk,
        n_rep=n_rep,
        draws=RDraws(seed),
        n_designs=designs,
        engine=engine,
        n_jobs=jobs,
        progress=not as_json,
    )
    if as_json:
        print_json(found)
        return
    penalty = estimate(found.penalty, found.se, found.interval())
    print(f"penalty    {found.default_penalty:g} -> {penalty}")
    print(f"actual df  {estimate(found.df, found.df_se, found.interval('df'))}")
    print(f"nominal df {found.nominal_df:.6g} at penalty {found.default_penalty:g}")
    print(f"n = {found.n}, p = {found.p}, nk = {found.nk}, degree = {found.degree}, {n_rep} fits")
    print(f"Errors cover: {found.se_covers}")


def _print_quick(measured, degree, nk, as_json) -> None:
    from ..dof.penalty_table import quick_penalty

    if not isinstance(measured, tuple):
        raise InvalidInputError("--design=data but it should be gaussian with --quick")
    found = quick_penalty(measured, degree=degree, nk=nk)
    if as_json:
        print_json(found)
        return
    penalty = estimate(found.penalty, found.se, found.interval(), digits=3)
    print(f"penalty    {found.default_penalty:g} -> {penalty}")
    print(f"n = {found.n}, p = {found.p}, nk = {found.nk}, degree = {found.degree}, {found.method}")


def _correction_design(data, target, n, p, design):
    """The shape or the predictors that Algorithm 2 is about."""
    from .table import numbers_of, read_table, split_target

    if data is None:
        if n is None or p is None:
            raise InvalidInputError(
                "no table is given but there should be one with --target, or its size with --n and --p"
            )
        return (n, p)
    if n is not None or p is not None:
        raise InvalidInputError(
            "--n or --p is given but a table, which has its own size, should be alone"
        )
    if target is None:
        raise InvalidInputError(
            "--target is not given but it should name the response column of the table"
        )
    X, _ = split_target(read_table(data), target)
    values = numbers_of(X)
    return X if design == "data" else values.shape


@contextlib.contextmanager
def refusals():
    """Turn the refusals of scikit-learn's own checks into ours."""
    try:
        yield
    except PyEarthDofError:
        raise
    except ValueError as error:
        raise InvalidInputError(str(error).splitlines()[0]) from None


def check_writable(path: Path) -> None:
    """Refuse a place that cannot be written before any work is done."""
    folder = path.parent
    if path.is_dir():
        problem = "it is a folder"
    elif not folder.is_dir():
        problem = "its folder does not exist"
    elif not os.access(path if path.exists() else folder, os.W_OK):
        problem = "it is read-only"
    else:
        return
    raise InvalidInputError(f"{str(path)!r} cannot be written: {problem}")


app.command()(df)
app.command()(reproduce)
app.command()(report)
