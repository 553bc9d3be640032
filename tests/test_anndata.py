"""select_genes writes what scanpy's users look for, where they look for it."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from blockselect import BlockModelSelector
from blockselect.anndata import select_genes
from blockselect.errors import ParameterError
from made_fits import QUICK, easy_network


class Cells:
    """The parts of AnnData that are used, so that the tests need no anndata."""

    def __init__(self, X, adjacency, **layers):
        n, m = X.shape
        self.X, self.layers, self.uns = X, layers, {}
        self.obs = pd.DataFrame(index=[f"cell{i}" for i in range(n)])
        self.var = pd.DataFrame(index=[f"gene{i}" for i in range(m)])
        self.obsp = {"connectivities": adjacency}

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


@pytest.fixture(scope="module")
def network():
    return easy_network()


@pytest.fixture(scope="module")
def expected(network):
    return BlockModelSelector(12, **QUICK).fit(network.features, adjacency=network.adjacency)


@pytest.mark.parametrize("kind", [Cells, RealCells])
def test_everything_is_written_where_scanpys_users_look_for_it(kind, network, expected, tmp_path):
    cells = kind(network.features, network.adjacency)
    assert select_genes(cells, 12, **QUICK) is None
    assert_array_equal(cells.var["blockselect"], expected.support_)
    assert_array_equal(cells.var["blockselect_score"], expected.scores_)
    assert_array_equal(cells.var["blockselect_rank"], expected.ranking_)
    assert_array_equal(cells.obs["blockselect_block"].astype(int), expected.labels_)
    assert isinstance(cells.obs["blockselect_block"].dtype, pd.CategoricalDtype)
    record = cells.uns["blockselect"]
    assert (record["n_selected"], record["n_blocks"], record["params"]["obsp"]) == (12, 3, "connectivities")
    if kind is RealCells:
        cells.write_h5ad(tmp_path / "cells.h5ad")  # every part of the record can be stored


def test_a_copy_or_a_table_leaves_the_data_as_they_are(network, expected):
    cells = Cells(network.features, network.adjacency)
    table = select_genes(cells, 12, inplace=False, **QUICK)
    written = select_genes(cells, 12, copy=True, subset=True, key_added="mine", **QUICK)
    assert cells.var.empty
    assert not cells.uns
    assert table.index[table["blockselect"]].tolist() == written.var_names.tolist()
    assert written.X.shape == (200, 12)
    assert written.var["mine"].all()


def test_a_layer_is_read_in_the_place_of_x(network, expected):
    cells = Cells(-network.features, network.adjacency, counts=network.features)
    select_genes(cells, 12, layer="counts", **QUICK)
    assert_array_equal(cells.var["blockselect_score"], expected.scores_)
    assert cells.uns["blockselect"]["params"]["layer"] == "counts"


def test_errors_say_what_to_choose_instead(network):
    cells = Cells(-network.features, network.adjacency, counts=network.features)
    with pytest.raises(ParameterError, match=r"X holds negative values, as after scaling; choose a layer"):
        select_genes(cells, 12)
    with pytest.raises(ValueError, match=r"layer is 'raw', but the AnnData has the layers \['counts'\]"):
        select_genes(cells, 12, layer="raw")
    with pytest.raises(ValueError, match=r"no graph obsp\['places'\]; choose one of \['connectivities'\]"):
        select_genes(cells, 12, layer="counts", obsp="places")
    with pytest.raises(ParameterError, match=r"adata is of type ndarray; expected an AnnData"):
        select_genes(np.eye(3), 1)
    with pytest.raises(ParameterError, match=r"copy is True while inplace is False"):
        select_genes(cells, 1, copy=True, inplace=False)


def test_blocks_of_a_series_are_put_in_the_order_of_the_cells(network):
    cells = Cells(network.features, network.adjacency)
    blocks = pd.Series(network.blocks, index=cells.obs_names)
    in_order, shuffled = (
        select_genes(cells, 5, block_model=labels, inplace=False) for labels in (blocks, blocks.sample(frac=1))
    )
    pd.testing.assert_frame_equal(in_order, shuffled)
