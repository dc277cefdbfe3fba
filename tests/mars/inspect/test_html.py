"""What notebooks show: HTML that is whole, escaped and from nowhere else, beside the text that it was."""

import pickle
import re
import warnings
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import sklearn
from matplotlib import pyplot
from sklearn.tree import DecisionTreeRegressor

from pyearthdof import (
    AutoEarth,
    CorrectedEarth,
    Earth,
    EarthClassifier,
    choose_by_df,
    consistency_path,
    correct_penalty,
    degrees_of_freedom,
    df_of_sizes,
    doctor,
    quick_penalty,
    self_consistency,
)
from pyearthdof.procedures import BestSubset

EVIL = '<script>alert("1")</script><img src=x onerror=alert(2)>'
VOID = {"meta", "img", "br", "line", "input", "polyline", "path", "circle", "rect", "link"}


class Page(HTMLParser):
    """Tags that are open, and all that were seen."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.attributes = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        self.attributes += attributes
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        assert self.open.pop() == tag


def fitted(engine="native"):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({EVIL: rng.normal(size=120), "kind": rng.choice(["a", EVIL], 120)})
    y = pd.Series(np.abs(X[EVIL]) + (X["kind"] == "a") * X[EVIL], name=EVIL)
    return Earth(degree=2, engine=engine).fit(X, y + rng.normal(size=120) / 9)


def classifier():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = np.array([EVIL, "b", "c"])[np.digitize(X[:, 0] + rng.normal(size=120), [-0.7, 0.7])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return EarthClassifier(engine="native").fit(X, y)


def noise():
    return np.random.default_rng(0).normal(size=(30, 2)), np.arange(30.0)


def corrected(**options):
    model = CorrectedEarth(Earth(engine="native"), n_rep=10, random_state=0, **options)
    return model.fit(*noise()).correction_


X_AND_Y = np.eye(40, 3) + np.arange(120.0).reshape(40, 3), np.abs(np.arange(40.0) - 20)

RESULTS = {
    "summary": lambda: fitted().summary(),
    "model": lambda: fitted().model_,
    "estimator": fitted,
    "classifier": lambda: classifier().model_,
    "several": lambda: Earth(engine="native").fit(np.eye(40, 3), np.eye(40, 2)).model_,
    "intercept": lambda: Earth(engine="native", nk=1).fit(np.eye(40, 3), np.arange(40.0)).model_,
    "importance": lambda: fitted().importance(),
    "anova": lambda: fitted().anova(),
    "df": lambda: degrees_of_freedom(Earth(engine="native"), (30, 2), n_rep=10, random_state=0),
    "correction": lambda: correct_penalty((30, 2), n_rep=10, engine="native"),
    "path": lambda: self_consistency((30, 2), nk=[1, 5], n_rep=10, engine="native"),
    "quick": lambda: quick_penalty((100, 5)),
    "sizes": lambda: df_of_sizes((30, 2), n_rep=10, random_state=0),
    "size": lambda: AutoEarth(n_models=1).fit(*noise()).choice_,
    "mean of models": lambda: AutoEarth().fit(X_AND_Y[0], X_AND_Y[1]).model_,
    "around the fit": lambda: corrected(mu="fitted"),
    "family": lambda: choose_by_df([BestSubset(size=k) for k in range(3)], *noise(), n_rep=10),
    "grid": lambda: consistency_path(
        DecisionTreeRegressor(), {"max_leaf_nodes": [2, 3]}, X=noise()[0], n_rep=10, random_state=0
    ),
    "doctor": doctor,
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_show_themselves(name):
    text = RESULTS[name]()._repr_html_()
    page = Page(text)
    assert page.open == [] and page.seen
    if name != "estimator":  # scikit-learn's diagram has a script of its own
        assert "script" not in page.seen and "img" not in page.seen
        assert not [
            key for key, _ in page.attributes if key.startswith("on") or key in ("src", "href")
        ]
    assert EVIL not in text
    assert (
        not re.search(r"https?://", text.replace("https://scikit-learn.org", ""))
        or name == "estimator"
    )


@pytest.mark.parametrize(
    "name", ["df", "correction", "path", "sizes", "size", "around the fit", "family", "grid"]
)
def test_results_have_a_picture(name):
    ax = RESULTS[name]().plot()
    assert ax.lines and ax.get_xlabel()
    pyplot.close(ax.figure)


def test_a_long_table_is_shown_in_part():
    text = df_of_sizes((60, 5), nk=61, n_rep=10, random_state=0)
    rows = len(text.to_frame())
    assert rows > 20 and text._repr_html_().count("<tr") == 21
    assert f"{rows - 20} rows between" in text._repr_html_()


def test_no_colour_of_its_own_but_the_accent():
    text = fitted().model_._repr_html_()
    assert set(re.findall(r"#[0-9a-f]{6}", text)) == {"#3b82c4"}
    assert "background:transparent" in text and "background:#" not in text


@pytest.mark.parametrize("engine", ["native", pytest.param("r", marks=pytest.mark.needs_r)])
def test_a_summary_is_a_str(engine):
    model = fitted(engine)
    found = model.summary()
    assert isinstance(found, str) and found == str(found) and f"{found}" == found
    assert found.split("\n")[0].startswith("Call: ")
    assert "GCV" in found and "&lt;script&gt;" in found._repr_html_()
    again = pickle.loads(pickle.dumps(found))
    assert again == found and again._repr_html_() == found._repr_html_()


@pytest.mark.parametrize("name", ["summary", "model", "doctor"])
def test_ipythons_terminal_has_the_text(name):
    class Printer(list):
        text = list.append

    found, printer = RESULTS[name](), Printer()
    # a class's own __repr__ goes before one that it inherits
    assert "_repr_pretty_" in vars(type(found))
    found._repr_pretty_(printer, cycle=False)
    assert printer == [str(found)]
    assert "array(" not in printer[0] and "Finding(" not in printer[0]


def test_the_terms_are_below_the_diagram():
    model = fitted()
    assert "MARS model of" in model._repr_html_()
    assert "MARS model of" in model._repr_mimebundle_()["text/html"]
    assert "MARS model of" not in Earth()._repr_html_()
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert set(model._repr_mimebundle_()) == {"text/plain"}


def test_hinges_are_drawn_where_their_knots_are():
    x = np.linspace(0, 1, 201)[:, None]
    model = Earth(engine="native", nk=3).fit(x, np.maximum(0, x[:, 0] - 0.25))
    cut = model.cuts_[1, 0]
    points = re.findall(r'points="([^"]+)"', model.model_._repr_html_())
    places = [[float(v) for v in pair.split(",")] for pair in points[0].split()]
    assert places[1][0] == pytest.approx(3 + cut * 58, abs=0.1)


def test_errors_are_shown():
    found = degrees_of_freedom(Earth(engine="native"), (30, 2), n_rep=10, random_state=0)
    text = found._repr_html_()
    assert f"{found.df:.5g} ± {found.se:.2g}" in text and found.se_covers in text
    found = correct_penalty((30, 2), n_rep=10, engine="native")
    assert f"{found.penalty:.5g} ± {found.se:.2g}" in found._repr_html_()
