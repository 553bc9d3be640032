"""Families of block models, one a file: each takes a `Search` and returns labels, one array for each start."""
