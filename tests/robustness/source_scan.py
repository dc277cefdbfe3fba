"""Finds in source text every place that starts a process, or runs text or data as code."""

from __future__ import annotations

import ast
import re
from pathlib import Path

# Dotted names: a module stands for all that is in it, "os.exec" also for os.execv, os.execlp and so on.
PYTHON_NAMES = (
    "asyncio.create_subprocess", "cffi", "cloudpickle", "code", "codeop", "concurrent.futures",
    "ctypes", "dask", "dill", "distributed", "http", "imp", "importlib.__import__",
    "importlib.import_module", "importlib.reload", "importlib.util.module_from_spec", "joblib",
    "jsonpickle", "marshal", "multiprocessing", "numexpr", "numpy.load", "numpy.lib.format", "os.exec",
    "os.fork", "os.popen", "os.posix_spawn", "os.spawn", "os.startfile", "os.system", "pandas.eval",
    "pandas.read_hdf", "pandas.read_pickle", "pickle", "pooch", "pty", "requests", "rpy2", "runpy",
    "shelve", "socket", "subprocess", "sympy.parsing", "sympy.sympify", "tarfile", "timeit",
    "urllib.request", "webbrowser",
    "yaml", "zipfile",
)  # fmt: skip
PYTHON_BUILTINS = ("__import__", "compile", "eval", "exec", "globals")
PYTHON_METHODS = (
    "eval",
    "evalr",
    "evalr_expr",
    "extractall",
    "parse",
    "query",
    "rternalize",
    "system",
)
PYTHON_KEYWORDS = ("allow_pickle", "shell")
R_ENVIRONMENTS = ("base", "baseenv", "globalenv", "environment")

R_NAMES = (
    "as.call", "as.formula", "as.function", "as.name", "as.symbol", "assign", "attach", "body<-",
    "bquote", "call", "do.call", "download.file", "dyn.load", "dynGet", "eval", "eval.parent", "evalq",
    "file.create", "file.remove", "fifo", "get", "get0", "getAnywhere", "getFromNamespace",
    "install.packages", "library", "load", "loadNamespace", "match.fun", "mget", "parse", "pipe",
    "python.call", "q", "quit", "readRDS", "Recall", "require", "requireNamespace", "save", "saveRDS",
    "setwd", "shell", "shell.exec", "sink", "socketConnection", "source", "str2expression", "str2lang",
    "sys.source", "system", "system2", "Sys.setenv", "terms.formula", "trace", "unlink", "unserialize",
    "url", "write", "writeLines", ".C", ".Call", ".External", ".Fortran", ".Internal",
)  # fmt: skip


def scan_python(path: Path) -> set[tuple[str, str]]:
    """Pairs of the function that holds the place, and what stands there."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: set[tuple[str, str]] = set()
    _walk(tree, "module", _aliases(tree), found)
    return found


def scan_r(path: Path) -> set[tuple[str, str]]:
    """Pairs of the top-level function that holds the place, and what stands there."""
    found = set()
    holder = "file"
    for line in _without_text(path.read_text(encoding="utf-8")).splitlines():
        begins = re.match(r"([\w.]+) *<- *function", line)
        if begins:
            holder = begins[1]
        for name in R_NAMES:
            if re.search(rf"(?<![\w.$@]){re.escape(name)}(?![\w.=])(?! *(=(?!=)|<-))", line):
                found.add((holder, name))
    return found


def _aliases(tree) -> dict[str, str]:
    """What the names that are imported anywhere in the file stand for."""
    known = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                whole = name.name if name.asname else name.name.split(".")[0]
                known[name.asname or whole] = whole
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for name in node.names:
                known[name.asname or name.name] = f"{node.module}.{name.name}"
    return known


def _walk(node, holder, aliases, found) -> None:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        holder = node.name
    found.update((holder, what) for what in _what(node, aliases))
    if isinstance(node, ast.Attribute) and _dotted(node, aliases):
        return  # the parts of a.b.c are not places of their own
    for part in ast.iter_child_nodes(node):
        _walk(part, holder, aliases, found)


def _what(node, aliases):
    if isinstance(node, ast.Name) and node.id in PYTHON_BUILTINS:
        yield node.id
    if isinstance(node, (ast.Name, ast.Attribute)):
        dotted = _dotted(node, aliases)
        if dotted and _is_watched(dotted):
            yield dotted
        elif isinstance(node, ast.Attribute) and node.attr in PYTHON_METHODS and not dotted:
            yield f".{node.attr}"
    if isinstance(node, ast.Call):
        yield from (f"{k.arg}=" for k in node.keywords if k.arg in PYTHON_KEYWORDS)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        owner = node.value.attr if isinstance(node.value, ast.Attribute) else None
        owner = node.value.id if isinstance(node.value, ast.Name) else owner
        if owner in R_ENVIRONMENTS and isinstance(node.ctx, ast.Load):
            yield f"R's {node.slice.value}"


def _dotted(node, aliases) -> str | None:
    """The full name of a.b.c if a is imported."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in aliases:
        return None
    return ".".join([aliases[node.id], *reversed(parts)])


def _is_watched(dotted: str) -> bool:
    return any(
        dotted == name
        or dotted.startswith(f"{name}.")
        or (name.startswith("os.") and dotted.startswith(name))
        for name in PYTHON_NAMES
    )


def _without_text(source: str) -> str:
    """R code with its strings emptied and its comments taken out; line ends stay."""
    pattern = r"""(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<comment>#[^\n]*)"""

    def replaced(match):
        return '""' + "\n" * match[0].count("\n") if match["text"] else ""

    return re.sub(pattern, replaced, source)
