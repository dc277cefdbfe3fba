"""The folder of the sources, and pictures that nobody sees."""

from pathlib import Path

import matplotlib
import pytest

matplotlib.use("Agg")


@pytest.fixture
def repository() -> Path:
    """The folder that has docs/ and README.md."""
    return Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def close_figures():
    """A picture of one example is not there for the next."""
    from matplotlib import pyplot

    yield
    pyplot.close("all")
