"""Helpers of the tests: R in a process of its own, versions, cases, and child processes."""
