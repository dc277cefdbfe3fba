"""Self-consistency: nominal and actual degrees of freedom."""
