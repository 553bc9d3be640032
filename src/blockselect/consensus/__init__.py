"""The default, beyond the paper: many block models, refined with the features, vote on the scores.

Read in this order: `estimator` (the method as one story), `link_likelihood` and `feature_likelihood` (how much better
blocks explain links and features than one block), `moves` and `joint` (blocks refined with the features), `screening`
(which candidates vote), `weights` (how surely a feature has to do with the graph).
"""
