"""select_genes stores its results as scanpy does."""

from __future__ import annotations

import copy
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect import BlockModel, BlockModelSelector
from blockselect.anndata import select_genes
from blockselect.utils.errors import ParameterError
from made_fits import QUICK


class Cells:
    """The parts of AnnData that are used, so that the tests do not need anndata."""

    def __init__(self, X, adjacency, **layers):
        n, m = X.shape
        self.X, self.layers, self.uns = X, layers, {}
        self.obs = pd.DataFrame(index=[f"cell{i}" for i in range(n)])
        self.var = pd.DataFrame(index=[f"gene{i}" for i in range(m)])
        self.obsp, self.raw = {"connectivities": adjacency}, None

    obs_names = property(lambda self: self.obs.index)
    var_names = property(lambda self: self.var.index)

    def copy(self):
        return copy.deepcopy(self)

    def _inplace_subset_var(self, mask):
        self.X, self.var = self.X[:, mask], self.var[mask]


class RealCells:
    def __new__(cls, X, adjacency, **layers):
        anndata = pytest.importorskip("anndata")
        made = Cells(X, adjacency)
        cells = anndata.AnnData(sparse.csr_matrix(X), made.obs, made.var, layers=layers)
        cells.obsp["connectivities"] = sparse.csr_matrix(adjacency)
        return cells


@pytest.mark.parametrize("kind", [Cells, RealCells])
def test_results_are_stored_as_scanpy_stores_them(kind, network, fitted, tmp_path):
    cells = kind(network.features, network.adjacency)
    assert select_genes(cells, 12, **QUICK) is None
    assert_array_equal(cells.var["blockselect"], fitted.support_)
    assert_array_equal(cells.var["blockselect_score"], fitted.scores_)
    assert_array_equal(cells.var["blockselect_rank"], fitted.ranking_)
    assert_array_equal(cells.obs["blockselect_block"].astype(int), fitted.labels_)
    assert isinstance(cells.obs["blockselect_block"].dtype, pd.CategoricalDtype)
    table = fitted.table().sort_values("column", ignore_index=True)
    marked = cells.var["blockselect_marked_block"]
    assert_array_equal(marked.cat.codes, table["marked_block"].fillna(-1))
    assert marked.cat.categories.tolist() == ["0", "1", "2"]
    assert_array_equal(cells.var["blockselect_lift"], table["lift"])
    assert_array_equal(cells.var["blockselect_n_marked_blocks"], table["n_marked_blocks"])
    named = fitted.blocks_["name"].str.replace("x", "gene")  # the fit of the fixture has no names of features
    assert cells.obs["blockselect_block_name"].tolist() == named[fitted.labels_].tolist()
    assert_array_equal(cells.var["blockselect_block_name"].cat.codes, marked.cat.codes)
    record = cells.uns["blockselect"]
    assert (record["n_selected"], record["n_blocks"], record["params"]["obsp"]) == (12, 3, "connectivities")
    if kind is RealCells:
        cells.write_h5ad(tmp_path / "cells.h5ad")  # every part of the record can be stored


def test_a_copy_or_a_table_leaves_the_data_unchanged(network, fitted):
    cells = Cells(network.features, network.adjacency)
    table = select_genes(cells, 12, inplace=False, **QUICK)
    written = select_genes(cells, 12, copy=True, subset=True, key_added="mine", **QUICK)
    assert cells.var.empty
    assert not cells.uns
    assert table.index[table["blockselect"]].tolist() == written.var_names.tolist()
    assert written.X.shape == (200, 12)
    assert written.var["mine"].all()


def test_a_layer_is_read_instead_of_x(network, fitted):
    cells = Cells(-network.features, network.adjacency, counts=network.features)
    select_genes(cells, 12, layer="counts", **QUICK)
    assert_array_equal(cells.var["blockselect_score"], fitted.scores_)
    assert cells.uns["blockselect"]["params"]["layer"] == "counts"


def test_errors_suggest_what_to_choose(network):
    cells = Cells(-network.features, network.adjacency, counts=network.features)
    with pytest.raises(ParameterError, match=r"X contains negative values, as after scaling; choose a layer"):
        select_genes(cells, 12)
    with pytest.raises(ValueError, match=r"layer is 'raw', but the AnnData has \['counts'\]; choose one"):
        select_genes(cells, 12, layer="raw")
    with pytest.raises(ValueError, match=r"no graph obsp\['places'\]; choose one of \['connectivities'\]"):
        select_genes(cells, 12, layer="counts", obsp="places")
    with pytest.raises(ParameterError, match=r"adata is of type ndarray; expected an AnnData"):
        select_genes(np.eye(3), 1)
    for arguments, message in REFUSED.items():
        with pytest.raises(ParameterError, match=message):
            select_genes(cells, **dict(arguments))
    with pytest.raises(ParameterError, match=r"copy cannot be combined with inplace=False"):
        select_genes(cells, 1, copy=True, inplace=False)


