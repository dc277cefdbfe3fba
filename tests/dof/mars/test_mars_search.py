"""Algorithm 2 measures the search of the estimator it is asked for: all its options but four."""

import functools

import numpy as np
import pandas as pd
import pytest

from pyearthdof.dof import CorrectedEarth, correct_penalty
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.mars.classifier import EarthClassifier
from pyearthdof.mars.earth import Earth
from pyearthdof.mars.mda import Mars
from pyearthdof.mars.options import OPTIONS, SEARCH_OPTIONS
from pyearthdof.random import RDraws
from tests.support.rscript import needs_rscript, run_r

X = np.random.default_rng(0).normal(size=(150, 5))
y = X[:, 0] + np.random.default_rng(1).normal(size=150)
FRAME = pd.DataFrame(X, columns=["wind", "rain", "sun", "fog", "ice"])


def no_wind_in_products(degree, pred, parents, namesx, first):
    return degree == 1 or (namesx[pred] != "wind" and not parents[list(namesx).index("wind")])


@pytest.mark.parametrize(
    ("options", "penalty"),
    [
        ({}, 2.289),
        ({"minspan": 30, "endspan": 40}, 0.515),
        ({"linpreds": True}, 0.0),
        ({"fast_k": 1}, 3.411),
    ],
    ids=str,
)
def test_options_count(options, penalty):
    model = CorrectedEarth(Earth(engine="native", **options)).fit(X, y)
    assert model.penalty_ == pytest.approx(penalty, abs=5e-4)
    assert model.correction_.settings["options"].keys() == options.keys()


# A value that makes another forward pass of noise for every option, and R's name for it.
OTHERS = {
    "minspan": 12, "endspan": 25, "newvar_penalty": 0.2, "fast_k": 2, "fast_beta": 0,
    "adjust_endspan": 8, "auto_linpreds": False, "linpreds": [0, 2], "allowed": no_wind_in_products,
    "nk": 9, "degree": 1, "force_weights": True, "interactions": [("wind", "rain")],
    "monotone": {"wind": 1},
}  # fmt: skip
# scale_y changes rounding only, for a single response; missing, columns with missing values
SAME = {"scale_y", "missing"}


def measure(estimator, X=(80, 5), **options):
    options = {"n_rep": 20, "engine": "native"} | options
    return correct_penalty(X, estimator=estimator, **options)


def test_every_option_of_the_search_is_in_this_table():
    assert OTHERS.keys() | SAME == set(SEARCH_OPTIONS)
    ours = {"penalty", "thresh", "pmethod", "nprune"}
    # The rest does not touch the forward pass of a single response.
    rest = {
        "response_weight",
        "exhaustive_tol",
        "get_leverages",
        "keepxy",
        "nfold",
        "ncross",
        "stratify",
    }
    named = {o.name for o in OPTIONS if not o.name.startswith(("glm_", "varmod_"))}
    assert named == set(SEARCH_OPTIONS) | ours | rest


@pytest.mark.parametrize("name", OTHERS)
def test_each_option_counts(name):
    design = FRAME.iloc[:80]
    estimator = Earth(degree=2, fast_k=5)
    plain = measure(estimator, design, design="gaussian")
    other = measure(estimator.set_params(**{name: OTHERS[name]}), design, design="gaussian")
    assert other.df != plain.df


