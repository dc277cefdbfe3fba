"""Multivariate adaptive regression splines: estimators, engines and fitted models."""
