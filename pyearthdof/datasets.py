"""The paper's data sets and simulations."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pooch
from sklearn.utils import check_random_state

from . import bridge
from .exceptions import DataNotAvailableError, InvalidInputError

__all__ = [
    "Simulation",
    "fetch_spam_split",
    "load_ozone",
    "load_spam",
    "make_correlated",
    "make_hinges",
    "make_sparse",
]

SPLIT_FILE = "spam.traintest"
SPLIT_SHA256 = "ba6718589db52bc72324e3edb5dc458c547675088aa114a81afa84d972d35ba5"
# The site of "The Elements of Statistical Learning"; the second address leads to the first.
SPLIT_SITES = (
    "https://hastie.su.domains/ElemStatLearn/datasets/",
    "https://web.stanford.edu/~hastie/ElemStatLearn/datasets/",
)


class Simulation(NamedTuple):
    """Simulated data: the predictors, the response and its true mean.

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
    """Ozone in Los Angeles in 1976: R's `earth::ozone1`, 330 rows, response O3 and 9 predictors.

    Read from R's package once and kept as a file, so that later loads need no R.

    Examples
    --------
    >>> from pyearthdof.datasets import load_ozone
    >>> load_ozone().shape
    (330, 10)
    """
    return _package_data("ozone1", "earth")


def load_spam() -> pd.DataFrame:
    """Spam e-mails: R's `kernlab::spam`, 4601 rows, 57 predictors and `type` ("spam", "nonspam").

    Read from R's package once and kept as a file, so that later loads need no R.

    Examples
    --------
    >>> from pyearthdof.datasets import load_spam
    >>> load_spam()["type"].value_counts().to_dict()
    {'nonspam': 2788, 'spam': 1813}
    """
    return _package_data("spam", "kernlab")


def fetch_spam_split(folder: str | os.PathLike | None = None) -> np.ndarray:
    """Which rows of `load_spam` are for testing, as "The Elements of Statistical Learning" splits them.

    The file `spam.traintest` is looked for in `folder`, else in the folder PYEARTHDOF_DATA; without
    either it is downloaded from the book's site once and kept. Its hash is checked each time.

    Parameters
    ----------
    folder : path, optional
        The folder that has the file, or the file itself.

    Returns
    -------
    (4601,) array of bool
        True for the 1536 test rows.

    Raises
    ------
    DataNotAvailableError
        There is no such file, it is another one, or it cannot be downloaded.
    """
    folder = folder or os.environ.get("PYEARTHDOF_DATA")
    file = _downloaded_split() if not folder else _local_split(Path(folder))
    return np.loadtxt(file, dtype=int) == 1


def _local_split(place: Path) -> Path:
    file = place if place.is_file() else place / SPLIT_FILE
    if not file.is_file():
        raise DataNotAvailableError(f"there is no file {SPLIT_FILE!r} in {str(place)!r}")
    if pooch.file_hash(str(file)) != SPLIT_SHA256:
        raise DataNotAvailableError(
            f"{str(file)!r} is not the book's file: its sha256 should be {SPLIT_SHA256}"
        )
    return file


def _downloaded_split() -> Path:
    problem = ""
    for site in SPLIT_SITES:
        try:
            file = pooch.retrieve(
                site + SPLIT_FILE,
                known_hash=SPLIT_SHA256,
                fname=SPLIT_FILE,
                path=cache_folder(),
                downloader=pooch.HTTPDownloader(timeout=15),
            )
            return Path(file)
        except OSError as error:  # what requests raises is an OSError too
            problem = problem or f"no connection: {type(error).__name__}"
        except ValueError:
            problem = problem or "the file there has another sha256"
    raise DataNotAvailableError(
        f"the split of the spam data cannot be downloaded from {SPLIT_SITES[0]} ({problem}); offline, "
        f"put {SPLIT_FILE} into a folder and name the folder in PYEARTHDOF_DATA"
    )


