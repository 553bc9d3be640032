"""The figures and claims of the paper, reproduced by runs that can be killed and resumed.

`experiments` defines the trials, `engine` runs them, and `store` saves their rows. From these rows, `claims` judges the
statements of the paper, `figures` makes plots, and `page` writes all files.
"""
