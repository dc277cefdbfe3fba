"""Summaries, tables and diagnostics of a fitted model."""
