"""Every row of the mapping table, there and back."""

import sys

import numpy as np
import pytest

from pyearthdof import bridge
from pyearthdof.bridge import Factor, NamedMatrix
from pyearthdof.exceptions import RError

pytestmark = pytest.mark.needs_r


def there_and_back(value):
    return bridge.call("echo", value, package=None)


@pytest.mark.parametrize("value", [None, True, False, b"\x00\xffabc", ["a", "é 日本", ""]])
def test_plain_values(value):
    assert there_and_back(value) == value


@pytest.mark.parametrize("value", [3, 2.5, np.float64(1 / 3), np.int64(-7)])
def test_numbers_become_doubles(value):
    assert there_and_back(value).tolist() == [float(value)]


@pytest.mark.parametrize(
    "array", [np.arange(5.0), np.empty(0), np.arange(6.0).reshape(2, 3), np.ones((1, 1)),
              np.asfortranarray(np.arange(6.0).reshape(3, 2)), np.arange(12.0).reshape(3, 4)[:, ::2]]
)  # fmt: skip
def test_arrays_keep_shape_and_bits(array):
    back = there_and_back(array)
    assert back.shape == array.shape and back.dtype == float
    np.testing.assert_array_equal(back, array)


def test_values_are_copied():
    array = np.arange(5.0)
    back = there_and_back(array)
    back[0] = 99
    assert array[0] == 0 and there_and_back(array)[0] == 0


def test_names_and_classes_on_rs_side():
    matrix = NamedMatrix(np.ones((2, 2)), ("a b", "é"))
    assert bridge.call("describe.value", matrix, package=None) == {
        "class": ["matrix", "array"], "type": ["double"], "names": ["a b", "é"],
    }  # fmt: skip
    assert bridge.call("describe.value", np.ones(3), package=None)["class"] == ["numeric"]
    factor = Factor(np.array([0, 2, -1]), ("low", "mid", "high"))
    assert bridge.call("describe.value", factor, package=None)["class"] == ["factor"]
    assert there_and_back(factor) == ["low", "high", None]


def test_lists_and_missing_values():
    assert there_and_back({"a": "x", "b": {"c": None}}) == {"a": ["x"], "b": {"c": None}}
    assert there_and_back([1.0, "x"])[1] == ["x"]
    assert np.isnan(there_and_back(np.array([np.nan, 1.0]))[0])


def test_what_has_no_counterpart_is_refused():
    with pytest.raises(TypeError, match="object has no counterpart"):
        there_and_back(object())
    with pytest.raises(TypeError, match="3 dimensions"):
        there_and_back(np.ones((2, 2, 2)))
    with pytest.raises((RError, KeyError, LookupError)):
        bridge.call("no.such.function", package=None)


def test_no_conversion_takes_references_to_none():
    """A C extension that does ends Python after some thousand calls."""
    factor = bridge.Factor(np.array([0, 1, 0]), ("a", "b"))
    frame = bridge.Frame({"x": np.arange(3.0), "f": factor, "b": np.array([True, False, True])})
    values = [
        None, True, 1.0, "a", ["a", "b"], np.arange(3.0), np.eye(2), b"bytes", factor, frame,
        bridge.NamedMatrix(np.eye(2), ("a", "b")), {"a": 1, "b": None}, [1.0, "a"],
    ]  # fmt: skip

    def cross():
        for value in values:
            bridge.call("echo", value, package=None)

    cross()
    before = sys.getrefcount(None)
    for _ in range(100):
        cross()
    assert abs(sys.getrefcount(None) - before) < 50


def test_integers_and_truth_values_with_na():
    found = bridge.call("describe.value", np.array([True, False]), package=None)
    assert found["type"] == ["logical"]
    assert bridge.call("echo", bridge.Factor(np.array([1, -1]), ("a", "b")), package=None) == [
        "b",
        None,
    ]
