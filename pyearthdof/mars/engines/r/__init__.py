"""Engine that calls R's earth."""
