"""Data that only look like numbers, names that are none: refused in a sentence, or as scikit-learn does."""

import datetime
import decimal
import enum
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from pyearthdof import Earth, EarthClassifier, Mars, crosscheck, df_of_sizes
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.mars.data.classes import learn_classes

RNG = np.random.default_rng(3)
N = 40
X = RNG.normal(size=(N, 2))
Y = np.abs(X[:, 0]) + 0.1 * RNG.normal(size=N)
DAYS = pd.date_range("2020-01-01", periods=N)
TWO_LEVELS = pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])


def native():
    return Earth(engine="native")


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (DAYS.to_numpy(), r"y has the type datetime64\[.s\] but it should contain numbers"),
        (pd.Series(DAYS), "y has the type datetime64"),
        (pd.Series(DAYS.tz_localize("UTC")), "y has the type datetime64"),
        (DAYS, "y has the type datetime64"),
        (DAYS.to_numpy() - DAYS.to_numpy()[0], "y has the type timedelta64"),
        (pd.Series(DAYS.to_period("D")), "y has the type period"),
        (DAYS.to_period("D"), "y has the type period"),
        (
            list(DAYS),
            r"y holds '2020-01-01 00:00:00' \(a Timestamp\) but it should contain numbers",
        ),
        (
            [d.date() for d in DAYS],
            r"y holds '2020-01-01' \(a date\) but it should contain numbers",
        ),
        (pd.DataFrame({"a": DAYS, "b": Y}), "y has the type datetime64"),
        (pd.DataFrame({"a": DAYS.to_period("D"), "b": Y}), "y has the type period"),
        (pd.Series(pd.cut(Y, [-100, 100])), "column 'y' of y has 1 level"),
        (Y + 1j, "y has the type complex128"),
        (np.array([(v,) for v in Y], dtype=[("a", float)]), "y has the type"),
        ([10**400, *Y[1:]], "y holds an integer of 1329 bits but it should contain numbers"),
        (np.ma.masked_greater(Y, 1), r"y is a masked array with \d+ masked value"),
        (np.ma.masked_greater(np.c_[Y, Y], 1), "y is a masked array"),
        (pd.DataFrame(np.c_[Y, Y**2], columns=TWO_LEVELS), r"y has column names of 2 levels"),
        (pd.DataFrame(np.c_[Y, Y**2], columns=["a", 1]), "y has the column names 'a' and 1"),
    ],
)
def test_responses_that_are_no_numbers(y, message):
    with pytest.raises(InvalidInputError, match=message) as caught:
        native().fit(X, y)
    assert "\n" not in str(caught.value)


ODD_DESIGNS = [
    (np.c_[DAYS.to_numpy(), DAYS.to_numpy()], "X has the type datetime64"),
    (np.c_[DAYS.to_numpy(), DAYS.to_numpy()] - DAYS.to_numpy()[0], "X has the type timedelta64"),
    (np.ma.masked_greater(X, 1), r"X is a masked array with \d+ masked value"),
    (np.array([(v, v) for v in Y], dtype=[("a", float), ("b", float)]), "X has the type"),
    (X + 1j, "Complex data not supported: X has the type complex128"),
    (
        [[10**400, 1.0]] * N,
        "X holds an integer of 1329 bits but it should contain numbers that a double",
    ),
    (pd.DataFrame(X, columns=TWO_LEVELS), "X has column names of 2 levels .a MultiIndex."),
    (pd.DataFrame(X, columns=["a", 1]), "X has the column names 'a' and 1"),
    (pd.DataFrame(X, columns=[7, 7]), "X has two columns named 7, but names should be unique"),
    (pd.DataFrame(X, columns=["a", "a"]), "X has two columns named 'a'"),
]


