"""
Words that explain citations
============================

Cora is a network of 2,708 papers on machine learning with 5,278 citations between them. The
features are 1,433 words, each present or absent in a paper. The data come with the package.
Which few words best explain the citations?
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
# Cora was published with numbers instead of words, so blocks are named after numbers. The
# left plot shows the density of citations between blocks: papers cite mostly within their
# block, and some pairs of blocks cite each other. The right plot shows the words that mark
# each block.
figure, (left, right) = plt.subplots(1, 2, figsize=(12.5, 5), layout="constrained")
plot.block_densities(selector, left)
plot.features_by_block(selector, right)
plt.show()

# %%
# Do the blocks mean anything?
# ----------------------------
# Each paper belongs to one of seven fields. The selector did not see the fields, but we can
# compare them with the blocks:
fields = np.array(CORA_CLASSES)[cora.classes]
blocks = selector.blocks_["name"].to_numpy()[selector.labels_]
pd.crosstab(fields, blocks, rownames=["field"], colnames=["block"])

# %%
# How well does K-means on the words recover the fields, without any labels? As in the
# paper, we report clustering accuracy (ACC) and normalised mutual information (NMI), here
# as means of five runs.
everything = np.ones(cora.n_features, dtype=bool)
for name, support in {
    "40 selected words": selector.support_,
    "all 1,433 words": everything,
}.items():
    scores = evaluate_selection(cora.features, cora.classes, support, n_runs=5)
    print(f"{name:18} ACC {scores.accuracy:.2f}, NMI {scores.nmi:.2f}")

# %%
# :doc:`Quality <../quality>` has more runs, networks and methods.
