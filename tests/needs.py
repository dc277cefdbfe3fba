"""What a test needs that not every machine has."""

import pytest

from pyearthdof import bridge

needs_r = pytest.mark.skipif(not bridge.is_available("earth"), reason="R with earth is not here")