@pytest.mark.parametrize(("odd", "message"), ODD_DESIGNS)
def test_predictors_that_are_no_numbers(odd, message):
    model = native().fit(X, Y)
    factor = pd.DataFrame({"f": RNG.choice(["u", "v"], N), "x": X[:, 0]})
    with_factor = native().fit(factor, Y)
    calls = [
        lambda: native().fit(odd, Y),
        lambda: model.predict(odd),
        lambda: model.transform(odd),
        lambda: native().fit_many(odd, Y[:, None]),
    ]
    for call in calls:
        with pytest.raises(InvalidInputError, match=message) as caught:
            call()
        assert "\n" not in str(caught.value)
    if isinstance(odd, pd.DataFrame):
        with pytest.raises(InvalidInputError, match=message):
            with_factor.predict(odd)


NO_NUMBERS = {
    "huge integers": (pd.Series([10**400] * 40, dtype=object), "holds an integer of 1329 bits"),
    "dates": (DAYS, r"has the type datetime64"),
    "a time zone": (DAYS.tz_localize("UTC"), "has the type datetime64"),
    "differences": (DAYS - DAYS[0], "has the type timedelta64"),
    "complex": (X[:, 0] + 1j, "has the type complex128"),
    "complex objects": (pd.Series(list(X[:, 0] + 1j), dtype=object), r"holds .* \(a complex"),
    "mixed objects": (
        pd.Series([1.0, np.complex64(1j)] * 20, dtype=object),
        r"holds .* \(a complex64\)",
    ),
    "days": (pd.Series([d.date() for d in DAYS], dtype=object), r"holds '2020-01-01' \(a date\)"),
    "periods": (DAYS.to_period("D"), "has the type period"),
    "categories of dates": (pd.Categorical(DAYS), "has the type datetime64"),
    "categories of differences": (pd.Categorical(DAYS - DAYS[0]), "has the type timedelta64"),
    "intervals": (pd.cut(X[:, 0], 3), "has the type interval"),
}


@pytest.mark.parametrize("kind", NO_NUMBERS)
@pytest.mark.parametrize("model", ["numbers", "factor", "formula"])
def test_a_column_of_numbers_given_something_else(kind, model):
    odd, message = NO_NUMBERS[kind]
    frame = pd.DataFrame({"x": X[:, 0], "z": X[:, 1], "f": ["u", "v"] * 20})
    if model == "numbers":
        frame = frame[["x", "z"]]
    if model == "formula":
        fitted = Earth.from_formula("y ~ log(x + 9) + f", frame.assign(y=Y), engine="native")
    else:
        fitted = native().fit(frame, Y)
    new = frame.assign(x=odd)
    for predict in (fitted.predict, fitted.transform, fitted.model_.predict, fitted.model_.basis):
        with pytest.raises(InvalidInputError, match=f"column 'x' of X {message}") as caught:
            predict(new)
        assert "\n" not in str(caught.value)
    with pytest.raises(InvalidInputError, match="column 'x' of X"):
        fitted.predict(new, missing="propagate")


@pytest.mark.parametrize(
    "odd",
    [
        [[np.datetime64("2020-01-01"), 1.0]] * N,
        [[np.timedelta64(1, "D"), 1.0]] * N,
        [[np.complex64(1j), 1.0]] * N,
        np.array([[DAYS[0], 1.0]] * N, dtype=object),
    ],
)
def test_lists_and_objects_that_numpy_would_convert(odd):
    model = native().fit(X, Y)
    for call in (
        lambda: native().fit(odd, Y),
        lambda: model.predict(odd),
        lambda: model.predict(odd, missing="propagate"),
        lambda: model.model_.predict(odd),
    ):
        with pytest.raises(InvalidInputError, match=r"X holds|X has the type|Complex"):
            call()


class OtherFrame:
    """As much of another library's frame as is looked at."""

    def __init__(self, frame, names="columns"):
        self.frame = frame
        setattr(self, names, list(frame.columns))

    def __getitem__(self, name):
        return np.asarray(self.frame[name])

    def __len__(self):
        return len(self.frame)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.frame, dtype=dtype)


