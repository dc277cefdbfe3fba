"""Random cases, fitted by plain R and by both engines, and the comparison of the fits."""
