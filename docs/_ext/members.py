"""Members and signatures on the API pages: those of this package, without the additions of scikit-learn."""

import inspect
import re
from importlib import import_module

__all__ = ["escape_learned_names", "methods_of", "properties_of", "signature_of"]

QUOTED_OR_LEARNED = re.compile(r"(``.*?``|`[^`]*`)|\b([A-Za-z]\w*)_(?!\w)")


def methods_of(full_name: str) -> list[str]:
    """Public methods, in the order of the source, those of the class before those of its bases."""
    return [name for name, member in _own(full_name) if not isinstance(member, property)]


def properties_of(full_name: str) -> list[str]:
    """Public properties, in the same order."""
    return [name for name, member in _own(full_name) if isinstance(member, property)]


def _own(full_name: str):
    module, _, name = full_name.rpartition(".")
    found = {}
    for base in getattr(import_module(module), name).__mro__:
        if not base.__module__.startswith("pyearthdof."):
            continue
        for key, member in vars(base).items():
            plain = getattr(member, "__func__", member)
            shown = inspect.isfunction(plain) or isinstance(member, property)
            if shown and not key.startswith("_") and key not in found:
                found[key] = member
    return found.items()


def signature_of(app, what, name, obj, options, signature, return_annotation):
    """Show the arguments of the constructor, also where `__new__` accepts any."""
    if what != "class" or not inspect.isclass(obj):
        return None
    plain = inspect.signature(obj)
    parameters = [p.replace(annotation=inspect.Parameter.empty) for p in plain.parameters.values()]
    return str(plain.replace(parameters=parameters, return_annotation=plain.empty)), None


def escape_learned_names(app, what, name, obj, options, lines):
    """Keep `coef_` from being a link: in reST a word that ends in an underscore is one."""
    in_example = False
    for number, line in enumerate(lines):
        in_example = line.lstrip().startswith(">>>") or (in_example and bool(line.strip()))
        if not in_example:
            lines[number] = QUOTED_OR_LEARNED.sub(_escaped, line)


def _escaped(match) -> str:
    return match[1] or rf"{match[2]}\_"


def setup(app):
    app.connect("autodoc-process-signature", signature_of)
    # numpydoc, at 500, has made reST of the doc string by then.
    app.connect("autodoc-process-docstring", escape_learned_names, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
