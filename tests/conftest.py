"""Shared by all tests: makes `rscript` importable from every folder of tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
