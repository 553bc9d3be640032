"""select_genes: select the genes that explain a graph of cells, and store them in an AnnData object like scanpy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone

from blockselect.arrays import IntArray, ObjectArray
from blockselect.blockmodels.candidates import FAMILIES
from blockselect.blockmodels.model import BlockModel, is_pair_of_matrices
from blockselect.consensus.estimator import BlockModelSelector
from blockselect.errors import ParameterError
from blockselect.graphs.adjacency import CONNECTIVITIES, ReadGraph, cell_graph
from blockselect.graphs.features import anndata_matrix, is_anndata
from blockselect.graphs.node_labels import as_labels, labels_by_id


def select_genes(
    adata: Any,
    n_genes: int | float | Literal["auto"] | None = None,
    *,
    n_top_genes: int | None = None,
    layer: str | None = None,
    use_raw: bool = False,
    obsp: str = CONNECTIVITIES,
    neighbors_key: str | None = None,
    batch_key: str | None = None,
    block_model: Any = "mixed",
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
    n_top_genes : int, optional
        Another name of `n_genes`, as in scanpy.
    layer : str, optional
        The layer to read instead of X.
    use_raw : bool, default=False
        Read the values of ``adata.raw`` instead of X, for the genes of `adata`.
    obsp : str, default="connectivities"
        The key of the graph in ``adata.obsp``.
    neighbors_key : str, optional
        The `key_added` of ``scanpy.pp.neighbors``: its graph is used instead of `obsp`.
    batch_key : str, optional
        The column of ``adata.obs`` that holds the batch of each cell. Genes are then ranked within each batch, from
        its cells and the links among them, and ordered by the median of their ranks, equal medians by the mean score.
        This is not possible with "auto".
    block_model : str, labels or BlockModel, default="mixed"
        A column of ``adata.obs``, such as "louvain" or "leiden", whose groups are used as the blocks; otherwise as in
        :class:`blockselect.BlockModelSelector`.
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
        The copy if `copy` is set, or the table if `inplace` is not. The stored results are

        - ``var["blockselect"]``: whether the gene is selected;
        - ``var["blockselect_score"]``, ``var["blockselect_rank"]`` (1 is the best);
        - ``var["blockselect_marked_block"]``: the block in which the gene is most surely more common than elsewhere,
          missing if there is none, and ``var["blockselect_lift"]``: its mean there over the mean of all cells;
        - with "auto" ``var["blockselect_pval"]`` and ``var["blockselect_qval"]``;
        - ``obs["blockselect_block"]``: the block of each cell, by the names of the groups if they were given;
        - ``uns["blockselect"]``: the settings, and the blocks with their densities.

        With `batch_key` each batch has its own blocks, called "batch:block". The score is the mean over all batches;
        marked block and lift are those of the batch in which the gene has its best rank; and
        ``var["blockselect_nbatches"]`` counts the batches in which the gene is among the selected number of genes.
    """
    if not is_anndata(adata):
        raise ParameterError("adata", f"is of type {type(adata).__name__}; expected an AnnData.")
    for parameter, other, are_both_set in (
        ("copy", "inplace=False", copy and not inplace),
        ("n_top_genes", "n_genes", n_top_genes is not None and n_genes is not None),
        ("neighbors_key", "obsp", neighbors_key is not None and obsp != CONNECTIVITIES),
        ("use_raw", "layer", use_raw and layer is not None),
    ):
        if are_both_set:
            raise ParameterError(parameter, f"excludes {other}; set only one of them.")
    n_genes = n_genes if n_top_genes is None else n_top_genes
    key = _graph_key(adata, obsp, neighbors_key)
    blocks = _as_block_model(adata, block_model)
    cells = _Cells(_expression(adata, layer, use_raw=use_raw), cell_graph(adata, key), blocks)
    selector = BlockModelSelector(n_genes, random_state=random_state, **settings)
    if batch_key is None:
        found = _select(selector, cells)
    else:
        found = _select_by_batch(selector, cells, _batches(adata, batch_key, n_genes))
    if not inplace:
        table = found.table(adata.var_names, key_added)
        return table[table[key_added]] if subset else table
    written = adata.copy() if copy else adata
    params = {"layer": layer, "obsp": key, "batch_key": batch_key, "use_raw": use_raw, "n_genes": n_genes}
    _store(written, found, key_added, {**params, "random_state": random_state})
    if subset:
        written._inplace_subset_var(found.genes["selected"].to_numpy())
    return written if copy else None


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """What a selection reads."""

    matrix: Any  # (n, m)
    graph: ReadGraph  # of the n cells
    block_model: Any  # name of a family, BlockModel, or the block of each cell: (n,)

    def only(self, rows: IntArray) -> _Cells:
        links = sparse.csr_array(self.graph.matrix)[rows][:, rows]
        blocks = self.block_model.labels if isinstance(self.block_model, BlockModel) else self.block_model
        blocks = blocks if isinstance(blocks, str) else blocks[rows]
        return _Cells(self.matrix[rows], ReadGraph(links, origin=self.graph.origin), blocks)


