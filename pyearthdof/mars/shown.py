"""Fitted estimators in notebooks: scikit-learn's diagram, and the terms below it."""

from __future__ import annotations

from typing import Any

from .inspect.html import model_html

__all__ = ["ShownEstimator"]


class ShownEstimator:
    """What notebooks ask for; scikit-learn decides whether there is a diagram."""

    model_: Any

    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + self._terms_shown()  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._terms_shown()
        return bundle

    def _terms_shown(self) -> str:
        return model_html(self.model_) if "model_" in vars(self) else ""
