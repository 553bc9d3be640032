"""
A networkx graph with names
===========================

Nodes of real networks have names, and their features often come from another file in a
different order. Pass the networkx graph directly, and the features as a table whose *index*
contains the same names. Nodes are then matched by name.
"""

# %%
# A graph with names
# ------------------
# The network is simulated: 200 proteins and their weighted interactions.
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd

from blockselect import (
    AttributedGraph,
    BlockModelSelector,
    make_attributed_blocks,
    plot,
)

made = make_attributed_blocks(
    200, 4, mean_degree=8, n_informative=16, n_redundant=0, n_noise=44, random_state=8
)
proteins = [f"P{number:03}" for number in range(200)]
rng = np.random.default_rng(0)
graph = nx.Graph()
graph.add_nodes_from(proteins)
links = made.adjacency.tocoo()
for i, j in zip(links.row, links.col, strict=True):
    if i < j:
        graph.add_edge(proteins[i], proteins[j], weight=int(rng.integers(1, 4)))
print(graph, "such as", list(graph.edges(data="weight"))[:2])

# %%
# Features from elsewhere
# -----------------------
# The annotations of the proteins are in a different order.
annotations = pd.DataFrame(
    made.features.toarray(),
    index=proteins,
    columns=[f"term {number}" for number in range(60)],
)
annotations = annotations.sample(frac=1, random_state=0)
annotations.iloc[:4, :6]

# %%
# Select
# ------
# Row 0 of the table is not node 0 of the graph, and it need not be. A node that appears in
# only one of them would be an error.
selector = BlockModelSelector(12, random_state=0).fit(annotations, adjacency=graph)
selector.table().query("selected").head(6).round(3)

# %%
# Back to the graph
# -----------------
# ``annotate`` writes the block of each protein, and the name of this block, to the graph.
# ``labels_`` is in the order of the rows of the table. We also store how many of the
# selected terms each protein has.
selector.annotate(graph)
nx.set_node_attributes(
    graph, annotations.loc[:, selector.support_].sum(axis=1).to_dict(), "n_terms"
)
print("P007:", graph.nodes["P007"])

# %%
# Proteins are coloured by block, and their size shows the number of selected terms. The
# plot on the right shows which terms mark each block.
figure, (left, right) = plt.subplots(1, 2, figsize=(11.5, 5), layout="constrained")
places = nx.spring_layout(graph, seed=1, k=0.22)
nx.draw_networkx_edges(graph, places, ax=left, edge_color="#cccccc", width=0.5)
nx.draw_networkx_nodes(
    graph,
    places,
    ax=left,
    node_color=[block for _, block in graph.nodes(data="block")],
    node_size=[15 + 25 * count for _, count in graph.nodes(data="n_terms")],
    cmap="viridis",
)
left.set_title("Proteins by block", loc="left")
left.axis("off")
plot.features_by_block(selector, right)
plt.show()

# %%
# Features in the graph
# ---------------------
# Features may also be attributes of the nodes. Numbers become columns, strings become
# categories, and lists of words become one binary column per word.
for protein, terms in annotations.iterrows():
    graph.nodes[protein]["terms"] = list(annotations.columns[terms > 0])
with_terms = AttributedGraph.from_networkx(graph, attributes=["terms"])
with_terms.encoding.head()

# %%
# Such a graph is all that ``fit`` needs. If its attributes did not include results such as
# the number of selected terms, ``fit(graph)`` would do the same.
again = BlockModelSelector(12, random_state=0).fit(with_terms)
again.table().query("selected").head(6).round(3)

# %%
# Graphs of igraph and PyTorch Geometric, and edge tables, work in the same way: see
# :doc:`your own data <../your-data>`.
