"""The pictures of a model: the numbers that are drawn against R's, and how the functions behave."""

import subprocess
import sys
from itertools import combinations

import matplotlib

from tests.support.rscript import needs_rscript, run_r

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pyearthdof import Earth, EarthClassifier, EarthCV, Mars, plots
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.plots.axes import shorten, shorten_all
from pyearthdof.plots.effects import Effect, Predictors, draw_effects
from pyearthdof.plots.residuals import lowess

FIT = "fit <- earth(x = as.matrix(X), y = y, degree = 2, penalty = 6)\n"


def of_r(data, code) -> dict:
    """What R code makes of R's fit of the model."""
    X, y = data
    return run_r(FIT + code, packages=("earth",), X=X, y=y.to_numpy())


@pytest.fixture(autouse=True)
def closed_figures(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a picture was shown")

    monkeypatch.setattr(pyplot, "show", refuse)
    pyplot.close("all")
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(7)
    X = pd.DataFrame(rng.normal(size=(121, 5)), columns=["temp", "wind", "vis", "hum", "doy"])
    signal = np.maximum(X["temp"], 0) * X["wind"] + np.abs(X["vis"]) - 0.7 * X["doy"]
    return X, (signal + 0.2 * rng.standard_t(4, size=121)).rename("ozone")


@pytest.fixture(scope="module")
def model(data):
    return Earth(degree=2, penalty=6, engine="native").fit(*data)


@pytest.fixture(scope="module")
def factor_data():
    rng = np.random.default_rng(11)
    X = pd.DataFrame(
        {
            "sex": rng.choice(["female", "male", "male"], 150),
            "age": rng.uniform(0, 80, 150),
            "class": pd.Categorical(rng.choice(["1st", "2nd", "3rd", "3rd"], 150)),
            "crew": rng.random(150) > 0.4,
        }
    )
    y = 2.0 * (X["sex"] == "female") + (X["class"] == "3rd") * np.maximum(0, X["age"] - 40) / 10
    y += X["crew"] * (X["sex"] == "male") + 0.1 * rng.normal(size=150)
    return X, y


@pytest.fixture(scope="module")
def factor_model(factor_data):
    return Earth(degree=2, engine="native").fit(*factor_data)


def line(ax, label):
    """The drawn line of that label."""
    (found,) = [drawn for drawn in ax.get_lines() if drawn.get_label() == label]
    return found


def twin(ax):
    """The axes that share the place of `ax`."""
    (other,) = [o for o in ax.figure.axes if o is not ax and o.bbox.bounds == ax.bbox.bounds]
    return other


def texts_overlap(texts) -> bool:
    renderer = texts[0].figure.canvas.get_renderer()
    boxes = [text.get_window_extent(renderer) for text in texts if text.get_text()]
    return any(a.overlaps(b) for a, b in combinations(boxes, 2))


class TestModelSelection:
    @needs_rscript
    def test_draws_the_numbers_of_r(self, data, model):
        found = of_r(
            data,
            "used <- apply(fit$prune.terms, 1, function(terms)\n"
            "  sum(colSums(abs(fit$dirs[terms[terms > 0], , drop = FALSE])) > 0))\n"
            "out <- list(grsq = 1 - fit$gcv.per.subset / fit$gcv.per.subset[1],\n"
            "  rsq = 1 - fit$rss.per.subset / fit$rss.per.subset[1], used = used,\n"
            "  chosen = length(fit$selected.terms))",
        )
        ax = plots.plot_model_selection(model)
        for label, name in (("GRSq", "grsq"), ("RSq", "rsq")):
            assert_allclose(line(ax, label).get_ydata(), found[name], rtol=0, atol=1e-12)
        assert_allclose(line(ax, "GRSq").get_xdata(), np.arange(1, len(found["rsq"]) + 1))
        assert_allclose(line(twin(ax), "predictors").get_ydata(), found["used"])
        (chosen,) = found["chosen"]
        assert_allclose(line(ax, f"chosen: {chosen:.0f}").get_xdata(), chosen)

    @needs_rscript
    def test_draws_the_folds_by_which_a_size_was_chosen(self, data):
        found = run_r(
            "set.seed(3)\n"
            'fit <- earth(X, y, degree = 2, nfold = 4, pmethod = "cv")\n'
            "out <- list(folds = fit$cv.oof.rsq.tab, chosen = length(fit$selected.terms))",
            packages=("earth",), X=data[0], y=data[1].to_numpy(),
        )  # fmt: skip
        options = {"degree": 2, "nfold": 4, "random_state": 3, "engine": "native"}
        ax = plots.plot_model_selection(Earth(pmethod="cv", **options).fit(*data))
        mean = line(ax, "out-of-fold RSq").get_ydata()
        assert_allclose(mean, found["folds"][-1], rtol=1e-7)
        folds = [drawn.get_ydata() for drawn in ax.get_lines() if drawn.get_label().startswith("_")]
        assert_allclose(folds, found["folds"][:-1], rtol=1e-7)
        (chosen,) = found["chosen"]
        assert_allclose(line(ax, f"chosen: {chosen:.0f}").get_xdata(), chosen)
        assert np.nanargmax(mean) == chosen - 1
        labels = [text.get_text() for text in ax.get_legend().get_texts()]
        assert labels[2] == "out-of-fold RSq"
        plain = plots.plot_model_selection(Earth(**options).fit(*data))
        assert len(plain.get_legend().get_texts()) == 4

    def test_the_rise_to_the_chosen_size_is_in_sight(self, model):
        ax = plots.plot_model_selection(model)
        low, high = ax.get_ylim()
        for label in ("GRSq", "RSq"):
            shown = line(ax, label).get_ydata()[1 : model.n_terms_]
            assert low < shown.min() and shown.max() < high

    def test_a_useless_search_does_not_stretch_the_scale(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(40, 6)), rng.normal(size=40)
        model = Earth(engine="native", thresh=0, nprune=1).fit(X, y)
        ax = plots.plot_model_selection(model)
        assert line(ax, "GRSq").get_ydata().min() < -1
        assert -1.1 < ax.get_ylim()[0] < 0

    def test_a_model_with_one_subset(self):
        X = np.random.default_rng(0).normal(size=(30, 2))
        model = Earth(engine="native", thresh=0.95).fit(X, X[:, 0] ** 2)
        ax = plots.plot_model_selection(model)
        assert line(ax, "RSq").get_ydata().tolist() == [0.0]
        assert line(ax, "RSq").get_marker() == "o"

    @pytest.mark.needs_r("mda")
    def test_a_model_of_mda_has_no_pruning_record(self, data):
        model = Mars(degree=2).fit(*data)
        for draw in (plots.plot_model_selection, plots.plot_importance):
            with pytest.raises(
                InvalidInputError, match="Mars without a record of its pruning pass"
            ):
                draw(model)
        axes = plots.plot_residuals(model)
        assert "no record of its pruning pass" in axes[0].texts[0].get_text()
        assert_allclose(line(axes[2], "residuals").get_ydata(), model.residuals_)

    @pytest.mark.filterwarnings("ignore:Cannot scale y")
    def test_a_constant_response(self):
        X = np.random.default_rng(0).normal(size=(30, 2))
        ax = plots.plot_model_selection(Earth(engine="native").fit(X, np.full(30, 2.0)))
        ax.figure.canvas.draw()
        assert line(ax, "GRSq").get_ydata()[0] == 0


@pytest.fixture(scope="module")
def residuals_of_r(data):
    return of_r(
        data,
        "e <- as.vector(residuals(fit)); f <- as.vector(fitted(fit))\n"
        "smooth <- lowess(f, e, delta = 0.01 * diff(range(f)))\n"
        "quartiles <- quantile(e, c(0.25, 0.75), names = FALSE)\n"
        "slope <- diff(quartiles) / diff(qnorm(c(0.25, 0.75)))\n"
        "out <- list(residuals = e, fitted = f, x = smooth$x, smooth = smooth$y,\n"
        "  quantiles = quantile(abs(e), c(0.5, 0.9, 0.95, 1), names = FALSE),\n"
        "  shares = ecdf(abs(e))(abs(e)), normal = qqnorm(e, plot.it = FALSE)$x, slope = slope,\n"
        "  at0 = quartiles[1] - slope * qnorm(0.25), largest = order(-abs(e))[1:3] - 1)",
    )


class TestResiduals:
    @needs_rscript
    def test_cumulative_distribution(self, model, residuals_of_r):
        ax = plots.plot_residuals(model)[1]
        sizes, shares = line(ax, "share").get_data()
        order = np.argsort(np.abs(residuals_of_r["residuals"]))
        assert_allclose(sizes[1:], np.abs(residuals_of_r["residuals"])[order], rtol=0, atol=1e-12)
        assert_allclose(shares[1:], residuals_of_r["shares"][order], rtol=1e-12)
        assert_allclose(
            line(ax, "quantiles").get_xdata(), residuals_of_r["quantiles"], rtol=0, atol=1e-12
        )
        assert line(ax, "quantiles").get_ydata().tolist() == [0.5, 0.9, 0.95, 1.0]
        (table,) = [text.get_text() for text in ax.texts]
        assert f"90% below {residuals_of_r['quantiles'][1]:.3g}" in table

    @needs_rscript
    def test_residuals_against_fitted_values(self, model, residuals_of_r):
        ax = plots.plot_residuals(model)[2]
        drawn = line(ax, "residuals")
        assert_allclose(drawn.get_xdata(), residuals_of_r["fitted"], rtol=0, atol=1e-12)
        assert_allclose(drawn.get_ydata(), residuals_of_r["residuals"], rtol=0, atol=1e-12)
        smooth = line(ax, "lowess smooth")
        assert_allclose(smooth.get_xdata(), residuals_of_r["x"], rtol=0, atol=1e-12)
        assert_allclose(smooth.get_ydata(), residuals_of_r["smooth"], rtol=0, atol=1e-10)

    @needs_rscript
    def test_normal_quantiles(self, model, residuals_of_r):
        ax = plots.plot_residuals(model)[3]
        drawn = line(ax, "residuals")
        assert_allclose(drawn.get_xdata(), residuals_of_r["normal"], rtol=0, atol=1e-12)
        assert_allclose(drawn.get_ydata(), residuals_of_r["residuals"], rtol=0, atol=1e-12)
        straight = line(ax, "quartiles")
        assert_allclose(straight.get_slope(), residuals_of_r["slope"][0], rtol=1e-11)
        assert straight.get_xy1()[0] == 0
        assert_allclose(straight.get_xy1()[1], residuals_of_r["at0"][0], rtol=0, atol=1e-12)

    @needs_rscript
    def test_the_largest_are_named(self, model, residuals_of_r):
        for ax in plots.plot_residuals(model)[2:]:
            names = [text.get_text() for text in ax.texts]
            assert names == [f"{row:.0f}" for row in residuals_of_r["largest"]]

    def test_names_do_not_cover_each_other(self, model):
        axes = plots.plot_residuals(model)
        axes[0].figure.canvas.draw()
        for ax in axes[2:]:
            assert not texts_overlap(ax.texts)

    def test_a_given_y_is_compared_with_the_fit(self, data, model):
        y = data[1] + 1
        ax = plots.plot_residuals(model, y)[2]
        assert_allclose(line(ax, "residuals").get_ydata(), y - model.fitted_values_)

    def test_one_of_several_responses(self, data):
        X, y = data
        Y = pd.DataFrame({"plain": y, "squared": y**2})
        model = Earth(engine="native").fit(X, Y)
        by_name, by_index = (plots.plot_residuals(model, response=r)[2] for r in ("squared", 1))
        wanted = Y["squared"] - model.fitted_values_[:, 1]
        assert_allclose(line(by_name, "residuals").get_ydata(), wanted, atol=1e-12)
        assert_allclose(line(by_index, "residuals").get_ydata(), wanted, atol=1e-12)

    def test_an_intercept_and_a_perfect_fit(self):
        x = np.linspace(-1, 1, 30)[:, None]
        for model in (
            Earth(engine="native", nprune=1).fit(x, x[:, 0] ** 2),
            Earth(engine="native").fit(x, 2 * x[:, 0]),
        ):
            axes = plots.plot_residuals(model)
            axes[0].figure.canvas.draw()
            assert axes[0].get_title() == "Model selection"


@needs_rscript
@pytest.mark.parametrize("case", ["plain", "ties", "outliers", "two", "flat", "many"])
def test_lowess_is_that_of_r(case):
    rng = np.random.default_rng(5)
    x = {"two": np.array([1.0, 2.0]), "flat": np.full(9, 3.0), "many": rng.normal(size=3000)}.get(
        case, rng.uniform(0, 10, 80)
    )
    x = x.round() if case == "ties" else x
    y = np.sin(x) + 0.3 * rng.normal(size=len(x))
    if case == "outliers":
        y[::9] += 20
    found = run_r(
        "s <- lowess(x, y, delta = 0.01 * diff(range(x))); out <- list(x = s$x, y = s$y)", x=x, y=y
    )
    ours = lowess(x, y)
    assert_allclose(ours[0], found["x"])
    assert_allclose(ours[1], found["y"], rtol=0, atol=1e-10)


def is_white(ax, point) -> bool:
    """Whether all that is drawn around a point of the axes is white."""
    ax.figure.canvas.draw()
    pixels = np.asarray(ax.figure.canvas.buffer_rgba())
    x, y = np.round(ax.transData.transform(point)).astype(int)
    around = pixels[len(pixels) - y - 2 : len(pixels) - y + 3, x - 2 : x + 3, :3]
    return bool((around == 255).all())


class TestEffects:
    @needs_rscript
    def test_curves_and_surfaces_are_the_predictions_of_r(self, data, model):
        X, y = data
        axes = plots.plot_effects(model, X)
        curves = {ax.get_xlabel(): ax.get_lines()[0].get_data() for ax in axes[:4]}
        assert list(curves) == ["temp", "wind", "vis", "doy"]
        surface = axes[4]
        assert (surface.get_xlabel(), surface.get_ylabel()) == ("temp", "wind")
        grids = {name: curve[0] for name, curve in curves.items()}
        found = run_r(
            FIT + "held <- sapply(X, plotmo:::default.grid.func)\n"
            "at <- function(...) { values <- data.frame(...)\n"
            "  rows <- as.data.frame(as.list(held))[rep(1, nrow(values)), ]\n"
            "  rows[names(values)] <- values; as.vector(predict(fit, as.matrix(rows))) }\n"
            "grid <- expand.grid(temp = seq(min(X$temp), max(X$temp), length.out = 61),\n"
            "  wind = seq(min(X$wind), max(X$wind), length.out = 61))\n"
            "pair <- at(temp = grid$temp, wind = grid$wind)\n"
            "out <- list(temp = at(temp = g_temp), wind = at(wind = g_wind), vis = at(vis = g_vis),\n"
            "  doy = at(doy = g_doy), low = min(pair), high = max(pair))",
            packages=("earth",), X=X, y=y.to_numpy(), **{f"g_{n}": g for n, g in grids.items()},
        )  # fmt: skip
        for name, (grid, drawn) in curves.items():
            assert (grid[0], grid[-1]) == (X[name].min(), X[name].max())
            assert_allclose(drawn, found[name], rtol=0, atol=1e-12)
        filled = surface.collections[0]
        assert_allclose([filled.zmin, filled.zmax], [*found["low"], *found["high"]], atol=1e-12)

    @needs_rscript
    def test_levels_are_held_and_drawn_as_in_r(self, factor_data, factor_model):
        X, y = factor_data
        text = X.assign(crew=X["crew"].map({True: "TRUE", False: "FALSE"}))
        text["class"] = text["class"].astype(str)
        found = run_r(
            'X$sex <- factor(X$sex); X$class <- factor(X$class); X$crew <- X$crew == "TRUE"\n'
            "fit <- earth(X, y, degree = 2)\n"
            "held <- as.data.frame(lapply(X, plotmo:::default.grid.func))\n"
            "by <- function(name, values) { rows <- held[rep(1, length(values)), ]\n"
            "  rows[[name]] <- values; as.vector(predict(fit, rows)) }\n"
            "out <- list(sex = by('sex', factor(levels(X$sex))), crew = by('crew', c(FALSE, TRUE)),\n"
            "  class = by('class', factor(levels(X$class))))\n"
            "out$lines <- sapply(1:3, function(v) { held$class[] <<- levels(X$class)[v]\n"
            "  by('age', ages) })",
            packages=("earth",), X=text, y=y.to_numpy(),
            ages=np.linspace(X["age"].min(), X["age"].max(), 101),
        )  # fmt: skip
        axes = plots.plot_effects(factor_model, X, features=["sex", "crew", "class"], pairs=[])
        for ax in axes:
            assert_allclose(ax.get_lines()[0].get_ydata(), found[ax.get_xlabel()], atol=1e-12)
        assert [t.get_text() for t in axes[2].get_xticklabels()] == ["1st", "2nd", "3rd"]
        (ax,) = plots.plot_effects(factor_model, X, features=[], pairs=[("class", "age")])
        assert ax.get_xlabel() == "age"
        # The first two classes predict the same, so they share a line.
        assert_allclose(line(ax, "1st, 2nd").get_ydata(), found["lines"][:, 0], atol=1e-12)
        assert_allclose(line(ax, "3rd").get_ydata(), found["lines"][:, 2], atol=1e-12)

    def test_defaults_are_what_the_model_uses(self, factor_data, factor_model):
        axes = plots.plot_effects(factor_model, factor_data[0])
        assert [ax.get_xlabel() for ax in axes[:4]] == ["sex", "age", "class", "crew"]
        legends = [ax.get_legend().get_title().get_text() for ax in axes[4:]]
        assert [(ax.get_xlabel(), t) for ax, t in zip(axes[4:], legends, strict=True)] == [
            ("sex", "crew"),
            ("age", "class"),
        ]

    def test_all_curves_have_one_scale_and_all_of_each_is_shown(self, data, model):
        axes = plots.plot_effects(model, data[0])[:4]
        (limits,) = {ax.get_ylim() for ax in axes}
        for ax in axes:
            values = ax.get_lines()[0].get_ydata()
            assert limits[0] < values.min() and values.max() < limits[1]

    def test_contours_share_their_levels_and_show_the_training_rows(self, data, model):
        X = data[0]
        axes = plots.plot_effects(model, X, features=[], pairs=[("temp", "wind"), (0, "vis")])
        first, second = (ax.collections[0] for ax in axes)
        assert_allclose(first.levels, second.levels)
        dots = axes[0].get_lines()[0]
        assert_allclose(dots.get_xdata(), X["temp"])
        assert_allclose(dots.get_ydata(), X["wind"])

    def test_corners_beyond_the_scale_are_hatched_and_the_bar_says_so(self):
        rng = np.random.default_rng(0)
        a = rng.normal(size=200)
        X = np.column_stack([a, a + 0.3 * rng.normal(size=200)])
        corner = (-2.0, 2.0)  # far from the diagonal with the rows, where a * b is positive
        for sign, side in ((1, "min"), (-1, "max")):
            model = Earth(degree=2, engine="native").fit(X, sign * X[:, 0] * X[:, 1])
            (ax,) = plots.plot_effects(model, X, features=[], pairs=[(0, 1)])
            filled, bar = ax.collections[0], ax.figure.axes[-1]
            assert filled.extend == side
            assert [t.get_text() for t in bar.texts] == ["hatched:\nbeyond all\nfitted values"]
            ticks = bar.get_yticks()
            assert filled.levels[0] <= min(ticks) and max(ticks) <= filled.levels[-1]
            assert not is_white(ax, corner)

    def test_infinite_predictions_leave_no_hole(self):
        grid = np.linspace(0, 1, 61)
        values = np.add.outer(grid, grid)
        values[-9:, -9:] = np.inf
        ax = pyplot.figure().subplots()
        predictors = Predictors(pd.DataFrame({"a": [0.1, 0.2], "b": [0.2, 0.1]}), False, {})
        effect = Effect(("a", "b"), (grid, grid), values)
        draw_effects([ax], [effect], predictors, np.array([0.3]), "y", is_own_figure=False)
        assert not is_white(ax, (0.98, 0.98))

    def test_contours_within_the_scale_have_no_hatches(self):
        X = np.indices((12, 12)).reshape(2, -1).T.astype(float)  # rows in every corner
        model = Earth(degree=2, engine="native").fit(X, X[:, 0] * X[:, 1])
        (ax,) = plots.plot_effects(model, X, features=[], pairs=[(0, 1)])
        assert ax.collections[0].extend == "neither"
        assert not ax.figure.axes[-1].texts

    def test_an_array_has_the_names_of_r(self, data):
        X, y = data[0].to_numpy(), data[1].to_numpy()
        model = Earth(degree=2, penalty=6, engine="native").fit(X, y)
        for given in (X, X.tolist(), data[0]):
            axes = plots.plot_effects(model, given, pairs=[])
            assert [ax.get_xlabel() for ax in axes] == ["x1", "x2", "x3", "x5"]

    def test_an_array_for_a_model_that_knows_names(self, data, model, recwarn):
        axes = plots.plot_effects(model, data[0].to_numpy(), pairs=[])
        assert [ax.get_xlabel() for ax in axes] == ["temp", "wind", "vis", "doy"]
        assert not recwarn.list

    @pytest.mark.needs_r
    def test_a_formula_shows_its_own_columns(self, factor_data):
        X, y = factor_data
        frame = X.assign(score=y, noise=0.0)
        model = Earth.from_formula("score ~ log(age + 1) * class + sex + crew", frame)
        axes = plots.plot_effects(model, frame, pairs=[("age", "class")])
        assert [ax.get_xlabel() for ax in axes] == ["sex", "age", "class", "crew", "age"]
        x, drawn = axes[1].get_lines()[0].get_data()
        held = {"class": "3rd", "sex": "male", "crew": True}
        assert_allclose(drawn, model.predict(pd.DataFrame({"age": x, **held})), atol=1e-12)
        assert len(plots.plot_effects(model, frame, features=["age", "class"])) == 3

    @pytest.mark.needs_r
    @pytest.mark.filterwarnings("ignore:glm.fit")
    def test_a_classifier_shows_probabilities(self, data):
        X, y = data
        two = EarthClassifier().fit(X, np.where(y > y.median(), "high", "low"))
        (ax,) = plots.plot_effects(two, X, features=["doy"])
        assert ax.get_ylabel() == "probability of low"
        x, drawn = ax.get_lines()[0].get_data()
        rows = pd.DataFrame([X.median()] * len(x)).assign(doy=x)
        assert_allclose(drawn, two.predict_proba(rows)[:, 1], atol=1e-12)
        three = EarthClassifier().fit(X, pd.cut(y, 3, labels=["a", "b", "c"]).astype(str))
        (ax,) = plots.plot_effects(three, X, features=["doy"], response="b")
        assert ax.get_ylabel() == "probability of b"
        assert_allclose(ax.get_lines()[0].get_ydata(), three.predict_proba(rows)[:, 1], atol=1e-12)

    def test_features_choose_their_pairs(self, data, model):
        X = data[0]
        assert len(plots.plot_effects(model, X, features="temp")) == 1
        assert len(plots.plot_effects(model, X, features=["temp", "vis"])) == 2
        assert len(plots.plot_effects(model, X, features=["temp", "wind"])) == 3
        assert len(plots.plot_effects(model, X, features=[-1], pairs=[])) == 1

    def test_an_unused_feature_is_a_flat_line(self, data, model):
        (ax,) = plots.plot_effects(model, data[0], features=["hum"])
        assert np.ptp(ax.get_lines()[0].get_ydata()) == 0

    def test_a_flat_surface_is_no_reason_to_warn(self, data, recwarn):
        X, y = data
        model = Earth(engine="native", nprune=1).fit(X, y)
        plots.plot_effects(model, X, features=[], pairs=[("hum", "wind")])[0].figure.canvas.draw()
        assert not recwarn.list

    def test_where_the_others_are_held(self, data, model):
        X = data[0]
        for at, held in (("mean", X.mean()), ({"wind": 2.0}, {"wind": 2.0}), ("median", {})):
            rows = pd.DataFrame([{**X.median(), **held}])
            (ax,) = plots.plot_effects(model, X, features=["temp"], at=at)
            x, drawn = ax.get_lines()[0].get_data()
            assert_allclose(drawn[77], model.predict(rows.assign(temp=x[77]))[0], atol=1e-12)

    def test_one_of_several_responses(self, data):
        X, y = data
        model = Earth(engine="native").fit(X, pd.DataFrame({"plain": y, "minus": -y}))
        plain, minus = (
            plots.plot_effects(model, X, features=["vis"], response=r)[0] for r in ("plain", 1)
        )
        assert minus.get_ylabel() == "predicted minus"
        assert_allclose(minus.get_lines()[0].get_ydata(), -plain.get_lines()[0].get_ydata())

    def test_a_model_that_is_its_intercept_alone(self, data):
        X, y = data
        model = Earth(engine="native", nprune=1).fit(X, y)
        (ax,) = plots.plot_effects(model, X)
        assert f"predicted ozone is {y.mean():.4g} everywhere" in ax.texts[0].get_text()
        (ax,) = plots.plot_effects(model, X, features=["vis"])
        assert_allclose(ax.get_lines()[0].get_ydata(), y.mean())

    def test_the_first_of_equally_frequent_levels_is_held(self, factor_model):
        X = pd.DataFrame(
            {
                "sex": ["male", "female"],
                "age": [1, 4],
                "class": pd.Categorical(["3rd", "2nd"], ["1st", "2nd", "3rd"]),
                "crew": [True, False],
            }
        )
        held = Predictors.from_data(factor_model, X, "median").background
        assert held == {"sex": "female", "age": 2.5, "class": "2nd", "crew": False}


class TestImportance:
    @needs_rscript
    def test_draws_the_numbers_of_r(self, data, model):
        found = of_r(
            data,
            "e <- evimp(fit)\n"
            "out <- list(names = rownames(e), nsubsets = e[, 'nsubsets'], gcv = e[, 'gcv'],\n"
            "  rss = e[, 'rss'])",
        )
        ax = plots.plot_importance(model)
        assert_allclose(line(ax, "gcv").get_xdata(), found["gcv"], atol=1e-10)
        assert_allclose(line(ax, "rss").get_xdata(), found["rss"], atol=1e-10)
        assert_allclose(line(twin(ax), "nsubsets").get_xdata(), found["nsubsets"])
        names = [label.get_text() for label in ax.get_yticklabels()]
        assert names == [name.replace("-unused", " (unused)") for name in found["names"]]
        assert ax.yaxis_inverted()

    def test_an_intercept_says_so(self, data):
        ax = plots.plot_importance(Earth(engine="native", nprune=1).fit(*data))
        assert "intercept alone" in ax.texts[0].get_text()

    def test_one_predictor_is_not_scaled(self, data):
        X, y = data
        model = Earth(engine="native").fit(X[["vis"]], y)
        ax = plots.plot_importance(model)
        assert ax.get_xlabel() == "gcv and rss"
        assert ax.get_xlim()[1] > model.importance()["rss"].iloc[0]

    def test_thirty_long_names_stand_clear_in_a_small_figure(self):
        rng = np.random.default_rng(2)
        names = [f"measurement_of_the_quantity_{j}_in_kilograms" for j in range(30)]
        X = pd.DataFrame(rng.normal(size=(300, 30)), columns=names)
        y = X @ np.linspace(3, 1, 30)
        model = Earth(engine="native", nk=61, thresh=0, linpreds=True).fit(X, y)
        figure, ax = pyplot.subplots(figsize=(6, 4), layout="constrained")
        plots.plot_importance(model, ax)
        figure.canvas.draw()
        labels = ax.get_yticklabels()
        assert len({label.get_text() for label in labels}) == len(labels) == 30
        assert not texts_overlap(labels)
        assert ax.get_position().width > 0.5


class TestManners:
    def test_a_new_figure_or_none(self, data, model):
        calls = (
            lambda ax: plots.plot_model_selection(model, ax),
            lambda ax: plots.plot_importance(model, ax),
            lambda ax: plots.plot_residuals(model, axes=None if ax is None else [ax] * 4),
            lambda ax: plots.plot_effects(model, data[0], features=["vis"], axes=ax),
        )
        for call in calls:
            for drawn in np.ravel(call(None)):
                assert isinstance(drawn, Axes)
            assert len(pyplot.get_fignums()) == 1
            pyplot.close("all")
            figure = matplotlib.figure.Figure()
            ax = figure.subplots()
            assert np.ravel(call(ax))[0] is ax
            assert pyplot.get_fignums() == []
            figure.canvas.draw()

    def test_given_axes_are_used_in_their_order(self, data, model):
        axes = pyplot.subplots(2, 2)[1]
        assert plots.plot_residuals(model, axes=axes).tolist() == axes.ravel().tolist()
        assert len(pyplot.get_fignums()) == 1
        drawn = plots.plot_effects(model, data[0], features=["temp", "wind", 2], axes=axes)
        assert drawn.tolist() == axes.ravel().tolist()

    def test_shapes(self, data, model):
        assert isinstance(plots.plot_model_selection(model), Axes)
        assert isinstance(plots.plot_importance(model), Axes)
        assert plots.plot_residuals(model).shape == (4,)
        assert plots.plot_effects(model, data[0]).shape == (5,)

    def test_importing_does_not_import_matplotlib(self):
        code = "import sys, pyearthdof, pyearthdof.plots; print('matplotlib' in sys.modules)"
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "False"

    def test_short_names(self):
        assert shorten("temp") == "temp"
        assert len(shorten("a" * 50)) == 24
        assert shorten("cost_$") == r"cost_\$"
        alike = ["x" * 20 + str(j) + "x" * 20 for j in range(3)]
        assert len(set(shorten_all(alike))) == 3


class TestBadInput:
    @pytest.mark.parametrize(
        "draw",
        [
            plots.plot_model_selection,
            plots.plot_importance,
            plots.plot_residuals,
            lambda model: plots.plot_effects(model, [[1.0]]),
        ],
    )
    def test_model(self, draw):
        with pytest.raises(NotFittedError, match="not fitted yet: call fit"):
            draw(Earth())
        fitted = LinearRegression().fit([[1.0], [2.0]], [1.0, 2.0])
        with pytest.raises(InvalidInputError, match="LinearRegression without"):
            draw(fitted)
        for wrong in (Earth, "model", None):
            with pytest.raises(InvalidInputError, match="should be a fitted Earth"):
                draw(wrong)
        assert pyplot.get_fignums() == []

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"features": ["tmp"]}, "features holds 'tmp' but the columns of X are temp, wind"),
            ({"features": [9]}, "features holds 9 but X has 5 columns"),
            ({"features": [], "pairs": []}, "features and pairs are both empty"),
            ({"pairs": [("temp", "x")]}, "pairs holds 'x'"),
            ({"pairs": ["temp"]}, "pairs holds 'temp' but it should contain pairs"),
            ({"pairs": [("temp", "temp")]}, "pairs holds 'temp' with itself"),
            ({"axes": []}, "axes has 0 Axes but this picture needs 5"),
            ({"features": "vis", "axes": [3]}, r"axes\[0\]=3 but it should be a matplotlib Axes"),
            ({"response": 1}, "response=1 but it should be 0"),
            ({"response": "O3"}, "response='O3' but it should be 0"),
            ({"at": "mode"}, "at='mode' but it should be 'median', 'mean'"),
            ({"at": {"tmp": 3}}, "at names 'tmp' but X has no such column"),
            ({"at": {"temp": "hot"}}, "at holds 'temp' at 'hot' but it should be a finite number"),
        ],
    )
    def test_effects(self, data, model, options, message):
        with pytest.raises(InvalidInputError, match=message):
            plots.plot_effects(model, data[0], **options)
        assert pyplot.get_fignums() == []

    def test_a_level_that_is_held(self, factor_data, factor_model):
        with pytest.raises(
            InvalidInputError, match="at '4th' but its levels are '1st', '2nd', '3rd'"
        ):
            plots.plot_effects(factor_model, factor_data[0], at={"class": "4th"})

    def test_data_of_effects(self, data, model):
        X, y = data
        bare = Earth(engine="native").fit(X.to_numpy(), y)
        with pytest.raises(
            InvalidInputError, match=r"X has shape \(121, 4\) but the model needs 5"
        ):
            plots.plot_effects(bare, X.to_numpy()[:, :4])
        with pytest.raises(InvalidInputError, match="X is a list but it should contain numbers"):
            plots.plot_effects(bare, [["a"] * 5])
        with pytest.raises(InvalidInputError, match="X has no rows"):
            plots.plot_effects(model, X.iloc[:0])
        with pytest.raises(InvalidInputError, match="two columns named 'temp'"):
            plots.plot_effects(model, pd.concat([X, X[["temp"]]], axis=1))
        with pytest.raises(InvalidInputError, match="contains NaN"):
            plots.plot_effects(model, X.assign(wind=np.nan))
        with pytest.raises(ValueError, match="feature names"):
            plots.plot_effects(model, X.drop(columns="hum"))
        assert pyplot.get_fignums() == []

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"y": [1.0, 2.0]}, r"y has shape \(2,\) but the model was fitted on shape \(121,\)"),
            ({"y": ["a"] * 121}, "y is a list but it should contain numbers"),
            ({"y": [np.nan] * 121}, "y contains NaN or infinity"),
            ({"axes": "no"}, "axes has 1 Axes but this picture needs 4"),
            ({"axes": [1, 2, 3, 4]}, r"axes\[0\]=1 but it should be a matplotlib Axes"),
            ({"response": True}, "response=True but it should be 0"),
        ],
    )
    def test_residuals(self, model, options, message):
        with pytest.raises(InvalidInputError, match=message):
            plots.plot_residuals(model, **options)
        assert pyplot.get_fignums() == []

    def test_axes(self, model):
        for draw in (plots.plot_model_selection, plots.plot_importance):
            with pytest.raises(InvalidInputError, match="ax=3 but it should be a matplotlib Axes"):
                draw(model, ax=3)

    def test_response_of_several(self, data):
        X, y = data
        model = Earth(engine="native").fit(X, np.column_stack([y, y**2]))
        for draw in (
            lambda r: plots.plot_residuals(model, response=r),
            lambda r: plots.plot_effects(model, X, response=r),
        ):
            with pytest.raises(InvalidInputError, match="one of y1, y2, or an index below 2"):
                draw("y3")