@pytest.mark.parametrize("names", ["columns", "column_names"])
def test_frames_of_other_libraries(names):
    frame = pd.DataFrame({"x": X[:, 0], "z": X[:, 1]})

    def made(frame):
        return OtherFrame(frame, names)

    model = native().fit(made(frame), Y)
    plain = native().fit(frame, Y)
    assert model.model_ == plain.model_ and model.feature_names_in_.tolist() == ["x", "z"]
    for predict in (model.predict, model.model_.predict, model.transform):
        np.testing.assert_array_equal(predict(made(frame)), predict(frame))
    swapped = frame[["z", "x"]]
    np.testing.assert_array_equal(model.model_.predict(made(swapped)), model.predict(frame))
    for missing in ("refuse", "propagate"):
        with pytest.raises(ValueError, match="order"):
            model.predict(made(swapped), missing=missing)

    dated = frame.assign(z=DAYS)
    for call in (
        lambda: native().fit(made(dated), Y),
        lambda: model.predict(made(dated)),
        lambda: model.predict(made(dated), missing="propagate"),
        lambda: model.model_.predict(made(dated)),
        lambda: native().fit_many(made(dated), Y[:, None]),
    ):
        with pytest.raises(InvalidInputError, match="column 'z' of X has the type datetime64"):
            call()
    with pytest.raises(InvalidInputError, match="column 'z' of y has the type datetime64"):
        native().fit(frame, made(dated))
    with pytest.raises(InvalidInputError, match="column 'z' of X has the type datetime64"):
        df_of_sizes(made(dated), n_rep=2)