@dataclass(frozen=True, slots=True, eq=False)
class _Selection:
    """The result of a selection, in a form that does not depend on how it was made."""

    genes: pd.DataFrame  # (m, …) the columns of `var` without their prefix
    blocks: pd.Categorical[Any]  # (n,)
    record: dict[str, Any]  # entries of `uns`

    def table(self, gene_names: Any, prefix: str) -> pd.DataFrame:
        """The genes by name, with the columns that `var` gets."""
        table = self.genes.set_index(pd.Index(gene_names))
        table.columns = [prefix if one == "selected" else f"{prefix}_{one}" for one in table]
        return table


def _select(selector: BlockModelSelector, cells: _Cells) -> _Selection:
    selector = clone(selector).set_params(block_model=cells.block_model)
    selector.fit(cells.matrix, adjacency=cells.graph)
    model = selector.block_model_
    was_named = isinstance(cells.block_model, np.ndarray)
    categories = pd.Index(np.unique(cells.block_model) if was_named else np.arange(model.n_blocks)).astype(str)
    table = selector.table().sort_values("column", ignore_index=True)
    marked = table["marked_block"].fillna(-1).to_numpy(dtype=np.intp)
    genes = table[["selected", "score", "rank"]].assign(
        marked_block=pd.Categorical.from_codes(marked, categories), lift=table["lift"]
    )
    if selector.p_values_ is not None:
        genes = genes.assign(pval=selector.p_values_, qval=selector.q_values_)
    record = {
        "n_blocks": model.n_blocks,
        "block_sizes": model.block_sizes,
        "block_density": model.density,
        "relative_error": model.relative_error,
    }
    return _Selection(genes, pd.Categorical.from_codes(model.labels, categories), record)


def _select_by_batch(selector: BlockModelSelector, cells: _Cells, batches: ObjectArray) -> _Selection:
    """Select within each batch, and order the genes by their median rank."""
    names = np.unique(batches).tolist()
    found = []
    for name in names:
        try:
            found.append(_select(selector, cells.only(np.flatnonzero(batches == name))))
        except ValueError as error:
            raise ValueError(f"in batch {name!r}: {error}") from error
    n_genes = cells.matrix.shape[1]
    n_wanted = selector._n_to_select(n_genes)
    ranks, scores = (np.array([one.genes[column] for one in found]) for column in ("rank", "score"))
    order = np.lexsort((-scores.mean(axis=0), np.median(ranks, axis=0)))
    rank = np.empty(n_genes, dtype=np.intp)
    rank[order] = np.arange(1, n_genes + 1)
    best = ranks.argmin(axis=0)  # the batch in which a gene ranks best
    marked = np.array([_with_batch(name, one.genes["marked_block"]) for name, one in zip(names, found, strict=True)])
    genes = {
        "selected": rank <= n_wanted,
        "score": scores.mean(axis=0),
        "rank": rank,
        "marked_block": pd.Categorical(marked[best, np.arange(n_genes)]),
        "lift": np.array([one.genes["lift"] for one in found])[best, np.arange(n_genes)],
        "nbatches": (ranks <= n_wanted).sum(axis=0),
    }
    blocks = np.empty(len(batches), dtype=object)
    for name, one in zip(names, found, strict=True):
        blocks[batches == name] = _with_batch(name, one.blocks)
    record = {"batches": np.array(names), "n_blocks": np.array([one.record["n_blocks"] for one in found])}
    return _Selection(pd.DataFrame(genes), pd.Categorical(blocks), record)


def _with_batch(batch: str, blocks: Any) -> ObjectArray:
    """Blocks of one batch by names that differ between batches; missing ones are None."""
    return np.array([None if pd.isna(one) else f"{batch}:{one}" for one in blocks], dtype=object)


