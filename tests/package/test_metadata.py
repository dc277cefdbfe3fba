"""The metadata of the package, as an index shows them."""

import re
import tomllib

from tests.support import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_description_has_no_link_into_the_checkout():
    text = (ROOT / PROJECT["readme"]).read_text(encoding="utf-8")
    assert all(link.startswith("https://") for link in re.findall(r"\]\(([^)]*)\)", text))


def test_the_description_runs():
    text = (ROOT / PROJECT["readme"]).read_text(encoding="utf-8")
    [code] = re.findall(r"```python\n(.*?)```", text, flags=re.S)
    exec(compile(code, PROJECT["readme"], "exec"), {})


def test_the_recipe_has_what_the_package_needs():
    recipe = (ROOT / "recipe" / "meta.yaml").read_text(encoding="utf-8")
    run = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    found = set(re.findall(r"^    - (\S+) (>=\S+)$", run, flags=re.M))
    wanted = {
        tuple(re.findall(r"^([a-z0-9-]+)(>=\S+)$", text)[0]) for text in PROJECT["dependencies"]
    }
    assert found - {("python", PROJECT["requires-python"])} == wanted
