"""Every result says what computed it, and written-down numbers know for which versions they hold."""

import importlib.metadata
import json

import numpy as np
import pytest

import pyearthdof
from pyearthdof import (
    Earth,
    MarsModel,
    bridge,
    correct_penalty,
    degrees_of_freedom,
    self_consistency,
)
from pyearthdof.experiments import experiment
from pyearthdof.experiments.runner import CellStore
from tests.support import versions
from tests.support.versions import golden, installed, skip_unless

RNG = np.random.default_rng(8)
X = RNG.normal(size=(40, 2))
Y = np.abs(X[:, 0])


def outcome(test) -> str:
    """The reason of the skip, or "ran"."""
    try:
        test()
    except pytest.skip.Exception as skipped:
        return str(skipped)
    return "ran"


class TestGolden:
    @pytest.fixture(autouse=True)
    def another_machine(self, monkeypatch):
        found = {"R": "4.5.1", "earth": "5.4.0"}
        monkeypatch.setattr(versions, "_r_versions", lambda: found)

    def test_another_version_is_named_beside_the_right_one(self):
        @golden(R="4.2.2", earth="5.3.2")
        def numbers():
            raise AssertionError("these numbers do not hold here")

        said = outcome(numbers)
        assert said == "the numbers hold for R 4.2.2, this is 4.5.1; earth 5.3.2, this is 5.4.0", (
            said
        )

    @pytest.mark.parametrize(
        "wanted",
        [{"R": "4.5.1"}, {"R": "4.5"}, {"R": "4"}, {"earth": "5.4.0", "R": "4.5.1"},
         {"earth": ("5.3.2", "5.4.0")}, {"R": ("4.2", "4.5"), "earth": "5.4.0"}],
    )  # fmt: skip
    def test_the_right_version_runs(self, wanted):
        assert outcome(lambda: skip_unless(**wanted)) == "ran"

    def test_none_of_several_versions(self):
        said = outcome(lambda: skip_unless(earth=("5.3.2", "5.3.4")))
        assert said == "the numbers hold for earth 5.3.2 or 5.3.4, this is 5.4.0"

    def test_four_point_five_is_not_four_point_fifty(self):
        assert outcome(lambda: skip_unless(R="4.50")) != "ran"
        assert outcome(lambda: skip_unless(R="4.5.1.1")) != "ran"

    def test_what_is_not_installed_gave_no_other_number(self):
        assert installed("mda") is None
        assert outcome(lambda: skip_unless(mda="0.5.3")) == "ran"

    def test_pythons_packages_count_too(self):
        assert installed("scikit_learn") == importlib.metadata.version("scikit-learn")
        assert "scikit_learn 0.1, this is" in outcome(lambda: skip_unless(scikit_learn="0.1"))

    def test_a_wrong_name_is_no_silent_pass(self):
        with pytest.raises(ValueError, match="earht"):
            golden(earht="5.3.2")

    def test_arguments_reach_the_test(self):
        @golden(R="4.5.1")
        def numbers(a, *, b):
            return a + b

        assert numbers(1, b=2) == 3 and numbers.__name__ == "numbers"


@pytest.mark.needs_r
def test_the_versions_that_are_really_here():
    assert installed("R") == bridge.r_versions()["R"]
    assert installed("earth") == bridge.r_versions()["earth"]


@pytest.mark.needs_r
def test_a_change_to_the_versions_of_one_result_changes_no_other():
    bridge.r_versions()["earth"] = "0"
    assert bridge.r_versions()["earth"] == installed("earth")


def by_r(found):
    assert found["pyearthdof"] == pyearthdof.__version__
    assert found["R"] == installed("R") and found["earth"] == installed("earth")
    assert found["rpy2"] == importlib.metadata.version("rpy2")


@pytest.mark.needs_r
def test_models():
    model = Earth(engine="r").fit(X, Y)
    by_r(model.versions_)
    by_r(model.model_.versions)
    by_r(MarsModel.from_json(model.model_.to_json()).versions)
    by_r(json.loads(model.model_.to_json())["versions"])
    native = Earth(engine="native").fit(X, Y)
    assert native.versions_["pyearthdof"] == pyearthdof.__version__ and "R" not in native.versions_


@pytest.mark.parametrize("engine", [pytest.param("r", marks=pytest.mark.needs_r), "native"])
def test_estimates(engine):
    mars = Earth(engine=engine)
    results = [
        degrees_of_freedom(mars, X, n_rep=4, random_state=1),
        correct_penalty((40, 2), n_rep=4, engine=engine),
        self_consistency((40, 2), nk=[3, 5], n_rep=4, engine=engine),
    ]
    for result in results:
        for found in (result.versions, result.to_dict()["versions"]):
            assert found["pyearthdof"] == pyearthdof.__version__
            assert found["numpy"] == np.__version__ and {"python", "scikit-learn"} <= set(found)
            if engine == "r":
                by_r(found)
            else:
                assert "earth" not in found


def test_stored_cells(tmp_path):
    found = experiment("T3")
    found.run("quick", store=CellStore(tmp_path))
    stored = [json.loads(path.read_text()) for path in tmp_path.rglob("*.json")]
    assert len(stored) == len(found.cells("quick"))
    for cell in stored:
        assert cell["key"]["versions"]["pyearthdof"] == pyearthdof.__version__
        assert cell["key"]["versions"]["numpy"] == np.__version__
