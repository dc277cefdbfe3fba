"""Comparison of both engines on the same data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._utils.checks import by_position
from .components.terms import evaluate_terms
from .earth import Earth
from .inspect.importance import rss_of
from .model.mars_model import MarsModel

TIE = 1e-8  # of the total sum of squares: closer than this, rounding decides between two candidates


@dataclass(frozen=True, eq=False)
class CrossCheck:
    """Comparison of R's earth with the native engine.

    Attributes
    ----------
    r, native : MarsModel
    same_terms : bool
        Same forward pass: equal directions and cuts in the same order.
    same_selected : bool
        Same terms after pruning.
    parts_at : int or None
        First term (0-based) that differs.
    tie_gap : float or None
        Difference between the sums of squares explained by the two terms, as a share of the total.
    coef_difference : float or None
        Largest relative difference of a coefficient, if the selected terms are the same.
    fit_difference : float
        Largest difference of fitted values, relative to the largest fitted value.
    """

    r: MarsModel
    native: MarsModel
    same_terms: bool
    same_selected: bool
    parts_at: int | None
    tie_gap: float | None
    coef_difference: float | None
    fit_difference: float

    @property
    def same(self) -> bool:
        """True if both models are the same up to rounding."""
        return self.same_terms and self.same_selected

    @property
    def is_tie(self) -> bool | None:
        """True if rounding decides between the first terms that differ; None if no terms differ."""
        return None if self.tie_gap is None else self.tie_gap < TIE

    def to_dict(self) -> dict:
        """Return plain values for JSON, with the models as in `MarsModel.to_dict`."""
        names = ("same_terms", "same_selected", "parts_at", "tie_gap", "coef_difference")
        values = {
            name: getattr(self, name) for name in (*names, "fit_difference", "same", "is_tie")
        }
        return values | {"r": self.r.to_dict(), "native": self.native.to_dict()}

    def __str__(self) -> str:
        lines = [
            f"R's earth:     {_describe(self.r)}",
            f"native engine: {_describe(self.native)}",
        ]
        if self.same:
            lines.append(
                f"The same terms. Coefficients differ by at most {self.coef_difference:.1e}, fits by "
                f"{self.fit_difference:.1e} (relative)."
            )
        elif self.same_terms:
            lines.append("The same forward pass, but pruning selected other terms.")
        elif self.parts_at is not None:
            at = self.parts_at
            kind = "a tie" if self.is_tie else "not a tie"
            lines.append(
                f"They part at term {at + 1}: R took {_name(self.r, at)}, the native engine "
                f"{_name(self.native, at)}; this is {kind} (gap {self.tie_gap:.1e} of the total sum of "
                f"squares). Fits differ by {self.fit_difference:.1e} (relative)."
            )
        return "\n".join(lines)


def crosscheck(X, y, sample_weight=None, **options) -> CrossCheck:
    """Fit with R's earth and with the native engine, and compare the models.

    Parameters
    ----------
    X, y, sample_weight
        Data, as in `Earth.fit`.
    **options
        Options of `Earth` except `engine`.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import crosscheck
    >>> x = np.random.default_rng(0).normal(size=(100, 3))
    >>> crosscheck(x, np.abs(x[:, 0]), degree=2).same
    True
    """
    y, sample_weight = by_position(X, y=y, sample_weight=sample_weight)
    r = Earth(**options, engine="r").fit(X, y, sample_weight)
    native = Earth(**options, engine="native").fit(X, y, sample_weight)
    data = native._data
    return compare(r.model_, native.model_, data.design.values, data.responses.values)


def compare(r: MarsModel, native: MarsModel, X: np.ndarray, y: np.ndarray) -> CrossCheck:
    """Compare two fitted models on their training data."""
    parts_at = _first_difference(r, native)
    same_selected = parts_at is None and np.array_equal(r.selected, native.selected)
    fits = r.predict(X), native.predict(X)
    coef_difference = None
    if same_selected:
        relative = np.abs(r.coef - native.coef) / np.maximum(np.abs(r.coef), 1e-300)
        coef_difference = float(np.max(relative))
    return CrossCheck(
        r=r,
        native=native,
        same_terms=parts_at is None,
        same_selected=same_selected,
        parts_at=parts_at,
        tie_gap=None if parts_at is None else _gap(r, native, X, y, parts_at),
        coef_difference=coef_difference,
        fit_difference=float(np.abs(fits[0] - fits[1]).max() / max(np.abs(fits[0]).max(), 1e-300)),
    )


def _first_difference(a: MarsModel, b: MarsModel) -> int | None:
    shared = min(len(a.dirs), len(b.dirs))
    differ = (a.dirs[:shared] != b.dirs[:shared]) | (a.cuts[:shared] != b.cuts[:shared])
    rows = np.flatnonzero(differ.any(axis=1))
    if len(rows):
        return int(rows[0])
    return None if len(a.dirs) == len(b.dirs) else shared


def _gap(r, native, X, y, at) -> float:
    """Return the smallest difference made by the next one or two terms, which a step adds."""
    rounding = np.finfo(float).eps * float(np.sum(y**2))  # all that is left of a constant y
    total = max(float(np.sum((y - y.mean(axis=0)) ** 2)), rounding) or 1.0
    left = [
        [rss_of(evaluate_terms(X, m.dirs[: at + k], m.cuts[: at + k]), y) / total for k in (1, 2)]
        for m in (r, native)
    ]
    return min(abs(a - b) for a in left[0] for b in left[1])


def _describe(model: MarsModel) -> str:
    return f"{model.n_terms} of {len(model.dirs)} terms, GCV {model.gcv:.10g}, RSS {model.rss:.10g}"


def _name(model: MarsModel, at: int) -> str:
    return model.term_names[at] if at < len(model.term_names) else "nothing"
