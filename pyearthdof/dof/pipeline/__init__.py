"""Degrees of freedom of estimators and pipelines of scikit-learn."""
