"""The default, beyond the paper: block models refined with the features, and the features that explain them best.

Read in this order: `estimator` (the method as one story), `link_likelihood` and `feature_likelihood` (how much better
blocks explain links and features than one block), `moves` and `joint` (blocks refined with the features), `screening`
(which candidates form the consensus), `weights` and `link_excess` (how surely a feature follows the graph), `explained`
(how much of the blocks features explain, and their ranking).
"""
