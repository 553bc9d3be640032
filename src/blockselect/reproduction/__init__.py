"""The figures and claims of the paper, reproduced by runs that can be killed and resumed.

`experiments` makes trials and figures, and `claims` judges the statements of the paper. The `engine` runs the trials
and saves their rows in the `store`; `page` makes all files from the rows.
"""
