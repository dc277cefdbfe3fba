"""The engine that calls R's earth."""
