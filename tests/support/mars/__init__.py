"""Cases of MARS models for paired tests with R."""
