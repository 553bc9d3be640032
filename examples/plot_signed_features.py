"""
Features with negative values
=============================

The methods based on block models require non-negative features, such as the presence or the
count of a word. About half of all standardised values are negative. ``SignedSelector``
accepts such features, which can then mark a block with large values or with small ones.
"""

# %%
# Measurements
# ------------
# There are 500 nodes in four blocks, and 100 normally distributed measurements. Twelve of
# them follow the blocks: in one block, their mean is shifted up or down by 0.8 standard
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
# The selector itself rejects negative values, and the message says what to do:
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
# Moran's I accepts signed features directly.
moran = make_selector("morans-i", 12).fit(standardised, adjacency=made.adjacency)
print(f"Moran's I: {(np.flatnonzero(moran.get_support()) < 12).sum()} of 12")

# %%
# Plot the selected measurements
# ------------------------------
# The plot shows the mean of each selected measurement in each block: purple above the mean
# of all nodes, orange below.
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
# :doc:`Methods <../methods>` explains how the split was chosen, and compares it with others
# on three kinds of values.
