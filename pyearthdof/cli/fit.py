"""The command `fit`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ..exceptions import InvalidInputError
from .earth_options import with_earth_options
from .options import (
    Decimal,
    Factors,
    Json,
    Quiet,
    Repetitions,
    Sep,
    Table,
    TargetSe,
    be_quiet,
    check_writable,
    refusals,
)

__all__ = ["fit"]


@with_earth_options
def fit(
    data: Table,
    target: Annotated[
        list[str],
        typer.Option("--target", help="Name of the response column; repeat it for several."),
    ],
    classify: Annotated[
        bool,
        typer.Option("--classify", help="Take the target for classes; one of text always is."),
    ] = False,
    without: Annotated[
        list[str], typer.Option(help="A column to leave out; repeat it for several.")
    ] = [],  # noqa: B006
    factor: Factors = [],  # noqa: B006
    weights: Annotated[str | None, typer.Option(help="Name of a column of case weights.")] = None,
    corrected: Annotated[
        bool, typer.Option("--corrected", help="Take the penalty that Algorithm 2 gives.")
    ] = False,
    by_df: Annotated[
        bool,
        typer.Option("--by-df", help="Take the size that the actual degrees of freedom choose."),
    ] = False,
    target_se: TargetSe = None,
    n_rep: Repetitions = None,
    save: Annotated[Path | None, typer.Option(help="Write the model here, as JSON.")] = None,
    rds: Annotated[Path | None, typer.Option(help="Write the model here, for R's readRDS.")] = None,
    sep: Sep = ",",
    decimal: Decimal = ".",
    quiet: Quiet = False,
    as_json: Json = False,
    **options,
):
    """Fit MARS to a table; columns of text are factors, and a target of text is one of classes.

    The options below are the arguments of `Earth` and `EarthClassifier` in Python, with their defaults.

    Example: `pyearthdof fit ozone --target O3 --degree 2 --save model.json`

    Example: `pyearthdof fit data.csv --target y --by-df`

    Example: `pyearthdof fit data.csv --target y --corrected --target-se 0.05`

    Example: `pyearthdof fit titanic.csv --target survived --family binomial`

    Example: `pyearthdof fit iris.csv --target species --save model.json`
    """
    from .table import leave_out, read_table, split_targets, split_weights

    if quiet:
        be_quiet()
    for path in (save, rds):
        if path is not None:
            check_writable(path)
    _check_choices(options["penalty"], corrected, by_df, target_se, n_rep)
    table = read_table(data, sep, decimal, factors=factor, unused=without)
    table = leave_out(table, without, target)
    table, case_weights = split_weights(table, weights, target)
    X, y = split_targets(table, target, classes=True)
    model = _estimator(y, classify, options)
    given = {} if case_weights is None else {"sample_weight": case_weights}
    correction = None
    with refusals():
        if corrected or by_df:
            from ..dof import CorrectedEarth

            run: dict[str, Any] = {
                "n_rep": n_rep,
                "target_se": target_se,
                "progress": not (as_json or quiet),
            }
            rule = "by_df" if by_df else "corrected"
            whole = CorrectedEarth(model, rule=rule, **run).fit(X, y, **given)
            model, correction = whole.estimator_, whole.correction_
        else:
            model.fit(X, y, **given)
    # Files first: nobody may be there to read the output.
    if save is not None:
        model.save(save)
    if rds is not None:
        model.to_rds(rds)
    _tell(model, correction, {"Model": save, "Model for R": rds}, quiet, as_json)


def _check_choices(penalty, corrected: bool, by_df: bool, target_se, n_rep) -> None:
    """Refuse two ways to choose a model, and options of a measurement without one."""
    ways = {"--penalty": penalty is not None, "--corrected": corrected, "--by-df": by_df}
    given = [name for name, is_given in ways.items() if is_given]
    if len(given) > 1:
        raise InvalidInputError(f"{' and '.join(given)} are given but only one of them should be")
    if target_se is not None and not corrected:
        raise InvalidInputError("--target-se is given but it should be with --corrected")
    if n_rep is not None and not (corrected or by_df):
        raise InvalidInputError(
            "--n-rep is given but it should be with --corrected or --by-df, which measure"
        )


def _estimator(y, classify: bool, options: dict):
    """Earth, or the classifier for a target of text."""
    import pandas as pd

    from ..mars.classifier import EarthClassifier
    from ..mars.earth import Earth

    given = {name: value for name, value in options.items() if value not in (None, [])}
    several = isinstance(y, pd.DataFrame)
    is_text = not several and not pd.api.types.is_numeric_dtype(y)
    if several and classify:
        raise InvalidInputError("--classify is given but there are several targets")
    if is_text or classify:
        if "class_order" in given and not is_text:
            known = {str(value): value for value in pd.unique(y)}
            given["class_order"] = [known.get(name, name) for name in given["class_order"]]
        return EarthClassifier(**given)
    for name in ("threshold", "class_order"):
        if name in given:
            flag = "--" + name.replace("_", "-")
            raise InvalidInputError(f"{flag} is given but the target holds numbers: add --classify")
    return Earth(**given)


def _tell(model, correction, files: dict, quiet: bool, as_json: bool) -> None:
    written = {what: file for what, file in files.items() if file is not None}
    if as_json:
        print(model.to_json())
    elif not (quiet and written):
        print(model.summary())
        for line in _chosen(model, correction):
            print(line)
    if not quiet:
        for what, file in written.items():
            print(f"{what} written to {file}", file=sys.stderr if as_json else sys.stdout)


def _chosen(model, correction) -> list[str]:
    """How the model was chosen."""
    from ..dof.mars.correction import default_penalty, nominal
    from ..dof.mars.sizes import SizeChoice

    if isinstance(correction, SizeChoice):
        counted = nominal(correction.size, default_penalty(model.degree))
        return [
            f"Size chosen by actual degrees of freedom, after {correction.curve.n_rep} fits of noise",
            f"Actual df {correction.df:.4g}, nominal df {counted:g} with the default penalty",
        ]
    lines = [f"Nominal df {model.nominal_df_:g} with penalty {model.penalty_:g}"]
    if correction is not None:
        lines.insert(
            0,
            f"Penalty corrected from {correction.default_penalty:g}, with a standard error of "
            f"{correction.se:.2g} after {correction.n_rep} fits",
        )
    return lines
