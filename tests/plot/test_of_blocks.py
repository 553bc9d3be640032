"""Plots of blocks: densities relative to the densest pair, all links in the order of the blocks, and the tree."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect import BMGUFS, BlockModelSelector, make_attributed_blocks, plot
from blockselect.blockmodels.levels import groups_at
from blockselect.blockmodels.markers import block_markers
from blockselect.plot.of_blocks import block_bounds
from blockselect.result import order_by_block, ordered_links
from blockselect.utils.errors import ParameterError

LABELS = np.array([1, 0, 1, 0, 1, 0, 1, 0])
TWO = sparse.csr_array((LABELS[:, None] == LABELS).astype(float) - np.eye(8))


@pytest.mark.parametrize("induced", [False, True])
def test_densities_are_relative_to_the_densest_pair(network, selector, ax, induced):
    plot.block_densities(selector, ax, induced=induced)
    means = block_markers(network.features, selector.labels_).block_means[:, selector.support_]
    density = means @ means.T if induced else selector.block_model_.density
    assert_allclose(ax.images[0].get_array(), density / density.max())
    blocks = selector.blocks_
    assert leaves(ax) == [f"{name}  ({size})" for name, size in zip(blocks["name"], blocks["size"], strict=True)]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == blocks["name"].tolist()


def test_sizes_are_one_per_block(ax):
    for sizes in ([5, 2], 5):
        with pytest.raises(ParameterError, match=r"sizes has shape .*; expected the number of nodes in each of the 3"):
            plot.block_densities(np.eye(3), ax, sizes=sizes)


@pytest.mark.parametrize("source", [np.ones((2, 3)), 3.0, np.ones((0, 0))])
def test_densities_are_a_square_matrix(source, ax):
    with pytest.raises(ParameterError, match=r"source has shape .*; expected the densities of k blocks"):
        plot.block_densities(source, ax)


def test_many_blocks_have_no_numbers_in_their_cells(ax):
    plot.block_densities(np.eye(40), ax)
    assert len(ax.texts) == 0


@pytest.mark.parametrize(("n_blocks", "expected"), [(40, "block 39"), (100, "99")])
def test_blocks_are_numbered_where_there_is_no_room_for_names(n_blocks, expected, ax):
    names = [f"block {block}" for block in range(n_blocks)]
    plot.block_densities(np.eye(n_blocks), ax, block_names=names)
    plot.features_by_block(np.eye(n_blocks), other := Figure().subplots(), block_names=names)
    for shown in (leaves(ax), [tick.get_text() for tick in other.get_xticklabels()]):
        assert shown == (names if n_blocks == 40 else [str(block) for block in range(0, 100, 9)])
        assert expected in shown


def test_there_is_one_name_per_block(ax):
    with pytest.raises(ParameterError, match="block_names has 2 entries for 3 blocks; pass one for each"):
        plot.block_densities(np.eye(3), ax, block_names=["a", "b"])


def test_the_graph_of_a_selector_is_ordered_by_its_blocks(network, selector, ax):
    plot.ordered_adjacency(selector, ax)
    assert_allclose(ax.images[0].get_array(), np.sqrt(ordered_links(network.adjacency, selector.labels_)))
    other = plot.ordered_adjacency(network.adjacency, Figure().subplots(), labels=selector.labels_)
    assert_allclose(other.images[0].get_array(), ax.images[0].get_array())
    assert len(ax.lines) == 2 * (selector.block_model_.n_blocks - 1)
    assert leaves(ax) == selector.blocks_["name"].tolist()


def test_the_blocks_of_a_graph_are_called_as_their_labels_and_small_ones_have_no_room(ax):
    labels = np.repeat(["perl", "ruby", "tex"], [100, 1, 50])
    plot.ordered_adjacency(np.eye(151), ax, labels=labels)
    assert leaves(ax) == ["perl", "tex"]


def test_a_graph_without_blocks_is_refused(network, ax):
    with pytest.raises(ValueError, match="give one label per node"):
        plot.ordered_adjacency(network.adjacency, ax)


@pytest.fixture(scope="module")
def many_blocks():
    """A selector of 24 given blocks, which are not numbered along the tree."""
    made = make_attributed_blocks(480, 24, n_informative=40, n_noise=0, mean_degree=20, random_state=0)
    return made, BlockModelSelector(25, block_model=made.blocks).fit(made.features, adjacency=made.adjacency)


def leaves(ax):
    return [tick.get_text() for tick in ax.get_yticklabels()]


def test_the_leaves_of_the_tree_are_the_blocks_by_name(selector, ax):
    assert leaves(plot.tree(selector, ax)) == selector.blocks_["name"].tolist()


def test_branches_join_neighbours_at_the_loss_of_their_merger(many_blocks, ax):
    _, selector = many_blocks
    plot.tree(selector, ax)
    assert_allclose([max(line.get_xdata()) for line in ax.lines], selector.linkage_[:, 2])
    number_of = {name: block for block, name in enumerate(selector.blocks_["name"])}
    order = [number_of[name] for name in leaves(ax)]
    for n_groups in range(1, 24):
        groups = groups_at(selector.linkage_, n_groups)[order]
        assert np.count_nonzero(np.diff(groups)) == n_groups - 1


def test_branches_are_called_as_in_the_table_of_blocks(many_blocks):
    _, selector = many_blocks
    shown = [text.get_text() for text in plot.tree(selector).texts]
    branches = selector.blocks_.groupby("branch").size()
    assert set(branches.index[branches > 1]) <= set(shown)


@pytest.mark.parametrize("name", ["x{}", "a name of more than thirty-two letters: {}"])
def test_no_labels_of_the_tree_overlap(many_blocks, name):
    made, _ = many_blocks
    names = [name.format(column) for column in range(made.features.shape[1])]
    words = pd.DataFrame(made.features.toarray(), columns=names)
    ax = plot.tree(BlockModelSelector(25, block_model=made.blocks).fit(words, adjacency=made.adjacency))
    ax.figure.draw_without_rendering()
    extents = [text.get_window_extent() for text in (*ax.texts, *ax.get_yticklabels()) if text.get_text()]
    assert len(extents) > 24
    assert not any(one.overlaps(other) for place, one in enumerate(extents) for other in extents[:place])
    assert min(extent.x0 for extent in extents) >= 0


def test_one_block_is_a_tree_without_branches(network, ax):
    selector = BlockModelSelector(3, block_model=np.zeros(network.features.shape[0], dtype=int))
    plot.tree(selector.fit(network.features, adjacency=network.adjacency), ax)
    assert leaves(ax) == ["block 0"]
    assert len(ax.lines) == len(ax.texts) == 0


def test_a_selector_without_levels_has_no_tree(network, ax):
    papers = BMGUFS(3, n_blocks=3, random_state=0).fit(network.features, adjacency=network.adjacency)
    with pytest.raises(ParameterError, match="source is a BMGUFS, which has no tree of blocks"):
        plot.tree(papers, ax)


def test_nodes_come_block_by_block_and_by_degree():
    star = sparse.csr_array(np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0]], dtype=float))
    assert order_by_block(star, np.array([0, 1, 0])).tolist() == [2, 0, 1]


def test_links_of_one_block_fall_into_its_corner():
    picture = ordered_links(TWO, LABELS)
    assert picture.sum() == TWO.nnz
    assert_array_equal(picture[:4, 4:], 0)
    assert picture[:4, :4].sum() == TWO.nnz / 2


def test_many_nodes_share_pixels_and_no_link_is_lost():
    picture = ordered_links(TWO, LABELS, pixels=3)
    assert picture.shape == (3, 3)
    assert picture.sum() == TWO.nnz


def test_bounds_are_shares_of_the_nodes():
    assert_allclose(block_bounds([1, 3]), [0, 0.25, 1])
