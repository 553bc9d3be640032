"""
Comparing methods without labels
================================

Which method suits *your* network? Class labels would answer this, but you may have none.
You always have the links. So let each method select features, cluster the nodes on the
selected features, and measure how well these clusters explain the links.
"""

# %%
# A network
# ---------
# The features are counts of 150 words, 25 of which follow the blocks of the network.
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
# Four of the :doc:`methods <../methods>` select 6, 12 and 24 words each. K-means clusters
# the nodes on the selected words (five runs). The measure, *links explained*, is the mutual
# information between the cluster of a node and that of a random neighbour, in nats; it is
# close to 0 for random clusters. Coverage is the share of nodes that have at least one
# selected word. The other nodes count as unexplained, so a method gains nothing by leaving
# them out.
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
# Do the methods agree?
# ---------------------
# The table shows the Jaccard index of each pair of selections of 24 words: 1 for identical
# selections, 0 if they have no word in common. If methods agree, use any of them; if they
# do not, find out why.
compared.overlap().round(2)

# %%
# Words that only one method selected:
for method, words in compared.found_by_one().items():
    print(f"{method:12} {', '.join(words)}")

# %%
# ``compared.report("comparison.html")`` writes all these results to a page, and so does
# ``blockselect compare --features table.csv --graph edges.csv --out comparison``.
#
# A caveat
# --------
# A method that uses the graph is evaluated on the same links that guided its selection.
# This is fair among such methods, but favours them slightly over methods that ignore the
# graph.
# ``protocol="links"`` evaluates on held-out links instead, a tenth of all links. In this
# example the ground truth is known:
for method in compared.methods:
    planted = made.is_informative[compared.selections[method, 24]].sum()
    print(f"{method:12} {planted:2} of its 24 words follow the blocks")
