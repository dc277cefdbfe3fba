"""The command `df`: degrees of freedom of procedures by name."""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from .._utils.checks import refusal
from ..exceptions import InvalidInputError
from .options import (
    Designs,
    Factors,
    Jobs,
    Json,
    Quiet,
    Repetitions,
    TargetSe,
    check_writable,
    print_json,
)
from .terminal import estimate


@dataclass(frozen=True)
class _Entry:
    """A procedure: location of its class, required and optional options."""

    home: str
    name: str
    needs: tuple[str, ...] = ()
    may_have: tuple[str, ...] = ()
    univariate: bool = False


_OURS, _EARTH, _MDA = "..procedures", "..mars.earth", "..mars.mda"
PROCEDURES = {
    "least-squares": _Entry(_OURS, "LeastSquares"),
    "ridge": _Entry(_OURS, "Ridge", ("lam",)),
    "nearest-neighbors": _Entry(_OURS, "NearestNeighbors", ("k",)),
    "cubic-spline": _Entry(_OURS, "CubicSpline", ("n_basis",), univariate=True),
    "smoothing-spline": _Entry(_OURS, "SmoothingSpline", (), ("lam",), univariate=True),
    "monotone-cubic-spline": _Entry(_OURS, "MonotoneCubicSpline", ("n_basis",), univariate=True),
    "monotone-smoothing-spline": _Entry(
        _OURS, "MonotoneSmoothingSpline", ("lam",), univariate=True
    ),
    "best-subset": _Entry(_OURS, "BestSubset", ("size",)),
    "lasso": _Entry(_OURS, "Lasso", ("lam",)),
    "relaxed-lasso": _Entry(_OURS, "RelaxedLasso", ("lam",)),
    "iterative-ridge": _Entry(_OURS, "IterativeRidge", ("lam",)),
    "tree": _Entry(_OURS, "RegressionTree", ("depth",)),
    "mars": _Entry(_EARTH, "Earth", (), ("degree", "nk", "penalty", "engine", "no_prune")),
    "mda-mars": _Entry(_MDA, "Mars", (), ("degree", "nk", "penalty", "no_prune")),
}


def _complete(incomplete: str) -> list[str]:
    return [name for name in PROCEDURES if name.startswith(incomplete)]


