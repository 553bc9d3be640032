"""
Features with negative values
=============================

Block models explain non-negative features: a node has a word or not, or has it five
times. About half of all standardised values are negative. ``SignedSelector`` accepts such
features: a feature can then mark a block by large values or by small ones.
"""

# %%
# Measurements
# ------------
# There are 500 nodes in four blocks, and 100 normally distributed measurements. Twelve of
# them follow the blocks: their mean is shifted in one block, up or down by 0.8 standard
# deviations.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import StandardScaler

from blockselect import (
    BlockModelSelector,
    SignedSelector,
    make_attributed_blocks,
    make_selector,
)

made = make_attributed_blocks(500, 4, random_state=9)
rng = np.random.default_rng(9)
measured = rng.normal(size=(500, 100))
for column in range(12):
    measured[made.blocks == column % 4, column] += 0.8 if column < 6 else -0.8
standardised = StandardScaler().fit_transform(measured)

# %%
# Select
# ------
# The selector itself refuses negative values, and the message says what to do:
try:
    BlockModelSelector(12).fit(standardised, adjacency=made.adjacency)
except ValueError as error:
    print(error)

# %%
selector = SignedSelector(BlockModelSelector(12, random_state=0)).fit(
    standardised, adjacency=made.adjacency
)
chosen = np.flatnonzero(selector.get_support())
print(f"{(chosen < 12).sum()} of 12 selected measurements follow the blocks: {chosen}")

# %%
# Moran's I takes signed features as they are.
moran = make_selector("morans-i", 12).fit(standardised, adjacency=made.adjacency)
print(f"Moran's I: {(np.flatnonzero(moran.get_support()) < 12).sum()} of 12")

# %%
# See it
# ------
# Mean of each selected measurement in each block: blue above the mean of all nodes, amber
# below.
means = np.array(
    [standardised[made.blocks == block][:, chosen].mean(axis=0) for block in range(4)]
)
figure, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
image = ax.imshow(means, cmap="PuOr", vmin=-1, vmax=1, aspect="auto")
ax.set_xticks(range(len(chosen)), chosen)
ax.set(xlabel="selected measurement", ylabel="block", yticks=range(4))
figure.colorbar(image, label="mean, in standard deviations")
plt.show()

# %%
# How the split was chosen, and how it does on other kinds of values: :doc:`methods
# <../methods>`.
