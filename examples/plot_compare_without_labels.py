"""
Comparing methods without labels
================================

Which method suits *your* network? Class labels would tell, but you may have none. You
always have the links. So let each method select features, cluster the nodes by the
selected features alone, and measure how much these clusters say about who links to whom.
"""

# %%
# A network
# ---------
# Nodes with counts of 150 words, 25 of which follow the blocks of the network.
import matplotlib.pyplot as plt

from blockselect import compare_methods, make_attributed_blocks

made = make_attributed_blocks(
    500,
    4,
    n_informative=25,
    n_redundant=0,
    n_noise=125,
    signal=3,
    frequency=(0.1, 0.4),
    values="counts",
    random_state=4,
)

# %%
# Compare
# -------
# Four methods of the :doc:`registry <../methods>` select 6, 12 and 24 words each. The nodes
# are put into clusters by the selected words alone (K-means, five runs), and the measure is
# how much the cluster of a node says about the cluster of a random neighbour: their mutual
# information in nats, which is close to 0 for random clusters. Coverage is the share of the
# nodes that have at least one selected word. The others count as unexplained, so a method
# gains nothing by leaving nodes out.
compared = compare_methods(
    made.features,
    adjacency=made.adjacency,
    methods=["block-model", "morans-i", "hotspot", "variance"],
    n_features=[6, 12, 24],
    n_runs=5,
)
columns = ["method", "n_features", "explained_links", "explained_links_sd", "coverage"]
compared.table()[columns].round(3)

# %%
# The dashed line shows what all 150 words together explain.
figure, ax = plt.subplots(figsize=(7.5, 4), layout="constrained")
compared.plot(ax)
plt.show()

# %%
# Do they agree?
# --------------
# The table shows the Jaccard index of every two selections of 24 words: 1 for equal
# selections, 0 if they have no word in common. Where methods agree, any of them will do;
# where they do not, it is worth looking at why.
compared.overlap().round(2)

# %%
# Words that only one method selected:
for method, words in compared.found_by_one().items():
    print(f"{method:12} {', '.join(words)}")

# %%
# ``compared.report("comparison.html")`` writes a page with all this, and so does
# ``blockselect compare --features table.csv --graph edges.csv --out comparison``.
#
# A warning
# ---------
# A method that reads the graph selects by the same links that judge it. This is fair among
# such methods, and a small advantage over methods that do not read the graph.
# ``protocol="links"`` hides a tenth of the links first. Here the truth is known:
for method in compared.methods:
    planted = made.is_informative[compared.selections[method, 24]].sum()
    print(f"{method:12} {planted:2} of its 24 words follow the blocks")