def make_sparse(n: int = 100, p: int = 20, random_state=None) -> Simulation:
    """The lasso's simulation: Gaussian X and noise, beta = (1, 1, 1, 0, ...), signal-to-noise 3.

    X, y and the mean are divided by the standard deviation of y, as the authors do; the true
    coefficients stay the same.

    Examples
    --------
    >>> from pyearthdof.datasets import make_sparse
    >>> data = make_sparse(n=100, p=20, random_state=0)
    >>> data.X.shape, round(float(data.y.std()), 6)
    ((100, 20), 1.0)
    """
    _check_size(n, p, 3)
    rng = _generator(random_state)
    X = rng.standard_normal((n, p))
    mean = X[:, :3].sum(axis=1)
    y = mean + rng.standard_normal(n)
    scale = y.std()
    return Simulation(X / scale, y / scale, mean / scale)


def make_correlated(n: int = 20, random_state=None) -> Simulation:
    """The simulation of lasso against best subset: 10 predictors in two correlated groups.

    Unit variances, correlation 0.75 among the first 4 and 0.9 among the last 6, beta = (1, 2, 3, 4, 5,
    0, ...), sigma 1.

    Examples
    --------
    >>> from pyearthdof.datasets import make_correlated
    >>> make_correlated(random_state=0).X.shape
    (20, 10)
    """
    _check_size(n, 10, 10)
    rng = _generator(random_state)
    X = rng.standard_normal((n, 10)) @ correlated_root()
    mean = X @ CORRELATED_BETA
    return Simulation(X, mean + rng.standard_normal(n), mean)


CORRELATED_BETA = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def correlated_root() -> np.ndarray:
    """The symmetric square root of the covariance of `make_correlated`."""
    covariance = np.zeros((10, 10))
    covariance[:4, :4] = 0.75
    covariance[4:, 4:] = 0.9
    np.fill_diagonal(covariance, 1.0)
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(values) @ vectors.T


def make_hinges(n: int = 200, p: int = 10, random_state=None) -> Simulation:
    """The simulation of MARS, equation "mars_sim_model": two hinges, one of them an interaction.

    y = (x1 - 1)_+ + (x1 - 1)_+ (x2 - 0.8)_+ + 0.12 e, all x and e standard Gaussian.

    Examples
    --------
    >>> from pyearthdof.datasets import make_hinges
    >>> data = make_hinges(n=200, p=2, random_state=0)
    >>> bool(data.mean.min() == 0.0)
    True
    """
    _check_size(n, p, 2)
    rng = _generator(random_state)
    X = rng.standard_normal((n, p))
    first = np.maximum(X[:, 0] - 1, 0)
    mean = first + first * np.maximum(X[:, 1] - 0.8, 0)
    return Simulation(X, mean + 0.12 * rng.standard_normal(n), mean)


def _check_size(n, p, least) -> None:
    if n < 2:
        raise InvalidInputError(f"n={n} but it should be 2 or more")
    if p < least:
        raise InvalidInputError(f"p={p} but it should be {least} or more")


def _generator(random_state):
    """Numpy's generator as scikit-learn takes it; an integer is a seed of the newer kind."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None or isinstance(random_state, (int, np.integer)):
        return np.random.default_rng(random_state)
    return check_random_state(random_state)


def _package_data(name: str, package: str) -> pd.DataFrame:
    file = cache_folder() / f"{package}-{name}.csv"
    if file.is_file():
        return read_csv(file)
    frame = pd.DataFrame(bridge.call("package.data", name, package, package=package))
    _keep(frame, file)
    return frame


def read_csv(file, **options) -> pd.DataFrame:
    """Read a CSV file with every digit; before pandas 3.1 that has to be asked for."""
    version = tuple(int(part) for part in pd.__version__.split(".")[:2])
    if version < (3, 1):
        options["float_precision"] = "round_trip"
    return pd.read_csv(file, **options)


def cache_folder() -> Path:
    """Where data are kept: the folder PYEARTHDOF_CACHE, or the user's cache folder."""
    return Path(os.environ.get("PYEARTHDOF_CACHE") or pooch.os_cache("pyearthdof"))


def _keep(frame: pd.DataFrame, file: Path) -> None:
    """Write the cache, whole or not at all; where it cannot be written the data come from R again."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=file.parent) as folder:
            partial = Path(folder) / file.name
            frame.to_csv(partial, index=False)
            os.replace(partial, file)
    except OSError:
        return
