"""py-earth's and R's names of arguments answer with ours, and scikit-learn sees no difference."""

import inspect
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from pyearthdof import Earth, EarthClassifier
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.mars.base import OUR_ATTRIBUTES, OURS

PY_EARTH = [
    "max_terms", "max_degree", "allow_missing", "endspan_alpha", "minspan_alpha", "zero_tol", "smooth",
    "min_search_points", "check_every", "allow_linear", "use_fast", "fast_K", "fast_h", "enable_pruning",
    "feature_importance_type", "verbose", "linvars", "xlabels", "output_weight",
]  # fmt: skip


@pytest.mark.parametrize("kind", [Earth, EarthClassifier])
@pytest.mark.parametrize("name", [*PY_EARTH, "wp", "glm", "weights"])
def test_another_name_answers_with_ours(kind, name):
    with pytest.raises(
        TypeError, match=rf"^{kind.__name__}\(\) got {name}=2, but {name} is "
    ) as caught:
        kind(**{name: 2})
    assert "\n" not in str(caught.value)
    with pytest.raises(InvalidInputError, match=rf"^set_params\(\) got {name}=2, but {name} is "):
        kind().set_params(**{name: 2})


def test_ours_are_arguments():
    known = set(inspect.signature(Earth).parameters)
    assert not set(OURS) & known
    named = {
        "degree",
        "nk",
        "endspan",
        "minspan",
        "auto_linpreds",
        "linpreds",
        "pmethod",
        "fast_k",
        "fast_beta",
    }
    assert named <= known and all(any(n in text for text in OURS.values()) for n in named)


def test_others_are_refused_as_before():
    with pytest.raises(
        TypeError, match=r"^Earth\(\) got an unexpected keyword argument 'nonsense'"
    ):
        Earth(nonsense=1)


def test_the_signature_stays_explicit():
    assert list(inspect.signature(Earth).parameters)[:3] == ["degree", "penalty", "nk"]
    model = Earth(3, 2.0, nk=7)
    again = pickle.loads(pickle.dumps(clone(model)))
    assert again.get_params() == model.get_params()


@pytest.mark.parametrize("kind", [Earth, EarthClassifier])
@pytest.mark.parametrize("name", ["linvars", "xlabels", "output_weight"])
def test_py_earths_arguments_of_fit_are_answered(kind, name):
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    with pytest.raises(TypeError, match=rf"^fit\(\) got {name}=\[0\], but {name} is "):
        kind(engine="native").fit(X, y, **{name: [0]})
    with pytest.raises(TypeError, match=r"^fit\(\) got an unexpected keyword argument 'nonsense'$"):
        kind(engine="native").fit(X, y, nonsense=1)


@pytest.mark.parametrize("name", [*OUR_ATTRIBUTES, "smooth", "allow_missing", "max_degree"])
def test_py_earths_attributes_are_answered(name):
    model = Earth(engine="native").fit(np.arange(20.0)[:, None], np.arange(20.0))
    assert not hasattr(model, name)
    with pytest.raises(AttributeError, match=rf"^Earth has no attribute '{name}': {name} is "):
        getattr(model, name)
    again = pickle.loads(pickle.dumps(model))
    assert again.model_ == model.model_ and not hasattr(again, name)


def test_answers_name_what_there_is():
    X = pd.DataFrame({"a": np.arange(20.0)})
    model = Earth(engine="native").fit(X, np.arange(20.0))
    for text in OUR_ATTRIBUTES.values():
        names = re.findall(r"\b(?:[a-z_]+_\b(?!\()|[a-z_]+\()", text)
        for name in names:
            assert hasattr(model, name.removesuffix("(")), text


def test_errors_of_other_attributes_stay_as_they_are():
    model = Earth(engine="native").fit(np.arange(20.0)[:, None], np.arange(20.0))
    with pytest.raises(AttributeError, match="this model has no generalised linear model"):
        _ = model.glm_
    with pytest.raises(AttributeError, match="'Earth' object has no attribute 'nonsense'"):
        _ = model.nonsense