def test_blocks_of_a_series_or_a_one_hot_table_are_put_in_the_order_of_the_cells(network):
    cells = Cells(network.features, network.adjacency)
    blocks = pd.Series(network.blocks, index=cells.obs_names)
    one_hot = pd.get_dummies(blocks).sample(frac=1)
    in_order, *others = (
        select_genes(cells, 5, block_model=labels, inplace=False)
        for labels in (blocks, blocks.sample(frac=1), one_hot, (one_hot, np.eye(3)))
    )
    for other in others:
        pd.testing.assert_frame_equal(in_order, other)


REFUSED = {
    (("n_genes", 3), ("n_top_genes", 5)): r"n_top_genes cannot be combined with n_genes; set only one",
    (("use_raw", True),): r"use_raw is True, but the AnnData has no raw",
    (("use_raw", True), ("layer", "counts")): r"use_raw cannot be combined with layer; set only one",
    (("neighbors_key", "mine"),): r"neighbors_key is 'mine', but uns has no such graph; build one first",
    (("neighbors_key", "mine"), ("obsp", "places")): r"neighbors_key cannot be combined with obsp; set only one",
    (("layer", "counts"), ("batch_key", "day")): r"batch_key is 'day', but obs has the columns \[\]",
    (("report", "genes.pdf"),): r"report is 'genes\.pdf', but a report is an HTML page",
    (("report", "genes.html"), ("batch_key", "day")): r"report is one page .* with batch_key each batch has its own",
    (("labels", "louvain"),): r"labels are only shown in a report; pass its path",
    (("report", "genes.html"), ("labels", "kind")): r"labels is 'kind', but obs has the columns \[\]",
    (("layer", "counts"), ("block_model", "louvain")): r"block_model is 'louvain'; expected a column of obs, one of",
}


def test_arguments_may_have_the_names_of_scanpy(network, fitted):
    cells = Cells(-network.features, np.eye(200))
    cells.raw = SimpleNamespace(X=network.features[:, ::-1], var_names=cells.var_names[::-1])
    cells.obsp["mine_connectivities"] = network.adjacency
    cells.uns["mine"] = {"connectivities_key": "mine_connectivities"}
    select_genes(cells, n_top_genes=12, use_raw=True, neighbors_key="mine", **QUICK)
    assert_array_equal(cells.var["blockselect_rank"], fitted.ranking_)
    assert cells.uns["blockselect"]["params"]["obsp"] == "mine_connectivities"
    with pytest.raises(ParameterError, match=r"neighbors_key is 'yours'.*choose one of \['mine'\]"):
        select_genes(cells, 12, neighbors_key="yours")
    cells.raw.var_names = cells.raw.var_names.where(cells.raw.var_names != "gene7", "other")
    with pytest.raises(
        ParameterError, match=r"raw lacks 1 gene\(s\), such as \['gene7'\]; use adata\.raw\.to_adata\(\)"
    ):
        select_genes(cells, 12, use_raw=True)


@pytest.mark.parametrize("kind", [Cells, RealCells])
def test_blocks_can_be_a_column_of_obs_and_keep_their_names(kind, network, tmp_path):
    cells = kind(network.features, network.adjacency)
    names = np.array(["10", "B cells", "9"])[network.blocks]
    cells.obs["louvain"] = pd.Categorical(names)
    select_genes(cells, 5, block_model="louvain")
    assert cells.obs["blockselect_block"].tolist() == names.tolist()
    assert cells.obs["blockselect_block_name"].tolist() == names.tolist()
    same = BlockModelSelector(5, block_model=names).fit(network.features, adjacency=network.adjacency)
    assert_array_equal(cells.var["blockselect_score"], same.scores_)
    assert set(cells.var["blockselect_marked_block"].dropna()) <= {"10", "B cells", "9"}
    if kind is RealCells:
        cells.write_h5ad(tmp_path / "cells.h5ad")
    cells.obs["spectral"] = names
    with pytest.raises(ParameterError, match=r"'spectral'; is both a family .* adata\.obs\['spectral'\]"):
        select_genes(cells, 5, block_model="spectral")
    cells.obs["louvain"] = pd.Categorical(np.where(names == "9", None, names))
    with pytest.raises(ValueError, match=r"block labels contain NaN, None or masked values"):
        select_genes(cells, 5, block_model="louvain")


def test_auto_stores_p_values_which_a_later_call_removes(network):
    cells = Cells(network.features, network.adjacency)
    select_genes(cells, "auto", **QUICK)
    automatic = BlockModelSelector("auto", **QUICK).fit(network.features, adjacency=network.adjacency)
    assert_array_equal(cells.var["blockselect_pval"], automatic.p_values_)
    assert_array_equal(cells.var["blockselect_qval"], automatic.q_values_)
    select_genes(cells, 5, **QUICK)
    assert "blockselect_pval" not in cells.var


