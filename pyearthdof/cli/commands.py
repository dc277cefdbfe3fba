"""The commands: pyearthdof doctor | fit | predict | crosscheck | correct | df | reproduce | report."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer

from .._version import __version__
from ..exceptions import InvalidInputError
from .df import df
from .fit import fit
from .options import (
    Decimal,
    Degree,
    Designs,
    Engine,
    Factors,
    Jobs,
    Json,
    Nk,
    Penalty,
    Quiet,
    Repetitions,
    Sep,
    Table,
    TargetSe,
    print_json,
    refusals,
)
from .predict import predict
from .report import report
from .reproduce import reproduce
from .terminal import estimate

app = typer.Typer(
    help="R's MARS in Python, and the degrees of freedom of any fitting procedure.",
    epilog="Exit codes: 0 done; 1 `doctor` or `crosscheck` found a problem, or `reproduce --strict` a "
    "difference; 2 an argument or a table was refused; 3 something is missing or failed (R, data, a folder "
    "in use); 130 interrupted; 141 the reader of the output closed it.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Target = Annotated[str, typer.Option(help="Name of the response column.")]


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
            "--require", help="Also exit with code 1 if this does not work: `r`, MARS through R."
        ),
    ] = None,
    as_json: Json = False,
):
    """Show which features work, which ones R would add, and how to fix problems.

    Exit code 0 if the package is usable, with or without R; otherwise 1.

    Example: `pyearthdof doctor --require r`
    """
    from ..bridge.doctor import doctor as examine

    diagnosis = examine()
    print(json.dumps(diagnosis.to_dict(), indent=1) if as_json else diagnosis)
    works = diagnosis.usable and (diagnosis.ok or needed is None)
    raise typer.Exit(0 if works else 1)


@app.command()
def crosscheck(
    data: Table,
    target: Target,
    degree: Degree = 1,
    penalty: Penalty = None,
    nk: Nk = None,
    factor: Factors = [],  # noqa: B006
    sep: Sep = ",",
    decimal: Decimal = ".",
    as_json: Json = False,
):
    """Fit MARS with R's earth and with the native engine, and compare the models.

    Exit code 1 if they differ.

    Example: `pyearthdof crosscheck ozone --target O3 --degree 2`
    """
    from ..mars.crosscheck import crosscheck as check
    from .table import read_table, split_target

    X, y = split_target(read_table(data, sep, decimal, factors=factor), target)
    with refusals():
        found = check(X, y, degree=degree, penalty=penalty, nk=nk)
    print(json.dumps(found.to_dict()) if as_json else found)
    raise typer.Exit(0 if found.same else 1)


@app.command()
def correct(
    data: Annotated[
        str | None, typer.Argument(help="A CSV file, `-` for standard input, or `ozone`.")
    ] = None,
    target: Annotated[str | None, typer.Option(help="Name of the response column.")] = None,
    n: Annotated[int | None, typer.Option(min=2, help="Number of rows, without a table.")] = None,
    p: Annotated[int | None, typer.Option(min=1, help="Number of predictors.")] = None,
    degree: Annotated[int, typer.Option(min=1, help="Maximum degree of interaction.")] = 1,
    nk: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of terms in the forward pass.")
    ] = None,
    design: Annotated[
        Literal["gaussian", "data"],
        typer.Option(
            help="Measure on Gaussian predictors of the shape of the table, or on its predictors."
        ),
    ] = "gaussian",
    n_rep: Repetitions = None,
    target_se: TargetSe = None,
    seed: Annotated[
        int, typer.Option(help="Seed as in R's set.seed; the authors use 1234.")
    ] = 1234,
    designs: Designs = 1,
    engine: Engine = "auto",
    jobs: Jobs = 1,
    quick: Annotated[
        bool, typer.Option("--quick", help="Interpolate in a table, without fits.")
    ] = False,
    sep: Sep = ",",
    decimal: Decimal = ".",
    quiet: Quiet = False,
    as_json: Json = False,
):
    """Correct the penalty of MARS for a table or for a size (Algorithm 2 of the paper).

    Example: `pyearthdof correct ozone --target O3`

    Example: `pyearthdof correct --n 264 --p 9 --degree 1`

    Example: `pyearthdof correct --n 264 --p 9 --target-se 0.05`

    Example: `pyearthdof correct --n 264 --p 9 --quick`
    """
    from ..dof import correct_penalty
    from ..random import RDraws

    measured = _correction_design(data, target, n, p, design, (sep, decimal))
    if quick:
        if target_se is not None:
            raise InvalidInputError(
                f"--target-se={target_se:g} but it should not be given with --quick, which draws nothing"
            )
        _print_quick(measured, degree, nk, as_json)
        return
    found = correct_penalty(
        measured,
        degree=degree,
        nk=nk,
        n_rep=n_rep,
        target_se=target_se,
        draws=RDraws(seed),
        n_designs=designs,
        engine=engine,
        n_jobs=jobs,
        progress=not (as_json or quiet),
    )
    if as_json:
        print_json(found)
        return
    penalty = estimate(found.penalty, found.se, found.interval())
    print(f"penalty    {found.default_penalty:g} -> {penalty}")
    print(f"actual df  {estimate(found.df, found.df_se, found.interval('df'))}")
    print(f"nominal df {found.nominal_df:.6g} at penalty {found.default_penalty:g}")
    print(
        f"n = {found.n}, p = {found.p}, nk = {found.nk}, degree = {found.degree}, {found.n_rep} fits"
    )
    print(f"Errors cover: {found.se_covers}")


def _print_quick(measured, degree, nk, as_json) -> None:
    from ..dof.mars.tables import quick_penalty

    if not isinstance(measured, tuple):
        raise InvalidInputError("--design=data but it should be gaussian with --quick")
    found = quick_penalty(measured, degree=degree, nk=nk)
    if as_json:
        print_json(found)
        return
    penalty = estimate(found.penalty, found.se, found.interval(), digits=3)
    print(f"penalty    {found.default_penalty:g} -> {penalty}")
    print(f"n = {found.n}, p = {found.p}, nk = {found.nk}, degree = {found.degree}, {found.method}")


def _correction_design(data, target, n, p, design, written):
    """Return the shape or the predictors for Algorithm 2."""
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
    X, _ = split_target(read_table(data, *written), target)
    values = numbers_of(X)
    return X if design == "data" else values.shape


app.command()(fit)
app.command()(predict)
app.command()(df)
app.command()(reproduce)
app.command()(report)
