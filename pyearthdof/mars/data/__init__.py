"""Training data: design matrix, responses, factors and ranges."""
