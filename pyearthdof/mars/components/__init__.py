"""Components of a fitted model: terms, GCV, generalised linear model, variance model."""
