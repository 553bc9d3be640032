"""Reproduction of the figures and claims of the paper, by runs that can be interrupted and resumed.

`experiments` defines the trials, `engine` runs them, and `store` saves their rows. From these rows, `claims` judges the
statements of the paper, `figures` makes plots, and `page` writes all files.
"""
