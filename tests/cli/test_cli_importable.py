"""`pyearthdof df` for any estimator that can be imported, on noise and on data."""

import json

import pytest
from typer.testing import CliRunner

from pyearthdof.cli.commands import app
from pyearthdof.cli.df import load_estimator, parameters_of
from pyearthdof.exceptions import InvalidInputError

TREE = "sklearn.tree:DecisionTreeRegressor"


def run(*arguments):
    return CliRunner().invoke(app, ["df", *arguments])


def test_a_class_with_its_parameters():
    done = run(TREE, "--set", "max_depth=2", "--n", "30", "--p", "3", "--n-rep", "5", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["n_rep"] == 5 and found["n_coef"] <= 4 < found["df"]


def test_a_report_about_a_table(tmp_path):
    page = tmp_path / "report.html"
    done = run(
        TREE, "--set", "max_depth=2", "--data", "ozone", "--target", "O3", "--n-rep", "5", "--html", str(page)
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "DecisionTreeRegressor(max_depth=2)" in done.stdout and "GCV" in done.stdout
    assert page.read_text("utf-8").startswith("<!doctype html>")


def test_a_fit_that_leaves_no_residuals_needs_sigma():
    data = ("--data", "ozone", "--target", "O3", "--n-rep", "3", "--quiet")
    assert run(TREE, *data).exit_code != 0
    done = run(TREE, *data, "--sigma", "4", "--json")
    assert done.exit_code == 0 and json.loads(done.stdout)["sigma"] == 4.0


def test_classes_that_are_text(tmp_path):
    table = tmp_path / "table.csv"
    rows = [f"{k % 7},{k % 3},{'yes' if k % 2 else 'no'}" for k in range(20)]
    table.write_text("\n".join(["a,b,kind", *rows]))
    done = run(
        "sklearn.naive_bayes:GaussianNB", "--data", str(table), "--target", "kind", "--n-rep", "5", "--json"
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["family"] == "bernoulli"


def test_a_function_of_the_folder_makes_a_pipeline(tmp_path, monkeypatch):
    (tmp_path / "my_pipeline_of_tests.py").write_text(
        "from sklearn.linear_model import Ridge\n"
        "from sklearn.pipeline import make_pipeline\n"
        "from sklearn.preprocessing import StandardScaler\n"
        "def make():\n    return make_pipeline(StandardScaler(), Ridge())\n"
    )
    monkeypatch.chdir(tmp_path)
    made = load_estimator("my_pipeline_of_tests:make", {"ridge__alpha": 3.0})
    assert made[-1].alpha == 3.0


def test_values_are_python_or_text():
    given = ["a=1", "b=[0.5, 2]", "c=None", "d=distance", "e=x=y", "f="]
    assert parameters_of(given) == {
        "a": 1, "b": [0.5, 2], "c": None, "d": "distance", "e": "x=y", "f": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("source", "parameters", "message"),
    [
        ("sklearn.tree:Nothing", {}, "module:name that can be imported"),
        ("no_such_module:Thing", {}, "module:name that can be imported"),
        (TREE, {"depth": 3}, "cannot be made with"),
        (TREE, {"a__b": 3}, "give a function that makes the pipeline"),
        ("sklearn:__version__", {}, "an estimator, its class or a function"),
    ],
)
def test_what_cannot_be_made(source, parameters, message):
    with pytest.raises(InvalidInputError, match=message):
        load_estimator(source, parameters)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tree", "--set", "a=1"), "for module:Class only"),
        ((TREE, "--depth", "2"), "by --set name=value"),
        ((TREE, "--data", "ozone"), "should be given together"),
        ((TREE, "--set", "max_depth"), "should be name=value"),
    ],
)
def test_options_that_do_not_fit(arguments, message):
    done = run(*arguments)
    assert done.exit_code != 0
    assert message in str(done.exception)
