"""The options of `fit` that are arguments of Earth and EarthClassifier: one table, in their order.

Nothing is imported for it, so that help is quick; None means that Earth's own default counts.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, Literal

import typer

__all__ = ["EARTH_OPTIONS", "FLAGS", "with_earth_options"]

PANEL = "Arguments of Earth and EarthClassifier"
# The argument, its type, other names of the option than --its-name, and the help.
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
    "exhaustive_tol": (float, (), "When terms are too dependent to be pruned exhaustively."),
    "keepxy": (bool, (), "With nfold, also out-of-fold RSq for each size."),
    "random_state": (int, ("--seed",), "Seed of the cross-validation, as in R's set.seed."),
    "engine": (Literal["auto", "r", "native"], (), "What computes the fit; default auto."),
    "n_jobs": (int, ("--jobs",), "Threads of the native engine; -1 is all processors."),
    "threshold": (float, (), "Of two classes, the second is taken above this probability; default 0.5."),
    "class_order": (list[str], (), "The classes in their order; repeat it, once for each."),
}  # fmt: skip
FLAGS = frozenset(name for name, (kind, _, _) in EARTH_OPTIONS.items() if kind is bool)


def _parameter(name: str) -> inspect.Parameter:
    kind, others, text = EARTH_OPTIONS[name]
    flag = "--" + name.replace("_", "-")
    flags = [f"{flag}/--no-{flag[2:]}" if name in FLAGS else flag, *others]
    option = typer.Option(*flags, help=text, show_default=False, rich_help_panel=PANEL)
    annotation: Any = Annotated[kind | None, option]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )


def with_earth_options(command: Callable) -> Callable:
    """The command with these options in place of its **options, as typer looks at them."""
    own = list(inspect.signature(command, eval_str=True).parameters.values())
    parameters = own[:-1] + [_parameter(name) for name in EARTH_OPTIONS]
    parameters.sort(key=lambda p: p.kind)
    setattr(command, "__signature__", inspect.Signature(parameters))  # noqa: B010
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command
