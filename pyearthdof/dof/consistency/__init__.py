"""Self-consistency: nominal against actual degrees of freedom."""
