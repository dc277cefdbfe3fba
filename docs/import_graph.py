"""Write the imports between the layers of pyproject.toml's contracts into docs/how-it-is-built.md.

`python docs/import_graph.py` writes the section, `python docs/import_graph.py --check` exits with 1 if the
section is out of date or a layer imports one above it.
"""

import re
import sys
import tomllib
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "how-it-is-built.md"
BEGIN, END = "<!-- imports: written by docs/import_graph.py -->\n", "<!-- end of imports -->\n"


def contracts() -> list[dict]:
    """The contracts of layers."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    return [c for c in settings["contracts"] if c["type"] == "layers"]


def layers_of(contract: dict) -> list[list[str]]:
    """The full names of the modules in each layer, from the top one to the bottom one."""
    prefix = f"{contract['containers'][0]}." if "containers" in contract else ""
    layers = [re.findall(r"[\w.]+", layer) for layer in contract["layers"]]
    return [[prefix + name for name in layer] for layer in layers]


def arrows(graph: grimp.ImportGraph, layers: list[list[str]]) -> dict[str, list[str]]:
    """Each module of the layers with the others that it, or a module in it, imports."""
    members = [name for layer in layers for name in layer if name in graph.modules]
    own = {name: {name} | graph.find_descendants(name) for name in members}
    targets = {name: set() for name in members}
    for name, modules in own.items():
        for module in modules:
            targets[name] |= graph.find_modules_directly_imported_by(module)
    return {
        name: [other for other in members if other != name and targets[name] & own[other]]
        for name in members
    }


def section(graph: grimp.ImportGraph) -> tuple[str, list[str]]:
    """The text of the section, and the imports of a layer from one above it."""
    tables, upward = [], []
    for contract in contracts():
        layers = layers_of(contract)
        rank = {name: k for k, layer in enumerate(layers) for name in layer}
        lines = ["| module | imports |", "|---|---|"]
        for name, others in arrows(graph, layers).items():
            words = ", ".join(f"`{o.removeprefix('pyearthdof.')}`" for o in others)
            lines.append(f"| `{name.removeprefix('pyearthdof.')}` | {words or '-'} |")
            upward += [
                f"{name} imports {o}, which is above it" for o in others if rank[o] < rank[name]
            ]
        tables.append("\n".join(lines) + "\n")
    return "\n".join(tables), upward


def main(check: bool) -> int:
    """Write or check the section, and return the exit code."""
    graph = grimp.build_graph("pyearthdof", exclude_type_checking_imports=True, cache_dir=None)
    text, problems = section(graph)
    page = PAGE.read_text("utf-8")
    before, _, rest = page.partition(BEGIN)
    new = f"{before}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}"
    if check and new != page:
        problems.append("docs/how-it-is-built.md is out of date: run python docs/import_graph.py")
    if not check:
        PAGE.write_text(new, "utf-8")
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv))
