"""The paired cases of this folder, importable from the folders below it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
