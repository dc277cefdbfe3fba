"""The page of a model: what is in it, that nothing is taken for HTML, and its script against predict."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest

from pyearthdof import AutoEarth, CorrectedEarth, Earth, EarthClassifier, MarsModel, correct_penalty
from pyearthdof.datasets import load_ozone
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.mars.export.javascript import javascript_means
from tests.support.mars.random_models import new_rows, random_models

HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script>&\"'"
SECTIONS = [
    "explore", "equation", "effects", "importance", "selection", "cross-validation", "rows", "df", "r",
    "versions",
]  # fmt: skip


class Elements(HTMLParser):
    """The elements of a page, their attributes, and the text of scripts."""

    def __init__(self, text):
        super().__init__()
        self.found, self.texts, self.inside = [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        self.inside = tag

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        self.texts.append((self.inside, data))

    def ids(self):
        return [attrs["id"] for _, attrs in self.found if "id" in attrs]


def page_of(model, tmp_path, *args, **options) -> str:
    model.report(tmp_path / "model.html", *args, **options)
    return (tmp_path / "model.html").read_text(encoding="utf-8")


def blocks(page: str) -> dict:
    """The JSON blocks of a page."""
    found = re.findall(r'<script type="application/json" id="([\w-]+)">(.*?)</script>', page, re.S)
    return {name: json.loads(text) for name, text in found}


@pytest.fixture(scope="module")
def ozone():
    data = load_ozone()
    X, y = data.drop(columns="O3"), data["O3"]
    model = Earth(
        degree=2, nfold=3, ncross=3, varmod_method="lm", random_state=1, engine="native"
    ).fit(X, y)
    return model, X, y


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.default_rng(3)
    n = 150
    X = pd.DataFrame(
        {
            HOSTILE: rng.normal(size=n),
            "kind": rng.choice(["a", HOSTILE, "c"], n),
            "flag": rng.random(n) < 0.5,
        }
    )
    y = np.maximum(0, X[HOSTILE]) + 2.0 * (X["kind"] == HOSTILE) + X["flag"]
    return X, y + rng.normal(size=n) / 9


def test_the_page_has_every_section_and_needs_nothing(ozone, tmp_path):
    model, X, y = ozone
    page = page_of(model, tmp_path, X[:20], y[:20])
    elements = Elements(page)
    sections = [attrs["id"] for tag, attrs in elements.found if tag == "section"]
    assert sections == [*SECTIONS[:7], "new", *SECTIONS[7:]]
    ids = elements.ids()
    assert len(ids) == len(set(ids))
    for tag, attrs in elements.found:
        assert not {"src", "srcset", "action", "background"} & attrs.keys()
        assert attrs.get("href", "#").startswith("#")
        assert tag not in ("link", "iframe", "object", "embed", "img")
    labelled = {attrs["for"] for tag, attrs in elements.found if tag == "label"}
    controls = [(t, a) for t, a in elements.found if t in ("input", "select")]
    assert len(controls) == 2 * 9 + 3
    assert all(a["id"] in labelled or "aria-label" in a for _, a in controls)
    assert "url(" not in page and "@import" not in page and "http://" not in page
    assert "band1" in page and "nominal degrees of freedom" in page and "library(earth)" in page


def test_the_model_in_the_page_is_the_saved_one(ozone, tmp_path):
    model, _, _ = ozone
    kept = blocks(page_of(model, tmp_path))["model-json"]
    assert kept == json.loads(model.to_json())
    assert Earth.from_json(json.dumps(kept)).model_ == model.model_


def test_a_loaded_model_and_a_model_alone_say_what_needs_the_rows(ozone, tmp_path):
    model, _, _ = ozone
    model.save(tmp_path / "model.json")
    loaded = page_of(Earth.load(tmp_path / "model.json"), tmp_path)
    assert "This needs the training rows" in loaded and "fold" in loaded
    alone = page_of(MarsModel.load(tmp_path / "model.json"), tmp_path)
    assert [a["id"] for t, a in Elements(alone).found if t == "section"] == SECTIONS
    assert "what else was given to the fit is not in the file" in alone
    assert "This needs the training rows" not in page_of(model, tmp_path)


def test_a_file_without_ranges(ozone, tmp_path):
    model, X, _ = ozone
    entries = model.model_.to_dict()
    del entries["ranges"]
    old = MarsModel.from_dict(entries)
    page = page_of(old, tmp_path)
    assert "does not know the range" in page
    known = blocks(page_of(Earth.from_json(old.to_json()), tmp_path, X))["page-json"]["predictors"]
    assert [p["low"] for p in known] == X.min().tolist()


def test_hostile_names_levels_and_titles_do_nothing(mixed, tmp_path):
    X, y = mixed
    model = Earth(degree=2, engine="native").fit(X, y.rename(HOSTILE))
    classifier = EarthClassifier(engine="native", glm_l2=0.1).fit(
        X, np.where(y > 1, HOSTILE, "<b>no")
    )
    for estimator, observed in ((model, y), (classifier, np.where(y > 1, HOSTILE, "<b>no"))):
        page = page_of(estimator, tmp_path, X, observed, title=HOSTILE)
        elements = Elements(page)
        assert sum(tag == "script" for tag, _ in elements.found) == 3
        assert not any(tag == "img" for tag, _ in elements.found)
        assert not any(name.startswith("on") for _, attrs in elements.found for name in attrs)
        bold = [text for tag, text in elements.texts if tag == "b"]
        assert "no" not in bold
        assert blocks(page)["page-json"]["predictors"][0]["name"] == HOSTILE


def test_the_policy_allows_the_own_script_alone(ozone, tmp_path):
    import base64
    import hashlib

    page = page_of(ozone[0], tmp_path)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.S)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy and policy.startswith("default-src 'none'")


def test_degrees_of_freedom_are_shown_where_they_are_known(tmp_path):
    x = np.random.default_rng(0).normal(size=(60, 2))
    y = np.abs(x[:, 0])
    found = correct_penalty((60, 2), n_rep=10, engine="native")
    page = page_of(Earth(engine="native").fit(x, y), tmp_path, df=found)
    assert "actual df" in page and "With the corrected penalty of" in page
    one = AutoEarth(Earth(engine="native"), n_models=1).fit(x, y + x[:, 1])
    chosen = f"really uses <b>{one.choice_.df:.4g}</b> degrees of freedom"
    assert chosen in page_of(one, tmp_path)
    corrected = CorrectedEarth(Earth(engine="native"), n_rep=10, random_state=1).fit(x, y)
    assert "corrected penalty" in page_of(corrected, tmp_path)
    assert "was not measured" in page_of(corrected.estimator_, tmp_path)


def test_calibration_of_classes(mixed, tmp_path):
    X, y = mixed
    model = EarthClassifier(engine="native", glm_l2=0.1).fit(X, np.digitize(y, [0.5, 1.5]))
    page = page_of(model, tmp_path, X, np.digitize(y, [0.5, 1.5]))
    assert page.count("<h3>Calibration</h3>") == 2 and page.count('class="marked"') == 1
    assert "Brier score" in page


def test_classes_that_are_dates_and_responses_that_are_factors(mixed, tmp_path):
    X, y = mixed
    dates = np.where(y > 1, np.datetime64("2020-01-01"), np.datetime64("2021-01-01"))
    model = EarthClassifier(engine="native", glm_l2=0.1).fit(X, dates)
    assert "Brier score" in page_of(model, tmp_path, X, dates)
    factor = pd.Series(pd.Categorical(np.where(y > 1, "b", "a")))
    model = Earth(engine="native").fit(X, factor)
    given = page_of(model, tmp_path, X, factor)
    assert given.count("root mean square error") == 2
    with pytest.raises(InvalidInputError, match="none of the classes"):
        model.report(tmp_path / "model.html", X, factor.cat.rename_categories({"a": "q"}))


def test_odd_models_have_a_page(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 2))
    constant = Earth(engine="native", scale_y=False).fit(x, np.ones(50))
    assert "intercept alone" in page_of(constant, tmp_path)
    frame = pd.DataFrame({"x": x[:, 0] ** 2 + 1, "w": x[:, 1], "y": x[:, 0]})
    for formula in ("y ~ log(x) + w", "y ~ x + offset(w)", "y ~ log(x) + offset(w)"):
        model = Earth.from_formula(formula, frame, engine="native")
        page = page_of(model, tmp_path, frame, frame["y"])
        assert ("There is no explorer" in page) == (formula == "y ~ log(x) + offset(w)")
        assert f"earth({formula}, data = data" in page


def test_the_sliders_of_computed_columns_go_over_their_ranges(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.uniform(1, 9, 80), "k": rng.choice(["a", "b"], 80)})
    frame["y"] = np.log(frame["x"]) * (frame["k"] == "b")
    model = Earth.from_formula("y ~ log(x) : k", frame, engine="native")
    page = page_of(model, tmp_path)
    assert "The formula computes with the columns" in page
    for predictor in blocks(page)["page-json"]["predictors"]:
        assert predictor["low"] == 0
        assert predictor["high"] == pytest.approx(np.log(frame["x"].max()), rel=0.1)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"df": 3}, "df=3 but it should be a result of correct_penalty"),
        ({"y": [1.0]}, "y is given but X is None"),
        ({"level": 2}, "level=2"),
        ({"path": 3.5}, "path=3.5 but it should be the name of a file"),
    ],
)
def test_bad_arguments(ozone, tmp_path, arguments, message):
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        ozone[0].report(**({"path": tmp_path / "model.html"} | arguments))
    assert not (tmp_path / "model.html").exists()


SCRIPT = """
const cases = CASES;
const text = (v) => (Number.isFinite(v) ? v : String(v));
console.log(JSON.stringify(cases.map(({ model, page, rows }) => {
  const m = pyearthdofModel(model, page);
  return rows.map((row) => ({
    predict: m.predict(row).map(text), earth: m.earth(row).map(text), link: m.link(row).map(text),
    terms: m.earth(row).map((_, k) => m.contributions(row, k)).flat().map(text),
    shares: page.classes === null ? [] : m.probabilities(row),
    chosen: page.classes === null ? null : m.chosenClass(row),
    prediction: m.hasIntervals ? m.interval(row, page.quantiles["0.95"]) : [],
    confidence: m.hasIntervals ? m.interval(row, page.quantiles["0.8"], "confidence") : [],
  }));
})));
"""
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node runs the page's script")


def run_in_node(pages) -> list:
    """What the script of the page computes at the rows that the page was given."""
    cases = [
        {"model": b["model-json"], "page": b["page-json"], "rows": b["page-json"]["rows"]}
        for b in pages
    ]
    source = javascript_means() + files("pyearthdof.mars.report").joinpath("model.js").read_text(
        "utf-8"
    )
    source += SCRIPT.replace("CASES", json.dumps(cases))
    run = subprocess.run(["node", "-"], input=source, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    return json.loads(run.stdout)


def close(found, expected):
    expected = np.asarray(expected, dtype=float)
    found = np.array([[float(str(v).replace("Infinity", "inf")) for v in row] for row in found])
    scale = max(1.0, np.abs(expected[np.isfinite(expected)]).max(initial=0.0))
    np.testing.assert_allclose(found, expected.reshape(found.shape), rtol=1e-12, atol=1e-12 * scale)


@needs_node
def test_the_script_computes_what_predict_computes(ozone, tmp_path):
    rng = np.random.default_rng(1)
    models = [(model, new_rows(rng, X, 6)) for _, model, X in random_models(range(30))]
    models.append((ozone[0], ozone[1].sample(20, random_state=0)))
    assert len(models) > 20
    kinds = {
        (len(m.response_names_) > 1, m.model_.glm is not None, m.model_.varmod is not None)
        for m, _ in models
    }
    assert len(kinds) >= 4
    results = run_in_node([blocks(page_of(model, tmp_path, rows)) for model, rows in models])
    for (model, rows), found in zip(models, results, strict=True):
        inner = model.model_
        n = len(rows)
        assert len(found) == n
        for kind, type in (("predict", "response"), ("earth", "earth"), ("link", "link")):
            close([row[kind] for row in found], inner.predict(rows, type).reshape(n, -1))
        close([row["terms"] for row in found], model.contributions(rows).to_numpy())
        if hasattr(model, "classes_"):
            close([row["shares"] for row in found], model.predict_proba(rows))
            assert [model.classes_[row["chosen"]] for row in found] == model.predict(rows).tolist()
        if inner.varmod is not None:
            for kind, level in (("prediction", 0.95), ("confidence", 0.8)):
                expected = inner.predict_interval(rows, level, kind)[["lower", "upper"]]
                close([row[kind] for row in found], expected.to_numpy())


@needs_node
def test_the_scripts_are_javascript(tmp_path):
    for name in ("model.js", "explorer.js", "start.js"):
        source = files("pyearthdof.mars.report").joinpath(name).read_text(encoding="utf-8")
        assert "</script" not in source
        (tmp_path / name).write_text(source)
        subprocess.run(["node", "--check", tmp_path / name], check=True)
