"""
Where communities fail and blocks do not
========================================

Many methods look for features that *linked nodes share*. That is right where groups are
communities: friends share interests. It is wrong where groups link to *other* groups.
Buyers trade with sellers, predators eat prey, pupils learn from teachers: linked nodes
differ in the very features that explain the network.

A block model makes no such assumption. A block is a set of nodes that link *alike*, whether
within or to others.
"""

# %%
# Two networks with the same features
# -----------------------------------
# Both have three blocks and 20 features that follow them among 100. In the first, blocks
# link within. In the second, every block links to the two others and hardly to itself.
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
    ("blocks that link within", "blocks that link to others"),
    strict=True,
):
    plot.ordered_adjacency(network.adjacency, ax, labels=network.blocks)
    ax.set_title(name, loc="left")
plt.show()

# %%
# Three ways to select 20 features
# --------------------------------
# Moran's I asks whether linked nodes have similar values; the Laplacian score on the
# network asks the same in another way. Both are community-based. The default of blockselect
# is guided by block models. No method sees which features were planted.
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
    print(f"{method:24} within {one:.2f}   to others {other:.2f}")

# %%
# The result
# ----------
# Where blocks link within, all three methods work. Where blocks link to others, the
# community-based methods find no more features than a random selection would (0.2, the
# dashed line), or fewer: they *avoid* the features that mark the blocks, because linked
# nodes differ in them.
figure, ax = plt.subplots(figsize=(7.5, 3.6), layout="constrained")
places = np.arange(len(METHODS))
for shift, index, colour, name in (
    (-0.19, 0, "#b5b5b5", "link within"),
    (0.19, 1, "#0b62b8", "link to others"),
):
    bars = ax.bar(
        places + shift,
        [values[index] for values in found.values()],
        0.36,
        color=colour,
        label=f"blocks that {name}",
    )
    ax.bar_label(bars, fmt="%.2f", fontsize=8)
ax.axhline(0.2, color="#222222", linestyle="--", linewidth=0.8)
ax.set_xticks(places, METHODS.values())
ax.set(ylabel="planted features found", ylim=(0, 1.25))
ax.legend(frameon=False, loc="upper right")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# This is one network of each kind. :doc:`Quality <../quality>` has twenty networks of
# each of eight kinds, and every method. :doc:`The method <../method>` explains why
# similarity cannot follow such links, and what the default does instead.
# sphinx_gallery_thumbnail_number = 2
