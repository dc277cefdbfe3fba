"""Helpers of the tests: R in a process of its own, versions, cases, and child processes."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]  # the repository
