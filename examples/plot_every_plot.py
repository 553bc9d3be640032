"""
Every plot
==========

``blockselect.plot`` has one function per plot. Each takes a fitted selector, or your own
arrays, and returns matplotlib axes, so you can combine, retitle and save plots as usual.
"""

# %%
# A fitted selector
# -----------------
import matplotlib.pyplot as plt

from blockselect import (
    BMGUFS,
    BlockModelSelector,
    make_attributed_blocks,
    plot,
    selection_stability,
)

made = make_attributed_blocks(
    400,
    5,
    n_informative=30,
    n_redundant=10,
    n_noise=60,
    frequency=(0.1, 0.25),
    random_state=2,
)
selector = BlockModelSelector(20, random_state=0).fit(
    made.features, adjacency=made.adjacency
)
stability = selection_stability(selector, made.features, adjacency=made.adjacency)

# %%
# Plots of features
# -----------------
# The left plot shows the scores of the best features in order of selection, the right plot
# the blocks in which they are common. Features are selected *together*: a feature that is
# redundant with the features before it adds little, so its score is low.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
plot.scores(selector, left)
plot.features_by_block(selector, right)
plt.show()

# %%
# The stability of each feature, and the share of the block structure that the first
# features explain.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
plot.stability(stability, left, ranking=selector.ranking_, support=selector.support_)
plot.explained(selector, right)
plt.show()

# %%
# Plots of blocks
# ---------------
# The adjacency matrix with nodes ordered by block; the link density between blocks; and the
# similarity of blocks in the selected features. The last two should show the same pattern.
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
plot.ordered_adjacency(selector, left)
plot.block_densities(selector, middle)
plot.block_densities(selector, right, induced=True)
plt.show()

# %%
# The tree shows how blocks merge into larger groups. Each block, and each group at a
# coarser level, is named after the feature that marks it most clearly.
plot.tree(selector)
plt.show()

# %%
# Plots of the fit
# ----------------
# These are two diagnostic plots. The first shows the candidate block models: their
# log-likelihood gain before and after refinement with the features, and which of them form
# the consensus. The second shows the two losses of the paper's method, ``BMGUFS``.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
plot.candidates(selector, left)
papers = BMGUFS(20, n_blocks=5, random_state=0)
plot.losses(papers.fit(made.features, adjacency=made.adjacency), right)
plt.show()

# %%
# Plots of several methods
# ------------------------
# ``compare`` takes names and values, or the rows of a comparison
# (:ref:`sphx_glr_gallery_plot_compare_without_labels.py`).
figure, ax = plt.subplots(figsize=(6, 2.4), layout="constrained")
planted = made.is_informative
plot.compare(
    {
        "selected": planted[selector.support_].mean(),
        "all features": planted.mean(),
    },
    ax,
    measure="share of planted features",
)
plt.show()
# sphinx_gallery_thumbnail_number = 3