@pytest.mark.parametrize(
    "options",
    [
        {"thresh": 0.1}, {"penalty": 9.0}, {"pmethod": "forward"}, {"nprune": 2}, {"nfold": 3},
        {"glm_family": "poisson"}, {"keepxy": True}, {"random_state": 1}, {"response_weight": [2.0]},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_not_of_the_search_does_not_count(options):
    assert measure(Earth(**options)).penalty == measure(Earth()).penalty


@needs_rscript
@pytest.mark.parametrize(
    ("degree", "options", "in_r"),
    [
        (1, {"minspan": 30, "endspan": 40}, "minspan = 30, endspan = 40"),
        (2, {"fast_k": 3, "fast_beta": 0, "newvar_penalty": 0.1},
         "fast.k = 3, fast.beta = 0, newvar.penalty = 0.1"),
        (2, {"adjust_endspan": 8, "auto_linpreds": False, "linpreds": [1]},
         "Adjust.endspan = 8, Auto.linpreds = FALSE, linpreds = 2"),
        (2, {"allowed": lambda degree, pred, parents, namesx, first: degree == 1 or pred != 0},
         "allowed = function(degree, pred, parents) degree == 1 || pred != 1"),
    ],
    ids=["spans", "fast", "linear", "allowed"],
)  # fmt: skip
def test_same_as_the_loop_in_r(degree, options, in_r):
    r = run_r(
        f"""
        set.seed(1234)
        Y <- matrix(rnorm(120 * 20), 120); x <- matrix(rnorm(120 * 4), 120)
        fits <- lapply(1:20, function(j)
          earth(x, Y[, j], degree = degree, nk = 15, penalty = degree + 1, thresh = 0,
                pmethod = "none", {in_r}))
        fitted <- sapply(fits, function(f) f$fitted.values)
        out <- list(df = sum(sapply(1:120, function(i) cov(Y[i, ], fitted[i, ]))),
                    r = mean(sapply(fits, function(f) nrow(f$dirs))))
        """,
        packages=("earth",),
        degree=degree,
    )
    found = correct_penalty(
        (120, 4), estimator=Earth(degree=degree, nk=15, **options), n_rep=20, engine="native"
    )
    assert found.df == pytest.approx(r["df"][0], abs=1e-8)
    assert found.n_terms == r["r"][0]


def corrected(design, **options):
    return CorrectedEarth(Earth(engine="native", **options), n_rep=20).fit(design, y)


class TestNames:
    """linpreds and allowed go by name on a drawn design."""

    def test_linpreds(self):
        by_name = corrected(FRAME, linpreds=["rain", "fog"])
        by_number = corrected(X, linpreds=[1, 3])
        assert by_name.correction_.penalty == by_number.correction_.penalty
        assert by_name.correction_.penalty != corrected(X).correction_.penalty
        assert by_name.correction_.settings["options"] == {"linpreds": [1, 3]}

    @pytest.mark.parametrize("engine", ["native", pytest.param("r", marks=pytest.mark.needs_r)])
    @pytest.mark.parametrize("design", ["gaussian", "data"])
    def test_allowed(self, engine, design):
        seen = set()

        def allowed(degree, pred, parents, namesx, first):
            seen.add(tuple(namesx))
            return no_wind_in_products(degree, pred, parents, namesx, first)

        model = Earth(degree=2, nk=7, allowed=allowed, engine=engine)
        found = CorrectedEarth(model, design=design, n_rep=4).fit(FRAME, y)
        assert seen == {tuple(FRAME.columns)}
        assert found.correction_.settings["options"] == {"allowed": "allowed"}

    def test_factors(self):
        frame = FRAME.assign(kind=np.array(["a", "b", "c"])[np.arange(150) % 3])
        for design in ("gaussian", "data"):
            model = Earth(engine="native", linpreds=["kind", "sun"])
            found = CorrectedEarth(model, design=design, n_rep=10).fit(frame, y).correction_
            assert (found.n, found.p, found.nk) == (150, 7, 21)
            assert found.settings["options"]["linpreds"] == [2, 5, 6]

    def test_an_unknown_name_is_refused(self):
        with pytest.raises(InvalidInputError, match="linpreds names 'snow', which is not a column"):
            CorrectedEarth(Earth(linpreds="snow")).fit(FRAME, y)
        with pytest.raises(InvalidInputError, match="linpreds names 'wind'"):
            correct_penalty((150, 5), estimator=Earth(linpreds="wind"))

    def test_names_do_not_change_the_numbers(self):
        with_names, without = (
            correct_penalty(design, design="gaussian", n_rep=20, engine="native")
            for design in (FRAME, X)
        )
        assert (with_names.df, with_names.se) == (without.df, without.se)


class TestWhoseSearch:
    def test_a_fitted_model_stands_for_its_options(self):
        fitted = Earth(minspan=30, endspan=40, engine="native").fit(X, y)
        assert correct_penalty(fitted).penalty == pytest.approx(0.515, abs=5e-4)
        assert correct_penalty(fitted.model_, engine="native").penalty == pytest.approx(
            2.289, abs=5e-4
        )
        other = correct_penalty(fitted, estimator=Earth(fast_k=1, engine="native"))
        assert other.penalty == pytest.approx(3.411, abs=5e-4)

    @pytest.mark.needs_r
    def test_a_classifier(self):
        fitted = EarthClassifier(minspan=30, endspan=40).fit(X, y > 0)
        assert correct_penalty(fitted).penalty == pytest.approx(0.515, abs=5e-4)

    def test_degree_nk_and_engine_go_before_the_estimators(self):
        estimator = Earth(degree=2, nk=9, engine="native")
        found = measure(estimator, engine=None)
        assert (found.degree, found.nk, found.default_penalty) == (2, 9, 3.0)
        assert found.settings["engine"] == "native"
        found = measure(estimator, degree=1, nk=5)
        assert (found.degree, found.nk, found.default_penalty) == (1, 5, 2.0)

    @pytest.mark.needs_r("mda")
    def test_mda(self):
        by_name = correct_penalty((60, 3), nk=9, n_rep=10, package="mda")
        by_estimator = correct_penalty((60, 3), estimator=Mars(nk=9), n_rep=10)
        assert by_name.penalty == by_estimator.penalty
        assert by_estimator.settings["package"] == "mda"

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (functools.partial(correct_penalty, (50, 2), estimator="earth"), "='earth' but it should be"),
            (functools.partial(correct_penalty, (50, 2), estimator=Earth), "but it should be an Earth"),
            (functools.partial(correct_penalty, (50, 2), estimator=Earth(), package="mda"),
             "package='mda' but it should be None or 'earth', that of the estimator"),
            (functools.partial(correct_penalty, Earth()), r"X=Earth\(\) but it should be fitted first"),
            (functools.partial(correct_penalty, (50, 2), estimator=Earth(minspan=51)), "minspan=51"),
            (functools.partial(correct_penalty, (50, 2), estimator=Earth(degree=0)), "degree=0"),
        ],
    )  # fmt: skip
    def test_refusals(self, call, message):
        with pytest.raises(InvalidInputError, match=message):
            call()


def test_weights_are_for_the_fit_not_for_the_measurement():
    weights = np.linspace(0.1, 3, 150)
    plain, weighted = (
        CorrectedEarth(Earth(engine="native"), n_rep=10).fit(X, y, w) for w in (None, weights)
    )
    assert plain.correction_.penalty == weighted.correction_.penalty
    assert not np.array_equal(plain.fitted_values_, weighted.fitted_values_)
    assert np.array_equal(weighted.weights_, weights)


def test_factors_count_as_their_columns_in_a_given_design():
    frame = pd.DataFrame({"x": RDraws(1).normal(60), "kind": list("abcdef") * 10})
    found = correct_penalty(frame, n_rep=4, engine="native")
    assert found.p == 6
    frame = frame.assign(kind=[f"level {k % 30}" for k in range(60)])
    assert correct_penalty(frame, n_rep=4, engine="native").nk == 61  # as Earth().fit takes
    assert Earth(engine="native").fit(frame, RDraws(2).normal(60)).nk_ == 61
