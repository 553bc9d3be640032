"""Slow reference implementations, written directly from the formulas, to test the fast ones."""
