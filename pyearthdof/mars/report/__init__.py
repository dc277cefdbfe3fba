"""The HTML report of a fitted model."""
