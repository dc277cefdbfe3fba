"""Run Python code in a process where R cannot be found, as on a machine without R."""

import os
import subprocess
import sys


def run_without_r(code: str, *args: str, **variables: str) -> str:
    """Return what the code printed; sys.argv[1:] are the arguments, the variables are the environment's."""
    environment = {k: v for k, v in os.environ.items() if k not in ("R_HOME", "LD_LIBRARY_PATH")}
    environment |= {"PATH": os.path.dirname(sys.executable)} | variables
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        capture_output=True, text=True, env=environment, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout
