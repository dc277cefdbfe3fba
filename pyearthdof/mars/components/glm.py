"""The generalised linear model that earth fits on a model's terms: coefficients, deviances, links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
import pandas as pd

from ...exceptions import InvalidInputError
from ..reading import read_coefficients, read_text, read_vector

__all__ = [
    "AT_LIMIT", "CAUCHIT", "DECREASING", "EPSILON", "FAMILIES", "HALF", "LINKS", "OF_COUNTS",
    "OF_SHARES", "PROBIT", "GlmPart", "is_pairs",
]  # fmt: skip

# Our names of the families, and R's.
FAMILIES = {
    "binomial": "binomial",
    "poisson": "poisson",
    "gamma": "Gamma",
    "gaussian": "gaussian",
    "inverse_gaussian": "inverse.gaussian",
    "quasibinomial": "quasibinomial",
    "quasipoisson": "quasipoisson",
}

OF_SHARES = ("binomial", "quasibinomial")  # families whose means are from 0 to 1
OF_COUNTS = ("poisson", "quasipoisson")

EPSILON = np.finfo(float).eps  # R keeps means away from their limits by this
AT_LIMIT = 10 * EPSILON  # means that are closer have reached them, R says

LINKS = (
    "identity", "logit", "probit", "cauchit", "cloglog", "log", "inverse", "sqrt", "1/mu^2",
)  # fmt: skip
# Linear predictors of the mean 1/2, and the links that fall where the mean rises.
HALF = {
    "identity": 0.5, "logit": 0.0, "probit": 0.0, "cauchit": 0.0, "cloglog": float(np.log(np.log(2))),
    "log": float(np.log(0.5)), "inverse": 2.0, "sqrt": float(np.sqrt(0.5)), "1/mu^2": 4.0,
}  # fmt: skip
DECREASING = ("inverse", "1/mu^2")
PROBIT = 8.125890664701906  # -qnorm(.Machine$double.eps)
CAUCHIT = 1433540284805664.8  # -qcauchy(.Machine$double.eps)


def is_pairs(Y: np.ndarray, family: str | None) -> bool:
    """Whether earth takes two columns as the successes and failures of one binomial response."""
    if family not in OF_SHARES or Y.ndim != 2 or Y.shape[1] != 2:
        return False
    return bool((np.round(Y) == Y).all() and (Y >= 0).all() and (Y.sum(axis=1) > 1).any())


@dataclass(frozen=True, eq=False)
class GlmPart:
    """The glm on the selected terms, one for each response.

    Attributes
    ----------
    family, link : R's names.
    coef : coefficients, shaped as `MarsModel.coef`.
    null_deviance, null_df, deviance, df, aic, iterations, converged : (m,) arrays.
    """

    family: str
    link: str
    coef: np.ndarray
    null_deviance: np.ndarray
    null_df: np.ndarray
    deviance: np.ndarray
    df: np.ndarray
    aic: np.ndarray
    iterations: np.ndarray
    converged: np.ndarray

    def response(self, eta: np.ndarray) -> np.ndarray:
        """Means from linear predictors."""
        from . import links

        with np.errstate(all="ignore"):  # as R: infinite, or not a number
            return links.LINKS[self.link].mean(eta)

    @property
    def deviance_ratio(self) -> np.ndarray:
        """Share of the null deviance that the model explains; not finite where there is none."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return 1 - self.deviance / self.null_deviance

    def to_frame(self, response_names) -> pd.DataFrame:
        """One row for each response."""
        names = ["null_deviance", "null_df", "deviance", "df", "deviance_ratio", "aic"]
        names += ["iterations", "converged"]
        index = list(response_names)[: len(self.deviance)]
        kinds = {"null_df": int, "df": int, "iterations": int, "converged": bool}
        columns = {name: getattr(self, name).astype(kinds.get(name, float)) for name in names}
        return pd.DataFrame(columns, index=index)

    def to_dict(self) -> dict:
        """Plain fields; arrays as they are."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @classmethod
    def from_dict(cls, entries) -> GlmPart:
        """Read `to_dict`'s result from JSON; anything inconsistent is refused."""
        names = {f.name for f in fields(cls)}
        if not isinstance(entries, Mapping) or set(entries) != names:
            raise InvalidInputError(f"glm should have exactly {', '.join(sorted(names))}")
        link = read_text("glm.link", entries["link"])
        if link not in LINKS:
            raise InvalidInputError(
                f"glm.link={link[:40]!r} but it should be one of {', '.join(LINKS)}"
            )
        vectors = {
            name: read_vector(f"glm.{name}", entries[name])
            for name in names - {"family", "link", "coef"}
        }
        if len({len(v) for v in vectors.values()}) != 1:
            raise InvalidInputError("glm has statistics of different lengths")
        return cls(
            family=read_text("glm.family", entries["family"]),
            link=link,
            coef=read_coefficients("glm.coef", entries["coef"]),
            **vectors,
        )
