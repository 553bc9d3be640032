"""Solvers of the other methods."""
