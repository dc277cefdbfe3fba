"""Shared by all tests: helpers importable from every folder, and one BLAS thread for each worker."""

import os
import sys
from pathlib import Path

# Two pytest workers with two BLAS threads each on two cores spend their time waiting for each other.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

sys.path.insert(0, str(Path(__file__).parent))
