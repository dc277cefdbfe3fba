"""The types that are written down for the compiled core are those of the core."""

import ast
import inspect
import re
from pathlib import Path

import pyearthdof
from pyearthdof import _core

STUB = ast.parse((Path(pyearthdof.__file__).parent / "_core.pyi").read_text("utf-8"))


def arguments(function: ast.FunctionDef) -> list[str]:
    every = function.args
    return [a.arg for a in (*every.posonlyargs, *every.args, *every.kwonlyargs) if a.arg != "self"]


def functions(body) -> dict[str, list[list[str]]]:
    """The arguments of each function, of all its overloads."""
    found: dict[str, list[list[str]]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(arguments(node))
    return found


def in_core(home) -> dict[str, list[list[str]]]:
    """The same, as nanobind tells it."""
    found = {}
    for name, value in inspect.getmembers(home):
        signatures = getattr(value, "__nb_signature__", None) or getattr(
            getattr(value, "fget", None), "__nb_signature__", None
        )
        if signatures:
            found[name] = [re.findall(r"(\w+): ", text[0].split(") ->")[0]) for text in signatures]
    return found


def test_functions():
    assert functions(STUB.body) == in_core(_core)


def test_classes():
    classes = {node.name: node.body for node in STUB.body if isinstance(node, ast.ClassDef)}
    assert set(classes) == {name for name, _ in inspect.getmembers(_core, inspect.isclass)}
    for name, body in classes.items():
        core = in_core(getattr(_core, name))
        for method, expected in functions(body).items():
            if method in core:
                assert core[method] == expected, f"{name}.{method}"
        assert set(functions(body)) - {"__init__"} <= set(dir(getattr(_core, name)))
        fields = {node.target.id for node in body if isinstance(node, ast.AnnAssign)}
        assert fields <= set(dir(getattr(_core, name)))
        assert {m for m in core if not m.startswith("_")} <= set(functions(body)) | fields
