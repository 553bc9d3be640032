"""The default method, beyond the paper: block models refined with the features, and features that explain them.

Read in this order: `estimator` (the whole method); `search` (candidate block models); `likelihood` (the joint
likelihood of links and features, and the tree of the blocks), `refine` and `moves` (nodes moved to raise it);
`consensus` (which models are kept, and how stable their blocks are); `target` (how much of the block structure
features explain), `link_gains` and `ranking` (of the features); `prediction`; `explained_curve`; `resampling` (the
ranking on resampled graphs, for the stability of a selection).
"""
