"""The graph ordered by blocks holds every link, and a small graph is drawn with linked nodes near each other."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect.plot.graph_image import (
    block_bounds,
    drawing,
    draws_each_node,
    node_places,
    order_by_block,
    ordered_links,
)

LABELS = np.array([1, 0, 1, 0, 1, 0, 1, 0])
TWO = sparse.csr_array((LABELS[:, None] == LABELS).astype(float) - np.eye(8))


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


def test_linked_nodes_are_drawn_closer_than_others_in_the_unit_square():
    places = node_places(TWO, LABELS)
    distance = np.linalg.norm(places[:, None] - places, axis=2)
    linked = TWO.toarray() > 0
    assert distance[linked].max() < distance[~linked & ~np.eye(8, dtype=bool)].min()
    assert (places >= 0).all()
    assert (places <= 1).all()


def test_only_small_graphs_are_drawn_and_each_link_once():
    assert draws_each_node(TWO)
    assert not draws_each_node(sparse.csr_array((61, 61)))
    assert len(drawing(TWO, LABELS)["links"]) == TWO.nnz / 2
