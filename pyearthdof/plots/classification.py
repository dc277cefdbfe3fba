"""Calibration of a classifier, and the distribution of its probabilities in each class."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import norm

from .._utils.checks import check_count
from ..exceptions import InvalidInputError
from .axes import (
    BLUE,
    COLOURS,
    GREY,
    check_model,
    check_response,
    inner_model,
    one_axis,
    shorten,
    tidy,
)

STEPS = 201


def plot_calibration(model, X, y, ax=None, *, response=-1, n_groups=10):
    """Plot the observed frequency of a class against its predicted probability.

    Rows are grouped by probability; bars are 95 % Wilson intervals of the frequency. The dots of a calibrated
    model lie on the diagonal. Use rows that were not used for the fit.

    Parameters
    ----------
    model : EarthClassifier
        A fitted or loaded classifier.
    X : array or DataFrame
    y : array, (n,)
        Classes of the rows.
    ax : matplotlib Axes, optional
        Axes to draw into, as in `plot_model_selection`.
    response : int or class, default -1
        Index or name of the class; the last by default.
    n_groups : int, default 10
        Maximum number of groups.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import EarthClassifier, plots
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = X[:, 0] + np.random.default_rng(1).normal(size=200) > 0
    >>> model = EarthClassifier(engine="native").fit(X, y)
    >>> plots.plot_calibration(model, X, y).get_ylabel()
    'share of True observed'
    """
    shares, codes, names, column = _checked(model, X, y, response)
    n_groups = check_count("n_groups", n_groups, 1)
    mean, share, low, high = calibration_groups(shares[:, column], codes == column, n_groups)
    ax = one_axis(ax, 4.6, 4.4)
    ax.plot([0, 1], [0, 1], "--", color=GREY, linewidth=1, label="calibrated")
    errors = np.maximum([share - low, high - share], 0)
    ax.errorbar(
        mean, share, yerr=errors, fmt="o", color=BLUE, linewidth=1.2, label="groups of rows"
    )
    name = shorten(names[column])
    ax.set(
        xlabel=f"predicted probability of {name}",
        ylabel=f"share of {name} observed",
        xlim=(-0.02, 1.02),
        ylim=(-0.02, 1.02),
    )
    ax.legend(loc="upper left", fontsize=9)
    tidy(ax)
    return ax


def plot_class_densities(model, X, y, ax=None, *, response=-1):
    """Plot the distribution of the predicted probability of a class in each class, as R's plotd.

    Arguments and result are as in `plot_calibration`.

    Examples
    --------
    >>> from pyearthdof import EarthClassifier, plots
    >>> from pyearthdof.datasets import load_ozone
    >>> X = load_ozone()
    >>> y = X.pop("O3") > 10
    >>> ax = plots.plot_class_densities(EarthClassifier(engine="native").fit(X, y), X, y)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['False (176 rows)', 'True (154 rows)']
    """
    shares, codes, names, column = _checked(model, X, y, response)
    ax = one_axis(ax)
    grid = np.linspace(0, 1, STEPS)
    for c, name in enumerate(names):
        values = shares[codes == c, column]
        if len(values) == 0:
            continue
        density = reflected_density(values, grid)
        colour = COLOURS[c % 6]
        ax.plot(grid, density, color=colour, label=f"{shorten(name)} ({len(values)} rows)")
        ax.fill_between(grid, 0, density, color=colour, alpha=0.12, linewidth=0)
    ax.axvline(getattr(model, "threshold", 0.5), color=GREY, linestyle="--", linewidth=1)
    ax.set(
        xlabel=f"predicted probability of {shorten(names[column])}", ylabel="density", xlim=(0, 1)
    )
    ax.set_ylim(bottom=0)
    ax.legend(fontsize=9)
    tidy(ax)
    return ax


def calibration_groups(p, y, n_groups: int = 10) -> tuple[np.ndarray, ...]:
    """Mean probability, share observed, and Wilson's interval of it, in groups of similar probability."""
    p, y = np.asarray(p, dtype=float), np.asarray(y, dtype=float)
    order = np.argsort(p, kind="stable")
    groups = [group for group in np.array_split(order, min(n_groups, len(p))) if len(group)]
    mean = np.array([p[group].mean() for group in groups])
    share = np.array([y[group].mean() for group in groups])
    n, z = np.array([len(group) for group in groups]), norm.ppf(0.975)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return mean, share, np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def reflected_density(values: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """A Gaussian kernel density on [0, 1], reflected at the ends so that nothing is lost there."""
    spread = min(values.std(), float(np.subtract(*np.quantile(values, [0.75, 0.25]))) / 1.34)
    width = max(0.9 * (spread or values.std()) * len(values) ** -0.2, 0.01)
    density = np.zeros(len(grid))
    for mirrored in (values, -values, 2 - values):
        density += norm.pdf((grid[:, None] - mirrored[None, :]) / width).mean(axis=1) / width
    return density


def _checked(model, X, y, response) -> tuple[np.ndarray, np.ndarray, tuple[str, ...], int]:
    """Probabilities of the rows, the positions of their classes, the classes, and that of `response`."""
    model, X = inner_model(model, X)
    check_model(model, "model_")
    if not hasattr(model, "classes_"):
        raise InvalidInputError(
            f"model is a {type(model).__name__} but this picture is of a classifier"
        )
    shares = np.asarray(model.predict_proba(X))
    codes = class_codes(model.classes_, y, len(shares))
    names = tuple(str(name) for name in model.classes_)
    return shares, codes, names, check_response(response, names)


def class_codes(classes, y, n: int) -> np.ndarray:
    """The positions of n observed classes among those of a model."""
    values = np.asarray(y)
    if values.shape != (n,):
        raise InvalidInputError(f"y has shape {values.shape} but X has {n} rows")
    codes = pd.Index(classes).get_indexer(pd.Index(values))
    if (codes < 0).any():
        odd = values.tolist()[int(np.flatnonzero(codes < 0)[0])]
        raise InvalidInputError(f"y holds {odd!r}, which is none of the classes of the model")
    return codes


def class_indicators(classes, y, shape: tuple[int, int]) -> np.ndarray:
    """Observed classes as 0 and 1: a column for each class, or for the second of two alone."""
    codes = class_codes(classes, y, shape[0])
    return (codes[:, None] == np.arange(len(classes))[-shape[1] :]).astype(float)
