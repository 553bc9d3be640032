"""Solvers that the other methods use."""
