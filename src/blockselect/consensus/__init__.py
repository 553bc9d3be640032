"""The default method, beyond the paper: block models refined with the features, and features that explain them.

Read the files in this order: `estimator` (the whole method); `search` (candidate block models); `likelihood` (the joint
likelihood of links and features, and the tree of the blocks), `refine` and `moves` (moving nodes to increase it);
`consensus` (which models are kept, and how stable their blocks are); `target` (how much of the block structure the
features explain), `link_gains` and `ranking` (the order of the features); `prediction` (the blocks of new nodes);
`explained_curve` (the explained share by number of features); `resampling` (rankings on resampled graphs, for the
stability of a selection).
"""
