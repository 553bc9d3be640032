"""
How stable, and how many?
=========================

Two questions arise with every selection. *Would the same features be selected again* if the
links had been slightly different? And *how many features are enough*? Neither answer needs
labels.
"""

# %%
# The network has 400 nodes and 120 features, 30 of which follow its blocks. We select 40,
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
# A bootstrap resamples the links a few times, and the features are ranked on each resampled
# graph. Stability is the probability that a feature is selected on such a graph. Above 0.9
# the feature is reliable; around 0.5 the choice is close to arbitrary.
stability = selection_stability(selector, X, adjacency=A)

figure, ax = plt.subplots(figsize=(7.5, 3.4), layout="constrained")
plot.stability(stability, ax, ranking=selector.ranking_, support=selector.support_)
plt.show()

# %%
# Stability is not truth: a feature can be selected every time and still follow the links by
# chance. In this network, however, the first ranks are both stable and planted.
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
# How much of the block structure (the block of each node and the blocks of its neighbours)
# do the first few features explain? The curve shows this share (R²), compared with random
# features and with all features. Where the curve is flat, more features add little.
figure, ax = plt.subplots(figsize=(7.5, 3.4), layout="constrained")
plot.explained(selector, ax)
plt.show()

# %%
# More than chance?
# -----------------
# A significance test gives another answer. It controls the false discovery rate: on
# average, at most a tenth (the *level*) of the discovered features are unrelated to the
# graph. ``BlockModelSelector("auto")`` selects exactly the discovered features.
found = discover_features(X, adjacency=A, level=0.1, random_state=0)
false = found.support & ~made.is_informative
print(f"{found.support.sum()} features are significant; {false.sum()} were not planted")

# %%
# :doc:`Statistics <../statistics>` reports how well the stability and the false discovery
# rate are calibrated on networks with known ground truth.
