"""Training data: design matrix, responses, factors, ranges."""
