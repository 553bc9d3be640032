"""select_genes: select the genes that explain a graph of cells, and store them in an AnnData, as scanpy does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone

from blockselect.blockmodels.candidates import FAMILIES
from blockselect.blockmodels.model import BlockModel, is_pair_of_matrices
from blockselect.consensus.estimator import BlockModelSelector
from blockselect.inputs.adjacency import cell_graph
from blockselect.inputs.graph_objects import ReadGraph
from blockselect.inputs.kinds import CONNECTIVITIES, FeatureTable, anndata_matrix, is_anndata
from blockselect.inputs.labels import as_labels, labels_by_id
from blockselect.utils.arrays import IntArray, ObjectArray
from blockselect.utils.errors import ParameterError
from blockselect.utils.parameters import check_page_path


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
    report: str | Path | None = None,
    labels: str | None = None,
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
        Cells in rows and genes in columns, with a graph of the cells, such as the one that ``scanpy.pp.neighbors``
        builds. The values must be ≥ 0: counts or log1p of counts, but not scaled values.
    n_genes : int, float, "auto" or None, default=None
        Number of genes to select; a float between 0 and 1 is a share of all genes; None selects half. "auto" tests each
        gene against chance, which needs a graph that was not made from the same genes, such as a spatial graph.
    n_top_genes : int, optional
        Another name for `n_genes`, as in scanpy.
    layer : str, optional
        The layer to read instead of X.
    use_raw : bool, default=False
        Read the values of ``adata.raw`` instead of X, for the genes of `adata`.
    obsp : str, default="connectivities"
        The key of the graph in ``adata.obsp``.
    neighbors_key : str, optional
        The `key_added` that was passed to ``scanpy.pp.neighbors``, whose graph is then used instead of `obsp`.
    batch_key : str, optional
        The column of ``adata.obs`` with the batch of each cell. Genes are then ranked within each batch, using only its
        cells and the links among them, and ordered by the median of their ranks; ties are broken by the mean score. Not
        available with "auto".
    block_model : str, labels or BlockModel, default="mixed"
        A column of ``adata.obs``, such as "louvain" or "leiden", whose groups are used as the blocks, or any value
        accepted by :class:`blockselect.BlockModelSelector`.
    report : str or Path, optional
        Write a page about the selection to this file, whose name must end in .html. This needs the `report` extra and
        is not available with `batch_key`, because each batch has its own blocks.
    labels : str, optional
        The column of ``adata.obs`` with known cell types, which the page compares with the blocks. They do not
        influence the selection.
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
        The copy with ``copy=True``, the table with ``inplace=False``, and otherwise None. The stored results are

        - ``var["blockselect"]``: whether the gene is selected;
        - ``var["blockselect_score"]``, ``var["blockselect_rank"]`` (1 is the best);
        - ``var["blockselect_marked_block"]``: the block with the strongest evidence among the blocks in which the gene
          is significantly more common than elsewhere, or missing if there is no such block;
          ``var["blockselect_block_name"]``: the name of that block; ``var["blockselect_lift"]``: the mean of the gene
          in it divided by its mean over all cells; and ``var["blockselect_n_marked_blocks"]``: the number of blocks
          that it marks;
        - with "auto", p-values and q-values: ``var["blockselect_pval"]`` and ``var["blockselect_qval"]``;
        - ``obs["blockselect_block"]``: the number of the block of each cell, or its group if groups were given;
        - ``obs["blockselect_block_name"]``: the name of that block, see `blocks_` of
          :class:`blockselect.BlockModelSelector`;
        - ``uns["blockselect"]``: the settings, and the blocks with their densities.

        With `batch_key` each batch has its own blocks, called "batch:block". The score is the mean over all batches;
        marked blocks and lift are taken from the batch in which the gene has its best rank; and
        ``var["blockselect_nbatches"]`` counts the batches in which the rank of the gene is at most the number of
        selected genes.
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
            raise ParameterError(parameter, f"cannot be combined with {other}; set only one of them.")
    types = _page_labels(adata, report, labels, batch_key)
    n_genes = n_genes if n_top_genes is None else n_top_genes
    key = _graph_key(adata, obsp, neighbors_key)
    blocks = _as_block_model(adata, block_model)
    matrix = _expression(adata, layer, use_raw=use_raw)
    cells = _Cells(matrix, cell_graph(adata, key), blocks, _unique(adata.obs_names), _unique(adata.var_names))
    selector = BlockModelSelector(n_genes, random_state=random_state, **settings)
    if batch_key is None:
        fitted = _fit(selector, cells)
        found = _selection(fitted)
        if report is not None:
            fitted.report(report, title="the graph of cells", labels=types)
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
    """The input of a selection: expression, graph and blocks of the cells."""

    matrix: Any  # (n, m)
    graph: ReadGraph  # of the n cells
    block_model: Any  # name of a family, BlockModel, or the block of each cell: (n,)
    names: ObjectArray  # (n,)
    genes: ObjectArray  # (m,)

    def only(self, rows: IntArray) -> _Cells:
        links = sparse.csr_array(self.graph.matrix)[rows][:, rows]
        blocks = self.block_model.labels if isinstance(self.block_model, BlockModel) else self.block_model
        blocks = blocks if isinstance(blocks, str) else blocks[rows]
        return _Cells(
            self.matrix[rows], ReadGraph(links, origin=self.graph.origin), blocks, self.names[rows], self.genes
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Selection:
    """The result of a selection, with or without batches."""

    genes: pd.DataFrame  # (m, …) the columns of `var` without their prefix
    blocks: pd.DataFrame  # (n, 2) the columns of `obs` without their prefix
    record: dict[str, Any]  # entries of `uns`

    def table(self, gene_names: Any, prefix: str) -> pd.DataFrame:
        """Return a table of the genes by name, with the columns of `var` that are stored."""
        table = self.genes.set_index(pd.Index(gene_names))
        table.columns = [prefix if one == "selected" else f"{prefix}_{one}" for one in table]
        return table


def _fit(selector: BlockModelSelector, cells: _Cells) -> BlockModelSelector:
    fresh: BlockModelSelector = clone(selector).set_params(block_model=cells.block_model)
    fitted: BlockModelSelector = fresh.fit(FeatureTable(cells.matrix, cells.names, cells.genes), adjacency=cells.graph)
    return fitted


def _selection(selector: BlockModelSelector, prefix: str = "") -> _Selection:
    """Collect the results of a fitted selector, adding a prefix to all block names."""
    model, given = selector.block_model_, selector.block_model
    was_given = isinstance(given, np.ndarray)
    groups = np.unique(given) if was_given else np.arange(model.n_blocks)
    categories, names = (prefix + pd.Index(each).astype(str) for each in (groups, selector._block_names()))
    table = selector.table().sort_values("column", ignore_index=True)
    marked = table["marked_block"].fillna(-1).to_numpy(dtype=np.intp)
    genes = table[["selected", "score", "rank"]].assign(
        marked_block=pd.Categorical.from_codes(marked, categories),
        block_name=pd.Categorical.from_codes(marked, names),
        lift=table["lift"],
        n_marked_blocks=table["n_marked_blocks"],
    )
    if selector.p_values_ is not None:
        genes = genes.assign(pval=selector.p_values_, qval=selector.q_values_)
    record = {
        "n_blocks": model.n_blocks,
        "block_sizes": model.block_sizes,
        "block_density": model.density,
        "relative_error": model.relative_error,
    }
    blocks = {
        "block": pd.Categorical.from_codes(model.labels, categories),
        "block_name": pd.Categorical.from_codes(model.labels, names),
    }
    return _Selection(genes, pd.DataFrame(blocks), record)


def _select_by_batch(selector: BlockModelSelector, cells: _Cells, batches: ObjectArray) -> _Selection:
    """Select within each batch, and order the genes by their median rank."""
    rows = {name: np.flatnonzero(batches == name) for name in np.unique(batches).tolist()}
    found = []
    for name, own in rows.items():
        try:
            found.append(_selection(_fit(selector, cells.only(own)), prefix=f"{name}:"))
        except ValueError as error:
            raise ValueError(f"in batch {name!r}: {error}") from error
    n_genes = cells.matrix.shape[1]
    n_wanted = selector._n_to_select(n_genes)
    ranks, scores = (np.array([one.genes[column] for one in found]) for column in ("rank", "score"))
    order = np.lexsort((-scores.mean(axis=0), np.median(ranks, axis=0)))
    rank = np.empty(n_genes, dtype=np.intp)
    rank[order] = np.arange(1, n_genes + 1)
    best = ranks.argmin(axis=0)  # the batch in which a gene ranks best
    genes = pd.concat([one.genes for one in found]).iloc[best * n_genes + np.arange(n_genes)]
    named = {"marked_block": "category", "block_name": "category"}
    genes = (
        genes.reset_index(drop=True)
        .astype(named)
        .assign(selected=rank <= n_wanted, score=scores.mean(axis=0), rank=rank)
    )
    genes["nbatches"] = (ranks <= n_wanted).sum(axis=0)
    blocks = pd.concat([one.blocks for one in found]).set_index(np.concatenate(list(rows.values())))
    record = {"batches": np.array(list(rows)), "n_blocks": np.array([one.record["n_blocks"] for one in found])}
    return _Selection(genes, blocks.sort_index().astype("category"), record)


def _unique(names: Any) -> ObjectArray:
    """Make names unique by adding a number to each repeated name, as anndata does."""
    given = pd.Series(np.array(names, dtype=object))
    again = given.groupby(given).cumcount().astype(str).to_numpy(dtype=object)
    return np.where(again == "0", given, given + "-" + again)


def _page_labels(adata: Any, report: str | Path | None, labels: str | None, batch_key: str | None) -> Any:
    """Return the known labels of the cells, if any; check them and the path of the page before any computation."""
    if report is not None:
        check_page_path(report, "report")
    if report is not None and batch_key is not None:
        raise ParameterError(
            "report",
            "is one page about one set of blocks, but with batch_key each batch has its own; leave out one of the two.",
        )
    if labels is None:
        return None
    if report is None:
        raise ParameterError("labels", 'are only shown in a report; pass its path, such as report="genes.html".')
    if labels not in adata.obs:
        raise ParameterError("labels", f"is {labels!r}, but obs has the columns {list(adata.obs)}; choose one.")
    return as_labels(adata.obs[labels].to_numpy(), f"labels in obs[{labels!r}]")


def _graph_key(adata: Any, obsp: str, neighbors_key: str | None) -> str:
    """Return the key of the graph in `obsp`."""
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
    """Return the expression of the genes, which must be ≥ 0."""
    where = "raw" if use_raw else "X" if layer is None else f"layer {layer!r}"
    matrix = _raw_matrix(adata) if use_raw else anndata_matrix(adata, layer)
    values = matrix.data if sparse.issparse(matrix) else matrix
    if values.size and np.nanmin(values) < 0:
        raise ParameterError(
            "layer",
            f"is {layer!r}, but {where} contains negative values, as after scaling; choose a layer with counts or "
            "log1p of counts, or use_raw=True if adata.raw contains such values.",
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
    """Return the name of a family or a BlockModel unchanged, and other blocks as an array with one label per cell."""
    if is_pair_of_matrices(block_model):
        block_model = block_model[0]  # BlockModelSelector does not use the densities
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
    """Return the batch of each cell, as text."""
    if batch_key not in adata.obs:
        raise ParameterError("batch_key", f"is {batch_key!r}, but obs has the columns {list(adata.obs)}; choose one.")
    if n_genes == "auto":
        raise ParameterError("batch_key", 'is set, but "auto" tests all cells together; choose a number of genes.')
    return as_labels(adata.obs[batch_key].to_numpy(), f"batches in obs[{batch_key!r}]").astype(str).astype(object)


def _store(adata: Any, found: _Selection, key: str, params: dict[str, Any]) -> None:
    """Write to `var`, `obs` and `uns`, with types that an .h5ad file can store: text, numbers and arrays, not None."""
    for optional in ("pval", "qval", "nbatches"):  # from an earlier call with other arguments
        if f"{key}_{optional}" in adata.var:
            del adata.var[f"{key}_{optional}"]
    table = found.table(adata.var_names, key)
    for column in table:
        adata.var[column] = table[column].array
    for column in found.blocks:
        adata.obs[f"{key}_{column}"] = found.blocks[column].array
    adata.uns[key] = {
        "params": {name: value for name, value in params.items() if isinstance(value, str | int | float)},
        "n_selected": int(found.genes["selected"].sum()),
        **found.record,
    }
