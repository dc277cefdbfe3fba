"""MARS without R: the same terms, in the same order, and the same numbers as R's earth.

The loops are compiled (`pyearthdof._core`); everything else is Python.
"""