def test_auto_warns_that_p_values_are_meaningless_for_a_graph_of_scanpy(network):
    cells = Cells(network.features, network.adjacency)
    cells.uns["neighbors"] = {"connectivities_key": "connectivities", "params": {"method": "umap", "n_neighbors": 15}}
    with pytest.warns(UserWarning, match=r"built from the expression matrix, as uns\['neighbors'\] .* meaningless"):
        select_genes(cells, "auto", **QUICK)


@pytest.mark.parametrize("kind", [Cells, RealCells])
def test_genes_are_ranked_within_batches_and_ordered_by_the_median_rank(kind, network, tmp_path):
    cells = kind(network.features, network.adjacency)
    batches = np.where(np.arange(200) % 3 > 0, "Mon", "Tue")
    cells.obs["day"] = pd.Categorical(batches)
    select_genes(cells, 12, batch_key="day", **QUICK)
    features, adjacency = network.features.tocsr(), network.adjacency.tocsr()
    fits = [
        BlockModelSelector(12, **QUICK).fit(features[rows], adjacency=adjacency[rows][:, rows])
        for rows in (np.flatnonzero(batches == day) for day in ("Mon", "Tue"))
    ]
    ranks = np.array([one.ranking_ for one in fits])
    score = np.mean([one.scores_ for one in fits], axis=0)
    order = np.lexsort((-score, np.median(ranks, axis=0)))
    assert_array_equal(np.argsort(cells.var["blockselect_rank"]), order)
    assert_array_equal(np.flatnonzero(cells.var["blockselect"]), np.sort(order[:12]))
    assert_allclose(cells.var["blockselect_score"], score)
    assert_array_equal(cells.var["blockselect_nbatches"], (ranks <= 12).sum(axis=0))
    expected = [
        f"{day}:{fits[day == 'Tue'].labels_[np.count_nonzero(batches[:at] == day)]}" for at, day in enumerate(batches)
    ]
    assert cells.obs["blockselect_block"].tolist() == expected
    blocks = cells.obs.groupby("blockselect_block", observed=True)["blockselect_block_name"].unique()
    assert all(len(names) == 1 and names[0][:4] == block[:4] for block, names in blocks.items())
    assert cells.obs["blockselect_block_name"].nunique() == cells.obs["blockselect_block"].nunique()
    best = cells.var["blockselect_rank"].idxmin()
    assert cells.var.loc[best, "blockselect_marked_block"][:4] in ("Mon:", "Tue:")
    assert cells.var.loc[best, "blockselect_lift"] > 1
    if kind is RealCells:
        cells.write_h5ad(tmp_path / "cells.h5ad")


def test_blocks_can_be_combined_with_batches_and_a_bad_batch_is_named(network):
    cells = Cells(network.features, network.adjacency)
    cells.obs["day"], cells.obs["kind"] = np.where(np.arange(200) % 2, "Mon", "Tue"), network.blocks
    model = BlockModel.from_labels(network.adjacency, network.blocks)
    by_column, by_model = (
        select_genes(cells, 5, batch_key="day", block_model=blocks, inplace=False) for blocks in ("kind", model)
    )
    pd.testing.assert_frame_equal(by_column, by_model)
    with pytest.raises(ParameterError, match=r'batch_key is set, but "auto" tests all cells together'):
        select_genes(cells, "auto", batch_key="day")
    cells.obs.loc["cell0", "day"] = "Wed"
    with pytest.raises(ValueError, match=r"in batch 'Wed': .*"):
        select_genes(cells, 5, batch_key="day", **QUICK)


def test_a_page_compares_the_blocks_with_cell_types(network, tmp_path):
    cells = Cells(network.features, network.adjacency)
    cells.obs["kind"] = pd.Categorical(np.array(["T cells", "B cells", "monocytes"])[network.blocks])
    select_genes(cells, 12, report=tmp_path / "genes.html", labels="kind", **QUICK)
    page = (tmp_path / "genes.html").read_text(encoding="utf-8")
    assert "monocytes" in page
    assert cells.var.index[cells.var["blockselect_rank"] == 1][0] in page
    cells.obs.loc["cell3", "kind"] = None
    with pytest.raises(ValueError, match=r"labels in obs\['kind'\] contain NaN, None or masked values for 1 node"):
        select_genes(cells, 12, report=tmp_path / "other.html", labels="kind")
    assert not (tmp_path / "other.html").exists()


def test_genes_of_the_same_name_are_distinguished(network):
    cells = Cells(network.features, network.adjacency)
    cells.var.index = ["gene0", "gene0", *cells.var_names[2:]]
    table = select_genes(cells, 12, inplace=False, **QUICK)
    assert table.index.tolist() == cells.var_names.tolist()
