"""The default, beyond the paper: block models refined with the features, and the features that explain them best.

Read in this order: `estimator` (the whole method), `likelihood` (how much better blocks and links explain the data than
chance does), `moves` and `refine` (blocks refined with the features), `search` (how many candidates are tried),
`consensus` (which are kept, and how stable their blocks are), `target` (how much of the blocks features explain),
`ranking` (of the features), `resampling` (the same on resampled graphs, for the stability of a selection).
"""
