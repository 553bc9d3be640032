"""
How stable, and how many?
=========================

Two questions that every selection should answer. *Would these features be selected again*,
if the links had come out a little differently? And *how many are enough*? Neither needs
labels.
"""

# %%
# A network of 400 nodes with 30 features that follow its blocks, among 120. We ask for 40,
# which is too many.
import matplotlib.pyplot as plt

from blockselect import (
    BlockModelSelector,
    discover_features,
    make_attributed_blocks,
    plot,
    selection_stability,
)

made = make_attributed_blocks(
    400, 4, n_informative=30, n_redundant=0, n_noise=90, signal=5, random_state=3
)
X, A = made.features, made.adjacency
selector = BlockModelSelector(40, random_state=0).fit(X, adjacency=A)

# %%
# Would they be selected again?
# -----------------------------
# The links are resampled a few times, and the features are ranked on each resampled graph.
# Stability is the probability that a feature is selected on such a graph. Above 0.9 the
# feature can be relied on; around 0.5 another feature would do as well.
stability = selection_stability(selector, X, adjacency=A)

figure, ax = plt.subplots(figsize=(7.5, 3.4), layout="constrained")
plot.stability(stability, ax, ranking=selector.ranking_, support=selector.support_)
plt.show()

# %%
# Stability is not truth: a feature can be selected each time and still follow the links by
# chance. But here the first ranks are stable, and they are the planted ones.
by_rank = selector.ranking_.argsort()
for first, last in ((0, 10), (10, 20), (20, 30), (30, 40)):
    ranks = by_rank[first:last]
    print(
        f"ranks {first + 1:2} to {last}: stability {stability[ranks].mean():.2f}, "
        f"planted {made.is_informative[ranks].sum()} of {len(ranks)}"
    )

# %%
# How many are enough?
# --------------------
# How much do the first few features explain of the blocks, that is, of the block of each
# node and of the blocks of its neighbours? The curve shows this share (R²), beside that of
# random features and of all features. Where the curve is flat, more features add little.
figure, ax = plt.subplots(figsize=(7.5, 3.4), layout="constrained")
plot.explained(selector, ax)
plt.show()

# %%
# More than chance?
# -----------------
# A test gives a third answer. Of the features it finds, on average at most a tenth (the
# *level*) have nothing to do with the graph. ``BlockModelSelector("auto")`` keeps exactly
# those.
found = discover_features(X, adjacency=A, level=0.1, random_state=0)
false = found.support & ~made.is_informative
print(
    f"{found.support.sum()} features are more than chance; {false.sum()} were not planted"
)

# %%
# :doc:`Statistics <../statistics>` measures how well both promises are kept on networks
# whose truth is known.
