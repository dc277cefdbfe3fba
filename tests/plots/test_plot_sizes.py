"""The picture of the degrees of freedom of every size."""

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from matplotlib import pyplot

from pyearthdof import AutoEarth, Earth, df_of_sizes, plots
from pyearthdof.exceptions import InvalidInputError

X = np.random.default_rng(0).normal(size=(80, 30))
Y = X[:, 0] + np.random.default_rng(1).normal(size=80)


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    pyplot.close("all")


def test_lines_are_the_numbers():
    model = AutoEarth(Earth(engine="native"), n_models=1).fit(X, Y)
    choice = model.choice_
    ax = plots.plot_sizes(model)
    lines = {line.get_label(): line for line in ax.lines}
    assert np.array_equal(lines["actual"].get_ydata(), choice.curve.df)
    assert lines["nominal, penalty 2"].get_ydata()[:3].tolist() == [1.0, 3.0, 5.0]
    assert lines[f"chosen: {choice.size}"].get_xdata()[0] == choice.size
    assert choice.plot(ax) is ax
    assert choice.curve.plot().get_ylabel() == "degrees of freedom"


def test_a_curve_of_one_size_and_of_nothing():
    ax = plots.plot_sizes(df_of_sizes(X, nk=1, n_rep=5))
    assert ax.lines[0].get_marker() == "o"
    with pytest.raises(InvalidInputError, match="it should be a SizeCurve"):
        plots.plot_sizes(Earth())
