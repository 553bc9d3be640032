"""
Where communities fail and blocks do not
========================================

Many methods look for features that *linked nodes share*. This works if groups are
communities: friends share interests. It fails in disassortative networks, in which groups
link to *other* groups. Buyers trade with sellers, predators eat prey, and pupils learn from
teachers: linked nodes differ in the very features that explain the network.

A block model makes no such assumption. A block is a set of nodes with similar connection
patterns, whether they link to each other or to other blocks.
"""

# %%
# Two networks with the same features
# -----------------------------------
# Both have three blocks and 100 features, 20 of which follow the blocks. The first network
# is assortative: nodes link mostly within their block. The second is disassortative: every
# block links to the two others and hardly to itself.
import matplotlib.pyplot as plt
import numpy as np

from blockselect import make_attributed_blocks, make_selector, plot

SETTINGS = {
    "n_informative": 20,
    "n_redundant": 0,
    "n_noise": 80,
    "mean_degree": 20,
    "random_state": 1,
}
within = make_attributed_blocks(600, 3, structure="assortative", **SETTINGS)
across = make_attributed_blocks(600, 3, structure="disassortative", **SETTINGS)

figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
for ax, network, name in zip(
    axes,
    (within, across),
    ("assortative", "disassortative"),
    strict=True,
):
    plot.ordered_adjacency(network.adjacency, ax, labels=network.blocks)
    ax.set_title(name, loc="left")
plt.show()

# %%
# Three ways to select 20 features
# --------------------------------
# Moran's I and the Laplacian score on the network both measure whether linked nodes have
# similar values. Both favour features that mark communities. ``BlockModelSelector`` is
# guided by block models. No method knows which features were planted.
METHODS = {
    "block-model": "block models",
    "morans-i": "Moran's I",
    "laplacian-score-network": "Laplacian score\non the network",
}


def share_found(method, network):
    """Share of the 20 selected features that follow the blocks."""
    selector = make_selector(method, 20, random_state=0).fit(
        network.features, adjacency=network.adjacency
    )
    return network.is_informative[selector.get_support()].mean()


found = {
    method: [share_found(method, network) for network in (within, across)]
    for method in METHODS
}
for method, (one, other) in found.items():
    print(f"{method:24} assortative {one:.2f}   disassortative {other:.2f}")

# %%
# The result
# ----------
# In the assortative network all three methods work. In the disassortative network the
# methods based on similarity find no more planted features than a random selection would
# (0.2, the dashed line), or even fewer: they *avoid* the features that mark the blocks,
# because linked nodes differ in them.
figure, ax = plt.subplots(figsize=(7.5, 3.6), layout="constrained")
places = np.arange(len(METHODS))
for shift, index, colour, name in (
    (-0.19, 0, "#b5b5b5", "assortative"),
    (0.19, 1, "#0b62b8", "disassortative"),
):
    bars = ax.bar(
        places + shift,
        [values[index] for values in found.values()],
        0.36,
        color=colour,
        label=name,
    )
    ax.bar_label(bars, fmt="%.2f", fontsize=8)
ax.axhline(0.2, color="#222222", linestyle="--", linewidth=0.8)
ax.set_xticks(places, METHODS.values())
ax.set(ylabel="share of planted features", ylim=(0, 1.25))
ax.legend(frameon=False, loc="upper right")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# This is one network of each kind. :doc:`Quality <../quality>` reports every method on
# twenty networks of each of eight kinds. :doc:`The method <../method>` explains why
# similarity cannot reproduce such links, and what ``BlockModelSelector`` does instead.
# sphinx_gallery_thumbnail_number = 2
