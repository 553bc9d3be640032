"""Stability of a selection, tests against chance, and a check for graphs that were built from the features."""
