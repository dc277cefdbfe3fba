"""A fitted model in other languages."""
