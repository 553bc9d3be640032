"""
Genes that explain a graph of cells
===================================

Which genes separate the types of blood cells? This example compares three ways to select 50
of 765 genes without labels, on 700 cells that come with scanpy. Highly variable genes
depend on the distribution of each gene, Moran's I on its autocorrelation on the neighbour
graph, and blockselect on the blocks of cells that make up the graph.

The example needs scanpy: ``pip install 'blockselect[anndata,cli]' scanpy``. Nothing is
downloaded. If the site is built without scanpy, the code is shown but not run;
``make single-cell`` runs it.
"""

# %%
# The data are a reduced set of peripheral blood cells. ``X`` is scaled, but blockselect
# needs values ≥ 0. ``raw`` contains such values: logarithms of normalised counts. We use
# them as the ``X`` of a new AnnData; alternatively, ``select_genes(…, use_raw=True)`` reads
# them. The data include the neighbour graph from ``scanpy.pp.neighbors``.
import matplotlib.pyplot as plt
import numpy as np
import scanpy as sc

from blockselect import evaluate_selection
from blockselect.anndata import select_genes

N_GENES = 50
cells = sc.datasets.pbmc68k_reduced().raw.to_adata()

# %%
# Select genes. Like ``scanpy.pp.highly_variable_genes``, this writes columns to ``var``:
# the rank of each gene, the block that it marks most clearly, how much more common it is
# there (lift), and how many blocks it marks. It also writes the block of each cell to
# ``obs``; blocks are named after the genes that mark them.
select_genes(cells, n_top_genes=N_GENES)
shown = cells.var.filter(like="blockselect_").sort_values("blockselect_rank")
print(shown.head(10).round(2).to_string())
print(cells.obs["blockselect_block_name"].value_counts())

# %%
# Then apply the two other methods.
sc.pp.highly_variable_genes(cells, n_top_genes=N_GENES)
cells.var["morans_i"] = sc.metrics.morans_i(cells)
cells.var["morans_i_top"] = cells.var["morans_i"].rank(ascending=False) <= N_GENES

# %%
# We compare how many genes the methods share, and how well K-means on the selected genes
# recovers the known cell types, which were not used in the selection.
types = np.unique(cells.obs["bulk_labels"], return_inverse=True)[1]
ways = {
    "blockselect": "blockselect",
    "Moran's I": "morans_i_top",
    "highly variable": "highly_variable",
}
for name, column in ways.items():
    chosen = cells.var[column].to_numpy()
    shared = (cells.var["blockselect"] & cells.var[column]).sum()
    found = evaluate_selection(cells.X, types, chosen, n_runs=5)
    print(f"{name:16} shares {shared:2} genes with blockselect; NMI {found.nmi:.2f}")

# %%
# In which cell types are the first ten genes most common? Univariate scores rank many
# markers of the same types first. blockselect selects a gene for what it adds to the genes
# before it.
mean_by_type = cells.to_df().groupby(cells.obs["bulk_labels"], observed=True).mean()
for name, column in {"blockselect": "blockselect_score", "Moran's I": "morans_i"}.items():
    first_ten = cells.var[column].nlargest(10).index
    types_of_genes = mean_by_type[first_ten].idxmax().astype(str)
    print(f"{name}: {types_of_genes.value_counts().to_dict()}")

# %%
# The most common cell type in each block.
main_type = cells.obs.groupby("blockselect_block_name", observed=True)["bulk_labels"].agg(
    lambda kinds: kinds.mode()[0]
)
print(main_type)

# %%
# The plot shows the mean of each of the first 20 genes in each block, relative to its mean
# in all cells: purple above, orange below.
genes = cells.var.sort_values("blockselect_rank").index[:20]
expression = cells.to_df()[list(genes)]
deviation = (
    expression.groupby(cells.obs["blockselect_block_name"], observed=True).mean()
    - expression.mean()
)
figure, ax = plt.subplots(figsize=(9, 4.5), layout="constrained")
image = ax.imshow(deviation, cmap="PuOr", vmin=-2, vmax=2, aspect="auto")
ax.set_xticks(range(len(genes)), genes, rotation=60, ha="right")
ax.set_yticks(
    range(len(main_type)),
    [f"{block}: mostly {kind}" for block, kind in main_type.items()],
)
figure.colorbar(image, label="log expression relative to the mean of all cells")
plt.show()
# sphinx_gallery_thumbnail_path = 'images/single-cell.png'
