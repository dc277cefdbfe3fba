"""What `from pyearthdof import Earth` leaves for later."""

import subprocess
import sys

CODE = """
import sys
from pyearthdof import Earth
print([name for name in sys.modules if name.startswith(("pyearthdof.mars.formula",
       "pyearthdof.mars.engines.native", "pyearthdof.dof", "pyearthdof.plots",
       "pyearthdof._core", "rpy2", "matplotlib"))])
"""


def test_an_estimator_imports_neither_engine_nor_formulas():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