def test_the_earth_inside_a_pipeline_or_a_search_is_drawn():
    rng = np.random.default_rng(2)
    frame = pl.DataFrame({"a": rng.normal(size=90), "b": rng.normal(3, 2, size=90)})
    y = np.maximum(frame["a"].to_numpy(), 0)
    pipeline = make_pipeline(StandardScaler(), Earth(engine="native"))
    pipeline.set_output(transform="pandas").fit(frame.to_pandas(), y)
    search = GridSearchCV(pipeline, {"earth__penalty": [2, 3]}, cv=2).fit(frame.to_pandas(), y)
    chosen = EarthCV(Earth(engine="native"), {"penalty": [2, 3]}, cv=2).fit(frame, y)
    for model in (pipeline, search, chosen):
        assert plots.plot_effects(model, frame.to_pandas())[0].get_xlabel() == "a"
        assert plots.plot_importance(model).get_yticklabels()[0].get_text() == "a"
        assert plots.plot_model_selection(model).get_xlabel() == "number of terms"
        plots.plot_residuals(model, y)
        plots.plot_contributions(model, frame.to_pandas())
    curve = plots.plot_effects(pipeline, frame.to_pandas())[0].lines[0]
    scaled = pipeline[:-1].transform(frame.to_pandas())["a"]
    assert curve.get_xdata().min() == pytest.approx(scaled.min())
    assert len(plots.plot_models({"one": pipeline, "two": search})) == 2
    assert plots.plot_effects(chosen, frame)[0].get_xlabel() == "a"
    classes = make_pipeline(StandardScaler(), EarthClassifier(penalty=8, engine="native"))
    labels = y + 0.5 * rng.normal(size=90) > 0.5
    classes.fit(frame.to_pandas(), labels)
    assert "True" in plots.plot_calibration(classes, frame.to_pandas(), labels).get_ylabel()
    with pytest.raises(NotFittedError, match="this Pipeline is not fitted"):
        plots.plot_effects(make_pipeline(Earth()), frame)
