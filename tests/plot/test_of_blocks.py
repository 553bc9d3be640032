"""Plots of blocks: densities on a scale of their own, and all links in the order of the blocks."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect import plot
from blockselect.blockmodels.markers import block_markers
from blockselect.errors import ParameterError
from blockselect.plot.of_blocks import block_bounds, order_by_block, ordered_links

LABELS = np.array([1, 0, 1, 0, 1, 0, 1, 0])
TWO = sparse.csr_array((LABELS[:, None] == LABELS).astype(float) - np.eye(8))


@pytest.mark.parametrize("induced", [False, True])
def test_densities_are_relative_to_the_densest_pair(network, selector, ax, induced):
    plot.block_densities(selector, ax, induced=induced)
    means = block_markers(network.features, selector.labels_).block_means[:, selector.support_]
    density = means @ means.T if induced else selector.block_model_.density
    assert_allclose(ax.images[0].get_array(), density / density.max())
    sizes = selector.block_model_.block_sizes
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [f"{i}  ({size})" for i, size in enumerate(sizes)]


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
    assert len(ax.get_yticks()) <= 20


def test_the_graph_of_a_selector_is_ordered_by_its_blocks(network, selector, ax):
    plot.ordered_adjacency(selector, ax)
    assert_allclose(ax.images[0].get_array(), np.sqrt(ordered_links(network.adjacency, selector.labels_)))
    other = plot.ordered_adjacency(network.adjacency, Figure().subplots(), labels=selector.labels_)
    assert_allclose(other.images[0].get_array(), ax.images[0].get_array())
    assert len(ax.lines) == 2 * (selector.block_model_.n_blocks - 1)


def test_a_graph_without_blocks_is_refused(network, ax):
    with pytest.raises(ValueError, match="give one label per node"):
        plot.ordered_adjacency(network.adjacency, ax)


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
