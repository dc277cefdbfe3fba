"""Our summary is R's text, but for the call in its first line."""

import numpy as np
import pytest
from cases import CASES
from r_models import FITS, r_found, r_model
from rscript import needs_rscript, run_r
from test_identity import fit_case

from pyearthdof.mars.importance import importance_table
from pyearthdof.mars.text import model_summary, r_format

pytestmark = needs_rscript
SHOWN = [case for case in CASES if not case.weighted and "nprune" not in case.r]


def without_call(text):
    return text.split("\n\n", 1)[1]


@pytest.mark.parametrize("case", SHOWN, ids=str)
def test_summary_as_in_r(case):
    model, _ = fit_case(case, engine="r")
    assert without_call(model_summary(model.model_, "x")) == without_call(model.summary())


@pytest.mark.parametrize("name", [name for name in FITS if "nprune" not in FITS[name]])
def test_summary_of_responses_and_glm_as_in_r(name):
    expected = "\n".join(r_found()[name]["summary"])
    assert without_call(model_summary(r_model(name), "x")) == without_call(expected)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_importance_as_in_r(case):
    model, _ = fit_case(case, engine="r")
    (names, numbers) = r_importance(model)
    table = importance_table(model.model_)
    assert table.index.tolist() == [name.removesuffix("-unused") for name in names]
    numbers = numbers.reshape(len(names), 3)
    np.testing.assert_allclose(table[["nsubsets", "gcv", "rss"]], numbers, rtol=1e-12, atol=1e-12)


def r_importance(model):
    from pyearthdof import bridge

    found = bridge.call("earth.importance", model._r_object)
    return found["names"] or [], found["values"]


def test_numbers_as_r_formats_them():
    rng = np.random.default_rng(8)
    sizes = (1, 1, 1, 2, 3, 5) * 100
    groups = [rng.normal(size=k) * 10.0 ** rng.integers(-8, 9, size=k) for k in sizes]
    groups += [[0.0], [100000.0], [1e5, 1e-5], [123456789.0], [0.1 + 0.2], [np.nan, 1.0], [-np.inf]]
    groups += [[-0.0], [0.124, -0.0, 0.002], [1e-300, 1.0], [1e300]]
    digits = np.where(np.arange(len(groups)) % 2, 7, rng.integers(1, 18, size=len(groups)))
    code = """
    groups <- split(x, g)
    text <- function(k) format(groups[[k]], digits = digits[k])
    out <- list(text = unlist(lapply(seq_along(groups), text)))
    """
    flat = np.concatenate(groups)
    label = np.repeat(np.arange(len(groups)), [len(g) for g in groups])
    expected = run_r(code, x=flat, g=label, digits=digits)["text"]
    ours = [text for group, d in zip(groups, digits, strict=True) for text in r_format(group, d)]
    assert ours == [text.strip() for text in expected]
