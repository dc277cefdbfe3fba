"""`compare`: the reports of several procedures, side by side."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from pyearthdof import Earth, compare, df_report
from pyearthdof.exceptions import InvalidInputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = np.abs(X[:, 0]) + 0.3 * RNG.normal(size=80)
TREE = DecisionTreeRegressor(max_leaf_nodes=4)


@pytest.fixture(scope="module")
def table():
    procedures = {"a_line": LinearRegression(), "tree & co": TREE, "MARS": Earth(engine="native")}
    return compare(procedures, X, Y, n_rep=15, random_state=1)


def test_it_has_the_numbers_of_the_reports(table):
    frame = table.to_frame().set_index("procedure")
    alone = df_report(TREE, X, Y, n_rep=15, random_state=1, sigma=table.sigma)
    row = frame.loc["tree & co"]
    assert (row["df"], row["se of df"], row["naive df"]) == (alone.df, alone.se, 4)
    assert row["search cost"] == alone.found.msdf > 1
    assert frame.loc["a_line", "search cost"] == pytest.approx(0)
    for measure in alone.measures[1:]:
        assert row[f"{measure.name}, naive"] == measure.naive
        assert row[f"{measure.name}, honest"] == measure.honest
        assert row[f"{measure.name}, se"] == measure.se
    assert {report.sigma for report in table.reports.values()} == {table.sigma}
    assert frame["mean squared error, honest"].idxmin() == table.best("mean squared error")
    assert frame["R2, honest"].idxmax() == table.best("R2")
    assert json.loads(json.dumps(table.to_dict()))["reports"]["MARS"]["n"] == 80


def test_sigma_is_that_of_the_least_gcv(table):
    options = {"n_rep": 15, "random_state": 1, "prices": False}
    procedures = (LinearRegression(), TREE, Earth(engine="native"))
    alone = [df_report(procedure, X, Y, **options) for procedure in procedures]
    assert table.sigma == min(alone, key=lambda report: report.measures[-1].honest).sigma
    assert compare([TREE], X, Y, sigma=0.5, n_rep=3, random_state=1).sigma == 0.5


def test_it_prints(table, tmp_path):
    lines = str(table).splitlines()
    assert [line.split("  ")[0] for line in lines[1:4]] == ["a_line", "tree & co", "MARS"]
    assert lines[-1].startswith("80 rows, 3 columns, sigma 0.") and "15 responses" in lines[-1]
    assert "<table" in table._repr_html_() and "tree &amp; co" in table._repr_html_()
    text = table.to_markdown(tmp_path / "table.md", measures=["mean squared error", "GCV"])
    assert (tmp_path / "table.md").read_text() == text
    heads, rule, *rows = (line.strip("| ").split(" | ") for line in text.splitlines())
    assert len(heads) == 7 and len(rule) == 8 and len(rows) == 3  # the first heading is empty
    assert rows[2][0] == "MARS" and rows[2][-1].startswith("**") and rows[0][-1][0] != "*"


def test_latex_has_no_character_of_its_own(table, tmp_path):
    text = table.to_latex(tmp_path / "table.tex", measures="AIC")
    assert (tmp_path / "table.tex").read_text() == text
    assert r"a\_line & 4 & 4 & " in text and r"tree \& co & 4 & " in text
    assert r"\textbf{" in text.split("MARS")[1] and r"$\pm$" in text
    body = text.split(r"\midrule")[1].split(r"\bottomrule")[0].strip().splitlines()
    assert all(line.replace(r"\&", "").count("&") == 5 for line in body)
    assert r"{lrrrrr}" in text and text.isascii()


def test_it_draws_naive_and_honest_errors(table):
    ax = table.plot()
    naive, honest = (line.get_xdata() for line in ax.get_lines()[:2])
    frame = table.to_frame()
    np.testing.assert_array_equal(naive, frame["mean squared error, naive"])
    np.testing.assert_array_equal(honest, frame["mean squared error, honest"])
    assert ax.get_yticklabels()[0].get_text() == "a_line  (4 df)"


def test_classes_counts_and_functions():
    labels = np.where(Y > 0.8, "high", "low")
    logistic = LogisticRegression()
    table = compare([logistic, logistic, DecisionTreeClassifier(max_depth=1)], X, labels, n_rep=5)
    assert table.family == "bernoulli" and table.sigma is None
    assert list(table.reports)[:2] == ["LogisticRegression()", "LogisticRegression()'"]
    assert "share of wrong classes" in table.measures and "deviance" in str(table)
    counts = compare([PoissonRegressor()], X, np.abs(np.round(Y)), family="poisson", n_rep=5)
    assert counts.family == "poisson"

    def mean(X, y):
        return np.full(len(y), y.mean())

    both = compare([mean, LinearRegression()], X, Y, n_rep=5, random_state=RNG)
    frame = both.to_frame()
    assert np.isnan(frame.loc[0, "search cost"]) and frame.loc[0, "procedure"].endswith("mean")
    assert "mean | - | " in both.to_markdown()


@pytest.mark.parametrize(
    ("procedures", "message"),
    [
        ([], r"procedures=\[\] but it should be a list or a mapping of estimators"),
        (LinearRegression(), "but it should be a list or a mapping of estimators"),
        (
            [LinearRegression(), DecisionTreeClassifier()],
            "'LinearRegression\\(\\)' for gaussian resp",
        ),
    ],
)
def test_refused(procedures, message):
    with pytest.raises(InvalidInputError, match=message):
        compare(procedures, X, np.round(Y), n_rep=3, sigma=None)
    with pytest.raises(InvalidInputError, match="measures='mse' but it should be among mean squ"):
        compare([LinearRegression()], X, Y).to_latex(measures=["mse"])
