"""The default method, beyond the paper: block models refined with the features, and features that explain them.

Read in this order: `estimator` (the whole method), `likelihood` (how much better than chance blocks and links explain
the data), `moves` and `refine` (blocks refined with the features), `search` (how many candidates are tried),
`consensus` (which are kept, and how stable their blocks are), `target` (how much of the block structure features
explain), `ranking` (of the features), `resampling` (the same on resampled graphs, for the stability of a selection).
"""
