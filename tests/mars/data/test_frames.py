"""Frames of polars and pyarrow are fitted as pandas' are."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pyearthdof import Earth, EarthClassifier, degrees_of_freedom
from pyearthdof._utils.checks import as_pandas
from pyearthdof.dof.mars.sizes import df_of_sizes
from pyearthdof.exceptions import InvalidInputError

N = 60
RNG = np.random.default_rng(3)
PANDAS = pd.DataFrame(
    {
        "x": RNG.normal(size=N),
        "k": RNG.integers(0, 9, N),
        "text": RNG.choice(["z", "a", "m"], N),
        "flag": RNG.random(N) > 0.5,
    }
)
Y = np.maximum(PANDAS.x, 0) + (PANDAS.text == "m") + 0.1 * RNG.normal(size=N)
DAYS = [datetime.date(2020, 1, 1) + datetime.timedelta(days=i) for i in range(N)]
POLARS = pl.DataFrame({name: PANDAS[name].tolist() for name in PANDAS})
FRAMES = {"polars": POLARS, "pyarrow": POLARS.to_arrow()}


def native(**options):
    return Earth(engine="native", **options)


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_the_same_model_as_from_pandas(frame):
    plain = native(degree=2).fit(PANDAS, Y.to_numpy())
    model = native(degree=2).fit(frame, pl.Series(Y.to_numpy()), pl.Series(np.ones(N)))
    assert model.model_ == plain.model_
    assert model.feature_names_in_.tolist() == list(PANDAS)
    for predict in (model.predict, model.model_.predict, model.transform):
        np.testing.assert_array_equal(predict(frame), predict(PANDAS))
    np.testing.assert_array_equal(model.predict(frame, missing="propagate"), plain.predict(PANDAS))


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_formulas_classes_and_degrees_of_freedom(frame):
    data, plain = frame, PANDAS
    formula = Earth.from_formula("x ~ log(k + 1) + text + flag", data, engine="native")
    expected = Earth.from_formula("x ~ log(k + 1) + text + flag", plain, engine="native")
    assert formula.model_ == expected.model_
    np.testing.assert_array_equal(formula.predict(data), expected.predict(plain))
    model = EarthClassifier(engine="native").fit(frame, data["text"])
    assert model.classes_.tolist() == ["a", "m", "z"]
    first, second = (
        degrees_of_freedom(native(), X, n_rep=3, random_state=1) for X in (data, plain)
    )
    assert first.df == second.df


def test_the_levels_of_categorical_columns():
    x = RNG.normal(size=6)
    values = ["z", "a", "m"] * 2
    for column, levels in (
        (pl.Series(values, dtype=pl.Categorical), ("a", "m", "z")),
        (pl.Series(values, dtype=pl.Enum(["z", "a", "m"])), ("z", "a", "m")),
    ):
        model = native().fit(pl.DataFrame({"f": column, "x": x}), x)
        assert model.model_.columns.columns[0].levels == levels
    table = pa.table({"f": pa.array(values).dictionary_encode(), "x": x})
    assert native().fit(table, x).model_.columns.columns[0].levels == ("z", "a", "m")


def test_dates_are_read_in_formulas_alone():
    data = pl.DataFrame({"day": DAYS, "x": PANDAS.x, "y": Y})
    model = Earth.from_formula("y ~ day + x", data, engine="native")
    dated = pd.DataFrame({"day": pd.to_datetime(DAYS), "x": PANDAS.x, "y": Y})
    assert model.model_ == Earth.from_formula("y ~ day + x", dated, engine="native").model_
    fitted = native().fit(data.select(day=pl.col("x"), x=pl.col("x")), Y)
    dates = data.select("day", "x")
    for call in (
        lambda: native().fit(dates, Y),
        lambda: fitted.predict(dates),
        lambda: fitted.predict(dates, missing="propagate"),
        lambda: fitted.model_.predict(dates),
        lambda: native().fit_many(dates, Y.to_numpy()[:, None]),
        lambda: df_of_sizes(dates, n_rep=2),
    ):
        with pytest.raises(InvalidInputError, match="column 'day' of X has the type datetime64"):
            call()
    with pytest.raises(InvalidInputError, match="y has the type datetime64"):
        native().fit(PANDAS, data["day"])
    with pytest.raises(InvalidInputError, match="sample_weight has the type datetime64"):
        native().fit(PANDAS, Y, data["day"])


def test_time_zones_and_times_survive():
    times = pl.Series("t", [datetime.datetime(2020, 1, 1, 12, i) for i in range(5)])
    zoned = as_pandas(times.dt.replace_time_zone("Europe/Berlin"))
    assert str(zoned.dt.tz) == "Europe/Berlin" and zoned.iloc[0].hour == 12
    assert as_pandas(times).tolist() == [pd.Timestamp(2020, 1, 1, 12, i) for i in range(5)]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pl.lit([1, 2]), r"column 'bad' of X holds '\[1, 2\]'"),
        (pl.lit(None), "contains NaN: column 'bad', row 0"),
        (pl.when(pl.col("k") != 4).then(pl.lit("s")), "column 'bad' of X has a missing value"),
        (pl.lit(datetime.timedelta(days=1)), "column 'bad' of X has the type timedelta64"),
    ],
)
def test_columns_without_a_meaning_are_refused_by_name(column, message):
    with pytest.raises(InvalidInputError, match=message):
        native().fit(POLARS.with_columns(bad=column), Y)


def test_a_lazy_frame_should_be_collected():
    with pytest.raises(InvalidInputError, match=r"lazy frame .* collect it first"):
        native().fit(POLARS.lazy(), Y)


def test_decimals_are_numbers():
    frame = POLARS.select(x=pl.col("x").cast(pl.Decimal(12, 4)))
    rounded = PANDAS.x.round(4).to_numpy()[:, None]
    np.testing.assert_allclose(
        native().fit(frame, Y).fitted_values_, native().fit(rounded, Y).fitted_values_
    )


def test_transform_gives_polars_where_it_is_asked_for():
    model = native().set_output(transform="polars").fit(POLARS, Y)
    terms = model.transform(POLARS)
    assert isinstance(terms, pl.DataFrame) and terms.columns == list(model.terms_)
