"""Statistical tests of a selection, its stability, and a check for graphs that were built from the features."""
