"""The paper's Algorithm 2: the penalty at which MARS counts its degrees of freedom right."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, fields

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from ..exceptions import InvalidInputError
from ..mars.model import MarsModel
from ..mars.options import default_nk
from ..random import RDraws
from .adapters import engine_of
from .checks import check_count, check_design
from .consistency import AUTHORS_SEED, unpruned_mars
from .empirical import package_versions
from .jackknife import Jackknife
from .measurement import measure
from .noise import Responses, as_draws, drawn_design, is_shape
from .penalty import corrected_penalty, default_penalty, nominal

__all__ = ["PenaltyCorrection", "correct_penalty"]


@dataclass(frozen=True, eq=False)
class PenaltyCorrection:
    """A corrected penalty and what it was computed from.

    Attributes
    ----------
    penalty, se : float
        The corrected penalty and its jackknife standard error.
    default_penalty : float
        What MARS would have taken: 2 for degree 1, else 3.
    df, df_se : float
        Actual degrees of freedom of the unpruned fits, and their standard error.
    nominal_df : float
        Mean nominal degrees of freedom at the default penalty.
    n_terms, n_terms_se : float
        Mean number of terms r.
    n, p, nk, degree, n_rep : int
    settings, versions : dict

    Examples
    --------
    >>> from pyearthdof import correct_penalty
    >>> found = correct_penalty((50, 2), n_rep=20, engine="native")
    >>> found.default_penalty, round(found.penalty, 4), round(found.se, 4)
    (2.0, 0.7969, 0.2565)
    >>> found.to_frame().shape
    (1, 13)
    """

    penalty: float
    se: float
    default_penalty: float
    df: float
    df_se: float
    nominal_df: float
    n_terms: float
    n_terms_se: float
    n: int
    p: int
    nk: int
    degree: int
    n_rep: int
    settings: dict = field(default_factory=dict)
    versions: dict = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"PenaltyCorrection({self.default_penalty:g} -> {self.penalty:.6g} ± {self.se:.2g}, "
            f"df={self.df:.6g}, nominal_df={self.nominal_df:.6g}, n_terms={self.n_terms:.6g}, "
            f"n_rep={self.n_rep})"
        )

    def to_dict(self) -> dict:
        """Everything as plain Python values, ready for JSON."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def to_frame(self) -> pd.DataFrame:
        """One row with every number."""
        values = self.to_dict()
        return pd.DataFrame([{k: v for k, v in values.items() if not isinstance(v, dict)}])


def correct_penalty(
    design,
    *,
    degree=None,
    nk=None,
    n_rep=100,
    draws=None,
    engine="auto",
    n_jobs=None,
    progress=False,
    package="earth",
) -> PenaltyCorrection:
    """Correct the penalty of MARS so that its nominal degrees of freedom are the actual ones.

    The actual degrees of freedom of the unpruned fit come from Algorithm 1 with mean zero; the
    corrected penalty is c = 2 (df - r)_+/(r - 1), r the mean number of terms. Where df <= r it is
    0, as in the paper (the authors' R package keeps the default there). Where no term was ever
    added nothing can be computed: the default is kept, with a warning.

    Parameters
    ----------
    design : tuple (n, p), (n, p) array, DataFrame, or fitted MARS model
        A tuple asks for a Gaussian design, drawn after the responses as the authors do. A matrix
        measures the search on these predictors instead. A model stands for its (n, p), factors
        expanded, its degree and its nk, as in the authors' `correct_df(fit)`.
    degree : int, optional
        Largest degree of interaction; by default the model's, or 1.
    nk : int, optional
        Most terms in the forward pass; by default the model's, or the package's own for p predictors.
    n_rep : int
        Number of responses drawn and fitted.
    draws : RDraws, optional
        Random numbers; `RDraws(1234)`, which gives the authors' numbers, by default.
    engine : {"auto", "r", "native"}
        As in `Earth`.
    n_jobs : int, optional
        Number of workers; the result does not depend on it.
    progress : bool
        Show a progress bar.
    package : {"earth", "mda"}
        Whose MARS.

    Returns
    -------
    PenaltyCorrection

    Examples
    --------
    >>> from pyearthdof import correct_penalty
    >>> correct_penalty((264, 9), degree=1)
    PenaltyCorrection(2 -> 2.99357 ± 0.096, df=40.9985, nominal_df=33.04, n_terms=17.02, n_rep=100)
    """
    design, degree, nk = _read_model(design, degree, nk)
    degree = check_count("degree", degree, 1)
    n_rep = check_count("n_rep", n_rep, 2)
    design = check_design(design, "design")
    n, p = design if is_shape(design) else design.shape
    nk = _default_nk(package, p) if nk is None else check_count("nk", nk, 1)
    procedure = unpruned_mars(package, degree, nk, engine)
    stream = as_draws(RDraws(AUTHORS_SEED) if draws is None else draws, None)
    settings = {
        "design": list(design) if is_shape(design) else "given",
        "package": package,
        "draws": repr(stream),
        "engine": engine_of(procedure),
    }
    X = drawn_design(design, stream, n_rep) if is_shape(design) else design
    responses = Responses(n, np.zeros(n), np.ones(n), stream)
    run = measure(procedure, X, responses, n_rep, n_jobs=n_jobs, progress=progress)
    default = default_penalty(degree)
    penalty = _correct(run.df, run.n_coef, default)
    return PenaltyCorrection(
        penalty=penalty.value,
        se=penalty.se,
        default_penalty=default,
        df=run.df.value,
        df_se=run.df.se,
        nominal_df=nominal(run.n_coef.value, default),
        n_terms=run.n_coef.value,
        n_terms_se=run.n_coef.se,
        n=n,
        p=p,
        nk=nk,
        degree=degree,
        n_rep=n_rep,
        settings=settings,
        versions=package_versions() | run.versions,
    )


def _read_model(design, degree, nk):
    """Shape, degree and nk of a fitted model; anything else as it is."""
    model = getattr(design, "model_", design)
    if not isinstance(model, MarsModel):
        if isinstance(design, BaseEstimator):
            raise InvalidInputError(f"design={design!r} is not fitted; call its fit first.")
        return design, 1 if degree is None else degree, nk
    shape = (model.n_samples, len(model.feature_names))
    return shape, model.degree if degree is None else degree, model.nk if nk is None else nk


def _default_nk(package: str, p: int) -> int:
    return default_nk(p) if package == "earth" else max(21, 2 * p + 1)


def _correct(df: Jackknife, r: Jackknife, default: float) -> Jackknife:
    if r.value == 1.0:
        warnings.warn(
            "no fit added a term to the intercept, so the penalty cannot be corrected; the default "
            f"penalty {default:g} is kept",
            UserWarning,
            stacklevel=3,
        )
        return Jackknife(default, np.full(len(df.left_out), default))
    # Without the only repetition that added terms there is nothing to correct either.
    left_r = r.left_out
    left_out = np.where(
        left_r > 1, corrected_penalty(df.left_out, np.where(left_r > 1, left_r, 2.0)), default
    )
    return Jackknife(float(corrected_penalty(df.value, r.value)), left_out)
