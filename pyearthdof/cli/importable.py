"""An estimator of any package for a command: `sklearn.tree:DecisionTreeRegressor`, with its parameters."""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from pathlib import Path

from ..exceptions import InvalidInputError

__all__ = ["is_importable", "load_estimator", "parameters_of"]


def is_importable(name: str) -> bool:
    """Whether a name is `module:object` instead of one of the procedures here."""
    return ":" in name


def parameters_of(settings: list[str]) -> dict:
    """`["max_depth=3", "criterion=poisson"]` as parameters; what is no Python literal is text.

    >>> parameters_of(["max_depth=3", "weights=distance", "alphas=[0.1, 1]"])
    {'max_depth': 3, 'weights': 'distance', 'alphas': [0.1, 1]}
    """
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
    """Import `module:object`: a class, a function that makes an estimator, or an estimator.

    Modules of the folder where the command runs are found, too.
    """
    module, _, name = source.partition(":")
    found = _imported(source, module, name)
    try:
        if inspect.isclass(found):
            return found(**_plain(parameters))
        if callable(found) and not hasattr(found, "fit"):
            found = found()
        return found.set_params(**parameters) if parameters else found
    except (TypeError, ValueError, AttributeError) as error:
        reason = " ".join(str(error).split())
        raise InvalidInputError(f"{source} cannot be made with {parameters}: {reason}") from None


def _plain(parameters: dict) -> dict:
    inner = next((name for name in parameters if "__" in name.strip("_")), None)
    if inner is not None:
        raise InvalidInputError(
            f"--set {inner}=... but a class should have parameters of its own; give a function that "
            "makes the pipeline"
        )
    return parameters


def _imported(source: str, module: str, name: str):
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
