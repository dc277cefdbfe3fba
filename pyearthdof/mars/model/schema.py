"""The JSON schema of saved models."""

from __future__ import annotations

import json
from importlib.resources import files

__all__ = ["model_schema"]


def model_schema() -> dict:
    """The JSON schema, draft 2020-12, of what `save` of a model or an estimator writes.

    Examples
    --------
    >>> from pyearthdof.mars.model.schema import model_schema
    >>> model_schema()["title"]
    'pyearthdof.MarsModel, version 1'
    """
    return json.loads(files(__package__).joinpath("model.schema.json").read_text(encoding="utf-8"))
