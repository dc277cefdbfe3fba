"""Arithmetic that rounds as R's does."""
