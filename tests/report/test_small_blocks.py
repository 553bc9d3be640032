"""Small blocks are told by a stated rule, and said so wherever blocks are shown; labels do not change."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from blockselect import BlockModelSelector
from blockselect.report import blocks_table, summarize
from blockselect.report.page import make_report
from blockselect.report.small_blocks import small_blocks
from made_reports import planted


@pytest.mark.parametrize(
    ("sizes", "small"), [([100, 100], []), ([990, 10], []), ([1000, 9, 9], [1, 2]), ([1000, 9], []), ([1, 1, 1], [])]
)
def test_small_is_fewer_than_a_hundredth_of_the_nodes_and_not_alone(sizes, small):
    assert small_blocks(sizes) == small


@pytest.fixture(scope="module")
def fitted():
    graph = planted(400, 3)
    labels = np.zeros(400, dtype=int)
    labels[:200], labels[200:203], labels[203:206] = 1, 2, 3
    return graph, BlockModelSelector(5, block_model=labels, random_state=0).fit(
        graph.features, adjacency=graph.adjacency
    )


def test_small_blocks_are_said_in_the_page_and_the_table_and_stay_in_the_labels(fitted):
    graph, selector = fitted
    summary = summarize(selector, graph)
    assert np.bincount(selector.labels_).min() == 3
    assert len(summary["blocks"]["small"]) == 2
    rows = list(csv.DictReader(blocks_table(summary).splitlines()))
    assert [row["small"] for row in rows] == [str(int(int(row["size"]) < 4)) for row in rows]
    page = make_report(selector, graph, summary=summary).html
    assert "2 of them small, with fewer than 1 % of the nodes each" in page
    assert "2 blocks with fewer than 1 % of the nodes each: 6 nodes (1.5 %) together" in page
    assert page.count('<article class="card"') == 2
