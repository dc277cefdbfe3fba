"""The command `fit`, with the arguments of Earth and EarthClassifier as options."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from .._utils.checks import refusal
from ..exceptions import InvalidInputError
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

PANEL = "Arguments of Earth and EarthClassifier"
# Written here so that help imports neither numpy nor an estimator: None means Earth's own default. A test
# compares the names with the constructors'. Argument: type, other names of the option than --its-name, help.
EARTH_OPTIONS: dict[str, tuple[Any, tuple[str, ...], str]] = {
    "degree": (int, (), "Highest degree of interaction; default 1."),
    "penalty": (float, (), "GCV penalty for each knot; default 2, with interactions 3."),
    "nk": (int, (), "Most terms in the forward pass."),
    "thresh": (float, (), "Stop when a step adds less than this to RSq; default 0.001."),
    "minspan": (int, (), "Rows between knots; 0 is automatic, -k means k knots for each predictor."),
    "endspan": (int, (), "Rows before the first knot; 0 is automatic."),
    "newvar_penalty": (float, (), "Penalty for a predictor that is not in the model yet."),
    "fast_k": (int, (), "Fast MARS: parents considered at each step; default 20, 0 is all."),
    "fast_beta": (float, (), "Fast MARS: ageing of parents; default 1."),
    "linpreds": (list[str], (), "A predictor that may enter only linearly; repeat it for several."),
    "pmethod": (str, (), "Pruning: backward, none, exhaustive, forward, seqrep or cv."),
    "nprune": (int, (), "Most terms after pruning."),
    "adjust_endspan": (float, (), "Factor on endspan for interactions; default 2."),
    "auto_linpreds": (bool, (), "A knot at the smallest value becomes a linear term; the default."),
    "scale_y": (bool, (), "Scale the response in the forward pass; the default for one."),
    "response_weight": (list[float], (), "Weight of a response; repeat it, one for each."),
    "glm_family": (str, ("--family",), "Family of a generalised linear model on the terms."),
    "glm_link": (str, ("--link",), "Its link."),
    "glm_maxit": (int, (), "Most iterations of the generalised linear model."),
    "glm_epsilon": (float, (), "When its iteration has converged."),
    "glm_l2": (float, (), "Ridge penalty for terms that separate the response."),
    "nfold": (int, (), "Folds of a cross-validation."),
    "ncross": (int, (), "Repetitions of the cross-validation."),
    "stratify": (bool, (), "Folds balanced over the response; the default."),
    "varmod_method": (str, ("--varmod",), "Variance model for intervals: lm, ...; needs nfold, ncross."),
    "varmod_exponent": (float, (), "Power of the response in the variance model."),
    "varmod_conv": (float, (), "When the variance model has converged, in percent."),
    "varmod_clamp": (float, (), "Least standard deviation, as a share of the mean."),
    "varmod_minspan": (int, (), "minspan of a variance model that is MARS."),
    "force_weights": (bool, (), "Search as for case weights although there are none."),
    "get_leverages": (bool, (), "Compute leverages; by default below 100,000 rows."),
    "missing": (Literal["raise", "indicator"], (), "indicator: fit missing values by indicators."),
    "monotone": (list[str], (), "A column and the sign of its slopes, as age=1; repeat it."),
    "interactions": (list[str], (), "Columns that may interact, as age,sex; repeat it for further groups."),
    "exhaustive_tol": (float, (), "When terms are too dependent to be pruned exhaustively."),
    "keepxy": (bool, (), "With nfold, also out-of-fold RSq for each size."),
    "random_state": (int, ("--seed",), "Seed of the cross-validation, as in R's set.seed."),
    "engine": (Literal["auto", "r", "native"], (), "What computes the fit; default auto."),
    "n_jobs": (int, ("--jobs",), "Threads of the native engine; -1 is all processors."),
    "threshold": (float, (), "Of two classes, the second is taken above this probability; default 0.5."),
    "class_order": (list[str], (), "The classes in their order; repeat it, once for each."),
    "class_weight": (Literal["balanced"], (), "balanced: the same total weight for each class."),
}  # fmt: skip
_FLAGS = frozenset(name for name, (kind, _, _) in EARTH_OPTIONS.items() if kind is bool)


def _parameter(name: str) -> inspect.Parameter:
    kind, others, text = EARTH_OPTIONS[name]
    flag = "--" + name.replace("_", "-")
    flags = [f"{flag}/--no-{flag[2:]}" if name in _FLAGS else flag, *others]
    option = typer.Option(*flags, help=text, show_default=False, rich_help_panel=PANEL)
    annotation: Any = Annotated[kind | None, option]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )


def _with_earth_options(command: Callable) -> Callable:
    """Return the command with these options in place of its **options, for typer."""
    own = list(inspect.signature(command, eval_str=True).parameters.values())
    parameters = own[:-1] + [_parameter(name) for name in EARTH_OPTIONS]
    parameters.sort(key=lambda p: p.kind)
    setattr(command, "__signature__", inspect.Signature(parameters))  # noqa: B010
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


@_with_earth_options
def fit(
    data: Table,
    target: Annotated[
        list[str],
        typer.Option("--target", help="Name of the response column; repeatable."),
    ],
    classify: Annotated[
        bool,
        typer.Option("--classify", help="Treat the target as classes; text always is."),
    ] = False,
    without: Annotated[list[str], typer.Option(help="Column to ignore; repeatable.")] = [],  # noqa: B006
    factor: Factors = [],  # noqa: B006
    weights: Annotated[str | None, typer.Option(help="Column of case weights.")] = None,
    corrected: Annotated[
        bool, typer.Option("--corrected", help="Use the corrected penalty of Algorithm 2.")
    ] = False,
    auto: Annotated[
        bool,
        typer.Option(
            "--auto",
            help="Select degree and size by measured degrees of freedom, and average models; with --degree, "
            "of that degree.",
        ),
    ] = False,
    models: Annotated[
        int | None,
        typer.Option(
            help="Number of models that --auto averages; default 20, 1 for a single readable one."
        ),
    ] = None,
    target_se: TargetSe = None,
    n_rep: Repetitions = None,
    save: Annotated[Path | None, typer.Option(help="Write the model to this file as JSON.")] = None,
    rds: Annotated[
        Path | None, typer.Option(help="Write the model to this file for R's readRDS.")
    ] = None,
    sep: Sep = ",",
    decimal: Decimal = ".",
    quiet: Quiet = False,
    as_json: Json = False,
    **options,
):
    """Fit MARS to a table. Text columns are factors, and text targets are classes.

    The options below are the arguments of `Earth` and `EarthClassifier`, with their defaults.

    Example: `pyearthdof fit ozone --target O3 --degree 2 --save model.json`

    Example: `pyearthdof fit data.csv --target y --auto`

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
    _check_choices(options["penalty"], corrected, auto, models, target_se, n_rep)
    table = read_table(data, sep, decimal, factors=factor, unused=without)
    table = leave_out(table, without, target)
    table, case_weights = split_weights(table, weights, target)
    X, y = split_targets(table, target, classes=True)
    given = {} if case_weights is None else {"sample_weight": case_weights}
    correction = None
    with refusals():
        model = _estimator(y, classify, options)
        if corrected or auto:
            run: dict[str, Any] = {"progress": not (as_json or quiet)}
            if n_rep is not None:
                run["n_rep"] = n_rep
            if auto:
                from ..dof.mars.auto_earth import AutoEarth

                run |= {"random_state": options["random_state"], "n_jobs": options["n_jobs"]}
                own = {"degrees": options["degree"] and (options["degree"],), "n_models": models}
                run |= {name: value for name, value in own.items() if value is not None}
                whole: Any = AutoEarth(model, **run).fit(X, y, **given)
            else:
                from ..dof.mars.corrected_earth import CorrectedEarth

                whole = CorrectedEarth(model, target_se=target_se, **run).fit(X, y, **given)
                correction = whole.correction_
            model = whole.estimator_
        else:
            model.fit(X, y, **given)
    # Files first: standard output may be closed.
    if save is not None:
        model.save(save)
    if rds is not None:
        model.to_rds(rds)
    _tell(model, correction, {"Model": save, "Model for R": rds}, quiet, as_json)


