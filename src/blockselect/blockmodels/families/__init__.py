"""Families of block models: ways to find blocks, one a file. Each takes a `Search` and returns labels, one array a start."""
