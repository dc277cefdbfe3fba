"""Earth through the bridge is R's earth, to the bit."""

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth
from tests.support.mars.cases import CASES, r_results
from tests.support.rscript import needs_rscript
from tests.support.versions import EARTH_SEEN, golden

pytestmark = needs_rscript


def fit_case(case, **more):
    data = r_results()[0][case.data]
    X = data["x"]
    if "names" in data:
        X = pd.DataFrame(X, columns=data["names"])
    new = pd.DataFrame(data["new"], columns=data["names"]) if "names" in data else data["new"]
    model = Earth(**case.py, **more).fit(X, data["y"], data["w"] if case.weighted else None)
    return model, model.predict(new)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_same_as_plain_r(case):
    expected = r_results()[1][case]
    model, predicted = fit_case(case, engine="r")
    ours = {
        "dirs": model.dirs_, "cuts": model.cuts_, "selected": model.selected_terms_ + 1.0,
        "coef": model.term_coef_, "rss": [model.rss_], "rsq": [model.rsq_], "gcv": [model.gcv_],
        "grsq": [model.grsq_], "rss.per.subset": model.rss_per_subset_,
        "gcv.per.subset": model.gcv_per_subset_, "prune.terms": model.prune_terms_,
        "fitted": model.fitted_values_, "leverages": model.leverages_, "nk": [model.nk_],
        "penalty": [model.penalty_], "termcond": [model.termcond_],
    }  # fmt: skip
    for name, value in ours.items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)
    assert model.model_.term_names == tuple(expected["terms"])
    scale = np.abs(expected["predicted"]).max()
    np.testing.assert_allclose(predicted, expected["predicted"], rtol=1e-12, atol=1e-12 * scale)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_native_engine_has_the_same_model(case):
    expected = r_results()[1][case]
    model, predicted = fit_case(case, engine="native")
    assert model.engine_ == "native"
    exact = {
        "dirs": model.dirs_, "cuts": model.cuts_, "selected": model.selected_terms_ + 1.0,
        "prune.terms": model.prune_terms_, "nk": [model.nk_], "penalty": [model.penalty_],
        "termcond": [model.termcond_],
    }  # fmt: skip
    for name, value in exact.items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)
    assert model.model_.term_names == tuple(expected["terms"])
    np.testing.assert_allclose(model.term_coef_, expected["coef"], rtol=1e-8)
    close = {
        "rss": [model.rss_], "rsq": [model.rsq_], "gcv": [model.gcv_], "grsq": [model.grsq_],
        "rss.per.subset": model.rss_per_subset_, "gcv.per.subset": model.gcv_per_subset_,
        "fitted": model.fitted_values_, "leverages": model.leverages_, "predicted": predicted,
    }  # fmt: skip
    for name, value in close.items():
        finite = expected[name][np.isfinite(expected[name])]
        scale = np.abs(finite).max(initial=1e-3)
        np.testing.assert_allclose(
            value, expected[name], rtol=1e-8, atol=1e-8 * scale, err_msg=name
        )


def test_there_are_at_least_forty_cases():
    assert len(CASES) >= 40 and len({str(case) for case in CASES}) == len(CASES)


@pytest.fixture(scope="module")
def ozone():
    data = r_results()[0]["ozone"]
    return pd.DataFrame(data["x"], columns=data["names"]), data["y"]


@golden(earth=EARTH_SEEN)
def test_published_figures_of_ozone(ozone):
    one, two = Earth().fit(*ozone), Earth(degree=2).fit(*ozone)
    assert (one.n_terms_, len(one.dirs_)) == (12, 20)
    assert f"{one.gcv_:.5f} {one.rsq_:.7f}" == "14.61004 0.8023874"
    assert (two.n_terms_, len(two.dirs_)) == (12, 21)
    assert f"{two.gcv_:.5f} {two.grsq_:.7f}" == "13.38501 0.7920796"
    assert two.nominal_df_ == 12 + 3 * 11 / 2


@golden(earth=EARTH_SEEN)
def test_summary_is_rs_own_text(ozone):
    text = Earth(degree=2).fit(*ozone).summary()
    assert text.startswith("Call: earth(x=x, y=y, degree=2)")
    assert "h(5740-vh) * h(temp-58)" in text
    assert "Selected 12 of 21 terms, and 9 of 9 predictors" in text


def test_fit_many_is_a_loop_of_fits(ozone):
    X, y = ozone
    Y = np.column_stack([y, np.sqrt(y), y[::-1]])
    model = Earth(degree=2, engine="r")
    many = model.fit_many(X, Y)
    assert not hasattr(model, "model_")
    for column in range(3):
        one = Earth(degree=2, engine="r").fit(X, Y[:, column])
        np.testing.assert_array_equal(many.fitted[:, column], one.fitted_values_)
        assert many.n_coef[column] == many.trace[column] == one.n_terms_ == one.trace_
    assert many.rank is None and many.refitted is None
