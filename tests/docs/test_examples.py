"""The examples of the pages and of the README run, and print what the pages say."""

import contextlib
import importlib.util
import io
import os
import re
import runpy
import shutil
from pathlib import Path

import pytest

from pyearthdof.exceptions import RNotAvailableError
from tests.support.docs_pages import examples, run, run_r, same

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    if examples(page.read_text("utf-8"), "python")
)
R_PAGES = sorted(
    page for page in (ROOT / "docs").glob("*.md") if examples(page.read_text("utf-8"), "r")
)
SCRIPTS = sorted((ROOT / "docs" / "examples").glob("plot_*.py"))
OPTIONAL = ("onnxruntime",)  # a block that imports one of these is left out where it is missing
SLOW = {
    "own-procedure", "pipeline-df", "plot_best_subset", "plot_forest_boosting", "plot_mars_search",
    "plot_ozone", "plot_splines",
}  # fmt: skip


def cases(files):
    """Those that would take long among the fast tests are run by `make test-all`."""
    return [
        pytest.param(f, id=f.name, marks=pytest.mark.slow if f.stem in SLOW else ()) for f in files
    ]


@contextlib.contextmanager
def skips_without_r():
    """An example that asks for R where there is none is skipped; the error says what is missing."""
    try:
        yield
    except RNotAvailableError as error:
        pytest.skip(str(error))


def missing_package(code):
    """The first package of OPTIONAL that a block imports and that is not installed."""
    wanted = (name for name in OPTIONAL if re.search(rf"^import {name}$", code, re.MULTILINE))
    return next((name for name in wanted if importlib.util.find_spec(name) is None), None)


@pytest.mark.parametrize("page", cases(PAGES))
def test_a_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": page.stem}
    wrong, left_out = [], []
    with skips_without_r():
        for example in examples(page.read_text("utf-8"), "python"):
            if package := missing_package(example.code):
                left_out.append(f"{page.name}:{example.line} needs {package}")
                continue
            printed = run(example, names, page)
            if not same(printed, example.output or ""):
                wrong.append(f"{page.name}:{example.line} prints\n{printed}\nnot\n{example.output}")
    assert not wrong, "\n".join(wrong)
    if left_out:
        pytest.skip("; ".join(left_out))


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="plain R (Rscript) is not installed")
@pytest.mark.parametrize("page", R_PAGES, ids=lambda page: page.name)
def test_the_r_side_of_a_page(page, tmp_path):
    shown = examples(page.read_text("utf-8"), "r")
    printed = run_r([example.code for example in shown], tmp_path)
    wrong = [
        f"{page.name}:{example.line} prints\n{output}\nnot\n{example.output}"
        for example, output in zip(shown, printed, strict=True)
        if not same(output, example.output or "")
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("script", cases(SCRIPTS))
def test_a_script_of_the_gallery_draws(script, tmp_path, monkeypatch):
    from matplotlib import pyplot

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pyplot, "show", lambda: None)
    before = set(pyplot.get_fignums())
    with skips_without_r(), contextlib.redirect_stdout(io.StringIO()):
        runpy.run_path(os.fspath(script))
    drawn = set(pyplot.get_fignums()) - before
    assert drawn
    for number in drawn:
        figure = pyplot.figure(number)
        assert any(ax.has_data() for ax in figure.axes)


def test_a_wrong_page_is_found(tmp_path):
    text = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
    [example] = examples(text, "python")
    assert not same(run(example, {}, tmp_path / "page.md"), example.output)


def test_a_page_says_where_it_fails(tmp_path):
    [example] = examples("# Title\n\n```python\n1 / 0\n```\n", "python")
    with pytest.raises(ZeroDivisionError) as raised:
        run(example, {}, tmp_path / "page.md")
    assert raised.traceback[-1].lineno + 1 == example.line == 4
