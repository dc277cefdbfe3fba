"""The engine that calls R's earth."""

from .engine import BoundR, REngine

__all__ = ["BoundR", "REngine"]
