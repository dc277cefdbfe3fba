"""Version of the package, in a file without imports."""

__version__ = "0.2.0"
