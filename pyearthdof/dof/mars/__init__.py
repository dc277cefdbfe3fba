"""Degrees of freedom of MARS: penalty correction, sizes, tables."""
