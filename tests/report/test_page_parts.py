"""Parts of the page: steps of the heat map, cards of blocks, numbers beside the ordered graph."""

from __future__ import annotations

from itertools import pairwise

import pytest

from blockselect.report import page_parts


@pytest.mark.parametrize(
    ("lift", "step", "text"),
    [(0.0, "m3", "0"), (0.3, "m2", "0.3"), (0.6, "m1", "0.6"), (1.0, "z", ""), (2.0, "p1", "2.0"), (5.0, "p2", "5.0")],
)
def test_a_cell_is_a_step_around_as_expected_with_its_number(lift, step, text):
    cell = page_parts.heat_cell(lift)
    assert (cell["step"], cell["text"]) == (step, text)


def test_large_lifts_have_no_digits_behind_the_point():
    assert page_parts.heat_cell(41.4)["text"] == "41"


def test_features_are_ordered_by_the_block_they_mark(summary):
    blocks = [row["block"] for row in page_parts.heat_map(summary)["rows"]]
    assert blocks == sorted(blocks)
    assert len(blocks) == 7


def test_a_heat_map_stays_small_and_says_what_it_leaves_out(summary):
    many = {**summary, "selected": summary["selected"] * 40}
    shown = page_parts.heat_map(many)
    assert (len(shown["rows"]), shown["left_out"]) == (120, 160)


def test_cards_hold_sizes_markers_and_links(summary):
    cards = page_parts.cards(summary)
    assert [card["size"] for card in cards] == summary["blocks"]["sizes"]
    assert sum(len(card["markers"]) for card in cards) == sum(
        row["marked_block"] is not None for row in summary["selected"]
    )
    weights = summary["blocks"]["link_weights"]
    assert cards[0]["within_share"] == pytest.approx(weights[0][0] / sum(weights[0]))


def test_numbers_of_small_blocks_do_not_overlap(summary):
    crowded = {**summary, "blocks": {**summary["blocks"], "sizes": [10] * 40}}
    named = [place["middle"] for place in page_parts.boundaries(crowded) if place["named"]]
    assert min(later - earlier for earlier, later in pairwise(named)) >= 22
    assert len(named) == 20
