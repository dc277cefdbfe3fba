"""Export of fitted models to other languages."""
