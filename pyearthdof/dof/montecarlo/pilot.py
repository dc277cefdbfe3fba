"""The fit to the data as the true mean, and the standard deviation of the noise around it."""

from __future__ import annotations

import numpy as np

from ..._utils.checks import check_vector
from ...contract import bind
from ...exceptions import InvalidInputError
from .blocks import FitMany
from .correlated import the_responses
from .designs import Designs
from .measurement import measure
from .noise import Responses
from .variance import Reduction, is_numeric

__all__ = ["responses_around_fit"]

_N_PILOT = (10, 50)  # repetitions at least and at most
_N_ROUNDS = 2


def responses_around_fit(
    procedure, designs: Designs, y, sigma, stream, **run
) -> tuple[Responses, float | None]:
    """Responses whose mean is the fit to y, and the df by which their sigma was estimated.

    A given sigma is taken as it is. Else sigma^2 = RSS/(n - df), with the exact df of a linear smoother.
    Other df, the cost of the search included, depend on sigma itself: they come from a pilot run around
    the fit with a first sigma, and from a second one with the sigma that the first one gives.
    """
    if designs.drawn:
        raise InvalidInputError(
            f"X={designs.source} but it should be the design that y belongs to, with mu='fitted'"
        )
    if y is None:
        raise InvalidInputError("y=None but it should be the response, with mu='fitted'")
    X, n = designs.source, designs.n
    y = check_vector("y", y, n)
    fits = FitMany(procedure)(bind(procedure, X), y[:, None])
    mean = fits.fitted[:, 0]
    if sigma is not None:
        return the_responses(n, mean, sigma, stream), None
    rss = _residual_squares(y, mean)
    trace = None if fits.trace is None else float(fits.trace[0])
    if getattr(procedure, "is_linear", False) and trace is not None:
        return Responses(n, mean, _sigmas(rss, n, trace), stream), trace
    sigmas = _sigmas(rss, n, trace if trace is not None and n - trace >= 1 else 0.0)
    after = stream.copy()
    after.skip_normals(n * designs.n_rep)
    pilot = Designs(X, (int(np.clip(designs.n_rep, *_N_PILOT)),), after)
    run |= {
        "statistic": getattr(procedure, "df_statistic", None),
        # Without it the df of a fit that nearly interpolates are too noisy to say how many are left.
        "reduction": Reduction(control=is_numeric(X)),
    }
    for _ in range(_N_ROUNDS):
        df = measure(procedure, pilot, Responses(n, mean, sigmas, after), **run).df.value
        sigmas = _sigmas(rss, n, df)
    return Responses(n, mean, sigmas, stream), df


def _residual_squares(y, mean) -> float:
    residuals = y - mean
    rss, n = float(residuals @ residuals), len(y)
    # Rounding leaves residuals of a few eps where the fit goes through y.
    if np.sqrt(rss / n) <= n * np.finfo(float).eps * np.abs(y).max():
        raise InvalidInputError(
            "sigma=None but it should be given: the fit leaves no residuals to estimate it from"
        )
    return rss


def _sigmas(rss: float, n: int, df: float) -> np.ndarray:
    if n - df < 1:
        raise InvalidInputError(
            f"sigma=None but it should be given: the fit takes {df:.4g} degrees of freedom of {n} "
            "observations, which leaves less than 1 for the noise to estimate it from"
        )
    return np.full(n, np.sqrt(rss / (n - df)))