def df(
    procedure: Annotated[
        str,
        typer.Argument(
            help=f"One of: {', '.join(PROCEDURES)}; or module:Class of any estimator.",
            autocompletion=_complete,
        ),
    ],
    data: Annotated[
        str | None, typer.Option(help="CSV file or ozone: report the degrees of freedom on it.")
    ] = None,
    target: Annotated[str | None, typer.Option(help="Response column of --data.")] = None,
    factor: Factors = [],  # noqa: B006
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="name=value: a parameter of module:Class; repeatable."),
    ] = None,
    family: Annotated[
        Literal["gaussian", "bernoulli", "poisson"] | None,
        typer.Option(help="Distribution of the response; bernoulli for classifiers."),
    ] = None,
    sigma: Annotated[
        float | None,
        typer.Option(help="Noise standard deviation; estimated with --data, otherwise 1."),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="With --data: also write the report as HTML.")
    ] = None,
    n: Annotated[int, typer.Option(min=2, help="Number of rows.")] = 100,
    p: Annotated[
        int | None, typer.Option(min=1, help="Number of Gaussian predictors; 10 by default.")
    ] = None,
    lam: Annotated[float | None, typer.Option(help="Penalty λ of ridge, lasso, splines.")] = None,
    k: Annotated[int | None, typer.Option(help="Number of neighbours.")] = None,
    n_basis: Annotated[int | None, typer.Option(help="Number of spline basis functions.")] = None,
    size: Annotated[int | None, typer.Option(help="Size of the best subset.")] = None,
    depth: Annotated[int | None, typer.Option(help="Depth of the tree.")] = None,
    degree: Annotated[int | None, typer.Option(help="MARS: maximum degree of interaction.")] = None,
    nk: Annotated[int | None, typer.Option(help="MARS: maximum number of terms.")] = None,
    penalty: Annotated[float | None, typer.Option(help="MARS: GCV penalty per knot.")] = None,
    no_prune: Annotated[bool, typer.Option("--no-prune", help="MARS: forward pass only.")] = False,
    engine: Annotated[
        Literal["auto", "r", "native"] | None, typer.Option(help="MARS: engine of the fits.")
    ] = None,
    n_rep: Repetitions = None,
    target_se: TargetSe = None,
    seed: Annotated[int, typer.Option(help="Seed as in R's set.seed.")] = 1234,
    designs: Designs = 1,
    method: Annotated[
        Literal["auto", "monte-carlo", "exact"], typer.Option(help="Algorithm 1, or closed form.")
    ] = "auto",
    jobs: Jobs = 1,
    quiet: Quiet = False,
    as_json: Json = False,
):
    """Measure the degrees of freedom of a fitting procedure on pure noise, or on data.

    By default, predictors are Gaussian, or x = 1, ..., n for splines, and the true mean is 0. With
    --data, predictors come from a table, the mean is the fit to its target, and a report includes AIC,
    BIC, GCV and R2.

    Example: `pyearthdof df tree --n 100 --p 5 --depth 2`

    Example: `pyearthdof df sklearn.tree:DecisionTreeRegressor --set max_depth=3 --data ozone --target O3`

    Example: `pyearthdof df mars --n 264 --p 9 --degree 1 --no-prune --json`
    """
    import numpy as np

    from ..dof import degrees_of_freedom, family_df
    from ..dof.families import family_of
    from ..random import RDraws

    given = {
        "lam": lam, "k": k, "n_basis": n_basis, "size": size, "depth": depth, "degree": degree,
        "nk": nk, "penalty": penalty, "engine": engine, "no_prune": no_prune or None,
    }  # fmt: skip
    entry, fit = _build(procedure, {name: v for name, v in given.items() if v is not None}, setting)
    run: dict[str, Any] = {"draws": RDraws(seed), "n_jobs": jobs}
    run |= {} if n_rep is None else {"n_rep": n_rep}
    if data is not None or target is not None or html is not None:
        if target_se is not None:
            raise InvalidInputError(
                f"--target-se={target_se:g} but it should not be given with --data, whose report has a "
                "fixed number of fits, --n-rep"
            )
        run |= {"family": family, "sigma": sigma}
        _report(fit, data, target, factor, html, as_json, run)
        return
    of_noise: dict[str, Any] = {"sigma": sigma, "target_se": target_se, "method": method}
    run |= {"n_designs": designs, "progress": not (as_json or quiet)}
    if entry.univariate and p not in (None, 1):
        raise InvalidInputError(f"{procedure} has one predictor, but --p is {p}")
    X = np.arange(1.0, n + 1)[:, None] if entry.univariate else (n, 10 if p is None else p)
    distribution = family_of(fit, family)
    if distribution == "gaussian":
        found = degrees_of_freedom(fit, X, **of_noise, **run)
    else:
        for name, value in of_noise.items():
            if value not in (None, "auto"):
                raise refusal(_flag(name), value, f"left out for the family {distribution!r}")
        found = family_df(fit, X, family=distribution, **run)
    if as_json:
        print_json(found)
        return
    print(f"{fit}\nn = {n}, {found.n_rep or 'no'} fits\n")
    for row in found.to_frame().itertuples():
        print(f"{row.quantity:<7} {estimate(row.estimate, row.se, (row.lower, row.upper))}")
    print(f"\nErrors cover: {found.se_covers}")