def test_weights_and_rows_that_are_no_numbers():
    for weights, message in (
        (np.ma.masked_greater(np.ones(N), 0.5), "sample_weight is a masked array"),
        (DAYS.to_numpy(), "sample_weight has the type datetime64"),
        (["a"] * N, "sample_weight should contain numbers"),
        ([object()] * N, "sample_weight should contain numbers"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            native().fit(X, Y, weights)
    with pytest.raises(InvalidInputError, match="subset is a masked array"):
        native().fit(X, Y, subset=np.ma.array(np.arange(N), mask=np.arange(N) > 9))
    with pytest.raises(InvalidInputError, match="Y is a masked array"):
        native().fit_many(X, np.ma.masked_greater(Y[:, None], 1))


def test_a_masked_array_without_masked_values_is_an_array():
    plain = native().fit(X, Y)
    masked = native().fit(np.ma.array(X), np.ma.array(Y), np.ma.ones(N))
    np.testing.assert_array_equal(masked.predict(np.ma.array(X)), plain.predict(X))


@pytest.mark.parametrize("names", [[0, 1, 2], [5, 3, 9], [0.5, 1.5, 2.5]])
def test_names_that_are_no_texts_do_not_count(names):
    """As in scikit-learn: columns by position, without feature_names_in_."""
    frame = pd.DataFrame({"a": X[:, 0], "f": RNG.choice(["u", "v", "w"], N), "b": X[:, 1]})
    numbers = pd.DataFrame(np.c_[X, X[:, 0] ** 2], columns=names)
    model = native().fit(numbers, Y)
    plain = native().fit(numbers.to_numpy(), Y)
    assert model.model_ == plain.model_ and not hasattr(model, "feature_names_in_")
    np.testing.assert_array_equal(model.predict(numbers), model.predict(numbers.to_numpy()))

    factors = frame.set_axis(names, axis=1)
    model = native().fit(factors, Y)
    named = native().fit(frame.set_axis(["x1", "x2", "x3"], axis=1), Y)
    assert not hasattr(model, "feature_names_in_") and model.n_features_in_ == 3
    assert model.terms_ == named.terms_ and model.model_ == named.model_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(model.predict(factors), model.fitted_values_, rtol=1e-12)
    np.testing.assert_array_equal(model.feature_importances_, named.feature_importances_)
    with pytest.raises(ValueError, match="2 features"):
        model.predict(factors.iloc[:, :2])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        np.testing.assert_array_equal(named.predict(factors), model.predict(factors))


def test_names_of_responses_that_are_no_texts_do_not_count():
    both = np.c_[Y, Y**2]
    assert native().fit(X, pd.DataFrame(both)).response_names_ == ("y1", "y2")
    assert native().fit(X, pd.DataFrame(both, columns=["u", "v"])).response_names_ == ("u", "v")
    assert native().fit(X, pd.Series(Y, name=3)).response_names_ == ("y",)
    assert native().fit(X, pd.Series(Y, name="price")).response_names_ == ("price",)


@pytest.mark.needs_r
def test_other_doors():
    frame = pd.DataFrame(np.c_[X, Y], columns=pd.MultiIndex.from_product([["a"], ["x", "z", "y"]]))
    with pytest.raises(InvalidInputError, match="data has column names of 2 levels"):
        Earth.from_formula("y ~ .", frame)
    model = Earth.from_formula("y ~ x + z", frame.droplevel(0, axis=1))
    with pytest.raises(InvalidInputError, match="X has column names of 2 levels"):
        model.predict(frame)
    for function in (lambda x, y: Mars().fit(x, y), crosscheck):
        with pytest.raises(InvalidInputError, match="masked"):
            function(np.ma.masked_greater(X, 1), Y)
        with pytest.raises(InvalidInputError, match="datetime64"):
            function(X, DAYS.to_numpy())


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


ONE_KIND = "all of one kind"


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", 1] * 20, f"y holds 'a' and 1 but .* {ONE_KIND}"),
        (np.array(["a", 1] * 20, dtype=object), f"y holds 'a' and 1 but .* {ONE_KIND}"),
        (np.array([True, 1] * 20, dtype=object), ONE_KIND),
        (["1", 1] * 20, ONE_KIND),
        ([0.0, 1.0, np.nan, 1.0] * 10, "Input y contains NaN"),
        (["a", None] * 20, "Input y contains NaN: the class of row 1 is missing"),
        (pd.Series(["a", pd.NA] * 20), "the class of row 1 is missing"),
        (pd.Series(pd.Categorical(["a", "b", None, "a"] * 10)), "the class of row 2 is missing"),
        (pd.Series([1, None] * 20, dtype="Int64"), "the class of row 1 is missing"),
        (np.array(["2020-01-01", "NaT"] * 20, dtype="M8[D]"), "the class of row 1 is missing"),
        ([0.5, 1.5] * 20, "Unknown label type: continuous"),
        ([pd.Timestamp("2020"), pd.Timestamp("2021")] * 20, f"y holds Timestamp.* {ONE_KIND}"),
        ([datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)] * 20, ONE_KIND),
        ([("a", 1), ("b", 2)] * 20, "1d array"),
        (np.fromiter([("a", 1), ("b", 2)] * 20, dtype=object), ONE_KIND),
        ([b"a", b"b"] * 20, ONE_KIND),
        ([Colour.RED, Colour.BLUE] * 20, ONE_KIND),
        ([decimal.Decimal(1), decimal.Decimal(2)] * 20, ONE_KIND),
        ([frozenset([1]), frozenset([2])] * 20, ONE_KIND),
        ([10**30, 1] * 20, r"below 2\*\*63"),
        (np.array([1j, 2] * 20), "complex128"),
        (np.ma.array([0, 1] * 20, mask=[True, False] * 20), "y is a masked array"),
        ([[0, 1], [1, 0]] * 20, "1d array"),
        (["a"] * N, "y holds one class only, 'a'"),
        ([1e16, 1e16 + 2] * 20, "two|2 classes that R would both call '1e\\+16'"),
        ([0, 1] * 19, "inconsistent numbers of samples"),
        (None, "target y is None"),
    ],
)
def test_classes_that_are_refused(y, message):
    with pytest.raises(ValueError, match=message) as caught:
        EarthClassifier().fit(X, y)
    assert "\n" not in str(caught.value)


