"""Every experiment declares what it has to; adding one is adding one file."""

import pytest
from matplotlib.figure import Figure

import pyearthdof.experiments as package
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.experiments import experiment, experiments
from pyearthdof.experiments.output import as_latex, as_markdown, write_result
from pyearthdof.experiments.runner import run_experiments
from tests.support.toy import Toy

NAMES = [
    "T1", "T2", "T3", "F-subset", "F-lasso-df", "F-lasso-demo", "F-mars-df", "F-mars-mse", "T-ozone",
    "T-spam",
]  # fmt: skip


def test_all_of_the_paper_is_here_in_its_order():
    assert list(experiments()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_declares_itself(name):
    found = experiment(name.lower())
    assert found.name == name and found.title and found.question
    assert set(found.sizes) == {"quick", "paper"}
    for size in found.sizes:
        cells = found.cells(size)
        assert cells and all(isinstance(cell, dict) for cell in cells)
        assert len({str(cell) for cell in cells}) == len(cells)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(InvalidInputError, match=r"'T9'.*T1, T2"):
        experiment("T9")


def test_adding_one_is_adding_one_file(tmp_path, monkeypatch):
    (tmp_path / "t_new.py").write_text("from tests.support.toy import Toy\nEXPERIMENT = Toy()\n")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    experiments.cache_clear()
    try:
        assert "T-toy" in experiments()
    finally:
        experiments.cache_clear()


def test_files_of_a_result(tmp_path):
    [result] = run_experiments([Toy()], "paper")
    files = write_result(result, tmp_path)
    assert [f.name.removeprefix("T-toy.") for f in files] == [
        "csv", "md", "tex", "png", "svg", "json"
    ]  # fmt: skip
    content = [f.read_bytes() for f in files]
    assert content[3].startswith(b"\x89PNG") and b"<svg" in content[4]
    again = [f.read_bytes() for f in write_result(result, tmp_path)]
    assert content == again, "the same result gives the same files"
    number = result.frame["mean"].iloc[-1]
    assert repr(float(number)) in content[0].decode(), "the CSV is not rounded"
    assert isinstance(result.experiment.plot(result.frame), Figure)


def test_tables_in_markdown_and_latex():
    import pandas as pd

    table = pd.DataFrame({"a_b": ["2 -> 2.99", "|x| < 5%"], "λ": [1, 2]})
    assert as_markdown(table).splitlines() == [
        "| a_b | λ |", "|---|---|", "| 2 -> 2.99 | 1 |", "| \\|x\\| < 5% | 2 |"
    ]  # fmt: skip
    latex = as_latex(table)
    assert r"a\_b & $\lambda$ \\" in latex
    assert r"2 $\to$ 2.99 & 1 \\" in latex and r"$|$x$|$ $<$ 5\% & 2 \\" in latex