def _report(fit, data, target, factors, html, as_json: bool, run: dict) -> None:
    """Print the report on a table, and write it as a page if requested."""
    from .._utils.files import write_whole
    from ..dof import df_report
    from ..dof.pipeline.df_report import page_of

    if data is None or target is None:
        raise InvalidInputError("--data and --target should be given together, also for --html")
    if html is not None:
        check_writable(html)
    X, y = _table(data, target, factors)
    report = df_report(fit, X, y, progress=not as_json, **run)
    if html is not None:
        write_whole(html, page_of(report))
    if as_json:
        print_json(report)
    else:
        print(report)


def _table(data: str, target: str, factors: list[str]):
    from .table import read_table, split_target

    table = read_table(data, factors=factors)
    if target in table.columns and table[target].dtype.kind not in "biuf":
        # Classes: the response may be text, which other commands refuse.
        missing = table[target].isna().any()
        if not missing and table.shape[1] > 1:
            return table.drop(columns=target), table[target]
    return split_target(table, target)


def _build(name: str, given: dict, setting: list[str] | None):
    """Return the procedure with its options, or raise an error that names the invalid option."""
    if ":" in name:  # module:object
        for option in given:
            raise InvalidInputError(
                f"{_flag(option)} is given but {name} should have its parameters by --set name=value"
            )
        return _Entry("", name), load_estimator(name, parameters_of(setting or []))
    if setting:
        raise InvalidInputError(
            f"--set is given but it should be for module:Class only, not for {name}"
        )
    if name not in PROCEDURES:
        raise InvalidInputError(
            f"procedure={name!r} but it should be one of {', '.join(PROCEDURES)}"
        )
    entry = PROCEDURES[name]
    known = entry.needs + entry.may_have
    for option in given:
        if option not in known:
            takes = ", ".join(map(_flag, known)) or "none"
            raise InvalidInputError(
                f"{_flag(option)} is given but {name} should have its own options only: {takes}"
            )
    for option in entry.needs:
        if option not in given:
            raise InvalidInputError(f"{_flag(option)} is not given but it should be for {name}")
    if given.pop("no_prune", False):
        given |= {"thresh": 0.0} | ({"pmethod": "none"} if name == "mars" else {"prune": False})
    return entry, getattr(importlib.import_module(entry.home, __package__), entry.name)(**given)


def _flag(option: str) -> str:
    return "--" + option.replace("_", "-")


def parameters_of(settings: list[str]) -> dict:
    """Parse `["max_depth=3", "criterion=poisson"]` as parameters: Python literals, or else strings."""
    found = {}
    for setting in settings:
        name, sign, value = setting.partition("=")
        if not sign or not name:
            raise InvalidInputError(f"--set {setting} but it should be name=value")
        try:
            found[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            found[name] = value
    return found


def load_estimator(source: str, parameters: dict):
    """Import `module:object`: a class, a function that returns an estimator, or an estimator.

    Modules in the current folder are found as well.
    """
    found = _imported(source)
    inner = next((name for name in parameters if "__" in name.strip("_")), None)
    if inspect.isclass(found) and inner is not None:
        raise InvalidInputError(
            f"--set {inner}=... but a class should have parameters of its own; give a function that "
            "makes the pipeline"
        )
    try:
        if inspect.isclass(found):
            return found(**parameters)
        if callable(found) and not hasattr(found, "fit"):
            found = found()
        return found.set_params(**parameters) if parameters else found
    except (TypeError, ValueError, AttributeError) as error:
        reason = " ".join(str(error).split())
        raise InvalidInputError(f"{source} cannot be made with {parameters}: {reason}") from None


def _imported(source: str):
    module, _, name = source.partition(":")
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        found = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidInputError(
            f"procedure={source!r} but it should be module:name that can be imported ({error})"
        ) from None
    if not (inspect.isclass(found) or callable(found) or hasattr(found, "fit")):
        raise InvalidInputError(
            f"procedure={source!r} but it should be an estimator, its class or a function that makes it"
        )
    return found
