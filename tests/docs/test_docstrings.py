"""Doc strings name the parameters that there are, and no others."""

import inspect
import re
from dataclasses import is_dataclass

import pytest
from numpydoc.docscrape import NumpyDocString

from tests.docs.test_doctests import public_names

AS_IN = re.compile(r"[Aa]s in `(\w+)\.?(\w*)`")
OTHERS = {"others"}  # the entry that is followed by "As in `Earth`."


def is_result(thing) -> bool:
    return is_dataclass(thing) or hasattr(thing, "_fields")


def text_of(thing) -> str:
    """A doc string without its examples."""
    return (inspect.getdoc(thing) or "").partition("\nExamples\n")[0]


def documented(thing) -> set[str]:
    """The names in the sections of a doc string; fields of a result are its attributes.

    "As in `Earth.fit`" takes over what is documented there.
    """
    doc = NumpyDocString(text_of(thing))
    entries = doc["Parameters"] + (doc["Attributes"] if is_result(thing) else [])
    return {name.strip().lstrip("*") for entry in entries for name in entry.name.split(",")}


def referred(thing) -> set[str]:
    found = set()
    for home, method in AS_IN.findall(text_of(thing)):
        for other in (thing for name, thing in PUBLIC.items() if name.endswith(f".{home}")):
            found |= documented(getattr(other, method) if method else other)
    return found


def parameters(thing) -> set[str]:
    return {
        name
        for name, parameter in inspect.signature(thing).parameters.items()
        if name not in ("self", "cls")
    }


def methods_of(name, thing):
    """Methods that this package defines, those of a base class under the name of the subclass."""
    for method, value in inspect.getmembers(thing, callable):
        if not method.startswith("_") and getattr(value, "__module__", "").startswith("pyearthdof"):
            yield f"{name}.{method}", value


PUBLIC = {name: thing for name, thing in public_names() if callable(thing)}
METHODS = {
    name: method
    for home, thing in PUBLIC.items()
    if inspect.isclass(thing)
    for name, method in methods_of(home, thing)
}


def wrong(thing, known: set[str]) -> tuple[set[str], set[str]]:
    """Parameters that are not documented, and documented names that are no parameters."""
    return parameters(thing) - known, documented(thing) - parameters(thing)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_documents_its_parameters(name):
    thing = PUBLIC[name]
    missing, unknown = wrong(thing, documented(thing) | referred(thing))
    assert not missing
    assert not unknown - OTHERS - (set(dir(thing)) if is_result(thing) else set())


@pytest.mark.parametrize("name", METHODS)
def test_a_method_documents_its_parameters(name):
    """In a section, or where there is none in the sentence."""
    method = METHODS[name]
    words = set(re.findall(r"\w+", text_of(method)))
    missing, unknown = wrong(method, (documented(method) or words) | referred(method))
    assert not missing
    assert not unknown


@pytest.mark.parametrize(
    ("doc", "found"),
    [
        ("Say.\n\nParameters\n----------\nx : int\ny : int\n", (set(), set())),
        ("Say.\n\nParameters\n----------\nx, y : int\n", (set(), set())),
        ("Say.\n\nParameters\n----------\nx : int\n", ({"y"}, set())),
        ("Say.\n\nParameters\n----------\nx, y, z : int\n", (set(), {"z"})),
    ],
)
def test_what_is_wrong_is_seen(doc, found):
    def function(x, y):
        pass

    function.__doc__ = doc
    assert wrong(function, documented(function)) == found
