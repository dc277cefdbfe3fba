"""The page of a model in Chromium: what it computes, the keyboard, two widths, dark, hostile names.

`make browser-test` runs these; `make test` neither installs what they need nor runs them.
"""

import importlib.util
import os
import shutil

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth, EarthClassifier
from pyearthdof.datasets import load_ozone

CHROMIUM = os.environ.get("PYEARTHDOF_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
HOSTILE = "<img src=x onerror=window.hurt=1></script><script>window.hurt=1</script>"
IS_HERE = importlib.util.find_spec("playwright") is not None and os.path.exists(CHROMIUM)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        "PYEARTHDOF_BROWSER" not in os.environ, reason="`make browser-test` runs a real browser"
    ),
    pytest.mark.skipif(
        not IS_HERE, reason="playwright (pip install --group browser) or Chromium is missing"
    ),
]


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


def opened(browser, file, width=1400, height=900, scheme="light"):
    """A page without a complaint of its own, and without a request but for itself."""
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    complaints, asked = [], []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_function("document.getElementById('prediction')?.dataset.value !== undefined")
    assert complaints == []
    assert asked == [file.as_uri()]
    return page


@pytest.fixture(scope="module")
def ozone(tmp_path_factory):
    data = load_ozone()
    X, y = data.drop(columns="O3"), data["O3"]
    options = {"degree": 2, "nfold": 3, "ncross": 3, "varmod_method": "lm", "random_state": 1}
    model = Earth(engine="native", **options).fit(X, y)
    file = tmp_path_factory.mktemp("page") / "ozone.html"
    model.report(file, X[:30], y[:30])
    return model, X, file


@pytest.fixture(scope="module")
def factors(tmp_path_factory):
    rng = np.random.default_rng(0)
    n = 200
    X = pd.DataFrame({
        HOSTILE: rng.normal(size=n), "kind": rng.choice(["a", HOSTILE, "c"], n), "flag": rng.random(n) < 0.5,
    })  # fmt: skip
    mean = np.maximum(0, X[HOSTILE]) + 2.0 * (X["kind"] == HOSTILE) + X["flag"]
    y = (mean + rng.normal(size=n) / 2).to_numpy()
    folder = tmp_path_factory.mktemp("page")
    model = Earth(degree=2, engine="native").fit(X, y)
    model.report(folder / "factors.html", title=HOSTILE)
    classes = np.array(["low", "mid", HOSTILE])[np.digitize(y, [0.5, 1.5])]
    classifier = EarthClassifier(engine="native").fit(X, classes)
    classifier.report(folder / "classes.html", X, classes)
    return model, classifier, X, folder


def number(page, place, name="value") -> float:
    return float(page.get_attribute(f"#{place}", f"data-{name}"))


def test_a_row_of_the_data_is_predicted_as_in_python(browser, ozone):
    model, X, file = ozone
    page = opened(browser, file)
    for row in (1, 17, 30):
        page.fill("#row", str(row))
        here = X.iloc[[row - 1]]
        assert number(page, "prediction") == pytest.approx(model.predict(here)[0], rel=1e-12)
        interval = model.predict_interval(here, 0.95)
        assert number(page, "interval", "low") == pytest.approx(
            interval["lower"].iloc[0], rel=1e-12
        )
        assert number(page, "interval", "high") == pytest.approx(
            interval["upper"].iloc[0], rel=1e-12
        )
        added = [number(page, f"added{t}") for t in range(model.n_terms_)]
        np.testing.assert_allclose(added, model.contributions(here).to_numpy()[0], rtol=1e-12)
    page.select_option("#level", "0.8")
    page.select_option("#kind", "confidence")
    narrow = model.predict_interval(X.iloc[[29]], 0.8, "confidence")
    assert number(page, "interval", "low") == pytest.approx(narrow["lower"].iloc[0], rel=1e-12)
    page.close()


def test_the_keyboard_is_enough(browser, ozone):
    model, X, file = ozone
    page = opened(browser, file)
    k = list(X).index("temp")
    page.focus(f"#number{k}")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == f"range{k}"
    before = float(page.input_value(f"#number{k}"))
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    after = float(page.input_value(f"#number{k}"))
    assert after > before
    row = {name: float(page.input_value(f"#number{j}")) for j, name in enumerate(X)}
    assert number(page, "prediction") == pytest.approx(
        model.predict(pd.DataFrame([row]))[0], rel=1e-12
    )
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"
    page.fill(f"#number{k}", "1000")
    assert "Outside of the training rows: temp" in page.inner_text("#warning")
    page.fill(f"#number{k}", "")
    assert "Give temp a number" in page.inner_text("#warning")
    page.focus("#again")
    page.keyboard.press("Enter")
    assert page.inner_text("#warning") == "" and float(page.input_value(f"#number{k}")) == before
    page.close()


def test_factors_and_truth_values_are_lists(browser, factors):
    model, _, _, folder = factors
    page = opened(browser, folder / "factors.html")
    page.fill("#number0", "1.25")
    for kind in range(3):
        for flag in range(2):
            page.select_option("#list1", str(kind))
            page.select_option("#list2", str(flag))
            level = page.eval_on_selector("#list1", "list => list.selectedOptions[0].textContent")
            row = pd.DataFrame({HOSTILE: [1.25], "kind": [level], "flag": [bool(flag)]})
            assert number(page, "prediction") == pytest.approx(model.predict(row)[0], rel=1e-12)
    page.close()


def test_classes(browser, factors):
    _, classifier, X, folder = factors
    page = opened(browser, folder / "classes.html")
    for row in (1, 5, 9):
        page.fill("#row", str(row))
        here = X.iloc[[row - 1]]
        shares = [number(page, f"share{c}") for c in range(3)]
        np.testing.assert_allclose(shares, classifier.predict_proba(here)[0], rtol=1e-12)
        chosen = classifier.classes_[int(number(page, "class"))]
        assert chosen == classifier.predict(here)[0]
        page.select_option("#response", "2")
        assert number(page, "prediction") == pytest.approx(shares[2], rel=1e-12)
    page.close()


def test_hostile_names_do_nothing(browser, factors):
    *_, folder = factors
    for name in ("factors.html", "classes.html"):
        page = opened(browser, folder / name)
        assert page.evaluate("window.hurt") is None
        assert page.locator("img").count() == 0
        page.close()


@pytest.mark.parametrize("width", [1400, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_and_can_be_read(browser, ozone, factors, width, scheme):
    *_, folder = factors
    for file in (ozone[2], folder / "factors.html", folder / "classes.html"):
        page = opened(browser, file, width, 900, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        ink, ground = (
            page.evaluate(f"getComputedStyle(document.body).{name}.match(/\\d+/g).map(Number)")
            for name in ("color", "backgroundColor")
        )
        assert (sum(ink) > sum(ground)) == (scheme == "dark")
        assert abs(sum(ink) - sum(ground)) > 450
        page.close()


def test_on_a_phone_the_prediction_stays_in_sight(browser, ozone):
    _, X, file = ozone
    page = opened(browser, file, 400, 800)
    page.locator(f"#range{X.shape[1] - 1}").scroll_into_view_if_needed()
    box = page.locator("#prediction").bounding_box()
    assert box is not None and 0 <= box["y"] < 800
    page.close()


def test_the_model_is_saved_from_the_page(browser, ozone, tmp_path):
    model, X, file = ozone
    page = opened(browser, file)
    with page.expect_download() as started:
        page.click("#save")
    started.value.save_as(tmp_path / "model.json")
    assert (Earth.load(tmp_path / "model.json").predict(X) == model.predict(X)).all()
    page.close()
