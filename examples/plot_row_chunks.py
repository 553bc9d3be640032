"""
Features larger than memory
===========================

``BlockModelSelector`` and ``BMGUFS`` accept features that remain on disk and are read in
chunks of rows. This example uses ``BMGUFS``. It needs only sums over rows, so its scores
are the same as with all features in memory.
"""

# %%
# A file of features
# ------------------
# The file in this example is small: 3,000 nodes and 400 features. Rows of a ``.npy`` file
# can be read without loading the whole file.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from blockselect import BMGUFS, RowChunks, make_attributed_blocks

made = make_attributed_blocks(
    3000, 5, n_informative=40, n_redundant=0, n_noise=360, sparse=False, random_state=10
)
folder = tempfile.TemporaryDirectory()
file = Path(folder.name) / "features.npy"
np.save(file, made.features)

# %%
# Fit in chunks
# -------------
# By default a chunk takes 64 MiB. Here it has 500 rows, which gives six chunks. The graph
# itself stays in memory.
chunks = RowChunks.from_npy(file, rows_per_chunk=500)
selector = BMGUFS(40, n_blocks=5, random_state=0).fit(chunks, adjacency=made.adjacency)
right_ones = made.is_informative[selector.support_].sum()
print(f"{right_ones} of 40 selected features follow the blocks")

# %%
# The selected columns, chunk by chunk:
selected = np.vstack([chunk[:, selector.support_].toarray() for chunk in chunks])
print(selected.shape)

# %%
# The same scores
# ---------------
# As a check, we fit again with the whole matrix in memory. Each point is a feature; planted
# features are blue.
whole = BMGUFS(40, n_blocks=5, random_state=0).fit(made.features, adjacency=made.adjacency)
print(f"largest difference in score: {np.abs(whole.scores_ - selector.scores_).max():.1e}")

figure, ax = plt.subplots(figsize=(4.6, 4.4), layout="constrained")
colours = np.where(made.is_informative, "#0b62b8", "#b5b5b5")
ax.scatter(whole.scores_, selector.scores_, c=colours, s=14)
ax.set(xlabel="score, features in memory", ylabel="score, in chunks")
ax.spines[["top", "right"]].set_visible(False)
plt.show()
folder.cleanup()

# %%
# For Parquet, AnnData, your own blocks and many machines, see :doc:`big data <../big-data>`
# and :doc:`on a cluster <../cluster>`.
