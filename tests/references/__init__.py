"""Slow references: each formula written straight from its source, to hold the fast ones against."""
