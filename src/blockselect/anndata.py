"""select_genes: select the genes that explain a graph of cells, and store them in an AnnData object like scanpy."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import sparse

from blockselect.consensus.estimator import BlockModelSelector
from blockselect.errors import ParameterError
from blockselect.graphs.adjacency import CONNECTIVITIES, obsp_graph
from blockselect.graphs.features import anndata_matrix, is_anndata
from blockselect.graphs.node_labels import labels_by_id


def select_genes(
    adata: Any,
    n_genes: int | float | Literal["auto"] | None = None,
    *,
    layer: str | None = None,
    obsp: str = CONNECTIVITIES,
    key_added: str = "blockselect",
    subset: bool = False,
    inplace: bool = True,
    copy: bool = False,
    random_state: Any = 0,
    **settings: Any,
) -> Any:
    """Select the genes that explain the structure of a graph of cells.

    The interface follows ``scanpy.pp.highly_variable_genes``. :class:`blockselect.BlockModelSelector` scores the genes
    by how much of the block structure of the graph they explain.

    Parameters
    ----------
    adata : AnnData
        Cells in rows and genes in columns, with a graph of the cells such as that of ``scanpy.pp.neighbors``. The
        values must be ≥ 0: counts or log1p of counts, but not scaled values.
    n_genes : int, float, "auto" or None, default=None
        Number of genes to select; a float between 0 and 1 is a share of them; None selects half. "auto" tests each
        gene against chance, which needs a graph that was not made from the same genes, such as a spatial graph.
    layer : str, optional
        The layer to read instead of X.
    obsp : str, default="connectivities"
        The key of the graph in ``adata.obsp``.
    key_added : str, default="blockselect"
        Prefix of the names of all results that are stored.
    subset : bool, default=False
        Keep only the selected genes.
    inplace : bool, default=True
        Store the results in `adata`; otherwise return a table of the genes and leave `adata` unchanged.
    copy : bool, default=False
        Store the results in a copy and return it.
    random_state : int, RandomState or None, default=0
        Seed of the block models.
    **settings
        Other parameters of :class:`blockselect.BlockModelSelector`, such as `n_blocks`, `n_jobs` or `verbose`.

    Returns
    -------
    None, AnnData or DataFrame
        The copy if `copy` is set, or the table if `inplace` is not. The stored results are ``var["blockselect"]``
        (whether the gene is selected), ``var["blockselect_score"]``, ``var["blockselect_rank"]`` (1 is the best),
        ``obs["blockselect_block"]`` (the block of each cell) and ``uns["blockselect"]`` (the settings, and the blocks
        with their densities).
    """
    if not is_anndata(adata):
        raise ParameterError("adata", f"is of type {type(adata).__name__}; expected an AnnData.")
    if copy and not inplace:
        raise ParameterError("copy", "is True while inplace is False, which returns a table; set only one of them.")
    matrix = anndata_matrix(adata, layer)
    _refuse_scaled(matrix, layer)
    if "block_model" in settings:
        settings["block_model"] = labels_by_id(settings["block_model"], np.array(adata.obs_names, dtype=object))
    selector = BlockModelSelector(n_genes, random_state=random_state, **settings)
    selector.fit(matrix, adjacency=obsp_graph(adata, obsp))
    table = _gene_table(selector, adata.var_names, key_added)
    if not inplace:
        return table[table[key_added]] if subset else table
    written = adata.copy() if copy else adata
    for column in table:
        written.var[column] = table[column]
    blocks = pd.Categorical(selector.labels_.astype(str), [str(one) for one in range(selector.block_model_.n_blocks)])
    written.obs[f"{key_added}_block"] = blocks
    written.uns[key_added] = _record(selector, layer=layer, obsp=obsp)
    if subset:
        written._inplace_subset_var(selector.support_)
    return written if copy else None


def _refuse_scaled(matrix: Any, layer: str | None) -> None:
    values = matrix.data if sparse.issparse(matrix) else matrix
    if values.size and np.nanmin(values) < 0:
        where = "X" if layer is None else f"layer {layer!r}"
        raise ParameterError(
            "layer",
            f"is {layer!r}, but {where} holds negative values, as after scaling; choose a layer with counts or "
            "log1p of counts, or pass adata.raw.to_adata().",
        )


def _gene_table(selector: BlockModelSelector, genes: Any, key: str) -> pd.DataFrame:
    columns = {key: selector.support_, f"{key}_score": selector.scores_, f"{key}_rank": selector.ranking_}
    return pd.DataFrame(columns, index=pd.Index(genes))


def _record(selector: BlockModelSelector, **where: str | None) -> dict[str, Any]:
    """The settings and blocks in a form that an .h5ad file can store: text, numbers and arrays, but not None."""
    given = {**where, "n_genes": selector.n_features_to_select, "random_state": selector.random_state}
    return {
        "params": {name: value for name, value in given.items() if isinstance(value, str | int | float)},
        "n_selected": selector.n_features_,
        "n_blocks": selector.block_model_.n_blocks,
        "block_sizes": selector.block_model_.block_sizes,
        "block_density": selector.block_model_.density,
        "relative_error": selector.block_model_.relative_error,
    }