def _graph_key(adata: Any, obsp: str, neighbors_key: str | None) -> str:
    """The key of the graph in `obsp`."""
    if neighbors_key is None:
        return obsp
    record = adata.uns.get(neighbors_key)
    if not isinstance(record, Mapping):
        known = [name for name, one in adata.uns.items() if isinstance(one, Mapping) and "connectivities_key" in one]
        raise ParameterError(
            "neighbors_key",
            f"is {neighbors_key!r}, but uns has no such graph; "
            + (f"choose one of {known}." if known else "build one first: scanpy.pp.neighbors(adata)."),
        )
    return str(record.get("connectivities_key", CONNECTIVITIES))


def _expression(adata: Any, layer: str | None, *, use_raw: bool) -> Any:
    """The values of the genes of `adata`, which must be ≥ 0."""
    where = "raw" if use_raw else "X" if layer is None else f"layer {layer!r}"
    matrix = _raw_matrix(adata) if use_raw else anndata_matrix(adata, layer)
    values = matrix.data if sparse.issparse(matrix) else matrix
    if values.size and np.nanmin(values) < 0:
        raise ParameterError(
            "layer",
            f"is {layer!r}, but {where} holds negative values, as after scaling; choose a layer with counts or "
            "log1p of counts, or use_raw=True if adata.raw holds such values.",
        )
    return matrix


def _raw_matrix(adata: Any) -> Any:
    raw = getattr(adata, "raw", None)
    if raw is None:
        raise ParameterError("use_raw", "is True, but the AnnData has no raw; set it to False.")
    known = pd.Index(raw.var_names)
    missing = [gene for gene in adata.var_names if gene not in known]
    if missing or not known.is_unique:
        problem = f"lacks {len(missing)} gene(s), such as {missing[:3]}" if missing else "names some genes twice"
        raise ParameterError("use_raw", f"is True, but raw {problem}; use adata.raw.to_adata() instead of adata.")
    matrix = raw.X if sparse.issparse(raw.X) else np.asarray(raw.X[:])
    return matrix[:, known.get_indexer(pd.Index(adata.var_names))]


def _as_block_model(adata: Any, block_model: Any) -> Any:
    """The name of a family or a BlockModel as it is, and other blocks as an array with the block of each cell."""
    if is_pair_of_matrices(block_model):
        block_model = block_model[0]  # the default does not use the densities
    if isinstance(block_model, BlockModel):
        return block_model
    if isinstance(block_model, str):
        is_column = block_model in adata.obs
        if is_column == (block_model in FAMILIES):
            both = f"is both a family of block models and a column of obs; pass adata.obs[{block_model!r}] or rename it"
            neither = f"expected a column of obs, one of {list(FAMILIES)}, labels or a BlockModel"
            raise ParameterError("block_model", f"is {block_model!r}; {both if is_column else neither}.")
        if not is_column:
            return block_model
        block_model = adata.obs[block_model].to_numpy()
    labels = labels_by_id(block_model, np.array(adata.obs_names, dtype=object))
    return as_labels(labels, "block labels")


def _batches(adata: Any, batch_key: str, n_genes: Any) -> ObjectArray:
    """The batch of each cell, as text."""
    if batch_key not in adata.obs:
        raise ParameterError("batch_key", f"is {batch_key!r}, but obs has the columns {list(adata.obs)}.")
    if n_genes == "auto":
        raise ParameterError("batch_key", 'is set, but "auto" tests all cells together; choose a number of genes.')
    return as_labels(adata.obs[batch_key].to_numpy(), f"batches in obs[{batch_key!r}]").astype(str).astype(object)


def _store(adata: Any, found: _Selection, key: str, params: dict[str, Any]) -> None:
    """Write to `var`, `obs` and `uns` what an .h5ad file can store: text, numbers and arrays, but not None."""
    for optional in ("pval", "qval", "nbatches"):  # of an earlier call with other arguments
        if f"{key}_{optional}" in adata.var:
            del adata.var[f"{key}_{optional}"]
    table = found.table(adata.var_names, key)
    for column in table:
        adata.var[column] = table[column].array
    adata.obs[f"{key}_block"] = found.blocks
    adata.uns[key] = {
        "params": {name: value for name, value in params.items() if isinstance(value, str | int | float)},
        "n_selected": int(found.genes["selected"].sum()),
        **found.record,
    }
