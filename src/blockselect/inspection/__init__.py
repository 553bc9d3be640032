"""Stability of a selection, tests against chance, markers of blocks, and a check for graphs made from the features."""
