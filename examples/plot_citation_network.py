"""
Words that explain who cites whom
=================================

Cora is a network of 2,708 papers on machine learning with 5,278 citations among them. It
says which of 1,433 words each paper has, and it comes with the package. Which few words
explain who cites whom?
"""

# %%
# Select 40 words
# ---------------
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from blockselect import BlockModelSelector, evaluate_selection, load_cora, plot
from blockselect.datasets import CORA_CLASSES

cora = load_cora()
selector = BlockModelSelector(40, random_state=0).fit(cora)
print(f"{selector.n_features_} of {cora.n_features} words")
print(f"{selector.block_model_.n_blocks} blocks: {selector.n_blocks_reason_}")

# %%
# The words of Cora were published as numbers only; blocks are named after them. The left
# plot shows how densely blocks cite one another: papers mostly cite within their block, and
# some blocks cite one another. The right plot shows the words that mark each block.
figure, (left, right) = plt.subplots(1, 2, figsize=(12.5, 5), layout="constrained")
plot.block_densities(selector, left)
plot.features_by_block(selector, right)
plt.show()

# %%
# Do they mean something?
# -----------------------
# Editors had put each paper into one of seven fields. The selector did not see them, but
# blocks and fields can be compared:
fields = np.array(CORA_CLASSES)[cora.classes]
blocks = selector.blocks_["name"].to_numpy()[selector.labels_]
pd.crosstab(fields, blocks, rownames=["field"], colnames=["block"])

# %%
# How well does K-means on the words find the fields, without any label? As in the paper,
# we report accuracy (ACC) and normalised mutual information (NMI), here the means of five
# runs.
everything = np.ones(cora.n_features, dtype=bool)
for name, support in {
    "40 selected words": selector.support_,
    "all 1,433 words": everything,
}.items():
    scores = evaluate_selection(cora.features, cora.classes, support, n_runs=5)
    print(f"{name:18} ACC {scores.accuracy:.2f}, NMI {scores.nmi:.2f}")

# %%
# For more runs, networks and methods see :doc:`quality <../quality>`.