@pytest.mark.needs_r
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("y", "classes", "name"),
    [
        (["a", "b"], ["a", "b"], "b"),
        (np.array(["a", "b"], dtype=object), ["a", "b"], "b"),
        (pd.Series(["z", "a"], dtype="category"), ["a", "z"], "z"),
        (pd.Series(["u", "v"], dtype="string"), ["u", "v"], "v"),
        (pd.Series([2, 1], dtype="Int64"), [1, 2], "2"),
        (np.array([2, 1], dtype=object), [1, 2], "2"),
        ([1.0, 2.0], [1.0, 2.0], "2"),
        ([True, False], [False, True], "TRUE"),
        (np.array([True, False], dtype=object), [False, True], "TRUE"),
        (pd.Series([True, False], dtype="boolean"), [False, True], "TRUE"),
        (["", "NA"], ["", "NA"], "NA"),
        (np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]"), None, "2021-01-01"),
        (np.ma.array([0, 1]), [0, 1], "1"),
    ],
)
def test_classes_that_are_taken(y, classes, name):
    y = pd.concat([y] * 20, ignore_index=True) if isinstance(y, pd.Series) else np.tile(y, 20)
    model = EarthClassifier().fit(X, y)
    if classes is not None:
        assert model.classes_.tolist() == classes
    assert model.response_names_ == (name,)
    assert set(model.predict(X).tolist()) <= set(model.classes_.tolist())


def test_the_type_of_the_classes_is_kept():
    assert learn_classes(["b", "a"], 2)[0].dtype.kind == "U"
    assert learn_classes(np.array(["b", "a"], dtype=object), 2)[0].dtype == object
    assert learn_classes(np.array([3, 1], dtype=np.int8), 2)[0].dtype == np.int8
    assert learn_classes(pd.Series([3, 1], dtype="Int64"), 2)[0].dtype == np.int64


@pytest.mark.needs_r
def test_rows_of_one_class_only():
    y = np.where(np.median(Y) < Y, "high", "low")
    for rows in (y == "high", np.flatnonzero(y == "high")):
        with pytest.raises(InvalidInputError, match="subset has rows of one class only, 'high'"):
            EarthClassifier().fit(X, y, subset=rows)
    with pytest.raises(InvalidInputError, match="sample_weight is above 0 in rows of one class"):
        EarthClassifier().fit(X, y, (y == "low") * 1.0)


def test_weights_that_are_no_doubles():
    with pytest.raises(InvalidInputError, match="sample_weight holds an integer of 1329 bits"):
        native().fit(X, Y, [10**400] * N)


@pytest.mark.parametrize(
    "gaps",
    [
        pd.array([1.5, None] * 20, dtype="Float64"),
        pd.array([1, None] * 20, dtype="Int64"),
        pd.array([True, None] * 20, dtype="boolean"),
        np.array([1.5, pd.NA] * 20, dtype=object),
        np.array([1.5, None] * 20, dtype=object),
    ],
    ids=["Float64", "Int64", "boolean", "objects", "None"],
)
def test_missing_values_of_pandas_are_missing(gaps):
    """In new rows of a model of numbers: NaN from a saved model, refused by the estimator unless told."""
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = native().fit(frame, np.maximum(X[:, 0], 0) + X[:, 1])
    new = frame.assign(a=gaps)
    as_nan = frame.assign(a=pd.Series(gaps).astype("Float64").to_numpy(float, na_value=np.nan))
    expected = model.model_.predict(as_nan)
    assert np.isnan(expected[1::2]).all() and np.isfinite(expected[::2]).all()
    np.testing.assert_array_equal(model.model_.predict(new), expected)
    np.testing.assert_array_equal(model.predict(new, missing="propagate"), expected)
    for call in (model.predict, lambda data: native().fit(data, Y)):
        with pytest.raises(InvalidInputError, match=r"(NaN: column 'a',|missing value in) row 1"):
            call(new)


def test_a_saved_model_names_a_sparse_matrix():
    model = native().fit(X, Y).model_
    with pytest.raises(InvalidInputError, match=r"X is a sparse matrix .* X\.toarray"):
        model.predict(sparse.csr_array(X))