def _check_choices(penalty, corrected: bool, auto: bool, models, target_se, n_rep) -> None:
    """Raise an error for conflicting selection options, and for measurement options without a measurement."""
    ways = {"--penalty": penalty is not None, "--corrected": corrected, "--auto": auto}
    given = [name for name, is_given in ways.items() if is_given]
    if len(given) > 1:
        raise InvalidInputError(f"{' and '.join(given)} are given but only one of them should be")
    if target_se is not None and not corrected:
        raise InvalidInputError("--target-se is given but it should be with --corrected")
    if models is not None and not auto:
        raise InvalidInputError("--models is given but it should be with --auto")
    if n_rep is not None and not (corrected or auto):
        raise InvalidInputError(
            "--n-rep is given but it should be with --corrected or --auto, which measure"
        )


def _estimator(y, classify: bool, options: dict):
    """Return Earth, or the classifier for a text target."""
    import pandas as pd

    from ..mars.classifier import EarthClassifier
    from ..mars.earth import Earth

    given = {name: value for name, value in options.items() if value not in (None, [])}
    if "monotone" in given:
        given["monotone"] = dict(map(_direction, given["monotone"]))
    if "interactions" in given:
        given["interactions"] = [tuple(group.split(",")) for group in given["interactions"]]
    several = isinstance(y, pd.DataFrame)
    is_text = not several and not pd.api.types.is_numeric_dtype(y)
    if several and classify:
        raise InvalidInputError("--classify is given but there are several targets")
    if is_text or classify:
        if "class_order" in given and not is_text:
            known = {str(value): value for value in pd.unique(y)}
            given["class_order"] = [known.get(name, name) for name in given["class_order"]]
        return EarthClassifier(**given)
    for name in ("threshold", "class_order", "class_weight"):
        if name in given:
            flag = "--" + name.replace("_", "-")
            raise InvalidInputError(
                f"{flag} is given but the target contains numbers: add --classify"
            )
    return Earth(**given)


def _direction(text: str) -> tuple[str, int]:
    """Return the column and the sign of a value of --monotone."""
    name, _, sign = text.rpartition("=")
    if not name or sign not in ("1", "-1"):
        raise refusal(
            "--monotone", text, "the name of a column and a sign, such as age=1 or price=-1"
        )
    return name, int(sign)


def _tell(model, correction, files: dict, quiet: bool, as_json: bool) -> None:
    written = {what: file for what, file in files.items() if file is not None}
    if as_json:
        print(model.to_json())
    elif not (quiet and written):
        for part in (model.summary(), *_chosen(model, correction)):
            print(part)
    if not quiet:
        for what, file in written.items():
            print(f"{what} written to {file}", file=sys.stderr if as_json else sys.stdout)


def _chosen(model, correction) -> list[str]:
    """Return a description of the selection."""
    fitted = model.model_
    if fitted.selection is not None:
        return []  # the summary has the measured degrees of freedom
    lines = [f"Nominal df {fitted.nominal_df:g} with penalty {fitted.penalty:g}"]
    if correction is not None:
        lines.insert(
            0,
            f"Penalty corrected from {correction.default_penalty:g}, with a standard error of "
            f"{correction.se:.2g} after {correction.n_rep} fits",
        )
    return lines
