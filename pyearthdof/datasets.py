"""Data sets and simulations of the paper."""

from __future__ import annotations

from importlib import resources
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from ._utils.checks import check_count

__all__ = [
    "Simulation",
    "load_airquality",
    "load_ozone",
    "load_spam",
    "load_spam_split",
    "make_correlated",
    "make_hinges",
    "make_sparse",
]


class Simulation(NamedTuple):
    """Simulated data.

    Attributes
    ----------
    X : (n, p) array
        Predictors.
    y, mean : (n,) arrays
        Response and its true mean.

    Examples
    --------
    >>> from pyearthdof.datasets import make_hinges
    >>> X, y, mean = make_hinges(n=50, p=3, random_state=0)
    >>> X.shape, y.shape, mean.shape
    ((50, 3), (50,), (50,))
    """

    X: np.ndarray
    y: np.ndarray
    mean: np.ndarray


def load_ozone() -> pd.DataFrame:
    """Load daily ozone in Los Angeles, 1976 (R's `earth::ozone1`): response O3, 9 predictors, 330 rows.

    Included in this package and bit-identical to R's; see `pyearthdof/data/README.md` for the source.

    Examples
    --------
    >>> from pyearthdof.datasets import load_ozone
    >>> load_ozone().shape
    (330, 10)
    """
    return _shipped_table("ozone1.csv").astype(float)


def load_airquality() -> pd.DataFrame:
    """Load air quality in New York, May to September 1973 (R's `airquality`): 153 days.

    Ozone, Solar.R, Wind, Temp, Month and Day; 37 values of Ozone and 7 of Solar.R are missing. Included in
    this package and bit-identical to R's; see `pyearthdof/data/README.md` for the source.

    Examples
    --------
    >>> from pyearthdof.datasets import load_airquality
    >>> load_airquality().isna().sum()[["Ozone", "Solar.R"]].tolist()
    [37, 7]
    """
    return _shipped_table("airquality.csv").astype(float)


def load_spam() -> pd.DataFrame:
    """Load spam e-mails (R's `kernlab::spam`): 4601 rows, 57 predictors and `type` ("spam", "nonspam").

    UCI's Spambase with kernlab's names. Included in this package and bit-identical to R's; see
    `pyearthdof/data/README.md` for the source.

    Examples
    --------
    >>> from pyearthdof.datasets import load_spam
    >>> load_spam()["type"].value_counts().to_dict()
    {'nonspam': 2788, 'spam': 1813}
    """
    table = _shipped_table("spam.csv.gz", compression="gzip")
    return table.astype(dict.fromkeys(table.columns.drop("type"), float))


def load_spam_split() -> np.ndarray:
    """Load the test rows of `load_spam` in "The Elements of Statistical Learning".

    Returns
    -------
    (4601,) array of bool
        True for the 1536 test rows.

    Examples
    --------
    >>> from pyearthdof.datasets import load_spam, load_spam_split
    >>> spam, test = load_spam(), load_spam_split()
    >>> len(spam[~test]), len(spam[test])
    (3065, 1536)
    """
    with _shipped("spam.traintest") as stream:
        return np.loadtxt(stream, dtype=int) == 1


def make_sparse(n: int = 100, p: int = 20, random_state=None) -> Simulation:
    """Simulate the lasso's data: Gaussian X and noise, beta = (1, 1, 1, 0, ...), signal-to-noise ratio 3.

    X, y and the mean are divided by the standard deviation of y, as in the authors' code; the true
    coefficients are unchanged.

    Parameters
    ----------
    n, p : int
        Numbers of observations and predictors.
    random_state : int, RandomState, Generator or None
        Source of the random numbers.

    Examples
    --------
    >>> from pyearthdof.datasets import make_sparse
    >>> data = make_sparse(n=100, p=20, random_state=0)
    >>> data.X.shape, round(float(data.y.std()), 6)
    ((100, 20), 1.0)
    """
    rng = _generator(n, p, 3, random_state)
    X = rng.standard_normal((n, p))
    mean = X[:, :3].sum(axis=1)
    y = mean + rng.standard_normal(n)
    scale = y.std()
    return Simulation(X / scale, y / scale, mean / scale)


def make_correlated(n: int = 20, random_state=None) -> Simulation:
    """Simulate data for lasso against best subset: 10 predictors in two correlated groups.

    Unit variances, correlation 0.75 among the first 4 and 0.9 among the last 6, beta = (1, 2, 3, 4, 5,
    0, ...), sigma 1. Arguments
    are as in `make_sparse`.

    Examples
    --------
    >>> from pyearthdof.datasets import make_correlated
    >>> make_correlated(random_state=0).X.shape
    (20, 10)
    """
    rng = _generator(n, 10, 10, random_state)
    X = rng.standard_normal((n, 10)) @ correlated_root()
    mean = X @ CORRELATED_BETA
    return Simulation(X, mean + rng.standard_normal(n), mean)


CORRELATED_BETA = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def correlated_root() -> np.ndarray:
    """Return the symmetric square root of the covariance of `make_correlated`."""
    covariance = np.zeros((10, 10))
    covariance[:4, :4] = 0.75
    covariance[4:, 4:] = 0.9
    np.fill_diagonal(covariance, 1.0)
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(values) @ vectors.T


def make_hinges(n: int = 200, p: int = 10, random_state=None) -> Simulation:
    """Simulate the MARS data, equation "mars_sim_model": two hinges, one of them an interaction.

    y = (x1 - 1)_+ + (x1 - 1)_+ (x2 - 0.8)_+ + 0.12 e, all x and e standard Gaussian. Arguments
    are as in `make_sparse`.

    Examples
    --------
    >>> from pyearthdof.datasets import make_hinges
    >>> data = make_hinges(n=200, p=2, random_state=0)
    >>> bool(data.mean.min() == 0.0)
    True
    """
    rng = _generator(n, p, 2, random_state)
    X = rng.standard_normal((n, p))
    first = np.maximum(X[:, 0] - 1, 0)
    mean = first + first * np.maximum(X[:, 1] - 0.8, 0)
    return Simulation(X, mean + 0.12 * rng.standard_normal(n), mean)


def _generator(n, p, least_p, random_state):
    """Return numpy's generator for a scikit-learn random_state; an integer seeds a Generator."""
    check_count("n", n, 2)
    check_count("p", p, least_p)
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None or isinstance(random_state, (int, np.integer)):
        return np.random.default_rng(random_state)
    return check_random_state(random_state)


def _shipped(name: str):
    return resources.files("pyearthdof").joinpath("data", name).open("rb")


def _shipped_table(name: str, compression: str | None = None) -> pd.DataFrame:
    with _shipped(name) as stream:
        return read_csv(stream, compression=compression)


def read_csv(file, **options) -> pd.DataFrame:
    """Read a CSV file with all digits, which pandas before 3.1 does only on request."""
    version = tuple(int(part) for part in pd.__version__.split(".")[:2])
    if version < (3, 1):
        options["float_precision"] = "round_trip"
    return pd.read_csv(file, **options)
